#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/random_source.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

/// The payload format of hooks, where nothing else is asked for.
inline constexpr std::string_view default_hook_type = "webhook";

/// For how long a secret that was replaced still signs, beside the new one: receivers are told of the new one by
/// people.
inline constexpr std::chrono::hours hook_secret_overlap{24};

/// Done exactly if the account is one of the user's; a 404 otherwise, the same for one that is not there at all.
template <user_directory Users>
[[nodiscard]] result<void> require_account(Users& users, user_id user, const account_ref& wanted) {
    const auto is_theirs = has_account(users, user, wanted);
    if (!is_theirs) return is_theirs.error();
    if (!*is_theirs) return not_found();
    return {};
}

/// Whether hooks of this service may ask for the event; invalid otherwise, and the message names `event`.
[[nodiscard]] inline result<void> check_hook_event(const service& at, std::string_view event) {
    if (!at.has_event(event)) return invalid("event is none of this service's events.");
    return {};
}

/// Whether hooks may go there; invalid otherwise, and the message names `target_url`.
template <target_rule Rule>
[[nodiscard]] result<void> check_hook_target(const Rule& rule, std::string_view target_url) {
    if (target_url.size() > limits::target_url_bytes_max) return invalid("target_url is longer than 2048 bytes.");
    const auto url = http::url::parse(target_url);
    if (!url) return invalid("target_url is not an absolute http or https URL.");
    return rule.check(*url);
}

/// A hook that passed `check_hook_event` and `check_hook_target`, for an account that passed `require_account`.
struct hook_wish {
    account_ref account;
    std::string event;
    std::string target_url;
    hook_source source = hook_source::api;
};

/// A hook as whoever made it is shown it, this once: the secret is never listed.
struct issued_hook {
    hook_id id;
    std::string secret;
};

namespace detail {

template <random_source Random>
[[nodiscard]] result<std::string> new_hook_secret(const Random& random) {
    std::array<std::byte, hook_secret_random_bytes> entropy;
    if (!random.fill(entropy)) return internal_error("the random source gave nothing");
    return make_hook_secret(entropy);
}

}  // namespace detail

/// Makes a hook that events go to from now on. Invalid where the account has `hooks_per_event_max` for this event
/// already.
template <hook_store Hooks, random_source Random>
[[nodiscard]] result<issued_hook> issue_hook(Hooks& hooks, const Random& random, hook_wish wanted, instant now,
                                              std::size_t hooks_per_event_max = limits::hooks_per_event_max) {
    auto secret = detail::new_hook_secret(random);
    if (!secret) return std::move(secret).error();
    const auto made = hooks.create_hook({.account = wanted.account,
                                         .event = std::move(wanted.event),
                                         .source = wanted.source,
                                         .type = std::string{default_hook_type},
                                         .target_url = std::move(wanted.target_url),
                                         .secret = *secret,
                                         .created_at = now},
                                        hooks_per_event_max);
    if (!made) return made.error();
    return issued_hook{*made, std::move(*secret)};
}

/// A new secret for a hook of the account; none when it has no such hook. The old one signs, too, for
/// `hook_secret_overlap`.
template <hook_store Hooks, random_source Random>
[[nodiscard]] result<std::optional<std::string>> renew_hook_secret(Hooks& hooks, const Random& random,
                                                                    const account_ref& of, hook_id which, instant now) {
    auto secret = detail::new_hook_secret(random);
    if (!secret) return std::move(secret).error();
    const auto replaced = hooks.replace_hook_secret(of, which, *secret, now + hook_secret_overlap);
    if (!replaced) return replaced.error();
    if (!*replaced) return std::optional<std::string>{};
    return std::optional{std::move(*secret)};
}

}  // namespace tollgate
