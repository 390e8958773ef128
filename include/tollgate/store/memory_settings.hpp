#pragma once
#ifndef TOLLGATE_STORE_MEMORY_SETTINGS_HPP
#define TOLLGATE_STORE_MEMORY_SETTINGS_HPP

#include <cstddef>

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

}  // namespace tollgate

#endif  // TOLLGATE_STORE_MEMORY_SETTINGS_HPP
