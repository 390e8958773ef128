#pragma once

#include <tollgate/server/server.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>

/// For a server that is a guest on an Asio executor: brings the constructor that takes one.

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/asio_server.ipp>
#endif
