#pragma once
#ifndef TOLLGATE_OAUTH_AUTHORIZATION_SERVER_IPP
#define TOLLGATE_OAUTH_AUTHORIZATION_SERVER_IPP

#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/oauth/detail/oauth_part.hpp>
#include <tollgate/oauth/detail/oauth_part.ipp>
#include <tollgate/pipeline/judge.hpp>

#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_COLD authorization_server::authorization_server(account_service_settings settings, oauth_store_ref store,
                                                         session_source_ref sessions, tollgate::policies policies, any_page_theme theme)
    : part_{std::make_unique<oauth::oauth_part>(std::move(settings), store, sessions, std::move(policies), std::move(theme))},
      judge_{std::make_unique<pipeline::judge>(part_->policies(), std::vector<const pipeline::part*>{part_.get()})} {}

TOLLGATE_COLD authorization_server::~authorization_server() = default;

TOLLGATE_DECL bool authorization_server::may_block() const noexcept { return judge_->may_block(); }

TOLLGATE_DECL void authorization_server::handle(const http::request& request, http::response& response) noexcept {
    judge_->handle(request, response);
}

TOLLGATE_COLD void authorization_server::handle(const http::refusal& refused, http::response& response) noexcept {
    judge_->handle(refused, response);
}

TOLLGATE_DECL http::handle_step authorization_server::advance(const http::request& request, http::response& response,
                                                              http::handler_state& state, http::thread_kind thread) noexcept {
    return judge_->advance(request, response, state, thread);
}

TOLLGATE_COLD std::vector<std::string> authorization_server::mounts() const { return part_->mounts(); }
TOLLGATE_DECL const account_service_settings& authorization_server::settings() const noexcept { return part_->settings(); }
TOLLGATE_DECL const pipeline::part& authorization_server::part() const noexcept { return *part_; }

}  // namespace tollgate

#endif  // TOLLGATE_OAUTH_AUTHORIZATION_SERVER_IPP
