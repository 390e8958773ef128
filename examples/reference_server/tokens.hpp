#pragma once

#include "expect.hpp"

#include <tollgate/base/secret.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/policy/system_clock.hpp>
#include <tollgate/policy/system_random.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace reference {

/// A personal token as its owner sees it this once.
struct issued_token {
    tollgate::token_id id;
    std::string username;
    std::string secret;
};

template <std::size_t Size>
std::array<std::byte, Size> random_bytes() {
    std::array<std::byte, Size> bytes;
    if (!tollgate::system_random{}.fill(bytes)) throw run_error{"the system gives no random bytes."};
    return bytes;
}

/// Throws `run_error`.
template <tollgate::token_store Store>
issued_token issue_token(Store& store, tollgate::user_id user, const std::string& description, const tollgate::scope_set& scopes) {
    const auto username = tollgate::make_public_id(tollgate::public_id_kind::username, random_bytes<16>());
    const auto secret = tollgate::make_secret(tollgate::secret_kind::personal_token, random_bytes<32>());
    const auto id = expect(store.create_personal_token({.user = user,
                                                        .username = username,
                                                        .secret_digest = tollgate::digest_of(secret),
                                                        .description = description,
                                                        .scopes = scopes,
                                                        .created_at = tollgate::system_clock{}.now()}),
                           "cannot make the token");
    return {id, std::string{username.view()}, std::string{secret.view()}};
}

}  // namespace reference
