#pragma once

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
template <class Call>
[[nodiscard]] result<void> show_tokens(Call& call, const token_form& typed = {}, const web::form_faults& faults = {}) {
    const auto tokens = call.store().personal_tokens_of(call.session.user);
    if (!tokens) return tokens.error();
    call.page(call.texts().tokens.title, faults,
              [&](html_writer& html) { write_tokens(html, call.view(), *tokens, typed, faults); });
    return {};
}

template <class Call>
[[nodiscard]] result<void> redirect_to_token(Call& call, std::string_view title, const issued_personal_token& issued) {
    const token_texts& texts = call.texts().tokens;
    const secret_view shown{
        title, texts.made_about, texts.back, {{"username", texts.username, issued.username}, {"secret", texts.secret, issued.secret}}};
    return call.redirect_to_secret(shown.to_text());
}

template <class Call>
[[nodiscard]] result<void> create_token(Call& call) {
    const auto typed = token_form::read(call.form);
    auto faults = typed.faults(call.settings().services, call.texts());
    if (!faults.empty()) return show_tokens(call, typed, faults);
    if (!call.claim_form()) return {};
    const personal_token_request request{call.session.user, typed.description, typed.chosen(), typed.expires_at(call.now)};
    const auto issued = issue_personal_token(call.store(), request, call.now, call.random(), call.settings().tokens_per_user_max);
    if (!issued && issued.error().kind == error_kind::invalid) {
        faults.add({}, call.texts().tokens.too_many);
        return show_tokens(call, typed, faults);
    }
    if (!issued) return issued.error();
    call.report(activity_kind::token_created, typed.description);
    return redirect_to_token(call, call.texts().tokens.made_title, *issued);
}

/// Only for a token of the user; otherwise not_found.
template <class Call>
[[nodiscard]] result<void> renew_token(Call& call, token_id which) {
    if (!call.claim_form()) return {};
    const auto renewed = renew_personal_token(call.store(), call.session.user, which, call.now, call.random());
    if (!renewed) return renewed.error();
    if (!*renewed) return not_found();
    call.report(activity_kind::token_renewed, (*renewed)->description);
    return redirect_to_token(call, fill_in(call.texts().tokens.renewed_title, (*renewed)->description), **renewed);
}

/// Only for a token of the user; otherwise not_found.
template <class Call>
[[nodiscard]] result<void> revoke_token(Call& call, token_id which) {
    const auto tokens = call.store().personal_tokens_of(call.session.user);
    if (!tokens) return tokens.error();
    const auto found = std::find_if(tokens->begin(), tokens->end(),
                                    [&](const personal_token& each) { return each.id == which; });
    if (found == tokens->end()) return not_found();
    const auto revoked = call.store().revoke_personal_token(which);
    if (!revoked) return revoked.error();
    if (*revoked) call.report(activity_kind::token_revoked, found->description);
    return call.redirect_to(removal_done);
}

template <class Call>
[[nodiscard]] result<void> post_to_tokens(Call& call) {
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
