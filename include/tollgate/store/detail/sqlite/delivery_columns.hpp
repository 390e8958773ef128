#pragma once

#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::sqlite {

/// The stored names of an enumeration's values, in order.
template <class Enum, std::size_t Count>
struct named_column {
    using texts = std::array<std::string_view, Count>;

    static std::optional<Enum> read(const texts& all, const cell& from) noexcept {
        const auto text = from.text();
        for (std::size_t i = 0; i < Count; ++i)
            if (text == all[i]) return static_cast<Enum>(i);
        return std::nullopt;
    }
    static void write(const texts& all, parameter to, Enum value) noexcept {
        to.text(all[static_cast<std::size_t>(value)]);
    }
};

template <>
struct column<attempt_end> : named_column<attempt_end, 8> {
    static constexpr texts all{"answered", "no_address", "refused_address", "no_connection",
                               "no_tls",   "timed_out",  "broken_off",      "bad_answer"};  // bad_response
    static std::optional<attempt_end> read(const cell& from) noexcept { return named_column::read(all, from); }
    static void write(parameter to, attempt_end value) noexcept { named_column::write(all, to, value); }
};

template <>
struct column<delivery_state> : named_column<delivery_state, 4> {
    static constexpr texts all{"waiting", "delivered", "given_up", "held"};
    static std::optional<delivery_state> read(const cell& from) noexcept { return named_column::read(all, from); }
    static void write(parameter to, delivery_state value) noexcept { named_column::write(all, to, value); }
};

}  // namespace tollgate::sqlite
