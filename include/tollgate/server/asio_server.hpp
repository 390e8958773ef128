#pragma once
#ifndef TOLLGATE_SERVER_ASIO_SERVER_HPP
#define TOLLGATE_SERVER_ASIO_SERVER_HPP

#include <tollgate/server/server.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>

/// Defines the constructor of `server` that takes an Asio executor.

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/asio_server.ipp>
#endif

#endif  // TOLLGATE_SERVER_ASIO_SERVER_HPP
