#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_PAGE_ROWS_HPP
#define TOLLGATE_OAUTH_DETAIL_PAGE_ROWS_HPP

#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/oauth/detail/authorization_page.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/client_documents.hpp>
#include <tollgate/oauth/detail/device_page.hpp>
#include <tollgate/oauth/detail/kept_oauth_page.hpp>
#include <tollgate/oauth/detail/oauth_part.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/detail/page_part.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// The functions of the rows of the pages of OAuth. They are open to all, because an error of an application is shown before the sign-in.
struct oauth_page_rules {
    using row_call = pipeline::row_call;
    using progress = pipeline::progress;
    using step = pipeline::step;

    static kept_oauth_page& kept(const row_call& call) noexcept { return static_cast<kept_oauth_page&>(*call.state.kept); }
    static const oauth_part& part(const row_call& call) noexcept { return call.part<oauth_part>(); }

    static progress count(row_call& call) {
        const quota& allowed = part(call).settings().oauth.page_requests;
        web::page_part::count_in(part(call).page_limiter(), limit_key::of(call.state.client), allowed, call);
        return progress::goes_on;
    }
    static constexpr pipeline::limit_rule page_limit{&count};

    static void fail(row_call& call, const error& failure) {
        web::page_part::fail_with(call, status_of_server_error(failure));
    }
    static constexpr pipeline::response_form form{&web::page_part::reject, &fail, &web::page_part::add_fields};

    /// From a path that names no language, or the published one in which there are no texts.
    static result<progress> redirect_to_language(row_call& call) {
        const auto pages = web::page_part::pages_for(call);
        auto path = call.request.target.path.substr(pages.site().root.size());
        if (http::detail::is_below(path, published_language)) path.remove_prefix(published_language.size());
        auto url = pages.url(path);
        if (!url.ends_with('/')) url.push_back('/');
        if (call.request.target.has_query) url.append("?").append(call.request.target.query);
        call.response.add("Vary", "Accept-Language");
        if (!web::respond_see_other(call.response, pages.site(), url)) return call.reject({http::status::bad_request, {}});
        return progress::responded;
    }
    static constexpr step redirect_steps[]{{http::work_kind::other, &redirect_to_language}};

    /// The parameters of the form or the query. A form without any token is not from this site.
    static result<progress> read_parameters(row_call& call) {
        kept_oauth_page& state = kept(call);
        if (call.request.method == http::method::post) {
            state.sent = parameters{state.form};
            if (state.endpoint != endpoint::device_page && !state.sent.holds(web::form_token_name))
                return call.reject({http::status::forbidden, {}});
        } else {
            auto read = parameters::from_form(call.request.target.query);
            if (std::holds_alternative<failure>(read)) return call.reject({http::status::bad_request, {}});
            state.sent = std::get<parameters>(std::move(read));
        }
        if (state.endpoint != endpoint::device_page) state.noted.note_client(state.sent.find("client_id").value_or(""));
        return progress::goes_on;
    }

    // The authorization pages.

    static result<progress> find_client(row_call& call) {
        kept_oauth_page& state = kept(call);
        const oauth_store_ref& store = part(call).store();
        state.client_id = client_id_of(state.sent);
        if (!state.client_id) return progress::goes_on;
        if (store.may_block() && !call.may_wait()) return progress::waits;
        auto found = store.find_application(*state.client_id);
        if (!found) return std::move(found).error();
        state.client = *std::move(found);
        return progress::goes_on;
    }
    static result<progress> check_owner(row_call& call) {
        kept_oauth_page& state = kept(call);
        if (!state.client || state.client->type == client_type::resource_server) return progress::goes_on;
        const session_source_ref& sessions = part(call).sessions();
        if (owner_to_ask(*state.client, sessions) && must_wait_for_sessions(call)) return progress::waits;
        const auto stopped = is_stopped(*state.client, [&](user_id user) { return is_active(sessions, user); });
        if (!stopped) return stopped.error();
        state.is_stopped = *stopped;
        return progress::goes_on;
    }
    static result<progress> fetch_document(row_call& call) {
        kept_oauth_page& state = kept(call);
        client_documents& documents = part(call).documents();
        if (!state.client_id || !state.may_have_document() || state.is_stopped || !documents.may_hold(*state.client_id))
            return progress::goes_on;
        if (!call.may_wait() && documents.needs_fetch(*state.client_id, call.state.now)) return progress::waits;
        state.described = documents.find(*state.client_id, call.state.client, call.state.now);
        if (state.client)
            if (auto* described = std::get_if<application>(&*state.described)) described->id = state.client->id;
        return progress::goes_on;
    }
    /// The request, checked against its application.
    static judged_request judge_request(const row_call& call) {
        kept_oauth_page& state = kept(call);
        if (!state.client_id) return page_failure::missing_client_id;
        if (state.client && state.client->type == client_type::resource_server) return page_failure::unknown_client;
        if (state.is_stopped) return page_failure::stopped_client;
        const auto& services = part(call).settings().services;
        if (!state.may_have_document()) return judge_request_of(*state.client, state.sent, services, part(call).resources());
        if (!state.described) return page_failure::unknown_client;
        if (const auto* failed = std::get_if<document_failure>(&*state.described)) return *failed;
        return judge_request_of(std::get<application>(*state.described), state.sent, services, part(call).resources());
    }
    static authorization_page page_of(row_call& call) {
        const oauth_part& at = part(call);
        return {.settings = at.settings(),
                .sessions = at.sessions(),
                .store = at.store(),
                .policies = call.policies,
                .resources = at.resources(),
                .pages = web::page_part::pages_for(call),
                .form_cookie = at.form_cookie(),
                .row_call = call,
                .context = kept(call)};
    }
    /// A form with sign-in computes a slow hash of the password.
    static result<progress> sign_in(row_call& call) {
        const bool signs_in = part(call).sessions().signs_in() && kept(call).sent.holds(web::login_name);
        if (signs_in && !call.may_wait()) return progress::waits;
        return page_of(call).sign_in(judge_request(call)) ? progress::responded : progress::goes_on;
    }
    static result<progress> respond_authorization(row_call& call) {
        auto judged = judge_request(call);
        if (std::holds_alternative<authorization_request>(judged) && must_wait_for_store(call)) return progress::waits;
        page_of(call).respond(std::move(judged));
        return kept(call).wants_sign_out ? progress::goes_on : progress::responded;
    }
    static result<progress> sign_out(row_call& call) {
        if (must_wait_for_sessions(call)) return progress::waits;
        page_of(call).sign_out(judge_request(call));
        return progress::responded;
    }
    static constexpr step get_steps[]{{http::work_kind::other, &read_parameters},
                                      {http::work_kind::pages, &find_client, true},
                                      {http::work_kind::sessions, &check_owner},
                                      {http::work_kind::client_documents, &fetch_document},
                                      {http::work_kind::pages, &respond_authorization}};
    static constexpr step post_steps[]{{http::work_kind::other, &read_parameters},
                                       {http::work_kind::forms, &find_client, true},
                                       {http::work_kind::sessions, &check_owner},
                                       {http::work_kind::client_documents, &fetch_document},
                                       {http::work_kind::forms, &respond_authorization},
                                       {http::work_kind::sessions, &sign_out}};
    static constexpr step one_page_steps[]{{http::work_kind::other, &read_parameters},
                                           {http::work_kind::forms, &find_client, true},
                                           {http::work_kind::sessions, &check_owner},
                                           {http::work_kind::client_documents, &fetch_document},
                                           {http::work_kind::sign_in, &sign_in},
                                           {http::work_kind::forms, &respond_authorization},
                                           {http::work_kind::sessions, &sign_out}};

    // The page of devices. It is called again when the owner of the application was looked up.

    static device_page device_page_of(row_call& call) {
        const oauth_part& at = part(call);
        return {.settings = at.settings(),
                .sessions = at.sessions(),
                .store = at.store(),
                .policies = call.policies,
                .pages = web::page_part::pages_for(call),
                .limiter = at.device_limiter(),
                .row_call = call,
                .context = kept(call)};
    }
    static result<progress> respond_device(row_call& call) {
        kept_oauth_page& state = kept(call);
        if (state.wants_sign_out) return progress::goes_on;
        if (must_wait_for_store(call)) return progress::waits;
        const bool was_owner_known = state.owner.has_value();
        device_page_of(call).respond();
        const bool asks = state.wants_sign_out || (state.owner && !was_owner_known);
        return asks ? progress::goes_on : progress::responded;
    }
    static result<progress> check_device_owner(row_call& call) {
        kept_oauth_page& state = kept(call);
        if (!state.owner) return progress::goes_on;
        if (must_wait_for_sessions(call)) return progress::waits;
        const auto active = is_active(part(call).sessions(), *state.owner);
        if (!active) return active.error();
        state.is_stopped = !*active;
        return progress::goes_on;
    }
    static result<progress> sign_out_of_device_page(row_call& call) {
        if (must_wait_for_sessions(call)) return progress::waits;
        device_page_of(call).sign_out();
        return progress::responded;
    }
    static constexpr step device_get_steps[]{{http::work_kind::other, &read_parameters},
                                             {http::work_kind::pages, &respond_device, true},
                                             {http::work_kind::sessions, &check_device_owner},
                                             {http::work_kind::pages, &respond_device}};
    static constexpr step device_post_steps[]{{http::work_kind::other, &read_parameters},
                                              {http::work_kind::forms, &respond_device, true},
                                              {http::work_kind::sessions, &check_device_owner},
                                              {http::work_kind::forms, &respond_device},
                                              {http::work_kind::sessions, &sign_out_of_device_page}};

    static pipeline::row make_row(std::string_view pattern, std::span<const step> steps) {
        return {.pattern = pattern,
                .caller = &web::page_part::session_callers,
                .limit = &page_limit,
                .form = &form,
                .access = open_to_all,
                .steps = steps};
    }
    static pipeline::row make_post_row(std::string_view pattern, std::span<const step> steps) {
        auto row = make_row(pattern, steps);
        row.body = &web::page_part::form_body;
        return row;
    }

private:
    static bool must_wait_for_store(const row_call& call) noexcept { return !call.may_wait() && part(call).store().may_block(); }
    static bool must_wait_for_sessions(const row_call& call) noexcept { return !call.may_wait() && part(call).sessions().may_block(); }
};

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_PAGE_ROWS_HPP
