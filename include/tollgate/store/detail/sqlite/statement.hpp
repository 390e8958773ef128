#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

struct sqlite3_stmt;

namespace tollgate::inline v0::sqlite {

/// One statement of SQL, known while compiling: values reach a database as parameters alone, so there is nothing to
/// inject into.
class sql {
public:
    consteval sql(const char* literal)
        : text_{literal} {}  // the size of an array says nothing of a text that has a NUL
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// One column of the row that a statement stands at. Each function is none when the column holds something else.
class cell {
public:
    cell(sqlite3_stmt* row, int column) noexcept : row_{row}, column_{column} {}

    [[nodiscard]] TOLLGATE_DECL bool is_null() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<std::int64_t> integer() const noexcept;
    /// Valid until the statement's next step.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> text() const noexcept;
    /// Valid until the statement's next step.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::span<const std::byte>> blob() const noexcept;

private:
    sqlite3_stmt* row_;
    int column_;
};

/// One `?` of a statement. Text and blobs are copied, so that no value must outlive the call that binds it.
class parameter {
public:
    parameter(sqlite3_stmt* statement, int index, int& code) noexcept
        : statement_{statement}, index_{index}, code_{code} {}

    TOLLGATE_DECL void null() noexcept;
    TOLLGATE_DECL void integer(std::int64_t value) noexcept;
    TOLLGATE_DECL void text(std::string_view value) noexcept;
    TOLLGATE_DECL void blob(std::span<const std::byte> value) noexcept;

private:
    TOLLGATE_DECL void note(int code) noexcept;

    sqlite3_stmt* statement_;
    int index_;
    int& code_;
};

/// How a `T` is kept in one column; `read` is none when the column holds no `T`. Specialise it for types of your own.
///
///     template <>
///     struct column<colour> {
///         static std::optional<colour> read(const cell& from);
///         static void write(parameter to, const colour& value);
///     };
template <class T>
struct column;

/// A prepared statement with its parameters bound, on loan from its `database` until it goes out of scope. A value that
/// could not be bound is told by the first step. One thread at a time, that which has the database.
///
///     auto rows = database.prepare("SELECT id, name FROM accounts WHERE user = ?", user);
///     for (;;) {
///         auto row = rows.next<account_id, std::string>();
///         if (!row) return std::move(row).error();
///         if (!*row) break;
///         auto& [id, name] = **row;
///     }
class statement {
public:
    /// A statement that fails at its first step.
    explicit statement(error why) : trouble_{std::move(why)} {}
    /// `lent`: set to false when the statement is given back; null: the statement is finalised instead.
    statement(sqlite3_stmt* prepared, bool* lent) noexcept : prepared_{prepared}, lent_{lent} {}

    statement(statement&& other) noexcept
        : prepared_{std::exchange(other.prepared_, nullptr)},
          lent_{std::exchange(other.lent_, nullptr)},
          bind_code_{other.bind_code_},
          trouble_{std::move(other.trouble_)} {}
    statement& operator=(statement&&) = delete;
    ~statement() { give_back(); }

    template <class... Values>
    void bind(const Values&... values) noexcept {
        int index = 0;
        if (prepared_ != nullptr) (column<Values>::write(parameter{prepared_, ++index, bind_code_}, values), ...);
    }

    /// The next row, decoded; none when there is no further one. A column that does not hold what it should is an
    /// internal problem: somebody else wrote to the file.
    template <class... Columns>
    [[nodiscard]] result<std::optional<std::tuple<Columns...>>> next();

    /// Runs to the end, past whatever rows there are.
    TOLLGATE_DECL result<void> finish();

private:
    /// Whether there is a row.
    TOLLGATE_DECL result<bool> step();
    TOLLGATE_DECL error misread(std::size_t column) const;
    TOLLGATE_DECL void give_back() noexcept;

    sqlite3_stmt* prepared_ = nullptr;
    bool* lent_ = nullptr;
    int bind_code_ = 0;
    std::optional<error> trouble_;
};

template <class... Columns>
result<std::optional<std::tuple<Columns...>>> statement::next() {
    using row = std::tuple<Columns...>;
    auto stepped = step();
    if (!stepped) return std::move(stepped).error();
    if (!*stepped) return std::optional<row>{};
    return [this]<std::size_t... I>(std::index_sequence<I...>) -> result<std::optional<row>> {
        std::tuple<std::optional<Columns>...> read{column<Columns>::read(cell{prepared_, static_cast<int>(I)})...};
        std::size_t bad = sizeof...(Columns);
        ((std::get<I>(read) ? void() : void(bad = I)), ...);
        if (bad != sizeof...(Columns)) return misread(bad);
        return std::optional<row>{std::in_place, *std::move(std::get<I>(read))...};
    }(std::index_sequence_for<Columns...>{});
}

template <>
struct column<std::int64_t> {
    static std::optional<std::int64_t> read(const cell& from) noexcept { return from.integer(); }
    static void write(parameter to, std::int64_t value) noexcept { to.integer(value); }
};

template <>
struct column<bool> {
    static std::optional<bool> read(const cell& from) noexcept {
        const auto value = from.integer();
        return value ? std::optional{*value != 0} : std::nullopt;
    }
    static void write(parameter to, bool value) noexcept { to.integer(value ? 1 : 0); }
};

template <>
struct column<std::string> {
    static std::optional<std::string> read(const cell& from) {
        const auto text = from.text();
        return text ? std::optional<std::string>{std::in_place, *text} : std::nullopt;
    }
    static void write(parameter to, std::string_view value) noexcept { to.text(value); }
};

/// To bind; a row is read into a type that owns its text.
template <>
struct column<std::string_view> {
    static void write(parameter to, std::string_view value) noexcept { to.text(value); }
};

template <std::size_t Capacity>
struct column<inline_text<Capacity>> {
    static std::optional<inline_text<Capacity>> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? inline_text<Capacity>::from(*text) : std::nullopt;
    }
    static void write(parameter to, const inline_text<Capacity>& value) noexcept { to.text(value.view()); }
};

template <class Tag>
struct column<id<Tag>> {
    static std::optional<id<Tag>> read(const cell& from) noexcept {
        const auto value = from.integer();
        return value ? id<Tag>::from(*value) : std::nullopt;
    }
    static void write(parameter to, id<Tag> value) noexcept { to.integer(value.value()); }
};

/// Milliseconds since 1970.
template <>
struct column<instant> {
    static std::optional<instant> read(const cell& from) noexcept {
        const auto count = from.integer();
        return count ? std::optional{from_unix_milliseconds(*count)} : std::nullopt;
    }
    static void write(parameter to, instant value) noexcept { to.integer(to_unix_milliseconds(value)); }
};

/// NULL is the empty one.
template <class T>
struct column<std::optional<T>> {
    static std::optional<std::optional<T>> read(const cell& from) {
        if (from.is_null()) return std::optional<std::optional<T>>{std::in_place};
        auto value = column<T>::read(from);
        if (!value) return std::nullopt;
        return std::optional<std::optional<T>>{std::in_place, std::move(value)};
    }
    static void write(parameter to, const std::optional<T>& value) noexcept {
        if (value)
            column<T>::write(to, *value);
        else
            to.null();
    }
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/statement.ipp>
#endif
