#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/oauth/failure.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tollgate::oauth {

/// Where the browser goes back to, and what it takes along whatever the answer is.
struct return_address {
    std::string_view redirect;
    const std::optional<std::string>& state;  ///< as sent; none sent, none returned
    std::string_view issuer;                  ///< RFC 9207
};

/// RFC 6749 section 4.1.2.
[[nodiscard]] TOLLGATE_DECL std::string code_url(const return_address& to, std::string_view code);

/// RFC 6749 section 4.1.2.1.
[[nodiscard]] TOLLGATE_DECL std::string failure_url(const return_address& to, const failure& why);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/redirect_answer.ipp>
#endif
