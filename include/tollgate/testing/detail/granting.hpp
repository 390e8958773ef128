#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_GRANTING_HPP
#define TOLLGATE_TESTING_DETAIL_GRANTING_HPP

#include <tollgate/testing/detail/credentials.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <cstdint>
#include <optional>
#include <source_location>
#include <string_view>

namespace tollgate::inline v0::testing::detail {

template <class Store>
application_id create_sample_application(Store& store, std::string_view client_id = "tgi_a",
                                         user_id owner = user_id{3}) {
    return value_of(store.create_application(sample_application(client_id, owner), limits::applications_per_user_max));
}

/// Returns the scopes that a user has granted an application; empty if there is no grant.
template <class Store>
result<std::optional<scope_set>> granted_scopes(Store& store, user_id user, application_id application) {
    const auto grants = store.grants_of(user);
    if (!grants) return grants.error();
    for (const grant& each : *grants)
        if (each.application == application) return std::optional{each.scopes};
    return std::optional<scope_set>{};
}

/// Returns true if an access token is valid. Returns what is expected if the store does not authenticate, so that this cannot
/// be tested.
template <class Store>
bool has_access(Store& store, std::uint64_t seed, bool expected,
                const std::source_location& at = std::source_location::current()) {
    if constexpr (credential_source<Store>)
        return looked_up(store, access_token_key{sample_access_digest(seed)}, at).has_value();
    else return expected;
}
template <class Store>
void expect_access(Store& store, std::uint64_t seed, const std::source_location& at = std::source_location::current()) {
    expect(has_access(store, seed, true, at), "the access token is found", at);
}
/// The access token is as it was created.
template <class Store>
void expect_access(Store& store, const new_access_token& token, const std::source_location& at = std::source_location::current()) {
    if constexpr (credential_source<Store>) expect_token_found(store, token, at);
}
template <class Store>
void expect_no_access(Store& store, std::uint64_t seed,
                      const std::source_location& at = std::source_location::current()) {
    expect(!has_access(store, seed, false, at), "the access token is not found", at);
}

/// Returns true if the refresh token is valid, tested without creating an access token.
template <class Store>
bool is_refreshable(Store& store, std::uint64_t seed, application_id application, instant now = noon + seconds{2},
                    const std::source_location& at = std::source_location::current()) {
    auto presented = sample_refresh(seed, 999'999, application);
    presented.narrowed = presented.covering = sample_scopes("never:granted");
    presented.now = now;
    return value_of(store.refresh_access_token(presented), at).result == refresh_result::too_wide;
}

template <class Store>
void expect_code(Store& store, const new_authorization_code& code, code_result expected,
                 const std::source_location& at = std::source_location::current()) {
    expect(value_of(store.create_code(code), at) == expected,
           "create_code says whether the code is new, waits, or is spent", at);
}

template <class Store>
void expect_redemption(Store& store, const code_redemption& presented, redemption_result expected,
                       const std::source_location& at = std::source_location::current()) {
    const auto actual = value_of(store.redeem_code(presented), at);
    expect(actual.result == expected, "redeem_code returns the right result", at);
    if (expected != redemption_result::reused)
        expect(actual.user.has_value() == (expected == redemption_result::redeemed),
               "there is a user if it is redeemed, and none otherwise", at);
}

template <class Store>
void expect_refresh(Store& store, const token_refresh& presented, refresh_result expected,
                    const std::source_location& at = std::source_location::current()) {
    expect(value_of(store.refresh_access_token(presented), at).result == expected,
           "refresh_access_token returns the right result", at);
}

/// A code and its tokens, all of one seed.
template <class Store>
void authorize(Store& store, std::uint64_t seed, application_id application, user_id user = user_id{7},
               const std::source_location& at = std::source_location::current()) {
    expect_code(store, sample_code(seed, application, user), code_result::created, at);
    expect_redemption(store, sample_redemption(seed, application), redemption_result::redeemed, at);
}

}  // namespace tollgate::testing::detail

#endif  // TOLLGATE_TESTING_DETAIL_GRANTING_HPP
