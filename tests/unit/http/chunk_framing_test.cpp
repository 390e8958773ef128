#include <tollgate/http/detail/chunk_framing.hpp>

#include <tollgate/base/limits.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace tollgate;
using http::detail::chunk_framing;
using http::detail::chunk_part;

namespace {

/// What follows the last byte of `text`, or `refused` as soon as a byte is.
chunk_part read_all(chunk_framing& framing, std::string_view text) {
    chunk_part next = chunk_part::framing;
    for (const char c : text) {
        if (next == chunk_part::trailers || next == chunk_part::refused) return next;
        next = framing.read(c);
    }
    return next;
}

chunk_part read_line(std::string_view line) {
    chunk_framing framing;
    return read_all(framing, std::string{line} + "\r\n");
}

}  // namespace

TEST_CASE("a chunk line is a size and extensions") {
    for (const std::string_view line : {"5", "05", "aB", "ffffffffffffffff", "5;a", "5;a=b", "5;a=\"b;\\\"\"", "5 ; a = b ;c", "5;a;b", "5;a=b ;c"}) {
        CAPTURE(line);
        CHECK(read_line(line) == chunk_part::data);
    }
    for (const std::string_view line : {"", " 5", "5 ", "-5", "+5", "0x5", "5_0", "10000000000000005", ";a", "5;", "5;=b", "5;a=", "5;a=\"b",
                                        "5;a=\"b\\", "5;a ", "5;a b", "5;a=b c", "5;a=\"\n\"", "5;a=\"b\"c", "5;a=\"\\\r\""}) {
        CAPTURE(line);
        CHECK(read_line(line) == chunk_part::refused);
    }
    CHECK(read_line("0") == chunk_part::trailers);
    CHECK(read_line("000;a") == chunk_part::trailers);
}

TEST_CASE("each chunk has a size, and CRLF behind its data") {
    chunk_framing framing;
    REQUIRE(read_all(framing, "1f\r\n") == chunk_part::data);
    CHECK(framing.chunk_bytes() == 0x1f);
    REQUIRE(read_all(framing, "\r\nFFFFFFFFFFFFFFFF\r\n") == chunk_part::data);
    CHECK(framing.chunk_bytes() == UINT64_MAX);
    REQUIRE(read_all(framing, "\r\n0\r\n") == chunk_part::trailers);
    CHECK(framing.bytes() == 29);

    for (const std::string_view behind : {"\n", "\r\r", "x", "0\r\n"}) {
        CAPTURE(behind);
        chunk_framing other;
        REQUIRE(read_all(other, "1\r\n") == chunk_part::data);
        CHECK(read_all(other, behind) == chunk_part::refused);
        CHECK(other.refused_reason() == "A chunk is not followed by CRLF.");
    }
    for (const std::string_view line : {"5\n", "5\r5", "5;a\r\r"}) {
        CAPTURE(line);
        chunk_framing other;
        CHECK(read_all(other, line) == chunk_part::refused);
    }
}

TEST_CASE("one chunk line and all framing of a body are bounded") {
    const std::string line = "5;" + std::string(limits::chunk_line_bytes_max - 3, 'a');  // and its CR
    CHECK(read_line(line) == chunk_part::data);
    CHECK(read_line(line + "a") == chunk_part::refused);

    chunk_framing framing;
    constexpr std::string_view first = "1\r\n", next = "\r\n1\r\n";
    REQUIRE(read_all(framing, first) == chunk_part::data);
    while (framing.bytes() + next.size() <= limits::chunk_overhead_bytes_max) REQUIRE(read_all(framing, next) == chunk_part::data);
    CHECK(read_all(framing, next) == chunk_part::refused);
    CHECK(framing.refused_reason() == "The chunks of the body have too much framing for their data.");
}
