#include <tollgate/api/account_api.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/http/json_body.hpp>

#include <support/shop.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

/// What contract and specification promise of every answer, whatever was asked.
void check_answer(const http::response& out) {
    const auto status = http::to_number(out.status());
    // 501 and 505 are about the client's bytes as well: a method or a version that nobody here speaks.
    require(status >= 200 && (status < 500 || status == 501 || status == 505), "a client's bytes are never our fault");

    const auto remaining = out.find("X-RateLimit-Remaining");
    require(!out.find("X-RateLimit-Limit").empty() && !remaining.empty(), "every answer tells of the limit");
    require(out.find("X-RateLimit-Reset").empty() == (remaining != "0"), "the reset is told exactly when nothing remains");
    const auto says = [&](const char* name) { return !out.find(name).empty(); };
    require(status != 401 || says("WWW-Authenticate"), "a 401 offers its schemes");
    require(status != 405 || says("Allow"), "a 405 says what is allowed");
    require(status != 429 || says("Retry-After"), "a 429 says when to come back");

    if (status == 204) require(out.body().empty(), "a 204 has no body");
    else require(http::check_json(out.body()).has_value(), "an answer is JSON");
    if (status >= 400) {
        const auto error = http::parse_json_object(out.body());
        require(error && error->find("message") && error->find("documentation_url"), "a refusal is an Error object");
    }
    // Nothing that a client sent ends a line of ours.
    std::string_view fields = out.field_block();
    while (!fields.empty()) {
        const auto end = fields.find("\r\n");
        require(end != std::string_view::npos && end != 0, "fields are whole lines");
        require(fields.substr(0, end).find_first_of("\r\n") == std::string_view::npos, "no bare line end in a field");
        fields.remove_prefix(end + 2);
    }
}

/// A shop with a token whose name and secret are the same in every run, so that seeds can carry them.
struct open_shop {
    decltype(test::make_shop()) shop = test::make_shop();
    decltype(shop)::token ann = shop.personal_token(test::ann, "user:balance sitesmaker itemplatform");
};

/// Fuzzed bytes hardly ever find 53 digits with a checksum: `{user}` stands for Ann's credentials, as Basic has them.
std::string with_credentials(std::string_view bytes, const open_shop& of) {
    constexpr std::string_view place = "{user}";
    std::string made;
    for (auto at = bytes.find(place); at != std::string_view::npos; at = bytes.find(place)) {
        made.append(bytes.substr(0, at)).append(base64_encode(of.ann.username + ":" + of.ann.secret));
        bytes.remove_prefix(at + place.size());
    }
    return made.append(bytes);
}

}  // namespace

/// What a client sends on one connection: every message that the parser takes is answered, and so is what it refuses.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static open_shop at;
    at.shop.now += std::chrono::days{2};  // every window is fresh

    const auto sent = with_credentials({reinterpret_cast<const char*>(data), size}, at);
    std::vector<char> bytes{sent.begin(), sent.end()};
    std::span<char> left{bytes};
    http::request_parser parser;
    http::request asked;
    http::response out;
    asked.peer = ip_address::v4(192, 0, 2, 1);
    for (;;) {
        asked.clear();
        out.clear();
        parser.start();
        auto step = parser.step(left, asked);
        while (step == http::parse_step::head_complete) step = parser.step(left, asked);
        if (step == http::parse_step::needs_more) return 0;
        if (step == http::parse_step::refused) {
            at.shop.api.handle(http::refusal{parser.refused_status(), parser.refused_reason(), asked.peer}, out);
            check_answer(out);
            return 0;
        }
        at.shop.api.handle(asked, out);
        check_answer(out);
        if (!parser.keep_alive()) return 0;
        left = left.subspan(parser.consumed());
    }
}
