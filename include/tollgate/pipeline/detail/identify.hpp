#pragma once

#include <tollgate/base/detail/text.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/refused.hpp>
#include <tollgate/policy/detail/policy_set.hpp>

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace tollgate::inline v0::pipeline {

/// `auth-scheme 1*SP credentials` (RFC 9110 section 11.4), cut in two.
struct authorization {
    std::string_view scheme;
    std::string_view credentials;
};

[[nodiscard]] constexpr authorization split_authorization(std::string_view value) noexcept {
    const auto end = value.find(' ');
    if (end == std::string_view::npos) return {value, {}};
    auto credentials = value.substr(end);
    while (!credentials.empty() && credentials.front() == ' ') credentials.remove_prefix(1);
    return {value.substr(0, end), credentials};
}

/// Finds out who is calling. A request whose agent was not accepted is nobody's: it is counted against the address.
template <class Authenticators, class Store, user_directory Users>
void identify(const Authenticators& authenticators, Store& store, Users& users, const http::request& asked, judgement& found) {
    const auto lines = asked.fields.count(http::field_id::authorization);
    if (lines == 0 || !found.agent_accepted) return;
    if (lines > 1) {
        found.standing = standing::ambiguous;
        return;
    }

    const auto sent = split_authorization(asked.fields.find(http::field_id::authorization));
    found.standing = standing::bad_credentials;
    const auto try_one = [&](const auto& held) {
        const auto& authenticator = policy(held);
        if (!ascii_iequals(sent.scheme, authenticator.scheme)) return false;
        auto who = authenticator.identify(sent.credentials, store, found.now);
        if (!who) {
            found.standing = standing::undecided;
            found.failure = std::move(who).error();
        } else if (*who) {
            found.standing = standing::known;
            found.who = **who;
        }
        return true;
    };
    std::apply([&](const auto&... each) { static_cast<void>((try_one(each) || ...)); }, authenticators);
    if (found.standing != standing::known) return;

    if (found.who->user_quota.is_told) {
        found.own_quota = found.who->user_quota.own;
        return;
    }
    // A user who is gone takes their credentials along; any other failure is ours, not the caller's.
    auto own = users.quota_of(found.who->user);
    if (own) {
        found.own_quota = *own;
    } else if (own.error().kind == error_kind::not_found) {
        found.standing = standing::bad_credentials;
        found.who.reset();
    } else {
        found.standing = standing::undecided;
        found.who.reset();
        found.failure = std::move(own).error();
    }
}

/// 400 for two Authorization fields: which of them counts is not ours to choose.
[[nodiscard]] inline std::optional<refused> require_one_authorization(const judgement& found) noexcept {
    if (found.standing != standing::ambiguous) return std::nullopt;
    return refused{http::status::bad_request, "Send one Authorization header only.", about_authentication};
}

}  // namespace tollgate::pipeline
