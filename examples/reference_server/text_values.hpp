#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How values are written on the command line and in the configuration file. Every parser accepts only a whole text:
/// `10x`, ` 10` and `10 ` are not numbers.
namespace reference {

/// Digits only, within the bounds.
[[nodiscard]] std::optional<std::uint64_t> parse_whole_number(std::string_view text, std::uint64_t least,
                                                              std::uint64_t most);

/// A whole number and its unit: `500ms`, `10s`, `5m`, `2h`, `1d`; up to 366 days.
[[nodiscard]] std::optional<tollgate::milliseconds> parse_duration(std::string_view text);

/// One or more durations, separated by commas: `5s,5m,30m`.
[[nodiscard]] std::optional<std::vector<tollgate::milliseconds>> parse_durations(std::string_view text);

/// A number of requests per period: `60/hour`; the units are second, minute, hour and day.
[[nodiscard]] std::optional<tollgate::quota> parse_quota(std::string_view text);

/// Where to listen: `127.0.0.1:8443`, `[::1]:8443`, `unix:/run/tollgate/tollgate.sock`.
struct listen_address {
    tollgate::ip_address address;
    std::uint16_t port = 0;  ///< 0: any free one
    std::string path{};      ///< of a Unix domain socket, which has no host and port; otherwise empty

    [[nodiscard]] bool is_unix() const noexcept { return !path.empty(); }

    friend bool operator==(const listen_address&, const listen_address&) = default;
};
[[nodiscard]] std::optional<listen_address> parse_listen_address(std::string_view text);

/// `127.0.0.1:8443`, `[::1]:8443`: as an authority of a URL (RFC 3986 section 3.2).
[[nodiscard]] std::string to_text(const listen_address& address);

/// A public address: `https://api.example.com/v1`, as `http::url::root` accepts it, without a trailing slash.
[[nodiscard]] bool is_public_url(std::string_view text);

/// A host name as in a Host field, without a port: `node1.example.com`.
[[nodiscard]] std::optional<std::string> parse_host_name(std::string_view text);

/// An origin as browsers send it, `https://app.example`, or `none`.
inline constexpr std::string_view cors_off = "none";
[[nodiscard]] std::optional<std::string> parse_cors_origin(std::string_view text);

/// `2026-11-22T10:11:03.123Z` (RFC 3339).
[[nodiscard]] std::string to_iso8601_milliseconds(tollgate::instant at);

/// A time in whole seconds: `2026-11-28T10:00:00Z` (RFC 3339).
[[nodiscard]] std::optional<tollgate::instant> parse_iso8601(std::string_view text);

[[nodiscard]] bool is_valid_utf8(std::string_view text);

/// A line of text: valid UTF-8 of 1 to `bytes_max` bytes without control characters.
[[nodiscard]] bool is_line_of_text(std::string_view text, std::size_t bytes_max);

/// `text` with control characters, which could move a terminal's cursor or begin a new line, escaped as `\x1b`.
[[nodiscard]] std::string escape_controls(std::string_view text);

/// The part of an argument that an error message may quote, escaped. Of what looks like a connection string in a wrong place, nothing.
[[nodiscard]] std::string to_quotable(std::string_view text);

}  // namespace reference
