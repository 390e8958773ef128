#pragma once

#include <tollgate/contract/agent_rule.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/refused.hpp>

#include <optional>

namespace tollgate::inline v0::pipeline {

/// Whether the request says what program sends it.
template <agent_rule Rule>
void look_at_agent(const Rule& rule, const http::request& asked, judgement& found) noexcept {
    found.agent_accepted = asked.fields.count(http::field_id::user_agent) <= 1 &&
                           rule.accepts(asked.fields.find(http::field_id::user_agent));
}

/// 403 for a request that does not. It is judged behind the rate limit, because it counts against the client's address.
[[nodiscard]] inline std::optional<refused> require_agent_of(const judgement& found) noexcept {
    if (found.agent_accepted) return std::nullopt;
    return no_agent;
}

}  // namespace tollgate::pipeline
