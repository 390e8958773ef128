#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/detail/policy_set.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// Client credentials (RFC 6749 section 2.3.1).
struct client_credentials {
    std::string client_id;
    std::string client_secret;

    friend bool operator==(const client_credentials&, const client_credentials&) = default;
};

/// Reads the credentials from the Authorization field, where both parts are form-encoded, or from the body. Both are
/// accepted if they are equal. Empty if they are missing or malformed.
[[nodiscard]] TOLLGATE_DECL std::variant<client_credentials, failure> read_client_credentials(
    const http::request& request, const parameters& sent);

/// Whether they can be valid: other texts are refused without a look-up.
[[nodiscard]] TOLLGATE_DECL bool are_well_formed(const client_credentials& credentials) noexcept;

/// The application with these credentials, if any.
template <application_store Applications>
[[nodiscard]] result<std::optional<application>> authenticate_client(const client_credentials& credentials,
                                                                     Applications& applications) {
    if (!are_well_formed(credentials)) return std::optional<application>{};
    auto found = applications.find_application(credentials.client_id);
    if (found && *found && (*found)->secret_digest != digest_of(credentials.client_secret))
        return std::optional<application>{};
    return found;
}

/// A request to the token or revocation endpoint, parsed but not authenticated.
struct client_request {
    parameters sent;
    client_credentials credentials;
};

/// A failure for a malformed body, a repeated parameter, and contradictory credentials.
[[nodiscard]] TOLLGATE_DECL std::variant<client_request, failure> read_client_request(const http::request& request);

/// Whether this is a refresh with a well-formed token.
[[nodiscard]] TOLLGATE_DECL bool is_refresh(const parameters& sent);

/// 401, or 429 if the address has used up its window (RFC 6749 section 5.2). The challenge is sent only to clients that
/// used the Authorization field.
TOLLGATE_DECL void answer_invalid_client(const http::request& request, const request_context& context,
                                         http::response& response, std::string_view docs_url);

/// What refreshes are counted by. Precondition: `is_refresh`.
[[nodiscard]] TOLLGATE_DECL limit_key key_of_refresh_token(const parameters& sent);
TOLLGATE_DECL void answer_too_many_refreshes(const verdict& window, instant now, http::response& response,
                                             std::string_view docs_url);

/// The endpoints that applications call: token (RFC 6749 section 3.2) and revocation (RFC 7009). Refers to members of
/// an authorization server, for the duration of a call.
template <oauth_store Store, class Policies>
struct client_endpoints {
    const oauth_settings& settings;
    Store& store;
    Policies& policies;
    window_limiter& refresh_limiter;
    std::string_view docs_url;
    pipeline::observed_request observed;

    void answer_token(const http::request& request, request_context& context, http::response& response) const {
        const auto read = authenticate(request, context, response, endpoint::token);
        if (!read) return;
        if (is_refresh(read->sent)) {
            const auto window = refresh_limiter.take(key_of_refresh_token(read->sent), settings.refreshes, context.now);
            if (!window.admitted) return answer_too_many_refreshes(window, context.now, response, docs_url);
        }
        auto judged = issue_tokens(read->sent, {read->client, settings, context.now}, store, policy(policies.random));
        if (!judged) return answer_error(judged.error(), response);
        if (const auto* why = std::get_if<failure>(&*judged))
            return write_failure(response, {.why = *why, .docs_url = docs_url});
        const auto& issued = std::get<token_response>(*judged);
        write_tokens(response, issued);
        const std::size_t rows_added = issued.refresh_token ? 2 : 1;
        remove_expired(store, policy(policies.observer), context.now, rows_added);
    }

    /// 200 whether the token exists or not (section 2.2), and whatever token_type_hint says (section 2.1).
    void answer_revocation(const http::request& request, request_context& context, http::response& response) const {
        const auto read = authenticate(request, context, response, endpoint::revocation);
        if (!read) return;
        const auto token = read->sent.find("token");
        if (!token) {
            const failure why{error_code::invalid_request, "token is missing."};
            return write_failure(response, {.why = why, .docs_url = docs_url});
        }
        if (is_well_formed(secret_kind::access_token, *token) || is_well_formed(secret_kind::refresh_token, *token))
            if (auto done = store.revoke_oauth_token(read->client.id, digest_of(*token)); !done)
                return answer_error(done.error(), response);
        // The content is ignored (section 2.2), but some clients expect JSON.
        response.add("Content-Type", "application/json");
        response.add("Cache-Control", "no-store");
        response.body() = "{}";
    }

private:
    struct authenticated {
        parameters sent;
        application client;
    };

    /// Empty if the request has been answered. A deleted application gets the same answer to its refresh token as after
    /// a revocation by the user, instead of `invalid_client`.
    [[nodiscard]] std::optional<authenticated> authenticate(const http::request& request, request_context& context,
                                                            http::response& response, endpoint at) const {
        if (request.method != http::method::post) {
            answer_unsupported_method(request, response, {.allowed = "POST, OPTIONS", .docs_url = docs_url});
            return std::nullopt;
        }
        auto read = read_client_request(request);
        if (const auto* why = std::get_if<failure>(&read)) {
            const bool encoded = !request.body.empty() && http::detail::has_content_coding(request.fields);
            const auto status = request.body_state == http::body_state::too_large ? http::status::content_too_large
                                : encoded                                         ? http::status::unsupported_media_type
                                                                                  : http::status::bad_request;
            if (encoded) pipeline::add_accepted_coding(request, response);
            write_failure(response, {.status = status, .why = *why, .docs_url = docs_url});
            return std::nullopt;
        }
        auto& [sent, credentials] = std::get<client_request>(read);
        auto client = authenticate_client(credentials, store);
        if (!client) {
            answer_error(client.error(), response);
            return std::nullopt;
        }
        if (!*client) {
            context.window =
                policy(policies.limiter).take(limit_key::of(context.client), settings.anonymous_quota, context.now);
            if (context.window->admitted && at == endpoint::token && is_refresh(sent) && is_deleted_client(credentials))
                write_failure(response, {.why = invalid_refresh_token(), .docs_url = docs_url});
            else answer_invalid_client(request, context, response, docs_url);
            return std::nullopt;
        }
        return authenticated{std::move(sent), std::move(**client)};
    }

    /// Whether a well-formed secret was sent for a client_id that does not exist (any more).
    [[nodiscard]] bool is_deleted_client(const client_credentials& credentials) const {
        if (!are_well_formed(credentials)) return false;
        const auto found = store.find_application(credentials.client_id);
        return found && !*found;
    }

    void answer_error(const error& why, http::response& response) const {
        observed.report(policies, why);
        write_server_error(response, why, docs_url);
    }
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_endpoints.ipp>
#endif
