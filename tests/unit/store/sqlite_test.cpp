#include <tollgate/store/sqlite.hpp>

#include <tollgate/store/suite/samples.hpp>

#include <support/run_store_suite.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::store_suite;
using tollgate_test::temporary_directory;

namespace {

/// Files of one directory, a new one for each store.
struct files {
    temporary_directory directory;
    int count = 0;

    std::string next() { return directory.file(std::to_string(++count) + ".db"); }
    std::string last() { return directory.file(std::to_string(count) + ".db"); }
};

}  // namespace

TEST_CASE("the SQLite store passes the store suite") {
    files files;
    tollgate_test::run_store_suite([&] { return sqlite_store{files.next()}; },
                                   [&] { return sqlite_store{files.last()}; });
}

TEST_CASE("the SQLite store passes the store suite without its cache") {
    files files;
    sqlite_settings settings;
    settings.cached_credentials_max = 0;
    tollgate_test::run_store_suite([&] { return sqlite_store{files.next(), settings}; },
                                   [&] { return sqlite_store{files.last(), settings}; });
}

TEST_CASE("the SQLite store passes the store suite with one reader and next to no cache") {
    files files;
    sqlite_settings settings;
    settings.readers_max = 1;
    settings.cached_credentials_max = 1;
    tollgate_test::run_store_suite([&] { return sqlite_store{files.next(), settings}; },
                                   [&] { return sqlite_store{files.last(), settings}; });
}
