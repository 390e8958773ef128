#pragma once

#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tollgate_test {

using namespace tollgate;

/// A clock that only the test advances.
struct fake_clock {
    instant* at;
    [[nodiscard]] instant now() const noexcept { return *at; }
};

/// Returns 0, 1, 2, ...: secrets differ, and every run is the same. A test can make it fail.
struct counting_random {
    std::uint64_t* next;
    bool* works;
    [[nodiscard]] bool fill(std::span<std::byte> bytes) const noexcept {
        if (!*works) return false;
        for (std::byte& each : bytes) each = static_cast<std::byte>((*next)++ * 37 % 251);
        return true;
    }
};

}  // namespace tollgate_test
