#pragma once

#include <tollgate/store/detail/postgres/credential_lookup.hpp>

#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

struct lookup_parts {
    std::string_view columns;
    std::string_view table;
    std::string_view key;
    std::string_view keys;  // the type of $1
};

// PostgreSQL plans a prepared statement anew each time where it expects more rows from the plan for any parameters, as it
// does for an array of few keys: ten times what finding one row costs. It does not look into a sub-select, so that it plans
// once. OFFSET 0 keeps it from joining the whole table of users, which it would if it planned while that is small.
inline std::string compose_lookup(const lookup_parts& parts, std::string_view owner_quota_query) {
    std::string text{"SELECT "};
    text.append(parts.columns);
    if (owner_quota_query.empty()) {
        text.append(", false, NULL::bigint, NULL::bigint FROM ").append(parts.table).append(" AS tokens");
    } else {
        // On its own line: the query may end with a comment.
        text.append(", own.is_known IS NOT NULL, own.requests::bigint, own.window_seconds::bigint FROM ")
            .append(parts.table)
            .append(" AS tokens CROSS JOIN LATERAL (SELECT tokens.user_id AS id) AS owner "
                    "LEFT JOIN LATERAL (SELECT true AS is_known, quota.requests, quota.window_seconds FROM (\n")
            .append(owner_quota_query)
            .append("\n) AS quota (requests, window_seconds) OFFSET 0) AS own ON true");
    }
    return text.append(" WHERE tokens.").append(parts.key).append(" = ANY ((SELECT $1)::").append(parts.keys).append(")");
}

}  // namespace detail

TOLLGATE_DECL credential_lookup::credential_lookup(const std::string& owner_quota_query)
    : personal_{detail::compose_lookup({"tokens.username, tokens.user_id, tokens.secret_digest, tokens.scopes, "
                                        "tokens.expires_at, tokens.last_used_at, tokens.id",
                                        "tollgate_personal_tokens", "username", "text[]"},
                                       owner_quota_query)},
      access_{detail::compose_lookup(
          {"tokens.token_digest, tokens.user_id, tokens.application_id, tokens.scopes, tokens.expires_at, tokens.last_used_at",
           "tollgate_access_tokens", "token_digest", "bytea[]"},
          owner_quota_query)} {}

TOLLGATE_DECL auto credential_lookup::read_personal(rows& found) -> result<std::optional<found_as<token_username>>> {
    const auto row = found.next<token_username, user_id, digest, scope_set, std::optional<instant>, std::optional<instant>,
                                token_id, bool, std::optional<std::int64_t>, std::optional<std::int64_t>>();
    if (!row) return row.error();
    if (!*row) return std::optional<found_as<token_username>>{};
    const auto& [username, user, secret_digest, scopes, expires_at, last_used_at, id, is_known, requests, window_seconds] = **row;
    auto own = to_quota({is_known, requests, window_seconds});
    if (!own) return std::optional{found_as<token_username>{username, std::move(own).error()}};
    return std::optional{found_as<token_username>{
        username, token_credential{user, secret_digest, scopes, expires_at, std::nullopt, last_used_at, *own, id}}};
}

TOLLGATE_DECL auto credential_lookup::read_access(rows& found) -> result<std::optional<found_as<digest>>> {
    const auto row = found.next<digest, user_id, application_id, scope_set, instant, std::optional<instant>, bool,
                                std::optional<std::int64_t>, std::optional<std::int64_t>>();
    if (!row) return row.error();
    if (!*row) return std::optional<found_as<digest>>{};
    const auto& [token, user, application, scopes, expires_at, last_used_at, is_known, requests, window_seconds] = **row;
    auto own = to_quota({is_known, requests, window_seconds});
    if (!own) return std::optional{found_as<digest>{token, std::move(own).error()}};
    return std::optional{
        found_as<digest>{token, token_credential{user, token, scopes, expires_at, application, last_used_at, *own}}};
}

TOLLGATE_DECL result<known_quota> credential_lookup::to_quota(const quota_columns& read) {
    if (!read.is_known) return known_quota{};
    if (!read.requests) return known_quota{true, std::nullopt};
    constexpr std::int64_t requests_max = (std::numeric_limits<std::uint32_t>::max)();
    constexpr std::int64_t window_seconds_max = std::int64_t{366} * 24 * 60 * 60;  // longer ones are a mistake in units
    if (*read.requests < 0 || *read.requests > requests_max || !read.window_seconds ||
        *read.window_seconds < 1 || *read.window_seconds > window_seconds_max)
        return internal_error("PostgreSQL: owner_quota_query returned numbers that are not a quota");
    return known_quota{true, quota{static_cast<std::uint32_t>(*read.requests), seconds{*read.window_seconds}}};
}

}  // namespace tollgate::postgres
