#include <tollgate/base/time.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("an instant is formatted as ISO 8601 and as IMF-fixdate", "[base][time]") {
    struct row {
        std::int64_t unix_milliseconds;
        const char* iso8601;
        const char* http_date;
    };
    const auto each = GENERATE(
        row{0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"},
        row{784111777000, "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"},  // RFC 9110 section 5.6.7
        row{784111777999, "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"},
        row{-1, "1969-12-31T23:59:59Z", "Wed, 31 Dec 1969 23:59:59 GMT"},
        row{951782400000, "2000-02-29T00:00:00Z", "Tue, 29 Feb 2000 00:00:00 GMT"},
        row{253402300799999, "9999-12-31T23:59:59Z", "Fri, 31 Dec 9999 23:59:59 GMT"},
        row{253402300800000, "9999-12-31T23:59:59Z", "Fri, 31 Dec 9999 23:59:59 GMT"},
        row{INT64_MIN / 4, "0000-01-01T00:00:00Z", "Sat, 01 Jan 0000 00:00:00 GMT"});
    CHECK(to_iso8601(from_unix_milliseconds(each.unix_milliseconds)).view() == each.iso8601);
    CHECK(to_http_date(from_unix_milliseconds(each.unix_milliseconds)).view() == each.http_date);
}

TEST_CASE("seconds are rounded down for stores and up for clients", "[base][time]") {
    CHECK(to_unix_seconds(from_unix_milliseconds(1999)) == 1);
    CHECK(to_unix_seconds(from_unix_milliseconds(-1)) == -1);
    CHECK(round_up_to_seconds(from_unix_milliseconds(1001)) == from_unix_seconds(2));
    CHECK(round_up_to_seconds(from_unix_milliseconds(1000)) == from_unix_seconds(1));
}

TEST_CASE("a stored time has come if it has passed, or if it is further ahead than it can be", "[base][time]") {
    constexpr instant now = from_unix_seconds(1'000'000);
    constexpr milliseconds longest = seconds{60}, moment{1};
    struct row {
        instant at;
        bool has_come, is_recent;
    };
    for (const auto& [at, come, recent] : {row{now, true, true}, row{now - moment, true, true}, row{now + moment, false, true},
                                           row{now - longest + moment, true, true}, row{now - longest, true, false},
                                           row{now + longest - moment, false, true}, row{now + longest, false, false},
                                           row{now + longest + moment, true, false}, row{now - std::chrono::days{30}, true, false},
                                           row{now + std::chrono::days{30}, true, false}}) {
        CAPTURE((at - now).count());
        CHECK(has_come(at, now, longest) == come);
        CHECK(is_recent(at, now, longest) == recent);
        CHECK_FALSE(is_recent(at, now, seconds{0}));
    }
}
