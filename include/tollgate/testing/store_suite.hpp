#pragma once

#include <tollgate/testing/detail/access_tokens.hpp>
#include <tollgate/testing/detail/applications.hpp>
#include <tollgate/testing/detail/grants.hpp>
#include <tollgate/testing/detail/hooks.hpp>
#include <tollgate/testing/detail/outbox.hpp>
#include <tollgate/testing/detail/personal_tokens.hpp>
#include <tollgate/testing/detail/sessions.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

/// The tests that our own stores pass, for whoever writes an adapter: an adapter that passes them is right.
///
/// They need no test framework. With none:
///
///     const bool right = tollgate::testing::run(
///         [] { return my_store{fresh_database()}; },
///         [](const tollgate::testing::verdict& each) {
///             std::cout << (each.passed ? "passed  " : "FAILED  ") << each.name << ' ' << each.message << '\n';
///         });
///
/// With one, such as Catch2:
///
///     for (const auto& each : tollgate::testing::cases(make, reopen))
///         DYNAMIC_SECTION(each.name()) {
///             const auto verdict = each.run();
///             INFO(verdict.message);
///             CHECK(verdict.passed);
///         }
///
/// `make()` gives an empty store, or a pointer of any kind to one; the case destroys it. `reopen()` opens the store
/// that `make` made last once more, which has been destroyed by then; leave it out where nothing outlives a store.
/// Cases run one after the other, several start threads.
namespace tollgate::inline v0::testing {

/// All rules for what the store is: a token_store, a hook_store, an oauth_store, a session_store, or several of these;
/// an outbox, if it keeps hooks, too; and a use_recorder, if it is one. That tokens let their holders in, and when they
/// do not any more, shows where an oauth_store is a credential_source, too. `reopen` gives what `make` gives.
template <class Make>
[[nodiscard]] auto cases(Make make, std::function<std::invoke_result_t<Make&>()> reopen = {}) {
    using given = std::invoke_result_t<Make&>;
    using store = store_given_as<given>;
    static_assert(any_store<store>,
                  "make() must give a token_store, a hook_store, an oauth_store or a session_store, or a pointer to "
                  "one: see tollgate/contract/");
    const auto source =
        std::make_shared<const store_source<given>>(store_source<given>{std::move(make), std::move(reopen)});
    std::vector<test_case> all;
    if constexpr (token_store<store>) {
        add_personal_token_cases(all, source);
        add_access_token_cases(all, source);
    }
    if constexpr (hook_store<store>) add_hook_cases(all, source);
    if constexpr (hook_store<store> && outbox<store>) add_outbox_cases(all, source);
    if constexpr (application_store<store>) add_application_cases(all, source);
    if constexpr (oauth_store<store>) add_grant_cases(all, source);
    if constexpr (session_store<store>) add_session_cases(all, source);
    return all;
}

/// Runs every case, tells `report(const verdict&)` of each, and says whether all passed.
template <class Make, class Report>
bool run(Make make, std::function<std::invoke_result_t<Make&>()> reopen, Report report) {
    bool all_passed = true;
    for (const test_case& each : cases(std::move(make), std::move(reopen))) {
        const verdict ended = each.run();
        all_passed = all_passed && ended.passed;
        report(ended);
    }
    return all_passed;
}
template <class Make, class Report>
bool run(Make make, Report report) {
    return run(std::move(make), {}, std::move(report));
}

}  // namespace tollgate::testing
