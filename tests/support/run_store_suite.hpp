#pragma once

#include <tollgate/testing/store_suite.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate_test {

/// Each rule of the store suite as a section of the test case that calls this.
template <class Make>
void run_store_suite(Make make, std::function<std::invoke_result_t<Make&>()> reopen = {}) {
    for (const auto& each : tollgate::testing::cases(std::move(make), std::move(reopen)))
        DYNAMIC_SECTION(each.name()) {
            const auto result = each.run();
            INFO(result.message);
            CHECK(result.passed);
        }
}

/// The rules of the store suite that a store breaks.
template <class Make>
std::vector<tollgate::testing::case_result> suite_failures(Make make) {
    std::vector<tollgate::testing::case_result> failed;
    tollgate::testing::run(std::move(make), [&](const tollgate::testing::case_result& each) {
        if (!each.passed) failed.push_back(each);
    });
    return failed;
}

/// The suite has caught a store that breaks the rule `name`, and its message says where.
inline void check_caught(const std::vector<tollgate::testing::case_result>& failed, std::string_view name,
                         std::string_view message_has = "testing/detail/") {
    CAPTURE(name);
    const auto caught = std::find_if(failed.begin(), failed.end(), [&](const auto& each) { return each.name == name; });
    REQUIRE(caught != failed.end());
    CHECK_FALSE(caught->message.empty());
    CHECK_THAT(caught->message, Catch::Contains(std::string{message_has}));
}

/// A mistake of an adapter, and the rule of the store suite that catches it.
template <class Mistake>
struct mutant {
    Mistake made;
    const char* caught_by;
    const char* message_has = "testing/detail/";
};

/// The store suite passes an `Adapter` without a mistake, and catches each mutant. An adapter is made of its mistake.
template <class Adapter, class Mistake>
void check_mutants(std::initializer_list<mutant<Mistake>> all) {
    const auto failures = [](Mistake made) { return suite_failures([made] { return std::make_unique<Adapter>(made); }); };
    for (const auto& each : failures(Mistake::none)) FAIL_CHECK(each.name << ": " << each.message);
    for (const mutant<Mistake>& each : all) {
        CAPTURE(static_cast<int>(each.made));
        check_caught(failures(each.made), each.caught_by, each.message_has);
    }
}

}  // namespace tollgate_test
