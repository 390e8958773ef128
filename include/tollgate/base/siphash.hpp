#pragma once

#include <bit>
#include <cstdint>

namespace tollgate {

/// 128 bits that nobody else knows.
struct siphash_key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

/// SipHash (Aumasson and Bernstein, 2012) of eight bytes, the least significant first: for tables whose keys come from
/// strangers, who without `secret` cannot choose keys that meet in one place. 1-3 rounds, as in Rust's and Python's
/// tables; 2-4 is the variant of the published vectors.
template <int compression_rounds = 1, int finalization_rounds = 3>
[[nodiscard]] constexpr std::uint64_t siphash(const siphash_key& secret, std::uint64_t eight_bytes) noexcept {
    std::uint64_t v0 = secret.first ^ 0x736f6d6570736575U;
    std::uint64_t v1 = secret.second ^ 0x646f72616e646f6dU;
    std::uint64_t v2 = secret.first ^ 0x6c7967656e657261U;
    std::uint64_t v3 = secret.second ^ 0x7465646279746573U;
    const auto mix = [&](int rounds) {
        for (int i = 0; i < rounds; ++i) {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32) + v3;
            v2 += v1;
            v1 = std::rotl(v1, 17) ^ v2;
            v3 = std::rotl(v3, 21) ^ v0;
            v2 = std::rotl(v2, 32);
        }
    };
    const auto compress = [&](std::uint64_t word) {
        v3 ^= word;
        mix(compression_rounds);
        v0 ^= word;
    };
    compress(eight_bytes);
    compress(std::uint64_t{8} << 56);  // the last word holds the length
    v2 ^= 0xff;
    mix(finalization_rounds);
    return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace tollgate
