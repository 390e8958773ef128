#include <tollgate/http/detail/response_parser.hpp>

#include <support/feed_response.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace tollgate;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

}  // namespace

/// The first byte seeds the cuts, the second chooses the bounds, what was asked and how the connection ends; the rest is
/// what a server sends. Whole and cut, it must come to the same answer or the same refusal.
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
    const auto then = (data[1] & 4) != 0 ? test::peer::leaves : test::peer::stays;
    const std::string_view bytes{reinterpret_cast<const char*>(data + 2), size - 2};

    const auto whole = test::feed_answer_whole(bytes, then, settings, to_head);
    const auto cut = test::feed_answer(bytes, [&seed](std::size_t) {
        seed = seed * 1664525U + 1013904223U;
        return std::size_t{(seed >> 24) % 13};
    }, then, settings, to_head);
    require(whole == cut, "the outcome depends on the cuts");
    if (bytes.size() < 500)
        require(whole == test::feed_answer_bytewise(bytes, then, settings, to_head), "it depends on single bytes");

    require(whole.consumed <= bytes.size(), "more was taken than came");
    require(whole.step != http::response_step::needs_more || then == test::peer::stays, "waits for who has left");
    if (whole.step == http::response_step::refused)
        require(!whole.refused_reason.empty() && !whole.keep_alive, "a refusal without a reason, or that goes on");
    if (whole.step == http::response_step::complete) {
        require(whole.status >= 200 && whole.status <= 999, "an odd status");
        require(whole.body.size() <= settings.kept_bytes_max, "more was kept than may be");
        require(!to_head || whole.body.empty(), "a body that answers HEAD");
        for (const char c : whole.retry_after) require(c == '\t' || (c >= ' ' && c != '\x7f') || c < 0, "an odd Retry-After");
        if (whole.keep_alive)
            require(test::feed_answer_whole(bytes.substr(0, whole.consumed), test::peer::stays, settings, to_head) == whole,
                    "the outcome depends on what follows");
    }
    return 0;
}
