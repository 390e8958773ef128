#pragma once
#ifndef TOLLGATE_HTTP_URL_HPP
#define TOLLGATE_HTTP_URL_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/ip_address.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// Returns true if `text` is `uri-host [":" port]` with a non-empty host (RFC 9110 section 7.2, RFC 3986 section 3.2.2): a name, an IPv4
/// address, or an IPv6 address in brackets; a port of 0 to 65535, or none after the colon. Returns false for user information, a path or a
/// blank. A comma is not allowed either, although a name may contain it, because proxies join two `Host` lines with a comma.
[[nodiscard]] bool is_authority(std::string_view text) noexcept;

/// `http::percent_encode` encodes text for any part of a URL: all but unreserved characters become `%XX` (RFC 3986 section 2.3).
using tollgate::detail::percent_encode;

/// The supported schemes.
enum class url_scheme : std::uint8_t { http, https };

/// An absolute `http` or `https` URL in parts: the target of a webhook, or a redirect URI.
///
/// A host that a client could read as an IPv4 address is parsed as an IPv4 address, by the rules of the WHATWG URL Standard ("host
/// parsing"), which browsers, curl and most libraries follow for `127.1`, `0x7f000001`, `2130706433` or `%31%32%37.1`.
struct url {
    url_scheme scheme = url_scheme::https;
    /// The host, decoded, in lower case, without brackets or a final dot; an address is in canonical form.
    std::string host;
    std::optional<ip_address> address;  ///< set only if the host is an address
    std::uint16_t port = 0;             ///< the port in the URL, or the default port of the scheme
    std::string path;                   ///< the path as sent, with dot segments; `/` if there was none
    std::string query;                  ///< the text after the `?`, as sent
    bool has_query = false;             ///< true for `/a?`, false for `/a`
    bool has_user_info = false;         ///< true for `user:password@`, and for `@` alone
    bool has_fragment = false;          ///< true for `#`, also with nothing after it
    /// True if a final dot was removed from `host`. In DNS, both spellings are the same name; in browsers, they are two origins.
    bool has_final_dot = false;

    /// Parses an absolute `http` or `https` URL. Returns an empty optional for all other text. Text that browsers would repair is refused,
    /// because the next reader may repair it differently: backslashes, blanks, control characters, bytes over 0x7e (names are sent in
    /// punycode), fewer or more than two slashes, a stray `%`. Also refused: more than limits::target_url_bytes_max bytes, IPv6 zones,
    /// names that DNS cannot represent, and hosts that end in a number without being an IPv4 address.
    static TOLLGATE_COLD std::optional<url> parse(std::string_view text);

    /// Parses the root of an API or of pages, as settings name it: `https://api.example.com/v1`. The result's `path` has no slash at its
    /// end and is empty for a whole host. Throws std::invalid_argument, whose text names `setting`, for text that `parse` refuses, user
    /// information, a query or a fragment.
    static TOLLGATE_COLD url root(std::string_view text, std::string_view setting = "the URL");

    /// Returns the default port of the scheme: 80 or 443 (RFC 9110 section 4.2).
    [[nodiscard]] constexpr std::uint16_t default_port() const noexcept {
        return scheme == url_scheme::http ? 80 : 443;
    }

    /// Returns `host[:port]` as in the `Host` field: an IPv6 address in brackets, the default port omitted.
    [[nodiscard]] TOLLGATE_DECL std::string authority() const;

    /// Returns scheme, host and port, such as `https://example.com` (RFC 6454 section 6.2).
    [[nodiscard]] TOLLGATE_DECL std::string origin() const;

    /// Returns `path[?query]`, as in a request line (RFC 9112 section 3.2.1).
    [[nodiscard]] TOLLGATE_DECL std::string request_target() const;
};

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/url.ipp>
#endif

#endif  // TOLLGATE_HTTP_URL_HPP
