#include "transfer_sql.hpp"

#include <initializer_list>
#include <string_view>

namespace reference {

namespace {

using std::string_view;

std::string operator+(std::string left, string_view right) { return left.append(right); }

/// Names such as `user` and `grant` are words of SQL.
std::string quote(string_view name) { return std::string{"\""} + name + "\""; }

bool is_column(string_view text) { return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == string_view::npos; }

bool is_hexadecimal(member_kind kind) { return kind == member_kind::digest || kind == member_kind::bytes; }

void append(std::string& to, std::initializer_list<string_view> parts) {
    for (const string_view each : parts) to += each;
}

void append_list(std::string& to, string_view item) { (to += to.empty() ? "" : ", ") += item; }

class composer {
public:
    composer(database_kind kind, const record_type& type) : kind_{kind}, type_{type} {}

    [[nodiscard]] record_statements compose() const {
        const auto table = std::string{type_.table};
        const string_view cursor = is_sqlite() ? "" : "DECLARE records NO SCROLL CURSOR FOR ";
        return {std::string{cursor} + "SELECT " + object() + " FROM " + table + " AS r" + where(type_) + " ORDER BY " +
                    read(type_.members.front()),
                "SELECT 1 FROM " + table + " LIMIT 1", find_dangling(), insert()};
    }

private:
    [[nodiscard]] bool is_sqlite() const { return kind_ == database_kind::sqlite; }

    [[nodiscard]] static string_view column(const member& of) { return of.column.empty() ? of.name : of.column; }
    [[nodiscard]] static std::string literal(const stored_value& of) {
        return of.literal.empty() ? std::string{"'"} + of.name + "'" : std::string{of.literal};
    }

    /// The member's column or expression.
    [[nodiscard]] static std::string read(const member& of) {
        const auto text = column(of);
        return is_column(text) ? "r." + quote(text) : std::string{text};
    }

    /// The member's value in the object.
    [[nodiscard]] std::string value(const member& of) const {
        auto stored = read(of);
        if (!of.rules.values.empty()) {
            std::string cases;
            for (const stored_value& each : of.rules.values) append(cases, {" WHEN ", literal(each), " THEN '", each.name, "'"});
            return "CASE " + stored + cases + " END";
        }
        if (is_hexadecimal(of.kind))
            return is_sqlite() ? "CASE WHEN " + stored + " IS NOT NULL THEN lower(hex(" + stored + ")) END"
                               : "encode(" + stored + ", 'hex')";
        if (of.kind == member_kind::boolean && is_sqlite()) return "json(CASE WHEN " + stored + " THEN 'true' ELSE 'false' END)";
        return stored;
    }

    [[nodiscard]] std::string object() const {
        std::string members;
        for (const member& each : type_.members) append_list(members, std::string{"'"} + each.name + "', " + value(each));
        return is_sqlite() ? "json_object(" + members + ")" : "json_build_object(" + members + ")::text";
    }

    /// Leaves out what is not a record, and what refers to that, directly or through others.
    [[nodiscard]] std::string where(const record_type& of) const {
        std::string conditions{of.condition};
        for (const member& each : of.members) {
            if (each.rules.refers_to.empty()) continue;
            const auto& other = *find_record_type(each.rules.refers_to);
            if (!conditions.empty()) conditions += " AND ";
            const auto id = read(each);
            if (each.rules.may_be_null) append(conditions, {"(", id, " IS NULL OR "});
            append(conditions, {id, " IN (SELECT r.id FROM ", other.table, " AS r", where(other), each.rules.may_be_null ? "))" : ")"});
        }
        return conditions.empty() ? conditions : " WHERE " + conditions;
    }

    /// The rows to write, as a table `given`.
    [[nodiscard]] std::string given() const {
        std::string columns;
        const auto add = [&](string_view name, bool is_number, bool is_boolean) {
            if (is_sqlite()) append_list(columns, std::string{"json_extract(value, '$."} + name + "') AS " + quote(name));
            else append_list(columns, quote(name) + (is_number ? " bigint" : is_boolean ? " boolean" : " text"));
        };
        add("line", true, false);
        for (const member& each : type_.members) {
            using enum member_kind;
            add(each.name, each.kind == id || each.kind == integer || each.kind == time, each.kind == boolean);
        }
        if (type_.has_hosts()) add("host", false, false);
        return is_sqlite() ? "(SELECT " + columns + " FROM json_each(?1)) AS given"
                           : "json_to_recordset($1::json) AS given (" + columns + ")";
    }

    [[nodiscard]] std::string find_dangling() const {
        std::string cases;
        for (const member& each : type_.members) {
            if (each.rules.refers_to.empty()) continue;
            const auto& other = *find_record_type(each.rules.refers_to);
            append(cases, {" WHEN "});
            if (each.rules.may_be_null) append(cases, {"given.", quote(each.name), " IS NOT NULL AND "});
            append(cases, {"NOT EXISTS (SELECT 1 FROM ", other.table, " AS other WHERE other.id = given.", quote(each.name)});
            for (const string_view name : each.rules.agrees_in)
                for (const member& theirs : other.members)
                    if (theirs.name == name) append(cases, {" AND other.", quote(column(theirs)), " = given.", quote(name)});
            append(cases, {") THEN '", each.name, "'"});
        }
        if (cases.empty()) return {};
        return "SELECT line, bad FROM (SELECT given.line, CASE" + cases + " END AS bad FROM " + given() +
               ") AS checked WHERE bad IS NOT NULL ORDER BY line LIMIT 1";
    }

    /// What is written for a member.
    [[nodiscard]] std::string written(const member& of) const {
        auto name = "given." + quote(of.name);
        if (!of.rules.values.empty()) {
            std::string cases;
            for (const stored_value& each : of.rules.values) append(cases, {" WHEN '", each.name, "' THEN ", literal(each)});
            return "CASE " + name + cases + " END";
        }
        if (is_hexadecimal(of.kind)) return is_sqlite() ? "from_hex(" + name + ")" : "decode(" + name + ", 'hex')";
        return name;
    }

    [[nodiscard]] std::string insert() const {
        std::string columns, values;
        for (const member& each : type_.members) {
            if (!is_column(column(each))) continue;
            append_list(columns, quote(column(each)));
            append_list(values, written(each));
        }
        for (const auto& derived : {type_.derived, is_sqlite() ? type_.derived_sqlite : type_.derived_postgres}) {
            for (const derived_column& each : derived) {
                append_list(columns, each.name);
                append_list(values, each.expression);
            }
        }
        const string_view with_ids = is_sqlite() ? "" : " OVERRIDING SYSTEM VALUE";
        return std::string{"INSERT INTO "} + type_.table + " (" + columns + ")" + with_ids + " SELECT " + values + " FROM " + given() +
               " ORDER BY given.line";
    }

    database_kind kind_;
    const record_type& type_;
};

}  // namespace

std::vector<record_statements> make_record_statements(database_kind kind) {
    std::vector<record_statements> statements;
    for (const record_type& each : record_types()) statements.push_back(composer{kind, each}.compose());
    return statements;
}

}  // namespace reference
