#pragma once
#ifndef TOLLGATE_ACCOUNT_IMPORT_HPP
#define TOLLGATE_ACCOUNT_IMPORT_HPP

#include <tollgate/account/issue_hook.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/policy/standard_webhook.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

/// What an import does with a record of an older system.
enum class import_outcome {
    created,
    unchanged,  ///< an earlier import has created it
};

namespace detail {

/// Returns the key by which a store recognizes a webhook that was imported before. It stays the same when the owner changes the webhook.
[[nodiscard]] inline digest import_key_of(const new_hook& hook) {
    std::string text = "import " + std::to_string(hook.account.account.value());
    for (const std::string_view part : {hook.account.service.view(), std::string_view{hook.event}, std::string_view{hook.target_url},
                                        std::string_view{hook.secret}})
        text.append(1, '\0').append(part);
    const auto key = sha256(text);
    secure_wipe(text);
    return key;
}

}  // namespace detail

/// Returns what `import_personal_token` would do with this token. Creates nothing, so that a program can check all tokens before it
/// imports the first one.
///
/// Errors: invalid for a username that cannot be the user-id of Basic credentials (1 to 32 visible ASCII characters without a colon, RFC
/// 7617 section 2), for a description over `limits::token_description_bytes_max` or with control or invisible characters, and for a token
/// that expires before it was created; conflict if another token has the username, or if its owner has renewed its secret; and the errors
/// of the store's `find_credential`. Any thread may call it. It blocks as the store does.
template <credential_source Store>
[[nodiscard]] result<import_outcome> check_import(Store& store, const new_personal_token& token) {
    const auto username = token.username.view();
    if (username.empty() || !std::all_of(username.begin(), username.end(), [](char c) { return c > ' ' && c <= '~' && c != ':'; }))
        return invalid("username must be 1 to 32 visible ASCII characters without a colon.");
    if (!token.description.empty() && !detail::is_visible_line(token.description, limits::token_description_bytes_max))
        return invalid("description must be a line of at most " + std::to_string(limits::token_description_bytes_max) +
                       " bytes without control or invisible characters.");
    if (token.expires_at && *token.expires_at <= token.created_at) return invalid("expires_at must be later than created_at.");
    const auto found = store.find_credential(personal_token_key{username});
    if (!found) return found.error();
    if (!*found) return import_outcome::created;
    if ((*found)->user == token.user && (*found)->secret_digest == token.secret_digest) return import_outcome::unchanged;
    return error{error_kind::conflict, "username belongs to another token, or to one with another secret.", {}};
}

/// Stores a personal token of an older system under its own username, with the SHA-256 digest of its own secret, so that scripts continue
/// to work. A second import of the same token changes nothing. A token that its owner has revoked since then is created again.
///
/// `basic_token` accepts only secrets in the form that this library generates. Tokens with secrets in another form are accepted by
/// `imported_basic_token`. The digest is not salted: import only secrets that a program has generated from at least 128 random bits, never
/// passwords. The calling code must check that the user and the scopes exist.
///
/// Errors: those of `check_import`; invalid if the user has `tokens_per_user_max` tokens; and the errors of the store's
/// `create_personal_token`. Any thread may call it. It blocks as the store does.
template <token_store Store>
[[nodiscard]] result<import_outcome> import_personal_token(Store& store, const new_personal_token& token,
                                                           std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max) {
    auto outcome = check_import(store, token);
    if (!outcome || *outcome == import_outcome::unchanged) return outcome;
    const auto id = store.create_personal_token(token, tokens_per_user_max);
    if (!id) return id.error();
    return import_outcome::created;
}

/// Succeeds if `import_hook` accepts this webhook, except for the bound of the store. Creates nothing.
///
/// Errors: invalid, with a message that names the field, for a service or an event that is not in the catalog, for a target that
/// `check_hook_target` refuses, and for a secret that is not `whsec_` and 24 to 64 bytes in Base64 (see `webhook_key`). No message quotes
/// the secret. Any thread may call it. It never blocks.
template <target_rule Rule = public_targets>
[[nodiscard]] result<void> check_import(const service_catalog& services, const new_hook& hook, const Rule& rule = {}) {
    const service* at = services.find(hook.account.service);
    if (at == nullptr) return invalid("service is not a service of this API.");
    if (auto known = detail::check_hook_event(*at, hook.event); !known) return known;
    if (auto allowed = check_hook_target(rule, hook.target_url); !allowed) return allowed;
    if (!webhook_key(hook.secret)) return invalid("secret is not whsec_ followed by 24 to 64 bytes in base64.");
    return {};
}

/// Stores a webhook of an older system with its own secret, so that its receiver continues to accept the signatures. A second import of
/// the same webhook changes nothing, even if its owner has changed it since then. A webhook that its owner has deleted is created again.
///
/// `hook.idempotency_key` is set by this function. The calling code must check that the account exists.
///
/// Errors: those of `check_import`; invalid if the account has `hooks_per_event_max` hooks for this event; and the errors of the store's
/// `create_hook` and `hooks_of`. Any thread may call it. It blocks as the store does.
template <hook_store Hooks, target_rule Rule = public_targets>
[[nodiscard]] result<import_outcome> import_hook(Hooks& hooks, const service_catalog& services, new_hook hook, const Rule& rule = {},
                                                 std::size_t hooks_per_event_max = limits::hooks_per_event_max) {
    if (auto valid = check_import(services, hook, rule); !valid) return std::move(valid).error();
    hook.idempotency_key = detail::import_key_of(hook);
    const auto id = hooks.create_hook(hook, hooks_per_event_max);
    if (id) return import_outcome::created;
    if (id.error().kind == error_kind::conflict) return import_outcome::unchanged;
    if (id.error().kind != error_kind::invalid) return id.error();
    // The store may have counted before it looked for the key.
    const auto existing = hooks.hooks_of(hook.account);
    if (!existing) return existing.error();
    const auto is_same = [&hook, secret_digest = digest_of(hook.secret)](const auto& each) {
        return each.event == hook.event && each.target_url == hook.target_url && each.secret_digest == secret_digest;
    };
    if (std::any_of(existing->begin(), existing->end(), is_same)) return import_outcome::unchanged;
    return id.error();
}

}  // namespace tollgate

#endif  // TOLLGATE_ACCOUNT_IMPORT_HPP
