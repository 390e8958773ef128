#pragma once
#ifndef TOLLGATE_ACCOUNT_REGISTER_APPLICATION_HPP
#define TOLLGATE_ACCOUNT_REGISTER_APPLICATION_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/sources.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// The properties of an application to register. `limits` bounds the bytes of each field.
struct application_request {
    user_id owner;
    std::string name;                              ///< the name on the consent page: a visible line, not empty
    std::string website;                           ///< an absolute http or https URL without user information
    std::string description = {};                  ///< may be empty; a visible line
    /// At most `limits::redirect_urls_max` URLs. Each is like `website`, and has neither a fragment (RFC 6749 section 3.1.2) nor a query
    /// parameter that a response adds, such as `code` (section 3.1). A public client may also have URLs with a private-use scheme (RFC 8252
    /// section 7.1): `com.example.app:/back`.
    std::vector<std::string> redirect_urls = {};
    client_type type = client_type::confidential;
};

/// The reason why a field of a form was refused.
enum class field_error : std::uint8_t {
    malformed,
    too_many,   ///< more redirect URLs than `limits::redirect_urls_max`
    insecure,   ///< http to a host that is not a loopback address
    not_ascii,  ///< an international domain name that is not in its ASCII form, or other characters beyond ASCII
    reserved_parameter,  ///< a redirect URL with a query parameter that a response adds
};

/// An error in a field.
struct field_fault {
    std::string_view field;  ///< `name`, `website`, `description` or `redirect_url`
    std::string message;     ///< a sentence that begins with the field's name
    field_error kind = field_error::malformed;
    std::size_t index = 0;  ///< index of the redirect URL, if there are several
};

namespace detail {

/// Returns a URL as URL libraries write it: scheme and host in lower case, without a default port, `/` for an empty path. Other text, and a
/// URL with user information, is returned unchanged.
[[nodiscard]] TOLLGATE_DECL std::string normalized_url(std::string_view text);

/// Normalizes a redirect URL, which may have a private-use scheme, like `normalized_url`. Applications send either the registered spelling
/// or the spelling of a URL library.
[[nodiscard]] TOLLGATE_DECL std::string normalized_redirect_url(std::string_view text);

/// Returns redirect URLs as they are stored: in their spelling and order, without those whose normalized form equals that of an earlier
/// URL.
[[nodiscard]] TOLLGATE_DECL std::vector<std::string> distinct_redirect_urls(const std::vector<std::string>& texts);

/// Returns true if the query of a redirect URL has a parameter that an authorization response adds. The response would contain it twice
/// (RFC 6749 section 3.1).
[[nodiscard]] TOLLGATE_DECL bool has_response_parameter(std::string_view url);

}  // namespace detail

/// Returns all errors, in the order of the fields. Any thread may call it. It never blocks.
[[nodiscard]] TOLLGATE_DECL std::vector<field_fault> faults_of(const application_request& request);

/// A new application. No other function returns its secret; the store keeps only a digest.
struct registered_application {
    application_id id;
    public_id client_id;
    secret_text client_secret;  ///< empty for a public client
};

namespace detail {

/// Does what `register_application` does, with a given client ID and secret; the secret is empty for a public client. error_kind::conflict
/// if the client ID is taken.
template <application_store Store>
[[nodiscard]] result<registered_application> register_application_as(Store& store, application_request request, instant now,
                                                                     const public_id& client_id, const secret_text& secret,
                                                                     std::size_t applications_per_user_max) {
    if (const auto faults = faults_of(request); !faults.empty()) return invalid(faults.front().message);
    request.website = detail::normalized_url(request.website);
    request.redirect_urls = detail::distinct_redirect_urls(request.redirect_urls);
    const auto id = store.create_application({.owner = request.owner,
                                              .client_id = *client_id_text::from(client_id),
                                              .secret_digest = secret.view().empty() ? digest{} : digest_of(secret),
                                              .name = std::move(request.name),
                                              .website = std::move(request.website),
                                              .description = std::move(request.description),
                                              .redirect_urls = std::move(request.redirect_urls),
                                              .created_at = now,
                                              .type = request.type},
                                             applications_per_user_max);
    if (!id) return id.error();
    return registered_application{*id, client_id, secret};
}

}  // namespace detail

/// Registers an OAuth client (RFC 6749 section 2) and returns its id, client ID and secret.
///
/// Errors: invalid for the first of the request's faults, and if the user has `applications_per_user_max` applications; internal if the
/// random source fails; and the errors of the store's `create_application`. Any thread may call it. It blocks as the store does.
template <application_store Store, random_source Random = system_random>
[[nodiscard]] result<registered_application> register_application(
    Store& store, application_request request, instant now, const Random& random = {},
    std::size_t applications_per_user_max = limits::applications_per_user_max) {
    const bool is_public = request.type == client_type::public_client;
    const auto secret = is_public ? std::optional{secret_text{}} : new_secret(secret_kind::client_secret, random);
    const auto client_id = new_public_id(public_id_kind::client_id, random);
    if (!secret || !client_id) return random_source_error();
    return detail::register_application_as(store, std::move(request), now, *client_id, *secret, applications_per_user_max);
}

/// Changes an application's redirect URLs and the fields that users see. Returns false if the owner has no such application. `request.type`
/// must be the application's type.
///
/// Errors: invalid for the first of the request's faults, and the errors of the store's `change_application`. Any thread may call it. It
/// blocks as the store does.
template <application_store Store>
[[nodiscard]] result<bool> update_application(Store& store, application_id id, application_request request,
                                              bool acts_for_owner) {
    if (const auto faults = faults_of(request); !faults.empty()) return invalid(faults.front().message);
    request.redirect_urls = detail::distinct_redirect_urls(request.redirect_urls);
    return store.change_application(request.owner, id,
                                    application_fields{.name = std::move(request.name),
                                                       .website = detail::normalized_url(request.website),
                                                       .description = std::move(request.description),
                                                       .redirect_urls = std::move(request.redirect_urls),
                                                       .acts_for_owner = acts_for_owner && request.type == client_type::confidential});
}

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/account/register_application.ipp>
#endif

#endif  // TOLLGATE_ACCOUNT_REGISTER_APPLICATION_HPP
