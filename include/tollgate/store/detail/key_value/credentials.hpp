#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_CREDENTIALS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_CREDENTIALS_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/key_value/codec.hpp>
#include <tollgate/store/detail/key_value/keys.hpp>
#include <tollgate/store/detail/key_value/records.hpp>

#include <optional>
#include <string_view>
#include <variant>

namespace tollgate::inline v0::key_value_detail {

[[nodiscard]] inline key personal_token_key_of(std::string_view username) noexcept { return key{table::personal_tokens}.raw(username); }
[[nodiscard]] inline key access_token_key_of(const digest& token) noexcept { return key{table::access_tokens}.bytes(token); }
[[nodiscard]] inline key key_of(const credential_key& named) noexcept {
    if (const auto* const access = std::get_if<access_token_key>(&named)) return access_token_key_of(access->token_digest);
    const std::string_view username = std::get<personal_token_key>(named).username;
    return personal_token_key_of(username.size() <= limits::token_username_bytes_max ? username : "");  // no stored username is empty
}

/// Scopes in a record. Converted, they are constructed in the credential itself.
struct stored_scopes {
    std::string_view text;

    operator scope_set() const noexcept { return scope_set::from_text(text); }
};

/// Each reads the record of a credential. Returns false if it is damaged.
[[nodiscard]] inline bool read_personal_token(std::string_view value, std::optional<token_credential>& into) noexcept {
    personal_token_record<std::string_view> token;
    if (!decode(value, token)) return false;
    into.emplace(token.user, token.secret, stored_scopes{token.scopes}, token.expires_at, std::nullopt, token.last_used_at, std::nullopt,
                 token.id);
    return true;
}
[[nodiscard]] inline bool read_access_token(std::string_view value, const digest& named, std::optional<token_credential>& into) noexcept {
    access_token_record<std::string_view> token;
    if (!decode(value, token)) return false;
    into.emplace(token.user, named, stored_scopes{token.scopes}, token.expires_at, token.application, token.last_used_at, std::nullopt,
                 std::nullopt, to_resources(token.resources));
    return true;
}
[[nodiscard]] inline bool read_credential(std::string_view value, const credential_key& named,
                                          std::optional<token_credential>& into) noexcept {
    const auto* const access = std::get_if<access_token_key>(&named);
    return access != nullptr ? read_access_token(value, access->token_digest, into) : read_personal_token(value, into);
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_CREDENTIALS_HPP
