#include <tollgate/http/detail/retry_after.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;
using namespace tollgate::http;

namespace {

constexpr instant now = from_unix_seconds(1'700'000'000);  // Tue, 14 Nov 2023 22:13:20 GMT

}  // namespace

TEST_CASE("dates in the three forms of RFC 9110 are parsed") {
    const instant expected = from_unix_seconds(784'111'777);
    CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", now) == expected);
    CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", now) == expected);
    CHECK(parse_http_date("Sun Nov  6 08:49:37 1994", now) == expected);
    CHECK(parse_http_date("Wednesday, 15-Nov-73 00:00:00 GMT", now) == from_unix_seconds(3'277'929'600));
    CHECK(parse_http_date("Thursday, 15-Nov-74 00:00:00 GMT", now) == from_unix_seconds(153'705'600));
    CHECK(parse_http_date("Thu, 29 Feb 2024 23:59:60 GMT", now) == from_unix_seconds(1'709'251'200));
    for (const instant each : {instant{}, now, from_unix_seconds(4'102'444'800)})
        CHECK(parse_http_date(to_http_date(each).view(), now) == each);
}

TEST_CASE("other text is not a date") {
    const auto* const text = GENERATE("", "x", "Sun", "Sun, ", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 GMT ", "sun, 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
                                      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
                                      "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov x6 08:49:37 1994",
                                      "Sun, 0- Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT");
    INFO(text);
    CHECK_FALSE(parse_http_date(text, now));
    CHECK_FALSE(parse_retry_after(text, now));
}

TEST_CASE("Retry-After is a number of seconds or a date, at most a year") {
    CHECK(parse_retry_after("0", now) == milliseconds{0});
    CHECK(parse_retry_after("120", now) == seconds{120});
    CHECK(parse_retry_after("007", now) == seconds{7});
    CHECK(parse_retry_after("Tue, 14 Nov 2023 22:14:20 GMT", now) == seconds{60});
    CHECK(parse_retry_after("Tue, 14 Nov 2023 22:13:20 GMT", now) == milliseconds{0});
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now) == milliseconds{0});
    const milliseconds year = std::chrono::hours{24 * 366};
    CHECK(parse_retry_after("99999999", now) == year);
    CHECK(parse_retry_after(std::string(1000, '9'), now) == year);
    CHECK(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now) == year);
}

TEST_CASE("other values are ignored") {
    for (const char* const text : {"-1", "+1", "1.5", "1e3", "0x10", " 1", "1 ", "1,2", "soon"}) {
        INFO(text);
        CHECK_FALSE(parse_retry_after(text, now));
    }
}
