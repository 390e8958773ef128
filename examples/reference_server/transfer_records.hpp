#pragma once

#include <span>
#include <string_view>

/// The records of a store, described once. `export` reads and `import` writes every table by this description, so a new column is one line.
namespace reference {

/// The form of a member in the file.
enum class member_kind {
    id,       ///< a whole number from 1 on
    integer,  ///< a whole number from 0 on
    boolean,
    time,   ///< milliseconds since 1970
    text,   ///< without NUL
    lines,  ///< an array of texts; one text in the database, with one of them on each line
    digest,  ///< 32 bytes, hexadecimal
    bytes,   ///< hexadecimal
    secret,  ///< a text that is encrypted with the first key of `--secret-key-file`
};

/// A value of a member that has few, and the SQL literal with which it is stored; empty: the name as a text.
struct stored_value {
    std::string_view name;
    std::string_view literal{};
};

/// What else holds for a member.
struct member_rules {
    bool may_be_null = false;
    std::string_view refers_to{};  ///< the type of record whose id this is; empty if such a record need not exist
    std::span<const std::string_view> agrees_in{};  ///< members that have the same values in that record
    bool (*is_valid)(std::string_view) = nullptr;   ///< of a text, or of each line; null: any text is valid
    std::span<const stored_value> values{};         ///< empty: any value is valid
};

struct member {
    std::string_view name;
    member_kind kind;
    /// The column; empty: that of the same name. What is not the name of a column is an expression that reads the row `r`. Such a member is
    /// not written; see `derived_column`.
    std::string_view column{};
    member_rules rules{};
};

/// A column that is written from an expression on the members of the record `given`.
struct derived_column {
    std::string_view name;
    std::string_view expression;
};

struct record_type {
    std::string_view name;
    std::string_view table;
    std::span<const member> members;  ///< the key comes first
    std::string_view condition{};     ///< on the row `r`, of rows that are records; empty: all rows
    std::span<const derived_column> derived{};
    std::span<const derived_column> derived_sqlite{};    ///< columns that only SQLite has
    std::span<const derived_column> derived_postgres{};  ///< columns that only PostgreSQL has

    /// Whether the records have ids, which a counter gives, and which no later record gets again.
    [[nodiscard]] bool has_ids() const { return members.front().kind == member_kind::id; }
    [[nodiscard]] bool has_hosts() const { return name == "hook"; }
};

/// All types, each behind those that it refers to.
[[nodiscard]] std::span<const record_type> record_types();

/// Null if there is no such type.
[[nodiscard]] const record_type* find_record_type(std::string_view name);

}  // namespace reference
