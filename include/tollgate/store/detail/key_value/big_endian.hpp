#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_BIG_ENDIAN_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_BIG_ENDIAN_HPP

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace tollgate::inline v0::key_value_detail {

/// Returns the number whose bytes are in big-endian order, or the number with these bytes: on all machines, numbers in keys and records
/// have one form, and sort as the numbers do.
template <std::unsigned_integral N>
[[nodiscard]] constexpr N in_big_endian_order(N number) noexcept {
    if constexpr (std::endian::native == std::endian::big || sizeof(N) == 1) return number;
    else if constexpr (sizeof(N) == 4) return __builtin_bswap32(number);
    else return __builtin_bswap64(number);
}

template <std::unsigned_integral N>
void store_big_endian(N number, char* to) noexcept {
    const N ordered = in_big_endian_order(number);
    std::memcpy(to, &ordered, sizeof ordered);
}
template <std::unsigned_integral N>
[[nodiscard]] N load_big_endian(const char* from) noexcept {
    N ordered;
    std::memcpy(&ordered, from, sizeof ordered);
    return in_big_endian_order(ordered);
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_BIG_ENDIAN_HPP
