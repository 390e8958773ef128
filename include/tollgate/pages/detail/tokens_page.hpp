#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_TOKENS_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_TOKENS_PAGE_HPP

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::pages {

/// The choices of when a token expires, in days.
inline constexpr std::array<std::string_view, 3> token_days{"30", "90", "365"};

/// The submitted form of a new token.
struct token_form {
    std::string description = {};
    std::vector<std::string> scopes = {};
    std::string days = {};  ///< until it expires: one of `token_days`, or empty

    [[nodiscard]] static TOLLGATE_DECL token_form read(const http::form_fields& fields);
    [[nodiscard]] TOLLGATE_DECL web::form_faults faults(const service_catalog& services, const page_texts& texts) const;
    /// Precondition: no faults.
    [[nodiscard]] TOLLGATE_DECL scope_set chosen() const;
    [[nodiscard]] TOLLGATE_DECL std::optional<instant> expires_at(instant now) const;
};

TOLLGATE_DECL void write_tokens(html_writer& html, const page_view& view, std::span<const personal_token> tokens,
                                const token_form& typed, const web::form_faults& faults);

/// The list, and the form of a new token.
[[nodiscard]] inline result<void> show_tokens(page_call& call, const token_form& typed = {}, const web::form_faults& faults = {}) {
    const auto tokens = call.store().personal_tokens_of(call.session.user);
    if (!tokens) return tokens.error();
    call.page(call.texts().tokens.title, faults,
              [&](html_writer& html) { write_tokens(html, call.view(), *tokens, typed, faults); });
    return {};
}

[[nodiscard]] inline result<void> redirect_to_token(page_call& call, std::string_view title, std::string_view username,
                                                    std::string_view secret) {
    const token_texts& texts = call.texts().tokens;
    const secret_view shown{
        title, texts.made_about, texts.back, {{"username", texts.username, username}, {"secret", texts.secret, secret}}};
    return call.redirect_to_secret(shown.to_text());
}

[[nodiscard]] inline result<void> create_token(page_call& call) {
    const auto typed = token_form::read(call.form);
    auto faults = typed.faults(call.settings().services, call.texts());
    if (!faults.empty()) return show_tokens(call, typed, faults);
    const auto submission = call.submission();
    const auto make = maker_of(secret_kind::personal_token);
    const auto username = submission.new_id(public_id_kind::username);
    const token_texts& texts = call.texts().tokens;
    const auto tokens = call.store().personal_tokens_of(call.session.user);
    if (!tokens) return tokens.error();
    for (const personal_token& each : *tokens)
        if (each.username.view() == username.view()) {  // the form was submitted before
            const auto secret = submission.find_secret(each.secret_digest, make);
            return secret ? redirect_to_token(call, texts.made_title, username, *secret) : call.refuse_repetition();
        }
    const auto issued = tollgate::detail::issue_personal_token_as(
        call.store(), {call.session.user, typed.description, typed.chosen(), typed.expires_at(call.now)}, call.now, username,
        submission.new_secret(make), call.settings().pages.tokens_per_user_max);
    if (issued) {
        call.report(activity_kind::token_created, typed.description);
        return redirect_to_token(call, texts.made_title, username, issued->secret);
    }
    if (issued.error().kind == error_kind::conflict) return call.refuse_repetition();
    if (issued.error().kind != error_kind::invalid) return issued.error();
    faults.add({}, texts.too_many);
    return show_tokens(call, typed, faults);
}

/// Only a token of the user; otherwise not_found.
[[nodiscard]] inline result<personal_token> find_own_token(page_call& call, token_id which) {
    auto tokens = call.store().personal_tokens_of(call.session.user);
    if (!tokens) return std::move(tokens).error();
    for (personal_token& each : *tokens)
        if (each.id == which) return std::move(each);
    return not_found();
}

/// Only for a token of the user; otherwise not_found.
[[nodiscard]] inline result<void> renew_token(page_call& call, token_id which) {
    const auto renew = [&](const personal_token& token, const secret_text& secret) {
        auto renewal = tollgate::detail::renewal_of(token, digest_of(secret), call.now);
        renewal.replaced = token.secret_digest;
        auto done = call.store().renew_personal_token(call.session.user, which, renewal);
        if (done && *done) call.report(activity_kind::token_renewed, token.description);
        return done;
    };
    const auto renewed = replace_secret(call.submission(), call.form.value_of(version_name), [&] { return find_own_token(call, which); },
                                        renew, maker_of(secret_kind::personal_token));
    if (!renewed) return renewed.error();
    if (!*renewed) return call.refuse_repetition();
    const auto& [token, secret] = **renewed;
    return redirect_to_token(call, fill_in(call.texts().tokens.renewed_title, token.description), token.username, secret);
}

/// Only for a token of the user; otherwise not_found.
[[nodiscard]] inline result<void> revoke_token(page_call& call, token_id which) {
    const auto found = find_own_token(call, which);
    if (!found) return found.error();
    const auto revoked = call.store().revoke(personal_token_revocation{which});
    if (!revoked) return revoked.error();
    if (*revoked) call.report(activity_kind::token_revoked, found->description);
    return call.redirect_to(removal_done);
}

/// A form that came with the token of another session is displayed again.
[[nodiscard]] inline result<void> show_stale_tokens(page_call& call) {
    return show_tokens(call, call.form.value_of(action_name).empty() ? token_form::read(call.form) : token_form{});
}

[[nodiscard]] inline result<void> post_to_tokens(page_call& call) {
    const auto action = call.form.value_of(action_name);
    if (action.empty()) return create_token(call);
    const auto which = token_id::parse(call.form.value_of("token"));
    if (!which) return not_found();
    if (action == renew_action) return renew_token(call, *which);
    if (action == revoke_action) return revoke_token(call, *which);
    return not_found();
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/tokens_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_TOKENS_PAGE_HPP
