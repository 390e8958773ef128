#pragma once
#ifndef TOLLGATE_WEB_DETAIL_FORM_IPP
#define TOLLGATE_WEB_DETAIL_FORM_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace tollgate::inline v0::web {

namespace detail {

inline constexpr std::size_t second_bytes = 4;  // until 2106

TOLLGATE_DECL void put_second(form_nonce& nonce, instant now) noexcept {
    auto left = static_cast<std::uint32_t>(to_unix_milliseconds(now) / 1000);
    for (std::size_t i = 1; i <= second_bytes; ++i, left >>= 8) nonce[nonce.size() - i] = std::byte(left & 0xff);
}

[[nodiscard]] inline std::string_view text_of(const form_nonce& nonce) noexcept {
    return {reinterpret_cast<const char*>(nonce.data()), nonce.size()};
}

/// `user_hash`: as the token has it.
[[nodiscard]] inline digest mac_of(const form_binding& binding, const form_nonce& nonce, std::string_view user_hash) {
    // The nonce has a fixed length, and hash and purpose contain no zero byte, so different bindings give different
    // messages.
    std::string message{"form token\0", 11};
    message.append(text_of(nonce)).append(user_hash).append(1, '\0');
    message.append(binding.purpose).append(1, '\0').append(binding.signed_text);
    return hmac_sha256({.key = binding.secret, .message = message});
}

inline constexpr std::size_t user_hash_characters = 12;  // 72 bits

/// Returns a hash of the login, which ignores ASCII case.
[[nodiscard]] inline std::string user_hash_of(const form_nonce& nonce, std::string_view login) {
    std::string message{"form user\0", 10};
    message.append(text_of(nonce));
    std::transform(login.begin(), login.end(), std::back_inserter(message), tollgate::detail::ascii_lower);
    return tollgate::detail::base64url_encode(sha256(message).raw().substr(0, user_hash_characters / 4 * 3));
}

/// The parts of a token: `nonce.mac` or `nonce.mac.user_hash`.
struct form_token_parts {
    form_nonce nonce;
    digest mac;
    std::string_view user_hash;  ///< empty if there is none
};

[[nodiscard]] inline std::optional<form_token_parts> split_form_token(std::string_view text) {
    const auto first = text.find('.');
    if (first == std::string_view::npos || text.size() > 128) return std::nullopt;
    const auto second = (std::min)(text.find('.', first + 1), text.size());
    const auto user_hash = text.substr((std::min)(second + 1, text.size()));
    if (second != text.size() && user_hash.empty()) return std::nullopt;
    const auto nonce = parse_form_nonce(text.substr(0, first));
    const auto mac = tollgate::detail::base64url_decode(text.substr(first + 1, second - first - 1));
    const auto claimed = mac ? digest::from(*mac) : std::nullopt;
    if (!nonce || !claimed) return std::nullopt;
    return form_token_parts{*nonce, *claimed, user_hash};
}

}  // namespace detail

TOLLGATE_DECL instant made_at(const form_nonce& nonce) noexcept {
    std::int64_t second = 0;
    for (std::size_t i = nonce.size() - detail::second_bytes; i < nonce.size(); ++i)
        second = second << 8 | std::to_integer<std::int64_t>(nonce[i]);
    return from_unix_seconds(second);
}

TOLLGATE_DECL std::string form_nonce_text(const form_nonce& nonce) {
    return tollgate::detail::base64url_encode(detail::text_of(nonce));
}

TOLLGATE_DECL std::optional<form_nonce> parse_form_nonce(std::string_view text) {
    const auto bytes = tollgate::detail::base64url_decode(text);
    form_nonce read;
    if (!bytes || bytes->size() != read.size()) return std::nullopt;
    std::memcpy(read.data(), bytes->data(), read.size());
    return read;
}

TOLLGATE_DECL std::string make_form_token(const form_binding& binding, const form_nonce& nonce) {
    const auto user_hash = binding.login.empty() ? std::string{} : detail::user_hash_of(nonce, binding.login);
    auto token = form_nonce_text(nonce) + "." + tollgate::detail::base64url_encode(detail::mac_of(binding, nonce, user_hash).raw());
    return user_hash.empty() ? token : token.append(".").append(user_hash);
}

TOLLGATE_DECL std::optional<form_nonce> check_form_token(const form_binding& binding, std::string_view text) {
    // Without a secret anyone could compute the HMAC.
    if (binding.secret.empty()) return std::nullopt;
    const auto parts = detail::split_form_token(text);
    if (!parts || parts->mac != detail::mac_of(binding, parts->nonce, parts->user_hash)) return std::nullopt;
    return parts->nonce;
}

TOLLGATE_DECL bool is_for_other_user(const session& session, std::string_view token) {
    const auto parts = detail::split_form_token(token);
    if (!parts || parts->user_hash.size() != detail::user_hash_characters) return false;
    return parts->user_hash != detail::user_hash_of(parts->nonce, session.login);
}

TOLLGATE_DECL std::string stale_reason(const session& session, std::string_view token, const form_texts& texts) {
    return is_for_other_user(session, token) ? fill_in(texts.other_user, session.login) : std::string{texts.stale};
}

namespace detail {

/// The hint and the error of a field, and the attribute that refers to them.
inline void write_notes(html_writer& html, std::string_view name, std::string_view hint, const form_faults& faults,
                        const form_texts& texts) {
    if (!hint.empty()) html.add("<p class=\"hint\" id=\"{}-hint\">{}</p>\n", name, hint);
    if (const auto* fault = faults.find(name))
        html.add("<p class=\"fault\" id=\"{}-fault\"><strong>{}</strong> {}</p>\n", name, texts.fault, fault->text);
}

inline void write_described_by(html_writer& html, std::string_view name, std::string_view hint,
                               const form_faults& faults) {
    const bool faulty = faults.find(name) != nullptr;
    if (!hint.empty() && faulty) html.add(" aria-describedby=\"{}-hint {}-fault\"", name, name);
    else if (!hint.empty()) html.add(" aria-describedby=\"{}-hint\"", name);
    else if (faulty) html.add(" aria-describedby=\"{}-fault\"", name);
}

inline std::string_view field_class(std::string_view name, const form_faults& faults) {
    return faults.find(name) == nullptr ? "field" : "field faulty";
}

}  // namespace detail

TOLLGATE_DECL void begin_form(html_writer& html, const form_target& to) {
    html.add("<form method=\"post\" action=\"{}\">\n", to.url);
    if (!to.form_token.empty())
        html.add("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", form_token_name, to.form_token);
    if (!to.item_mark.empty())
        html.add("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", item_mark_name, to.item_mark);
    for (const auto& [name, value] : to.hidden)
        html.add("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", name, value);
}

TOLLGATE_DECL void write_faults(html_writer& html, const form_faults& faults, const form_texts& texts) {
    if (faults.empty() || (faults.all().size() == 1 && !faults.all().front().field.empty())) return;
    html.add("<div class=\"faults\" role=\"alert\">\n<h2>{}</h2>\n<ul>\n", texts.faults);
    for (const auto& each : faults.all()) {
        const auto text = each.label.empty() ? each.text : each.label + ": " + each.text;
        if (each.field.empty()) html.add("<li>{}</li>\n", text);
        else html.add("<li><a href=\"#{}\">{}</a></li>\n", each.field, text);
    }
    html.add("</ul>\n</div>\n");
}

TOLLGATE_DECL void write_text_field(html_writer& html, const text_field& field, const form_faults& faults,
                                    const form_texts& texts) {
    html.add("<div class=\"{}\">\n<label for=\"{}\">{}", detail::field_class(field.name, faults), field.name,
             field.label);
    if (!field.required) html.add(" <span class=\"optional\">{}</span>", texts.optional);
    html.add("</label>\n");
    detail::write_notes(html, field.name, field.hint, faults, texts);
    const bool has_lines = field.line_count > 1;
    if (has_lines)
        html.add("<textarea id=\"{}\" name=\"{}\" rows=\"{}\" autocomplete=\"{}\"", field.name, field.name, field.line_count,
                 field.autocomplete);
    else
        html.add("<input id=\"{}\" name=\"{}\" type=\"{}\" autocomplete=\"{}\"", field.name, field.name, field.type,
                 field.autocomplete);
    // A password that was entered is never sent back.
    if (!has_lines && field.type != "password" && !field.value.empty()) html.add(" value=\"{}\"", field.value);
    if (field.type != "password") html.add(" autocapitalize=\"none\" spellcheck=\"false\"");
    if (field.required) html.add(" required");
    detail::write_described_by(html, field.name, field.hint, faults);
    if (faults.find(field.name) != nullptr) html.add(" aria-invalid=\"true\"");
    if (faults.is_first(field.name) || (field.focused && faults.empty())) html.add(" autofocus");
    if (has_lines) html.add(">{}</textarea>\n</div>\n", field.value);
    else html.add(">\n</div>\n");
}

TOLLGATE_DECL void write_checkboxes(html_writer& html, const choice_field& field, std::span<const choice> choices,
                                    const form_faults& faults, const form_texts& texts) {
    html.add("<fieldset class=\"{}\"", detail::field_class(field.name, faults));
    detail::write_described_by(html, field.name, field.hint, faults);
    html.add(">\n<legend>{}</legend>\n", field.label);
    detail::write_notes(html, field.name, field.hint, faults, texts);
    std::size_t number = 0;
    for (const choice& each : choices) {
        // The first checkbox has the group's name as its id, so that the error summary can link to it.
        std::string id{field.name};
        if (number != 0) id.append("-").append(std::to_string(number));
        html.add("<div class=\"choice\"><input type=\"checkbox\" id=\"{}\" name=\"{}\" value=\"{}\"", id, field.name,
                 each.value);
        if (each.chosen) html.add(" checked");
        if (number == 0 && faults.is_first(field.name)) html.add(" autofocus");
        html.add("><label for=\"{}\">{}", id, each.text);
        if (each.text != each.value) html.add(" <code>{}</code>", each.value);
        html.add("</label></div>\n");
        ++number;
    }
    html.add("</fieldset>\n");
}

TOLLGATE_DECL void write_select(html_writer& html, const choice_field& field, std::span<const choice_group> groups,
                                const form_faults& faults, const form_texts& texts) {
    html.add("<div class=\"{}\">\n<label for=\"{}\">{}</label>\n", detail::field_class(field.name, faults), field.name,
             field.label);
    detail::write_notes(html, field.name, field.hint, faults, texts);
    html.add("<select id=\"{}\" name=\"{}\" required", field.name, field.name);
    detail::write_described_by(html, field.name, field.hint, faults);
    if (faults.find(field.name) != nullptr) html.add(" aria-invalid=\"true\"");
    if (faults.is_first(field.name)) html.add(" autofocus");
    html.add(">\n");
    for (const choice_group& group : groups) {
        if (!group.heading.empty()) html.add("<optgroup label=\"{}\">\n", group.heading);
        for (const choice& each : group.choices) {
            html.add("<option value=\"{}\"", each.value);
            if (each.chosen) html.add(" selected");
            html.add(">{}</option>\n", each.text);
        }
        if (!group.heading.empty()) html.add("</optgroup>\n");
    }
    html.add("</select>\n</div>\n");
}

namespace detail {

/// Writes a confirmation that is open, in its place on the page, because only a button opens a popover.
inline void write_open_confirmation(html_writer& html, const confirmation& action, const form_target& to, const std::string& id,
                                    const form_texts& texts) {
    const form_faults none;
    const bool has_name = !action.typed_name.empty();
    html.add("<div class=\"confirm\" id=\"{}\" role=\"group\" aria-label=\"{}\">\n<p>{}</p>\n", id, action.button, action.warning);
    begin_form(html, to);
    if (has_name)
        write_text_field(html,
                         {.name = action.typed_name, .label = action.typed_label, .autocomplete = "off", .focused = action.is_open},
                         action.faults != nullptr ? *action.faults : none, texts);
    // The focus scrolls to it, and a key that is pressed by mistake must not confirm.
    html.add(
        "<p class=\"buttons\"><button class=\"danger\">{}</button>\n<a class=\"button quiet\" href=\"{}\"{}>{}</a></p>\n</form></div>\n",
        action.button, to.url, has_name ? "" : " autofocus", texts.cancel);
}

}  // namespace detail

TOLLGATE_DECL void write_confirmation(html_writer& html, const confirmation& action, const form_target& to, const form_texts& texts) {
    std::string id{"confirm"};
    for (const auto& [name, value] : to.hidden) id.append("-").append(value);
    if (action.faults != nullptr || action.is_open) return detail::write_open_confirmation(html, action, to, id, texts);
    html.add("<button type=\"button\" class=\"{}\" popovertarget=\"{}\">{}<span class=\"unseen\"> {}</span></button>\n",
             action.is_removal ? "quiet removal" : "quiet", id, action.label, action.about);
    html.add("<div class=\"confirm\" id=\"{}\" popover role=\"dialog\" aria-label=\"{}\">\n<p>{}</p>\n", id, action.button,
             action.warning);
    begin_form(html, to);
    const bool has_name = !action.typed_name.empty();
    if (has_name)
        html.add("<p><label>{}<input name=\"{}\" required autocomplete=\"off\" autofocus></label></p>\n", action.typed_label,
                 action.typed_name);
    html.add(
        "<p class=\"buttons\"><button class=\"danger\">{}</button>\n<button type=\"button\" class=\"quiet\" popovertarget=\"{}\" "
        "popovertargetaction=\"hide\"{}>{}</button></p>\n</form></div>\n",
        action.button, id, has_name ? "" : " autofocus", texts.cancel);
}

TOLLGATE_DECL void write_copyable_text(html_writer& html, const copyable_text& text, const form_texts& texts) {
    html.add("<div class=\"field\">\n<label for=\"{}\">{}</label>\n<div class=\"copyable\">", text.name, text.label);
    constexpr std::size_t line_max = 32;  // characters that fit a line of a telephone
    html.add("<textarea class=\"copied{}\" rows=\"1\" readonly autocomplete=\"off\" spellcheck=\"false\" id=\"{}\">{}</textarea>\n",
             text.text.size() > line_max ? " long" : "", text.name, text.text);
    html.add(
        "<button type=\"button\" class=\"quiet\" data-copies=\"{}\" data-copied=\"{}\" hidden>{}<span class=\"unseen\"> "
        "{}</span></button></div>\n</div>\n",
        text.name, texts.copied, texts.copy, text.label);
}

TOLLGATE_DECL std::optional<http::status> check_form_head(const http::request& request) noexcept {
    if (request.body_state == http::body_state::too_large) return http::status::content_too_large;
    const bool has_body = request.has_body();
    if ((has_body || request.fields.count(http::field_id::content_type) != 0) &&
        !tollgate::detail::ascii_iequals(http::detail::media_type_of(request.fields), "application/x-www-form-urlencoded"))
        return http::status::unsupported_media_type;
    if (has_body && http::detail::has_content_coding(request.fields)) return http::status::unsupported_media_type;
    return std::nullopt;
}

}  // namespace tollgate::web

#endif  // TOLLGATE_WEB_DETAIL_FORM_IPP
