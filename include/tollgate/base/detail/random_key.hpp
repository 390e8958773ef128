#pragma once
#ifndef TOLLGATE_BASE_DETAIL_RANDOM_KEY_HPP
#define TOLLGATE_BASE_DETAIL_RANDOM_KEY_HPP

#include <tollgate/base/system_sources.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <stdexcept>

namespace tollgate::inline v0::detail {

/// A key of random bytes for a hash. Throws std::runtime_error if OpenSSL returns none.
template <class Key>
[[nodiscard]] Key random_key() {
    std::array<std::byte, sizeof(Key)> bytes;
    if (!system_random{}.fill(bytes)) throw std::runtime_error{"OpenSSL returned no random bytes"};
    return std::bit_cast<Key>(bytes);
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_RANDOM_KEY_HPP
