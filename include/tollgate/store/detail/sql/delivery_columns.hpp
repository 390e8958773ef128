#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_DELIVERY_COLUMNS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_DELIVERY_COLUMNS_HPP

#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/last_value.hpp>
#include <tollgate/store/detail/sql/columns.hpp>

#include <cstdint>
#include <cstring>
#include <optional>

namespace tollgate::inline v0::sql {

/// An enumeration, stored as its number. Numbers are never reused.
template <class E>
struct numbered_column {
    static constexpr storage type = storage::integer;
    static std::optional<E> read(const auto& from) noexcept {
        const auto number = from.integer();
        if (!number || *number < 0 || *number > static_cast<std::int64_t>(tollgate::detail::last_value<E>)) return std::nullopt;
        return static_cast<E>(*number);
    }
    static void write(auto&& to, E value) { to.integer(static_cast<std::int64_t>(value)); }
};

template <>
struct column<delivery_state> : numbered_column<delivery_state> {};
static_assert(static_cast<int>(delivery_state::waiting) == 0 && static_cast<int>(delivery_state::held) == 3);

template <>
struct column<attempt_end> : numbered_column<attempt_end> {};

template <>
struct column<attempt_cause> : numbered_column<attempt_cause> {};

template <>
struct column<message_seed> {
    static constexpr storage type = storage::blob;
    static std::optional<message_seed> read(const auto& from) noexcept {
        const auto bytes = from.blob();
        message_seed seed{};
        if (!bytes || bytes->size() != seed.size()) return std::nullopt;
        std::memcpy(seed.data(), bytes->data(), seed.size());
        return seed;
    }
    static void write(auto&& to, const message_seed& value) { to.blob({reinterpret_cast<const char*>(value.data()), value.size()}); }
};

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_DELIVERY_COLUMNS_HPP
