#pragma once

#include <support/allocations.hpp>

#include <cstdlib>
#include <new>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

// Replaces the operators of the whole program, so that each allocation in turn can be made to fail. Include it in one
// file of a program. Not inlined: if only one of a pair is inlined, GCC reports malloc and delete as a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++tollgate_test::allocations_made;
    if (tollgate_test::allocations_left && (*tollgate_test::allocations_left)-- <= 0) throw std::bad_alloc{};
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
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
