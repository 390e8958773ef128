#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_COLUMNS_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_COLUMNS_HPP

#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::sqlite {

inline constexpr std::array<std::string_view, 8> attempt_end_names{"answered", "no_address", "refused_address", "no_connection",
                                                                   "no_tls",   "timed_out",  "broken_off",      "bad_answer"};
static_assert(attempt_end_names.size() == static_cast<std::size_t>(attempt_end::bad_response) + 1);

inline constexpr auto attempt_cause_names = [] {
    std::array<std::string_view, static_cast<std::size_t>(attempt_cause::certificate_invalid) + 1> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_text(static_cast<attempt_cause>(i));
    return names;
}();

inline constexpr std::array<std::string_view, 4> delivery_state_names{"waiting", "delivered", "given_up", "held"};
static_assert(delivery_state_names.size() == static_cast<std::size_t>(delivery_state::held) + 1);

/// An enumeration, stored as the name of its value.
template <class Enum, const auto& Names>
struct named_column {
    static std::optional<Enum> read(const cell& from) noexcept {
        const auto name = from.text();
        for (std::size_t i = 0; i < Names.size(); ++i)
            if (name == Names[i]) return static_cast<Enum>(i);
        return std::nullopt;
    }
    static void write(parameter to, Enum value) noexcept { to.text(Names[static_cast<std::size_t>(value)]); }
};

template <>
struct column<attempt_end> : named_column<attempt_end, attempt_end_names> {};

template <>
struct column<attempt_cause> : named_column<attempt_cause, attempt_cause_names> {};

template <>
struct column<delivery_state> : named_column<delivery_state, delivery_state_names> {};

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_COLUMNS_HPP
