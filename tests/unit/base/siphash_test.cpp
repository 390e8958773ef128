#include <tollgate/base/siphash.hpp>

#include <catch2/catch.hpp>

#include <set>

using tollgate::siphash;
using tollgate::siphash_key;

TEST_CASE("SipHash-2-4 gives the published value") {
    // Key 00..0f and message 00..07, from the authors' table of vectors.
    constexpr siphash_key key{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
    STATIC_REQUIRE(siphash<2, 4>(key, 0x0706050403020100U) == 0x93f5f5799a932462U);
}

TEST_CASE("SipHash-1-3 spreads neighbours, and another key spreads them otherwise") {
    constexpr siphash_key one{1, 2};
    constexpr siphash_key other{1, 3};
    std::set<std::uint64_t> low_bits;
    int same_place = 0;
    for (std::uint64_t i = 0; i < 4096; ++i) {
        low_bits.insert(siphash(one, i) & 0xffff);
        if (((siphash(one, i) ^ siphash(other, i)) & 0xff) == 0) ++same_place;
    }
    CHECK(low_bits.size() > 3900);  // 4096 balls in 65536 urns leave 127 in company on average
    CHECK(same_place > 2);
    CHECK(same_place < 40);  // 16 on average
}
