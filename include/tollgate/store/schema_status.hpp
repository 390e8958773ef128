#pragma once
#ifndef TOLLGATE_STORE_SCHEMA_STATUS_HPP
#define TOLLGATE_STORE_SCHEMA_STATUS_HPP

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The version of the tables of a component, which is the number of completed steps.
struct schema_status {
    std::int64_t version = 0;  ///< the present version; 0 if there are no tables yet
    /// The version that this release needs. It is smaller than `version` if a later release has changed the tables.
    std::int64_t newest = 0;
    std::size_t pending_statements = 0;  ///< SQL statements of the steps from `version` to `newest`
    bool is_usable = true;  ///< true if this release can use the tables, if necessary after the pending steps
    std::string missing{};  ///< a table or index that does not exist although `version` is `newest`; otherwise empty
};

namespace sql {

/// Returns the number of statements of a script, which end with semicolons outside of quotes, comments and dollar quotes. SQLite triggers,
/// which contain semicolons, count as more than one statement.
[[nodiscard]] constexpr std::size_t count_statements(std::string_view script) noexcept {
    std::size_t count = 0;
    bool is_empty = true;
    const auto skip_past = [&script](std::string_view end) {
        const auto at = script.find(end);
        script.remove_prefix(at == std::string_view::npos ? script.size() : at + end.size());
    };
    while (!script.empty()) {
        const char c = script.front();
        if (script.starts_with("--")) {
            skip_past("\n");
            continue;
        }
        std::string_view quote = script.substr(0, 1);
        if (c == '$')
            if (const auto end = script.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", 1);
                end != std::string_view::npos && script[end] == '$')
                quote = script.substr(0, end + 1);
        script.remove_prefix(quote.size());
        if (c == ';') {
            if (!is_empty) ++count;
            is_empty = true;
            continue;
        }
        if (c == '\'' || c == '"' || quote.size() > 1) skip_past(quote);
        if (c != ' ' && c != '\n') is_empty = false;
    }
    return is_empty ? count : count + 1;
}

/// Returns the status of tables at `version`, which releases from version `works_with` on can use. `script_of` returns the script of a
/// step.
template <class Steps, class ScriptOf>
[[nodiscard]] constexpr schema_status status_at(std::int64_t version, std::int64_t works_with, const Steps& steps, ScriptOf&& script_of) {
    schema_status status{.version = version, .newest = static_cast<std::int64_t>(steps.size())};
    status.is_usable = works_with <= status.newest;
    for (auto i = static_cast<std::size_t>(version); i < steps.size(); ++i)
        status.pending_statements += count_statements(script_of(steps[i]));
    return status;
}

}  // namespace sql

}  // namespace tollgate

#endif  // TOLLGATE_STORE_SCHEMA_STATUS_HPP
