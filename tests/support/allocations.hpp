#pragma once

#include <catch2/catch.hpp>

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

/// Only so many allocations succeed until the end of the scope.
class memory_shortage {
public:
    explicit memory_shortage(long allocations) { allocations_left = allocations; }
    memory_shortage(const memory_shortage&) = delete;
    memory_shortage& operator=(const memory_shortage&) = delete;
    ~memory_shortage() { allocations_left.reset(); }
};

/// Calls `round(short_of_memory)` until it returns true, and returns how often it returned false. In the nth call
/// `short_of_memory(act)` calls `act` with memory for n allocations (0, 1, 2, ...) and returns its result.
///
/// `act` is what is tested and nothing else: an assertion needs memory.
template <class Round>
long fail_each_allocation(Round round) {
    for (long n = 0;; ++n) {
        REQUIRE(n < 500);
        CAPTURE(n);
        const auto short_of_memory = [n](auto act) {
            const memory_shortage until_the_end{n};
            return act();
        };
        if (round(short_of_memory)) return n;
    }
}

}  // namespace tollgate_test
