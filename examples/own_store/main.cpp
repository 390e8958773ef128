// Two storage adapters, and the conformance suite that checks them, which the library's own stores pass: a database of keys and values, on
// which record_store implements all contracts, and a table of tokens, which implements one contract itself.
//
//   example_own_store                     runs the suite
//   example_own_store append FILE FIRST   appends events without end, and prints the id of each when it is stored
//   example_own_store deliver FILE        completes deliveries without end
//   example_own_store list FILE           prints id and state of all deliveries
#include "lmdb_database.hpp"
#include "load.hpp"
#include "token_table.hpp"

#include <tollgate/store/key_value.hpp>

// [include]
#include <tollgate/testing/store_suite.hpp>
// [/include]

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>

using namespace own_store;
using namespace tollgate;

namespace {

// [store]
/// The store of a program that uses LMDB: the database, and the store on it.
struct lmdb_store_file {
    lmdb_database database;
};
class lmdb_store : lmdb_store_file, public record_store {
public:
    explicit lmdb_store(const std::string& path) : lmdb_store_file{lmdb_database{path}}, record_store{database} {}
};
// [/store]

void print(const testing::case_result& each) {
    std::cout << (each.passed ? "passed  " : "FAILED  ") << each.name << ' ' << each.message << '\n';
}

bool run_suite_on_lmdb() {
    const auto directory = std::filesystem::temp_directory_path() / ("own_store." + std::to_string(getpid()));
    std::filesystem::create_directory(directory);
    int file_count = 0;
    const auto open = [&] { return std::make_unique<lmdb_store>((directory / std::to_string(file_count)).string()); };
    // [suite]
    namespace contracts = testing::contracts;
    const bool right = testing::run<contracts::token_store, contracts::hook_store, contracts::outbox, contracts::oauth_store,
                                    contracts::session_store>(
        [&] {
            ++file_count;
            return open();
        },
        open, print);
    // [/suite]
    std::filesystem::remove_all(directory);
    return right;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string command = count > 2 ? arguments[1] : "";
    if (command == "append" && count > 3) return append_events(*std::make_unique<lmdb_store>(arguments[2]), std::stoull(arguments[3]));
    if (command == "deliver") return deliver(*std::make_unique<lmdb_store>(arguments[2]));
    if (command == "list") return list_events(*std::make_unique<lmdb_store>(arguments[2]));
    const bool tokens_right = testing::run<testing::contracts::token_store>([] { return std::make_unique<token_table>(); }, print);
    return run_suite_on_lmdb() && tokens_right ? 0 : 1;
}
