#include <tollgate/base/detail/hash.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <string>

using tollgate::detail::siphash;
using tollgate::detail::siphash_key;

TEST_CASE("SipHash-2-4 gives the published value") {
    // Key 00..0f and message 00..07, from the authors' table of vectors.
    constexpr tollgate::detail::siphash_key key{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
    STATIC_REQUIRE(tollgate::detail::siphash<2, 4>(key, 0x0706050403020100U) == 0x93f5f5799a932462U);
}

TEST_CASE("SipHash-1-3 spreads consecutive numbers, differently for each key") {
    constexpr tollgate::detail::siphash_key one{1, 2};
    constexpr tollgate::detail::siphash_key other{1, 3};
    std::set<std::uint64_t> low_bits;
    int same_place = 0;
    for (std::uint64_t i = 0; i < 4096; ++i) {
        low_bits.insert(tollgate::detail::siphash(one, i) & 0xffff);
        if (((tollgate::detail::siphash(one, i) ^ tollgate::detail::siphash(other, i)) & 0xff) == 0) ++same_place;
    }
    CHECK(low_bits.size() > 3900);  // 4096 hashes in 65536 values: on average 127 collide
    CHECK(same_place > 2);
    CHECK(same_place < 40);  // 16 on average
}

TEST_CASE("SipHash-2-4 of a text gives the published values") {
    // Key 00..0f and messages of 0, 1, 2 and 8 bytes 00, 01, ..., from the authors' table of vectors.
    constexpr tollgate::detail::siphash_key key{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
    CHECK(tollgate::detail::siphash(key, "") == 0x726fdb47dd0e0e31U);
    CHECK(tollgate::detail::siphash(key, std::string{'\0'}) == 0x74f839c593dc67fdU);
    CHECK(tollgate::detail::siphash(key, std::string{'\0', '\1'}) == 0x0d6c8009d9a94f5aU);
    CHECK(tollgate::detail::siphash(key, std::string{'\0', '\1', '\2', '\3', '\4', '\5', '\6', '\7'}) == 0x93f5f5799a932462U);
}

TEST_CASE("a hash depends on every byte, on the length and on the key") {
    constexpr tollgate::detail::siphash_key key{1, 2};
    const std::string text(53, 'x');
    const auto hash = tollgate::detail::siphash(key, text);
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto other = text;
        other[i] = 'y';
        CHECK_FALSE(tollgate::detail::siphash(key, other) == hash);
        CHECK_FALSE(tollgate::detail::siphash(key, text.substr(0, i)) == hash);
    }
    CHECK_FALSE(tollgate::detail::siphash(tollgate::detail::siphash_key{1, 3}, text) == hash);
    CHECK(tollgate::detail::siphash(key, text) == hash);
}
