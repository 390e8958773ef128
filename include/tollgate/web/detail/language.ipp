#pragma once
#ifndef TOLLGATE_WEB_DETAIL_LANGUAGE_IPP
#define TOLLGATE_WEB_DETAIL_LANGUAGE_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/web/detail/language.hpp>

#include <algorithm>

namespace tollgate::inline v0::web {

namespace detail {

/// The part before `separator`, which is removed from `left` with it.
inline std::string_view next_part(std::string_view& left, char separator) noexcept {
    const auto part = left.substr(0, left.find(separator));
    left.remove_prefix((std::min)(part.size() + 1, left.size()));
    return tollgate::detail::trim_ows(part);
}

/// `;q=0.8` in thousandths; 1000 without one, 0 for a malformed one.
inline int quality_of(std::string_view parameters) noexcept {
    while (!parameters.empty()) {
        auto parameter = next_part(parameters, ';');
        if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) continue;
        parameter.remove_prefix(2);
        if (parameter.starts_with('1')) return 1000;
        if (parameter.size() < 3 || !parameter.starts_with("0.")) return 0;
        int thousandths = 0;
        const auto digits = parameter.substr(2, 3);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), thousandths);
        if (read.ptr != digits.data() + digits.size() || thousandths < 0) return 0;
        for (auto missing = digits.size(); missing < 3; ++missing) thousandths *= 10;
        return thousandths;
    }
    return 1000;
}

}  // namespace detail

TOLLGATE_DECL bool is_language_tag(std::string_view text) noexcept {
    if (text.size() < 2 || text.starts_with('-') || text.ends_with('-')) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return c == '-' || tollgate::detail::is_alphanumeric(c); });
}

TOLLGATE_DECL std::optional<std::size_t> find_language(std::string_view range,
                                                       std::span<const std::string_view> offered) noexcept {
    while (!range.empty()) {
        for (std::size_t i = 0; i < offered.size(); ++i)
            if (tollgate::detail::ascii_iequals(offered[i], range)) return i;
        const auto hyphen = range.rfind('-');
        range = range.substr(0, hyphen == std::string_view::npos ? 0 : hyphen);
    }
    return std::nullopt;
}

TOLLGATE_DECL std::optional<std::size_t> accepted_language(std::string_view field,
                                                           std::span<const std::string_view> offered) noexcept {
    std::optional<std::size_t> best;
    int best_quality = 0;
    while (!field.empty()) {
        auto parameters = detail::next_part(field, ',');
        const auto range = detail::next_part(parameters, ';');
        const int quality = detail::quality_of(parameters);
        if (quality <= best_quality) continue;
        const auto found = range == "*" && !offered.empty() ? std::optional<std::size_t>{0} : find_language(range, offered);
        if (!found) continue;
        best = found;
        best_quality = quality;
    }
    return best;
}

TOLLGATE_DECL std::optional<std::size_t> ui_language(std::string_view ui_locales,
                                                     std::span<const std::string_view> offered) noexcept {
    while (!ui_locales.empty())
        if (const auto found = find_language(detail::next_part(ui_locales, ' '), offered)) return found;
    return std::nullopt;
}

}  // namespace tollgate::web

#endif  // TOLLGATE_WEB_DETAIL_LANGUAGE_IPP
