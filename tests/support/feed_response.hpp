#pragma once

#include <tollgate/http/detail/response_parser.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tollgate::test {

/// The result of one response, with copies instead of views, so that two ways of feeding it can be compared.
struct parsed_answer {
    http::response_step step = http::response_step::needs_more;
    std::string refused_reason;
    std::size_t consumed = 0;  // of all bytes, after `complete`
    bool begun = false, keep_alive = false, body_cut = false;
    unsigned status = 0;
    std::string body, retry_after;

    friend bool operator==(const parsed_answer&, const parsed_answer&) = default;
};

enum class peer { stays, leaves };

/// A realistic client: passes each piece once, in memory that is freed before the next, so that sanitizers detect reads
/// outside of it. `cut(already)` is the size of the next piece.
template <class Cut>
parsed_answer feed_answer(std::string_view bytes, Cut&& cut, peer then = peer::stays,
                          const http::response_settings& settings = {}, bool to_head = false) {
    http::response_parser parser{settings};
    parser.start(to_head);
    parsed_answer made;
    std::size_t given = 0;
    while (given < bytes.size() && made.step == http::response_step::needs_more) {
        const std::size_t size = (std::min)((std::max)(std::size_t{cut(given)}, std::size_t{1}), bytes.size() - given);
        const auto piece = std::make_unique<char[]>(size);
        std::copy_n(bytes.data() + given, size, piece.get());
        made.step = parser.step({piece.get(), size});
        made.consumed = given + parser.consumed();
        given += size;
    }
    if (made.step == http::response_step::needs_more && then == peer::leaves) made.step = parser.finish();
    made.begun = parser.begun();
    if (made.step == http::response_step::refused) made.refused_reason = parser.refused_reason();
    if (made.step != http::response_step::complete) made.consumed = 0;
    if (made.step != http::response_step::complete) return made;
    made.keep_alive = parser.keep_alive();
    made.body_cut = parser.body_cut();
    made.status = parser.status();
    made.body = parser.body();
    made.retry_after = parser.retry_after();
    return made;
}

inline parsed_answer feed_answer_whole(std::string_view bytes, peer then = peer::stays,
                                       const http::response_settings& settings = {}, bool to_head = false) {
    return feed_answer(bytes, [&](std::size_t) { return bytes.size(); }, then, settings, to_head);
}

inline parsed_answer feed_answer_bytewise(std::string_view bytes, peer then = peer::stays,
                                          const http::response_settings& settings = {}, bool to_head = false) {
    return feed_answer(bytes, [](std::size_t) { return std::size_t{1}; }, then, settings, to_head);
}

}  // namespace tollgate::test
