#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/pipeline/path_pattern.hpp>

#include <optional>
#include <string_view>

namespace tollgate {

/// What kind of value a name in braces stands for. Text that is no such value is a 404, as if nothing were there.
///
/// A name without a specialization of its own is text. For a type of one's own:
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

template <>
struct path_parameter<"account"> {
    using type = account_id;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return account_id::parse(text); }
};

template <>
struct path_parameter<"hook"> {
    using type = hook_id;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return hook_id::parse(text); }
};

}  // namespace tollgate
