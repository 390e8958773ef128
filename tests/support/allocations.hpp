#pragma once

#include <optional>

// Clang links the operators of its sanitizers into the program itself, where a second pair finds no place. Allocations are
// counted in all other builds.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TOLLGATE_TEST_NEW_IS_TAKEN
#endif
#endif

namespace tollgate_test {

// Of the calling thread alone. Kept by the operators of support/failing_new.hpp, in a program that includes it.

/// What it still may allocate; none: as much as it likes.
inline thread_local std::optional<long> allocations_left;
inline thread_local long allocations_made = 0;

}  // namespace tollgate_test
