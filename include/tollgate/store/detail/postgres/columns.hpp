#pragma once

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::postgres {

/// Whether there can be a text like this in a database: one that clients send to be looked up need not be any.
[[nodiscard]] constexpr bool is_keepable(std::string_view text) noexcept {
    return text.find('\0') == std::string_view::npos && is_utf8(text);
}

/// A bound. What no column holds is no bound at all: the largest number that one does.
template <>
struct column<std::size_t> {
    static constexpr wire_type type = wire_integer;
    static void write(parameter& to, std::size_t value) {
        constexpr std::size_t largest = (std::numeric_limits<std::int64_t>::max)();
        to.integer(static_cast<std::int64_t>((std::min)(value, largest)));
    }
};

/// 32 bytes.
template <>
struct column<digest> {
    static constexpr wire_type type = wire_bytes;
    static std::optional<digest> read(const cell& from) noexcept {
        const auto bytes = from.blob();
        return bytes ? digest::from(*bytes) : std::nullopt;
    }
    static void write(parameter& to, const digest& value) { to.blob(value.raw()); }
};

/// Text, separated by single spaces.
template <>
struct column<scope_set> {
    static constexpr wire_type type = wire_text;
    static std::optional<scope_set> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? scope_set::parse(*text) : std::nullopt;
    }
    static void write(parameter& to, const scope_set& value) { to.text(value.text()); }
};

/// Text: NUMERIC has all digits, too, but not those that were given (1.0 and 01 are one number).
template <>
struct column<decimal> {
    static constexpr wire_type type = wire_text;
    static std::optional<decimal> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? decimal::parse(*text) : std::nullopt;
    }
    static void write(parameter& to, const decimal& value) { to.text(value.text()); }
};

}  // namespace tollgate::postgres
