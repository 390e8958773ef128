#pragma once

#include <support/allocations.hpp>

#include <cstdlib>
#include <new>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

// The whole program's operators, so that every allocation can be made to fail, each in its turn. Included by one file of a
// program. Not inlined: where one of a pair is and the other is not, GCC takes malloc and delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++tollgate_test::allocations_made;
    if (tollgate_test::allocations_left && (*tollgate_test::allocations_left)-- <= 0) throw std::bad_alloc{};
    if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (...) {
        return nullptr;
    }
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

#endif
