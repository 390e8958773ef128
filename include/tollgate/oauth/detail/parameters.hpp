#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_PARAMETERS_HPP
#define TOLLGATE_OAUTH_DETAIL_PARAMETERS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/oauth/detail/failure.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0::oauth {

/// The parameters of an OAuth request, from a query, a form or a JSON object. Empty values count as missing (RFC 6749
/// section 3.1).
class parameters {
public:
    explicit parameters(const http::form_fields& form) : sent_{form.begin(), form.end()} {}

    /// Reads a query or form body. Error: invalid_request for malformed bytes.
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_form(std::string_view bytes);

    /// Reads a form or JSON object, by Content-Type, of at most `limits::form_members_max` members; JSON values are strings or
    /// integers. An empty body has no parameters. Anything else is an invalid_request.
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_body(const http::request& request);

    /// The error of `from_body` that the head of a request causes, if any. The body may not have arrived.
    [[nodiscard]] static TOLLGATE_DECL std::optional<failure> check_head(const http::request& request);

    /// Returns an empty text if the parameter was not sent, and the first value of a repeated parameter: check `repeated` before.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string> find(std::string_view name) const;

    /// The error for a repeated parameter (RFC 6749 section 3.1), if any. `resource` may be repeated (RFC 8707 section
    /// 2).
    [[nodiscard]] TOLLGATE_DECL std::optional<failure> repeated() const;
    [[nodiscard]] bool is_repeated(std::string_view name) const noexcept { return times(name) > 1; }

    /// Returns the parameters as sent, in their order.
    [[nodiscard]] const std::vector<http::form_member>& all() const noexcept { return sent_; }

    /// Returns true if the parameter was sent, with a value or without.
    [[nodiscard]] bool holds(std::string_view name) const noexcept { return times(name) != 0; }

private:
    explicit parameters(std::vector<http::form_member> sent) noexcept : sent_{std::move(sent)} {}

    static TOLLGATE_DECL std::variant<parameters, failure> from_json(std::string_view bytes);
    [[nodiscard]] TOLLGATE_DECL std::size_t times(std::string_view name) const noexcept;

    std::vector<http::form_member> sent_;
};

/// The scopes of a `scope` parameter; empty if there is none, or one that does not exist.
[[nodiscard]] TOLLGATE_DECL std::optional<scope_set> parse_known_scopes(std::string_view sent, const service_catalog& services);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/parameters.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_PARAMETERS_HPP
