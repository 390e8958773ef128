#pragma once

#include <tollgate/model/delivery.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::postgres {

template <>
struct column<disable_reason> {
    static constexpr wire_type type = wire_text;
    static std::optional<disable_reason> read(const cell& from) noexcept {
        const auto text = from.text();
        if (text == std::string_view{"gone"}) return disable_reason::gone;
        if (text == std::string_view{"failing"}) return disable_reason::failing;
        return std::nullopt;
    }
    static void write(parameter& to, disable_reason value) {
        to.text(value == disable_reason::gone ? "gone" : "failing");
    }
};

/// An enumeration, stored as its number. Numbers are never reused.
template <class E, E Last>
struct numbered_column {
    static constexpr wire_type type = wire_integer;
    static std::optional<E> read(const cell& from) noexcept {
        const auto number = from.integer();
        if (!number || *number < 0 || *number > static_cast<std::int64_t>(Last)) return std::nullopt;
        return static_cast<E>(*number);
    }
    static void write(parameter& to, E value) { to.integer(static_cast<std::int64_t>(value)); }
};

template <>
struct column<delivery_state> : numbered_column<delivery_state, delivery_state::held> {};
static_assert(static_cast<int>(delivery_state::waiting) == 0 && static_cast<int>(delivery_state::held) == 3);

template <>
struct column<attempt_end> : numbered_column<attempt_end, attempt_end::bad_response> {};

template <>
struct column<message_seed> {
    static constexpr wire_type type = wire_bytes;
    static std::optional<message_seed> read(const cell& from) noexcept {
        const auto bytes = from.blob();
        message_seed seed{};
        if (!bytes || bytes->size() != seed.size()) return std::nullopt;
        std::memcpy(seed.data(), bytes->data(), seed.size());
        return seed;
    }
    static void write(parameter& to, const message_seed& value) {
        to.blob({reinterpret_cast<const char*>(value.data()), value.size()});
    }
};

/// A response body: bytes of any kind.
struct raw_bytes {
    std::string value;
};

template <>
struct column<raw_bytes> {
    static constexpr wire_type type = wire_bytes;
    static std::optional<raw_bytes> read(const cell& from) {
        const auto bytes = from.blob();
        return bytes ? std::optional{raw_bytes{std::string{*bytes}}} : std::nullopt;
    }
    static void write(parameter& to, const raw_bytes& value) { to.blob(value.value); }
};

}  // namespace tollgate::postgres
