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

/// The parameters of a request to an authorization page, from its query or from a form of ours; or a status for a form
/// that another site sent (403), and for bytes that are none (400, 413, 415).
[[nodiscard]] TOLLGATE_DECL std::variant<parameters, http::status> read_page_request(const http::request& asked,
                                                                                     const pipeline::page_site& site);

/// What a person made of a consent form.
enum class decision : std::uint8_t { allow, deny, none };
[[nodiscard]] TOLLGATE_DECL decision read_decision(const parameters& sent);

/// What the page says instead of asking.
[[nodiscard]] TOLLGATE_DECL const message_texts& texts_for(page_failure why, const consent_texts& texts) noexcept;

/// What was found out about one request to an authorization server so far.
struct visit {
    instant now{};
    ip_address client;  ///< behind trusted proxies, the one they name
    place where = place::nowhere;
    std::optional<verdict> window;  ///< of the client's address, once something was counted against it
    std::optional<caller> who;      ///< the person who is signed in, on a page
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/page_request.ipp>
#endif
