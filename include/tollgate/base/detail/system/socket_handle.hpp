#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_SOCKET_HANDLE_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_SOCKET_HANDLE_HPP

#include <tollgate/base/detail/system/kind.hpp>

#include <cstdint>

namespace tollgate::inline v0::detail {

/// What the system's functions call a socket. On Windows it is the type `SOCKET`, whose header would define hundreds of macros.
#if defined(TOLLGATE_SYSTEM_WINDOWS)
using native_socket = std::uintptr_t;
#else
using native_socket = int;
#endif
inline constexpr native_socket no_socket = ~native_socket{0};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_SOCKET_HANDLE_HPP
