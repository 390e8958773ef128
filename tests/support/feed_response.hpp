#pragma once

#include <tollgate/http/detail/response_parser.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tollgate_test {

using namespace tollgate;

/// The result of one response, with copies instead of views, so that two ways of feeding it can be compared.
struct parsed_response {
    http::response_step step = http::response_step::needs_more;
    std::string refused_reason;
    std::size_t consumed = 0;  // of all bytes, after `complete`
    bool begun = false, keep_alive = false, body_cut = false;
    unsigned status = 0;
    std::string body, retry_after;

    friend bool operator==(const parsed_response&, const parsed_response&) = default;
};

enum class peer { stays_open, closes };

/// A realistic client: passes each piece once, in memory that is freed before the next one, so that sanitizers detect reads
/// outside of it. `cut(already)` is the size of the next piece.
template <class Cut>
parsed_response feed_response(std::string_view bytes, Cut&& cut, peer at_end = peer::stays_open,
                              const http::response_settings& settings = {}, bool to_head = false) {
    http::response_parser parser{settings};
    parser.start(to_head);
    parsed_response response;
    std::size_t fed = 0;
    while (fed < bytes.size() && response.step == http::response_step::needs_more) {
        const std::size_t size = (std::min)((std::max)(std::size_t{cut(fed)}, std::size_t{1}), bytes.size() - fed);
        const auto piece = std::make_unique<char[]>(size);
        std::copy_n(bytes.data() + fed, size, piece.get());
        response.step = parser.step({piece.get(), size});
        response.consumed = fed + parser.consumed();
        fed += size;
    }
    if (response.step == http::response_step::needs_more && at_end == peer::closes) response.step = parser.finish();
    response.begun = parser.begun();
    if (response.step == http::response_step::refused) response.refused_reason = parser.refused_reason();
    if (response.step != http::response_step::complete) response.consumed = 0;
    if (response.step != http::response_step::complete) return response;
    response.keep_alive = parser.keep_alive();
    response.body_cut = parser.body_cut();
    response.status = parser.status();
    response.body = parser.body();
    response.retry_after = parser.retry_after();
    return response;
}

inline parsed_response feed_response_whole(std::string_view bytes, peer at_end = peer::stays_open,
                                           const http::response_settings& settings = {}, bool to_head = false) {
    return feed_response(bytes, [&](std::size_t) { return bytes.size(); }, at_end, settings, to_head);
}

inline parsed_response feed_response_bytewise(std::string_view bytes, peer at_end = peer::stays_open,
                                              const http::response_settings& settings = {}, bool to_head = false) {
    return feed_response(bytes, [](std::size_t) { return std::size_t{1}; }, at_end, settings, to_head);
}

}  // namespace tollgate_test
