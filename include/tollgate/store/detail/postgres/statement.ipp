#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_STATEMENT_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_STATEMENT_IPP

#include <tollgate/store/detail/postgres/libpq.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>

#include <limits>

namespace tollgate::inline v0::postgres {

namespace detail {

/// Most significant byte first, as everywhere in the protocol.
inline void put_big_endian(char* to, std::uint64_t value, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<char>(value >> (8 * (bytes - 1 - i)) & 0xff);
}

inline void append_big_endian(std::string& to, std::uint64_t value, std::size_t bytes) {
    const std::size_t at = to.size();
    to.append(bytes, '\0');
    put_big_endian(to.data() + at, value, bytes);
}

/// Adds, keeping the minimum and maximum, which mean "always" and "never".
inline std::int64_t add_within_bounds(std::int64_t value, std::int64_t added) noexcept {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(value, added, &sum)) return sum;
    return added > 0 ? (std::numeric_limits<std::int64_t>::max)() : (std::numeric_limits<std::int64_t>::min)();
}

}  // namespace detail

TOLLGATE_DECL void parameter::boolean(bool value) { to_.push_back(value ? '\1' : '\0'); }

TOLLGATE_DECL void parameter::integer(std::int64_t value) {
    detail::append_big_endian(to_, static_cast<std::uint64_t>(value), 8);
}

TOLLGATE_DECL void parameter::moment(instant value) {
    integer(detail::add_within_bounds(to_unix_milliseconds(value), shift_.count()));
}

TOLLGATE_DECL void parameter::begin_array(wire_type type, std::size_t count) {
    detail::append_big_endian(to_, count == 0 ? 0 : 1, 4);  // dimensions
    detail::append_big_endian(to_, 0, 4);                   // has-null flag, which the server ignores
    detail::append_big_endian(to_, type.number, 4);
    if (count == 0) return;
    detail::append_big_endian(to_, count, 4);
    detail::append_big_endian(to_, 1, 4);  // the first index
}

TOLLGATE_DECL std::size_t parameter::begin_element() {
    const std::size_t at = to_.size();
    to_.append(4, '\0');
    return at;
}

TOLLGATE_DECL void parameter::end_element(std::size_t begun_at, bool is_null) noexcept {
    constexpr std::uint64_t null_size = 0xffff'ffff;  // -1
    const std::size_t size = to_.size() - begun_at - 4;
    detail::put_big_endian(to_.data() + begun_at, is_null ? null_size : size, 4);
}

TOLLGATE_DECL bool cell::is_null() const noexcept {
    // libpq reports a column that does not exist as null, which would hide a mistake.
    return column_ < PQnfields(result_) && PQgetisnull(result_, row_, column_) != 0;
}

TOLLGATE_DECL std::optional<std::string_view> cell::bytes_of(wire_type type) const noexcept {
    if (column_ >= PQnfields(result_) || PQftype(result_, column_) != type.number || PQfformat(result_, column_) != 1 ||
        PQgetisnull(result_, row_, column_) != 0)
        return std::nullopt;
    return std::string_view{PQgetvalue(result_, row_, column_), static_cast<std::size_t>(PQgetlength(result_, row_, column_))};
}

TOLLGATE_DECL std::optional<bool> cell::boolean() const noexcept {
    const auto bytes = bytes_of(wire_boolean);
    if (!bytes || bytes->size() != 1) return std::nullopt;
    return bytes->front() != '\0';
}

TOLLGATE_DECL std::optional<std::int64_t> cell::integer() const noexcept {
    const auto bytes = bytes_of(wire_integer);
    if (!bytes || bytes->size() != 8) return std::nullopt;
    std::uint64_t value = 0;
    for (const char each : *bytes) value = value << 8 | static_cast<unsigned char>(each);
    return static_cast<std::int64_t>(value);
}

TOLLGATE_DECL std::optional<instant> cell::moment() const noexcept {
    const auto count = integer();
    if (!count) return std::nullopt;
    return from_unix_milliseconds(detail::add_within_bounds(*count, -shift_.count()));
}

TOLLGATE_DECL std::optional<std::string_view> cell::text() const noexcept { return bytes_of(wire_text); }

TOLLGATE_DECL std::optional<std::string_view> cell::blob() const noexcept { return bytes_of(wire_bytes); }

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_STATEMENT_IPP
