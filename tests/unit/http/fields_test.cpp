#include <tollgate/http/detail/fields.hpp>

#include <catch2/catch.hpp>

#include <cctype>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using http::field_id;
using http::field_lines;
using http::to_field_id;

namespace {

const std::vector<std::pair<std::string, field_id>> known = {
    {"Host", field_id::host},
    {"User-Agent", field_id::user_agent},
    {"Authorization", field_id::authorization},
    {"Content-Type", field_id::content_type},
    {"Content-Length", field_id::content_length},
    {"Transfer-Encoding", field_id::transfer_encoding},
    {"Connection", field_id::connection},
    {"Expect", field_id::expect},
    {"X-Forwarded-For", field_id::x_forwarded_for},
    {"Forwarded", field_id::forwarded},
    {"Cookie", field_id::cookie},
    {"Origin", field_id::origin},
    {"X-Request-Id", field_id::x_request_id},
    {"traceparent", field_id::traceparent},
};

}  // namespace

static_assert(to_field_id("hOST") == field_id::host);
static_assert(to_field_id("transfer-encodinG") == field_id::transfer_encoding);
static_assert(to_field_id("transfer_encoding") == field_id::other);

TEST_CASE("every known name is matched case-insensitively, and no other bytes match") {
    CHECK(known.size() == static_cast<std::size_t>(field_id::count_) - 1);
    for (const auto& [name, id] : known) {
        CAPTURE(name);
        CHECK(to_field_id(name) == id);
        for (std::size_t place = 0; place < name.size(); ++place) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string changed = name;
                changed[place] = static_cast<char>(byte);
                const bool same =
                    byte < 0x80 && std::tolower(byte) == std::tolower(static_cast<unsigned char>(name[place]));
                if (to_field_id(changed) != (same ? id : field_id::other)) FAIL("byte " << byte << " at " << place);
            }
        }
        CHECK(to_field_id(name + "x") == field_id::other);
        CHECK(to_field_id(name.substr(1)) == field_id::other);
    }
    CHECK(to_field_id("") == field_id::other);
    CHECK(to_field_id(std::string(300, 'a')) == field_id::other);
}

TEST_CASE("fields are found by id and by name, the first of several, and counted") {
    field_lines lines;
    CHECK(lines.count(field_id::host) == 0);
    CHECK(lines.find(field_id::host).data() == nullptr);
    REQUIRE(lines.add("X-A", "1"));
    REQUIRE(lines.add("cookie", "a"));
    REQUIRE(lines.add("Cookie", "b"));
    REQUIRE(lines.add("Host", ""));
    CHECK(lines.size() == 4);
    CHECK(lines.count(field_id::cookie) == 2);
    CHECK(lines.find(field_id::cookie) == "a");
    CHECK(lines.count(field_id::host) == 1);
    CHECK(lines.find(field_id::host) == "");
    CHECK(lines.find("x-a") == "1");
    CHECK(lines.find("COOKIE") == "a");
    CHECK(lines.find("none") == "");
    lines.clear();
    CHECK(lines.size() == 0);
    CHECK(lines.count(field_id::cookie) == 0);
    CHECK(lines.begin() == lines.end());
}

TEST_CASE("the number of fields is bounded") {
    field_lines lines;
    for (std::size_t i = 0; i < field_lines::size_max; ++i) REQUIRE(lines.add("Cookie", "a"));
    CHECK_FALSE(lines.add("Host", "a"));
    CHECK(lines.size() == field_lines::size_max);
    CHECK(lines.count(field_id::cookie) == field_lines::size_max);
    CHECK(lines.count(field_id::host) == 0);
}
