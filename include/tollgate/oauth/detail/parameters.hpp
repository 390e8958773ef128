#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/oauth/detail/failure.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0::oauth {

/// The parameters of an OAuth request, from a query, a form or a JSON object. One sent without a value counts as not
/// sent (RFC 6749 section 3.1).
class parameters {
public:
    explicit parameters(const http::form_fields& form) : sent_{form.begin(), form.end()} {}

    /// Whatever the bytes of a query or a form body hold; an invalid_request for bytes that are no form.
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_form(std::string_view bytes);

    /// A form or a JSON object, as the Content-Type says; in JSON a value is a string or an integer. No body at all is
    /// no parameters. Everything else, and bytes that are neither, is an invalid_request.
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_body(const http::request& asked);

    /// None when it was not sent. Of one that was sent twice, the first: ask `repeated` before trusting it.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string> find(std::string_view name) const;

    /// Says that a parameter was sent more than once, which none may be (RFC 6749 section 3.1); none if all is well.
    /// `resource` may be (RFC 8707 section 2): it is none of ours, and there are clients that send it.
    [[nodiscard]] TOLLGATE_DECL std::optional<failure> repeated() const;
    [[nodiscard]] bool is_repeated(std::string_view name) const noexcept { return times(name) > 1; }

    /// Whether there is one of this name, with a value or without.
    [[nodiscard]] bool holds(std::string_view name) const noexcept { return times(name) != 0; }

private:
    explicit parameters(std::vector<http::form_member> sent) noexcept : sent_{std::move(sent)} {}

    static TOLLGATE_DECL std::variant<parameters, failure> from_json(std::string_view bytes);
    [[nodiscard]] TOLLGATE_DECL std::size_t times(std::string_view name) const noexcept;

    std::vector<http::form_member> sent_;
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/parameters.ipp>
#endif
