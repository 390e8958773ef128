#pragma once

// Debian puts it into a directory of its own, and only pkg-config and CMake say so.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
