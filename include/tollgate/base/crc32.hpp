#pragma once

#include <tollgate/base/byte_order.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tollgate {

/// The CRC-32 of zlib, PNG and Ethernet (reflected polynomial 0xedb88320): finds typing errors, stops no forger.
[[nodiscard]] inline std::uint32_t crc32(std::string_view text) noexcept;

namespace detail {

using crc32_table = std::array<std::uint32_t, 256>;

/// Table `n` moves one byte past `n` bytes that follow it, so that four bytes are taken in one step.
constexpr std::array<crc32_table, 4> make_crc32_tables() noexcept {
    std::array<crc32_table, 4> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
        tables[0][byte] = value;
    }
    for (std::size_t n = 1; n < tables.size(); ++n)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[n - 1][byte];
            tables[n][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    return tables;
}

inline constexpr auto crc32_tables = make_crc32_tables();

}  // namespace detail

inline std::uint32_t crc32(std::string_view text) noexcept {
    const auto& tables = detail::crc32_tables;
    const char* next = text.data();
    const char* const end = next + text.size();

    std::uint32_t value = 0xffffffffU;
    for (; end - next >= 4; next += 4) {
        value ^= load_little_endian_32(next);
        value = tables[3][value & 0xff] ^ tables[2][value >> 8 & 0xff] ^ tables[1][value >> 16 & 0xff] ^
                tables[0][value >> 24];
    }
    for (; next != end; ++next) value = (value >> 8) ^ tables[0][(value ^ static_cast<unsigned char>(*next)) & 0xff];
    return ~value;
}

}  // namespace tollgate
