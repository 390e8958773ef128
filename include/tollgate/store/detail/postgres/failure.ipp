#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_FAILURE_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_FAILURE_IPP

#include <tollgate/store/detail/postgres/failure.hpp>
#include <tollgate/store/detail/postgres/libpq.hpp>
#include <tollgate/store/detail/sql/statement_text.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0::postgres {

namespace detail {

/// The server is a standby now, or is read-only: new connections go to one that accepts writes.
inline constexpr const char* read_only = "25006";

/// The first two characters of a SQLSTATE (PostgreSQL's appendix A) are its class.
inline error problem_of(std::string_view state, std::string cause) {
    const auto of_class = state.substr(0, 2);
    // Connection, resources, operator intervention (timeout, shutdown), system error; transaction rollback.
    for (const std::string_view passing : {"08", "53", "57", "58", "40"})
        if (of_class == passing) return unavailable(std::move(cause));
    // This includes a missing privilege, which an operator grants.
    for (const std::string_view passing : {"55P03", "25P03", "55006", "42501", read_only})
        if (state == passing) return unavailable(std::move(cause));
    // the referenced row is missing
    if (state == "23503") return {error_kind::not_found, not_found().message, std::move(cause)};
    if (of_class == "23") return {error_kind::conflict, "This already exists or is in use.", std::move(cause)};
    if (state == "22021" || state == "22P05")
        return {error_kind::invalid, "The text contains characters that cannot be stored.", std::move(cause)};
    return internal_error(std::move(cause));
}

/// libpq's messages contain line breaks.
inline std::string in_one_line(std::string_view message) {
    std::string line;
    for (const char each : message) {
        if (each != '\n' && each != '\t') line += each;
        else if (!line.empty() && line.back() != ' ') line += ' ';
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

/// The result is empty if the error has no such field.
inline std::string_view field_of(const pg_result* result, int code) noexcept {
    const char* const text = PQresultErrorField(result, code);
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

inline stale_statements stale_statements_of(const pg_result* result, std::string_view state) noexcept {
    if (state == "26000") return stale_statements::all;  // a proxy has discarded them
    // Its result would have other columns, because a table was changed. Other unsupported features have the same state.
    if (state == "0A000" && field_of(result, PG_DIAG_SOURCE_FUNCTION) == "RevalidateCachedQuery") return stale_statements::this_one;
    return stale_statements::none;
}

}  // namespace detail

TOLLGATE_DECL run_failure failure(const pg_result* result, std::string_view doing) {
    const char* const message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const std::string_view state = detail::field_of(result, PG_DIAG_SQLSTATE);
    std::string cause = "PostgreSQL: ";
    cause += detail::in_one_line(message != nullptr ? message : PQresultErrorMessage(result));
    if (!state.empty()) (cause += " (SQLSTATE ") += std::string{state} + ")";
    cause += ": " + tollgate::sql::to_log_line(doing);
    // Without a SQLSTATE, libpq failed, and the connection is lost.
    if (state.empty()) return {unavailable(std::move(cause)), failure_kind::lost};
    if (state == detail::read_only)
        return {.error = detail::problem_of(state, std::move(cause)), .kind = failure_kind::lost, .is_refused = true};
    const auto stale = detail::stale_statements_of(result, state);
    const bool may_be_tried_again = state == "40001" || state == "40P01" || stale != stale_statements::none;
    return {.error = detail::problem_of(state, std::move(cause)),
            .kind = may_be_tried_again ? failure_kind::try_again : failure_kind::refused,
            .stale = stale};
}

namespace detail {

/// A message of libpq or of the server while it connects, without what it quotes of the connection string, apart from hosts, ports and the
/// database: whatever is written in the wrong place of the string may be a part of a password.
inline std::string without_options(std::string message, pg_conn* connection) {
    struct freer {
        void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
    };
    const std::unique_ptr<PQconninfoOption, freer> options{PQconninfo(connection)};
    const auto is_shown = [](std::string_view keyword) {
        return keyword == "host" || keyword == "hostaddr" || keyword == "port" || keyword == "dbname";
    };
    std::vector<std::string_view> shown, hidden;
    for (const PQconninfoOption* each = options.get(); each != nullptr && each->keyword != nullptr; ++each)
        if (each->val != nullptr && *each->val != '\0') (is_shown(each->keyword) ? shown : hidden).emplace_back(each->val);
    constexpr std::string_view hint = "\"...\"";
    // Without a database of its own, the connection is to that of the user's name, which is not shown.
    if (const char* const user = PQuser(connection)) std::erase(shown, std::string_view{user});
    for (const std::string_view value : hidden) {
        if (std::find(shown.begin(), shown.end(), value) != shown.end()) continue;
        const std::string quoted = std::string{"\""}.append(value).append("\"");
        for (std::size_t at = 0; (at = message.find(quoted, at)) != std::string::npos; at += hint.size())
            message.replace(at, quoted.size(), hint);
    }
    return message;
}

}  // namespace detail

TOLLGATE_DECL run_failure connection_failure(pg_conn* connection, std::string_view doing) {
    std::string cause = "PostgreSQL: " + detail::in_one_line(detail::without_options(PQerrorMessage(connection), connection));
    if (!doing.empty()) cause += ": " + tollgate::sql::to_log_line(doing);
    return {unavailable(std::move(cause)), failure_kind::lost};
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_FAILURE_IPP
