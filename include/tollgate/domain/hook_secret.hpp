#pragma once

#include <tollgate/base/encoding.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tollgate {

inline constexpr std::string_view hook_secret_prefix = "whsec_";
inline constexpr std::size_t hook_secret_random_bytes = 32;  // the Standard Webhooks specification: 24 to 64

/// What signs a hook's deliveries, in the text form of the Standard Webhooks specification: `whsec_` and base64.
[[nodiscard]] inline std::string make_hook_secret(std::span<const std::byte, hook_secret_random_bytes> random) {
    return std::string{hook_secret_prefix} + base64_encode({reinterpret_cast<const char*>(random.data()), random.size()});
}

}  // namespace tollgate
