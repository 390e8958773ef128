#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_KIND_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_KIND_HPP

/// Which system the library is compiled for. Only the headers of this folder ask for it: they are all that differs between systems.
///
/// `TOLLGATE_POSIX_ONLY`, defined for the whole program, selects on Linux what macOS and the BSDs use.

#if defined(_WIN32)
#define TOLLGATE_SYSTEM_WINDOWS
#elif defined(__linux__) && !defined(TOLLGATE_POSIX_ONLY)
#define TOLLGATE_SYSTEM_LINUX
#endif

// Asio takes MinGW-w64 for a system with POSIX threads only if one of their headers comes before its own. All of a program must agree on
// that: a thread that one kind has started is not one for the other to end.
#if defined(__MINGW32__)
#if defined(ASIO_DETAIL_CONFIG_HPP) && !defined(ASIO_HAS_PTHREADS)
#error "Asio is included before a header of POSIX threads. Define ASIO_HAS_PTHREADS for the whole program."
#endif
#include <pthread.h>
#endif

// A server's own threads use epoll on Linux, and Asio elsewhere.
#if !defined(TOLLGATE_SYSTEM_LINUX) && !defined(TOLLGATE_SERVER_ASIO)
#define TOLLGATE_SERVER_ASIO
#endif
#if defined(TOLLGATE_SERVER_ASIO) && !defined(TOLLGATE_WITH_ASIO)
#define TOLLGATE_WITH_ASIO
#endif

namespace tollgate::inline v0::detail {

/// Converts a number whose type differs between systems; a cast would be useless on some of them.
template <class To, class From>
[[nodiscard]] constexpr To number_as(From number) noexcept {
    return static_cast<To>(number);
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_KIND_HPP
