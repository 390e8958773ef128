#pragma once

#include <tollgate/contract/time_source.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/oauth/detail/authorization_page.hpp>
#include <tollgate/oauth/detail/client_endpoints.hpp>
#include <tollgate/oauth/detail/metadata.hpp>
#include <tollgate/oauth/detail/page_request.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/pipeline/detail/agent.hpp>
#include <tollgate/pipeline/detail/answer.hpp>
#include <tollgate/pipeline/detail/limit.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/plain_theme.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// OAuth 2.0 at `{auth_url}` (RFC 6749, the authorization code grant): the authorization page, the token endpoint,
/// revocation (RFC 7009), metadata (RFC 8414). A handler, to be hosted by `server` or by any other HTTP server.
///
///     authorization_server oauth{settings, sessions, store};
///     authorization_server oauth{settings, sessions, store, default_policies().with_limiter(std::ref(limiter))};
///     http::site site{http::mounted("/v1", api), http::mounted(oauth), http::mounted(pages)};
///
/// The limiter counts wrong client secrets against the client's address: give it the API's by `std::ref`. Sessions and
/// store are the integrator's and must outlive it. Thread rule: `handle` may be called from many threads at once.
/// Blocking: exactly if the sessions, the store or the limiter block, and while a password is checked. The metadata asks
/// none of them, so that it says whether the process answers, whatever becomes of a database.
template <class Sessions, class Store, class Policies = decltype(default_policies()), class Theme = plain_theme>
class authorization_server {
    static constexpr bool sessions_fit = session_source<Sessions>;
    static constexpr bool store_fits = oauth_store<Store>;
    static constexpr bool theme_fits = page_theme<policy_type<Theme>>;
    static_assert(sessions_fit, "tollgate: this is no session_source; read tollgate/contract/session_source.hpp");
    static_assert(store_fits, "tollgate: this is no oauth_store; read tollgate/contract/oauth_store.hpp");
    static_assert(theme_fits, "tollgate: this is no page_theme; read tollgate/web/page_theme.hpp");
    static constexpr bool fits = sessions_fit && store_fits && theme_fits;

    static constexpr bool always_blocks = http::handler_blocks<Sessions>() || http::handler_blocks<Store>();
    static constexpr bool limiter_blocks = http::handler_blocks<policy_type<decltype(Policies::limiter)>>();

public:
    static constexpr bool blocking = always_blocks || limiter_blocks || sign_in_source<Sessions>;

    /// Throws std::invalid_argument for an auth_url that is no absolute URL, and std::runtime_error when there are no
    /// random bytes.
    authorization_server(oauth_settings settings, Sessions& sessions, Store& store,
                         Policies policies = default_policies(), Theme theme = {})
        : settings_{std::move(settings)},
          sessions_{sessions},
          store_{store},
          policies_{std::move(policies)},
          pages_{settings_.auth_url, settings_.services, pipeline::fit_theme(std::move(theme)),
                 pipeline::page_reach::onward},
          places_{settings_, pages_.site().root} {
        while (settings_.auth_url.ends_with('/')) settings_.auth_url.pop_back();
        docs_url_ = settings_.auth_url + "/docs/";
        metadata_ = oauth::make_metadata(settings_);
        const auto key = oauth::new_secret(secret_kind::session, policy(policies_.random));
        if (!key) throw std::runtime_error{"tollgate: the random source gave nothing"};
        form_key_ = *key;
    }

    // What answers points into it.
    authorization_server(const authorization_server&) = delete;
    authorization_server& operator=(const authorization_server&) = delete;

    void handle(const http::request& asked, http::response& out) noexcept;
    void handle(const http::refusal& refused, http::response& out) noexcept;

    /// Only a POST to a known place has its body read; all other requests are answered from the head.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state&,
                                            http::thread_kind thread) noexcept {
        const bool needs_body = request.method == http::method::post && !asks_nobody(places_.find(request.target.path)) &&
                                names_agent(request);
        if (needs_body && request.body_state == http::body_state::pending) return http::handle_step::needs_body;
        if (thread == http::thread_kind::io && may_block(request)) return http::handle_step::needs_worker;
        handle(request, response);
        return http::handle_step::done;
    }

    /// For tests, and for hosts that have no response to use again.
    [[nodiscard]] http::response handle(const http::request& asked) noexcept {
        http::response out;
        handle(asked, out);
        return out;
    }

    /// Where it belongs on a `http::site`.
    [[nodiscard]] std::vector<std::string> mounts() const {
        auto all = places_.mounts();
        all.push_back(pages_.site().style_url);
        return all;
    }

    /// Metadata, the style sheet and unknown pages never wait, but for those without an agent, which are counted. A password
    /// takes time, and is only ever sent to the page where people sign in and agree at once.
    [[nodiscard]] bool may_block(const http::request& asked) const noexcept {
        const auto where = places_.find(asked.target.path);
        const bool limiter_waits = limiter_blocks && pipeline::limiter_may_block(policy(policies_.limiter));
        if (asks_nobody(where)) return limiter_waits && !names_agent(asked);
        return always_blocks || limiter_waits ||
               (asked.method == http::method::post && where == oauth::place::one_page);
    }

    [[nodiscard]] const oauth_settings& settings() const noexcept { return settings_; }

private:
    void answer(const http::request& asked, oauth::visit& now, http::response& out);
    void answer_place(const http::request& asked, oauth::visit& now, http::response& out);
    void answer_nowhere(const http::request& asked, http::response& out) const;
    void answer_thrown(std::string_view what, const http::request& asked, oauth::visit& now,
                       http::response& out) noexcept;
    void finish(const http::request& asked, const oauth::visit& now, http::response& out);

    [[nodiscard]] static bool asks_nobody(oauth::place where) noexcept {
        return where == oauth::place::metadata || where == oauth::place::nowhere;
    }

    [[nodiscard]] bool names_agent(const http::request& asked) const noexcept {
        pipeline::judgement found;
        pipeline::look_at_agent(policy(policies_.agent_rule), asked, found);
        return found.agent_accepted;
    }

    /// Whether a person is looking: then there is a page, and no limit fields.
    [[nodiscard]] bool is_page(const http::request& asked, const oauth::visit& now) const noexcept {
        return now.where == oauth::place::authorization || now.where == oauth::place::one_page ||
               (now.where == oauth::place::nowhere && places_.is_among_pages(asked.target.path));
    }

    oauth_settings settings_;
    Sessions& sessions_;
    Store& store_;
    Policies policies_;
    pipeline::page_maker<pipeline::fitting_theme<Theme>> pages_;
    oauth::places places_;
    std::string docs_url_;
    std::string metadata_;
    secret_text form_key_;
};

template <class Sessions, class Store, class Policies, class Theme>
void authorization_server<Sessions, Store, Policies, Theme>::answer(const http::request& asked, oauth::visit& now,
                                                                    http::response& out) {
    now.now = policy(policies_.clock).now();
    now.client = http::client_address(asked, settings_.trusted_proxies);
    now.where = places_.find(asked.target.path);
    if (names_agent(asked)) {
        answer_place(asked, now, out);
    } else {
        now.window = policy(policies_.limiter).take(limit_key::of(now.client), settings_.anonymous_quota, now.now);
        oauth::write_without_agent(out, now, docs_url_);
    }
    finish(asked, now, out);
}

template <class Sessions, class Store, class Policies, class Theme>
void authorization_server<Sessions, Store, Policies, Theme>::answer_place(const http::request& asked, oauth::visit& now,
                                                                          http::response& out) {
    const oauth::client_endpoints<Store, Policies> endpoints{settings_, store_, policies_, docs_url_};
    const oauth::authorization_page<Sessions, Store, Policies, pipeline::fitting_theme<Theme>> page{
        .settings = settings_, .sessions = sessions_, .store = store_,
        .policies = policies_, .pages = pages_, .form_key = form_key_};
    switch (now.where) {
        case oauth::place::token: return endpoints.answer_token(asked, now, out);
        case oauth::place::revocation: return endpoints.answer_revocation(asked, now, out);
        case oauth::place::metadata: return oauth::answer_metadata(asked, metadata_, docs_url_, out);
        case oauth::place::authorization:
        case oauth::place::one_page: return page.answer(asked, now, out);
        case oauth::place::nowhere: return answer_nowhere(asked, out);
    }
}

template <class Sessions, class Store, class Policies, class Theme>
void authorization_server<Sessions, Store, Policies, Theme>::answer_nowhere(const http::request& asked,
                                                                            http::response& out) const {
    if (pages_.site().answer_style_sheet(asked, out)) return;
    if (places_.is_among_pages(asked.target.path)) return pages_.answer_status(out, http::status::not_found);
    pipeline::write_error(out, http::status::not_found, "Not Found", docs_url_, pipeline::about_errors);
}

template <class Sessions, class Store, class Policies, class Theme>
void authorization_server<Sessions, Store, Policies, Theme>::finish(const http::request& asked, const oauth::visit& now,
                                                                    http::response& out) {
    auto& limiter = policy(policies_.limiter);
    const auto key = limit_key::of(now.client);
    if (now.window) pipeline::add_window(out, *now.window);
    else if (!is_page(asked, now))
        pipeline::add_window(out, asks_nobody(now.where)
                                      ? pipeline::glance(limiter, key, settings_.anonymous_quota, now.now)
                                      : limiter.peek(key, settings_.anonymous_quota, now.now));
    policy(policies_.observer).on_request({asked, out, now.who ? &*now.who : nullptr, now.client, now.now});
}

template <class Sessions, class Store, class Policies, class Theme>
void authorization_server<Sessions, Store, Policies, Theme>::answer_thrown(std::string_view what,
                                                                           const http::request& asked,
                                                                           oauth::visit& now,
                                                                           http::response& out) noexcept {
    try {
        const auto why = internal_error(std::string{"thrown: "}.append(what));
        policy(policies_.observer).on_problem(why);
        out.clear();
        if (is_page(asked, now)) pages_.answer_status(out, http::status::internal_server_error);
        else oauth::write_problem(out, why, docs_url_);
        finish(asked, now, out);
    } catch (...) {
        // Only the heap throws here: without it there is a status, and nothing to say it with.
        out.clear();
        out.set_status(http::status::internal_server_error);
    }
}

template <class Sessions, class Store, class Policies, class Theme>
void authorization_server<Sessions, Store, Policies, Theme>::handle(const http::request& asked,
                                                                    http::response& out) noexcept {
    if constexpr (fits) {
        oauth::visit now;
        try {
            answer(asked, now, out);
        } catch (const std::exception& thrown) {
            answer_thrown(thrown.what(), asked, now, out);
        } catch (...) {
            answer_thrown("something that is no std::exception", asked, now, out);
        }
    }
}

template <class Sessions, class Store, class Policies, class Theme>
void authorization_server<Sessions, Store, Policies, Theme>::handle(const http::refusal& refused,
                                                                    http::response& out) noexcept {
    if constexpr (fits) {
        try {
            // Worded where sockets are served.
            const auto window = pipeline::glance(policy(policies_.limiter), limit_key::of(refused.peer),
                                                 settings_.anonymous_quota, policy(policies_.clock).now());
            if (refused.status == http::status::service_unavailable)
                out.add("Retry-After", pipeline::retry_after_unavailable_seconds);
            pipeline::write_error(out, refused.status, refused.reason, docs_url_, pipeline::to_topic(refused.status));
            pipeline::add_window(out, window);
            policy(policies_.observer).on_refusal(refused);
        } catch (...) {
            out.clear();
            out.set_status(refused.status);
        }
    }
}

}  // namespace tollgate
