#include <tollgate/base/detail/hash.hpp>

#include <catch2/catch.hpp>

#include <string>

using tollgate::detail::crc32;

TEST_CASE("CRC-32 has the published check value, and matches zlib") {
    CHECK(tollgate::detail::crc32("123456789") == 0xcbf43926U);
    CHECK(tollgate::detail::crc32("") == 0);
    CHECK(tollgate::detail::crc32("a") == 0xe8b7be43U);
    CHECK(tollgate::detail::crc32("abc") == 0x352441c2U);
    CHECK(tollgate::detail::crc32("abcd") == 0xed82cd11U);
    CHECK(tollgate::detail::crc32("The quick brown fox jumps over the lazy dog") == 0x414fa339U);
    CHECK(tollgate::detail::crc32(std::string(32, '\xff')) == 0xff6cab0bU);
}
