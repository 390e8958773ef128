#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_OAUTH_PART_IPP
#define TOLLGATE_OAUTH_DETAIL_OAUTH_PART_IPP

#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/oauth/detail/client_rows.hpp>
#include <tollgate/oauth/detail/metadata.hpp>
#include <tollgate/oauth/detail/oauth_part.hpp>
#include <tollgate/oauth/detail/page_rows.hpp>
#include <tollgate/oauth/detail/registration.hpp>
#include <tollgate/pipeline/detail/write_rejection.hpp>
#include <tollgate/web/session_cookies.hpp>

#include <chrono>
#include <utility>

namespace tollgate::inline v0::oauth {

TOLLGATE_COLD oauth_part::oauth_part(account_service_settings&& configured, const oauth_store_ref& store,
                                     const session_source_ref& sessions, tollgate::policies&& with_policies, any_page_theme&& theme)
    : page_part{with_auth_url(std::move(configured)), sessions, std::move(with_policies), std::move(theme), web::page_reach::other_sites},
      store_{store},
      paths_{settings(), renderer().site().root, renderer().languages()},
      resources_{settings()},
      documents_{settings()} {
    const oauth_settings& own = settings().oauth;
    constexpr milliseconds code_lifetime_max = std::chrono::hours{limits::code_hours_max};
    tollgate::detail::require_bounds("OAuth", {{"code_lifetime", own.code_lifetime, seconds{1}, code_lifetime_max},
                                               {"access_token_lifetime", own.access_token_lifetime},
                                               {"refresh_token_lifetime", own.refresh_token_lifetime},
                                               {"refresh_token_end", own.refresh_token_end},
                                               {"rotation_grace", own.rotation_grace, seconds{0}},
                                               {"device_code_lifetime", own.device_code_lifetime, seconds{1}, code_lifetime_max},
                                               {"device_poll_interval", own.device_poll_interval, seconds{0}}});
    tollgate::detail::require_windows("OAuth", {{"device_requests", own.device_requests},
                                                {"device_requests_of_site", own.device_requests_of_site},
                                                {"device_requests_of_network", own.device_requests_of_network},
                                                {"user_code_attempts", own.user_code_attempts},
                                                {"page_requests", own.page_requests},
                                                {"refreshes", own.refreshes},
                                                {"refreshes_of_client", own.refreshes_of_client},
                                                {"client_documents", own.client_documents},
                                                {"registrations", own.registrations},
                                                {"anonymous_quota", settings().anonymous_quota}});
    form_cookie_ = cookie_name_of(settings().auth_url, own.cookie_name, "form");
    documentation_url_ = settings().documentation_url.empty() ? settings().auth_url + std::string{metadata_path}
                                                              : settings().documentation_url;
    metadata_ = make_metadata(settings(), renderer().language_tags());
    make_rows();
}

TOLLGATE_COLD void oauth_part::make_rows() {
    without_endpoint_ = {.form = &client_rules::form};
    const auto rows_of = [&](endpoint which) -> endpoint_rows& { return rows_[static_cast<std::size_t>(which)]; };
    const auto refused = [](endpoint which) { return pipeline::row{.pattern = route_of(which), .form = &client_rules::form}; };

    const auto add_client_row = [&](endpoint which, std::span<const pipeline::step> steps) {
        rows_of(which).post = {.pattern = route_of(which),
                               .caller = &client_rules::callers,
                               .limit = &client_rules::guesses,
                               .body = &client_rules::body,
                               .form = &client_rules::form,
                               .access = any_caller,
                               .steps = steps};
        rows_of(which).refused = refused(which);
    };
    add_client_row(endpoint::token, client_rules::token_steps);
    add_client_row(endpoint::revocation, client_rules::revocation_steps);
    add_client_row(endpoint::introspection, client_rules::introspection_steps);
    add_client_row(endpoint::device_authorization, client_rules::device_steps);

    auto& metadata_rows = rows_of(endpoint::metadata);
    metadata_rows.get = metadata_rows.refused = refused(endpoint::metadata);
    metadata_rows.get.steps = client_rules::metadata_steps;

    auto& registration = rows_of(endpoint::registration);
    registration.refused = refused(endpoint::registration);
    registration.refused.form = &registration_rules::form;
    const bool needs_token = settings().oauth.registration == dynamic_registration::with_token;
    registration.post = registration.get = registration.refused;
    registration.post.caller = &registration_rules::new_applications;
    registration.post.access = needs_token ? any_caller : open_to_all;
    registration.post.body = &registration_rules::body;
    registration.post.steps = registration_rules::create_steps;
    registration.get.caller = &registration_rules::registered_applications;
    registration.get.access = any_caller;
    registration.get.steps = registration_rules::get_steps;
    registration.remove = registration.get;
    registration.remove.steps = registration_rules::delete_steps;
    for (auto* each : {&registration.post, &registration.get, &registration.remove}) each->limit = &registration_rules::wrong_tokens;

    const auto add_page_rows = [&](endpoint which, std::span<const pipeline::step> get, std::span<const pipeline::step> post) {
        auto& rows = rows_of(which);
        rows.get = oauth_page_rules::make_row(route_of(which), get);
        rows.post = oauth_page_rules::make_post_row(route_of(which), post);
        rows.refused = {.pattern = route_of(which), .form = &oauth_page_rules::form};
        rows.redirect = rows.refused;
        rows.redirect.steps = oauth_page_rules::redirect_steps;
    };
    add_page_rows(endpoint::authorization, oauth_page_rules::get_steps, oauth_page_rules::post_steps);
    add_page_rows(endpoint::one_page, oauth_page_rules::get_steps, oauth_page_rules::one_page_steps);
    add_page_rows(endpoint::device_page, oauth_page_rules::device_get_steps, oauth_page_rules::device_post_steps);
}

TOLLGATE_DECL void oauth_part::find_row(pipeline::row_call& call) const {
    const std::string_view path = call.request.target.path;
    const endpoint which = paths_.find(path);
    if (which == endpoint::none) {
        if (find_asset_row(call)) return;
        if (paths_.is_page_path(path)) return find_unknown_row(call);
        call.state.row = &without_endpoint_;
        call.state.no_row = pipeline::no_such_resource;
        return;
    }
    const endpoint_rows& rows = rows_[static_cast<std::size_t>(which)];
    bool is_redirect = false;
    if (is_page(which)) {
        auto& kept = call.kept<kept_oauth_page>();
        kept.endpoint = which;
        const auto at = renderer().find(path);
        is_redirect = !at || at->language == nullptr;
        // The language that the application requests with `ui_locales`, or else that of the path or the browser.
        kept.language = &renderer().language_of(call.request);
        if (call.request.target.query.find("ui_locales=") != std::string_view::npos)
            if (const auto query = http::parse_form(call.request.target.query))
                if (const auto found = web::ui_language(query->value_of("ui_locales"), renderer().language_tags()))
                    kept.language = &renderer().languages()[*found];
    } else if (which != endpoint::metadata) {
        call.kept<kept_client>().endpoint = which;
    }
    const auto supported = [](const pipeline::row& each) { return each.steps.empty() ? nullptr : &each; };
    pipeline::find_by_method(call,
                             {{http::method::get, is_redirect ? &rows.redirect : supported(rows.get)},
                              {http::method::post, is_redirect ? nullptr : supported(rows.post)},
                              {http::method::delete_, supported(rows.remove)}},
                             rows.refused);
}

TOLLGATE_COLD void oauth_part::refuse(const http::refusal& refused, http::response& response) const {
    const auto path = refused.path();
    if (is_page(paths_.find(path)) || paths_.is_page_path(path)) return page_part::refuse(refused, response);
    pipeline::respond_refusal(policies(), settings(), documentation_url_, refused, response);
}

TOLLGATE_DECL bool oauth_part::may_block() const noexcept {
    return sessions().may_block() || store_.may_block() || policies().limiter().may_block() || sessions().signs_in() ||
           settings().oauth.fetch_client_document;
}

TOLLGATE_COLD std::vector<std::string> oauth_part::mounts() const {
    auto all = paths_.mounts();
    for (const auto& each : renderer().site().assets) all.push_back(each.path);
    return all;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_OAUTH_PART_IPP
