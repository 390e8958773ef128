#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_LIBPQ_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_LIBPQ_HPP

// Debian installs it in its own directory, which only pkg-config and CMake know.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_LIBPQ_HPP
