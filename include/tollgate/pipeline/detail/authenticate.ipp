#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_IPP
#define TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_IPP

#include <tollgate/pipeline/detail/authenticate.hpp>

#include <utility>

namespace tollgate::inline v0::pipeline {

TOLLGATE_COLD void allow_own_fields(http::response& response, std::span<const authenticator_ref> authenticators) {
    if (response.find("Access-Control-Allow-Headers").empty()) return;
    for (const authenticator_ref& each : authenticators)
        if (!each.field().empty())
            if (const auto name = http::field_value::from(each.field())) response.add("Access-Control-Allow-Headers", *name);
}

TOLLGATE_DECL void read_authorization(std::span<const authenticator_ref> authenticators, const http::request& request,
                                      authentication& auth) {
    std::size_t line_count = request.fields.count(http::field_id::authorization);
    for (const authenticator_ref& each : authenticators) line_count += own_lines(each, request);
    if (line_count == 0) return;
    if (line_count > 1) {
        auth.state = auth_state::ambiguous;
        return;
    }
    auth.state = auth_state::bad_credentials;
    for (std::size_t i = 0; i < authenticators.size(); ++i) {
        const auto credentials = credentials_for(authenticators[i], request);
        if (!credentials) continue;
        auth.authenticator = static_cast<std::uint8_t>(i);
        if (!authenticators[i].reads_tokens() || authenticators[i].read(*credentials, auth.token)) auth.state = auth_state::unchecked;
        return;
    }
}

/// Takes what a store holds under the presented token; null if there is none.
inline void take_credential(const authenticator_ref& authenticator, const credential_source_ref& store, const token_credential* stored,
                            instant now, authentication& auth) noexcept {
    auth.state = auth_state::bad_credentials;
    if (stored == nullptr || !detail::accepts(*stored, auth.token, now)) return;
    auth.state = auth_state::authenticated;
    detail::make_caller(auth.caller, *stored, auth.token.kind);
    auth.use_is_due = store.records_uses() && authenticator.use_is_due(stored->last_used_at, now);
}

/// Looks the token up: in the cache of a blocking store if the thread must not wait, else in the store.
[[nodiscard]] inline bool find_token_credential(const authenticator_ref& authenticator, const credential_source_ref& store,
                                                http::thread_kind thread, instant now, authentication& auth) {
    if (store.may_block() && thread == http::thread_kind::io) {
        const auto cached = store.cached_credential(detail::key_of(auth.token));
        if (cached.is_unknown()) return false;
        take_credential(authenticator, store, cached.is_hit() ? &*cached : nullptr, now, auth);
        return true;
    }
    auto found = store.find_credential(detail::key_of(auth.token));
    if (!found) auth.fail(std::move(found).error());
    else take_credential(authenticator, store, *found ? &**found : nullptr, now, auth);
    return true;
}

TOLLGATE_DECL bool find_credential(std::span<const authenticator_ref> authenticators, const credential_source_ref& store,
                                   const http::request& request, http::thread_kind thread, instant now, authentication& auth) {
    if (auth.state != auth_state::unchecked) return true;
    const authenticator_ref& authenticator = authenticators[auth.authenticator];
    if (authenticator.reads_tokens()) return find_token_credential(authenticator, store, thread, now, auth);
    if ((store.may_block() || authenticator.may_block()) && thread == http::thread_kind::io) return false;
    auto caller = authenticator.identify(credentials_for(authenticator, request).value_or(std::string_view{}), store, now);
    if (!caller) {
        auth.fail(std::move(caller).error());
        return true;
    }
    auth.state = *caller ? auth_state::authenticated : auth_state::bad_credentials;
    if (*caller) auth.caller.emplace(**caller);
    return true;
}

TOLLGATE_DECL bool find_quota(const user_directory_ref& users, http::thread_kind thread, authentication& auth, std::optional<quota>& own) {
    if (auth.state != auth_state::authenticated) return true;
    if (auth.caller->known) {
        own = auth.caller->known->own_quota;
        return true;
    }
    if (!users.has_quotas()) return true;
    if (users.may_block() && thread == http::thread_kind::io) return false;
    auto found = users.quota_of(auth.caller->user);
    if (found) {
        own = *found;
    } else if (found.error().kind == error_kind::not_found) {
        auth.state = auth_state::bad_credentials;
        auth.caller.reset();
    } else {
        auth.fail(std::move(found).error());
    }
    return true;
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_IPP
