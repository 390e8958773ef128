#pragma once

#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/scope.hpp>

#include <optional>
#include <string>

namespace tollgate::inline v0 {

using token_username = inline_text<limits::token_username_bytes_max>;

/// What a personal token is shown as in its owner's settings. Its secret is known to nobody but whoever was shown it.
struct personal_token {
    token_id id;
    user_id user;
    token_username username;
    std::string description;
    scope_set scopes;
    instant created_at;
    std::optional<instant> last_used_at;  ///< recorded at a bounded rate, so it may lag
};

struct new_personal_token {
    user_id user;
    token_username username;  ///< unique; a second one of the same name is a conflict
    digest secret_digest;     ///< SHA-256 of the secret
    std::string description;  ///< at most limits::token_description_bytes_max
    scope_set scopes;
    instant created_at;
};

/// An access token that an application got for a user (RFC 6749 section 1.4).
struct new_access_token {
    user_id user;
    application_id application;
    digest token_digest;  ///< SHA-256 of the token; unique
    scope_set scopes;
    instant created_at;
    instant expires_at;
};

/// What the pipeline needs to let a caller in, and nothing more: read on every request, so it holds no heap memory.
struct token_credential {
    user_id user;
    digest secret_digest;
    scope_set scopes;
    std::optional<instant> expires_at;  ///< no longer valid from this moment on; none: until it is revoked
    std::optional<application_id> application;
    std::optional<instant> last_used_at{};  ///< as recorded; always none where a store records no use
    quota_told owner_quota{};  ///< told by a store that lives beside the directory, and saves it a question
};

}  // namespace tollgate
