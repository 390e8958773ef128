#pragma once

#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>

#include <optional>
#include <string>

namespace tollgate::inline v0 {

/// The public identifier of an OAuth client (RFC 6749 section 2.2).
using client_id_text = inline_text<limits::client_id_bytes_max>;

/// An OAuth 2.0 client.
struct application {
    application_id id;
    user_id owner;
    client_id_text client_id;
    digest secret_digest;  ///< SHA-256 of the client secret
    std::string name;
    std::string website;
    std::string description;  ///< may be empty
    std::optional<std::string> redirect_url;  ///< compared byte for byte
    instant created_at;
};

/// An application to be stored.
struct new_application {
    user_id owner;
    client_id_text client_id;  ///< unique; a duplicate is a conflict
    digest secret_digest;
    std::string name;
    std::string website;
    std::string description;
    std::optional<std::string> redirect_url;
    instant created_at;
};

}  // namespace tollgate
