#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_STORED_CREDENTIAL_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_STORED_CREDENTIAL_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/scope.hpp>

#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0::memory {

/// A credential that takes only as much memory as its text needs. A `token_credential` reserves space for the longest scopes; with a
/// hundred thousand of those, a lookup would mostly wait for memory.
struct stored_credential {
    user_id user;
    digest secret_digest;
    std::optional<instant> expires_at;
    std::optional<instant> last_used_at;
    std::string scopes;
    std::optional<application_id> application;
    std::optional<token_id> token;
    resource_set resources = {};

    /// Returns the result of a lookup, constructed in place.
    [[nodiscard]] result<std::optional<token_credential>> get() const noexcept {
        return result<std::optional<token_credential>>{
            std::in_place, std::in_place, user, secret_digest, scope_set::from_text(scopes), expires_at, application, last_used_at,
            std::nullopt,  token,          resources};
    }
};

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_STORED_CREDENTIAL_HPP
