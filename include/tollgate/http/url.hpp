#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// Whether `text` is `uri-host [":" port]` with a host that is not empty (RFC 9110 section 7.2, RFC 3986
/// section 3.2.2): a name, an IPv4 address, or an IPv6 address in brackets; a port of 0 to 65535, or none behind the
/// colon. No user information, path or blank; no comma either, though a name may have one: it is how two `Host` lines
/// look after a proxy has joined them.
[[nodiscard]] TOLLGATE_DECL bool is_authority(std::string_view text) noexcept;

/// The schemes that a URL may have here.
enum class url_scheme : std::uint8_t { http, https };

/// An absolute `http` or `https` URL, taken apart: where a webhook goes, or where a browser is sent back to.
///
/// A host that any client could take for an IPv4 address is one here too: the rules are the WHATWG URL Standard's
/// ("host parsing"), which browsers, curl and most libraries follow for `127.1`, `0x7f000001`, `2130706433` or
/// `%31%32%37.1`.
struct url {
    url_scheme scheme = url_scheme::https;
    std::string host;                   ///< decoded, in lower case, without brackets or a final dot; an address canonical
    std::optional<ip_address> address;  ///< set exactly when the host is one
    std::uint16_t port = 0;             ///< as given, or the scheme's own
    std::string path;                   ///< as sent, no dot segment removed; `/` when there was none
    std::string query;                  ///< behind the `?`, without it, as sent
    bool has_query = false;             ///< tells `/a?` from `/a`
    bool has_user_info = false;         ///< `user:password@`, or just `@`
    bool has_fragment = false;          ///< `#`, perhaps with nothing behind it

    /// Empty for everything else. What a browser would repair is refused, because whoever reads the text next may
    /// repair it differently: backslashes, blanks, control characters, bytes over 0x7e (a name is sent in punycode),
    /// less or more than two slashes, a stray `%`, an empty port, and more than limits::target_url_bytes_max bytes. So
    /// are IPv6 zones, names that DNS could not hold, and hosts that end in a number without being an IPv4 address.
    static TOLLGATE_DECL std::optional<url> parse(std::string_view text);

    /// The port of the scheme: 80 or 443 (RFC 9110 section 4.2).
    [[nodiscard]] constexpr std::uint16_t default_port() const noexcept {
        return scheme == url_scheme::http ? 80 : 443;
    }

    /// `host[:port]` as the `Host` field carries it: an IPv6 address in brackets, the scheme's own port left out.
    [[nodiscard]] TOLLGATE_DECL std::string authority() const;

    /// Scheme, host and port, such as `https://example.com` (RFC 6454 section 6.2).
    [[nodiscard]] TOLLGATE_DECL std::string origin() const;

    /// `path[?query]`, what a request line carries (RFC 9112 section 3.2.1).
    [[nodiscard]] TOLLGATE_DECL std::string request_target() const;
};

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/url.ipp>
#endif
