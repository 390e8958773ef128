#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_WINDOWS_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_WINDOWS_HPP

#include <tollgate/base/detail/system/kind.hpp>

/// The headers of Windows, without the rarely used ones: their macros would break those of OpenSSL.
#if defined(TOLLGATE_SYSTEM_WINDOWS)

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#define TOLLGATE_MADE_LEAN
#endif

#include <winsock2.h>  // before windows.h, which would bring an older one
#include <ws2tcpip.h>
#include <windows.h>
#include <psapi.h>

#if defined(TOLLGATE_MADE_LEAN)
#undef WIN32_LEAN_AND_MEAN
#undef TOLLGATE_MADE_LEAN
#endif

#endif

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_WINDOWS_HPP
