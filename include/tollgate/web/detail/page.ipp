#pragma once

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/web/detail/page.hpp>

#include <cstddef>
#include <utility>

namespace tollgate::inline v0::web {

TOLLGATE_DECL std::optional<page_site> page_site::make(std::string_view auth_url, std::string style_sheet) {
    const auto url = http::url::parse(auth_url);
    if (!url || url->has_query || url->has_fragment || url->has_user_info) return std::nullopt;
    page_site made;
    made.root = url->path;
    while (made.root.ends_with('/')) made.root.pop_back();
    made.origin = url->origin();
    made.secure = url->scheme == http::url_scheme::https;
    // A version number; no security depends on its length.
    made.style_url = made.root + "/en/style-" + hex_encode(sha256(style_sheet).raw().substr(0, 8)) + ".css";
    made.style_sheet = std::move(style_sheet);
    return made;
}

TOLLGATE_DECL bool page_site::answer_style_sheet(const http::request& request, http::response& response) const {
    if (request.target.path != style_url) return false;
    if (request.method == http::method::get || request.method == http::method::head) {
        response.add_prepared_lines(
            "Content-Type: text/css; charset=utf-8\r\n"
            "Cache-Control: public, max-age=31536000, immutable\r\n"
            "X-Content-Type-Options: nosniff\r\n");
        response.body() = style_sheet;
        return true;
    }
    response.set_status(request.method == http::method::options ? http::status::no_content
                                                                : http::refused_method_status(request.method));
    response.add("Allow", "GET, HEAD, OPTIONS");
    return true;
}

TOLLGATE_DECL bool is_cross_site(const http::request& request, const page_site& site) noexcept {
    bool says = false;
    for (const http::field& line : request.fields) {
        if (!ascii_iequals(line.name, "Sec-Fetch-Site")) continue;
        if (line.value != "same-origin" && line.value != "none") return true;
        says = true;
    }
    if (says) return false;
    for (const http::field& line : request.fields)
        if (ascii_iequals(line.name, "Origin") && !ascii_iequals(line.value, site.origin)) return true;
    return false;
}

TOLLGATE_DECL void add_page_fields(http::response& response, const page_site& site, page_reach reach) {
    response.add_prepared_lines(
        "Content-Type: text/html; charset=utf-8\r\n"
        "Cache-Control: no-store\r\n"
        "X-Frame-Options: DENY\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\n");
    if (reach == page_reach::this_site)
        response.add_prepared_lines(
            "Content-Security-Policy: default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
            "base-uri 'none'; frame-ancestors 'none'\r\n"
            "Cross-Origin-Opener-Policy: same-origin\r\n");
    else
        response.add_prepared_lines(
            "Content-Security-Policy: default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
            "frame-ancestors 'none'\r\n");
    if (site.secure) response.add("Strict-Transport-Security", "max-age=31536000");
}

TOLLGATE_DECL result<void> answer_see_other(http::response& response, const page_site& site, std::string_view url) {
    const auto location = http::field_value::from(url);
    // The URL may contain a code, so the message does not repeat it.
    if (!location || url.empty()) return internal_error("the redirect URL cannot be in a Location header");
    response.set_status(http::status::see_other);
    response.add("Location", *location);
    response.add_prepared_lines(
        "Cache-Control: no-store\r\n"
        "Referrer-Policy: no-referrer\r\n");
    if (site.secure) response.add("Strict-Transport-Security", "max-age=31536000");
    return {};
}

TOLLGATE_DECL std::string duration_text(seconds of, const duration_texts& texts) {
    const auto in_units = [](auto count, std::string_view one, std::string_view many) {
        return count <= 1 ? std::string{one} : fill_in(many, std::to_string(count));
    };
    if (of <= seconds{90}) return in_units(of.count(), texts.one_second, texts.seconds);
    if (of <= seconds{90 * 60})
        return in_units(std::chrono::ceil<std::chrono::minutes>(of).count(), texts.one_minute, texts.minutes);
    return in_units(std::chrono::ceil<std::chrono::hours>(of).count(), texts.one_hour, texts.hours);
}

TOLLGATE_DECL const message_texts& message_for(http::status status, const error_texts& texts) noexcept {
    switch (status) {
        case http::status::bad_request: return texts.malformed;
        case http::status::forbidden: return texts.forbidden;
        case http::status::not_found: return texts.not_found;
        case http::status::method_not_allowed:
        case http::status::not_implemented: return texts.method;
        case http::status::content_too_large: return texts.too_large;
        case http::status::unsupported_media_type: return texts.media_type;
        case http::status::too_many_requests: return texts.too_many;
        case http::status::service_unavailable: return texts.unavailable;
        case http::status::internal_server_error: return texts.internal;
        default: return texts.other;
    }
}

TOLLGATE_DECL void write_message(html_writer& html, const message_texts& message) {
    html.add("<h1>{}</h1>\n<p>{}</p>\n", message.heading, message.explanation);
}

namespace detail {

[[nodiscard]] inline std::string day_text(instant at) {
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto civil = tollgate::detail::to_civil(at);
    const auto month = months.substr(static_cast<std::size_t>(civil.month - 1) * 3, 3);
    return std::to_string(civil.day).append(" ").append(month).append(" ").append(std::to_string(civil.year));
}

}  // namespace detail

TOLLGATE_DECL void write_day(html_writer& html, instant at) {
    html.add("<time datetime=\"{}\">{}</time>", to_iso8601(at).view(), detail::day_text(at));
}

TOLLGATE_DECL std::string moment_text(instant at) {
    // 2026-11-21T14:05:09Z
    const auto written = to_iso8601(at);
    return detail::day_text(at).append(", ").append(written.view().substr(11, 8)).append(" UTC");
}

TOLLGATE_DECL void write_moment(html_writer& html, instant at) {
    html.add("<time datetime=\"{}\">{}</time>", to_iso8601(at).view(), moment_text(at));
}

}  // namespace tollgate::web
