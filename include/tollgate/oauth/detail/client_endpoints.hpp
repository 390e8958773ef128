#pragma once

#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/oauth/detail/client_authentication.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/page_request.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/policy/detail/policy_set.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// A request to the token or the revocation endpoint, as far as it can be read without asking anybody.
struct client_request {
    parameters sent;
    client_credentials shown;
};

/// A failure for a body that cannot be read, a repeated parameter, and credentials that contradict each other.
[[nodiscard]] TOLLGATE_DECL std::variant<client_request, failure> read_client_request(const http::request& asked);

/// Whether this is a refresh with a token that was ours once.
[[nodiscard]] TOLLGATE_DECL bool is_refresh(const parameters& sent);

/// 401, or 429 where the address' window is empty (RFC 6749 section 5.2): a challenge is for whoever used the
/// Authorization field.
TOLLGATE_DECL void answer_bad_client(const http::request& asked, const visit& now, http::response& out,
                                     std::string_view docs_url);

/// The endpoints that applications call: token (RFC 6749 section 3.2) and revocation (RFC 7009). Refers to what an
/// authorization server owns, and lives no longer than a call.
template <oauth_store Store, class Policies>
struct client_endpoints {
    const oauth_settings& settings;
    Store& store;
    Policies& policies;
    std::string_view docs_url;

    void answer_token(const http::request& asked, visit& now, http::response& out) const {
        const auto read = authenticate(asked, now, out, endpoint::token);
        if (!read) return;
        auto judged = issue_tokens(read->sent, {read->client.id, settings, now.now}, store, policy(policies.random));
        if (!judged) return answer_error(judged.error(), out);
        if (const auto* why = std::get_if<failure>(&*judged))
            return write_failure(out, {.why = *why, .docs_url = docs_url});
        const auto& issued = std::get<token_response>(*judged);
        write_tokens(out, issued);
        const std::size_t rows_added = issued.refresh_token ? 2 : 1;
        sweep(store, policy(policies.observer), now.now, rows_added);
    }

    /// 200 whether there was such a token or not (section 2.2), and whatever token_type_hint says (section 2.1).
    void answer_revocation(const http::request& asked, visit& now, http::response& out) const {
        const auto read = authenticate(asked, now, out, endpoint::revocation);
        if (!read) return;
        const auto token = read->sent.find("token");
        if (!token) {
            const failure why{error_code::invalid_request, "token is missing."};
            return write_failure(out, {.why = why, .docs_url = docs_url});
        }
        if (is_well_formed(secret_kind::access_token, *token) || is_well_formed(secret_kind::refresh_token, *token))
            if (auto done = store.revoke_oauth_token(read->client.id, digest_of(*token)); !done)
                return answer_error(done.error(), out);
        // Nobody reads the content (section 2.2), but some clients take an answer for a failure unless it is JSON.
        out.add("Content-Type", "application/json");
        out.add("Cache-Control", "no-store");
        out.body() = "{}";
    }

private:
    enum class endpoint { token, revocation };
    struct authenticated {
        parameters sent;
        application client;
    };

    /// None once it has been answered. An application that was deleted hears of its refresh token what it would if the
    /// user had revoked it, and not that it made a mistake.
    [[nodiscard]] std::optional<authenticated> authenticate(const http::request& asked, visit& now, http::response& out,
                                                            endpoint at) const {
        if (asked.method != http::method::post) {
            answer_other_method(asked, out, {.allowed = "POST, OPTIONS", .docs_url = docs_url});
            return std::nullopt;
        }
        auto read = read_client_request(asked);
        if (const auto* why = std::get_if<failure>(&read)) {
            const bool too_large = asked.body_state == http::body_state::too_large;
            write_failure(out, {.status = too_large ? http::status::content_too_large : http::status::bad_request,
                                .why = *why,
                                .docs_url = docs_url});
            return std::nullopt;
        }
        auto& [sent, shown] = std::get<client_request>(read);
        auto client = authenticate_client(shown, store);
        if (!client) {
            answer_error(client.error(), out);
            return std::nullopt;
        }
        if (!*client) {
            now.window = policy(policies.limiter).take(limit_key::of(now.client), settings.anonymous_quota, now.now);
            if (now.window->admitted && at == endpoint::token && is_refresh(sent) && is_nobody(shown))
                write_failure(out, {.why = refresh_token_is_not_good(), .docs_url = docs_url});
            else
                answer_bad_client(asked, now, out, docs_url);
            return std::nullopt;
        }
        return authenticated{std::move(sent), std::move(**client)};
    }

    /// Whether a secret of ours was shown for a client_id that there is not, or not any more.
    [[nodiscard]] bool is_nobody(const client_credentials& shown) const {
        if (!could_be_good(shown)) return false;
        const auto found = store.find_application(shown.client_id);
        return found && !*found;
    }

    void answer_error(const error& why, http::response& out) const {
        policy(policies.observer).on_problem(why);
        write_problem(out, why, docs_url);
    }
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_endpoints.ipp>
#endif
