#pragma once
#ifndef TOLLGATE_WEB_DETAIL_PAGE_IPP
#define TOLLGATE_WEB_DETAIL_PAGE_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/web/detail/page.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <stdexcept>

namespace tollgate::inline v0::web {

namespace detail {

inline constexpr std::string_view style_field_lines =
    "Content-Type: text/css; charset=utf-8\r\n"
    "Cache-Control: public, max-age=31536000, immutable\r\n"
    "X-Content-Type-Options: nosniff\r\n";

inline constexpr std::string_view script_field_lines =
    "Content-Type: text/javascript; charset=utf-8\r\n"
    "Cache-Control: public, max-age=31536000, immutable\r\n"
    "X-Content-Type-Options: nosniff\r\n";

/// Shows the buttons that copy a text. Without a secure context there is no clipboard, only the older command.
inline constexpr std::string_view copy_script = R"("use strict";
for (const button of document.querySelectorAll("button[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  const label = button.firstChild;
  const text = label.data;
  const status = document.createElement("span");
  let timer;
  status.className = "unseen";
  status.setAttribute("role", "status");
  button.after(status);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      field.select();
      if (!document.execCommand("copy")) return;
    }
    label.data = status.textContent = button.dataset.copied;
    clearTimeout(timer);
    timer = setTimeout(() => { label.data = text; status.textContent = ""; }, 3000);
  });
}
)";

// An SVG document that is opened by itself is a page: it may load and run nothing.
inline constexpr std::string_view icon_field_lines =
    "Content-Type: image/svg+xml\r\n"
    "Cache-Control: public, max-age=31536000, immutable\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
    "X-Content-Type-Options: nosniff\r\n";
inline constexpr std::string_view fixed_icon_field_lines =
    "Content-Type: image/svg+xml\r\n"
    "Cache-Control: public, max-age=86400\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
    "X-Content-Type-Options: nosniff\r\n";

/// A version number of a file's content; no security depends on its length.
[[nodiscard]] inline std::string version_of(std::string_view content) {
    return tollgate::detail::hex_encode(sha256(content).raw().substr(0, 8));
}

inline void add_transport_security(http::response& response, const page_site& site) {
    if (site.secure) response.add("Strict-Transport-Security", "max-age=31536000");
}

[[nodiscard]] inline std::string in_units(std::int64_t count, std::string_view one, std::string_view many) {
    return count <= 1 ? std::string{one} : fill_in(many, std::to_string(count));
}

}  // namespace detail

TOLLGATE_DECL page_site page_site::make(std::string_view auth_url, std::string style_sheet, std::string icon) {
    const auto url = http::url::root(auth_url, "auth_url");
    page_site site;
    site.root = url.path;
    site.origin = url.origin();
    site.authority = url.authority();
    site.secure = url.scheme == http::url_scheme::https;
    site.style_url = site.root + "/en/style-" + detail::version_of(style_sheet) + ".css";
    site.icon_url = site.root + "/en/icon-" + detail::version_of(icon) + ".svg";
    site.script_url = site.root + "/en/copy-" + detail::version_of(detail::copy_script) + ".js";
    site.assets.push_back({site.script_url, detail::script_field_lines, std::string{detail::copy_script}});
    site.assets.push_back({site.style_url, detail::style_field_lines, std::move(style_sheet)});
    site.assets.push_back({site.icon_url, detail::icon_field_lines, icon});
    site.assets.push_back({site.root + "/favicon.ico", detail::fixed_icon_field_lines, std::move(icon)});
    return site;
}

TOLLGATE_DECL const page_asset* page_site::find_asset(std::string_view path) const noexcept {
    const auto found = std::find_if(assets.begin(), assets.end(), [&](const page_asset& each) { return each.path == path; });
    return found == assets.end() ? nullptr : &*found;
}

TOLLGATE_DECL bool is_cross_site(const http::request& request, const page_site& site) noexcept {
    bool says = false;
    for (const http::field& line : request.fields) {
        if (!tollgate::detail::ascii_iequals(line.name, "Sec-Fetch-Site")) continue;
        if (line.value != "same-origin" && line.value != "none") return true;
        says = true;
    }
    if (says) return false;
    for (const http::field& line : request.fields)
        if (tollgate::detail::ascii_iequals(line.name, "Origin") && !tollgate::detail::ascii_iequals(line.value, site.origin)) return true;
    return false;
}

TOLLGATE_DECL void add_page_fields(http::response& response, const page_site& site, page_reach reach, bool has_script) {
    response.add_prepared_lines(
        "Content-Type: text/html; charset=utf-8\r\n"
        "Cache-Control: no-store\r\n"
        "X-Frame-Options: DENY\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\n");
    std::string content_policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; ";
    if (has_script) content_policy.append("script-src 'self'; ");
    if (reach == page_reach::this_site) content_policy.append("form-action 'self'; ");
    content_policy.append("base-uri 'none'; frame-ancestors 'none'");
    response.add("Content-Security-Policy", *http::field_value::from(content_policy));
    if (reach == page_reach::this_site) response.add_prepared_lines("Cross-Origin-Opener-Policy: same-origin\r\n");
    detail::add_transport_security(response, site);
}

TOLLGATE_DECL result<void> respond_see_other(http::response& response, const page_site& site, std::string_view url) {
    const auto location = http::field_value::from(url);
    // The URL may contain a code, so the message does not repeat it.
    if (!location || url.empty()) return internal_error("the redirect URL cannot be in a Location header");
    response.set_status(http::status::see_other);
    response.add("Location", *location);
    response.add_prepared_lines(
        "Cache-Control: no-store\r\n"
        "Referrer-Policy: no-referrer\r\n");
    detail::add_transport_security(response, site);
    return {};
}

TOLLGATE_DECL std::string duration_text(seconds duration, const duration_texts& texts) {
    using detail::in_units;
    if (duration <= seconds{90}) return in_units(duration.count(), texts.one_second, texts.seconds);
    if (duration <= seconds{90 * 60})
        return in_units(std::chrono::ceil<std::chrono::minutes>(duration).count(), texts.one_minute, texts.minutes);
    return in_units(std::chrono::ceil<std::chrono::hours>(duration).count(), texts.one_hour, texts.hours);
}

TOLLGATE_DECL const message_texts& message_for(http::status status, const error_texts& texts) noexcept {
    switch (status) {
        case http::status::bad_request: return texts.malformed;
        case http::status::forbidden: return texts.forbidden;
        case http::status::not_found: return texts.not_found;
        case http::status::method_not_allowed:
        case http::status::not_implemented: return texts.method;
        case http::status::content_too_large: return texts.too_large;
        case http::status::uri_too_long: return texts.address_too_long;
        case http::status::header_fields_too_large: return texts.header_too_large;
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

[[nodiscard]] inline std::string day_text(instant at, const date_texts& texts) {
    const auto civil = tollgate::detail::to_civil(at);
    const auto month = texts.months[static_cast<std::size_t>(civil.month - 1)];
    return fill_in(fill_in(fill_in(texts.day, std::to_string(civil.day)), month), std::to_string(civil.year));
}

/// Rounded down. A day is 24 hours, so that none of it depends on a time zone.
template <class Duration>
[[nodiscard]] std::string age_text(Duration age, const date_texts& texts) {
    if (age < std::chrono::minutes{1}) return std::string{texts.just_now};
    if (age < std::chrono::hours{1})
        return in_units(std::chrono::floor<std::chrono::minutes>(age).count(), texts.minute_ago, texts.minutes_ago);
    if (age < std::chrono::days{1})
        return in_units(std::chrono::floor<std::chrono::hours>(age).count(), texts.hour_ago, texts.hours_ago);
    return in_units(std::chrono::floor<std::chrono::days>(age).count(), texts.day_ago, texts.days_ago);
}

}  // namespace detail

TOLLGATE_DECL std::string moment_text(instant at, const date_texts& texts) {
    // 2026-11-21T14:05:09Z
    const auto written = to_iso8601(at);
    return detail::day_text(at, texts).append(", ").append(written.view().substr(11, 8)).append(" UTC");
}

TOLLGATE_DECL void write_day(html_writer& html, instant at, const date_texts& texts) {
    html.add("<time datetime=\"{}\" title=\"{}\">{}</time>", to_iso8601(at).view(), moment_text(at, texts),
             detail::day_text(at, texts));
}

TOLLGATE_DECL void write_age(html_writer& html, instant at, instant now, const date_texts& texts) {
    if (at > now || now - at > std::chrono::days{30}) return write_day(html, at, texts);
    html.add("<time datetime=\"{}\" title=\"{}\">{}</time>", to_iso8601(at).view(), moment_text(at, texts),
             detail::age_text(now - at, texts));
}

TOLLGATE_DECL void write_scopes(html_writer& html, const scope_set& scopes, const scope_text_list& texts) {
    html.add("<ul class=\"scopes\">\n");
    scopes.for_each([&](std::string_view scope) {
        html.add("<li>{} <code>{}</code></li>\n", texts.find(scope), scope);
        return true;
    });
    html.add("</ul>\n");
}

TOLLGATE_DECL void write_moment(html_writer& html, instant at, const date_texts& texts) {
    html.add("<time datetime=\"{}\">{}</time>", to_iso8601(at).view(), moment_text(at, texts));
}

TOLLGATE_COLD void page_renderer::respond_refusal(const http::refusal& refused, http::response& response) const {
    const http::request unknown;
    const auto* known = refused.request != nullptr ? refused.request : refused.partial;
    const auto pages = in(language_of(known != nullptr ? *known : unknown));
    http::add_retry_after(response, refused.status);
    pages.respond_status(response, refused.status);
}

TOLLGATE_COLD void page_renderer::add_languages(const service_catalog& services) {
    for (const page_texts& texts : theme().texts()) {
        const auto tag = texts.frame.language;
        if (!is_language_tag(tag) || std::find(tags_.begin(), tags_.end(), tag) != tags_.end())
            throw std::invalid_argument{"tollgate: a theme has texts for the language '" + std::string{tag} +
                                        "', which is not a language tag or occurs twice"};
        tags_.push_back(tag);
        languages_.push_back({&texts, {}, std::string{site_.root}.append("/").append(tag)});
        for (auto& scope : services.scopes()) {
            auto text = theme().scope_text(scope, services, texts);
            languages_.back().scopes.add(std::move(scope), std::move(text));
        }
    }
    if (languages_.empty()) throw std::invalid_argument{"tollgate: a theme has no texts"};
}

}  // namespace tollgate::web

#endif  // TOLLGATE_WEB_DETAIL_PAGE_IPP
