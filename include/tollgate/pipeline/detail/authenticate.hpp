#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_HPP
#define TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/policy/token_authenticators.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
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
    std::optional<tollgate::caller> caller;  ///< the user; empty for an application
    std::optional<error> failure;            ///< set exactly if failed

    void fail(error reason) noexcept {
        state = auth_state::failed;
        caller.reset();
        failure = std::move(reason);
    }
};

/// The number of lines of the authenticator's own field, if it has one.
[[nodiscard]] inline std::size_t own_lines(const authenticator_ref& authenticator, const http::request& request) noexcept {
    std::size_t line_count = 0;
    if (authenticator.field().empty()) [[likely]] return line_count;
    for (const http::field& line : request.fields) line_count += detail::ascii_iequals(line.name, authenticator.field()) ? 1U : 0U;
    return line_count;
}

/// Lets browsers send the authenticators' own fields from other origins, in the response to a preflight that allows a request.
TOLLGATE_COLD void allow_own_fields(http::response& response, std::span<const authenticator_ref> authenticators);

/// What the request has for this authenticator: the value of its own field, or what follows its scheme in Authorization.
[[nodiscard]] inline std::optional<std::string_view> credentials_for(const authenticator_ref& authenticator,
                                                                     const http::request& request) noexcept {
    if (authenticator.field().empty())
        return http::detail::credentials_of(request.fields.find(http::field_id::authorization), authenticator.scheme());
    if (own_lines(authenticator, request) == 0) return std::nullopt;
    return request.fields.find(authenticator.field());
}

/// Reads the field with the credentials. Malformed credentials are detected without a store.
TOLLGATE_DECL void read_authorization(std::span<const authenticator_ref> authenticators, const http::request& request,
                                      authentication& auth);

/// Looks the credentials up that `read_authorization` has found.
[[nodiscard]] TOLLGATE_DECL bool find_credential(std::span<const authenticator_ref> authenticators, const credential_source_ref& store,
                                                 const http::request& request, http::thread_kind thread, instant now,
                                                 authentication& auth);

/// Records the use of a token, if that is due.
[[nodiscard]] inline bool record_token_use(const credential_source_ref& store, http::thread_kind thread, instant now,
                                           const ip_address& client, authentication& auth) noexcept {
    if (!auth.use_is_due) [[likely]] return true;
    if (store.may_block() && thread == http::thread_kind::io) return false;
    auth.use_is_due = false;
    detail::record_use(store, auth.token, now, &client);
    return true;
}

/// Finds the caller's own quota, unless it came with the credential. If the user no longer exists, the credentials are invalid; any other
/// failure is the directory's, not the caller's.
[[nodiscard]] TOLLGATE_DECL bool find_quota(const user_directory_ref& users, http::thread_kind thread, authentication& auth,
                                            std::optional<quota>& own);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/authenticate.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_DETAIL_AUTHENTICATE_HPP
