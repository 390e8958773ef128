#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/form_body.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/oauth/failure.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::oauth {

/// The parameters of an OAuth request, from a query, a form or a JSON object. One sent without a value counts as not sent
/// (RFC 6749 section 3.1).
class parameters {
public:
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_query(const http::request& asked);

    /// A form or a JSON object, as the Content-Type says; in JSON a value is a string or a number. Everything else, and
    /// bytes that are neither, is an invalid_request.
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_body(const http::request& asked);

    /// None when it was not sent. Of one that was sent twice, the first: ask `repeated` before trusting it.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string> find(std::string_view name) const;

    /// A name that was sent more than once, which no request may do (RFC 6749 section 3.1); empty if there is none.
    [[nodiscard]] TOLLGATE_DECL std::string_view repeated() const noexcept;
    [[nodiscard]] TOLLGATE_DECL bool is_repeated(std::string_view name) const noexcept;

private:
    explicit parameters(std::vector<http::form_member> sent) noexcept : sent_{std::move(sent)} {}

    static TOLLGATE_DECL std::variant<parameters, failure> from_form(std::string_view bytes);

    std::vector<http::form_member> sent_;
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/parameters.ipp>
#endif
