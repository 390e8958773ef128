#pragma once

#include <tollgate/base/detail/encoding.hpp>
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

/// How a hook came to be.
enum class hook_source { api, manual };

/// The name under which it is served and stored.
[[nodiscard]] constexpr std::string_view to_text(hook_source source) noexcept {
    return source == hook_source::api ? "api" : "manual";
}

/// Why a hook gets nothing any more, until its owner enables it again.
enum class disable_reason {
    gone,     ///< its target answered 410
    failing,  ///< there was no success for too long
};

/// When and why a webhook was disabled.
struct hook_disablement {
    instant at;
    disable_reason why = disable_reason::failing;

    friend bool operator==(const hook_disablement&, const hook_disablement&) noexcept = default;
};

/// Where the payloads of one event of one account go.
struct hook {
    hook_id id;
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type;        ///< the payload format's name
    std::string target_url;  ///< byte for byte as it was given
    instant created_at;
    std::optional<hook_disablement> disabled{};
    std::optional<instant> failing_since{};  ///< when the first attempt failed that no success has followed
};

/// What is needed to make one. `secret` signs deliveries, so it is kept as it is; it is shown once and never listed. A
/// store also keeps the one before it, for the time in which both sign.
struct new_hook {
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type;
    std::string target_url;
    std::string secret;
    instant created_at;
};

/// The host whose load a hook's deliveries add to: scheme, host and port of its target in one spelling, or the target
/// itself if it is not a URL.
[[nodiscard]] inline std::string delivery_host(const std::string& target_url) {
    const auto url = http::url::parse(target_url);
    return url ? url->origin() : target_url;
}

/// The form of a secret (Standard Webhooks): the prefix, then this many random bytes in Base64.
inline constexpr std::string_view hook_secret_prefix = "whsec_";
inline constexpr std::size_t hook_secret_random_bytes = 32;  // the Standard Webhooks specification: 24 to 64

/// What signs a hook's deliveries, in the text form of the Standard Webhooks specification: `whsec_` and base64.
[[nodiscard]] inline std::string make_hook_secret(std::span<const std::byte, hook_secret_random_bytes> random) {
    return std::string{hook_secret_prefix} + base64_encode({reinterpret_cast<const char*>(random.data()), random.size()});
}

}  // namespace tollgate
