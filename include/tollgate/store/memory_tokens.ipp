#pragma once
#ifndef TOLLGATE_STORE_MEMORY_TOKENS_IPP
#define TOLLGATE_STORE_MEMORY_TOKENS_IPP

#include <tollgate/store/memory_tokens.hpp>

#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_COLD memory_token_store::memory_token_store(const memory_settings& settings)
    : personal_{settings.personal_tokens_max} {}

TOLLGATE_COLD memory_token_store::~memory_token_store() = default;

TOLLGATE_COLD result<token_id> memory_token_store::create_personal_token(const new_personal_token& token,
                                                                         std::size_t tokens_per_user_max) noexcept {
    return detail::without_exceptions([&] { return personal_.create(token, tokens_per_user_max); });
}

TOLLGATE_COLD result<std::vector<personal_token>> memory_token_store::personal_tokens_of(user_id user) noexcept {
    return detail::without_exceptions([&] { return personal_.of(user); });
}

TOLLGATE_COLD result<bool> memory_token_store::renew_personal_token(user_id user, token_id id,
                                                                    const personal_token_renewal& renewed) noexcept {
    return detail::without_exceptions([&] { return personal_.renew(user, id, renewed); });
}

TOLLGATE_COLD result<bool> memory_token_store::revoke(const revocation& revoked) noexcept {
    return detail::without_exceptions([&] {
        const auto* const personal = std::get_if<personal_token_revocation>(&revoked);
        return personal != nullptr && personal_.revoke(personal->token);
    });
}

TOLLGATE_COLD result<void> memory_token_store::record_use(const credential_key& key, instant now, std::string_view from) noexcept {
    return detail::without_exceptions([&] {
        if (const auto* const personal = std::get_if<personal_token_key>(&key)) personal_.record_use(personal->username, now, from);
    });
}

TOLLGATE_DECL result<std::optional<token_credential>> memory_token_store::find_credential(const credential_key& key) noexcept {
    const auto* const personal = std::get_if<personal_token_key>(&key);
    return personal != nullptr ? personal_.find(personal->username) : std::optional<token_credential>{};
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_MEMORY_TOKENS_IPP
