#pragma once
#ifndef TOLLGATE_BASE_CONFIG_HPP
#define TOLLGATE_BASE_CONFIG_HPP

#include <tollgate/base/detail/system/kind.hpp>

/// Build configuration macros.
///
/// Header-only is the default. Define `TOLLGATE_SEPARATE_COMPILATION` for every translation unit, and include
/// `<tollgate/impl/src.hpp>` in exactly one, to compile every function that is not a template once.

#define TOLLGATE_VERSION_MAJOR 0
#define TOLLGATE_VERSION_MINOR 3
#define TOLLGATE_VERSION_PATCH 0
#define TOLLGATE_VERSION "0.3.0"

#if __cplusplus < 202002L
#error "Tollgate needs C++20: compile with -std=c++20 or later."
#elif defined(__clang__) ? __clang_major__ < 16 : defined(__GNUC__) && __GNUC__ < 12
#error "Tollgate needs GCC 12, Clang 16, or a later version of them."
#elif !defined(__cpp_exceptions)
#error "Tollgate needs exceptions: compile without -fno-exceptions."
#else
#define TOLLGATE_COMPILER_IS_SUPPORTED
#endif
// Including a file that does not exist ends the compilation, so that thousands of further messages do not hide the error above.
#if !defined(TOLLGATE_COMPILER_IS_SUPPORTED)
#include "compilation_ends_here"
#endif
#undef TOLLGATE_COMPILER_IS_SUPPORTED

// The prefix of each function that is defined in an `.ipp` file, which is compiled once in compiled mode.
#if defined(TOLLGATE_SEPARATE_COMPILATION)
#define TOLLGATE_DECL
#else
#define TOLLGATE_DECL inline
#endif
// The prefix of functions that do not run for each request but when an object is set up, created or destroyed, or when a call fails. They
// are compiled for size, which takes less time and keeps them apart from the code of requests.
#define TOLLGATE_COLD __attribute__((cold)) TOLLGATE_DECL

#endif  // TOLLGATE_BASE_CONFIG_HPP
