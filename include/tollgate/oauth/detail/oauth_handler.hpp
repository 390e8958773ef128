#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_OAUTH_HANDLER_HPP
#define TOLLGATE_OAUTH_DETAIL_OAUTH_HANDLER_HPP

#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/detail/cors.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/oauth/detail/authorization_page.hpp>
#include <tollgate/oauth/detail/client_documents.hpp>
#include <tollgate/oauth/detail/client_endpoints.hpp>
#include <tollgate/oauth/detail/device_page.hpp>
#include <tollgate/oauth/detail/metadata.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/registration.hpp>
#include <tollgate/oauth/detail/resources.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/current_request.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/pipeline/detail/write_rejection.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/page_theme.hpp>
#include <tollgate/web/session_cookies.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::oauth {

/// What `authorization_server` is made of: how each request is answered.
class oauth_handler {
public:
    oauth_handler(account_service_settings settings, const oauth_store_ref& store, const session_source_ref& sessions,
                  tollgate::policies policies,
                  any_page_theme theme)
        : settings_{with_auth_url(std::move(settings))},
          sessions_{sessions},
          store_{store},
          policies_{std::move(policies)},
          pages_{settings_.auth_url, settings_.services, std::move(theme),
                 web::page_reach::other_sites, settings_.documentation_url},
          paths_{settings_, pages_.site().root, pages_.languages()},
          resources_{settings_},
          documents_{settings_} {
        constexpr milliseconds code_lifetime_max = std::chrono::hours{limits::code_hours_max};
        tollgate::detail::require_bounds("OAuth", {{"code_lifetime", settings_.oauth.code_lifetime, seconds{1}, code_lifetime_max},
                                         {"access_token_lifetime", settings_.oauth.access_token_lifetime},
                                         {"refresh_token_lifetime", settings_.oauth.refresh_token_lifetime},
                                         {"refresh_token_end", settings_.oauth.refresh_token_end},
                                         {"rotation_grace", settings_.oauth.rotation_grace, seconds{0}},
                                         {"device_code_lifetime", settings_.oauth.device_code_lifetime, seconds{1}, code_lifetime_max},
                                         {"device_poll_interval", settings_.oauth.device_poll_interval, seconds{0}}});
        tollgate::detail::require_windows("OAuth", {{"device_requests", settings_.oauth.device_requests},
                                          {"device_requests_of_site", settings_.oauth.device_requests_of_site},
                                          {"device_requests_of_network", settings_.oauth.device_requests_of_network},
                                          {"user_code_attempts", settings_.oauth.user_code_attempts},
                                          {"page_requests", settings_.oauth.page_requests},
                                          {"refreshes", settings_.oauth.refreshes},
                                          {"refreshes_of_client", settings_.oauth.refreshes_of_client},
                                          {"client_documents", settings_.oauth.client_documents},
                                          {"registrations", settings_.oauth.registrations},
                                          {"anonymous_quota", settings_.anonymous_quota}});
        form_cookie_ = cookie_name_of(settings_.auth_url, settings_.oauth.cookie_name, "form");
        documentation_url_ = settings_.documentation_url.empty() ? settings_.auth_url + std::string{metadata_path}
                                                                 : settings_.documentation_url;
        metadata_ = make_metadata(settings_, pages_.language_tags());
    }

    // The endpoints refer to members.
    oauth_handler(const oauth_handler&) = delete;
    oauth_handler& operator=(const oauth_handler&) = delete;

    /// Implements `http::handler`: responds on this thread, which may block.
    void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`: responds to what the server refused. Never blocks.
    void handle(const http::refusal& refused, http::response& response) noexcept;

    /// Reads the body only of a POST to a known endpoint that is not refused by its head. All other requests are answered from
    /// the head.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response,
                                            http::handler_state& state, http::thread_kind thread) noexcept {
        auto& start = state.get<pipeline::request_start>();
        if (start.at == instant{}) start = pipeline::start_request(policies_);
        auto step = http::handle_step::done;
        guard(request, response, start, [&](request_state& context) {
            step = next_step(request, context, state, thread);
            if (step == http::handle_step::done) respond(request, context, response);
        });
        return step;
    }

    /// The paths for `http::site`.
    [[nodiscard]] std::vector<std::string> mounts() const {
        auto all = paths_.mounts();
        for (const auto& each : pages_.site().assets) all.push_back(each.path);
        return all;
    }

    /// Metadata, style sheet and unknown paths do not block, except for requests without a User-Agent, which are
    /// counted. Only the page with sign-in and consent checks passwords.
    [[nodiscard]] bool may_block(const http::request& request) const noexcept {
        return may_block(request, paths_.find(request.target.path));
    }

    /// Returns true if any request may block: a password check always does.
    [[nodiscard]] bool may_block() const noexcept {
        return sessions_.may_block() || store_.may_block() || policies_.limiter().may_block() || sessions_.signs_in() ||
               settings_.oauth.fetch_client_document;
    }

    /// The settings that it was constructed with.
    [[nodiscard]] const account_service_settings& settings() const noexcept { return settings_; }

private:
    [[nodiscard]] bool may_block(const http::request& request, endpoint endpoint) const noexcept {
        const bool limiter_waits = policies_.limiter().may_block();
        if (needs_no_store(endpoint)) return limiter_waits && !has_user_agent(request);
        return sessions_.may_block() || store_.may_block() || limiter_waits ||
               (request.method == http::method::post && endpoint == endpoint::one_page);
    }

    /// Calls `act(context)`; the response after an exception is an internal error.
    template <class Act>
    void guard(const http::request& request, http::response& response, const pipeline::request_start& start, Act act) noexcept {
        {
            const pipeline::request_scope scope{request, start.id};
            request_state context;
            context.start = start;
            context.judged_at = policies_.clock().now();
            const auto read_and_act = [&] {
                context.client = http::client_address(request, settings_.trusted_proxies, settings_.client_named_by);
                context.endpoint = paths_.find(request.target.path);
                act(context);
            };
            pipeline::respond_or_error(
                response, read_and_act, [&](const error& thrown) { respond_internal_error(thrown, request, context, response); });
        }
    }
    /// What a request needs before its answer, or `done`. Throws `std::bad_alloc`.
    [[nodiscard]] http::handle_step next_step(const http::request& request, const request_state& context,
                                              http::handler_state& state, http::thread_kind thread) const {
        const auto endpoint = context.endpoint;
        const bool posts = request.method == http::method::post && !needs_no_store(endpoint) && has_user_agent(request);
        if (posts && request.body_state == http::body_state::pending && !is_refused_by_head(request, context))
            return http::handle_step::needs_body;
        const bool fetches = needs_document(request, context);
        if (thread != http::thread_kind::io || (!fetches && !may_block(request, endpoint))) return http::handle_step::done;
        state.set_waits_for(fetches ? http::work_kind::client_documents : work_of(endpoint, posts));
        return http::handle_step::needs_worker;
    }
    /// Returns true if the document of the application has to be fetched, which delays no other page.
    [[nodiscard]] bool needs_document(const http::request& request, const request_state& context) const {
        if (!settings_.oauth.fetch_client_document) return false;
        if (context.endpoint != endpoint::authorization && context.endpoint != endpoint::one_page) return false;
        const auto sent = parameters::from_form(request.method == http::method::post ? request.body : request.target.query);
        const auto* known = std::get_if<parameters>(&sent);
        const auto client_id = known != nullptr ? client_id_of(*known) : std::nullopt;
        return client_id && documents_.may_hold(*client_id) && documents_.needs_fetch(*client_id, context.now());
    }
    void respond(const http::request& request, request_state& context, http::response& response);
    void dispatch(const http::request& request, request_state& context, http::response& response);
    void respond_page(const http::request& request, request_state& context, http::response& response);
    void redirect_to_language(const http::request& request,
                              const web::localized_pages& pages, http::response& response) const;
    [[nodiscard]] const web::page_language& language_of(const http::request& request) const;
    void respond_not_found(const http::request& request, http::response& response) const;
    void respond_internal_error(const error& failure, const http::request& request, request_state& context,
                                http::response& response);
    void finish(const http::request& request, const request_state& context, http::response& response);

    [[nodiscard]] static pipeline::observed_request observed(const http::request& request,
                                                             const request_state& context) noexcept {
        return {context.start, request, context.client, route_of(context.endpoint)};
    }

    [[nodiscard]] static bool needs_no_store(endpoint endpoint) noexcept {
        return endpoint == endpoint::metadata || endpoint == endpoint::none;
    }

    [[nodiscard]] static http::work_kind work_of(endpoint endpoint, bool posts) noexcept {
        switch (endpoint) {
            case endpoint::device_page:
            case endpoint::authorization: return posts ? http::work_kind::forms : http::work_kind::pages;
            case endpoint::one_page: return posts ? http::work_kind::sign_in : http::work_kind::pages;
            case endpoint::metadata:
            case endpoint::none: return http::work_kind::limits;  // a request without a User-Agent
            default: return http::work_kind::token_endpoint;
        }
    }

    /// Returns true if a request is refused regardless of its body. A form for a page is refused if its path names no language, or if it is
    /// from another site, of another type, or one too many; a client's request, if its Authorization field cannot be valid or its
    /// body is of another type.
    [[nodiscard]] bool is_refused_by_head(const http::request& request, const request_state& context) const {
        if (context.endpoint == endpoint::registration) return registration_endpoint::is_refused_by_head(request, settings_);
        if (!oauth::is_page(context.endpoint)) return has_unusable_authorization(request) || parameters::check_head(request);
        const auto page = pages_.find(request.target.path);
        if (!page || page->language == nullptr) return true;
        if (web::check_form_head(request, pages_.site())) return true;
        return page_limiter_.peek(limit_key::of(context.client), settings_.oauth.page_requests, context.now()).remaining == 0;
    }

    [[nodiscard]] bool has_user_agent(const http::request& request) const noexcept {
        return pipeline::accepts_user_agent(policies_.agent_rule(), request);
    }

    /// Returns true if the response is a page or an asset of pages, which carry no limit fields.
    [[nodiscard]] bool is_page(const http::request& request, const request_state& context) const noexcept {
        return oauth::is_page(context.endpoint) ||
               (context.endpoint == endpoint::none &&
                (paths_.is_page_path(request.target.path) || pages_.site().find_asset(request.target.path) != nullptr));
    }

    account_service_settings settings_;
    session_source_ref sessions_;
    oauth_store_ref store_;
    tollgate::policies policies_;
    web::page_renderer pages_;
    paths paths_;
    resource_list resources_;
    mutable client_documents documents_;
    window_limiter page_limiter_{{.users = 64, .addresses = std::size_t{1} << 14}};
    window_limiter grant_limiter_{{.users = std::size_t{1} << 16, .addresses = 64}};  // bounds of requests for tokens, and of polls
    window_limiter registration_limiter_{{.users = 64, .addresses = std::size_t{1} << 12}};
    window_limiter device_limiter_{{.users = std::size_t{1} << 14, .addresses = std::size_t{1} << 14}};
    std::string documentation_url_;
    std::string form_cookie_;  // the name of the cookie
    std::string metadata_;
};

inline void oauth_handler::respond(const http::request& request, request_state& context, http::response& response) {
    if (has_user_agent(request)) {
        dispatch(request, context, response);
    } else {
        context.window =
            policies_.limiter().take(limit_key::of(context.client), settings_.anonymous_quota, context.now());
        context.error = error_code::invalid_request;
        write_missing_user_agent(response, *context.window, context.now(), documentation_url_);
    }
    finish(request, context, response);
}

inline void oauth_handler::dispatch(const http::request& request, request_state& context, http::response& response) {
    const client_endpoints endpoints{settings_, resources_, store_, policies_, grant_limiter_, device_limiter_,
                                     documentation_url_, observed(request, context), context};
    const auto is_active = [&](user_id user) { return oauth::is_active(sessions_, user); };
    switch (context.endpoint) {
        case endpoint::token:
            return endpoints.respond_token(request, context, response, is_active);
        case endpoint::revocation: return endpoints.respond_revocation(request, context, response, is_active);
        case endpoint::introspection: return endpoints.respond_introspection(request, context, response, is_active);
        case endpoint::device_authorization:
            return endpoints.respond_device_authorization(request, context, response, is_active);
        case endpoint::registration:
            return registration_endpoint{settings_,          store_, policies_, registration_limiter_, documentation_url_,
                                         observed(request, context), context}
                .respond(request, response);
        case endpoint::metadata: return respond_metadata(request, metadata_, documentation_url_, response);
        case endpoint::authorization:
        case endpoint::device_page:
        case endpoint::one_page: return respond_page(request, context, response);
        case endpoint::none: return respond_not_found(request, response);
    }
}

inline void oauth_handler::respond_page(const http::request& request, request_state& context, http::response& response) {
    const auto pages = pages_.in(language_of(request));
    const auto window = page_limiter_.take(limit_key::of(context.client), settings_.oauth.page_requests, context.now());
    if (!window.admitted) {
        http::add_retry_after(response, window.resets_at - context.now());
        return pages.respond_status(response, http::status::too_many_requests);
    }
    const auto at = pages_.find(request.target.path);
    if (!at || at->language == nullptr) return redirect_to_language(request, pages, response);
    if (context.endpoint == endpoint::device_page)
        return device_page{
            .settings = settings_,
            .sessions = sessions_,
            .store = store_,
            .policies = policies_,
            .pages = pages,
            .limiter = device_limiter_,
            .observed = observed(request, context)}
            .respond(request, context, response);
    authorization_page{.settings = settings_,
                       .sessions = sessions_,
                       .store = store_,
                       .policies = policies_,
                       .rules = {settings_.services, resources_, documents_},
                       .pages = pages,
                       .form_cookie = form_cookie_,
                       .observed = observed(request, context)}
        .respond(request, context, response);
}

/// From a path that names no language, or the published one in which there are no texts.
inline void oauth_handler::redirect_to_language(
    const http::request& request, const web::localized_pages& pages, http::response& response) const {
    if (!http::is_read(request.method)) {
        const auto refused = http::refuse_method(request, response, "GET, HEAD, OPTIONS");
        if (refused) pages.respond_status(response, *refused);
        return;
    }
    auto path = request.target.path.substr(pages_.site().root.size());
    if (http::detail::is_below(path, published_language)) path.remove_prefix(published_language.size());
    auto url = pages.url(path);
    if (!url.ends_with('/')) url.push_back('/');
    if (request.target.has_query) url.append("?").append(request.target.query);
    response.add("Vary", "Accept-Language");
    if (!web::respond_see_other(response, pages_.site(), url)) pages.respond_status(response, http::status::bad_request);
}

/// The language that the application requests with `ui_locales`, or else that of the path or the browser.
inline const web::page_language& oauth_handler::language_of(const http::request& request) const {
    if (request.target.query.find("ui_locales=") != std::string_view::npos)
        if (const auto query = http::parse_form(request.target.query))
            if (const auto found = web::ui_language(query->value_of("ui_locales"), pages_.language_tags()))
                return pages_.languages()[*found];
    return pages_.language_of(request);
}

inline void oauth_handler::respond_not_found(const http::request& request, http::response& response) const {
    const auto pages = pages_.in(pages_.language_of(request));
    if (pages.respond_asset(request, response)) return;
    if (paths_.is_page_path(request.target.path)) return pages.respond_status(response, http::status::not_found);
    pipeline::write_error(response, http::status::not_found, "Not Found", documentation_url_, pipeline::about_errors);
}

inline void oauth_handler::finish(const http::request& request, const request_state& context, http::response& response) {
    const auto& limiter = policies_.limiter();
    const auto key = limit_key::of(context.client);
    if (context.window) pipeline::add_rate_limit_fields(response, *context.window);
    else if (!is_page(request, context))
        pipeline::add_rate_limit_fields(response, needs_no_store(context.endpoint)
                                           ? pipeline::peek_or_unused(limiter, key, settings_.anonymous_quota, context.now())
                                           : limiter.peek(key, settings_.anonymous_quota, context.now()));
    if (!is_page(request, context)) {
        pipeline::add_transport_security(response, settings_.auth_url);
        if (context.endpoint != endpoint::none) http::add_cors_fields(settings_.cors_origins, request, response);
    }
    observed(request, context).finish(policies_, response, context.user ? &*context.user : nullptr, context.outcome());
}

inline void oauth_handler::respond_internal_error(const error& failure, const http::request& request, request_state& context,
                                                  http::response& response) {
    observed(request, context).report(policies_, failure);
    if (!is_page(request, context)) context.error = to_failure(failure).code;
    response.clear();
    if (is_page(request, context))
        pages_.in(pages_.language_of(request)).respond_status(response, http::status::internal_server_error);
    else write_server_error(response, failure, documentation_url_);
    // This does not wait, because a step that must not wait may have failed.
    if (!context.window && !is_page(request, context))
        context.window = pipeline::peek_or_unused(policies_.limiter(), limit_key::of(context.client),
                                                  settings_.anonymous_quota, context.now());
    finish(request, context, response);
}

inline void oauth_handler::handle(const http::request& request, http::response& response) noexcept {
    guard(request, response, pipeline::start_request(policies_),
          [&](request_state& context) { respond(request, context, response); });
}

inline void oauth_handler::handle(const http::refusal& refused, http::response& response) noexcept {
    {
        pipeline::write_or_status(response, refused.status,
                                  [&] {
                                      const auto path = refused.path();
                                      if (!oauth::is_page(paths_.find(path)) && !paths_.is_page_path(path))
                                          return pipeline::respond_refusal(policies_, settings_, documentation_url_, refused, response);
                                      pages_.respond_refusal(refused, response);
                                      pipeline::finish_refusal(policies_, refused, pipeline::client_of(refused, settings_), response);
                                  });
    }
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_OAUTH_HANDLER_HPP
