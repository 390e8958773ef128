#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_COLUMNS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_COLUMNS_HPP

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/model/scope.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::sql {

/// The types of columns. Each database maps them to its own.
enum class storage : std::uint8_t { boolean, integer, text, blob };

/// How a `T` is stored in one column, for both databases:
///
///     static constexpr storage type;
///     static std::optional<T> read(const auto& cell);       // none: the column holds something else
///     static void write(auto&& parameter, const T& value);
///
/// `sqlite::column` and `postgres::column` derive from it. Specialize those for types that only one of them stores.
template <class T>
struct column;

template <>
struct column<std::int64_t> {
    static constexpr storage type = storage::integer;
    static std::optional<std::int64_t> read(const auto& from) noexcept { return from.integer(); }
    static void write(auto&& to, std::int64_t value) { to.integer(value); }
};

/// A bound. Values above the column's maximum are stored as the maximum.
template <>
struct column<std::size_t> {
    static constexpr storage type = storage::integer;
    static void write(auto&& to, std::size_t value) {
        constexpr std::size_t largest = (std::numeric_limits<std::int64_t>::max)();
        to.integer(static_cast<std::int64_t>((std::min)(value, largest)));
    }
};

template <>
struct column<bool> {
    static constexpr storage type = storage::boolean;
    static std::optional<bool> read(const auto& from) noexcept { return from.boolean(); }
    static void write(auto&& to, bool value) { to.boolean(value); }
};

template <>
struct column<std::string> {
    static constexpr storage type = storage::text;
    static std::optional<std::string> read(const auto& from) {
        const auto text = from.text();
        return text ? std::optional<std::string>{std::in_place, *text} : std::nullopt;
    }
    static void write(auto&& to, std::string_view value) { to.text(value); }
};

/// For parameters only: a row is read into a type that owns its text.
template <>
struct column<std::string_view> {
    static constexpr storage type = storage::text;
    static void write(auto&& to, std::string_view value) { to.text(value); }
};

template <std::size_t Capacity>
struct column<detail::inline_text<Capacity>> {
    static constexpr storage type = storage::text;
    static std::optional<detail::inline_text<Capacity>> read(const auto& from) noexcept {
        const auto text = from.text();
        return text ? detail::inline_text<Capacity>::from(*text) : std::nullopt;
    }
    static void write(auto&& to, const detail::inline_text<Capacity>& value) { to.text(value.view()); }
};

template <class Tag>
struct column<id<Tag>> {
    static constexpr storage type = storage::integer;
    static std::optional<id<Tag>> read(const auto& from) noexcept {
        const auto value = from.integer();
        return value ? id<Tag>::from(*value) : std::nullopt;
    }
    static void write(auto&& to, id<Tag> value) { to.integer(value.value()); }
};

/// Milliseconds since 1970, by the database's clock.
template <>
struct column<instant> {
    static constexpr storage type = storage::integer;
    static std::optional<instant> read(const auto& from) noexcept { return from.moment(); }
    static void write(auto&& to, instant value) { to.moment(value); }
};

template <>
struct column<milliseconds> {
    static constexpr storage type = storage::integer;
    static std::optional<milliseconds> read(const auto& from) noexcept {
        const auto count = from.integer();
        return count ? std::optional{milliseconds{*count}} : std::nullopt;
    }
    static void write(auto&& to, milliseconds value) { to.integer(value.count()); }
};

/// 32 bytes.
template <>
struct column<digest> {
    static constexpr storage type = storage::blob;
    static std::optional<digest> read(const auto& from) noexcept {
        const auto bytes = from.blob();
        return bytes ? digest::from(*bytes) : std::nullopt;
    }
    static void write(auto&& to, const digest& value) { to.blob(value.raw()); }
};

/// NULL for a digest of zeros, which stands for no digest.
[[nodiscard]] inline std::optional<digest> digest_or_null(const digest& value) noexcept {
    return value == digest{} ? std::nullopt : std::optional{value};
}

/// Text, scopes separated by single spaces.
template <>
struct column<scope_set> {
    static constexpr storage type = storage::text;
    static std::optional<scope_set> read(const auto& from) noexcept {
        const auto text = from.text();
        return text ? scope_set::parse(*text) : std::nullopt;
    }
    static void write(auto&& to, const scope_set& value) { to.text(value.text()); }
};

/// Text: 16 digits for each resource.
template <>
struct column<resource_set> {
    static constexpr storage type = storage::text;
    static std::optional<resource_set> read(const auto& from) noexcept {
        const auto text = from.text();
        return text ? resource_set::parse(*text) : std::nullopt;
    }
    static void write(auto&& to, const resource_set& value) { to.text(value.text()); }
};

/// Text: SQLite's numbers lose digits, and PostgreSQL's NUMERIC does not distinguish 1.0 from 01.0.
template <>
struct column<decimal> {
    static constexpr storage type = storage::text;
    static std::optional<decimal> read(const auto& from) noexcept {
        const auto text = from.text();
        return text ? decimal::parse(*text) : std::nullopt;
    }
    static void write(auto&& to, const decimal& value) { to.text(value.text()); }
};

/// An enumeration stored as its text, so that rows are readable and a later release cannot reuse a value.
template <class E, E... Values>
struct text_column {
    static constexpr storage type = storage::text;
    static std::optional<E> read(const auto& from) noexcept {
        const auto text = from.text();
        for (const E each : {Values...})
            if (text == to_text(each)) return each;
        return std::nullopt;
    }
    static void write(auto&& to, E value) { to.text(to_text(value)); }
};

template <>
struct column<hook_source> : text_column<hook_source, hook_source::api, hook_source::manual> {};
template <>
struct column<disable_reason> : text_column<disable_reason, disable_reason::gone, disable_reason::failing> {};
template <>
struct column<client_type>
    : text_column<client_type, client_type::confidential, client_type::public_client, client_type::resource_server> {};
template <>
struct column<registration_kind>
    : text_column<registration_kind, registration_kind::by_owner, registration_kind::by_itself, registration_kind::metadata_document> {};
template <>
struct column<suspension> : text_column<suspension, suspension::by_operator, suspension::owner_disabled> {};
template <>
struct column<device_code_state>
    : text_column<device_code_state, device_code_state::pending, device_code_state::approved, device_code_state::denied> {};

/// Bytes of any kind, for what receivers respond; a text column would require valid text.
struct raw_bytes {
    std::string value;
};

template <>
struct column<raw_bytes> {
    static constexpr storage type = storage::blob;
    static std::optional<raw_bytes> read(const auto& from) {
        const auto bytes = from.blob();
        return bytes ? std::optional{raw_bytes{std::string{*bytes}}} : std::nullopt;
    }
    static void write(auto&& to, const raw_bytes& value) { to.blob(value.value); }
};

/// URLs, one a line: they have no control characters. Bound as text, see `to_lines`.
struct url_lines {
    std::vector<std::string> urls;
};

template <>
struct column<url_lines> {
    static constexpr storage type = storage::text;
    static std::optional<url_lines> read(const auto& from) {
        const auto text = from.text();
        if (!text) return std::nullopt;
        std::vector<std::string> urls;
        for (std::string_view left = *text; !left.empty();) {
            const auto end = (std::min)(left.find('\n'), left.size());
            urls.emplace_back(left.substr(0, end));
            left.remove_prefix((std::min)(end + 1, left.size()));
        }
        return url_lines{std::move(urls)};
    }
};

[[nodiscard]] inline std::string to_lines(const std::vector<std::string>& urls) {
    std::string text;
    for (const std::string& each : urls) text.append(text.empty() ? "" : "\n").append(each);
    return text;
}

/// NULL is the empty optional. `Column` is the database's mapping of `T`.
template <class T, class Column>
struct optional_column {
    static std::optional<std::optional<T>> read(const auto& from) {
        if (from.is_null()) return std::optional<std::optional<T>>{std::in_place};
        auto value = Column::read(from);
        if (!value) return std::nullopt;
        return std::optional<std::optional<T>>{std::in_place, std::move(value)};
    }
    static void write(auto&& to, const std::optional<T>& value) {
        if (value) Column::write(to, *value);
        else to.null();
    }
};

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_COLUMNS_HPP
