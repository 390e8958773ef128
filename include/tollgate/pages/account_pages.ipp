#pragma once
#ifndef TOLLGATE_PAGES_ACCOUNT_PAGES_IPP
#define TOLLGATE_PAGES_ACCOUNT_PAGES_IPP

#include <tollgate/pages/account_pages.hpp>
#include <tollgate/pages/detail/page_handler.hpp>

#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_COLD account_pages::account_pages(account_service_settings settings, user_directory_ref users, account_store_ref store,
                                           session_source_ref sessions, tollgate::policies policies, any_page_theme theme)
    : handler_{std::make_unique<pages::page_handler>(std::move(settings), users, store, sessions, std::move(policies), std::move(theme))} {}

TOLLGATE_COLD account_pages::~account_pages() = default;

TOLLGATE_DECL bool account_pages::may_block() const noexcept { return handler_->may_block(); }

TOLLGATE_DECL void account_pages::handle(const http::request& request, http::response& response) noexcept {
    handler_->handle(request, response);
}

TOLLGATE_COLD void account_pages::handle(const http::refusal& refused, http::response& response) noexcept {
    handler_->handle(refused, response);
}

TOLLGATE_DECL http::handle_step account_pages::advance(const http::request& request, http::response& response, http::handler_state& state,
                                                       http::thread_kind thread) noexcept {
    return handler_->advance(request, response, state, thread);
}

TOLLGATE_COLD std::vector<std::string> account_pages::mounts() const { return handler_->mounts(); }

TOLLGATE_COLD std::vector<std::string> account_pages::language_roots() const { return handler_->language_roots(); }

TOLLGATE_DECL const account_service_settings& account_pages::settings() const noexcept { return handler_->settings(); }

}  // namespace tollgate

#endif  // TOLLGATE_PAGES_ACCOUNT_PAGES_IPP
