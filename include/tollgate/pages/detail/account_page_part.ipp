#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_ACCOUNT_PAGE_PART_IPP
#define TOLLGATE_PAGES_DETAIL_ACCOUNT_PAGE_PART_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/pages/detail/account_page_part.hpp>
#include <tollgate/pages/detail/dispatch.hpp>
#include <tollgate/pages/detail/sign_in_page.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace tollgate::inline v0::pages {

/// The functions of the rows of account pages.
struct account_page_rules {
    using row_call = pipeline::row_call;
    using progress = pipeline::progress;
    using step = pipeline::step;

    static kept_page& kept(const row_call& call) noexcept { return static_cast<kept_page&>(*call.state.kept); }
    static page_environment& environment(const row_call& call) noexcept { return call.part<account_page_part>().environment_; }

    static progress count(row_call& call) {
        const auto& signed_in = kept(call).signed_in;
        const auto key = signed_in ? limit_key::of(signed_in->user) : limit_key::of(call.state.client);
        web::page_part::count_in(environment(call).limiter, key, environment(call).settings.pages.requests, call);
        return progress::goes_on;
    }
    static constexpr pipeline::limit_rule page_limit{&count};

    // Without a session, a page leads to the sign-in page.
    static void reject(row_call& call, const pipeline::rejection& reason) {
        if (reason.status == http::status::unauthorized) {
            if (const auto led = redirect_to_sign_in(call); !led) web::page_part::fail(call, led.error());
            return;
        }
        // Over plain http, browsers do not say that a form of an https site was sent from that site. Other forms need a session, which
        // such a browser does not have.
        if (call.state.is_cross_site && kept(call).which == page::sign_in) {
            const auto pages = web::page_part::pages_for(call);
            const message_texts& texts = pages.texts().sign_in.other_address;
            const auto explanation = fill_in(texts.explanation, pages.site().origin);
            return pages.respond_message(call.response, reason.status, {texts.heading, explanation});
        }
        web::page_part::reject(call, reason);
    }
    static constexpr pipeline::response_form form{&reject, &web::page_part::fail, &web::page_part::add_fields};

    static result<progress> redirect_to_sign_in(row_call& call) {
        const page which = kept(call).which;
        const auto url_of = [&](page target) { return environment(call).url_of(target, *kept(call).language); };
        const bool is_posted = call.request.method == http::method::post;
        // A form that was submitted twice has signed out.
        if (which == page::sign_out) return web::page_part::redirect(call, signed_out_url(url_of(page::sign_in), is_posted));
        const session_source_ref& sessions = environment(call).sessions;
        auto return_to = url_of(which);
        if (is_posted) return_to.append("?").append(done_name).append("=").append(signed_out_done);
        else if (call.request.target.has_query) return_to.append("?").append(call.request.target.query);
        auto url = sessions.sign_in_url(return_to);
        // Encoded once more, a long query may not fit in a request target. It can only name a part of the page.
        if (url.size() > limits::target_bytes_max) url = sessions.sign_in_url(url_of(which));
        return web::page_part::redirect(call, url);
    }

    /// To a page's path in the reader's language, with a final slash.
    static result<progress> redirect_to_page(row_call& call) {
        const kept_page& state = kept(call);
        if (state.is_language_missing) call.response.add("Vary", "Accept-Language");
        if (state.which == page::start) return web::page_part::redirect(call, environment(call).url_of(page::overview, *state.language));
        auto url = environment(call).url_of(state.which, *state.language);
        if (call.request.target.has_query) url.append("?").append(call.request.target.query);
        return web::page_part::redirect(call, url);
    }
    static result<progress> redirect_to_change_password(row_call& call) {
        call.response.add("Vary", "Accept-Language");
        return web::page_part::redirect(call, environment(call).url_of(page::security, *kept(call).language));
    }

    /// The query; empty if it is malformed.
    static http::form_fields query_of(const row_call& call) {
        auto query = http::parse_form(call.request.target.query);
        return query ? *std::move(query) : http::form_fields{{}};
    }

    // What the directory and the limiter say of the user.

    /// Reads the accounts at this service, or at all services.
    static result<progress> read_accounts_of(row_call& call, const std::optional<account_ref>& only = {}) {
        const page_environment& pages = environment(call);
        if (pages.users.may_block() && !call.may_wait()) return progress::waits;
        for (const service& at : pages.settings.services.services()) {
            if (only && at.name != only->service) continue;
            auto accounts = pages.users.accounts_of(kept(call).signed_in->user, at.name.view());
            if (!accounts) return std::move(accounts).error();
            for (account& each : *accounts) kept(call).user.accounts.emplace_back(at.name, std::move(each));
        }
        return progress::goes_on;
    }
    /// The page of a webhook, and its forms, need its account only. A form that is displayed again may need all.
    static result<progress> read_accounts(row_call& call) {
        const kept_page& state = kept(call);
        const bool is_posted = call.request.method == http::method::post;
        const auto sent = state.form.value_of(web::form_token_name);
        if (is_posted && !web::check_form_token(form_binding_of(*state.signed_in), sent)) return read_accounts_of(call);
        const auto fields = is_posted ? state.form : query_of(call);
        if (fields.find(hook_name) == nullptr) return read_accounts_of(call);
        const auto named = parse_account(fields.value_of(account_name));
        return named ? read_accounts_of(call, named) : progress::goes_on;
    }
    static result<progress> read_overview(row_call& call) {
        const page_environment& pages = environment(call);
        if (pages.users.may_block() && !call.may_wait()) return progress::waits;
        user_data& user = kept(call).user;
        const user_id id = kept(call).signed_in->user;
        auto owned = pages.users.balance_of(id);
        if (!owned) return std::move(owned).error();
        user.owned = *std::move(owned);
        if (auto read = read_accounts_of(call); !read) return read;
        const auto own = pages.users.quota_of(id);
        if (!own) return own.error();
        user.allowed = own->value_or(pages.settings.user_quota);
        // The rest of the page is useful without them, and their own page reports the failure.
        if (pages.users.has_activity())
            if (auto activities = pages.users.activity_of(id, overview_activities_max)) user.activities = *std::move(activities);
        return progress::goes_on;
    }
    /// Reads the window of the user's requests, unless the limiter uses others.
    static result<progress> read_window(row_call& call) {
        const rate_limiter_ref& limiter = call.policies.limiter();
        user_data& user = kept(call).user;
        if (user.allowed.window == seconds{0} || limiter.chooses_windows()) return progress::goes_on;
        if (limiter.may_block() && !call.may_wait()) return progress::waits;
        user.window = limiter.peek(limit_key::of(kept(call).signed_in->user), user.allowed, call.state.now);
        return progress::goes_on;
    }
    static result<progress> read_activities(row_call& call) {
        const page_environment& pages = environment(call);
        if (pages.users.may_block() && !call.may_wait()) return progress::waits;
        auto activities = pages.users.activity_of(kept(call).signed_in->user, activities_shown_max);
        if (!activities) return std::move(activities).error();
        kept(call).user.activities = *std::move(activities);
        return progress::goes_on;
    }

    /// Calls the page. `may_block`: what it calls may block.
    static result<progress> respond(row_call& call, bool may_block) {
        if (may_block && !call.may_wait()) return progress::waits;
        kept_page& state = kept(call);
        const http::form_fields sent_query = query_of(call);
        const bool is_posted = call.request.method == http::method::post;
        auto done = [&] {
            if (state.which == page::sign_in)
                return respond_sign_in(environment(call),
                                       {*state.language, call.request, is_posted ? state.form : sent_query, state.signed_in.has_value(),
                                        call.state.client, call.state.now},
                                       call.response);
            return dispatch(environment(call),
                            {state.which, *state.language, call.request, *state.signed_in, state.user, {}, state.form, sent_query,
                             call.state.client, call.state.now},
                            call.response);
        }();
        return std::move(done).transform([] { return progress::responded; });
    }
    static result<progress> respond_from_store(row_call& call) { return respond(call, environment(call).store.may_block()); }
    static result<progress> respond_from_sessions(row_call& call) { return respond(call, environment(call).sessions.may_block()); }
    static result<progress> respond_at_once(row_call& call) { return respond(call, false); }
    static result<progress> check_password(row_call& call) { return respond(call, true); }

    /// A form that changes the password, perhaps one that was submitted before and has ended its session.
    static result<progress> change_password(row_call& call) {
        if (kept(call).signed_in) return check_password(call);
        if (!call.may_wait()) return progress::waits;
        const auto repeated = environment(call).sessions.find_repeated_change(call.request, call.state.now, call.response);
        if (!repeated) return repeated.error();
        if (!*repeated) return redirect_to_sign_in(call);
        return web::page_part::redirect(call, environment(call)
                                                 .url_of(page::security, *kept(call).language)
                                                 .append("?")
                                                 .append(done_name)
                                                 .append("=")
                                                 .append(password_changed_done));
    }
    /// Without a session, only a browser that had one can have submitted the form before.
    static progress check_change_form(row_call& call) {
        const bool may_be_repeated = kept(call).signed_in || call.request.fields.count(http::field_id::cookie) != 0;
        if (may_be_repeated) return web::page_part::check_form(call);
        return call.reject({http::status::unauthorized, {}});
    }
    static constexpr pipeline::body_rule change_form{&web::page_part::is_cross_site, &check_change_form, &web::page_part::read_form};

    static constexpr step redirect_steps[]{{http::work_kind::other, &redirect_to_page}};
    static constexpr step change_password_redirect_steps[]{{http::work_kind::other, &redirect_to_change_password}};
    static constexpr step overview_steps[]{{http::work_kind::users, &read_overview, true},
                                           {http::work_kind::limits, &read_window},
                                           {http::work_kind::pages, &respond_from_store}};
    static constexpr step activity_steps[]{{http::work_kind::users, &read_activities, true}, {http::work_kind::pages, &respond_at_once}};
    static constexpr step webhook_steps[]{{http::work_kind::users, &read_accounts, true}, {http::work_kind::pages, &respond_from_store}};
    static constexpr step webhook_form_steps[]{{http::work_kind::users, &read_accounts, true},
                                               {http::work_kind::forms, &respond_from_store}};
    static constexpr step store_steps[]{{http::work_kind::pages, &respond_from_store}};
    static constexpr step store_form_steps[]{{http::work_kind::forms, &respond_from_store}};
    static constexpr step session_steps[]{{http::work_kind::sessions, &respond_from_sessions}};
    static constexpr step form_alone_steps[]{{http::work_kind::pages, &respond_at_once}};
    static constexpr step password_steps[]{{http::work_kind::sign_in, &check_password}};
    static constexpr step change_password_steps[]{{http::work_kind::sign_in, &change_password}};

    /// The row of a page, and of its forms.
    static pipeline::row make_row(const page_path& at, std::span<const step> steps) {
        return {.pattern = at.pattern,
                .caller = &web::page_part::session_callers,
                .limit = &page_limit,
                .form = &form,
                .access = any_caller,
                .steps = steps};
    }
    static pipeline::row make_get(const page_path& at) {
        switch (at.page) {
            case page::overview: return make_row(at, overview_steps);
            case page::activity: return make_row(at, activity_steps);
            case page::webhooks: return make_row(at, webhook_steps);
            case page::security: return make_row(at, session_steps);
            case page::sign_out: return make_row(at, form_alone_steps);
            case page::sign_in: {
                auto row = make_row(at, form_alone_steps);
                row.access = open_to_all;
                return row;
            }
            default: return make_row(at, store_steps);
        }
    }
    static pipeline::row make_post(const page_path& at, const session_source_ref& sessions) {
        const auto with_form = [&](std::span<const step> steps) {
            auto row = make_row(at, steps);
            row.body = &web::page_part::form_body;
            return row;
        };
        switch (at.page) {
            case page::webhooks: return with_form(webhook_form_steps);
            case page::sign_out: return with_form(session_steps);
            case page::sign_in: {
                auto row = with_form(password_steps);
                row.caller = nullptr;
                row.access = open_to_all;
                return row;
            }
            case page::security: {
                if (!sessions.changes_passwords()) return with_form(session_steps);
                auto row = with_form(change_password_steps);
                if (sessions.finds_repeated_changes()) {
                    row.access = open_to_all;
                    row.body = &change_form;
                }
                return row;
            }
            case page::tokens:
            case page::applications:
            case page::authorizations: return with_form(store_form_steps);
            default: return {};
        }
    }
};

/// If sign-in is elsewhere, a form of an expired session is redirected there.
[[nodiscard]] inline web::page_reach reach_of(const session_source_ref& sessions) noexcept {
    return sessions.signs_in() ? web::page_reach::this_site : web::page_reach::other_sites;
}

TOLLGATE_COLD account_page_part::account_page_part(account_service_settings&& configured, const user_directory_ref& users,
                                                   const account_store_ref& store, const session_source_ref& sessions,
                                                   tollgate::policies&& with_policies, any_page_theme&& theme)
    : page_part{with_auth_url(std::move(configured)), sessions, std::move(with_policies), std::move(theme), reach_of(sessions)},
      environment_{.settings = settings(),
                   .users = users,
                   .sessions = sessions,
                   .store = store,
                   .policies = policies(),
                   .renderer = renderer()} {
    tollgate::detail::require_windows("page", {{"requests", settings().pages.requests}, {"test_events", settings().pages.test_events}});
    using rules = account_page_rules;
    const auto redirect_row = [](std::string_view pattern, std::span<const pipeline::step> steps) {
        return pipeline::row{.pattern = pattern, .form = &rules::form, .steps = steps};
    };
    for (std::size_t i = 0; i < page_paths.size(); ++i) {
        const page_path& at = page_paths[i];
        rows_[i] = {.get = rules::make_get(at),
                    .post = rules::make_post(at, sessions),
                    .redirect = redirect_row(at.pattern, rules::redirect_steps)};
    }
    change_password_row_ = redirect_row(change_password_path, rules::change_password_redirect_steps);
    roots_ = language_roots();
}

TOLLGATE_DECL bool account_page_part::may_block() const noexcept {
    return environment_.users.may_block() || environment_.sessions.may_block() || environment_.store.may_block() ||
           environment_.sessions.signs_in() || policies().limiter().may_block();
}

TOLLGATE_COLD std::vector<std::string> account_page_part::language_roots() const {
    std::vector<std::string> all;
    for (const web::page_language& each : renderer().languages()) all.push_back(each.root);
    return all;
}

TOLLGATE_COLD std::vector<std::string> account_page_part::mounts() const {
    const auto& site = renderer().site();
    std::vector<std::string> all{site.root + "/"};
    for (const auto& each : site.assets) all.push_back(each.path);
    if (environment_.sessions.changes_passwords()) {
        all.emplace_back(change_password_path);
        if (!site.root.empty()) all.push_back(std::string{site.root}.append(change_password_path));
    }
    auto roots = roots_;
    for (const std::string& root : roots) all.push_back(root + "/");
    roots.push_back(site.root);  // paths without a language
    for (const std::string& root : roots) {
        all.push_back(root + "/user/");
        all.push_back(root + "/user/settings");
        if (environment_.sessions.signs_in()) {
            all.push_back(root + "/user/sign_in");
            all.push_back(root + "/user/sign_out");
        }
    }
    return all;
}

TOLLGATE_DECL bool account_page_part::is_change_password_path(std::string_view path) const noexcept {
    if (!environment_.sessions.changes_passwords()) return false;
    const auto& root = renderer().site().root;
    return path == change_password_path || (path.starts_with(root) && path.substr(root.size()) == change_password_path);
}

TOLLGATE_DECL bool account_page_part::serves(const http::request& request) const noexcept {
    const std::string_view path = request.target.path;
    // The pages respond to all paths below a language, even those that do not exist.
    if (std::any_of(roots_.begin(), roots_.end(), [&](const std::string& each) { return http::detail::is_below(path, each); })) return true;
    if (renderer().site().find_asset(path) != nullptr || is_change_password_path(path)) return true;
    if (path.empty()) return false;  // of a refused request: its head was not read
    const auto at = renderer().find(path);
    return at && environment_.is_served(find_page(at->path).page);
}

TOLLGATE_DECL void account_page_part::find_row(pipeline::row_call& call) const {
    kept_page& state = call.kept<kept_page>();
    state.language = &renderer().language_of(call.request);
    if (find_asset_row(call)) return;
    if (is_change_password_path(call.request.target.path))
        return pipeline::find_by_method(call, {{http::method::get, &change_password_row_}}, without_page());
    const auto at = renderer().find(call.request.target.path);
    const page_match found = at ? find_page(at->path) : page_match{};
    if (!environment_.is_served(found.page)) return find_unknown_row(call);
    state.which = found.page;
    state.is_language_missing = at->language == nullptr;
    const page_rows& rows = rows_[found.index];
    const bool is_redirect = found.page == page::start || found.slash_missing || state.is_language_missing;
    const bool takes_forms = !rows.post.steps.empty() && !state.is_language_missing;
    pipeline::find_by_method(call,
                             {{http::method::get, is_redirect ? &rows.redirect : &rows.get},
                              {http::method::post, takes_forms ? &rows.post : nullptr}},
                             without_page());
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_ACCOUNT_PAGE_PART_IPP
