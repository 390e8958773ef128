#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How values are written on the command line and in the configuration file. Every reader takes the whole text or gives
/// nothing back: `10x`, ` 10` and `10 ` are no numbers.
namespace reference {

/// Digits only, within the bounds.
[[nodiscard]] std::optional<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t least,
                                                              std::uint64_t most);

/// A whole number and its unit: `500ms`, `10s`, `5m`, `2h`, `1d`; up to 366 days.
[[nodiscard]] std::optional<tollgate::milliseconds> parse_duration(std::string_view text);

/// Durations separated by commas, one at the least: `5s,5m,30m`.
[[nodiscard]] std::optional<std::vector<tollgate::milliseconds>> parse_durations(std::string_view text);

/// So many requests in so long: `60/hour`; the units are second, minute, hour and day.
[[nodiscard]] std::optional<tollgate::quota> parse_quota(std::string_view text);

/// Where to listen: `127.0.0.1:8443`, `[::1]:8443`, `unix:/run/tollgate.sock`.
struct listen_address {
    tollgate::ip_address address;
    std::uint16_t port = 0;  ///< 0: any free one
    std::string path{};      ///< of a Unix domain socket, which has neither; empty for another one

    [[nodiscard]] bool is_unix() const noexcept { return !path.empty(); }

    friend bool operator==(const listen_address&, const listen_address&) = default;
};
[[nodiscard]] std::optional<listen_address> parse_listen_address(std::string_view text);

/// `127.0.0.1:8443`, `[::1]:8443`: as an authority of a URL (RFC 3986 section 3.2).
[[nodiscard]] std::string to_text(const listen_address& address);

/// An address that others are told: `https://api.example.com/v1`, without user info, query, fragment or a slash at its
/// end.
[[nodiscard]] bool is_public_url(std::string_view text);

/// An origin as browsers send it, `https://app.example`, or `none`.
inline constexpr std::string_view cors_off = "none";
[[nodiscard]] std::optional<std::string> parse_cors_origin(std::string_view text);

/// `2026-11-22T10:11:03.123Z` (RFC 3339).
[[nodiscard]] std::string to_iso8601_milliseconds(tollgate::instant at);

/// What a person reads in one line: valid UTF-8 of 1 to `bytes_max` bytes without control characters.
[[nodiscard]] bool is_line_of_text(std::string_view text, std::size_t bytes_max);

/// `text` with everything that could move a terminal's cursor or begin a new line written as `\x1b`.
[[nodiscard]] std::string escape_controls(std::string_view text);

}  // namespace reference
