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

TOLLGATE_DECL void page_part::read_session(pipeline::call& one) {
    kept(one).signed_in.reset();
    one.state.auth.state = pipeline::auth_state::unchecked;
}

TOLLGATE_DECL pipeline::progress page_part::find_session(pipeline::call& one) {
    auto& auth = one.state.auth;
    if (auth.state != pipeline::auth_state::unchecked) return pipeline::progress::goes_on;
    const session_source_ref& sessions = one.part<page_part>().sessions_;
    if (sessions.may_block() && !one.may_wait()) return pipeline::progress::waits;
    auto found = sessions.session_of(one.request, one.state.now);
    if (!found) {
        auth.fail(std::move(found).error());
        return pipeline::progress::goes_on;
    }
    auth.state = *found ? pipeline::auth_state::authenticated : pipeline::auth_state::anonymous;
    if (*found) auth.caller = caller_on_page((*found)->user);
    kept(one).signed_in = *std::move(found);
    return pipeline::progress::goes_on;
}

TOLLGATE_DECL bool page_part::is_cross_site(const pipeline::call& one) {
    return web::is_cross_site(one.request, one.part<page_part>().renderer_.site());
}

TOLLGATE_DECL pipeline::progress page_part::check_form(pipeline::call& one) {
    const auto refused = check_form_head(one.request, one.part<page_part>().renderer_.site());
    return refused ? one.reject({*refused, {}}) : pipeline::progress::goes_on;
}

TOLLGATE_DECL pipeline::progress page_part::read_form(pipeline::call& one) {
    auto read = web::read_form(one.request, one.part<page_part>().renderer_.site());
    if (const auto* refused = std::get_if<http::status>(&read)) return one.reject({*refused, {}});
    kept(one).form = std::get<http::form_fields>(std::move(read));
    return pipeline::progress::goes_on;
}

TOLLGATE_DECL void page_part::add_fields(pipeline::call& one) { http::add_request_id(one.response, one.observed().id()); }

[[nodiscard]] inline result<pipeline::progress> respond_asset(pipeline::call& one) {
    const auto& asset = *static_cast<const page_asset*>(one.row().data);
    one.response.add_prepared_lines(asset.field_lines);
    one.response.body() = asset.body;
    return pipeline::progress::responded;
}
inline constexpr pipeline::step asset_steps[]{{http::work_kind::other, &respond_asset}};

TOLLGATE_COLD page_part::page_part(account_service_settings&& settings, const session_source_ref& sessions, tollgate::policies&& policies,
                                   any_page_theme&& theme, page_reach reach)
    : settings_{std::move(settings)},
      sessions_{sessions},
      policies_{std::move(policies)},
      renderer_{settings_.auth_url, settings_.services, std::move(theme), reach, settings_.documentation_url},
      unknown_page_row_{.form = &page_form} {
    for (const page_asset& each : renderer_.site().assets)
        asset_rows_.push_back({.form = &page_form, .steps = asset_steps, .data = &each});
}

TOLLGATE_COLD void page_part::refuse(const http::refusal& refused, http::response& response) const {
    renderer_.respond_refusal(refused, response);
    pipeline::finish_refusal(policies_, refused, pipeline::client_of(refused, settings_), response);
}

TOLLGATE_DECL localized_pages page_part::pages_for(const pipeline::call& one) {
    const page_renderer& renderer = one.part<page_part>().renderer_;
    const bool is_known = one.state.kept != nullptr && kept(one).language != nullptr;
    return renderer.in(is_known ? *kept(one).language : renderer.language_of(one.request));
}

TOLLGATE_DECL void page_part::reject(pipeline::call& one, const pipeline::rejection& reason) {
    if (reason.status == http::status::too_many_requests) http::add_retry_after(one.response, one.state.limit->resets_at - one.state.now);
    pages_for(one).respond_status(one.response, reason.status);
}

TOLLGATE_DECL void page_part::fail(pipeline::call& one, const error& failure) {
    const auto status = pipeline::to_status(failure.kind);
    one.response.clear();
    http::add_retry_after(one.response, status);
    pages_for(one).respond_status(one.response, status);
}

TOLLGATE_DECL void page_part::count_in(window_limiter& limiter, const quota& allowed, pipeline::call& one) {
    const auto& signed_in = kept(one).signed_in;
    const auto key = signed_in ? limit_key::of(signed_in->user) : limit_key::of(one.state.client);
    const bool counts = pipeline::is_counted(one.state);
    one.state.limit = counts ? limiter.take(key, allowed, one.state.now) : limiter.peek(key, allowed, one.state.now);
}

TOLLGATE_DECL result<pipeline::progress> page_part::redirect(pipeline::call& one, std::string_view url) {
    if (auto done = respond_see_other(one.response, one.part<page_part>().renderer_.site(), url); !done) return std::move(done).error();
    return pipeline::progress::responded;
}

TOLLGATE_DECL bool page_part::find_asset_row(pipeline::call& one) const {
    const page_site& site = renderer_.site();
    const page_asset* const found = site.find_asset(one.request.target.path);
    if (found == nullptr) return false;
    const pipeline::row& row = asset_rows_[static_cast<std::size_t>(found - site.assets.data())];
    pipeline::find_by_method(one, {{http::method::get, &row}}, unknown_page_row_);
    return true;
}

TOLLGATE_DECL void page_part::find_unknown_row(pipeline::call& one) const {
    one.state.row = &unknown_page_row_;
    one.state.no_row = pipeline::no_such_resource;
}

}  // namespace tollgate::web

#endif  // TOLLGATE_WEB_DETAIL_PAGE_PART_IPP
