#pragma once
#ifndef TOLLGATE_BASE_IDS_HPP
#define TOLLGATE_BASE_IDS_HPP

#include <tollgate/base/detail/text.hpp>

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// The id of a stored object: a number from 1 to 9223372036854775807. `Tag` makes each kind of id a distinct type. No value means "none";
/// use `std::optional` where an id may be missing.
template <class Tag>
class id {
public:
    /// Constructs the id with this number. Precondition: value > 0.
    explicit constexpr id(std::int64_t value) noexcept : value_{value} { assert(value > 0); }

    /// Returns the id with a number from outside, such as a table row, or an empty optional unless the number is positive.
    static constexpr std::optional<id> from(std::int64_t value) noexcept {
        return value > 0 ? std::optional{id{value}} : std::nullopt;
    }

    /// Parses digits without sign, space or leading zero; returns an empty optional for any other text. Because each id has one spelling, a
    /// path with another spelling is a 404.
    static constexpr std::optional<id> parse(std::string_view text) noexcept {
        const auto value = detail::parse_decimal(text);
        return value && *value <= INT64_MAX ? from(static_cast<std::int64_t>(*value)) : std::nullopt;
    }

    /// Returns the number, which is 1 or greater.
    [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

    friend constexpr auto operator<=>(const id&, const id&) noexcept = default;

private:
    std::int64_t value_;
};

/// The ids of this library. Each is a distinct type.
using user_id = id<struct user_tag>;
using account_id = id<struct account_tag>;  ///< unique within its service
using hook_id = id<struct hook_tag>;
using token_id = id<struct token_tag>;  ///< a personal token
using application_id = id<struct application_tag>;
using grant_id = id<struct grant_tag>;  ///< a user's authorization of an application
using delivery_id = id<struct delivery_tag>;  ///< the delivery of an event to a hook

}  // namespace tollgate

template <class Tag>
struct std::hash<tollgate::id<Tag>> {
    [[nodiscard]] std::size_t operator()(const tollgate::id<Tag>& key) const noexcept {
        return std::hash<std::int64_t>{}(key.value());
    }
};

#endif  // TOLLGATE_BASE_IDS_HPP
