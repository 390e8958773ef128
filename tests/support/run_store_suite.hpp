#pragma once

#include <tollgate/testing/store_suite.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace tollgate_test {

/// Each rule of the store suite as a section of the test case that calls this.
template <class Make>
void run_store_suite(Make make, std::function<std::invoke_result_t<Make&>()> reopen = {}) {
    for (const auto& each : tollgate::testing::cases(std::move(make), std::move(reopen)))
        DYNAMIC_SECTION(each.name()) {
            const auto verdict = each.run();
            INFO(verdict.message);
            CHECK(verdict.passed);
        }
}

}  // namespace tollgate_test
