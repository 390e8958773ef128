#include <tollgate/http/detail/request_parser.hpp>

#include <support/feed_request.hpp>

#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace tollgate;

/// The first byte seeds the cuts, the second chooses the bounds, the rest are the bytes of a client. Whole and cut, they
/// must result in the same message or the same refusal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    std::uint32_t seed = data[0] + 1U;
    const http::parser_settings settings =
        (data[1] & 1) == 0
            ? http::parser_settings{}
            : http::parser_settings{
                  .target_bytes_max = 20, .header_bytes_max = 100, .field_count_max = 4, .body_bytes_max = 20};
    const std::string_view bytes{reinterpret_cast<const char*>(data + 2), size - 2};

    const auto whole = tollgate_test::feed_whole(bytes, settings);
    const auto cut = tollgate_test::feed(bytes, [&seed](std::size_t) {
        seed = seed * 1664525U + 1013904223U;
        return std::size_t{(seed >> 24) % 13};
    }, settings);
    require(whole == cut, "the result depends on the cuts");
    if (bytes.size() < 500)
        require(whole == tollgate_test::feed_bytewise(bytes, settings), "the result depends on single bytes");

    require(whole.consumed <= bytes.size(), "more was consumed than received");
    if (whole.step == http::parse_step::refused) {
        const unsigned status = http::to_number(whole.refused_status);
        require(status == 400 || status == 414 || status == 417 || status == 431 || status == 501, "an unexpected status");
        require(!whole.refused_reason.empty() && !whole.keep_alive, "a refusal has no reason, or keeps the connection");
    }
    if (whole.step == http::parse_step::complete) {
        require(!whole.path.empty() && (whole.path[0] == '/' || whole.path == "*"), "an invalid path");
        require(whole.body.size() <= settings.body_bytes_max, "a body over its bound");
        require(whole.fields.size() <= settings.field_count_max, "fields over their bound");
        for (const auto& [name, value] : whole.fields)
            require(!name.empty() && value.find_first_of(std::string_view{"\r\n\0", 3}) == std::string::npos,
                    "an odd field");
        require(tollgate_test::feed_whole(bytes.substr(0, whole.consumed), settings) == whole,
                "the result depends on the following bytes");
    }
    return 0;
}
