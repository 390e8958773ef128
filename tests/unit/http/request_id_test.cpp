#include <tollgate/http/detail/request_id.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <string_view>
#include <thread>

using namespace tollgate;
using namespace std::string_literals;

namespace {

const std::string trace(32, 'a');
const std::string span(16, 'b');
const std::string parent = "00-" + trace + "-" + span + "-01";

bool is_lower_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

TEST_CASE("a number has sixteen lower-case hexadecimal digits", "[http][request_id]") {
    struct {
        std::uint64_t number;
        std::string_view digits;
    } const cases[] = {{0, "0000000000000000"},
                       {1, "0000000000000001"},
                       {0x0123'4567'89ab'cdef, "0123456789abcdef"},
                       {0xfedc'ba98'7654'3210, "fedcba9876543210"},
                       {0xffff'ffff'ffff'ffff, "ffffffffffffffff"},
                       {0x9a00'0000'0000'00a9, "9a000000000000a9"}};
    for (const auto& each : cases) {
        char digits[16];
        http::detail::put_hex(digits, each.number);
        CHECK(std::string_view{digits, sizeof digits} == each.digits);
    }
}

TEST_CASE("the ids of a thread are unique, and threads have different prefixes", "[http][request_id]") {
    std::set<std::string> ids;
    std::set<std::string> spans;
    for (int i = 0; i < 10'000; ++i) {
        const auto id = http::unique_id::make();
        CHECK(id.view().size() == 32);
        CHECK(is_lower_hex(id.view()));
        CHECK(id.span() == id.view().substr(16));
        ids.emplace(id.view());
        spans.emplace(id.span());
    }
    CHECK(ids.size() == 10'000);
    CHECK(spans.size() == 10'000);
    std::string other;
    std::thread{[&other] { other = http::unique_id::make().view(); }}.join();
    CHECK(other.substr(0, 16) != ids.begin()->substr(0, 16));
}

TEST_CASE("a well-formed request id of the client is used", "[http][request_id]") {
    const auto own_id = http::unique_id::make();
    struct {
        std::string header;
        bool taken;
    } const cases[] = {{"a", true},
                       {"7b2c1f8e-0d3a-4a5e-9b1c-2f6d8e0a4c11", true},
                       {"req_1.A-Z", true},
                       {std::string(128, 'x'), true},
                       {std::string(129, 'x'), false},
                       {"", false},
                       {"a b", false},
                       {"a\"b", false},
                       {"a,b", false},
                       {"a/b", false},
                       {"\xc3\xa4", false}};
    for (const auto& each : cases) {
        CAPTURE(each.header);
        http::request request;
        request.fields.add("x-REQUEST-id", each.header);
        CHECK(http::request_id_of(request, own_id) == (each.taken ? std::string_view{each.header} : own_id.view()));
        http::response response;
        http::add_request_id(response, http::request_id_of(request, own_id));
        CHECK(response.find("X-Request-Id") == http::request_id_of(request, own_id));
        // With two fields, neither is used.
        request.fields.add("X-Request-Id", "second");
        CHECK(http::request_id_of(request, own_id) == own_id.view());
    }
    CHECK(http::request_id_of(http::request{}, own_id) == own_id.view());
}

TEST_CASE("traceparent is parsed strictly", "[http][request_id]") {
    const auto parsed = http::traceparent::parse(parent);
    REQUIRE(parsed);
    CHECK(parsed->trace_id == trace);
    CHECK(parsed->parent_id == span);
    CHECK(parsed->sampled);
    CHECK(http::make_traceparent(parsed->trace_id, parsed->parent_id, true) == parent);
    CHECK(http::make_traceparent(trace, span, false) == "00-" + trace + "-" + span + "-00");

    struct {
        std::string text;
        bool accepted;
        bool sampled = false;
    } const cases[] = {
        {"00-" + trace + "-" + span + "-00", true},
        {"00-" + trace + "-" + span + "-03", true, true},
        {"00-" + trace + "-" + span + "-0b", true, true},
        {"cc-" + trace + "-" + span + "-01", true, true},
        {"cc-" + trace + "-" + span + "-01-what-the-future-brings", true, true},
        {"cc-" + trace + "-" + span + "-01.what", false},
        {"00-" + trace + "-" + span + "-01-", false},
        {"ff-" + trace + "-" + span + "-01", false},
        {"0g-" + trace + "-" + span + "-01", false},
        {"00-" + std::string(32, '0') + "-" + span + "-01", false},
        {"00-" + trace + "-" + std::string(16, '0') + "-01", false},
        {"00-" + std::string(32, 'A') + "-" + span + "-01", false},
        {"00-" + trace + "-" + span + "-0G", false},
        {"00-" + trace + "-" + span + "-1", false},
        {"00-" + trace + "_" + span + "-01", false},
        {"", false},
    };
    for (const auto& each : cases) {
        CAPTURE(each.text);
        const auto row_parsed = http::traceparent::parse(each.text);
        CHECK(row_parsed.has_value() == each.accepted);
        if (row_parsed) CHECK(row_parsed->sampled == each.sampled);
    }
    // A truncated value is refused at every length.
    for (std::size_t bytes = 0; bytes < parent.size(); ++bytes)
        CHECK_FALSE(http::traceparent::parse(std::string_view{parent}.substr(0, bytes)));
}
