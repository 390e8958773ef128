#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_TOKENS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_TOKENS_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/key_value/bounds.hpp>
#include <tollgate/store/detail/key_value/credentials.hpp>
#include <tollgate/store/detail/key_value/records.hpp>
#include <tollgate/store/detail/key_value/rows.hpp>
#include <tollgate/store/store_error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Rows of access tokens and refresh tokens, for the verbs of tokens, applications and grants.

namespace tollgate::inline v0::key_value_detail {

using access_token_row = access_token_record<std::string>;

/// The origin of an access token: that of its refresh token, or one of these.
inline constexpr std::uint64_t created_alone = 0;
inline constexpr std::uint64_t created_for_owner = 1;
/// The origin of a refresh token: from its first digest, so that it stays the same when the token is replaced, and no counter is needed.
[[nodiscard]] inline std::uint64_t origin_of(const digest& first_refresh_token) noexcept {
    return number_at(first_refresh_token.raw(), 0) | std::uint64_t{1} << 63;
}

[[nodiscard]] inline key refresh_token_key(const digest& token) noexcept { return key{table::refresh_tokens}.bytes(token); }
[[nodiscard]] inline key code_key(const digest& code) noexcept { return key{table::codes}.bytes(code); }
[[nodiscard]] inline key expiry_key(instant end, table of, const digest& row) noexcept {
    return key{table::expiries}.at(end).of(of).bytes(row);
}
[[nodiscard]] inline key application_key(application_id id) noexcept { return key{table::applications}.id(id); }
[[nodiscard]] inline key grant_key(application_id application, user_id user) noexcept {
    return key{table::grants}.id(application).id(user);
}
[[nodiscard]] inline key access_tokens_between(application_id application, user_id user) noexcept {
    return key{table::access_tokens_of_grant}.id(application).id(user);
}
[[nodiscard]] inline key refresh_tokens_between(application_id application, user_id user) noexcept {
    return key{table::refresh_tokens_of_grant}.id(application).id(user);
}
[[nodiscard]] inline key codes_between(application_id application, user_id user) noexcept {
    return key{table::codes_of_grant}.id(application).id(user);
}

/// Removes at most `rows_max` codes and tokens whose end has passed. Returns how many.
std::size_t sweep_expired_rows(rows& all, instant now, std::size_t rows_max);

/// Counts one more row that expires, if there is room, perhaps after expired rows are removed.
[[nodiscard]] inline result<void> claim_expiring_row(rows& all, const bounded_table& in, user_id user, instant now) {
    while (find_no_room(all, in, user) && sweep_expired_rows(all, now, step_rows_max) != 0) {}
    return claim_row(all, in, user);
}

inline bool forget_access_token(rows& all, const digest& token) {
    const auto found = all.get<access_token_row>(access_token_key_of(token));
    if (!found) return false;
    all.erase(access_token_key_of(token));
    all.erase(access_tokens_between(found->application, found->user).at(found->expires_at).bytes(token));
    all.erase(expiry_key(found->expires_at, table::access_tokens, token));
    release_row(all, bounded_access_tokens, found->user);
    return true;
}

/// Returns true if an earlier call with the same digest has created this access token.
[[nodiscard]] inline bool was_created(rows& all, const digest& token, user_id user, application_id application, std::uint64_t origin) {
    const auto existing = all.get<access_token_row>(access_token_key_of(token));
    return existing && existing->user == user && existing->application == application && existing->origin == origin;
}

/// Creates an access token.
[[nodiscard]] inline result<void> add_access_token(rows& all, const new_access_token& created, std::uint64_t origin) {
    const digest& token = created.token_digest;
    if (all.has(access_token_key_of(token))) return token_exists();
    const key siblings = access_tokens_between(created.application, created.user);
    std::size_t count = 0;
    std::optional<std::pair<instant, digest>> first;
    all.scan(siblings, limits::access_tokens_per_grant_max, [&](std::string_view at, std::string_view) {
        if (!first) first.emplace(time_at(at, 17), last_digest(at));
        return ++count, true;
    });
    if (count >= limits::access_tokens_per_grant_max) {
        if (created.created_at < first->first) return too_many_access_tokens(first->first);
        forget_access_token(all, first->second);
    }
    if (auto claimed = claim_expiring_row(all, bounded_access_tokens, created.user, created.created_at); !claimed) return claimed;
    const std::string resources = created.resources.text();
    all.put(access_token_key_of(token),
            access_token_record<std::string_view>{created.user, created.application, {}, created.created_at, created.expires_at, origin,
                                                  created.scopes.text(), resources});
    all.put(key{siblings}.at(created.expires_at).bytes(token), number_value{origin});
    all.put(expiry_key(created.expires_at, table::access_tokens, token), "");
    return {};
}

/// Revokes the access tokens of a user and an application that have this origin. Returns true if there were any.
inline bool forget_access_tokens_from(rows& all, application_id application, user_id user, std::uint64_t origin) {
    std::vector<digest> found;
    all.scan(access_tokens_between(application, user), all_rows, [&](std::string_view at, std::string_view value) {
        if (number_at(value, 0) == origin) found.push_back(last_digest(at));
        return true;
    });
    for (const digest& each : found) forget_access_token(all, each);
    return !found.empty();
}

/// A refresh token with its present digest.
struct found_refresh_token {
    digest token;
    refresh_token_record record;
};
/// Finds a refresh token by its digest, or by the digest of its family.
[[nodiscard]] inline std::optional<found_refresh_token> find_refresh_token(rows& all, const digest& token,
                                                                           const std::optional<digest>& family) {
    if (auto found = all.get<refresh_token_record>(refresh_token_key(token))) return found_refresh_token{token, *std::move(found)};
    std::string current;
    if (!family || !all.find(key{table::token_families}.bytes(*family), current)) return std::nullopt;
    const digest present = last_digest(current);
    return found_refresh_token{present, all.existing<refresh_token_record>(refresh_token_key(present))};
}
/// The next number in a grant: what the application and the user did last has the greatest.
[[nodiscard]] inline std::uint64_t next_number(rows& all, application_id application, user_id user) {
    auto grant = all.existing<grant_record>(grant_key(application, user));
    ++grant.last_number;
    all.put(grant_key(application, user), grant);
    return grant.last_number;
}
inline void write_refresh_token(rows& all, const digest& token, const refresh_token_record& record) {
    all.put(refresh_token_key(token), record);
    all.put(refresh_tokens_between(record.application, record.user).number(record.number).bytes(token), number_value{record.origin});
    all.put(expiry_key(record.expires_at, table::refresh_tokens, token), "");
}
inline void erase_refresh_token(rows& all, const digest& token, const refresh_token_record& record) {
    all.erase(refresh_token_key(token));
    all.erase(refresh_tokens_between(record.application, record.user).number(record.number).bytes(token));
    all.erase(expiry_key(record.expires_at, table::refresh_tokens, token));
}
inline void forget_refresh_token(rows& all, const digest& token) {
    const auto found = all.get<refresh_token_record>(refresh_token_key(token));
    if (!found) return;
    if (found->family) all.erase(key{table::token_families}.bytes(*found->family));
    erase_refresh_token(all, token, *found);
    release_row(all, bounded_refresh_tokens, found->user);
}

inline void forget_code(rows& all, const digest& code) {
    const auto found = all.get<code_record>(code_key(code));
    if (!found) return;
    all.erase(code_key(code));
    all.erase(codes_between(found->application, found->user).number(found->number).bytes(code));
    all.erase(expiry_key(found->forget_at, table::codes, code));
    release_row(all, bounded_codes, found->user);
}

/// Deletes a grant with its codes and tokens, all of which are bounded. Returns true if there was one.
inline bool forget_grant(rows& all, application_id application, user_id user) {
    for (const digest& each : all.digests(access_tokens_between(application, user))) forget_access_token(all, each);
    if (!all.has(grant_key(application, user))) return false;
    for (const digest& each : all.digests(codes_between(application, user))) forget_code(all, each);
    for (const digest& each : all.digests(refresh_tokens_between(application, user))) forget_refresh_token(all, each);
    all.erase(grant_key(application, user));
    all.erase(key{table::grants_of_user}.id(user).id(application));
    all.add(key{table::user_counts}.id(application), -1);
    release_row(all, bounded_grants);
    return true;
}

[[nodiscard]] inline key device_list_key(application_id id) noexcept { return key{table::device_lists}.id(id); }
inline void forget_device_code(rows& all, const digest& device) {
    const auto found = all.get<device_code_record>(key{table::device_codes}.bytes(device));
    if (!found) return;
    all.erase(key{table::device_codes}.bytes(device));
    all.erase(key{table::device_user_codes}.bytes(found->user_digest));
    all.erase(key{table::device_codes_of}.id(found->application).number(found->number).bytes(device));
    all.erase(expiry_key(found->expires_at + seconds{limits::expired_device_code_seconds}, table::device_codes, device));
    const key list = device_list_key(found->application);
    auto listed = all.existing<device_list_record>(list);
    if (--listed.count == 0) all.erase(list);
    else all.put(list, listed);
    release_row(all, bounded_device_codes);
}

inline std::size_t sweep_expired_rows(rows& all, instant now, std::size_t rows_max) {
    std::vector<std::pair<table, digest>> expired;
    constexpr std::size_t table_place = 9;
    all.scan(key{table::expiries}, key{table::expiries}.after(now), rows_max, [&](std::string_view at, std::string_view) {
        expired.emplace_back(static_cast<table>(at[table_place]), last_digest(at));
        return true;
    });
    for (const auto& [of, row] : expired) {
        if (of == table::codes) forget_code(all, row);
        if (of == table::access_tokens) forget_access_token(all, row);
        if (of == table::refresh_tokens) forget_refresh_token(all, row);
        if (of == table::device_codes) forget_device_code(all, row);
    }
    return expired.size();
}

/// An application that exists and is not suspended.
[[nodiscard]] inline bool may_get_tokens(rows& all, application_id id) {
    const auto found = all.get<application_record>(application_key(id));
    return found && !found->suspended;
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_TOKENS_HPP
