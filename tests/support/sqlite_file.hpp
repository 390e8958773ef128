#pragma once

#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/sqlite.hpp>

#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace tollgate_test {

/// Creates a file with the tables of a store at `path`, as a copy of the first one: the store would create each table anew.
inline void create_sqlite_file(const std::string& path) {
    static const temporary_directory directory;
    static const std::string first = [] {
        const auto created = directory.file("first.db");
        tollgate::sqlite_store{created};
        return created;
    }();
    std::filesystem::copy_file(first, path);
}

/// The number that a query returns.
inline std::int64_t number_in(tollgate::sqlite::database& data, tollgate::sqlite::statement_text query) {
    const auto row = data.prepare(query).next<std::int64_t>();
    REQUIRE(row);
    REQUIRE(*row);
    return std::get<0>(**row);
}

}  // namespace tollgate_test
