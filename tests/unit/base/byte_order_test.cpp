#include <tollgate/base/detail/hash.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <string>

using namespace tollgate;

TEST_CASE("numbers are read and written in the requested byte order, at any alignment") {
    STATIC_REQUIRE(tollgate::detail::swap_bytes(0x01020304) == 0x04030201);
    const std::string bytes = "x\x01\x02\x03\x04y";
    CHECK(tollgate::detail::load_little_endian_32(bytes.data() + 1) == 0x04030201);
    const std::uint32_t ordered = tollgate::detail::in_big_endian_order(0x01020304);
    CHECK(std::memcmp(&ordered, "\x01\x02\x03\x04", 4) == 0);
}
