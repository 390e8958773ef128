#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace tollgate {

/// Written as compilers recognise it: one instruction where the machine has one.
[[nodiscard]] constexpr std::uint32_t swap_bytes(std::uint32_t value) noexcept {
    return value << 24 | (value << 8 & 0x00ff'0000U) | (value >> 8 & 0x0000'ff00U) | value >> 24;
}

/// The number whose least significant byte is the first of the four at `from`, whatever their alignment.
[[nodiscard]] inline std::uint32_t load_little_endian_32(const char* from) noexcept {
    std::uint32_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return std::endian::native == std::endian::little ? value : swap_bytes(value);
}

/// The number whose bytes in memory are those of `value`, the most significant one first.
[[nodiscard]] constexpr std::uint32_t in_big_endian_order(std::uint32_t value) noexcept {
    return std::endian::native == std::endian::big ? value : swap_bytes(value);
}

}  // namespace tollgate
