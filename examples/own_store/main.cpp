// A custom storage adapter, and the conformance suite that checks it, which the library's own stores pass.
#include "table_store.hpp"

// [include]
#include <tollgate/testing/store_suite.hpp>
// [/include]

#include <iostream>
#include <memory>

using namespace own_store;

static_assert(token_store<table_store>);
static_assert(hook_store<table_store>);
static_assert(oauth_store<table_store>);
static_assert(outbox<table_store>);
static_assert(session_store<table_store>);

int main() {
    // [suite]
    namespace contracts = testing::contracts;
    const bool right = testing::run<contracts::token_store, contracts::hook_store, contracts::outbox, contracts::oauth_store,
                                    contracts::session_store>(
        [] { return std::make_unique<table_store>(); },
        [](const testing::case_result& each) {
            std::cout << (each.passed ? "passed  " : "FAILED  ") << each.name << ' ' << each.message << '\n';
        });
    // [/suite]
    return right ? 0 : 1;
}
