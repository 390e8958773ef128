#pragma once

#include <cstdio>
#include <cstdlib>

/// What must be true of every input: otherwise the fuzzer stops and keeps the input.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}
