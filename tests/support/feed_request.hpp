#pragma once

#include <tollgate/http/detail/request_parser.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::test {

/// The result of one message, with copies instead of views, so that two ways of feeding it can be compared.
struct parsed_message {
    http::parse_step step = http::parse_step::needs_more;
    http::status refused_status = http::status::ok;
    std::string refused_reason;
    std::size_t consumed = 0;
    bool keep_alive = false;
    std::string method, path, query, authority, body;
    bool has_query = false;
    http::version version = http::version::http_1_1;
    http::body_state body_state = http::body_state::complete;
    std::vector<std::pair<std::string, std::string>> fields;
    std::size_t heads_complete = 0;  // how often `head_complete` was returned; depends on the split
    bool wanted_continue = false;    // whether the client waited then; depends on the split

    friend bool operator==(const parsed_message& a, const parsed_message& b) {
        return a.step == b.step && a.refused_status == b.refused_status && a.refused_reason == b.refused_reason &&
               a.consumed == b.consumed && a.keep_alive == b.keep_alive && a.method == b.method && a.path == b.path &&
               a.query == b.query && a.authority == b.authority && a.body == b.body && a.has_query == b.has_query &&
               a.version == b.version && a.body_state == b.body_state && a.fields == b.fields;
    }
};

/// A realistic host: keeps the message in one buffer that moves when it grows, and adds `cut(already)` bytes at a time.
/// Each buffer has exactly the received bytes, so that sanitizers detect reads beyond them.
template <class Cut>
parsed_message feed(std::string_view bytes, Cut&& cut, const http::parser_settings& settings = {}) {
    http::request_parser parser{settings};
    http::request request;
    parser.start();

    parsed_message made;
    auto buffer = std::make_unique<char[]>(0);
    std::size_t size = 0;
    for (;;) {
        made.step = parser.step({buffer.get(), size}, request);
        if (made.step == http::parse_step::head_complete) {
            ++made.heads_complete;
            made.wanted_continue = parser.expects_continue();
        }
        if (made.step == http::parse_step::complete || made.step == http::parse_step::refused || size == bytes.size())
            break;
        const std::size_t more = (std::min)((std::max)(std::size_t{cut(size)}, std::size_t{1}), bytes.size() - size);
        auto grown = std::make_unique<char[]>(size + more);
        std::copy_n(buffer.get(), size, grown.get());
        std::copy_n(bytes.data() + size, more, grown.get() + size);
        buffer = std::move(grown);
        size += more;
    }
    if (made.step == http::parse_step::head_complete) made.step = http::parse_step::needs_more;
    if (made.step == http::parse_step::refused) {
        made.refused_status = parser.refused_status();
        made.refused_reason = parser.refused_reason();
    }
    if (made.step != http::parse_step::complete) return made;

    made.consumed = parser.consumed();
    made.keep_alive = parser.keep_alive();
    made.method = request.method_name;
    made.path = request.target.path;
    made.query = request.target.query;
    made.authority = request.target.authority;
    made.has_query = request.target.has_query;
    made.version = request.version;
    made.body_state = request.body_state;
    made.body = request.body;
    for (const http::field& line : request.fields) made.fields.emplace_back(line.name, line.value);
    return made;
}

inline parsed_message feed_whole(std::string_view bytes, const http::parser_settings& settings = {}) {
    return feed(bytes, [&](std::size_t) { return bytes.size(); }, settings);
}

inline parsed_message feed_bytewise(std::string_view bytes, const http::parser_settings& settings = {}) {
    return feed(bytes, [](std::size_t) { return std::size_t{1}; }, settings);
}

}  // namespace tollgate::test
