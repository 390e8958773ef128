#pragma once

#include <tollgate/base/ascii.hpp>
#include <tollgate/contract/agent_rule.hpp>

namespace tollgate {

/// Any User-Agent that is not blank.
struct require_agent {
    [[nodiscard]] constexpr bool accepts(std::string_view user_agent) const noexcept { return !trim_ows(user_agent).empty(); }
};

static_assert(agent_rule<require_agent>);

}  // namespace tollgate
