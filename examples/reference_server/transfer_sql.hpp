#pragma once

#include "transfer_records.hpp"

#include <string>
#include <vector>

/// The statements that read and write records, made from their description. A row is exchanged as a JSON object with the members' names, in
/// which bytes are hexadecimal. Rows to write are an array of such objects, each also with its `line`, and hooks with their `host`.
namespace reference {

enum class database_kind { sqlite, postgres };

/// The statements for one type of record.
struct record_statements {
    std::string select_all;     ///< the object of each row, by key; on PostgreSQL it declares the cursor `records`
    std::string select_one;     ///< a row if the table has any
    std::string find_dangling;  ///< of the array: the first line that refers to a missing record, and that member; may be empty
    std::string insert;         ///< of the array
};

/// For each of `record_types`, in that order.
[[nodiscard]] std::vector<record_statements> make_record_statements(database_kind kind);

}  // namespace reference
