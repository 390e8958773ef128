#pragma once

#include <optional>

// Clang's sanitizers link their own operators into the program, where a second pair cannot be defined. All other builds
// count allocations.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TOLLGATE_TEST_NEW_IS_TAKEN
#endif
#endif

namespace tollgate_test {

// Of the calling thread only. Updated by the operators of support/failing_new.hpp, in a program that includes it.

/// How many allocations may still succeed; empty: any number.
inline thread_local std::optional<long> allocations_left;
inline thread_local long allocations_made = 0;

}  // namespace tollgate_test
