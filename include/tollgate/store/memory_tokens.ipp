#pragma once
#ifndef TOLLGATE_STORE_MEMORY_TOKENS_IPP
#define TOLLGATE_STORE_MEMORY_TOKENS_IPP

#include <tollgate/store/memory_tokens.hpp>

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

TOLLGATE_COLD result<bool> memory_token_store::revoke_personal_token(token_id id) noexcept {
    return detail::without_exceptions([&] { return personal_.revoke(id); });
}

TOLLGATE_COLD result<void> memory_token_store::record_personal_token_use(std::string_view username, instant now,
                                                                         std::string_view from) noexcept {
    return detail::without_exceptions([&] { return personal_.record_use(username, now, from); });
}

TOLLGATE_DECL result<std::optional<token_credential>> memory_token_store::find_personal_token(std::string_view username) noexcept {
    return personal_.find(username);
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_MEMORY_TOKENS_IPP
