#pragma once
#ifndef TOLLGATE_BASE_IP_ADDRESS_IPP
#define TOLLGATE_BASE_IP_ADDRESS_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ip_address.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace tollgate::inline v0 {
namespace detail {

/// Four decimal parts, written to `out[0..3]`. A leading zero is refused because others read it as octal.
constexpr bool parse_dotted_decimal(std::string_view text, std::uint8_t* out) noexcept {
    for (int part = 0; part < 4; ++part) {
        const auto end = part < 3 ? text.find('.') : text.size();
        if (end == std::string_view::npos) return false;
        const auto value = detail::parse_decimal(text.substr(0, end));
        if (!value || *value > 255) return false;
        out[part] = static_cast<std::uint8_t>(*value);
        text.remove_prefix(part < 3 ? end + 1 : end);
    }
    return true;
}

/// One to four hexadecimal digits; -1 for anything else.
constexpr int parse_hex_group(std::string_view text) noexcept {
    if (text.empty() || text.size() > 4) return -1;
    int value = 0;
    for (char c : text) {
        const int digit = detail::hex_value(c);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/// RFC 4291 section 2.2: groups, at most one `::` for one or more groups, and optionally dotted decimal at the end.
constexpr std::optional<std::array<std::uint8_t, 16>> parse_ipv6(std::string_view text) noexcept {
    constexpr std::size_t no_gap = 17;
    std::array<std::uint8_t, 16> bytes{};
    std::size_t filled = 0;
    std::size_t gap = no_gap;

    if (text.substr(0, 2) == "::") {
        gap = 0;
        text.remove_prefix(2);
    }
    while (!text.empty()) {
        if (filled > bytes.size() - 2) return std::nullopt;
        const auto end = text.find(':');
        const std::string_view group = text.substr(0, end);
        if (end == std::string_view::npos && group.find('.') != std::string_view::npos) {
            if (filled > 12 || !parse_dotted_decimal(group, bytes.data() + filled)) return std::nullopt;
            filled += 4;
            break;
        }
        const int value = parse_hex_group(group);
        if (value < 0) return std::nullopt;
        bytes[filled++] = static_cast<std::uint8_t>(value >> 8);
        bytes[filled++] = static_cast<std::uint8_t>(value & 0xff);
        if (end == std::string_view::npos) break;

        text.remove_prefix(end + 1);
        if (text.empty()) return std::nullopt;  // a trailing single colon
        if (text.front() == ':') {
            if (gap != no_gap) return std::nullopt;
            gap = filled;
            text.remove_prefix(1);
        }
    }
    if (gap == no_gap) return filled == bytes.size() ? std::optional{bytes} : std::nullopt;
    if (filled >= bytes.size()) return std::nullopt;

    // Groups before the gap go to the front, groups after it to the end.
    std::array<std::uint8_t, 16> spread{};
    std::copy_n(bytes.begin(), gap, spread.begin());
    std::copy_n(bytes.rbegin() + static_cast<std::ptrdiff_t>(bytes.size() - filled), filled - gap, spread.rbegin());
    return spread;
}

struct group_run {
    unsigned first = 8;
    unsigned length = 0;
};

/// The groups that `::` replaces by RFC 5952 section 4.2: the longest run of two or more zeros, the first of equals.
constexpr group_run longest_zero_run(const std::array<unsigned, 8>& groups) noexcept {
    group_run longest;
    for (unsigned first = 0; first < groups.size();) {
        unsigned end = first;
        while (end < groups.size() && groups[end] == 0) ++end;
        if (end - first >= 2 && end - first > longest.length) longest = {first, end - first};
        first = end + 1;
    }
    return longest;
}

}  // namespace detail

TOLLGATE_DECL std::optional<ip_address> ip_address::parse(std::string_view text) noexcept {
    if (text.find(':') != std::string_view::npos) {
        const auto bytes = detail::parse_ipv6(text);
        return bytes ? std::optional{from_bytes(*bytes)} : std::nullopt;
    }
    std::uint8_t parts[4];
    if (!detail::parse_dotted_decimal(text, parts)) return std::nullopt;
    return v4(parts[0], parts[1], parts[2], parts[3]);
}

TOLLGATE_DECL std::string ip_address::to_text() const {
    std::string text;
    if (is_v4()) {
        for (std::size_t i = 12; i < bytes_.size(); ++i) {
            if (i != 12) text += '.';
            text += std::to_string(bytes_[i]);
        }
        return text;
    }
    std::array<unsigned, 8> groups{};
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = bytes_[2 * i] * 256U + bytes_[2 * i + 1];
    const auto zeros = detail::longest_zero_run(groups);
    for (unsigned i = 0; i < groups.size(); ++i) {
        if (i == zeros.first) {
            text += "::";
            i += zeros.length - 1;
            continue;
        }
        if (!text.empty() && text.back() != ':') text += ':';
        char digits[4];
        text.append(digits, std::to_chars(digits, digits + sizeof digits, groups[i], 16).ptr);
    }
    return text;
}

TOLLGATE_DECL std::optional<ip_network> ip_network::parse(std::string_view text) noexcept {
    const auto slash = text.find('/');
    const std::string_view address_text = text.substr(0, slash);
    const auto first = ip_address::parse(address_text);
    if (!first) return std::nullopt;
    if (slash == std::string_view::npos) return of(*first, 128);

    const bool dotted = address_text.find(':') == std::string_view::npos;
    const auto prefix = detail::parse_decimal(text.substr(slash + 1));
    if (!prefix || *prefix > (dotted ? 32U : 128U)) return std::nullopt;

    const unsigned prefix_bits = static_cast<unsigned>(*prefix) + (dotted ? 96 : 0);
    for (unsigned bit = prefix_bits; bit < 128; ++bit)
        if ((first->bytes()[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
    return ip_network{*first, prefix_bits};
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_IP_ADDRESS_IPP
