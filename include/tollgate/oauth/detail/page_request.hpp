#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/texts.hpp>

#include <cstdint>
#include <optional>
#include <variant>

namespace tollgate::inline v0::oauth {

/// The parameters of a request to an authorization page, from its query or form; or a status: 403 for a form of another
/// site, 400, 413 or 415 for an unreadable one.
[[nodiscard]] TOLLGATE_DECL std::variant<parameters, http::status> read_page_request(const http::request& request,
                                                                                     const web::page_site& site);

/// The user's decision on a consent form.
enum class decision : std::uint8_t { allow, deny, none };
[[nodiscard]] TOLLGATE_DECL decision read_decision(const parameters& sent);

/// The error page of a failure.
[[nodiscard]] TOLLGATE_DECL const message_texts& texts_for(page_failure why, const consent_texts& texts) noexcept;

/// The state of one request to an authorization server.
struct request_context {
    instant now{};
    ip_address client;  ///< behind trusted proxies, the one they name
    endpoint which = endpoint::none;
    std::optional<verdict> window;  ///< of the client's address, if something was counted
    std::optional<caller> who;  ///< the signed-in user, on a page
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/page_request.ipp>
#endif
