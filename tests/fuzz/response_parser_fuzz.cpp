#include <tollgate/http/detail/response_parser.hpp>

#include <support/feed_response.hpp>

#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace tollgate;

/// The first byte seeds the cuts, the second chooses the bounds, the method and how the connection ends; the rest are
/// the bytes of a server. Whole and cut, they must result in the same response or the same refusal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    std::uint32_t seed = data[0] + 1U;
    const http::response_settings settings =
        (data[1] & 1) == 0 ? http::response_settings{}
                           : http::response_settings{.line_bytes_max = 60,
                                                     .header_bytes_max = 100,
                                                     .field_count_max = 4,
                                                     .kept_bytes_max = 7,
                                                     .body_bytes_max = 20};
    const bool to_head = (data[1] & 2) != 0;
    const auto at_end = (data[1] & 4) != 0 ? tollgate_test::peer::closes : tollgate_test::peer::stays_open;
    const std::string_view bytes{reinterpret_cast<const char*>(data + 2), size - 2};

    const auto whole = tollgate_test::feed_response_whole(bytes, at_end, settings, to_head);
    const auto cut = tollgate_test::feed_response(bytes, [&seed](std::size_t) {
        seed = seed * 1664525U + 1013904223U;
        return std::size_t{(seed >> 24) % 13};
    }, at_end, settings, to_head);
    require(whole == cut, "the result depends on the cuts");
    if (bytes.size() < 500)
        require(whole == tollgate_test::feed_response_bytewise(bytes, at_end, settings, to_head), "the result depends on single bytes");

    require(whole.consumed <= bytes.size(), "more was consumed than received");
    require(whole.step != http::response_step::needs_more || at_end == tollgate_test::peer::stays_open, "the parser waits for a closed connection");
    if (whole.step == http::response_step::refused)
        require(!whole.refused_reason.empty() && !whole.keep_alive, "a refusal has no reason, or keeps the connection");
    if (whole.step == http::response_step::complete) {
        require(whole.status >= 200 && whole.status <= 999, "an unexpected status");
        require(whole.body.size() <= settings.kept_bytes_max, "more was stored than the bound");
        require(!to_head || whole.body.empty(), "a response to HEAD has a body");
        for (const char c : whole.retry_after) require(c == '\t' || (c >= ' ' && c != '\x7f') || c < 0, "an unexpected Retry-After");
        if (whole.keep_alive)
            require(tollgate_test::feed_response_whole(bytes.substr(0, whole.consumed), tollgate_test::peer::stays_open, settings, to_head) == whole,
                    "the result depends on the following bytes");
    }
    return 0;
}
