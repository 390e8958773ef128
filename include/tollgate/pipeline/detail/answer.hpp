#pragma once

#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/pipeline/detail/access.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/refused.hpp>
#include <tollgate/policy/detail/policy_set.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace tollgate::inline v0::pipeline {

/// What every JSON answer says of itself: account data is for its caller alone, and is what it says it is.
inline constexpr std::string_view json_field_lines =
    "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";

/// The rate limit fields. `X-RateLimit-Reset` is there exactly when nothing remains.
inline void add_window(http::response& out, const verdict& window) {
    // Every response has these two: put together here, they are one append instead of ten.
    std::array<char, 96> lines;
    char* end = lines.data();
    const auto put = [&](std::string_view text) { end = std::copy_n(text.data(), text.size(), end); };
    constexpr std::size_t digits_max = 10;  // of 32 bits
    const auto put_number = [&](std::uint32_t number) { end = std::to_chars(end, end + digits_max, number).ptr; };
    put("X-RateLimit-Limit: ");
    put_number(window.limit);
    put("\r\nX-RateLimit-Remaining: ");
    put_number(window.remaining);
    put("\r\n");
    out.add_prepared_lines({lines.data(), static_cast<std::size_t>(end - lines.data())});
    if (window.remaining == 0) out.add("X-RateLimit-Reset", round_up_to_seconds(window.resets_at));
}

/// Seconds until a window opens again, for `Retry-After`: whole, rounded up, at least one.
[[nodiscard]] inline std::uint64_t seconds_until(instant later, instant now) noexcept {
    return static_cast<std::uint64_t>((std::max)(std::int64_t{1}, std::chrono::ceil<seconds>(later - now).count()));
}

/// The Error object.
inline void write_error(http::response& out, http::status status, std::string_view message, std::string_view docs_url, topic about) {
    out.set_status(status);
    out.add_prepared_lines(json_field_lines);
    http::json_writer body{out.body()};
    body.begin_object();
    body.member("message").string(message);
    body.member("documentation_url").string(std::string{docs_url}.append(about.slug).append("/"));
    body.end_object();
}

/// `Allow` for a path that answers to these methods: HEAD where there is GET, and OPTIONS always (RFC 9110 section 10.2.1).
inline void add_allow(http::response& out, method_set allowed) {
    std::string list;
    for (const auto each : {http::method::get, http::method::head, http::method::post, http::method::put, http::method::patch,
                            http::method::delete_, http::method::options}) {
        const bool is_there = each == http::method::head ? allowed.contains(http::method::get)
                                                         : each == http::method::options || allowed.contains(each);
        if (!is_there) continue;
        if (!list.empty()) list.append(", ");
        list.append(to_text(each));
    }
    if (const auto value = http::field_value::from(list)) out.add("Allow", *value);
}

/// `WWW-Authenticate` of a 401: a line for each scheme. Only credentials that were sent and bad have an error code
/// (RFC 6750 section 3.1).
template <class Authenticators>
void add_challenges(http::response& out, const Authenticators& authenticators, const judgement& found) {
    const auto add_one = [&](const auto& held) {
        const auto& authenticator = policy(held);
        std::string challenge{authenticator.challenge};
        if (found.standing == standing::bad_credentials && ascii_iequals(authenticator.scheme, "Bearer"))
            challenge.append(", error=\"invalid_token\"");
        if (const auto value = http::field_value::from(challenge)) out.add("WWW-Authenticate", *value);
    };
    std::apply([&](const auto&... each) { (add_one(each), ...); }, authenticators);
}

/// `WWW-Authenticate` of a 403 for want of a scope (RFC 6750 section 3.1).
inline void add_insufficient_scope(http::response& out, std::string_view scope) {
    const auto challenge = std::string{"Bearer realm=\"api\", error=\"insufficient_scope\", scope=\""}.append(scope).append("\"");
    if (const auto value = http::field_value::from(challenge)) out.add("WWW-Authenticate", *value);
}

/// How long a client waits before it asks again after a 503 of ours: long enough for a database to fail over, short enough
/// for a person not to give up.
inline constexpr std::uint64_t retry_after_unavailable_seconds = 2;

}  // namespace tollgate::pipeline
