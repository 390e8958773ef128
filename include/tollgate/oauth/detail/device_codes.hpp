#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_DEVICE_CODES_HPP
#define TOLLGATE_OAUTH_DETAIL_DEVICE_CODES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/parameters.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tollgate::inline v0::oauth {

/// Letters of user codes (RFC 8628 section 6.1): no vowels, so that no words appear, and none that look alike.
inline constexpr std::string_view user_code_letters = "BCDFGHJKLMNPQRSTVWXZ";
inline constexpr std::size_t user_code_size = 8;  // 20^8: 34 bits, with bounds on guesses
inline constexpr std::size_t user_code_typed_bytes_max = 64;  // bound of the text with blanks and punctuation

/// A user code, from random bytes: `BCDF-GHJK`.
[[nodiscard]] TOLLGATE_DECL std::string make_user_code(std::span<const std::byte, 8> random);

/// As `make_user_code` writes it: from what a person types, in any case, with any blanks and punctuation (RFC 8628 section 6.1), up to
/// `user_code_typed_bytes_max`. Empty if it cannot be a user code.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> parse_user_code(std::string_view typed);

/// Precondition: as `make_user_code` writes it.
[[nodiscard]] TOLLGATE_DECL digest digest_of_user_code(std::string_view code);

/// A new user code; empty if the random source fails.
[[nodiscard]] inline std::optional<std::string> new_user_code(const random_source_ref& random) {
    std::array<std::byte, 8> bytes;
    if (!random.fill(bytes)) return std::nullopt;
    return make_user_code(bytes);
}

/// The scopes of a device authorization request (RFC 8628 section 3.1).
[[nodiscard]] TOLLGATE_DECL std::variant<scope_set, failure> read_device_request(const parameters& sent,
                                                                                 const application& client,
                                                                                 const service_catalog& services);

/// RFC 8628 section 3.2.
struct device_response {
    std::string_view device_code;
    std::string_view user_code;
    const account_service_settings& settings;
};
TOLLGATE_DECL void write_device_response(http::response& response, const device_response& issued);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/device_codes.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_DEVICE_CODES_HPP
