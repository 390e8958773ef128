#pragma once

// Debian installs it in its own directory, which only pkg-config and CMake know.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
