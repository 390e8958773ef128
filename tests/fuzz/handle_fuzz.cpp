#include <tollgate/api/account_api.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/http/json_body.hpp>

#include <support/shop.hpp>

#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;

namespace {

/// The guarantees of the specification for every response, whatever the request.
void check_answer(const http::response& out) {
    const auto status = http::to_number(out.status());
    // 501 and 505 are the client's errors too: an unsupported method or version.
    require(status >= 200 && (status < 500 || status == 501 || status == 505), "a client's bytes cause no other 5xx");

    const auto remaining = out.find("X-RateLimit-Remaining");
    require(!out.find("X-RateLimit-Limit").empty() && !remaining.empty(), "every response has the limit");
    require(out.find("X-RateLimit-Reset").empty() == (remaining != "0"), "the reset is present if and only if nothing remains");
    const auto has = [&](const char* name) { return !out.find(name).empty(); };
    require(status != 401 || has("WWW-Authenticate"), "a 401 has a challenge");
    require(status != 405 || has("Allow"), "a 405 has Allow");
    require(status != 429 || has("Retry-After"), "a 429 has Retry-After");

    if (status == 204) require(out.body().empty(), "a 204 has no body");
    else require(http::check_json(out.body()).has_value(), "a response is JSON");
    if (status >= 400) {
        const auto error = http::parse_json_object(out.body());
        require(error && error->find("message") && error->find("documentation_url"), "a refusal is an Error object");
    }
    // No bytes of a client end a line of the response.
    std::string_view fields = out.field_block();
    while (!fields.empty()) {
        const auto end = fields.find("\r\n");
        require(end != std::string_view::npos && end != 0, "fields are whole lines");
        require(fields.substr(0, end).find_first_of("\r\n") == std::string_view::npos, "no bare line end in a field");
        fields.remove_prefix(end + 2);
    }
}

/// A shop with a token whose name and secret are the same in every run, so that seeds can contain them.
struct open_shop {
    decltype(tollgate_test::make_shop()) shop = tollgate_test::make_shop();
    decltype(shop)::token ann = shop.personal_token(tollgate_test::ann, "user:balance sitesmaker itemplatform");
};

/// Fuzzed bytes rarely have 53 digits with a checksum: `{user}` stands for Ann's Basic credentials.
std::string with_credentials(std::string_view bytes, const open_shop& of) {
    constexpr std::string_view place = "{user}";
    std::string expanded;
    for (auto at = bytes.find(place); at != std::string_view::npos; at = bytes.find(place)) {
        expanded.append(bytes.substr(0, at)).append(tollgate::detail::base64_encode(of.ann.username + ":" + of.ann.secret));
        bytes.remove_prefix(at + place.size());
    }
    return expanded.append(bytes);
}

}  // namespace

/// The bytes of a client on one connection: every message that the parser accepts or refuses gets a response.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static open_shop at;
    at.shop.now += std::chrono::days{2};  // every window is new

    const auto input = with_credentials({reinterpret_cast<const char*>(data), size}, at);
    std::vector<char> bytes{input.begin(), input.end()};
    std::span<char> left{bytes};
    http::request_parser parser;
    http::request request;
    http::response out;
    request.peer = ip_address::v4(192, 0, 2, 1);
    for (;;) {
        request.clear();
        out.clear();
        parser.start();
        auto step = parser.step(left, request);
        while (step == http::parse_step::head_complete) step = parser.step(left, request);
        if (step == http::parse_step::needs_more) return 0;
        if (step == http::parse_step::refused) {
            const http::refusal refused{parser.refused_status(), parser.refused_reason(), request.peer, false,
                                        parser.has_head() ? &request : nullptr, parser.has_head() ? nullptr : &request};
            at.shop.api.handle(refused, out);
            check_answer(out);
            return 0;
        }
        at.shop.api.handle(request, out);
        check_answer(out);
        if (!parser.keep_alive()) return 0;
        left = left.subspan(parser.consumed());
    }
}
