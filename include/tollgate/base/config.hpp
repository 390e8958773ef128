#pragma once

/// Build configuration macros.
///
/// Header-only is the default. Define `TOLLGATE_SEPARATE_COMPILATION` for every translation unit, and include
/// `<tollgate/impl/src.hpp>` in exactly one, to compile every function that is not a template once.

#define TOLLGATE_VERSION_MAJOR 0
#define TOLLGATE_VERSION_MINOR 2
#define TOLLGATE_VERSION_PATCH 0
#define TOLLGATE_VERSION "0.2.0"

#if defined(TOLLGATE_SEPARATE_COMPILATION)
#define TOLLGATE_DECL
#else
#define TOLLGATE_DECL inline
#endif
