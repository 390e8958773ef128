#pragma once
#ifndef TOLLGATE_ACCOUNT_NEW_SECRET_HPP
#define TOLLGATE_ACCOUNT_NEW_SECRET_HPP

#include <tollgate/base/secret.hpp>
#include <tollgate/contract/sources.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace tollgate::inline v0 {

/// A new secret, whose random bytes do not stay in memory; empty if the random source fails.
template <random_source Random>
[[nodiscard]] std::optional<secret_text> new_secret(secret_kind kind, const Random& random) {
    std::array<std::byte, 32> bytes;
    if (!random.fill(bytes)) return std::nullopt;
    const auto secret = make_secret(kind, bytes);
    secure_wipe(bytes);
    return secret;
}

/// A new public id; empty if the random source fails.
template <random_source Random>
[[nodiscard]] std::optional<public_id> new_public_id(public_id_kind kind, const Random& random) {
    std::array<std::byte, 16> bytes;
    if (!random.fill(bytes)) return std::nullopt;
    return make_public_id(kind, bytes);
}

}  // namespace tollgate

#endif  // TOLLGATE_ACCOUNT_NEW_SECRET_HPP
