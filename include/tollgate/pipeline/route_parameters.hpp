#pragma once
#ifndef TOLLGATE_PIPELINE_ROUTE_PARAMETERS_HPP
#define TOLLGATE_PIPELINE_ROUTE_PARAMETERS_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/pipeline/detail/path_pattern.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The type of the path parameter `{Name}`. Text that `parse` refuses is a 404, as if the path did not exist.
///
/// A name without a specialization is text. For another type:
///
///     template <>
///     struct tollgate::path_parameter<"invoice"> {
///         using type = invoice_id;
///         static std::optional<invoice_id> parse(std::string_view text);
///     };
template <fixed_text Name>
struct path_parameter {
    using type = std::string_view;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return text; }
};

/// The parameter `{account}`, an account id.
template <>
struct path_parameter<"account"> {
    using type = account_id;  ///< the type of the handler's argument
    /// Returns the account id, or an empty optional for text that is not an id.
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return account_id::parse(text); }
};

/// The parameter `{hook}`, a webhook id.
template <>
struct path_parameter<"hook"> {
    using type = hook_id;  ///< the type of the handler's argument
    /// Returns the webhook id, or an empty optional for text that is not an id.
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return hook_id::parse(text); }
};

/// The type of the query parameter `{Name}`, as in `/invoices?{year}&{page}`. The endpoint gets a `const std::optional<type>&`, which is
/// empty if the request has no such parameter. `parse` gets the decoded text and must not wait. Text that it refuses is a 422 that names
/// the parameter.
///
/// A name without a specialization is text. For another type:
///
///     template <>
///     struct tollgate::query_parameter<"page"> : tollgate::integer_parameter<1, 1000> {};
///
/// A specialization is for the whole program. `parameters` gives a route parameters of its own.
template <fixed_text Name>
struct query_parameter {
    using type = std::string;
    static std::optional<type> parse(std::string_view text) { return std::string{text}; }
};

/// A decimal integer from `Min` to `Max`, for `query_parameter` and `path_parameter`: `-5`, `0`, `17`; no `+`, no leading zeros.
template <std::int64_t Min, std::int64_t Max>
struct integer_parameter {
    using type = std::int64_t;  ///< the type of the handler's argument
    static constexpr std::int64_t minimum = Min;  ///< for the documentation and OpenAPI
    static constexpr std::int64_t maximum = Max;  ///< for the documentation and OpenAPI
    /// Returns the integer, or an empty optional for other text, and beyond the bounds.
    static constexpr std::optional<type> parse(std::string_view text) noexcept {
        const bool is_negative = text.starts_with('-');
        const auto digits = text.substr(is_negative ? 1 : 0);
        const std::optional<std::uint64_t> value = detail::parse_decimal(digits);
        constexpr auto positive_max = static_cast<std::uint64_t>(INT64_MAX);
        if (!value || *value > (is_negative ? positive_max + 1 : positive_max) || (is_negative && *value == 0)) return std::nullopt;
        const auto number = static_cast<std::int64_t>(is_negative ? 0 - *value : *value);
        return number < Min || number > Max ? std::nullopt : std::optional{number};
    }
    /// Returns what the error says after "page in the query must be", such as "an integer from 1 to 1000". A `query_parameter` need not
    /// have this function.
    static std::string expected() { return "an integer from " + std::to_string(Min) + " to " + std::to_string(Max); }
};

/// One of a few texts, for `query_parameter` and `path_parameter`; OpenAPI lists them.
template <fixed_text... Values>
struct choice_parameter {
    using type = std::string;  ///< the type of the handler's argument
    static constexpr std::array<std::string_view, sizeof...(Values)> values{Values.view()...};  ///< for OpenAPI
    /// Returns the text if it is one of the values, compared byte for byte.
    static std::optional<type> parse(std::string_view text) {
        for (const std::string_view each : values)
            if (each == text) return std::string{text};
        return std::nullopt;
    }
    /// Returns what the error says after "status in the query must be".
    static std::string expected() {
        std::string text{"one of "};
        for (const std::string_view each : values) text.append(each.data() == values.front().data() ? "" : ", ").append(each);
        return text;
    }
};

/// A type of parameter with a description for OpenAPI: `described<integer_parameter<1, 1000>, "The page, from 1 on.">`.
template <class Parameter, fixed_text Description>
struct described : Parameter {
    static constexpr std::string_view description = Description.view();  ///< for OpenAPI
};

/// A parameter of `parameters`: its name, and what `query_parameter` would be for it.
template <fixed_text Name, class Parameter>
struct named {
    static constexpr std::string_view name = Name.view();
    using type = Parameter;
};

/// The query parameters of a route whose types differ from those of the rest of the program:
///
///     using invoice_query = parameters<named<"limit", integer_parameter<1, 50>>, named<"status", choice_parameter<"open", "paid">>>;
///     on_get<"/{service}/invoices?{limit}&{status}&{year}", invoice_query>(read_of_service, list_invoices)
///
/// Those that it does not name, such as `year`, have their `query_parameter`.
template <class... Named>
struct parameters {};

}  // namespace tollgate

#endif  // TOLLGATE_PIPELINE_ROUTE_PARAMETERS_HPP
