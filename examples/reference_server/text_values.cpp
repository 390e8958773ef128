#include "text_values.hpp"

#include <tollgate/http/url.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <span>
#include <stdexcept>

namespace reference {

namespace {

using tollgate::milliseconds;

struct unit {
    std::string_view name;
    std::int64_t milliseconds;
};

constexpr std::int64_t day_milliseconds = 24 * 60 * 60 * 1000;
constexpr std::int64_t duration_milliseconds_max = 366 * day_milliseconds;  // far from where sums of times overflow
constexpr std::uint64_t quota_requests_max = 1'000'000'000;                 // fits a quota's 32 bits
constexpr std::size_t durations_max = 32;                                   // a plan of retries that a person wrote

const unit* find_unit(std::span<const unit> units, std::string_view name) {
    const auto found = std::find_if(units.begin(), units.end(), [name](const unit& each) { return each.name == name; });
    return found == units.end() ? nullptr : &*found;
}

std::size_t count_leading_digits(std::string_view text) {
    const auto found = text.find_first_not_of("0123456789");
    return found == std::string_view::npos ? text.size() : found;
}

/// The bytes of the well-formed UTF-8 sequence at the start of `text`, which is not empty; 0 if there is none.
std::size_t utf8_sequence_bytes(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) return 1;
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
    char32_t point = lead & (0x7fU >> bytes);
    for (const char each : text.substr(1, bytes - 1)) {
        const auto byte = static_cast<unsigned char>(each);
        if ((byte & 0xc0U) != 0x80) return 0;
        point = point << 6 | (byte & 0x3fU);
    }
    const bool is_overlong = (bytes == 3 && point < 0x800) || (bytes == 4 && point < 0x10000);
    const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
    return is_overlong || is_surrogate || point > 0x10ffff ? 0 : bytes;
}

/// C0 and DEL, the C1 controls that some terminals obey as well (U+0080 to U+009F, `c2 80` to `c2 9f`), and the separators at which some
/// programs end a line (U+2028 and U+2029, `e2 80 a8` and `e2 80 a9`).
bool is_control(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1) return first < 0x20 || first == 0x7f;
    return (first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0) || sequence == "\xe2\x80\xa8" || sequence == "\xe2\x80\xa9";
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
    static constexpr unit windows[] = {
        {"second", 1000}, {"minute", 60'000}, {"hour", 3'600'000}, {"day", day_milliseconds}};
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto requests = parse_whole_number(text.substr(0, slash), 1, quota_requests_max);
    const unit* window = find_unit(windows, text.substr(slash + 1));
    if (!requests || window == nullptr) return std::nullopt;
    return tollgate::quota{static_cast<std::uint32_t>(*requests),
                           std::chrono::duration_cast<tollgate::seconds>(milliseconds{window->milliseconds})};
}

std::optional<listen_address> parse_listen_address(std::string_view text) {
    constexpr std::string_view unix_prefix = "unix:";
    constexpr std::size_t path_bytes_max = 107;  // what a sockaddr_un takes on Linux
    if (text.starts_with(unix_prefix)) {
        const auto path = text.substr(unix_prefix.size());
        if (path.empty() || !is_line_of_text(path, path_bytes_max)) return std::nullopt;
        return listen_address{{}, 0, std::string{path}};
    }
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
    return listen_address{*address, static_cast<std::uint16_t>(*port), {}};
}

std::string to_text(const listen_address& address) {
    if (address.is_unix()) return "unix:" + address.path;
    auto host = address.address.to_text();
    if (!address.address.is_v4()) host = std::string{"["}.append(host).append("]");
    return host + ":" + std::to_string(address.port);
}

bool is_public_url(std::string_view text) {
    try {
        static_cast<void>(tollgate::http::url::root(text));
    } catch (const std::invalid_argument&) {
        return false;
    }
    return !text.ends_with('/');
}

std::optional<std::string> parse_host_name(std::string_view text) {
    const auto parsed = tollgate::http::url::parse("http://" + std::string{text});
    if (!parsed || parsed->authority() != text || text.find(':') != std::string_view::npos) return std::nullopt;
    return std::string{text};
}

std::optional<std::string> parse_cors_origin(std::string_view text) {
    const auto parsed = tollgate::http::url::parse(text);
    if (text == cors_off || (parsed && parsed->origin() == text)) return std::string{text};
    return std::nullopt;
}

std::optional<tollgate::instant> parse_iso8601(std::string_view text) {
    constexpr std::string_view form = "0000-00-00T00:00:00Z";
    if (text.size() != form.size()) return std::nullopt;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return std::nullopt;
    const auto part = [text](std::size_t at, std::size_t digits) {
        int value = 0;
        for (const char digit : text.substr(at, digits)) value = value * 10 + (digit - '0');
        return value;
    };
    using namespace std::chrono;
    const year_month_day date{year{part(0, 4)}, month{static_cast<unsigned>(part(5, 2))}, day{static_cast<unsigned>(part(8, 2))}};
    const auto hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
    if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
    return tollgate::instant{sys_days{date}} + hours{hour} + minutes{minute} + std::chrono::seconds{second};
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto bytes = utf8_sequence_bytes(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
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

std::string to_iso8601_milliseconds(tollgate::instant at) {
    const auto past_second = at - std::chrono::floor<tollgate::seconds>(at);
    const auto digits = std::to_string(1000 + past_second.count());
    return std::string{tollgate::to_iso8601(at).view().substr(0, 19)}.append(".").append(digits, 1).append("Z");
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

std::string to_quotable(std::string_view text) {
    const auto scheme = text.find("://");
    const bool may_have_password = (scheme != std::string_view::npos && text.find('@', scheme) != std::string_view::npos) ||
                                   text.find("password=") != std::string_view::npos;
    return may_have_password ? "..." : escape_controls(text);
}

}  // namespace reference
