#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_PAGE_HANDLER_HPP
#define TOLLGATE_PAGES_DETAIL_PAGE_HANDLER_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/contract/account_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pages/detail/dispatch.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/pages/detail/sign_in_page.hpp>
#include <tollgate/pipeline/current_request.hpp>
#include <tollgate/pipeline/detail/decision_age.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/policies.hpp>
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
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0::pages {

/// What `account_pages` is made of: how each request is answered.
class page_handler {
public:
    page_handler(account_service_settings settings, const user_directory_ref& users, const account_store_ref& store,
                 const session_source_ref& sessions,
                 tollgate::policies policies, any_page_theme theme);

    page_handler(const page_handler&) = delete;
    page_handler& operator=(const page_handler&) = delete;

    /// Implements `http::handler`: responds on this thread, which may block.
    void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`: responds to what the server refused. Never blocks.
    void handle(const http::refusal& refused, http::response& response) noexcept;

    /// Only a form of a signed-in user, or one that signs in, has its body read; all other requests are answered from the head.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response,
                                            http::handler_state& state, http::thread_kind thread) noexcept {
        auto& known = state.get<request_state>();
        if (known.start.at == instant{}) known = start(request);
        const auto which = find(request).page;
        // A form is judged by its head, which needs the session, and then with its body.
        const bool posts = request.method == http::method::post && parts_.is_served(which) &&
                           request.body_state != http::body_state::pending;
        if (thread == http::thread_kind::io && may_block(request)) {
            state.set_waits_for(!posts                  ? http::work_kind::pages
                                : checks_password(which) ? http::work_kind::sign_in
                                                         : http::work_kind::forms);
            return http::handle_step::needs_worker;
        }
        return guard(request, response, known);
    }

    /// Returns true if any request may block: a password check always does.
    [[nodiscard]] bool may_block() const noexcept {
        return parts_.users.may_block() || parts_.sessions.may_block() || parts_.store.may_block() || parts_.sessions.signs_in() ||
               parts_.policies.limiter().may_block();
    }
    /// Style sheet and unknown paths do not block; a password check always does.
    [[nodiscard]] bool may_block(const http::request& request) const noexcept;

    /// The paths for `http::site`.
    [[nodiscard]] std::vector<std::string> mounts() const;
    /// What all pages of a language are below: `/en`, `/de`.
    [[nodiscard]] std::vector<std::string> language_roots() const {
        std::vector<std::string> all;
        for (const web::page_language& each : parts_.renderer.languages()) all.push_back(each.root);
        return all;
    }

    /// The settings that it was constructed with.
    [[nodiscard]] const account_service_settings& settings() const noexcept { return parts_.settings; }

private:
    /// Returns true if a form of this page may compute a slow password hash.
    [[nodiscard]] bool checks_password(page which) const noexcept {
        return which == page::sign_in || (which == page::security && parts_.sessions.changes_passwords());
    }

    /// The result is empty if it is malformed.
    [[nodiscard]] static http::form_fields query_of(const http::request& request) {
        auto query = http::parse_form(request.target.query);
        return query ? std::move(*query) : http::form_fields{{}};
    }

    [[nodiscard]] page_match find(const http::request& request) const noexcept {
        const auto at = parts_.renderer.find(request.target.path);
        if (!at) return {};
        auto found = find_page(at->path);
        found.language_missing = at->language == nullptr;
        return found;
    }

    [[nodiscard]] request_state start(const http::request& request) const {
        return {pipeline::start_request(parts_.policies),
                http::client_address(request, parts_.settings.trusted_proxies, parts_.settings.client_named_by),
                &parts_.renderer.language_of(request)};
    }
    [[nodiscard]] auto pages_for(const request_state& state) const noexcept { return parts_.renderer.in(*state.language); }
    [[nodiscard]] http::handle_step guard(const http::request& request, http::response& response,
                                          request_state& state) noexcept;
    [[nodiscard]] bool is_change_password_path(std::string_view path) const noexcept {
        if (!parts_.sessions.changes_passwords()) return false;
        const auto& root = parts_.renderer.site().root;
        return path == change_password_path ||
               (path.starts_with(root) && path.substr(root.size()) == change_password_path);
    }
    void respond_change_password(const http::request& request, http::response& response, request_state& state) const;
    [[nodiscard]] http::handle_step respond(const http::request& request, http::response& response, request_state& state);
    [[nodiscard]] result<http::handle_step> respond_page_request(page which, const http::request& request,
                                                                 http::response& response, request_state& state);
    void respond_error(const http::request& request, http::response& response, const request_state& state,
                       const error& failure) const;
    void respond_refused_form(page which, http::status refused, http::response& response, const request_state& state) const;
    [[nodiscard]] result<void> admit(page which, const http::request& request, http::response& response,
                                     request_state& state);
    /// Returns true if a request without a session may be a change of the password that was submitted before, and has ended its session.
    [[nodiscard]] bool may_repeat_change(page which, const http::request& request) const noexcept {
        return parts_.sessions.finds_repeated_changes() && which == page::security && request.method == http::method::post &&
               request.fields.count(http::field_id::cookie) != 0;
    }
    [[nodiscard]] result<void> respond_repeated_change(const http::request& request, http::response& response, const request_state& state);
    [[nodiscard]] result<void> redirect_to_sign_in(page which, const http::request& request, http::response& response,
                                                   const request_state& state) const;
    [[nodiscard]] static pipeline::observed_request observed(const http::request& request, const request_state& state) noexcept {
        return {state.start, request, state.client, state.route};
    }
    [[nodiscard]] result<void> redirect(http::response& response, std::string_view url) const {
        return web::respond_see_other(response, parts_.renderer.site(), url);
    }

    page_environment parts_;
};

/// If sign-in is elsewhere, a form of an expired session is redirected there.
[[nodiscard]] inline page_environment make_environment(account_service_settings settings, const user_directory_ref& users,
                                                       const account_store_ref& store, const session_source_ref& sessions,
                                                       tollgate::policies policies, any_page_theme theme) {
    const auto reach = sessions.signs_in() ? web::page_reach::this_site : web::page_reach::other_sites;
    return {.settings = settings,
            .users = users,
            .sessions = sessions,
            .store = store,
            .policies = std::move(policies),
            .renderer = {settings.auth_url, settings.services, std::move(theme), reach, settings.documentation_url}};
}

inline page_handler::page_handler(account_service_settings configured, const user_directory_ref& users, const account_store_ref& store,
                                  const session_source_ref& sessions, tollgate::policies policies, any_page_theme theme)
    : parts_{make_environment(with_auth_url(std::move(configured)), users, store, sessions, std::move(policies), std::move(theme))} {
    const page_settings& settings = parts_.settings.pages;
    tollgate::detail::require_windows("page", {{"requests", settings.requests}, {"test_events", settings.test_events}});
}

inline bool page_handler::may_block(const http::request& request) const noexcept {
    const auto found = find(request);
    if (!parts_.is_served(found.page) || found.page == page::start || found.language_missing) return false;
    const bool reads_window = found.page == page::overview && parts_.policies.limiter().may_block();
    return parts_.users.may_block() || parts_.sessions.may_block() || parts_.store.may_block() || checks_password(found.page) ||
           reads_window;
}

inline std::vector<std::string> page_handler::mounts() const {
    const auto& site = parts_.renderer.site();
    std::vector<std::string> all{site.root + "/"};
    for (const auto& each : site.assets) all.push_back(each.path);
    if (parts_.sessions.changes_passwords()) {
        all.emplace_back(change_password_path);
        if (!site.root.empty()) all.push_back(std::string{site.root}.append(change_password_path));
    }
    auto roots = language_roots();
    for (const std::string& root : roots) all.push_back(root + "/");
    roots.push_back(site.root);  // paths without a language
    for (const std::string& root : roots) {
        all.push_back(root + "/user/");
        all.push_back(root + "/user/settings");
        if (parts_.sessions.signs_in()) {
            all.push_back(root + "/user/sign_in");
            all.push_back(root + "/user/sign_out");
        }
    }
    return all;
}

inline void page_handler::handle(const http::request& request, http::response& response) noexcept {
    auto state = start(request);
    static_cast<void>(guard(request, response, state));
}

inline http::handle_step page_handler::guard(const http::request& request, http::response& response, request_state& state) noexcept {
    auto step = http::handle_step::done;
    const pipeline::request_scope scope{request, state.start.id};
        pipeline::respond_or_error(
            response,
            [&] {
                step = respond(request, response, state);
                if (step != http::handle_step::needs_body)
                    observed(request, state).finish(parts_.policies, response, state.user ? &*state.user : nullptr);
            },
            [&](const error& thrown) {
                respond_error(request, response, state, thrown);
                observed(request, state).finish(parts_.policies, response, nullptr);
            });
    return step;
}

inline void page_handler::handle(const http::refusal& refused, http::response& response) noexcept {
    {
        pipeline::write_or_status(response, refused.status, [&] {
            parts_.renderer.respond_refusal(refused, response);
            pipeline::finish_refusal(parts_.policies, refused, pipeline::client_of(refused, parts_.settings), response);
        });
    }
}

inline void page_handler::respond_error(const http::request& request, http::response& response, const request_state& state,
                                        const error& failure) const {
    const auto status = pipeline::to_status(failure.kind);
    if (to_number(status) >= 500) observed(request, state).report(parts_.policies, failure);
    response.clear();
    http::add_retry_after(response, status);
    pages_for(state).respond_status(response, status);
}

/// Everything that does not depend on the session.
inline http::handle_step page_handler::respond(const http::request& request, http::response& response, request_state& state) {
    constexpr auto done = http::handle_step::done;
    if (pages_for(state).respond_asset(request, response)) return done;
    if (is_change_password_path(request.target.path)) {
        respond_change_password(request, response, state);
        return done;
    }
    const auto found = find(request);
    if (!parts_.is_served(found.page)) {
        pages_for(state).respond_status(response, http::status::not_found);
        return done;
    }
    state.route = find_path(found.page).pattern;

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
    if (found.page == page::start) url = parts_.url_of(page::overview, *state.language);
    else if (http::is_read(request.method) && (found.slash_missing || found.language_missing)) {
        url = parts_.url_of(found.page, *state.language);
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
inline void page_handler::respond_change_password(const http::request& request, http::response& response, request_state& state) const {
    state.route = change_password_path;
    if (!http::is_read(request.method)) {
        const auto refused = http::refuse_method(request, response, "GET, HEAD, OPTIONS");
        if (refused) pages_for(state).respond_status(response, *refused);
        return;
    }
    response.add("Vary", "Accept-Language");
    if (const auto led = redirect(response, parts_.url_of(page::security, *state.language)); !led)
        respond_error(request, response, state, led.error());
}

/// A form is refused by its head, if it can be, before its body is awaited.
inline result<http::handle_step> page_handler::respond_page_request(
    page which, const http::request& request, http::response& response, request_state& state) {
    const bool posted = request.method == http::method::post;
    if (!state.admitted) {
        const auto refused = posted ? web::check_form_head(request, parts_.renderer.site()) : std::nullopt;
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
        auto read = web::read_form(request, parts_.renderer.site());
        if (const auto* refused = std::get_if<http::status>(&read)) {
            pages_for(state).respond_status(response, *refused);
            return http::handle_step::done;
        }
        form = std::get<http::form_fields>(std::move(read));
    }
    const auto query = query_of(request);
    auto answered = [&] {
        if (parts_.sessions.signs_in())
            if (which == page::sign_in)
                return respond_sign_in(parts_, {*state.language, request, posted ? form : query, state.client, state.judged_at}, response);
        return dispatch(parts_,
                               {which, *state.language, request, *state.signed_in, {}, form, query, state.client, state.judged_at},
                               response);
    }();
    return std::move(answered).transform([] { return http::handle_step::done; });
}

/// Over plain http, browsers do not say that a form of an https site was sent from that site. Other forms need a session, which such a
/// browser does not have.
inline void page_handler::respond_refused_form(page which, http::status refused, http::response& response,
                                               const request_state& state) const {
    const auto pages = pages_for(state);
    if (which != page::sign_in || refused != http::status::forbidden) return pages.respond_status(response, refused);
    const message_texts& texts = pages.texts().sign_in.other_address;
    const auto explanation = fill_in(texts.explanation, parts_.renderer.site().origin);
    pages.respond_message(response, refused, {texts.heading, explanation});
}

/// Finds the session of the request, again if it has waited for long, and counts the request once. Answers it if there is no session,
/// or too many requests came before it.
inline result<void> page_handler::admit(page which, const http::request& request, http::response& response, request_state& state) {
    const instant now = parts_.policies.clock().now();
    if (state.admitted && !pipeline::is_outdated(state.judged_at, now)) return {};
    const bool was_counted = std::exchange(state.admitted, false);
    state.judged_at = now;
    const bool signs_in_here = parts_.sessions.signs_in() && which == page::sign_in;
    if (!signs_in_here) {
        auto found = parts_.sessions.session_of(request, now);
        if (!found) return std::move(found).error();
        state.signed_in = *std::move(found);
        state.user.reset();
        if (state.signed_in) state.user = caller_on_page(state.signed_in->user);
    }
    if (!was_counted) {
        const auto key = state.signed_in ? limit_key::of(state.signed_in->user) : limit_key::of(state.client);
        const auto window = parts_.limiter.take(key, parts_.settings.pages.requests, now);
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
inline result<void> page_handler::respond_repeated_change(const http::request& request, http::response& response,
                                                          const request_state& state) {
    const auto repeated = parts_.sessions.find_repeated_change(request, state.judged_at, response);
    if (!repeated) return repeated.error();
    if (*repeated)
        return redirect(response, parts_.url_of(page::security, *state.language)
                                      .append("?")
                                      .append(done_name)
                                      .append("=")
                                      .append(password_changed_done));
    return redirect_to_sign_in(page::security, request, response, state);
}

inline result<void> page_handler::redirect_to_sign_in(page which, const http::request& request, http::response& response,
                                                      const request_state& state) const {
    // A form that was submitted twice has signed out.
    if (which == page::sign_out)
        return redirect(response, signed_out_url(parts_.url_of(page::sign_in, *state.language), request.method == http::method::post));
    auto return_to = parts_.url_of(which, *state.language);
    if (request.method == http::method::post) return_to.append("?").append(done_name).append("=").append(signed_out_done);
    else if (request.target.has_query) return_to.append("?").append(request.target.query);
    auto url = parts_.sessions.sign_in_url(return_to);
    // Encoded once more, a long query may not fit in a request target. It can only name a part of the page.
    if (url.size() > limits::target_bytes_max) url = parts_.sessions.sign_in_url(parts_.url_of(which, *state.language));
    return redirect(response, url);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_PAGE_HANDLER_HPP
