#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct pg_result;

namespace tollgate::inline v0::postgres {

/// One statement of SQL, known while compiling: values reach a database as parameters alone, so there is nothing to
/// inject into. Parameters are `$1`, `$2` and so on.
class sql {
public:
    consteval sql(const char* literal) : text_{literal} {}
    /// The exception: one that was put together of literals and of what the program's own settings say, never of what a
    /// request does. `text` outlives each connection that it is used on.
    [[nodiscard]] static sql composed(const std::string& text) noexcept { return sql{std::string_view{text}}; }
    static sql composed(std::string&&) = delete;
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
    /// It ends where a NUL stands.
    [[nodiscard]] constexpr const char* c_str() const noexcept { return text_.data(); }

private:
    explicit constexpr sql(std::string_view text) noexcept : text_{text} {}

    std::string_view text_;
};

/// A type of PostgreSQL's and its arrays', by the numbers that never change (src/include/catalog/pg_type.dat).
struct wire_type {
    unsigned number;
    unsigned array_number;

    friend constexpr bool operator==(const wire_type&, const wire_type&) noexcept = default;
};

inline constexpr wire_type wire_boolean{16, 1000};
inline constexpr wire_type wire_bytes{17, 1001};
inline constexpr wire_type wire_integer{20, 1016};
inline constexpr wire_type wire_text{25, 1009};

/// Takes one parameter's value, in the binary format: no quoting, no locale, no number that is rounded.
class parameter {
public:
    /// `shift`: what is added to moments, see `server_clock`.
    parameter(std::string& to, milliseconds shift) noexcept : to_{to}, shift_{shift} {}

    void null() noexcept { is_null_ = true; }
    TOLLGATE_DECL void boolean(bool value);
    TOLLGATE_DECL void integer(std::int64_t value);
    TOLLGATE_DECL void moment(instant value);
    void text(std::string_view value) { to_.append(value); }
    void blob(std::string_view value) { to_.append(value); }

    [[nodiscard]] bool is_null() const noexcept { return is_null_; }

    /// Begins an array of this many elements of one type; each comes with `element`.
    TOLLGATE_DECL void begin_array(wire_type of, std::size_t count);
    template <class T>
    void element(const T& value);

private:
    [[nodiscard]] TOLLGATE_DECL std::size_t begin_element();
    TOLLGATE_DECL void end_element(std::size_t begun_at, bool is_null) noexcept;

    std::string& to_;
    milliseconds shift_;
    bool is_null_ = false;
};

/// One column of one row. Each function is none when the column holds something else.
class cell {
public:
    cell(const pg_result* of, int row, int column, milliseconds shift) noexcept
        : of_{of}, row_{row}, column_{column}, shift_{shift} {}

    [[nodiscard]] TOLLGATE_DECL bool is_null() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<bool> boolean() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<instant> moment() const noexcept;
    /// Valid as long as the rows are.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> text() const noexcept;
    /// Valid as long as the rows are.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> blob() const noexcept;

private:
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> bytes_of(wire_type wanted) const noexcept;

    const pg_result* of_;
    int row_;
    int column_;
    milliseconds shift_;
};

/// How a `T` is kept in one column; `read` is none when the column holds no `T`. Specialise it for types of your own.
///
///     template <>
///     struct column<colour> {
///         static constexpr wire_type type = wire_text;
///         static std::optional<colour> read(const cell& from);
///         static void write(parameter& to, const colour& value);
///     };
template <class T>
struct column;

template <class T>
void parameter::element(const T& value) {
    const std::size_t at = begin_element();
    parameter into{to_, shift_};
    column<T>::write(into, value);
    end_element(at, into.is_null());
}

template <>
struct column<std::int64_t> {
    static constexpr wire_type type = wire_integer;
    static std::optional<std::int64_t> read(const cell& from) noexcept { return from.integer(); }
    static void write(parameter& to, std::int64_t value) { to.integer(value); }
};

template <>
struct column<bool> {
    static constexpr wire_type type = wire_boolean;
    static std::optional<bool> read(const cell& from) noexcept { return from.boolean(); }
    static void write(parameter& to, bool value) { to.boolean(value); }
};

template <>
struct column<std::string> {
    static constexpr wire_type type = wire_text;
    static std::optional<std::string> read(const cell& from) {
        const auto text = from.text();
        return text ? std::optional<std::string>{std::in_place, *text} : std::nullopt;
    }
    static void write(parameter& to, std::string_view value) { to.text(value); }
};

/// To bind; a row is read into a type that owns its text.
template <>
struct column<std::string_view> {
    static constexpr wire_type type = wire_text;
    static void write(parameter& to, std::string_view value) { to.text(value); }
};

template <std::size_t Capacity>
struct column<inline_text<Capacity>> {
    static constexpr wire_type type = wire_text;
    static std::optional<inline_text<Capacity>> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? inline_text<Capacity>::from(*text) : std::nullopt;
    }
    static void write(parameter& to, const inline_text<Capacity>& value) { to.text(value.view()); }
};

template <class Tag>
struct column<id<Tag>> {
    static constexpr wire_type type = wire_integer;
    static std::optional<id<Tag>> read(const cell& from) noexcept {
        const auto value = from.integer();
        return value ? id<Tag>::from(*value) : std::nullopt;
    }
    static void write(parameter& to, id<Tag> value) { to.integer(value.value()); }
};

/// Milliseconds since 1970, by the database's clock.
template <>
struct column<instant> {
    static constexpr wire_type type = wire_integer;
    static std::optional<instant> read(const cell& from) noexcept { return from.moment(); }
    static void write(parameter& to, instant value) { to.moment(value); }
};

template <>
struct column<milliseconds> {
    static constexpr wire_type type = wire_integer;
    static std::optional<milliseconds> read(const cell& from) noexcept {
        const auto count = from.integer();
        return count ? std::optional{milliseconds{*count}} : std::nullopt;
    }
    static void write(parameter& to, milliseconds value) { to.integer(value.count()); }
};

/// NULL is the empty one.
template <class T>
struct column<std::optional<T>> {
    static constexpr wire_type type = column<T>::type;
    static std::optional<std::optional<T>> read(const cell& from) {
        if (from.is_null()) return std::optional<std::optional<T>>{std::in_place};
        auto value = column<T>::read(from);
        if (!value) return std::nullopt;
        return std::optional<std::optional<T>>{std::in_place, std::move(value)};
    }
    static void write(parameter& to, const std::optional<T>& value) {
        if (value) column<T>::write(to, *value);
        else to.null();
    }
};

/// An array, to bind: what one statement does with many values, it does in one round trip.
template <class T>
struct column<std::vector<T>> {
    static constexpr wire_type type{column<T>::type.array_number, 0};
    static void write(parameter& to, const std::vector<T>& values) {
        to.begin_array(column<T>::type, values.size());
        for (const T& each : values) to.element(each);
    }
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/statement.ipp>
#endif
