#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/random_source.hpp>
#include <tollgate/contract/token_store.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace tollgate::inline v0 {

/// A token to create.
struct personal_token_request {
    user_id user;
    std::string description;
    scope_set scopes;
};

/// A new personal token. Its secret is shown only once; the store keeps its digest.
struct issued_personal_token {
    token_id id;
    public_id username;
    secret_text secret;
};

/// Creates a token that `basic_token` accepts from now on. Invalid for a description over
/// `limits::token_description_bytes_max`, and if the user has `tokens_per_user_max` tokens. The caller checks that the
/// scopes exist.
template <token_store Store, random_source Random = system_random>
[[nodiscard]] result<issued_personal_token> issue_personal_token(
    Store& store, personal_token_request wanted, instant now, const Random& random = {},
    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max) {
    if (wanted.description.size() > limits::token_description_bytes_max)
        return invalid("description is longer than 255 bytes.");
    std::array<std::byte, 16> name_bytes;
    std::array<std::byte, 32> secret_bytes;
    if (!random.fill(name_bytes) || !random.fill(secret_bytes)) return internal_error("the random source failed");
    const auto username = make_public_id(public_id_kind::username, name_bytes);
    const auto secret = make_secret(secret_kind::personal_token, secret_bytes);
    secure_wipe(secret_bytes);

    const auto id = store.create_personal_token({.user = wanted.user,
                                                 .username = username,
                                                 .secret_digest = digest_of(secret),
                                                 .description = std::move(wanted.description),
                                                 .scopes = wanted.scopes,
                                                 .created_at = now},
                                                tokens_per_user_max);
    if (!id) return id.error();
    return issued_personal_token{*id, username, secret};
}

}  // namespace tollgate
