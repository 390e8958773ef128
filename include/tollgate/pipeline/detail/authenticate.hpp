#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_HPP
#define TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_HPP

#include <tollgate/base/detail/lookup.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/policy/token_authenticators.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

/// Who is calling. A stage returns false if it has to wait and must not: it is then called again on a worker, and continues with what
/// `authentication` holds.
namespace tollgate::inline v0::pipeline {

enum class auth_state : std::uint8_t {
    anonymous,        ///< no credentials
    unchecked,        ///< credentials that have yet to be looked up
    authenticated,    ///< valid credentials: there is a caller
    bad_credentials,  ///< malformed, unknown, expired or revoked
    ambiguous,        ///< more than one Authorization field
    failed,           ///< a store or directory failed
};

/// What is known of the caller so far.
struct authentication {
    auth_state state = auth_state::anonymous;
    bool use_is_due = false;               ///< the use of the token has yet to be recorded
    std::uint8_t authenticator = 0;        ///< unchecked: which one of the API's knows the scheme
    presented_token token;                 ///< set if that one is a token authenticator
    std::optional<tollgate::caller> caller;  ///< set exactly if authenticated
    std::optional<error> failure;            ///< set exactly if failed

    void fail(error reason) noexcept {
        state = auth_state::failed;
        caller.reset();
        failure = std::move(reason);
    }
};

/// Calls `use` with the API's authenticator of this number.
template <class Authenticators, class Use>
void with_authenticator(const Authenticators& authenticators, std::size_t number, Use&& use) {
    std::apply(
        [&](const auto&... each) {
            std::size_t next = 0;
            static_cast<void>(((next++ == number && (use(policy(each)), true)) || ...));
        },
        authenticators);
}

/// Whether an authenticator reads a field of its own instead of Authorization.
template <class Authenticator>
inline constexpr bool has_own_field = requires { { Authenticator::field } -> std::convertible_to<std::string_view>; };

/// Whether each field belongs to one authenticator, so that credentials in it are found once.
template <class... Authenticators>
[[nodiscard]] consteval bool have_distinct_fields() {
    const auto field_of = []<class A>(std::type_identity<A>) -> std::string_view {
        if constexpr (has_own_field<A>) return A::field;
        else return {};
    };
    const std::array<std::string_view, sizeof...(Authenticators)> fields{field_of(std::type_identity<Authenticators>{})...};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (ascii_iequals(fields[i], "Authorization")) return false;
        for (std::size_t j = 0; j < i; ++j)
            if (!fields[i].empty() && ascii_iequals(fields[i], fields[j])) return false;
    }
    return true;
}

/// The number of lines of the authenticator's own field, if it has one.
template <class Authenticator>
[[nodiscard]] std::size_t own_lines(const http::request& request) noexcept {
    std::size_t line_count = 0;
    if constexpr (has_own_field<Authenticator>)
        for (const http::field& line : request.fields) line_count += ascii_iequals(line.name, Authenticator::field) ? 1U : 0U;
    return line_count;
}

/// Lets browsers send the authenticators' own fields from other origins, in the response to a preflight that allows a request.
template <class... Authenticators>
void allow_own_fields(http::response& response, const std::tuple<Authenticators...>&) {
    const auto add = [&response]<class A>(std::type_identity<A>) {
        if constexpr (has_own_field<A>)
            if (const auto name = http::field_value::from(std::string_view{A::field})) response.add("Access-Control-Allow-Headers", *name);
    };
    if (!response.find("Access-Control-Allow-Headers").empty()) (add(std::type_identity<policy_type<Authenticators>>{}), ...);
}

/// What the request has for this authenticator: the value of its own field, or what follows its scheme in Authorization.
template <class Authenticator>
[[nodiscard]] std::optional<std::string_view> credentials_for(const Authenticator& authenticator, const http::request& request) noexcept {
    if constexpr (has_own_field<Authenticator>) {
        if (own_lines<Authenticator>(request) == 0) return std::nullopt;
        return request.fields.find(std::string_view{Authenticator::field});
    } else {
        return http::detail::credentials_of(request.fields.find(http::field_id::authorization), authenticator.scheme);
    }
}

/// Reads the field with the credentials: malformed ones are known as such without a store.
template <class Authenticators>
void read_authorization(const Authenticators& authenticators, const http::request& request, authentication& auth) {
    const auto line_count = std::apply(
        [&](const auto&... each) {
            const std::size_t standard = request.fields.count(http::field_id::authorization);
            return (standard + ... + own_lines<std::remove_cvref_t<decltype(policy(each))>>(request));
        },
        authenticators);
    if (line_count == 0) return;
    if (line_count > 1) {
        auth.state = auth_state::ambiguous;
        return;
    }
    auth.state = auth_state::bad_credentials;
    std::uint8_t next = 0;
    const auto try_one = [&](const auto& held) {
        const auto& authenticator = policy(held);
        const auto number = next++;
        const auto credentials = credentials_for(authenticator, request);
        if (!credentials) return false;
        auth.authenticator = number;
        if constexpr (token_authenticator<std::remove_cvref_t<decltype(authenticator)>>) {
            if (!authenticator.read(*credentials, auth.token)) return true;
        }
        auth.state = auth_state::unchecked;
        return true;
    };
    std::apply([&](const auto&... each) { static_cast<void>((try_one(each) || ...)); }, authenticators);
}

/// Takes what a store holds under the presented token; null if there is none.
template <class Authenticator, class Store>
void take_credential(const Authenticator& authenticator, const token_credential* stored, instant now, authentication& auth) noexcept {
    auth.state = auth_state::bad_credentials;
    if (stored == nullptr || !detail::accepts(*stored, auth.token, now)) return;
    auth.state = auth_state::authenticated;
    detail::make_caller(auth.caller, *stored, auth.token.kind);
    if constexpr (use_recorder<Store>) auth.use_is_due = authenticator.use_is_due(stored->last_used_at, now);
}

/// Looks the token up: in the cache of a blocking store if the thread must not wait, else in the store.
template <class Authenticator, class Store>
[[nodiscard]] bool find_token_credential(const Authenticator& authenticator, Store& store, http::thread_kind thread, instant now,
                                         authentication& auth) {
    if (http::handler_blocks<Store>() && thread == http::thread_kind::io) {
        if constexpr (credential_cache<Store>) {
            const auto cached = auth.token.kind == credential_kind::personal_token
                                    ? store.cached_personal_token(auth.token.username.view())
                                    : store.cached_access_token(auth.token.secret_digest);
            if (cached.is_unknown()) return false;
            take_credential<Authenticator, Store>(authenticator, cached.is_hit() ? &*cached : nullptr, now, auth);
            return true;
        }
        return false;
    }
    auto found = detail::find_token(store, auth.token);
    if (!found) auth.fail(std::move(found).error());
    else take_credential<Authenticator, Store>(authenticator, *found ? &**found : nullptr, now, auth);
    return true;
}

/// Looks the credentials up that `read_authorization` has found.
template <class Authenticators, class Store>
[[nodiscard]] bool find_credential(const Authenticators& authenticators, Store& store, const http::request& request,
                                   http::thread_kind thread, instant now, authentication& auth) {
    if (auth.state != auth_state::unchecked) return true;
    bool done = false;
    with_authenticator(authenticators, auth.authenticator, [&](const auto& authenticator) {
        using type = std::remove_cvref_t<decltype(authenticator)>;
        if constexpr (token_authenticator<type>) {
            done = find_token_credential(authenticator, store, thread, now, auth);
        } else {
            constexpr bool blocks = http::handler_blocks<Store>() || http::handler_blocks<type>();
            if (blocks && thread == http::thread_kind::io) return;
            const auto credentials = credentials_for(authenticator, request).value_or(std::string_view{});
            done = true;
            auto caller = authenticator.identify(credentials, store, now);
            if (!caller) return auth.fail(std::move(caller).error());
            auth.state = *caller ? auth_state::authenticated : auth_state::bad_credentials;
            if (*caller) auth.caller.emplace(**caller);
        }
    });
    return done;
}

/// Records the use of a token, if that is due.
template <class Store>
[[nodiscard]] bool record_token_use(Store& store, http::thread_kind thread, instant now, const ip_address& client,
                                    authentication& auth) noexcept {
    if (!auth.use_is_due) [[likely]] return true;
    if (http::handler_blocks<Store>() && thread == http::thread_kind::io) return false;
    auth.use_is_due = false;
    detail::record_use(store, auth.token, now, &client);
    return true;
}

/// Finds the caller's own quota, unless it came with the credential. If the user no longer exists, the credentials are invalid; any other
/// failure is the directory's, not the caller's.
template <user_directory Users>
[[nodiscard]] bool find_quota(Users& users, http::thread_kind thread, authentication& auth, std::optional<quota>& own) {
    if (auth.state != auth_state::authenticated) return true;
    if (auth.caller->known) {
        own = auth.caller->known->own_quota;
        return true;
    }
    const auto user_is_gone = [&] {
        auth.state = auth_state::bad_credentials;
        auth.caller.reset();
    };
    if (http::handler_blocks<Users>() && thread == http::thread_kind::io) {
        const auto cached = tollgate::cached_quota_of(users, auth.caller->user);
        if (cached.is_unknown()) return false;
        if (cached.is_hit()) own = *cached;
        else user_is_gone();
        return true;
    }
    auto found = users.quota_of(auth.caller->user);
    if (found) own = *found;
    else if (found.error().kind == error_kind::not_found) user_is_gone();
    else auth.fail(std::move(found).error());
    return true;
}

/// What `WWW-Authenticate` says of one authenticator.
struct challenge {
    std::string_view text;
    bool is_bearer;  ///< so it has error codes (RFC 6750 section 3)
};

/// Those of all authenticators, in their order.
template <class... Authenticators>
[[nodiscard]] std::array<challenge, sizeof...(Authenticators)> challenges_of(const std::tuple<Authenticators...>& authenticators) noexcept {
    const auto of_one = [](const auto& authenticator) -> challenge {
        return {authenticator.challenge, ascii_iequals(authenticator.scheme, "Bearer")};
    };
    return std::apply([&](const auto&... each) { return std::array<challenge, sizeof...(Authenticators)>{of_one(policy(each))...}; },
                      authenticators);
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_HPP
