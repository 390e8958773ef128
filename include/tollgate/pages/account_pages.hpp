#pragma once
#ifndef TOLLGATE_PAGES_ACCOUNT_PAGES_HPP
#define TOLLGATE_PAGES_ACCOUNT_PAGES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/account_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/web/page_theme.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

namespace service_detail {
struct part_mounter;
}
namespace pipeline {
class judge;
class part;
}  // namespace pipeline
namespace pages {
class account_page_part;
}

/// Serves the account pages: an overview, personal tokens, applications, authorizations and webhooks; if the directory is an
/// `activity_source`, recent activity; and, if the sessions support them, sign-in and sign-out, the list of sessions and a change of the
/// password. The class is a handler for `server` or any other HTTP server.
///
///     account_pages pages{settings, users, store, sessions};
///     http::site site{http::mounted("/v1", api), http::mounted(pages)};
///
/// Users, sessions and store must outlive the object. Thread rule: `handle` may be called from many threads at once. Blocking: if users,
/// sessions or store block, and while a password is checked.
class account_pages {
public:
    /// Constructs the handler. `users` is any `user_directory`, `sessions` any `session_source`, and `theme` any `page_theme`. Throws
    /// std::invalid_argument for an auth_url that `http::url::root` refuses, and for a quota with requests but no window.
    TOLLGATE_COLD account_pages(account_service_settings settings, user_directory_ref users, account_store_ref store,
                                session_source_ref sessions,
                                policies policies = default_policies(), any_page_theme theme = {});
    TOLLGATE_COLD ~account_pages();

    account_pages(const account_pages&) = delete;
    account_pages& operator=(const account_pages&) = delete;

    /// Returns true if handling a request may block.
    [[nodiscard]] TOLLGATE_DECL bool may_block() const noexcept;

    /// Implements `http::handler`: responds on this thread, which may block.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`: responds to a request that the server refused. Never blocks.
    TOLLGATE_COLD void handle(const http::refusal& refused, http::response& response) noexcept;
    /// Implements `http::resumable_handler`. Reads the body only of a form of a signed-in user, or of a form that signs in. All other
    /// requests are answered from the head.
    [[nodiscard]] TOLLGATE_DECL http::handle_step advance(const http::request& request, http::response& response,
                                                          http::handler_state& state, http::thread_kind thread) noexcept;

    /// Returns the response to a request, for tests, and for servers that do not reuse a response. May block.
    [[nodiscard]] http::response handle(const http::request& request) noexcept {
        http::response response;
        handle(request, response);
        return response;
    }

    /// Returns the paths for `http::site`.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> mounts() const;
    /// Returns the root paths of the languages, such as `/en` and `/de`.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> language_roots() const;
    /// Returns the settings that the object was constructed with.
    [[nodiscard]] TOLLGATE_DECL const account_service_settings& settings() const noexcept;

private:
    friend struct service_detail::part_mounter;

    [[nodiscard]] TOLLGATE_DECL const pipeline::part& part() const noexcept;

    std::unique_ptr<const pages::account_page_part> part_;
    std::unique_ptr<const pipeline::judge> judge_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/account_pages.ipp>
#endif

#endif  // TOLLGATE_PAGES_ACCOUNT_PAGES_HPP
