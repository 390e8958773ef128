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

namespace tollgate::inline v0 {

/// How a hook was created.
enum class hook_source { api, manual };

/// The name in the API and in stores.
[[nodiscard]] constexpr std::string_view to_text(hook_source source) noexcept {
    return source == hook_source::api ? "api" : "manual";
}

/// Why a hook receives nothing until its owner enables it again.
enum class disable_reason {
    gone,     ///< its target responded with 410
    failing,  ///< no delivery succeeded for too long
};

/// As stores keep it.
[[nodiscard]] constexpr std::string_view to_text(disable_reason reason) noexcept {
    return reason == disable_reason::gone ? "gone" : "failing";
}

/// When and why a webhook was disabled.
struct hook_disablement {
    instant at;
    disable_reason reason = disable_reason::failing;

    friend bool operator==(const hook_disablement&, const hook_disablement&) noexcept = default;
};

/// Whether a hook works. Stored with the hook.
struct hook_status {
    std::optional<hook_disablement> disabled{};
    std::optional<instant> failing_since{};    ///< time of the first failed attempt since the last success
    std::optional<instant> last_failure_at{};  ///< time of the last failed attempt; only used while it is failing

    friend bool operator==(const hook_status&, const hook_status&) noexcept = default;
};

/// The target of one event of one account.
struct hook {
    hook_id id;
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type;        ///< the payload format's name
    std::string target_url;  ///< byte for byte as given
    instant created_at;
    std::optional<hook_disablement> disabled{};
    std::optional<instant> failing_since{};  ///< time of the first failed attempt since the last success
    digest secret_digest{};                  ///< SHA-256 of the secret; zero if only an earlier release has set it
};

/// The default payload format of hooks.
inline constexpr std::string_view default_hook_type = "webhook";

/// A hook to be stored. `secret` signs deliveries, so a store keeps it in a form that it can read (see `secret_keys`); it is
/// shown once and never listed. After a replacement the store keeps the previous one as long as both sign.
struct new_hook {
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type{default_hook_type};
    std::string target_url;
    std::string secret;
    instant created_at;
    std::optional<digest> idempotency_key = {};  ///< unique among hooks: a request that is repeated with it creates nothing
};

/// What the owner of a hook may change.
struct hook_change {
    std::string event;
    std::string target_url;
};

/// The host that a hook's deliveries are counted for: scheme, host and port of its target, normalized, or the target
/// itself if it is not a URL.
[[nodiscard]] inline std::string delivery_host(const std::string& target_url) {
    const auto url = http::url::parse(target_url);
    return url ? url->origin() : target_url;
}

/// The context in which `secret_keys` encrypt a hook's secret: its account. The hook's id is not known before it is stored.
[[nodiscard]] inline std::string hook_secret_context(const account_ref& account) {
    return "webhook " + std::string{account.service.view()} + ' ' + std::to_string(account.account.value());
}

/// The form of a secret (Standard Webhooks): the prefix, then this many random bytes in Base64.
inline constexpr std::string_view hook_secret_prefix = "whsec_";
inline constexpr std::size_t hook_secret_random_bytes = 32;  // the Standard Webhooks specification: 24 to 64

/// What signs a hook's deliveries, in the text form of the Standard Webhooks specification: `whsec_` and base64.
[[nodiscard]] inline std::string make_hook_secret(std::span<const std::byte, hook_secret_random_bytes> random) {
    return std::string{hook_secret_prefix} + base64_encode({reinterpret_cast<const char*>(random.data()), random.size()});
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_HOOK_HPP
