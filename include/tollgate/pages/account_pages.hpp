#pragma once
#ifndef TOLLGATE_PAGES_ACCOUNT_PAGES_HPP
#define TOLLGATE_PAGES_ACCOUNT_PAGES_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pages/detail/dispatch.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/pages/detail/sign_in_page.hpp>
#include <tollgate/pipeline/detail/decision_age.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/page_theme.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0 {

/// Settings of the account pages.
struct page_settings {
    std::string auth_url = {};      ///< without a trailing slash: `https://example.com`
    service_catalog services = {};  ///< their scopes, accounts and events
    std::string documentation_url = {};  ///< of the API, which each page links to; empty: none

    /// Proxies that name their clients; the field is ignored if another peer sends it.
    std::vector<ip_network> trusted_proxies = {};
    forwarding_field client_named_by = forwarding_field::x_forwarded_for;  ///< the field that those proxies set

    /// Requests of one user, and of one address without a session: far more than a person makes.
    quota requests{3000, std::chrono::minutes{10}};
    quota test_events{60, std::chrono::hours{1}};  ///< that one user sends to webhooks
    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max;
    std::size_t applications_per_user_max = limits::applications_per_user_max;
    std::size_t hooks_per_event_max = limits::hooks_per_event_max;  ///< webhooks of one account for one event
};

/// The account pages: an overview, personal tokens, applications, authorizations and webhooks; if `Users` is an
/// `activity_source`, recent activity; and, if `Sessions` has them, sign-in and sign-out, the sessions and a change of
/// password. A handler for `server` or any other HTTP server.
///
///     account_pages pages{settings, users, store, sessions};
///     http::site site{http::mounted("/v1", api), http::mounted(pages)};
///
/// Users, sessions and store must outlive it. Thread rule: `handle` may be called from many threads at once. Blocking:
/// if users, sessions or store block, and while a password is checked.
template <class Users, class Store, class Sessions, class Policies = decltype(default_policies()),
          class Theme = plain_theme>
class account_pages {
    static_assert(user_directory<Users>, "tollgate: this does not satisfy user_directory; read tollgate/contract/user_directory.hpp");
    static_assert(session_source<Sessions>, "tollgate: this does not satisfy session_source; read tollgate/contract/session_source.hpp");
    static_assert(token_store<Store>, "tollgate: this does not satisfy token_store; read tollgate/contract/token_store.hpp");
    static_assert(oauth_store<Store>, "tollgate: this does not satisfy oauth_store; read tollgate/contract/oauth_store.hpp");
    static_assert(hook_store<Store>, "tollgate: this does not satisfy hook_store; read tollgate/contract/hook_store.hpp");
    static_assert(page_theme<policy_type<Theme>>, "tollgate: this does not satisfy page_theme; read tollgate/web/page_theme.hpp");
    static constexpr bool fits = user_directory<Users> && session_source<Sessions> && token_store<Store> && oauth_store<Store> &&
                                 hook_store<Store> && page_theme<policy_type<Theme>>;

    using renderer_type = web::page_renderer<web::fitting_theme<Theme>>;
    using page = pages::page;

public:
    /// Whether sign-in and sign-out are here; otherwise users are redirected to `Sessions::sign_in_url`.
    static constexpr bool signs_in = sign_in_source<Sessions>;

    /// Whether handling a request may block.
    static constexpr bool blocking =
        signs_in || http::handler_blocks<Users>() || http::handler_blocks<Sessions>() || http::handler_blocks<Store>();

    /// Throws std::invalid_argument for an auth_url that `http::url::root` refuses, and for a quota with requests but no window.
    account_pages(page_settings settings, Users& users, Store& store, Sessions& sessions,
                  Policies policies = default_policies(), Theme theme = {});

    account_pages(const account_pages&) = delete;
    account_pages& operator=(const account_pages&) = delete;

    /// Implements `http::handler`: responds on this thread, which may block.
    void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`: responds to what the server refused. Never blocks.
    void handle(const http::refusal& refused, http::response& response) noexcept;

    /// Only a form of a signed-in user, or one that signs in, has its body read; all other requests are answered from the head.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response,
                                            http::handler_state& state, http::thread_kind thread) noexcept {
        auto& known = state.get<pages::request_state>();
        if (known.start.at == instant{}) known = start(request);
        const auto which = find(request).page;
        // A form is judged by its head, which needs the session, and then with its body.
        const bool posts = request.method == http::method::post && is_served(which) &&
                           request.body_state != http::body_state::pending;
        if (thread == http::thread_kind::io && may_block(request)) {
            state.set_waits_for(!posts                  ? http::work_kind::pages
                                : checks_password(which) ? http::work_kind::sign_in
                                                         : http::work_kind::forms);
            return http::handle_step::needs_worker;
        }
        return guard(request, response, known);
    }

    /// For tests, and for hosts that do not reuse responses.
    [[nodiscard]] http::response handle(const http::request& request) noexcept {
        http::response response;
        handle(request, response);
        return response;
    }

    /// Style sheet and unknown paths do not block; a password check always does.
    [[nodiscard]] bool may_block(const http::request& request) const noexcept;

    /// The paths for `http::site`.
    [[nodiscard]] std::vector<std::string> mounts() const;
    /// What all pages of a language are below: `/en`, `/de`.
    [[nodiscard]] std::vector<std::string> language_roots() const {
        std::vector<std::string> all;
        for (const web::page_language& each : renderer_.languages()) all.push_back(each.root);
        return all;
    }

    /// The parts that the pages were made with.
    [[nodiscard]] Users& users() noexcept { return users_; }
    [[nodiscard]] Sessions& sessions() noexcept { return sessions_; }
    [[nodiscard]] Store& store() noexcept { return store_; }
    [[nodiscard]] Policies& policies() noexcept { return policies_; }
    [[nodiscard]] const page_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] const renderer_type& renderer() const noexcept { return renderer_; }
    [[nodiscard]] window_limiter& limiter() noexcept { return limiter_; }
    /// The path of a page.
    [[nodiscard]] std::string url_of(page which, const web::page_language& language) const {
        return renderer_.in(language).url(pages::find_path(which).path());
    }

    /// Whether there is such a page: some depend on what users and sessions can do.
    [[nodiscard]] bool is_served(page which) const noexcept {
        if (which == page::activity) return activity_source<Users>;
        if (which == page::security) return pages::shows_security<Sessions>;
        return which != page::none && (signs_in || (which != page::sign_in && which != page::sign_out));
    }

private:
    /// Whether a form of this page may compute a slow password hash.
    [[nodiscard]] static bool checks_password(page which) noexcept {
        return which == page::sign_in || (which == page::security && password_changer<Sessions>);
    }

    /// Empty if it is malformed.
    [[nodiscard]] static http::form_fields query_of(const http::request& request) {
        auto query = http::parse_form(request.target.query);
        return query ? std::move(*query) : http::form_fields{{}};
    }

    [[nodiscard]] pages::page_match find(const http::request& request) const noexcept {
        const auto at = renderer_.find(request.target.path);
        if (!at) return {};
        auto found = pages::find_page(at->path);
        found.language_missing = at->language == nullptr;
        return found;
    }

    [[nodiscard]] pages::request_state start(const http::request& request) const {
        return {pipeline::start_request(policies_),
                http::client_address(request, settings_.trusted_proxies, settings_.client_named_by),
                &renderer_.language_of(request)};
    }
    [[nodiscard]] auto pages_for(const pages::request_state& state) const noexcept { return renderer_.in(*state.language); }
    [[nodiscard]] http::handle_step guard(const http::request& request, http::response& response,
                                          pages::request_state& state) noexcept;
    [[nodiscard]] bool is_change_password_path(std::string_view path) const noexcept {
        if constexpr (!password_changer<Sessions>) return false;
        const auto& root = renderer_.site().root;
        return path == pages::change_password_path ||
               (path.starts_with(root) && path.substr(root.size()) == pages::change_password_path);
    }
    void respond_change_password(const http::request& request, http::response& response, pages::request_state& state) const;
    [[nodiscard]] http::handle_step respond(const http::request& request, http::response& response, pages::request_state& state);
    [[nodiscard]] result<http::handle_step> respond_page_request(page which, const http::request& request,
                                                                 http::response& response, pages::request_state& state);
    void respond_error(const http::request& request, http::response& response, const pages::request_state& state,
                       const error& failure) const;
    void respond_refused_form(page which, http::status refused, http::response& response, const pages::request_state& state) const;
    [[nodiscard]] result<void> admit(page which, const http::request& request, http::response& response,
                                     pages::request_state& state);
    /// Whether a request without a session may be a change of the password that was submitted before, and has ended its session.
    [[nodiscard]] static bool may_repeat_change(page which, const http::request& request) noexcept {
        return repeated_change_source<Sessions> && which == page::security && request.method == http::method::post &&
               request.fields.count(http::field_id::cookie) != 0;
    }
    [[nodiscard]] result<void> respond_repeated_change(const http::request& request, http::response& response,
                                                       const pages::request_state& state);
    [[nodiscard]] result<void> redirect_to_sign_in(page which, const http::request& request, http::response& response,
                                                   const pages::request_state& state) const;
    [[nodiscard]] static pipeline::observed_request observed(const http::request& request, const pages::request_state& state) noexcept {
        return {state.start, request, state.client, state.route};
    }
    [[nodiscard]] result<void> redirect(http::response& response, std::string_view url) const {
        return web::respond_see_other(response, renderer_.site(), url);
    }

    page_settings settings_;
    Users& users_;
    Sessions& sessions_;
    Store& store_;
    Policies policies_;
    renderer_type renderer_;
    window_limiter limiter_{{.users = std::size_t{1} << 14, .addresses = std::size_t{1} << 14}};
};

template <class Users, class Store, class Sessions, class Policies, class Theme>
account_pages<Users, Store, Sessions, Policies, Theme>::account_pages(page_settings settings, Users& users,
                                                                      Store& store, Sessions& sessions,
                                                                      Policies policies, Theme theme)
    : settings_{std::move(settings)},
      users_{users},
      sessions_{sessions},
      store_{store},
      policies_{std::move(policies)},
      // If sign-in is elsewhere, a form of an expired session is redirected there.
      renderer_{settings_.auth_url, settings_.services, web::fit_theme(std::move(theme)),
                signs_in ? web::page_reach::this_site : web::page_reach::other_sites, settings_.documentation_url} {
    detail::require_windows("page", {{"requests", settings_.requests}, {"test_events", settings_.test_events}});
}

template <class Users, class Store, class Sessions, class Policies, class Theme>
bool account_pages<Users, Store, Sessions, Policies, Theme>::may_block(const http::request& request) const noexcept {
    const auto found = find(request);
    if (!is_served(found.page) || found.page == page::start || found.language_missing) return false;
    constexpr bool always =
        http::handler_blocks<Users>() || http::handler_blocks<Sessions>() || http::handler_blocks<Store>();
    return always || checks_password(found.page);
}

template <class Users, class Store, class Sessions, class Policies, class Theme>
std::vector<std::string> account_pages<Users, Store, Sessions, Policies, Theme>::mounts() const {
    const auto& site = renderer_.site();
    std::vector<std::string> all{site.root + "/"};
    for (const auto& each : site.assets) all.push_back(each.path);
    if constexpr (password_changer<Sessions>) {
        all.emplace_back(pages::change_password_path);
        if (!site.root.empty()) all.push_back(std::string{site.root}.append(pages::change_password_path));
    }
    auto roots = language_roots();
    for (const std::string& root : roots) all.push_back(root + "/");
    roots.push_back(site.root);  // paths without a language
    for (const std::string& root : roots) {
        all.push_back(root + "/user/");
        all.push_back(root + "/user/settings");
        if constexpr (signs_in) {
            all.push_back(root + "/user/sign_in");
            all.push_back(root + "/user/sign_out");
        }
    }
    return all;
}

template <class Users, class Store, class Sessions, class Policies, class Theme>
void account_pages<Users, Store, Sessions, Policies, Theme>::handle(const http::request& request,
                                                                    http::response& response) noexcept {
    auto state = start(request);
    static_cast<void>(guard(request, response, state));
}

template <class Users, class Store, class Sessions, class Policies, class Theme>
http::handle_step account_pages<Users, Store, Sessions, Policies, Theme>::guard(const http::request& request,
                                                                                http::response& response,
                                                                                pages::request_state& state) noexcept {
    auto step = http::handle_step::done;
    if constexpr (fits)
        pipeline::respond_or_error(
            response,
            [&] {
                step = respond(request, response, state);
                if (step != http::handle_step::needs_body)
                    observed(request, state).finish(policies_, response, state.user ? &*state.user : nullptr);
            },
            [&](const error& thrown) {
                respond_error(request, response, state, thrown);
                observed(request, state).finish(policies_, response, nullptr);
            });
    return step;
}

template <class Users, class Store, class Sessions, class Policies, class Theme>
void account_pages<Users, Store, Sessions, Policies, Theme>::handle(const http::refusal& refused,
                                                                    http::response& response) noexcept {
    if constexpr (fits) {
        pipeline::write_or_status(response, refused.status, [&] {
            renderer_.respond_refusal(refused, response);
            pipeline::finish_refusal(policies_, refused, pipeline::client_of(refused, settings_), response);
        });
    }
}

template <class Users, class Store, class Sessions, class Policies, class Theme>
void account_pages<Users, Store, Sessions, Policies, Theme>::respond_error(const http::request& request,
                                                                           http::response& response,
                                                                           const pages::request_state& state,
                                                                           const error& failure) const {
    const auto status = pipeline::to_status(failure.kind);
    if (to_number(status) >= 500) observed(request, state).report(policies_, failure);
    response.clear();
    http::add_retry_after(response, status);
    pages_for(state).respond_status(response, status);
}

/// Everything that does not depend on the session.
template <class Users, class Store, class Sessions, class Policies, class Theme>
http::handle_step account_pages<Users, Store, Sessions, Policies, Theme>::respond(const http::request& request,
                                                                                  http::response& response,
                                                                                  pages::request_state& state) {
    constexpr auto done = http::handle_step::done;
    if (pages_for(state).respond_asset(request, response)) return done;
    if (is_change_password_path(request.target.path)) {
        respond_change_password(request, response, state);
        return done;
    }
    const auto found = find(request);
    if (!is_served(found.page)) {
        pages_for(state).respond_status(response, http::status::not_found);
        return done;
    }
    state.route = pages::find_path(found.page).pattern;

    const bool takes_forms = found.page != page::start && found.page != page::overview && found.page != page::activity &&
                             !found.language_missing;
    if (!http::is_read(request.method) && !(takes_forms && request.method == http::method::post)) {
        const http::field_value allowed = takes_forms ? http::field_value{"GET, HEAD, POST, OPTIONS"} : "GET, HEAD, OPTIONS";
        const auto refused = http::refuse_method(request, response, allowed);
        if (refused) pages_for(state).respond_status(response, *refused);
        return done;
    }

    std::string url;
    if (found.language_missing) response.add("Vary", "Accept-Language");
    if (found.page == page::start) url = url_of(page::overview, *state.language);
    else if (http::is_read(request.method) && (found.slash_missing || found.language_missing)) {
        url = url_of(found.page, *state.language);
        if (request.target.has_query) url.append("?").append(request.target.query);
    }
    if (url.empty()) {
        const auto answered = respond_page_request(found.page, request, response, state);
        if (answered) return *answered;
        respond_error(request, response, state, answered.error());
    } else if (const auto led = redirect(response, url); !led) {
        respond_error(request, response, state, led.error());
    }
    return done;
}

/// To the form, in the reader's language.
template <class Users, class Store, class Sessions, class Policies, class Theme>
void account_pages<Users, Store, Sessions, Policies, Theme>::respond_change_password(const http::request& request,
                                                                                     http::response& response,
                                                                                     pages::request_state& state) const {
    state.route = pages::change_password_path;
    if (!http::is_read(request.method)) {
        const auto refused = http::refuse_method(request, response, "GET, HEAD, OPTIONS");
        if (refused) pages_for(state).respond_status(response, *refused);
        return;
    }
    response.add("Vary", "Accept-Language");
    if (const auto led = redirect(response, url_of(page::security, *state.language)); !led)
        respond_error(request, response, state, led.error());
}

/// A form is refused by its head, if it can be, before its body is awaited.
template <class Users, class Store, class Sessions, class Policies, class Theme>
result<http::handle_step> account_pages<Users, Store, Sessions, Policies, Theme>::respond_page_request(
    page which, const http::request& request, http::response& response, pages::request_state& state) {
    const bool posted = request.method == http::method::post;
    if (!state.admitted) {
        const auto refused = posted ? web::check_form_head(request, renderer_.site()) : std::nullopt;
        if (refused) {
            respond_refused_form(which, *refused, response, state);
            return http::handle_step::done;
        }
    }
    if (auto judged = admit(which, request, response, state); !judged) return std::move(judged).error();
    if (!state.admitted) return http::handle_step::done;
    if (posted && request.body_state == http::body_state::pending) return http::handle_step::needs_body;
    if (!state.signed_in && may_repeat_change(which, request))
        return respond_repeated_change(request, response, state).transform([] { return http::handle_step::done; });

    http::form_fields form{{}};
    if (posted) {
        auto read = web::read_form(request, renderer_.site());
        if (const auto* refused = std::get_if<http::status>(&read)) {
            pages_for(state).respond_status(response, *refused);
            return http::handle_step::done;
        }
        form = std::get<http::form_fields>(std::move(read));
    }
    const auto query = query_of(request);
    auto answered = [&] {
        if constexpr (signs_in)
            if (which == page::sign_in)
                return pages::respond_sign_in(*this, {*state.language, request, posted ? form : query, state.client, state.judged_at},
                                              response);
        return pages::dispatch(*this,
                               {which, *state.language, request, *state.signed_in, {}, form, query, state.client, state.judged_at},
                               response);
    }();
    return std::move(answered).transform([] { return http::handle_step::done; });
}

/// Over plain http, browsers do not say that a form of an https site was sent from that site. Other forms need a session, which such a
/// browser does not have.
template <class Users, class Store, class Sessions, class Policies, class Theme>
void account_pages<Users, Store, Sessions, Policies, Theme>::respond_refused_form(page which, http::status refused,
                                                                                  http::response& response,
                                                                                  const pages::request_state& state) const {
    const auto pages = pages_for(state);
    if (which != page::sign_in || refused != http::status::forbidden) return pages.respond_status(response, refused);
    const message_texts& texts = pages.texts().sign_in.other_address;
    const auto explanation = fill_in(texts.explanation, renderer_.site().origin);
    pages.respond_message(response, refused, {texts.heading, explanation});
}

/// Finds the session of the request, again if it has waited for long, and counts the request once. Answers it if there is no session,
/// or too many requests came before it.
template <class Users, class Store, class Sessions, class Policies, class Theme>
result<void> account_pages<Users, Store, Sessions, Policies, Theme>::admit(page which, const http::request& request,
                                                                           http::response& response,
                                                                           pages::request_state& state) {
    const instant now = policy(policies_.clock).now();
    if (state.admitted && !pipeline::is_outdated(state.judged_at, now)) return {};
    const bool was_counted = std::exchange(state.admitted, false);
    state.judged_at = now;
    const bool signs_in_here = signs_in && which == page::sign_in;
    if (!signs_in_here) {
        auto found = sessions_.session_of(request, now);
        if (!found) return std::move(found).error();
        state.signed_in = *std::move(found);
        state.user.reset();
        if (state.signed_in) state.user = caller_on_page(state.signed_in->user);
    }
    if (!was_counted) {
        const auto key = state.signed_in ? limit_key::of(state.signed_in->user) : limit_key::of(state.client);
        const auto window = limiter_.take(key, settings_.requests, now);
        if (!window.admitted) {
            http::add_retry_after(response, window.resets_at - now);
            pages_for(state).respond_status(response, http::status::too_many_requests);
            return {};
        }
    }
    state.admitted = signs_in_here || state.signed_in.has_value() || may_repeat_change(which, request);
    if (state.admitted) return {};
    return redirect_to_sign_in(which, request, response, state);
}

/// Only the body of the form says whether it has ended its session itself.
template <class Users, class Store, class Sessions, class Policies, class Theme>
result<void> account_pages<Users, Store, Sessions, Policies, Theme>::respond_repeated_change(const http::request& request,
                                                                                             http::response& response,
                                                                                             const pages::request_state& state) {
    if constexpr (repeated_change_source<Sessions>) {
        const auto repeated = sessions_.find_repeated_change(request, state.judged_at, response);
        if (!repeated) return repeated.error();
        if (*repeated)
            return redirect(response, url_of(page::security, *state.language).append("?").append(pages::done_name).append("=").append(
                                          pages::password_changed_done));
    }
    return redirect_to_sign_in(page::security, request, response, state);
}

template <class Users, class Store, class Sessions, class Policies, class Theme>
result<void> account_pages<Users, Store, Sessions, Policies, Theme>::redirect_to_sign_in(page which, const http::request& request,
                                                                                         http::response& response,
                                                                                         const pages::request_state& state) const {
    // A form that was submitted twice has signed out.
    if (which == page::sign_out)
        return redirect(response, pages::signed_out_url(url_of(page::sign_in, *state.language), request.method == http::method::post));
    auto return_to = url_of(which, *state.language);
    if (request.method == http::method::post) return_to.append("?").append(pages::done_name).append("=").append(pages::signed_out_done);
    else if (request.target.has_query) return_to.append("?").append(request.target.query);
    auto url = sessions_.sign_in_url(return_to);
    // Encoded once more, a long query may not fit in a request target. It can only name a part of the page.
    if (url.size() > limits::target_bytes_max) url = sessions_.sign_in_url(url_of(which, *state.language));
    return redirect(response, url);
}

}  // namespace tollgate

#endif  // TOLLGATE_PAGES_ACCOUNT_PAGES_HPP
