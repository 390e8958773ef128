#pragma once

#include <tollgate/base/outcome.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/domain/service_catalog.hpp>
#include <tollgate/oauth/parameters.hpp>
#include <tollgate/oauth/pkce.hpp>
#include <tollgate/oauth/redirect.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tollgate::oauth {

/// An authorization request that may be shown to the person it is about (RFC 6749 section 4.1.1).
struct authorization_request {
    application client;
    std::string redirect;                     ///< where the browser goes back to
    std::optional<std::string> redirect_uri;  ///< as sent; the exchange has to say the same
    scope_set scopes;
    std::optional<std::string> state;
    std::optional<std::string> code_challenge;
};

/// A request that cannot be answered by a redirect, because where to is just what is wrong: a page says so (section 4.1.2.1).
struct page_failure {
    std::string message;
};

/// A request that is answered by a redirect with an error.
struct redirect_failure {
    std::string redirect;
    failure why;
    std::optional<std::string> state;
};

using judged_request = std::variant<authorization_request, page_failure, redirect_failure>;

/// Reads and judges an authorization request: the client and the redirect first, for only they say where errors go.
template <application_store Applications>
[[nodiscard]] outcome<judged_request> judge_request(const parameters& sent, Applications& applications, const service_catalog& services);

namespace detail {

/// What a request asks for, once it is known where its answer goes.
[[nodiscard]] inline std::variant<authorization_request, failure> read_wishes(const parameters& sent, application client,
                                                                              std::string redirect, const service_catalog& services) {
    if (const auto name = sent.repeated(); !name.empty())
        return failure{error::invalid_request, std::string{name} + " was sent more than once."};
    const auto response_type = sent.find("response_type");
    if (!response_type) return failure{error::invalid_request, "response_type is missing."};
    if (*response_type != "code") return failure{error::unsupported_response_type, "response_type must be code."};

    const auto scope = sent.find("scope");
    if (!scope) return failure{error::invalid_request, "scope is missing."};
    const auto scopes = scope_set::parse(*scope);
    if (!scopes || scopes->empty() || !scopes->for_each([&](std::string_view each) { return services.has_scope(each); }))
        return failure{error::invalid_scope, "scope names one that there is not."};

    const auto challenge = sent.find("code_challenge");
    const auto method = sent.find("code_challenge_method");
    if (challenge ? method != challenge_method || !is_code_challenge(*challenge) : method.has_value())
        return failure{error::invalid_request, "code_challenge must be a base64url SHA-256, with code_challenge_method S256."};

    return authorization_request{std::move(client), std::move(redirect), sent.find("redirect_uri"), *scopes, sent.find("state"), challenge};
}

}  // namespace detail

template <application_store Applications>
outcome<judged_request> judge_request(const parameters& sent, Applications& applications, const service_catalog& services) {
    const auto client_id = sent.find("client_id");
    if (!client_id || sent.is_repeated("client_id"))
        return judged_request{page_failure{"The request does not say which application sent it."}};
    auto client = applications.find_application(*client_id);
    if (!client) return std::move(client).error();
    if (!*client) return judged_request{page_failure{"There is no such application."}};

    auto redirect = sent.is_repeated("redirect_uri") ? std::nullopt : choose_redirect(**client, sent.find("redirect_uri"));
    if (!redirect) return judged_request{page_failure{"The application asks to send you to an address that it did not register."}};

    auto state = sent.is_repeated("state") ? std::nullopt : sent.find("state");
    auto read = detail::read_wishes(sent, std::move(**client), *redirect, services);
    if (auto* why = std::get_if<failure>(&read))
        return judged_request{redirect_failure{std::move(*redirect), std::move(*why), std::move(state)}};
    return judged_request{std::get<authorization_request>(std::move(read))};
}

}  // namespace tollgate::oauth
