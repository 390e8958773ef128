#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/oauth/detail/parameters.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0::oauth {

/// An authorization request that may be shown to the person it is about (RFC 6749 section 4.1.1).
struct authorization_request {
    application client;
    std::string redirect;                     ///< where the browser goes back to
    std::optional<std::string> redirect_uri;  ///< as sent
    scope_set scopes;
    std::optional<std::string> state;
    std::optional<std::string> code_challenge;  ///< S256 (RFC 7636 section 4.2)
};

/// A request that cannot be answered by a redirect, because where to is just what is wrong: a page says so (RFC 6749
/// section 4.1.2.1).
enum class page_failure : std::uint8_t {
    no_client,       ///< it does not say which application it comes from, or says so twice
    unknown_client,  ///< there is no such application
    wrong_redirect,  ///< it asks for an address that the application did not register
};

/// A request that is answered by a redirect with an error.
struct redirect_failure {
    std::string redirect;
    failure why;
    std::optional<std::string> state;
};

using judged_request = std::variant<authorization_request, page_failure, redirect_failure>;

/// The client_id, if there is exactly one and it could be an application's.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> asking_client(const parameters& sent);

/// What is to be said of a request of this client: where its answer goes first, for only that says where errors go.
[[nodiscard]] TOLLGATE_DECL judged_request judge_request_of(application client, const parameters& sent,
                                                            const service_catalog& services);

/// Reads and judges an authorization request. A problem only if the application could not be looked for.
template <application_store Applications>
[[nodiscard]] result<judged_request> judge_request(const parameters& sent, Applications& applications,
                                                    const service_catalog& services) {
    const auto client_id = asking_client(sent);
    if (!client_id) return judged_request{page_failure::no_client};
    auto client = applications.find_application(*client_id);
    if (!client) return std::move(client).error();
    if (!*client) return judged_request{page_failure::unknown_client};
    return judge_request_of(std::move(**client), sent, services);
}

struct carried_parameter {
    std::string name;
    std::string value;
};

/// The parameters that say the same again, in one order: what a form of ours carries in hidden fields, and a query
/// brings back after signing in. A browser's form changes line ends, so a state that holds any goes as `encoded_state`,
/// percent-encoded.
[[nodiscard]] TOLLGATE_DECL std::vector<carried_parameter> carried_by(const authorization_request& request);

/// The same as a query. Two requests are the same exactly if their queries are, which is what form tokens and codes are
/// bound to.
[[nodiscard]] TOLLGATE_DECL std::string to_query(const authorization_request& request);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/authorization_request.ipp>
#endif
