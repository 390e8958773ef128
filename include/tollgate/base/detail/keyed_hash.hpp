#pragma once
#ifndef TOLLGATE_BASE_DETAIL_KEYED_HASH_HPP
#define TOLLGATE_BASE_DETAIL_KEYED_HASH_HPP

#include <tollgate/base/detail/random_key.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>

namespace tollgate::inline v0::detail {

/// A hash with a random key per table, so that clients cannot choose names that share a bucket. The construction is
/// that of wyhash: multiply 64 by 64 bits and fold the halves.
class keyed_hash {
public:
    /// Constructs a hash with a new key. Throws as `random_key` does.
    keyed_hash() : keyed_hash{random_key<std::array<std::uint64_t, 3>>()} {}
    /// Constructs a hash with a key that is random, or fixed in tests.
    explicit constexpr keyed_hash(const std::array<std::uint64_t, 3>& key) noexcept : keys_{key} {}

    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        std::uint64_t state = keys_[0];
        if (text.size() < block_bytes) {
            char only[block_bytes]{};
            if (constexpr std::size_t half = block_bytes / 2; text.size() >= half) {  // both halves may have the same bytes
                std::memcpy(only, text.data(), half);
                std::memcpy(only + half, text.data() + text.size() - half, half);
            } else if (!text.empty()) {
                std::memcpy(only, text.data(), text.size());
            }
            return finish(absorb(state, only), text.size());
        }
        // The last block ends where the text does, and so may overlap the one before.
        const char* const last = text.data() + text.size() - block_bytes;
        for (const char* next = text.data(); next < last; next += block_bytes) state = absorb(state, next);
        return finish(absorb(state, last), text.size());
    }

    template <class Tag>
    [[nodiscard]] std::size_t operator()(id<Tag> key) const noexcept {
        const auto value = static_cast<std::uint64_t>(key.value());
        return finish(fold(value ^ keys_[1], keys_[0]), sizeof value);
    }

    /// SHA-256 output cannot be chosen.
    [[nodiscard]] std::size_t operator()(const digest& value) const noexcept { return std::hash<digest>{}(value); }

private:
    static constexpr std::size_t block_bytes = 16;

    [[nodiscard]] std::uint64_t absorb(std::uint64_t state, const char* block) const noexcept {
        std::uint64_t words[2];
        std::memcpy(words, block, sizeof words);
        return fold(words[0] ^ keys_[1], words[1] ^ state);
    }

    /// Adds the size, so that padding and overlaps differ from such bytes in the text.
    [[nodiscard]] std::size_t finish(std::uint64_t state, std::size_t size_bytes) const noexcept {
        return fold(state ^ keys_[2], keys_[1] ^ size_bytes);
    }

    [[nodiscard]] static std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__SIZEOF_INT128__)
        __extension__ using wide = unsigned __int128;
        const wide product = static_cast<wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
        constexpr std::uint64_t low_half = 0xffff'ffff;
        const std::uint64_t low = (a & low_half) * (b & low_half), high = (a >> 32) * (b >> 32);
        const std::uint64_t cross = (a >> 32) * (b & low_half), other = (a & low_half) * (b >> 32);
        const std::uint64_t middle = (low >> 32) + (cross & low_half) + (other & low_half);
        return ((low & low_half) | (middle << 32)) ^ (high + (cross >> 32) + (other >> 32) + (middle >> 32));
#endif
    }

    std::array<std::uint64_t, 3> keys_{};
};

/// The hash of all tables of the process that exist only during a call. If OpenSSL returns no random bytes, its key is fixed: then no
/// secret
/// can be made either.
[[nodiscard]] inline const keyed_hash& shared_keyed_hash() noexcept {
    static const keyed_hash shared = []() noexcept {
        std::array<std::uint64_t, 3> key{0x9e37'79b9'7f4a'7c15U, 0xbf58'476d'1ce4'e5b9U, 0x94d0'49bb'1331'11ebU};
        static_cast<void>(system_random{}.fill(std::as_writable_bytes(std::span{key})));
        return keyed_hash{key};
    }();
    return shared;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_KEYED_HASH_HPP
