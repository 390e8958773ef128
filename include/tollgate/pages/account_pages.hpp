#pragma once

#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/pages/detail/applications_page.hpp>
#include <tollgate/pages/detail/authorizations_page.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/pages/detail/sign_in_page.hpp>
#include <tollgate/pages/detail/tokens_page.hpp>
#include <tollgate/pages/detail/webhooks_page.hpp>
#include <tollgate/pages/detail/settings.hpp>
#include <tollgate/pipeline/detail/answer.hpp>
#include <tollgate/pipeline/detail/refused.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/page_theme.hpp>
#include <tollgate/web/plain_theme.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0 {

/// The pages on which people look after their account: personal tokens, applications, authorizations and webhooks, and,
/// where `Sessions` lets people in by itself, sign-in and sign-out. A handler, to be hosted by `server` or by any other
/// HTTP server.
///
///     account_pages pages{settings, users, sessions, store};
///     http::site site{http::mounted("/v1", api), http::mounted(pages)};
///
/// Users, sessions and store are the integrator's and must outlive it. Thread rule: `handle` may be called from many
/// threads at once. Blocking: if users, sessions or store block, and for passwords, which take long on purpose.
template <class Users, class Sessions, class Store, class Policies = decltype(default_policies()),
          class Theme = plain_theme>
class account_pages {
    static constexpr bool users_fit = user_directory<Users>;
    static constexpr bool sessions_fit = session_source<Sessions>;
    static constexpr bool store_fits = token_store<Store> && oauth_store<Store> && hook_store<Store>;
    static constexpr bool theme_fits = page_theme<policy_type<Theme>>;
    static_assert(users_fit, "tollgate: this is no user_directory; read tollgate/contract/user_directory.hpp");
    static_assert(sessions_fit, "tollgate: this is no session_source; read tollgate/contract/session_source.hpp");
    static_assert(
        store_fits,
        "tollgate: this is no token_store, oauth_store and hook_store; read tollgate/contract/token_store.hpp, "
        "tollgate/contract/oauth_store.hpp and tollgate/contract/hook_store.hpp");
    static_assert(theme_fits, "tollgate: this is no page_theme; read tollgate/web/page_theme.hpp");
    static constexpr bool fits = users_fit && sessions_fit && store_fits && theme_fits;

    using maker_type = pipeline::page_maker<pipeline::fitting_theme<Theme>>;
    using call = pages::page_call<account_pages>;
    using room = pages::room;

public:
    /// Whether people sign in and out here; where not, they are sent to `Sessions::sign_in_url`.
    static constexpr bool signs_in = sign_in_source<Sessions>;

    static constexpr bool blocking =
        signs_in || http::handler_blocks<Users>() || http::handler_blocks<Sessions>() || http::handler_blocks<Store>();

    /// Throws std::invalid_argument for an auth_url that is no absolute http or https URL.
    account_pages(page_settings settings, Users& users, Sessions& sessions, Store& store,
                  Policies policies = default_policies(), Theme theme = {});

    account_pages(const account_pages&) = delete;
    account_pages& operator=(const account_pages&) = delete;

    void handle(const http::request& asked, http::response& out) noexcept;
    void handle(const http::refusal& refused, http::response& out) noexcept;

    /// Only a POST to a known page has its body read; all other requests are answered from the head.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state&,
                                            http::thread_kind thread) noexcept {
        const bool needs_body = request.method == http::method::post &&
                                is_here(pages::find_room(request.target.path, maker_.site().root).where);
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

    /// Style sheet and unknown pages never wait; a password always may.
    [[nodiscard]] bool may_block(const http::request& asked) const noexcept;

    /// For `http::site`: every path that it answers for.
    [[nodiscard]] std::vector<std::string> mounts() const;

    [[nodiscard]] Users& users() noexcept { return users_; }
    [[nodiscard]] Sessions& sessions() noexcept { return sessions_; }
    [[nodiscard]] Store& store() noexcept { return store_; }
    [[nodiscard]] Policies& policies() noexcept { return policies_; }
    [[nodiscard]] const page_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] const maker_type& maker() const noexcept { return maker_; }
    [[nodiscard]] std::string url_of(room where) const {
        return maker_.site().root + std::string{pages::path_of(where)};
    }

    /// A page of the settings, with what all of them have around their content.
    template <class Write>
    void answer_room(http::response& out, const pages::page_visit& visit, page_frame frame, Write&& write) const;

private:
    /// The forms of all these pages share a purpose: each belongs to whoever is signed in.
    [[nodiscard]] static pipeline::form_seal seal_of(const session& who) noexcept { return {who, "account pages"}; }

    /// One that cannot be read says nothing.
    [[nodiscard]] static http::form_fields query_of(const http::request& asked) {
        auto query = http::parse_form(asked.target.query);
        return query ? std::move(*query) : http::form_fields{{}};
    }

    [[nodiscard]] bool is_here(room where) const noexcept {
        return where != room::none && (signs_in || (where != room::sign_in && where != room::sign_out));
    }

    void answer(const http::request& asked, http::response& out, instant now);
    void answer_thrown(std::string_view what, const http::request& asked, http::response& out, instant now) noexcept;
    void answer_error(http::response& out, const error& why) const;
    [[nodiscard]] result<void> enter(const pages::caller_at_door& at, http::response& out);
    [[nodiscard]] result<void> enter_settings(const pages::page_visit& visit, http::response& out);
    [[nodiscard]] result<void> sign_out(const pages::page_visit& visit, http::response& out);
    [[nodiscard]] result<void> go(http::response& out, std::string_view url) const {
        return pipeline::answer_see_other(out, maker_.site(), url);
    }

    page_settings settings_;
    Users& users_;
    Sessions& sessions_;
    Store& store_;
    Policies policies_;
    maker_type maker_;
};

template <class Users, class Sessions, class Store, class Policies, class Theme>
account_pages<Users, Sessions, Store, Policies, Theme>::account_pages(page_settings settings, Users& users,
                                                                      Sessions& sessions, Store& store,
                                                                      Policies policies, Theme theme)
    : settings_{std::move(settings)},
      users_{users},
      sessions_{sessions},
      store_{store},
      policies_{std::move(policies)},
      // Where people sign in elsewhere, a form of somebody who is not signed in any more leads there.
      maker_{settings_.auth_url, settings_.services, pipeline::fit_theme(std::move(theme)),
             signs_in ? pipeline::page_reach::here : pipeline::page_reach::onward} {}

template <class Users, class Sessions, class Store, class Policies, class Theme>
bool account_pages<Users, Sessions, Store, Policies, Theme>::may_block(const http::request& asked) const noexcept {
    const auto found = pages::find_room(asked.target.path, maker_.site().root);
    if (!is_here(found.where) || found.where == room::start) return false;
    constexpr bool always =
        http::handler_blocks<Users>() || http::handler_blocks<Sessions>() || http::handler_blocks<Store>();
    return always || found.where == room::sign_in;
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
std::vector<std::string> account_pages<Users, Sessions, Store, Policies, Theme>::mounts() const {
    const auto& site = maker_.site();
    std::vector<std::string> all{site.root + "/", site.root + "/en/", site.root + "/en/user/",
                                 site.root + "/en/user/settings", site.style_url};
    if constexpr (signs_in) {
        all.push_back(site.root + "/en/user/sign_in");
        all.push_back(site.root + "/en/user/sign_out");
    }
    return all;
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
void account_pages<Users, Sessions, Store, Policies, Theme>::handle(const http::request& asked,
                                                                    http::response& out) noexcept {
    if constexpr (fits) {
        const instant now = policy(policies_.clock).now();
        try {
            answer(asked, out, now);
            policy(policies_.observer)
                .on_request({asked, out, nullptr, http::client_address(asked, settings_.trusted_proxies), now});
        } catch (const std::exception& thrown) {
            answer_thrown(thrown.what(), asked, out, now);
        } catch (...) {
            answer_thrown("something that is no std::exception", asked, out, now);
        }
    }
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
void account_pages<Users, Sessions, Store, Policies, Theme>::answer_thrown(std::string_view what,
                                                                           const http::request& asked,
                                                                           http::response& out, instant now) noexcept {
    try {
        answer_error(out, internal_error(std::string{"thrown: "}.append(what)));
        policy(policies_.observer).on_request({asked, out, nullptr, asked.peer, now});
    } catch (...) {
        // Only the heap throws here: without it there is a status, and nothing to say it with.
        out.clear();
        out.set_status(http::status::internal_server_error);
    }
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
void account_pages<Users, Sessions, Store, Policies, Theme>::handle(const http::refusal& refused,
                                                                    http::response& out) noexcept {
    if constexpr (fits) {
        try {
            if (refused.status == http::status::service_unavailable) out.add("Retry-After", pipeline::retry_after_unavailable_seconds);
            maker_.answer_message(
                out, refused.status,
                {pipeline::message_for(refused.status, maker_.texts().errors).heading, refused.reason});
            policy(policies_.observer).on_refusal(refused);
        } catch (...) {
            out.clear();
            out.set_status(refused.status);
        }
    }
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
void account_pages<Users, Sessions, Store, Policies, Theme>::answer_error(http::response& out,
                                                                            const error& why) const {
    const auto status = pipeline::to_status(why.kind);
    if (to_number(status) >= 500) policy(policies_.observer).on_problem(why);
    out.clear();
    if (status == http::status::service_unavailable) out.add("Retry-After", pipeline::retry_after_unavailable_seconds);
    maker_.answer_status(out, status);
}

/// What can be said without knowing who asks.
template <class Users, class Sessions, class Store, class Policies, class Theme>
void account_pages<Users, Sessions, Store, Policies, Theme>::answer(const http::request& asked, http::response& out,
                                                                    instant now) {
    if (maker_.site().answer_style_sheet(asked, out)) return;
    const auto found = pages::find_room(asked.target.path, maker_.site().root);
    if (!is_here(found.where)) return maker_.answer_status(out, http::status::not_found);

    const bool reads = asked.method == http::method::get || asked.method == http::method::head;
    const bool takes_forms = found.where != room::start;
    if (!reads && !(takes_forms && asked.method == http::method::post)) {
        if (takes_forms) out.add("Allow", "GET, HEAD, POST, OPTIONS");
        else out.add("Allow", "GET, HEAD, OPTIONS");
        if (asked.method == http::method::options) return out.set_status(http::status::no_content);
        return maker_.answer_status(out, http::status::method_not_allowed);
    }

    auto done = [&]() -> result<void> {
        if (found.where == room::start) return go(out, url_of(room::tokens));
        if (reads && found.slash_missing) {
            auto url = url_of(found.where);
            if (asked.target.has_query) url.append("?").append(asked.target.query);
            return go(out, url);
        }
        if (reads) return enter({found.where, asked, http::form_fields{{}}, query_of(asked), now}, out);
        if (pipeline::is_cross_site(asked, maker_.site())) {
            maker_.answer_status(out, http::status::forbidden);
            return {};
        }
        auto form = pipeline::read_form(asked);
        if (const auto* refused = std::get_if<http::status>(&form)) {
            maker_.answer_status(out, *refused);
            return {};
        }
        return enter({found.where, asked, std::get<http::form_fields>(std::move(form)), query_of(asked), now}, out);
    }();
    if (!done) answer_error(out, done.error());
}

/// Finds out who asks, and whether a form is theirs.
template <class Users, class Sessions, class Store, class Policies, class Theme>
result<void> account_pages<Users, Sessions, Store, Policies, Theme>::enter(const pages::caller_at_door& at,
                                                                            http::response& out) {
    const bool posted = at.asked.method == http::method::post;
    if constexpr (signs_in)
        if (at.where == room::sign_in)
            return posted ? pages::post_to_sign_in(*this, {at.asked, at.form, at.now}, out)
                          : pages::show_sign_in(*this, {at.asked, at.query, at.now}, out);

    const auto who = sessions_.session_of(at.asked, at.now);
    if (!who) return who.error();
    if (!*who) {
        if (at.where == room::sign_out) return go(out, url_of(room::sign_in));
        auto return_to = url_of(at.where);
        if (!posted && at.asked.target.has_query) return_to.append("?").append(at.asked.target.query);
        return go(out, sessions_.sign_in_url(return_to));
    }
    if (posted && !pipeline::check_form_token(seal_of(**who), at.form.value_of(pipeline::form_token_name))) {
        maker_.answer_status(out, http::status::forbidden);
        return {};
    }

    const auto nonce = pipeline::new_form_nonce(policy(policies_.random), at.now);
    if (!nonce || (*who)->secret.empty())
        return internal_error("the session has no secret, or the random source gave nothing");
    const auto token = pipeline::make_form_token(seal_of(**who), *nonce);
    return enter_settings({at.where, at.asked, **who, token, at.form, at.query, at.now}, out);
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
result<void> account_pages<Users, Sessions, Store, Policies, Theme>::enter_settings(const pages::page_visit& visit,
                                                                                     http::response& out) {
    call here{*this, visit, out};
    const bool posted = visit.asked.method == http::method::post;
    switch (visit.where) {
        case room::sign_out:
            if constexpr (signs_in) return sign_out(visit, out);
            break;
        case room::tokens: return posted ? pages::post_to_tokens(here) : pages::show_tokens(here);
        case room::applications: return posted ? pages::post_to_applications(here) : pages::show_applications(here);
        case room::authorizations:
            return posted ? pages::post_to_authorizations(here) : pages::show_authorizations(here);
        case room::webhooks: return posted ? pages::post_to_hooks(here) : pages::show_hooks(here);
        case room::sign_in:
        case room::start:
        case room::none: break;
    }
    return not_found();
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
result<void> account_pages<Users, Sessions, Store, Policies, Theme>::sign_out(const pages::page_visit& visit,
                                                                               http::response& out) {
    const auto url = url_of(room::sign_out);
    if (visit.asked.method != http::method::post) {
        const auto& texts = maker_.texts();
        maker_.answer(out, {.title = texts.sign_in.out_title, .shape = page_shape::narrow},
                      [&](http::html_writer& html) {
                          pages::write_sign_out(html, {texts, url, visit.form_token, visit.who.login});
                      });
        return {};
    }
    if (auto ended = sessions_.sign_out(visit.asked, visit.now, out); !ended) return ended;
    return go(out, url_of(room::sign_in) + "?signed_out=1");
}

template <class Users, class Sessions, class Store, class Policies, class Theme>
template <class Write>
void account_pages<Users, Sessions, Store, Policies, Theme>::answer_room(http::response& out,
                                                                         const pages::page_visit& visit,
                                                                         page_frame frame, Write&& write) const {
    const auto& texts = maker_.texts();
    const std::string urls[] = {url_of(room::tokens), url_of(room::applications), url_of(room::authorizations),
                                url_of(room::webhooks)};
    const page_link links[] = {{urls[0], texts.tokens.link, visit.where == room::tokens},
                               {urls[1], texts.applications.link, visit.where == room::applications},
                               {urls[2], texts.authorizations.link, visit.where == room::authorizations},
                               {urls[3], texts.webhooks.link, visit.where == room::webhooks}};
    const auto sign_out_url = signs_in ? url_of(room::sign_out) : std::string{};
    frame.navigation = links;
    frame.login = visit.who.login;
    frame.sign_out_url = sign_out_url;
    frame.form_token = visit.form_token;
    maker_.answer(out, frame, std::forward<Write>(write));
}

}  // namespace tollgate
