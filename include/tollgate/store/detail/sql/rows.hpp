#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_ROWS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_ROWS_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/store/detail/sql/columns.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Reading the rows of a query, for both databases. `Rows` has `next<Columns...>()`, as `sqlite::statement` and
// `postgres::rows` do.

namespace tollgate::inline v0::sql {

/// One row as a tuple. `read(column, index)` decodes one column, of a default-constructed `Column` type; `misread(index)`
/// makes the error for a column that holds another type than expected.
template <class... Columns, class Read, class Misread>
result<std::optional<std::tuple<Columns...>>> decode_row(Read&& read, Misread&& misread) {
    using row = std::tuple<Columns...>;
    return [&]<std::size_t... Indexes>(std::index_sequence<Indexes...>) -> result<std::optional<row>> {
        std::tuple<std::optional<Columns>...> decoded{read(std::type_identity<Columns>{}, static_cast<int>(Indexes))...};
        std::size_t bad = sizeof...(Columns);
        ((std::get<Indexes>(decoded) ? void() : void(bad = Indexes)), ...);
        if (bad != sizeof...(Columns)) return misread(bad);
        return std::optional<row>{std::in_place, *std::move(std::get<Indexes>(decoded))...};
    }(std::index_sequence_for<Columns...>{});
}

/// The result of a function object for a row: its parameters are the columns. Not for overloaded and generic functions.
template <class Make>
struct made_by : made_by<decltype(&Make::operator())> {};
template <class Of, class Record, class... Columns>
struct made_by<Record (Of::*)(Columns...) const> : made_by<Record (*)(Columns...)> {};
template <class Record, class... Columns>
struct made_by<Record (*)(Columns...)> {
    using record = Record;
    template <class Rows>
    static auto next(Rows& from) {
        return from.template next<std::remove_cvref_t<Columns>...>();
    }
};

/// Calls `take(columns...)` for every remaining row.
template <class Rows, class Take>
result<void> for_each_row(Rows&& from, Take take) {
    for (;;) {
        auto row = made_by<Take>::next(from);
        if (!row) return std::move(row).error();
        if (!*row) return {};
        std::apply(take, **row);
    }
}

/// Every remaining row, each turned into a record by `make(columns...)`.
template <class Rows, class Make>
auto read_all(Rows&& from, Make make) -> result<std::vector<typename made_by<Make>::record>> {
    std::vector<typename made_by<Make>::record> records;
    for (;;) {
        auto row = made_by<Make>::next(from);
        if (!row) return std::move(row).error();
        if (!*row) return records;
        records.push_back(std::apply(make, **row));
    }
}

/// The next row, if there is one.
template <class Rows, class Make>
auto read_one(Rows&& from, Make make) -> result<std::optional<typename made_by<Make>::record>> {
    auto row = made_by<Make>::next(from);
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<typename made_by<Make>::record>{};
    return std::optional{std::apply(make, **row)};
}

/// The only column of the next row, if there is one.
template <class Column, class Rows>
result<std::optional<Column>> read_value(Rows&& from) {
    return read_one(std::forward<Rows>(from), [](Column& value) { return std::move(value); });
}

/// The columns that an `owner_query` returns for a user: requests, window_seconds, balance, currency.
struct owner_columns {
    std::optional<std::int64_t> requests;
    std::optional<std::int64_t> window_seconds;
    std::optional<std::string> balance;
    std::optional<std::string> currency;
};

/// Error (internal) for values that are not a quota or not a balance.
[[nodiscard]] inline result<known_user> to_known_user(user_id user, const owner_columns& read) {
    known_user known;
    if (read.requests) {
        constexpr std::int64_t requests_max = (std::numeric_limits<std::uint32_t>::max)();
        constexpr std::int64_t window_seconds_max = std::int64_t{366} * 24 * 60 * 60;  // longer windows are a mistake in units
        if (*read.requests < 0 || *read.requests > requests_max || !read.window_seconds || *read.window_seconds < 1 ||
            *read.window_seconds > window_seconds_max)
            return internal_error("owner_query returned numbers that are not a quota");
        known.own_quota = quota{static_cast<std::uint32_t>(*read.requests), seconds{*read.window_seconds}};
    }
    if (read.balance) {
        const auto amount = decimal::parse(*read.balance);
        const auto currency = currency_code::from(read.currency.value_or(""));
        if (!amount || !currency || currency->size() != currency_code::bytes_max)
            return internal_error("owner_query returned values that are not a balance");
        known.balance = balance{user, *amount, *currency};
    }
    return known;
}

// The columns that the queries for one kind of record select, in order, and the record.

[[nodiscard]] inline auto to_personal_token(user_id user) {
    return [user](token_id id, token_username& username, std::string& description, scope_set& scopes, instant created_at,
                  std::optional<instant> last_used_at, std::optional<instant> expires_at, std::optional<std::string>& last_used_from,
                  const digest& secret_digest) {
        return personal_token{id,           user,       username,   std::move(description), scopes, created_at,
                              last_used_at, expires_at, std::move(last_used_from).value_or(""), secret_digest};
    };
}

[[nodiscard]] inline application to_application(application_id id, user_id owner, client_id_text& client_id, digest& secret_digest,
                                                std::string& name, std::string& website, std::string& description,
                                                url_lines& redirect_urls, instant created_at, client_type type,
                                                std::optional<digest>& older_secret_digest, bool acts_for_owner, std::int64_t users,
                                                std::optional<suspension> suspended) {
    return {id, owner, client_id, secret_digest, std::move(name), std::move(website), std::move(description),
            std::move(redirect_urls.urls), created_at, type, older_secret_digest, acts_for_owner, users, suspended};
}

[[nodiscard]] inline auto to_grant(user_id user) {
    return [user](grant_id id, application_id application, std::string& name, std::string& website, scope_set& scopes, instant created_at,
                  std::optional<instant> last_used_at, std::optional<suspension> suspended) {
        return grant{id,     user,       application,  std::move(name), std::move(website),
                     scopes, created_at, last_used_at, suspended.has_value()};
    };
}

[[nodiscard]] inline oauth_token to_oauth_token(bool is_refresh_token, user_id user, application_id application,
                                                std::optional<client_id_text>& client_id, scope_set& scopes,
                                                std::optional<instant> created_at, instant expires_at) {
    return {is_refresh_token, user, application, client_id, scopes, created_at, expires_at};
}

[[nodiscard]] inline device_code to_device_code(digest& device, application_id application, client_id_text& client_id, scope_set& scopes,
                                                std::string& requested_from, instant created_at, instant expires_at,
                                                device_code_state state, std::optional<user_id> answered_by) {
    return {device, application, client_id, scopes, std::move(requested_from), created_at, expires_at, state, answered_by};
}

[[nodiscard]] inline auto to_account_of(const service_name& service) {
    return [service](account_id account) { return account_ref{service, account}; };
}

/// Returns since when and why a hook is disabled; a missing reason is `failing`.
[[nodiscard]] inline std::optional<hook_disablement> to_disablement(std::optional<instant> at, std::optional<disable_reason> reason) {
    if (!at) return std::nullopt;
    return hook_disablement{*at, reason.value_or(disable_reason::failing)};
}

[[nodiscard]] inline auto to_hook(const account_ref& account) {
    return [account](hook_id id, std::string& event, hook_source source, std::string& type, std::string& target_url, instant created_at,
                     std::optional<instant> disabled_at, std::optional<disable_reason> reason, std::optional<instant> failing_since,
                     const std::optional<digest>& secret_digest) {
        hook read{id, account, std::move(event), source, std::move(type), std::move(target_url), created_at};
        read.disabled = to_disablement(disabled_at, reason);
        read.failing_since = failing_since;
        read.secret_digest = secret_digest.value_or(digest{});
        return read;
    };
}

/// The message id of a delivery, from what the database stores: the id, or the seed that its event's deliveries share.
[[nodiscard]] inline public_id to_message_id(const public_id& stored, hook_id) { return stored; }
[[nodiscard]] inline public_id to_message_id(const message_seed& seed, hook_id to) { return message_id_of(seed, to); }

/// `MessageId`: what the database stores.
template <class MessageId>
[[nodiscard]] auto to_delivery(hook_id of) {
    return [of](delivery_id id, std::string& event, MessageId& message, instant created_at, delivery_state state,
                std::int64_t attempts_made, std::optional<instant> next_attempt_at) {
        return listed_delivery{{.id = id,
                                .hook = of,
                                .event = std::move(event),
                                .message_id = to_message_id(message, of),
                                .created_at = created_at,
                                .state = state,
                                .attempts_made = static_cast<unsigned>(attempts_made),
                                .next_attempt_at = next_attempt_at}};
    };
}

[[nodiscard]] inline attempt to_attempt(instant at, milliseconds duration, attempt_end end, std::int64_t status, raw_bytes& response,
                                        raw_bytes& request, attempt_cause cause) {
    return {.at = at,
            .duration = duration,
            .end = end,
            .status = static_cast<unsigned>(status),
            .response = std::move(response.value),
            .request = std::move(request.value),
            .cause = cause};
}

[[nodiscard]] inline delivery_backlog to_backlog(std::int64_t due, std::optional<instant> since) {
    return {static_cast<std::size_t>(due), since};
}

[[nodiscard]] inline stored_session to_session(const digest& cookie, user_id user, std::string& login, instant created_at,
                                               instant last_seen_at, std::string& signed_in_from, std::string& user_agent) {
    return {cookie, user, std::move(login), created_at, last_seen_at, std::move(signed_in_from), std::move(user_agent)};
}

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_ROWS_HPP
