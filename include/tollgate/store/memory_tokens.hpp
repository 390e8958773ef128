#pragma once
#ifndef TOLLGATE_STORE_MEMORY_TOKENS_HPP
#define TOLLGATE_STORE_MEMORY_TOKENS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/store/detail/memory/personal_tokens.hpp>
#include <tollgate/store/memory_settings.hpp>
#include <tollgate/store/store_error.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// A store in memory for personal tokens only, for an API without webhooks and OAuth. It has no access tokens. It compiles faster than
/// `memory_store`, which has all contracts.
///
/// Thread rule: any thread. No call blocks: locks are held only to copy a row. `find_credential` does not allocate.
class memory_token_store {
public:
    /// No call blocks.
    static constexpr bool blocking = false;

    /// Constructs an empty store. Only `personal_tokens_max` of the settings applies.
    TOLLGATE_COLD explicit memory_token_store(const memory_settings& settings = {});
    memory_token_store(const memory_token_store&) = delete;
    memory_token_store& operator=(const memory_token_store&) = delete;
    TOLLGATE_COLD ~memory_token_store();

    /// See `credential_source`.
    TOLLGATE_DECL result<std::optional<token_credential>> find_credential(const credential_key& key) noexcept;
    /// See `token_store`.
    TOLLGATE_COLD result<token_id> create_personal_token(const new_personal_token& token, std::size_t tokens_per_user_max) noexcept;
    TOLLGATE_COLD result<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept;
    TOLLGATE_COLD result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) noexcept;
    TOLLGATE_COLD result<bool> revoke(const revocation& revoked) noexcept;
    /// See `use_recorder`.
    TOLLGATE_COLD result<void> record_use(const credential_key& key, instant now, std::string_view from) noexcept;

private:
    memory::personal_tokens personal_;
};

static_assert(token_store<memory_token_store> && use_recorder<memory_token_store>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/memory_tokens.ipp>
#endif

#endif  // TOLLGATE_STORE_MEMORY_TOKENS_HPP
