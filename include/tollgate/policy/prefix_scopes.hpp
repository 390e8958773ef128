#pragma once

#include <tollgate/contract/scope_checker.hpp>

namespace tollgate {

/// A scope covers itself and everything that it is the part before a colon of: `sitesmaker` covers `sitesmaker:read`,
/// never the other way round, and never a scope of another service.
struct prefix_scopes {
    [[nodiscard]] constexpr bool covers(const scope_set& granted, std::string_view required) const noexcept {
        return !granted.for_each([required](std::string_view held) {
            return !(required.starts_with(held) && (required.size() == held.size() || required[held.size()] == ':'));
        });
    }
};

static_assert(scope_checker<prefix_scopes>);

}  // namespace tollgate
