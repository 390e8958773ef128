#pragma once
#ifndef TOLLGATE_MODEL_HOOK_HPP
#define TOLLGATE_MODEL_HOOK_HPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/account.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tollgate::inline v0 {

/// The way in which a hook was created.
enum class hook_source { api, manual };

/// Returns the name in the API and in stores.
[[nodiscard]] constexpr std::string_view to_text(hook_source source) noexcept {
    return source == hook_source::api ? "api" : "manual";
}

/// The reason why a hook receives nothing until its owner enables it again.
enum class disable_reason {
    gone,     ///< its target responded with 410
    failing,  ///< no delivery succeeded for too long
};

/// Returns the name under which stores keep the reason.
[[nodiscard]] constexpr std::string_view to_text(disable_reason reason) noexcept {
    return reason == disable_reason::gone ? "gone" : "failing";
}

/// The time and the reason of a webhook's disablement.
struct hook_disablement {
    instant at;
    disable_reason reason = disable_reason::failing;

    friend bool operator==(const hook_disablement&, const hook_disablement&) noexcept = default;
};

/// The state of a hook's target, which is stored with the hook.
struct hook_status {
    std::optional<hook_disablement> disabled{};
    std::optional<instant> failing_since{};    ///< time of the first failed attempt since the last success
    std::optional<instant> last_failure_at{};  ///< time of the last failed attempt; only used while the hook is failing

    friend bool operator==(const hook_status&, const hook_status&) noexcept = default;
};

/// The target of one event of one account.
struct hook {
    hook_id id;
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type;        ///< the name of the payload format
    std::string target_url;  ///< the URL, byte for byte as given
    instant created_at;
    std::optional<hook_disablement> disabled{};
    std::optional<instant> failing_since{};  ///< time of the first failed attempt since the last success
    digest secret_digest{};                  ///< SHA-256 of the secret; zero if only an earlier release has set the secret
};

/// The default payload format of hooks.
inline constexpr std::string_view default_hook_type = "webhook";

/// A hook to be stored. `secret` signs deliveries, so a store keeps it in a form that it can read (see `secret_keys`). Users see it once,
/// and no list contains it. After a replacement the store keeps the previous secret as long as both sign.
struct new_hook {
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type{default_hook_type};
    std::string target_url;
    std::string secret;
    instant created_at;
    std::optional<digest> idempotency_key = {};  ///< unique among hooks: a repeated request with the same key creates nothing
};

/// Sets a hook's event and target. Waiting deliveries are sent to the new target. A target that differs from the previous target has not
/// failed yet, so `failing_since` becomes empty.
struct hook_fields {
    std::string event;
    std::string target_url;
    std::size_t hooks_per_event_max = 0;  ///< the bound of the account's hooks for one event, as in `create_hook`
};

/// Replaces a hook's secret. From now on, deliveries are signed with `secret`; until `old_valid_until`, also with the replaced secret; and
/// with secrets that were replaced earlier until they expire.
struct hook_secret_replacement {
    std::string secret;
    instant old_valid_until;
    /// The digest of the secret to be replaced; a different secret is not changed. Empty: any secret.
    std::optional<digest> replaced{};
};

/// Enables a hook. The hook is no longer disabled or failing; its held deliveries are due at `now`, and their retry plans start over.
struct hook_enabling {
    instant now;
};

/// A change of a hook.
using hook_change = std::variant<hook_fields, hook_secret_replacement, hook_enabling>;

/// Returns the host that a hook's deliveries are counted for: the normalized scheme, host and port of its target, or the target itself if
/// it is not a URL.
[[nodiscard]] inline std::string delivery_host(const std::string& target_url) {
    const auto url = http::url::parse(target_url);
    return url ? url->origin() : target_url;
}

/// Returns the context in which `secret_keys` encrypt a hook's secret: the hook's account, because the hook has no id before it is stored.
[[nodiscard]] inline std::string hook_secret_context(const account_ref& account) {
    return "webhook " + std::string{account.service.view()} + ' ' + std::to_string(account.account.value());
}

/// A webhook secret (Standard Webhooks) is this prefix and the Base64 form of this number of random bytes.
inline constexpr std::string_view hook_secret_prefix = "whsec_";
inline constexpr std::size_t hook_secret_random_bytes = 32;  // the Standard Webhooks specification requires 24 to 64

/// Returns a secret that signs a hook's deliveries, in the text form of the Standard Webhooks specification: `whsec_` and Base64.
[[nodiscard]] inline std::string make_hook_secret(std::span<const std::byte, hook_secret_random_bytes> random) {
    return std::string{hook_secret_prefix} + detail::base64_encode({reinterpret_cast<const char*>(random.data()), random.size()});
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_HOOK_HPP
