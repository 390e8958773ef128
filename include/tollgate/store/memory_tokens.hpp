#pragma once
#ifndef TOLLGATE_STORE_MEMORY_TOKENS_HPP
#define TOLLGATE_STORE_MEMORY_TOKENS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/store/detail/memory/personal_tokens.hpp>
#include <tollgate/store/store_error.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The number of rows that a `memory_store` or a `memory_token_store` holds before it refuses more with an error (unavailable). Expired
/// access tokens, codes, refresh tokens and device codes are removed first. A row takes about 1 to 4 kB. One user may have a quarter of the
/// access tokens, codes and refresh tokens; `limits` bounds the other rows of a user.
struct memory_settings {
    std::size_t personal_tokens_max = 100'000;
    std::size_t access_tokens_max = 100'000;
    std::size_t hooks_max = 100'000;
    std::size_t applications_max = 10'000;
    std::size_t grants_max = 100'000;
    std::size_t codes_max = 100'000;
    std::size_t refresh_tokens_max = 100'000;
    std::size_t device_codes_max = 10'000;
    std::size_t sessions_max = 100'000;
    /// Bytes of events, deliveries and their attempts. Undelivered events of one account, and deliveries to one host, may use a quarter of
    /// it. An event of an account over its quarter is refused. Deliveries to a host over its quarter are recorded as given up at once; if
    /// the event has no other deliveries, it is refused.
    std::size_t outbox_bytes_max = 256 * 1024 * 1024;
};

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
