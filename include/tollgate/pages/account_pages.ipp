#pragma once
#ifndef TOLLGATE_PAGES_ACCOUNT_PAGES_IPP
#define TOLLGATE_PAGES_ACCOUNT_PAGES_IPP

#include <tollgate/pages/account_pages.hpp>
#include <tollgate/pages/detail/account_page_part.hpp>
#include <tollgate/pipeline/judge.hpp>

#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_COLD account_pages::account_pages(account_service_settings settings, user_directory_ref users, account_store_ref store,
                                           session_source_ref sessions, tollgate::policies policies, any_page_theme theme)
    : part_{std::make_unique<pages::account_page_part>(std::move(settings), users, store, sessions, std::move(policies), std::move(theme))},
      judge_{std::make_unique<pipeline::judge>(part_->policies(), std::vector<const pipeline::part*>{part_.get()})} {}

TOLLGATE_COLD account_pages::~account_pages() = default;

TOLLGATE_DECL bool account_pages::may_block() const noexcept { return judge_->may_block(); }

TOLLGATE_DECL void account_pages::handle(const http::request& request, http::response& response) noexcept {
    judge_->handle(request, response);
}

TOLLGATE_COLD void account_pages::handle(const http::refusal& refused, http::response& response) noexcept {
    judge_->handle(refused, response);
}

TOLLGATE_DECL http::handle_step account_pages::advance(const http::request& request, http::response& response, http::handler_state& state,
                                                       http::thread_kind thread) noexcept {
    return judge_->advance(request, response, state, thread);
}

TOLLGATE_COLD std::vector<std::string> account_pages::mounts() const { return part_->mounts(); }
TOLLGATE_COLD std::vector<std::string> account_pages::language_roots() const { return part_->language_roots(); }
TOLLGATE_DECL const account_service_settings& account_pages::settings() const noexcept { return part_->settings(); }
TOLLGATE_DECL const pipeline::part& account_pages::part() const noexcept { return *part_; }

}  // namespace tollgate

#endif  // TOLLGATE_PAGES_ACCOUNT_PAGES_IPP
