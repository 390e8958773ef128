#pragma once
#ifndef TOLLGATE_ACCOUNT_ISSUE_HOOK_HPP
#define TOLLGATE_ACCOUNT_ISSUE_HOOK_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/policy/public_targets.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

/// The time for which webhooks are still signed with a replaced secret in addition to the new secret.
inline constexpr std::chrono::hours hook_secret_overlap{24};

/// Succeeds if the account belongs to the user.
///
/// Errors: not_found if the account does not belong to the user, even if it exists; and the errors of the directory. Any thread may call
/// it. It blocks as the directory does.
[[nodiscard]] inline result<void> require_account(const user_directory_ref& users, user_id user, const account_ref& account) {
    const auto owned = users.has_account(user, account);
    if (!owned) return owned.error();
    if (!*owned) return not_found();
    return {};
}

namespace detail {

// The messages of `target_text_fault`. Pages translate them.
inline constexpr std::string_view target_host_not_ascii =
    "target_url has a host name with characters outside ASCII: use the name's xn-- form (Punycode).";
inline constexpr std::string_view target_not_printable =
    "target_url has a space, a control character or one outside ASCII: percent-encode it.";
inline constexpr std::string_view target_stray_percent =
    "target_url has a % that is not followed by two hexadecimal digits: write %25 for a percent sign.";
inline constexpr std::string_view target_unsafe_character =
    "target_url has one of the characters \" < > \\ ^ ` { | }: percent-encode it (%7B for {), or replace a placeholder such as {id} with "
    "its value.";

/// Returns a message that says what must be written differently in a target, or an empty text if every character may be in a URL (RFC 3986
/// section 2).
[[nodiscard]] inline std::string_view target_text_fault(std::string_view text) noexcept {
    const auto is_not_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    const auto scheme_end = text.find("://");
    if (scheme_end != std::string_view::npos) {
        const auto authority = text.substr(scheme_end + 3, text.find_first_of("/?#", scheme_end + 3) - (scheme_end + 3));
        const auto host = authority.substr(authority.rfind('@') + 1);
        if (std::any_of(host.begin(), host.end(), is_not_ascii)) return target_host_not_ascii;
    }
    if (std::any_of(text.begin(), text.end(), [&](char c) { return is_not_ascii(c) || c <= ' ' || c == '\x7f'; }))
        return target_not_printable;
    for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1))
        if (at + 2 >= text.size() || detail::hex_value(text[at + 1]) < 0 || detail::hex_value(text[at + 2]) < 0)
            return target_stray_percent;
    if (text.find_first_of("\"<>\\^`{|}") != std::string_view::npos) return target_unsafe_character;
    return {};
}

}  // namespace detail

/// Succeeds if webhooks may be sent to this target. `issue_hook` calls this function; a program that calls the store's `change_hook` must
/// call it itself.
///
/// Errors: invalid, with a message that names `target_url`, for a text that is not a URL or has more than `limits::target_url_bytes_max`
/// bytes; and the errors of the rule. Any thread may call it. It never blocks.
template <target_rule Rule>
[[nodiscard]] result<void> check_hook_target(const Rule& rule, std::string_view target_url) {
    if (target_url.size() > limits::target_url_bytes_max)
        return invalid("target_url is longer than " + std::to_string(limits::target_url_bytes_max) + " bytes.");
    if (const auto fault = detail::target_text_fault(target_url); !fault.empty()) return invalid(std::string{fault});
    const auto url = http::url::parse(target_url);
    if (!url) return invalid("target_url is not an absolute http or https URL.");
    return rule.check(*url);
}

/// The properties of a hook to create.
struct webhook_request {
    account_ref account;     ///< the calling code checks with `require_account` that the account belongs to the user
    std::string event;       ///< an event of the account's service
    std::string target_url;  ///< at most `limits::target_url_bytes_max` bytes, and allowed by the target rule
    hook_source source = hook_source::api;
};

/// A new hook. No other function returns its secret, and no list contains it.
struct issued_hook {
    hook_id id;
    std::string secret;
};

namespace detail {

/// Succeeds if the service has this event. Otherwise returns error_kind::invalid with a message that names `event`.
[[nodiscard]] inline result<void> check_hook_event(const service& service, std::string_view event) {
    if (!service.has_event(event)) return invalid("event is not an event of this service.");
    return {};
}

template <random_source Random>
[[nodiscard]] result<std::string> new_hook_secret(const Random& random) {
    std::array<std::byte, hook_secret_random_bytes> entropy;
    if (!random.fill(entropy)) return random_source_error();
    auto secret = make_hook_secret(entropy);
    secure_wipe(entropy);
    return secret;
}

/// Does what `issue_hook` does after its checks. Error: invalid if there are too many hooks for this event.
template <hook_store Hooks, random_source Random>
[[nodiscard]] result<issued_hook> issue_checked_hook(Hooks& hooks, webhook_request request, instant now, const Random& random,
                                                     std::size_t hooks_per_event_max) {
    auto secret = new_hook_secret(random);
    if (!secret) return std::move(secret).error();
    const auto id = hooks.create_hook({.account = request.account,
                                       .event = std::move(request.event),
                                       .source = request.source,
                                       .target_url = std::move(request.target_url),
                                       .secret = *secret,
                                       .created_at = now},
                                      hooks_per_event_max);
    if (!id) return id.error();
    return issued_hook{*id, std::move(*secret)};
}

}  // namespace detail

/// Creates a hook for future events and returns it with its secret. If the program's policies have a target rule of their own, pass that
/// rule.
///
/// Errors: invalid for a service or an event that is not in the catalog, for a target that `check_hook_target` refuses, and if the account
/// has `hooks_per_event_max` hooks for this event; internal if the random source fails; and the errors of the store's `create_hook`. Any
/// thread may call it. It blocks as the store does.
template <hook_store Hooks, target_rule Rule = public_targets, random_source Random = system_random>
[[nodiscard]] result<issued_hook> issue_hook(Hooks& hooks, const service_catalog& services, webhook_request request, instant now,
                                             const Rule& rule = {}, const Random& random = {},
                                             std::size_t hooks_per_event_max = limits::hooks_per_event_max) {
    const service* at = services.find(request.account.service);
    if (at == nullptr) return invalid("service is not a service of this API.");
    if (auto known = detail::check_hook_event(*at, request.event); !known) return std::move(known).error();
    if (auto allowed = check_hook_target(rule, request.target_url); !allowed) return std::move(allowed).error();
    return detail::issue_checked_hook(hooks, std::move(request), now, random, hooks_per_event_max);
}

/// Replaces the secret of one of the account's hooks and returns the new secret, or an empty optional if the account has no such hook.
/// Webhooks are also signed with the old secret for another `hook_secret_overlap`.
///
/// Errors: internal if the random source fails, and the errors of the store's `change_hook`. Any thread may call it. It blocks as
/// the store does.
template <hook_store Hooks, random_source Random = system_random>
[[nodiscard]] result<std::optional<std::string>> renew_hook_secret(Hooks& hooks, const account_ref& account, hook_id hook,
                                                                   instant now, const Random& random = {}) {
    auto secret = detail::new_hook_secret(random);
    if (!secret) return std::move(secret).error();
    const auto replaced = hooks.change_hook(account, hook, hook_secret_replacement{*secret, now + hook_secret_overlap});
    if (!replaced) return replaced.error();
    if (!*replaced) return std::optional<std::string>{};
    return std::optional{std::move(*secret)};
}

}  // namespace tollgate

#endif  // TOLLGATE_ACCOUNT_ISSUE_HOOK_HPP
