#pragma once
#ifndef TOLLGATE_MODEL_CALLER_HPP
#define TOLLGATE_MODEL_CALLER_HPP

#include <tollgate/base/ids.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/model/scope.hpp>

#include <cstdint>
#include <optional>

namespace tollgate::inline v0 {

/// The kind of credential by which a caller was authenticated.
enum class credential_kind : std::uint8_t {
    personal_token,  ///< a user's personal token, over Basic
    access_token,  ///< an application's access token, over Bearer
    other,  ///< a credential of an integrator's authenticator
};

/// An authenticated caller.
struct caller {
    user_id user;
    scope_set scopes;
    credential_kind credential = credential_kind::other;
    std::optional<application_id> application;  ///< the application that acts for the user, with an access token
    std::optional<known_user> known{};  ///< the user's data that the store read with the credential
    std::optional<token_id> token{};  ///< the personal token, if the store returned its id
    resource_set resources{};  ///< the resources that the access token is for; empty: all
};

/// Returns the caller for a user who is signed in on a page: without scopes and token.
[[nodiscard]] inline caller caller_on_page(user_id user) { return {user, {}, credential_kind::other, {}}; }

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_CALLER_HPP
