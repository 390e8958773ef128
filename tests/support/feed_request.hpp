#pragma once

#include <tollgate/http/detail/request_parser.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate_test {

using namespace tollgate;

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
    bool expects_continue = false;   // whether the client waited for 100 Continue then; depends on the split

    friend bool operator==(const parsed_message& a, const parsed_message& b) {
        return a.step == b.step && a.refused_status == b.refused_status && a.refused_reason == b.refused_reason &&
               a.consumed == b.consumed && a.keep_alive == b.keep_alive && a.method == b.method && a.path == b.path &&
               a.query == b.query && a.authority == b.authority && a.body == b.body && a.has_query == b.has_query &&
               a.version == b.version && a.body_state == b.body_state && a.fields == b.fields;
    }
};

/// A realistic host: stores the message in one buffer that moves when it grows, and adds `cut(already)` bytes at a time.
/// Each buffer has exactly the size of the received bytes, so that sanitizers detect reads beyond them.
template <class Cut>
parsed_message feed(std::string_view bytes, Cut&& cut, const http::parser_settings& settings = {}) {
    http::request_parser parser{settings};
    http::request request;
    parser.start();

    parsed_message message;
    auto buffer = std::make_unique<char[]>(0);
    std::size_t size = 0;
    for (;;) {
        message.step = parser.step({buffer.get(), size}, request);
        if (message.step == http::parse_step::head_complete) {
            ++message.heads_complete;
            message.expects_continue = parser.expects_continue();
        }
        if (message.step == http::parse_step::complete || message.step == http::parse_step::refused || size == bytes.size())
            break;
        const std::size_t more = (std::min)((std::max)(std::size_t{cut(size)}, std::size_t{1}), bytes.size() - size);
        auto grown = std::make_unique<char[]>(size + more);
        std::copy_n(buffer.get(), size, grown.get());
        std::copy_n(bytes.data() + size, more, grown.get() + size);
        buffer = std::move(grown);
        size += more;
    }
    if (message.step == http::parse_step::head_complete) message.step = http::parse_step::needs_more;
    if (message.step == http::parse_step::refused) {
        message.refused_status = parser.refused_status();
        message.refused_reason = parser.refused_reason();
    }
    if (message.step != http::parse_step::complete) return message;

    message.consumed = parser.consumed();
    message.keep_alive = parser.keep_alive();
    message.method = request.method_name;
    message.path = request.target.path;
    message.query = request.target.query;
    message.authority = request.target.authority;
    message.has_query = request.target.has_query;
    message.version = request.version;
    message.body_state = request.body_state;
    message.body = request.body;
    for (const http::field& line : request.fields) message.fields.emplace_back(line.name, line.value);
    return message;
}

inline parsed_message feed_whole(std::string_view bytes, const http::parser_settings& settings = {}) {
    return feed(bytes, [&](std::size_t) { return bytes.size(); }, settings);
}

inline parsed_message feed_bytewise(std::string_view bytes, const http::parser_settings& settings = {}) {
    return feed(bytes, [](std::size_t) { return std::size_t{1}; }, settings);
}

}  // namespace tollgate_test
