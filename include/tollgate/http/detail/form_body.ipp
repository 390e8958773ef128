#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_FORM_BODY_IPP
#define TOLLGATE_HTTP_DETAIL_FORM_BODY_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/form_body.hpp>

#include <algorithm>
#include <optional>

namespace tollgate::inline v0::http {

namespace detail {

/// The result is empty for invalid percent-encoding, an unencoded control byte, or decoded bytes that are not UTF-8.
[[nodiscard]] inline std::optional<std::string> decode_form_text(std::string_view text) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(text.begin(), text.end(), is_control)) return std::nullopt;
    auto decoded = tollgate::detail::percent_decode(text, tollgate::detail::plus_sign::space);
    if (decoded && !tollgate::detail::is_utf8(*decoded)) return std::nullopt;
    return decoded;
}

}  // namespace detail

TOLLGATE_DECL result<form_fields> parse_form(std::string_view bytes) {
    std::vector<form_member> members;
    while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, bytes.find('&'));
        bytes.remove_prefix((std::min)(piece.size() + 1, bytes.size()));
        if (piece.empty()) continue;
        if (members.size() == limits::form_members_max) return malformed("There are too many parameters.");

        const auto equals = (std::min)(piece.find('='), piece.size());
        auto name = detail::decode_form_text(piece.substr(0, equals));
        auto value = detail::decode_form_text(piece.substr((std::min)(equals + 1, piece.size())));
        if (!name || !value) return malformed("The parameters are not valid application/x-www-form-urlencoded UTF-8.");
        members.push_back({std::move(*name), std::move(*value)});
    }
    return form_fields{std::move(members)};
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_FORM_BODY_IPP
