#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIAL_LOOKUP_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIAL_LOOKUP_IPP

#include <tollgate/store/detail/postgres/credential_lookup.hpp>
#include <tollgate/store/detail/sql/rows.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

struct lookup_parts {
    std::string_view column_list;
    std::string_view table;
    std::string_view key;
    std::string_view keys;  // the type of $1
};

// For an array of few keys, PostgreSQL would plan the prepared statement again at each execution, which costs ten times as much as
// finding one row. Its planner does not evaluate a sub-select, so it plans once. OFFSET 0 prevents a join with the whole table of
// users, which it would choose if it planned while that table is small.
inline std::string compose_lookup(const lookup_parts& parts, std::string_view owner_query) {
    std::string text{"SELECT "};
    text.append(parts.column_list);
    if (owner_query.empty()) {
        text.append(", false, NULL::bigint, NULL::bigint, NULL::text, NULL::text FROM ").append(parts.table).append(" AS tokens");
    } else {
        // On its own line: the query may end with a comment.
        text.append(", known.is_known IS NOT NULL, known.requests::bigint, known.window_seconds::bigint, known.balance::text, "
                    "known.currency::text FROM ")
            .append(parts.table)
            .append(" AS tokens CROSS JOIN LATERAL (SELECT tokens.user_id AS id) AS owner "
                    "LEFT JOIN LATERAL (SELECT true AS is_known, read.requests, read.window_seconds, read.balance, read.currency FROM (\n")
            .append(owner_query)
            .append("\n) AS read (requests, window_seconds, balance, currency) OFFSET 0) AS known ON true");
    }
    return text.append(" WHERE tokens.").append(parts.key).append(" = ANY ((SELECT $1)::").append(parts.keys).append(")");
}

/// The last columns of both statements.
inline result<std::optional<known_user>> to_owner(user_id user, bool is_known, const sql::owner_columns& read) {
    if (!is_known) return std::optional<known_user>{};
    return sql::to_known_user(user, read).transform([](const known_user& known) { return std::optional{known}; });
}

}  // namespace detail

TOLLGATE_DECL credential_lookup::credential_lookup(const std::string& owner_query)
    : personal_{detail::compose_lookup({"tokens.username, tokens.user_id, tokens.secret_digest, tokens.scopes, "
                                        "tokens.expires_at, tokens.last_used_at, tokens.id",
                                        "tollgate_personal_tokens", "username", "text[]"},
                                       owner_query)},
      access_{detail::compose_lookup(
          {"tokens.token_digest, tokens.user_id, tokens.application_id, tokens.scopes, tokens.expires_at, tokens.last_used_at, "
           "tokens.resources",
           "tollgate_access_tokens", "token_digest", "bytea[]"},
          owner_query)} {}

TOLLGATE_DECL auto credential_lookup::read_personal(rows& found) -> result<std::optional<found_as<token_username>>> {
    return sql::read_one(found, [](const token_username& username, user_id user, const digest& secret_digest, const scope_set& scopes,
                                   std::optional<instant> expires_at, std::optional<instant> last_used_at, token_id id, bool is_known,
                                   std::optional<std::int64_t> requests, std::optional<std::int64_t> window_seconds,
                                   const std::optional<std::string>& balance, const std::optional<std::string>& currency) {
        const auto owner = detail::to_owner(user, is_known, {requests, window_seconds, balance, currency});
        if (!owner) return found_as<token_username>{username, owner.error()};
        return found_as<token_username>{
            username, token_credential{user, secret_digest, scopes, expires_at, std::nullopt, last_used_at, *owner, id}};
    });
}

TOLLGATE_DECL auto credential_lookup::read_access(rows& found) -> result<std::optional<found_as<digest>>> {
    return sql::read_one(found, [](const digest& token, user_id user, application_id application, const scope_set& scopes,
                                   instant expires_at, std::optional<instant> last_used_at, const resource_set& resources, bool is_known,
                                   std::optional<std::int64_t> requests, std::optional<std::int64_t> window_seconds,
                                   const std::optional<std::string>& balance, const std::optional<std::string>& currency) {
        const auto owner = detail::to_owner(user, is_known, {requests, window_seconds, balance, currency});
        if (!owner) return found_as<digest>{token, owner.error()};
        return found_as<digest>{
            token, token_credential{user, token, scopes, expires_at, application, last_used_at, *owner, std::nullopt, resources}};
    });
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIAL_LOOKUP_IPP
