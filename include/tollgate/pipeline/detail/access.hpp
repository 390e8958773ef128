#pragma once

#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/refused.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0::pipeline {

/// The scope that a route asks for; empty when it asks for none.
[[nodiscard]] inline std::string_view required_scope(const access_rule& rule, const judgement& found) noexcept {
    switch (rule.who) {
        case access_rule::kind::open:
        case access_rule::kind::any_caller: break;
        case access_rule::kind::scope: return rule.scope;
        case access_rule::kind::service_read: return found.of_service->read_scope;
        case access_rule::kind::service_write: return found.of_service->write_scope;
    }
    return {};
}

/// 401 for credentials that let nobody in, on an open route too: a program with a dead token learns it at once. 401 where
/// some are needed and there are none, 403 where they do not reach.
template <scope_checker Checker>
[[nodiscard]] std::optional<refused> check_access(const Checker& checker, const access_rule& rule, const judgement& found) {
    if (found.standing == standing::bad_credentials)
        return refused{http::status::unauthorized, "Bad credentials.", about_authentication};
    if (rule.who == access_rule::kind::open) return std::nullopt;
    if (found.standing != standing::known)
        return refused{http::status::unauthorized, "This needs credentials: a personal API token or an OAuth access token.",
                       about_authentication};
    const auto scope = required_scope(rule, found);
    if (scope.empty() || checker.covers(found.who->scopes, scope)) return std::nullopt;
    return refused{http::status::forbidden, "The token's scopes do not cover this; see the WWW-Authenticate header.", about_scopes};
}

}  // namespace tollgate::pipeline
