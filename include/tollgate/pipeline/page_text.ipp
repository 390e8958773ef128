#pragma once

#include <tollgate/pipeline/page_text.hpp>

#include <cstddef>

namespace tollgate::pipeline {

TOLLGATE_DECL std::string duration_text(seconds of, const duration_words& words) {
    const auto in_units = [](auto count, std::string_view one, std::string_view many) {
        return count <= 1 ? std::string{one} : fill_in(many, std::to_string(count));
    };
    if (of <= seconds{90}) return in_units(of.count(), words.one_second, words.seconds);
    if (of <= seconds{90 * 60})
        return in_units(std::chrono::ceil<std::chrono::minutes>(of).count(), words.one_minute, words.minutes);
    return in_units(std::chrono::ceil<std::chrono::hours>(of).count(), words.one_hour, words.hours);
}

TOLLGATE_DECL const message_words& message_for(http::status status, const error_words& words) noexcept {
    switch (status) {
        case http::status::bad_request: return words.malformed;
        case http::status::forbidden: return words.forbidden;
        case http::status::not_found: return words.not_found;
        case http::status::method_not_allowed: return words.method;
        case http::status::content_too_large: return words.too_large;
        case http::status::unsupported_media_type: return words.media_type;
        case http::status::service_unavailable: return words.unavailable;
        case http::status::internal_server_error: return words.internal;
        default: return words.other;
    }
}

TOLLGATE_DECL void write_message(http::html_writer& html, const message_words& said) {
    html.add("<h1>{}</h1>\n<p>{}</p>\n", said.heading, said.explanation);
}

namespace detail {

[[nodiscard]] inline std::string day_text(instant at) {
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto civil = tollgate::detail::to_civil(at);
    const auto month = months.substr(static_cast<std::size_t>(civil.month - 1) * 3, 3);
    return std::to_string(civil.day).append(" ").append(month).append(" ").append(std::to_string(civil.year));
}

}  // namespace detail

TOLLGATE_DECL void write_day(http::html_writer& html, instant at) {
    html.add("<time datetime=\"{}\">{}</time>", to_iso8601(at).view(), detail::day_text(at));
}

TOLLGATE_DECL std::string moment_text(instant at) {
    // 2026-11-21T14:05:09Z
    const auto written = to_iso8601(at);
    return detail::day_text(at).append(", ").append(written.view().substr(11, 8)).append(" UTC");
}

TOLLGATE_DECL void write_moment(http::html_writer& html, instant at) {
    html.add("<time datetime=\"{}\">{}</time>", to_iso8601(at).view(), moment_text(at));
}

}  // namespace tollgate::pipeline
