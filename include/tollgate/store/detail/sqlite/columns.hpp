#pragma once

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace tollgate::inline v0::sqlite {

/// A bound. What no column holds is no bound at all: the largest number that one does.
template <>
struct column<std::size_t> {
    static void write(parameter to, std::size_t value) noexcept {
        constexpr std::size_t largest = (std::numeric_limits<std::int64_t>::max)();
        to.integer(static_cast<std::int64_t>((std::min)(value, largest)));
    }
};

/// A blob of 32 bytes.
template <>
struct column<digest> {
    static std::optional<digest> read(const cell& from) noexcept {
        const auto bytes = from.blob();
        if (!bytes) return std::nullopt;
        return digest::from({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    }
    static void write(parameter to, const digest& value) noexcept {
        to.blob(std::as_bytes(std::span{value.bytes()}));
    }
};

/// Text, separated by single spaces.
template <>
struct column<scope_set> {
    static std::optional<scope_set> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? scope_set::parse(*text) : std::nullopt;
    }
    static void write(parameter to, const scope_set& value) noexcept { to.text(value.text()); }
};

/// Text: no number of SQLite's keeps all digits.
template <>
struct column<decimal> {
    static std::optional<decimal> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? decimal::parse(*text) : std::nullopt;
    }
    static void write(parameter to, const decimal& value) noexcept { to.text(value.text()); }
};

}  // namespace tollgate::sqlite
