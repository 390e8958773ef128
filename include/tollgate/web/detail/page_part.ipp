#pragma once
#ifndef TOLLGATE_WEB_DETAIL_PAGE_PART_IPP
#define TOLLGATE_WEB_DETAIL_PAGE_PART_IPP

#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page_part.hpp>

#include <utility>
#include <variant>

namespace tollgate::inline v0::web {

TOLLGATE_DECL void page_part::read_session(pipeline::row_call& call) {
    kept(call).signed_in.reset();
    call.state.auth.state = pipeline::auth_state::unchecked;
}

TOLLGATE_DECL pipeline::progress page_part::find_session(pipeline::row_call& call) {
    auto& auth = call.state.auth;
    if (auth.state != pipeline::auth_state::unchecked) return pipeline::progress::goes_on;
    const session_source_ref& sessions = call.part<page_part>().sessions_;
    if (sessions.may_block() && !call.may_wait()) return pipeline::progress::waits;
    auto found = sessions.session_of(call.request, call.state.now);
    if (!found) {
        auth.fail(std::move(found).error());
        return pipeline::progress::goes_on;
    }
    auth.state = *found ? pipeline::auth_state::authenticated : pipeline::auth_state::anonymous;
    if (*found) auth.caller = caller_on_page((*found)->user);
    kept(call).signed_in = *std::move(found);
    return pipeline::progress::goes_on;
}

TOLLGATE_DECL bool page_part::is_cross_site(const pipeline::row_call& call) {
    return web::is_cross_site(call.request, call.part<page_part>().renderer_.site());
}

TOLLGATE_DECL pipeline::progress page_part::check_form(pipeline::row_call& call) {
    const auto refused = check_form_head(call.request);
    return refused ? call.reject({*refused, {}}) : pipeline::progress::goes_on;
}

TOLLGATE_DECL pipeline::progress page_part::read_form(pipeline::row_call& call) {
    auto read = http::parse_form(call.request.body);
    if (!read) return call.reject({http::status::bad_request, {}});
    kept(call).form = *std::move(read);
    return pipeline::progress::goes_on;
}

TOLLGATE_DECL void page_part::add_fields(pipeline::row_call& call) { http::add_request_id(call.response, call.observed().id()); }

[[nodiscard]] inline result<pipeline::progress> respond_asset(pipeline::row_call& call) {
    const auto& asset = *static_cast<const page_asset*>(call.row().data);
    call.response.add_prepared_lines(asset.field_lines);
    call.response.body() = asset.body;
    return pipeline::progress::responded;
}
inline constexpr pipeline::step asset_steps[]{{http::work_kind::other, &respond_asset}};

TOLLGATE_COLD page_part::page_part(account_service_settings&& settings, const session_source_ref& sessions, tollgate::policies&& policies,
                                   any_page_theme&& theme, page_reach reach)
    : settings_{std::move(settings)},
      sessions_{sessions},
      policies_{std::move(policies)},
      renderer_{settings_.auth_url, settings_.services, std::move(theme), reach, settings_.documentation_url},
      without_page_{.form = &page_form} {
    for (const page_asset& each : renderer_.site().assets)
        asset_rows_.push_back({.form = &page_form, .steps = asset_steps, .data = &each});
}

TOLLGATE_COLD void page_part::refuse(const http::refusal& refused, http::response& response) const {
    renderer_.respond_refusal(refused, response);
    pipeline::finish_refusal(policies_, refused, pipeline::client_of(refused, settings_), response);
}

TOLLGATE_DECL localized_pages page_part::pages_for(const pipeline::row_call& call) {
    const page_renderer& renderer = call.part<page_part>().renderer_;
    const bool is_known = call.state.kept != nullptr && kept(call).language != nullptr;
    return renderer.in(is_known ? *kept(call).language : renderer.language_of(call.request));
}

TOLLGATE_DECL void page_part::reject(pipeline::row_call& call, const pipeline::rejection& reason) {
    if (reason.status == http::status::too_many_requests)
        http::add_retry_after(call.response, call.state.limit->resets_at - call.state.now);
    pages_for(call).respond_status(call.response, reason.status);
}

TOLLGATE_DECL void page_part::fail(pipeline::row_call& call, const error& failure) { fail_with(call, pipeline::to_status(failure.kind)); }

TOLLGATE_DECL void page_part::fail_with(pipeline::row_call& call, http::status status) {
    call.response.clear();
    http::add_retry_after(call.response, status);
    pages_for(call).respond_status(call.response, status);
}

TOLLGATE_DECL void page_part::count_in(window_limiter& limiter, const limit_key& key, const quota& allowed, pipeline::row_call& call) {
    const bool counts = pipeline::is_counted(call.state);
    call.state.limit = counts ? limiter.take(key, allowed, call.state.now) : limiter.peek(key, allowed, call.state.now);
}

TOLLGATE_DECL result<pipeline::progress> page_part::redirect(pipeline::row_call& call, std::string_view url) {
    if (auto done = respond_see_other(call.response, call.part<page_part>().renderer_.site(), url); !done) return std::move(done).error();
    return pipeline::progress::responded;
}

TOLLGATE_DECL bool page_part::find_asset_row(pipeline::row_call& call) const {
    const page_site& site = renderer_.site();
    const page_asset* const found = site.find_asset(call.request.target.path);
    if (found == nullptr) return false;
    const pipeline::row& row = asset_rows_[static_cast<std::size_t>(found - site.assets.data())];
    pipeline::find_by_method(call, {{http::method::get, &row}}, without_page_);
    return true;
}

TOLLGATE_DECL void page_part::find_unknown_row(pipeline::row_call& call) const {
    call.state.row = &without_page_;
    call.state.no_row = pipeline::no_such_resource;
}

}  // namespace tollgate::web

#endif  // TOLLGATE_WEB_DETAIL_PAGE_PART_IPP
