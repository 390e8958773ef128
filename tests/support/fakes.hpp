#pragma once

#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tollgate::test {

/// Stands still until it is told otherwise.
struct fake_clock {
    instant* at;
    [[nodiscard]] instant now() const noexcept { return *at; }
};

/// Gives 0, 1, 2, ... so that every secret differs and every run is the same; or nothing, when told so.
struct counting_random {
    std::uint64_t* next;
    bool* works;
    [[nodiscard]] bool fill(std::span<std::byte> bytes) const noexcept {
        if (!*works) return false;
        for (std::byte& each : bytes) each = static_cast<std::byte>((*next)++ * 37 % 251);
        return true;
    }
};

}  // namespace tollgate::test
