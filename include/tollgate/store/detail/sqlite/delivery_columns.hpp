#pragma once

#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::sqlite {

/// The stored names of an enumeration's values, in order. Stored as text, so that the file is readable and a later
/// release cannot reuse a value.
template <class Enum, std::size_t Count>
struct text_column {
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
struct column<attempt_end> : text_column<attempt_end, 8> {
    static constexpr texts all{"answered", "no_address", "refused_address", "no_connection",
                               "no_tls",   "timed_out",  "broken_off",      "bad_answer"};  // bad_response
    static std::optional<attempt_end> read(const cell& from) noexcept { return text_column::read(all, from); }
    static void write(parameter to, attempt_end value) noexcept { text_column::write(all, to, value); }
};

template <>
struct column<delivery_state> : text_column<delivery_state, 4> {
    static constexpr texts all{"waiting", "delivered", "given_up", "held"};
    static std::optional<delivery_state> read(const cell& from) noexcept { return text_column::read(all, from); }
    static void write(parameter to, delivery_state value) noexcept { text_column::write(all, to, value); }
};

template <>
struct column<disable_reason> : text_column<disable_reason, 2> {
    static constexpr texts all{"gone", "failing"};
    static std::optional<disable_reason> read(const cell& from) noexcept { return text_column::read(all, from); }
    static void write(parameter to, disable_reason value) noexcept { text_column::write(all, to, value); }
};

/// Bytes of any kind, for responses of receivers; a text column would require valid text.
struct blob_text {
    std::string bytes;
};

template <>
struct column<blob_text> {
    static std::optional<blob_text> read(const cell& from) {
        const auto bytes = from.blob();
        if (!bytes) return std::nullopt;
        return blob_text{std::string{*bytes}};
    }
    static void write(parameter to, const blob_text& value) noexcept { to.blob(value.bytes); }
};

}  // namespace tollgate::sqlite
