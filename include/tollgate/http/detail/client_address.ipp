#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CLIENT_ADDRESS_IPP
#define TOLLGATE_HTTP_DETAIL_CLIENT_ADDRESS_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/detail/client_address.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::http::detail {

/// The last `hops_max` hops of all lines of one field, left to right.
class forwarded_hops {
public:
    static constexpr std::size_t hops_max = 32;  // more proxies than one operator runs

    void add(std::string_view node) noexcept { nodes_[size_++ % hops_max] = node; }

    [[nodiscard]] std::size_t size() const noexcept { return size_ < hops_max ? size_ : hops_max; }
    /// 0 is the rightmost hop.
    [[nodiscard]] std::string_view from_right(std::size_t at) const noexcept { return nodes_[(size_ - 1 - at) % hops_max]; }

private:
    std::array<std::string_view, hops_max> nodes_;
    std::size_t size_ = 0;
};

/// `address`, `address:port`, `[address]` or `[address]:port`; an IPv6 address without a port needs no brackets.
inline std::optional<ip_address> parse_node(std::string_view node) noexcept {
    const auto is_port = [](std::string_view text) {
        constexpr std::size_t digits_max = 5;
        for (char c : text)
            if (!tollgate::detail::is_digit(c)) return false;
        return !text.empty() && text.size() <= digits_max;
    };
    if (node.starts_with('[')) {
        const auto end = node.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        const auto behind = node.substr(end + 1);
        if (!behind.empty() && (behind.front() != ':' || !is_port(behind.substr(1)))) return std::nullopt;
        return ip_address::parse(node.substr(1, end - 1));
    }
    const auto colon = node.find(':');
    if (colon == std::string_view::npos || node.find(':', colon + 1) != std::string_view::npos) return ip_address::parse(node);
    return is_port(node.substr(colon + 1)) ? ip_address::parse(node.substr(0, colon)) : std::nullopt;
}

/// The end of a quoted-string at `at`; `at` if there is none, npos if it is unterminated.
inline std::size_t skip_quoted(std::string_view text, std::size_t at) noexcept {
    if (at >= text.size() || text[at] != '"') return at;
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\') ++at;
        else if (text[at] == '"') return at + 1;
    }
    return std::string_view::npos;
}

/// Reads an element of a Forwarded line (RFC 7239 section 4), from `at` to the comma behind it or the end of the line. Sets `node` to the
/// value of its `for`; empty if it has none, or several. False if it is malformed.
inline bool read_forwarded_element(std::string_view line, std::size_t& at, std::string_view& node) noexcept {
    const auto skip = [&](auto is_of_part) {
        while (at < line.size() && is_of_part(line[at])) ++at;
    };
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    std::size_t nodes = 0;
    for (;; ++at) {
        skip(is_blank);
        const auto name_begin = at;
        skip(tollgate::detail::is_token_char);
        const bool is_node = tollgate::detail::ascii_iequals(line.substr(name_begin, at - name_begin), "for");
        std::string_view value;
        if (at < line.size() && line[at] == '=') {
            const auto value_begin = ++at;
            at = skip_quoted(line, at);
            if (at == std::string_view::npos) return false;
            if (at == value_begin) {
                skip(tollgate::detail::is_token_char);
                value = line.substr(value_begin, at - value_begin);
            } else {
                value = line.substr(value_begin + 1, at - value_begin - 2);
            }
        }
        if (is_node) node = ++nodes == 1 ? value : std::string_view{};
        skip(is_blank);
        if (at == line.size() || line[at] == ',') return true;
        if (line[at] != ';') return false;
    }
}

/// Adds the elements of a Forwarded line. One that is malformed, or has no readable `for`, is an unknown hop. Empty elements are ignored
/// (RFC 9110 section 5.6.1).
inline void add_forwarded_line(std::string_view line, forwarded_hops& hops) noexcept {
    for (std::size_t begin = 0; begin <= line.size();) {
        std::size_t end = begin;
        std::string_view node;
        if (!read_forwarded_element(line, end, node)) {
            // Up to the next comma, even one in quotes: a client may have sent this, and must not hide what the proxy has appended.
            hops.add({});
            end = (std::min)(line.find(',', begin), line.size());
        } else if (!tollgate::detail::trim_ows(line.substr(begin, end - begin)).empty()) {
            hops.add(node);
        }
        begin = end + 1;
    }
}

inline void add_x_forwarded_for_line(std::string_view line, forwarded_hops& hops) noexcept {
    for (;;) {
        const auto comma = line.find(',');
        const auto node = tollgate::detail::trim_ows(line.substr(0, comma));
        if (!node.empty()) hops.add(node);  // empty list elements are ignored (RFC 9110 section 5.6.1)
        if (comma == std::string_view::npos) return;
        line.remove_prefix(comma + 1);
    }
}

inline bool is_trusted(const ip_address& hop, std::span<const ip_network> trusted) noexcept {
    for (const ip_network& each : trusted)
        if (each.contains(hop)) return true;
    return false;
}

TOLLGATE_DECL ip_address forwarded_address(const request& request, std::span<const ip_network> trusted,
                                           forwarding_field named_by) noexcept {
    if (!is_trusted(request.peer, trusted)) return request.peer;
    const bool is_standard = named_by == forwarding_field::forwarded;
    const field_id read = is_standard ? field_id::forwarded : field_id::x_forwarded_for;
    forwarded_hops hops;
    for (const field& line : request.fields) {
        if (to_field_id(line.name) != read) continue;
        if (is_standard) add_forwarded_line(line.value, hops);
        else add_x_forwarded_for_line(line.value, hops);
    }
    ip_address hop = request.peer;
    for (std::size_t i = 0; i < hops.size(); ++i) {
        const auto next = parse_node(hops.from_right(i));
        if (!next) return hop;
        hop = *next;
        if (!is_trusted(hop, trusted)) return hop;
    }
    return hop;
}

}  // namespace tollgate::http::detail

#endif  // TOLLGATE_HTTP_DETAIL_CLIENT_ADDRESS_IPP
