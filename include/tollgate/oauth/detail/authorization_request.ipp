#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_REQUEST_IPP
#define TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_REQUEST_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/pkce.hpp>
#include <tollgate/oauth/detail/redirect.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>

#include <algorithm>

namespace tollgate::inline v0::oauth {

namespace detail {

inline bool has_control(std::string_view text) noexcept {
    for (char c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') return true;
    return false;
}

inline constexpr std::string_view encoded_state_name = "encoded_state";

inline http::form_member to_member(const std::string& state) {
    constexpr std::size_t bytes_max = 512;  // ordinary states stay readable
    auto encoded = tollgate::detail::base64url_encode(state);
    const auto nested_bytes = tollgate::detail::percent_encode(tollgate::detail::percent_encode(state)).size();
    if (has_control(state) || (nested_bytes > bytes_max && nested_bytes > encoded.size()))
        return {std::string{encoded_state_name}, std::move(encoded)};
    return {"state", state};
}

inline void add_to_query(std::string& query, std::string_view name, std::string_view value) {
    if (!query.empty()) query.push_back('&');
    query.append(tollgate::detail::percent_encode(name)).append("=").append(tollgate::detail::percent_encode(value));
}

/// Returns the state as sent, or decoded if our form has encoded it.
inline std::optional<std::string> state_of(const parameters& sent) {
    if (auto state = sent.find("state")) return state;
    const auto encoded = sent.find(encoded_state_name);
    auto decoded = encoded ? tollgate::detail::base64url_decode(*encoded) : std::nullopt;
    // Our form encodes what a form has brought: UTF-8. Other bytes would not come back from the next form.
    return decoded && tollgate::detail::is_utf8(*decoded) ? decoded : std::nullopt;
}

inline std::optional<failure> find_fault(const application& client, const parameters& sent,
                                         const std::optional<std::string>& state) {
    if (auto repeated = sent.repeated()) return repeated;
    // RFC 6749 (appendix A.5) allows visible ASCII. A zero byte would end the string in many programs.
    if (state && state->find('\0') != std::string::npos)
        return failure{error_code::invalid_request, "state contains a zero byte."};
    const auto response_type = sent.find("response_type");
    if (!response_type) return missing_parameter("response_type");
    if (*response_type != "code") return failure{error_code::unsupported_response_type, "response_type must be code."};

    if (sent.find("response_mode").value_or("query") != "query")
        return failure{error_code::invalid_request, "response_mode must be query."};

    const auto challenge = sent.find("code_challenge");
    const auto method = sent.find("code_challenge_method");
    if (challenge && method != challenge_method)
        return failure{error_code::invalid_request, "code_challenge_method must be S256."};
    if (challenge ? !is_code_challenge(*challenge) : method.has_value())
        return failure{error_code::invalid_request, "code_challenge must be the base64url of a SHA-256."};
    if (!challenge && client.type == client_type::public_client)
        return failure{error_code::invalid_request, "code_challenge is missing; public clients must use PKCE (RFC 7636)."};
    if (!challenge && client.registration != registration_kind::by_owner)
        return failure{error_code::invalid_request,
                       "code_challenge is missing; applications that no user registered must use PKCE (RFC 7636)."};
    if (!sent.find("scope") && client.default_scopes.empty()) return missing_parameter("scope");
    if (const auto prompt = sent.find("prompt"); prompt && !parse_prompts(*prompt))
        return failure{error_code::invalid_request, "prompt must be none alone, or any of login, consent and select_account."};
    return std::nullopt;
}

}  // namespace detail

TOLLGATE_DECL std::optional<prompt_set> parse_prompts(std::string_view text) {
    prompt_set read;
    while (!text.empty()) {
        const auto end = (std::min)(text.find(' '), text.size());
        const auto value = text.substr(0, end);
        if (value == "none") read.none = true;
        else if (value == "login") read.login = true;
        else if (value == "consent") read.consent = true;
        else if (value == "select_account") read.select_account = true;
        else if (!value.empty()) return std::nullopt;
        text.remove_prefix((std::min)(end + 1, text.size()));
    }
    if (read.none && read != prompt_set{.none = true}) return std::nullopt;
    return read;
}

TOLLGATE_DECL std::string to_text(const prompt_set& prompts) {
    std::string text;
    const auto add = [&](bool is_set, std::string_view value) {
        if (is_set) text.append(text.empty() ? "" : " ").append(value);
    };
    add(prompts.none, "none");
    add(prompts.login, "login");
    add(prompts.consent, "consent");
    add(prompts.select_account, "select_account");
    return text;
}

TOLLGATE_DECL bool is_client_id_text(std::string_view text) noexcept {
    return !text.empty() && text.size() <= limits::client_id_bytes_max &&
           std::all_of(text.begin(), text.end(), tollgate::detail::is_visible_ascii);
}

TOLLGATE_DECL std::optional<std::string> client_id_of(const parameters& sent) {
    auto client_id = sent.find("client_id");
    if (!client_id || !is_client_id_text(*client_id) || sent.is_repeated("client_id")) return std::nullopt;
    return client_id;
}

TOLLGATE_DECL judged_request judge_request_of(application client, const parameters& sent,
                                              const service_catalog& services, const resource_list& resources) {
    if (client.type == client_type::public_client && client.redirect_urls.empty()) return page_failure::no_redirect_url;
    if (sent.is_repeated("redirect_uri")) return page_failure::unregistered_redirect;
    auto redirect_uri = sent.find("redirect_uri");
    if (!redirect_uri && client.redirect_urls.size() != 1) return page_failure::missing_redirect;
    auto redirect = choose_redirect(client, redirect_uri);
    if (!redirect) return page_failure::unregistered_redirect;

    // With two states it is unknown which of them the application would compare, so no state is returned.
    auto state = sent.is_repeated("state") ? std::nullopt : detail::state_of(sent);
    if (auto fault = detail::find_fault(client, sent, state))
        return redirect_failure{std::move(*redirect), std::move(*fault), std::move(state)};

    const auto scope = sent.find("scope");
    const auto scopes = scope ? parse_known_scopes(*scope, services) : std::optional{client.default_scopes};
    if (!scopes) return redirect_failure{std::move(*redirect), unknown_scope(), std::move(state)};
    auto requested = resources.read(sent);
    if (auto* unknown = std::get_if<failure>(&requested))
        return redirect_failure{std::move(*redirect), std::move(*unknown), std::move(state)};
    const auto& targets = std::get<resource_set>(requested);
    const auto urls = resources.urls_of(targets);
    auto hint = sent.find("login_hint");
    if (hint && !tollgate::detail::is_visible_line(*hint, limits::login_bytes_max)) hint.reset();  // no login that could exist
    return authorization_request{.client = std::move(client),
                                 .redirect = std::move(*redirect),
                                 .redirect_uri = std::move(redirect_uri),
                                 .scopes = *scopes,
                                 .resources = targets,
                                 .resource_urls = {urls.begin(), urls.end()},
                                 .state = std::move(state),
                                 .code_challenge = sent.find("code_challenge"),
                                 .prompt = parse_prompts(sent.find("prompt").value_or("")).value_or(prompt_set{}),
                                 .login_hint = std::move(hint)};
}

TOLLGATE_DECL result<application_id> store_described(const application& described, const oauth_store_ref& applications,
                                                     const account_service_settings& settings, const observer_ref& observer, instant now) {
    const auto known = applications.find_application(described.client_id);
    if (!known) return known.error();
    if (*known) {
        if ((*known)->redirect_urls == described.redirect_urls && (*known)->name == described.name) return (*known)->id;
        const auto changed = applications.change_application(no_owner, (*known)->id,
                                                             application_fields{.name = described.name,
                                                                                .website = described.website,
                                                                                .description = {},
                                                                                .redirect_urls = described.redirect_urls,
                                                                                .default_scopes = described.default_scopes});
        if (!changed) return changed.error();
        return (*known)->id;
    }
    remove_unused_applications(applications, observer, now);
    auto created = applications.create_application({.owner = no_owner,
                                                    .client_id = described.client_id,
                                                    .secret_digest = {},
                                                    .name = described.name,
                                                    .website = described.website,
                                                    .description = {},
                                                    .redirect_urls = described.redirect_urls,
                                                    .created_at = now,
                                                    .type = described.type,
                                                    .registration = described.registration,
                                                    .default_scopes = described.default_scopes},
                                                   settings.oauth.unowned_applications_max);
    if (!created && created.error().kind == error_kind::conflict)  // another user was faster
        if (const auto stored = applications.find_application(described.client_id); stored && *stored) return (*stored)->id;
    if (!created && created.error().kind == error_kind::invalid)
        return unavailable("there are as many applications without an owner as the settings allow");
    return created;
}

TOLLGATE_DECL std::vector<http::form_member> form_parameters(const authorization_request& request) {
    std::vector<http::form_member> all{{"response_type", "code"},
                                       {"client_id", std::string{request.client.client_id.view()}},
                                       {"scope", std::string{request.scopes.text()}}};
    for (const auto& each : request.resource_urls) all.push_back({"resource", each});
    if (request.redirect_uri) all.push_back({"redirect_uri", *request.redirect_uri});
    if (request.state) all.push_back(detail::to_member(*request.state));
    if (request.code_challenge) {
        all.push_back({"code_challenge", *request.code_challenge});
        all.push_back({"code_challenge_method", std::string{challenge_method}});
    }
    if (!request.prompt.empty()) all.push_back({"prompt", to_text(request.prompt)});
    if (request.login_hint) all.push_back({"login_hint", *request.login_hint});
    return all;
}

TOLLGATE_DECL std::string to_query(const authorization_request& request) {
    std::string query;
    for (const auto& [name, value] : form_parameters(request)) detail::add_to_query(query, name, value);
    return query;
}

TOLLGATE_DECL std::string to_query(const parameters& sent) {
    std::string query;
    for (const auto& [name, value] : sent.all()) {
        if (name != "state" || value.empty() || sent.is_repeated(name) || sent.holds(detail::encoded_state_name)) {
            detail::add_to_query(query, name, value);
        } else {
            const auto state = detail::to_member(value);
            detail::add_to_query(query, state.name, state.value);
        }
    }
    return query;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_REQUEST_IPP
