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

/// The suite has detected a store that breaks the rule `name`, and its message names the place.
inline void check_caught(const std::vector<tollgate::testing::case_result>& failed, std::string_view name,
                         std::string_view message_has = "testing/detail/") {
    CAPTURE(name);
    const auto caught = std::find_if(failed.begin(), failed.end(), [&](const auto& each) { return each.name == name; });
    REQUIRE(caught != failed.end());
    CHECK_FALSE(caught->message.empty());
    CHECK_THAT(caught->message, Catch::Contains(std::string{message_has}));
}

/// Whether an entry of the report is about the contracts that were found or what was tested, and not a rule.
inline bool is_about_the_report(std::string_view name) { return name.starts_with("contract: ") || name == "durability"; }

/// Whether a store breaks the rule `name`, of which there must be one.
template <class Make>
bool breaks_rule(Make make, std::function<std::invoke_result_t<Make&>()> reopen, std::string_view name) {
    const auto all = tollgate::testing::cases(std::move(make), std::move(reopen));
    const auto rule = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name() == name; });
    REQUIRE(rule != all.end());
    return !rule->run().passed;
}

/// Whether the rule `name` detects a check that is not atomic. Only threads that run at the same time show it, so one run may miss it.
template <class Make>
bool is_caught_in_time(Make make, std::string_view name) {
    for (int run = 0; run < 50; ++run)
        if (breaks_rule(make, {}, name)) return true;
    return false;
}

/// A defect of an adapter, and the rule of the store suite that detects it.
template <class Defect>
struct mutant {
    Defect defect;
    const char* caught_by;
    const char* message_has = "testing/detail/";
};

/// The store suite passes an `Adapter` without a defect, and detects each mutant. An adapter is constructed from its defect.
template <class Adapter, class Defect>
void check_mutants(std::initializer_list<mutant<Defect>> all) {
    const auto failures = [](Defect defect) { return suite_failures([defect] { return std::make_unique<Adapter>(defect); }); };
    for (const auto& each : failures(Defect::none)) FAIL_CHECK(each.name << ": " << each.message);
    for (const mutant<Defect>& each : all) {
        CAPTURE(static_cast<int>(each.defect));
        check_caught(failures(each.defect), each.caught_by, each.message_has);
    }
}

}  // namespace tollgate_test
