#pragma once
#ifndef TOLLGATE_OAUTH_AUTHORIZATION_SERVER_HPP
#define TOLLGATE_OAUTH_AUTHORIZATION_SERVER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/session_source.hpp>
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
namespace oauth {
class oauth_part;
}

/// Serves OAuth 2.0 at `{auth_url}` (RFC 6749): authorization page, token endpoint, revocation (RFC 7009), introspection (RFC 7662), device
/// authorization and its page (RFC 8628), metadata (RFC 8414). The class is a handler for `server` or any other HTTP server.
///
///     authorization_server oauth{settings, store, sessions};
///     authorization_server oauth{settings, store, sessions, api.policies()};
///     http::site site{http::mounted("/v1", api), http::mounted(oauth), http::mounted(pages)};
///
/// The limiter counts wrong client secrets by the client's address; to share the API's limiter, pass a copy of its policies. Sessions and
/// store must outlive the object. Thread rule: `handle` may be called from many threads at once. Blocking: if the sessions, the store or
/// the limiter block, and while a password is checked. The metadata needs none of them.
class authorization_server {
public:
    /// Constructs the handler. `store` is any `oauth_store`, `sessions` any `session_source`, and `theme` any `page_theme`. Throws
    /// std::invalid_argument for an auth_url that `http::url::root` refuses, for a time outside its bounds, for a quota without a window,
    /// and for a cookie_name that is not valid.
    TOLLGATE_COLD authorization_server(account_service_settings settings, oauth_store_ref store, session_source_ref sessions,
                                       policies policies = default_policies(), any_page_theme theme = {});
    TOLLGATE_COLD ~authorization_server();

    authorization_server(const authorization_server&) = delete;
    authorization_server& operator=(const authorization_server&) = delete;

    /// Returns true if handling a request may block.
    [[nodiscard]] TOLLGATE_DECL bool may_block() const noexcept;

    /// Implements `http::handler`: responds on this thread, which may block.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`: responds to a request that the server refused. Never blocks.
    TOLLGATE_COLD void handle(const http::refusal& refused, http::response& response) noexcept;
    /// Implements `http::resumable_handler`. Reads the body only of a POST to a known endpoint that is not refused by its head. All other
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
    /// Returns the settings that the object was constructed with.
    [[nodiscard]] TOLLGATE_DECL const account_service_settings& settings() const noexcept;

private:
    friend struct service_detail::part_mounter;

    [[nodiscard]] TOLLGATE_DECL const pipeline::part& part() const noexcept;

    std::unique_ptr<const oauth::oauth_part> part_;
    std::unique_ptr<const pipeline::judge> judge_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/authorization_server.ipp>
#endif

#endif  // TOLLGATE_OAUTH_AUTHORIZATION_SERVER_HPP
