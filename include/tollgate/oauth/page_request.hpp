#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/page_words.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/status.hpp>
#include <tollgate/oauth/authorization_request.hpp>
#include <tollgate/pipeline/page_site.hpp>

#include <cstdint>
#include <variant>

namespace tollgate::oauth {

/// The parameters of a request to an authorization page, from its query or from a form of ours; or a status for a form
/// that another site sent (403), and for bytes that are none (400, 413, 415).
[[nodiscard]] TOLLGATE_DECL std::variant<parameters, http::status> read_page_request(const http::request& asked,
                                                                                     const pipeline::page_site& site);

/// What a person made of a consent form.
enum class decision : std::uint8_t { allow, deny, none };
[[nodiscard]] TOLLGATE_DECL decision read_decision(const parameters& sent);

/// What the page says instead of asking.
[[nodiscard]] TOLLGATE_DECL const message_words& words_for(page_failure why, const consent_words& words) noexcept;

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/page_request.ipp>
#endif
