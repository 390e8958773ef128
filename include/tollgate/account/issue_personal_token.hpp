#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/random_source.hpp>
#include <tollgate/contract/token_store.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace tollgate::inline v0 {

/// What a person chooses when they make a token.
struct personal_token_request {
    user_id user;
    std::string description;
    scope_set scopes;
};

/// A personal token as its owner is shown it, this once: of the secret nothing but its digest is kept.
struct issued_personal_token {
    token_id id;
    public_id username;
    secret_text secret;
};

/// Makes a token that `basic_token` lets in from now on. Invalid for a description longer than
/// `limits::token_description_bytes_max`, and for one token more than `tokens_per_user_max`; whether the scopes exist is the
/// caller's to know.
template <token_store Store, random_source Random>
[[nodiscard]] result<issued_personal_token> issue_personal_token(
    Store& store, const Random& random, personal_token_request wanted, instant now,
    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max) {
    if (wanted.description.size() > limits::token_description_bytes_max) return invalid("description is longer than 255 bytes.");
    std::array<std::byte, 16> name_bytes;
    std::array<std::byte, 32> secret_bytes;
    if (!random.fill(name_bytes) || !random.fill(secret_bytes)) return internal_error("the random source gave nothing");
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
