#include "text_values.hpp"

#include <tollgate/base/ascii.hpp>

#include <algorithm>
#include <charconv>
#include <span>

namespace reference {

namespace {

using tollgate::milliseconds;

struct unit {
    std::string_view name;
    std::int64_t milliseconds;
};

constexpr std::int64_t day_milliseconds = 24 * 60 * 60 * 1000;
constexpr std::int64_t duration_milliseconds_max = 366 * day_milliseconds;  // far from where sums of times overflow
constexpr std::uint64_t quota_requests_max = 1'000'000'000;                 // fits every counter that a limiter keeps
constexpr std::size_t durations_max = 32;                                   // a plan of retries that a person wrote

const unit* find_unit(std::span<const unit> units, std::string_view name) {
    const auto found = std::find_if(units.begin(), units.end(), [name](const unit& each) { return each.name == name; });
    return found == units.end() ? nullptr : &*found;
}

std::size_t count_leading_digits(std::string_view text) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), tollgate::is_digit) - text.begin());
}

/// How many bytes the UTF-8 sequence at the front of `text` has (RFC 3629 section 4); 0 when there is none.
std::size_t utf8_sequence_bytes(std::string_view text) {
    const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&at](std::size_t i, unsigned least = 0x80, unsigned most = 0xbf) {
        return at(i) >= least && at(i) <= most;
    };
    const unsigned lead = at(0);
    if (lead < 0x80) return text.empty() ? 0 : 1;
    if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        const unsigned least = lead == 0xe0 ? 0xa0 : 0x80;  // no longer form of what fits into two bytes
        const unsigned most = lead == 0xed ? 0x9f : 0xbf;   // no surrogates
        return continues(1, least, most) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const unsigned least = lead == 0xf0 ? 0x90 : 0x80;
        const unsigned most = lead == 0xf4 ? 0x8f : 0xbf;  // up to U+10FFFF
        return continues(1, least, most) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

/// C0 and DEL, and the C1 controls that some terminals obey as well (U+0080 to U+009F, `c2 80` to `c2 9f`).
bool is_control(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1) return first < 0x20 || first == 0x7f;
    return first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0;
}

}  // namespace

std::optional<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || value < least || value > most) return std::nullopt;
    return value;
}

std::optional<milliseconds> parse_duration(std::string_view text) {
    static constexpr unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", day_milliseconds}};
    const auto digits = count_leading_digits(text);
    const unit* each = find_unit(units, text.substr(digits));
    if (each == nullptr) return std::nullopt;
    const auto count_max = static_cast<std::uint64_t>(duration_milliseconds_max / each->milliseconds);
    const auto count = parse_whole_number(text.substr(0, digits), 0, count_max);
    if (!count) return std::nullopt;
    return milliseconds{static_cast<std::int64_t>(*count) * each->milliseconds};
}

std::optional<std::vector<milliseconds>> parse_durations(std::string_view text) {
    std::vector<milliseconds> all;
    while (true) {
        const auto comma = text.find(',');
        const auto each = parse_duration(text.substr(0, comma));
        if (!each || all.size() == durations_max) return std::nullopt;
        all.push_back(*each);
        if (comma == std::string_view::npos) return all;
        text.remove_prefix(comma + 1);
    }
}

std::optional<tollgate::quota> parse_quota(std::string_view text) {
    static constexpr unit units[] = {{"second", 1000}, {"minute", 60'000}, {"hour", 3'600'000}, {"day", day_milliseconds}};
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto requests = parse_whole_number(text.substr(0, slash), 1, quota_requests_max);
    const unit* window = find_unit(units, text.substr(slash + 1));
    if (!requests || window == nullptr) return std::nullopt;
    return tollgate::quota{*requests, milliseconds{window->milliseconds}};
}

std::optional<listen_address> parse_listen_address(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    auto host = text.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    // Without its brackets the end of an IPv6 address could be taken for a port.
    if (!bracketed && host.find(':') != std::string_view::npos) return std::nullopt;
    const auto address = tollgate::ip_address::parse(host);
    const auto port = parse_whole_number(text.substr(colon + 1), 0, 65'535);
    if (!address || !port) return std::nullopt;
    return listen_address{*address, static_cast<std::uint16_t>(*port)};
}

std::string to_text(const listen_address& address) {
    const auto host = address.address.to_text();
    return (address.address.is_v4() ? host : "[" + host + "]") + ":" + std::to_string(address.port);
}

bool is_public_url(std::string_view text) {
    for (std::string_view scheme : {"https://", "http://"}) {
        if (!text.starts_with(scheme)) continue;
        const auto rest = text.substr(scheme.size());
        const auto host = rest.substr(0, rest.find('/'));
        const bool visible = std::all_of(rest.begin(), rest.end(), [](char c) { return c > ' ' && c <= '~'; });
        return visible && !host.empty() && host.front() != ':' && !rest.ends_with('/') &&
               rest.find_first_of("?#@\\\"<>") == std::string_view::npos;
    }
    return false;
}

bool is_line_of_text(std::string_view text, std::size_t bytes_max) {
    if (text.empty() || text.size() > bytes_max) return false;
    while (!text.empty()) {
        const auto bytes = utf8_sequence_bytes(text);
        if (bytes == 0 || is_control(text.substr(0, bytes))) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

std::string escape_controls(std::string_view text) {
    constexpr char hex[] = "0123456789abcdef";
    std::string escaped;
    escaped.reserve(text.size());
    while (!text.empty()) {
        const auto bytes = utf8_sequence_bytes(text);
        if (bytes != 0 && !is_control(text.substr(0, bytes))) {
            escaped.append(text.substr(0, bytes));
            text.remove_prefix(bytes);
            continue;
        }
        const auto byte = static_cast<unsigned char>(text.front());
        escaped.append({'\\', 'x', hex[byte >> 4], hex[byte & 0xf]});
        text.remove_prefix(1);
    }
    return escaped;
}

}  // namespace reference
