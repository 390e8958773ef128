#pragma once
#ifndef TOLLGATE_SERVER_ASIO_SERVER_HPP
#define TOLLGATE_SERVER_ASIO_SERVER_HPP

#include <tollgate/server/detail/asio.hpp>
#include <tollgate/server/server.hpp>

/// Defines the constructor of `server` that takes an Asio executor.

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/asio_server.ipp>
#endif

#endif  // TOLLGATE_SERVER_ASIO_SERVER_HPP
