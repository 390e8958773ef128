#pragma once
#ifndef TOLLGATE_TESTING_STORE_SUITE_HPP
#define TOLLGATE_TESTING_STORE_SUITE_HPP

#include <tollgate/testing/detail/access_tokens.hpp>
#include <tollgate/testing/detail/applications.hpp>
#include <tollgate/testing/detail/clocks.hpp>
#include <tollgate/testing/detail/contracts.hpp>
#include <tollgate/testing/detail/grants.hpp>
#include <tollgate/testing/detail/hooks.hpp>
#include <tollgate/testing/detail/outbox.hpp>
#include <tollgate/testing/detail/outbox_owner.hpp>
#include <tollgate/testing/detail/personal_tokens.hpp>
#include <tollgate/testing/detail/registrations.hpp>
#include <tollgate/testing/detail/sessions.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

/// The conformance tests that the library's stores pass, for authors of adapters. An adapter is correct if it passes them.
///
/// The tests need no test framework:
///
///     using namespace tollgate::testing;
///     const bool right = run<contracts::token_store, contracts::hook_store>(
///         [] { return my_store{fresh_database()}; },
///         [](const case_result& each) {
///             std::cout << (each.passed ? "passed  " : "FAILED  ") << each.name << ' ' << each.message << '\n';
///         });
///
/// The contracts in angle brackets are required: with a store that does not satisfy one of them, the program does not compile, and the
/// compiler names the member that is missing or wrong. All other contracts that the store satisfies are tested as well. The report begins
/// with an entry for each contract, found or not; a store that has some members of a contract, but does not satisfy it, fails. The next
/// entry, `durability`, reports if `reopen` was given; without it, no case tests that changes survive a restart.
///
/// With a test framework, such as Catch2:
///
///     for (const auto& each : tollgate::testing::cases(make, reopen))
///         DYNAMIC_SECTION(each.name()) {
///             const auto result = each.run();
///             INFO(result.message);
///             CHECK(result.passed);
///         }
///
/// `make()` returns an empty store, or a pointer of any kind to a store; the case destroys it. `reopen()` opens the most recent store of
/// `make` again, after that store was destroyed; omit it if no data outlives a store. Cases run one at a time; several start threads.
namespace tollgate::inline v0::testing {

/// Returns a case for each rule of the contracts that the store implements: token_store, hook_store, oauth_store, session_store, or several
/// of these; outbox, if it is also a hook_store; and the optional access_token_store, credential_cache, use_recorder, shared_outbox and
/// backlog_source. If the oauth_store is also a credential_source, cases test that its tokens are accepted. `Required` are the `contracts`
/// that the store must satisfy. `reopen` has the result type of `make`.
template <class... Required, class Make>
[[nodiscard]] auto cases(Make make, std::function<std::invoke_result_t<Make&>()> reopen = {}) {
    using given = std::invoke_result_t<Make&>;
    using store = store_given_as<given>;
    (Required::template require<store>(), ...);
    static_assert(any_store<store> || sizeof...(Required) != 0,
                  "tollgate: make() must return a token_store, hook_store (with or without an outbox), application_store, oauth_store or "
                  "session_store, or a pointer to one; read tollgate/contract/");
    const auto source =
        std::make_shared<const store_source<given>>(store_source<given>{std::move(make), std::move(reopen)});
    std::vector<test_case> all;
    add_contract_cases<store, contracts::token_store, contracts::access_token_store, contracts::credential_cache, contracts::use_recorder,
                       contracts::hook_store, contracts::outbox, contracts::shared_outbox, contracts::backlog_source,
                       contracts::application_store, contracts::oauth_store, contracts::session_store>(all);
    add_durability_entry(all, static_cast<bool>(source->reopen));
    if constexpr (token_store<store>) add_personal_token_cases(all, source);
    if constexpr (access_token_store<store>) add_access_token_cases(all, source);
    if constexpr (hook_store<store>) add_hook_cases(all, source);
    if constexpr (hook_store<store> && outbox<store>) {
        add_outbox_cases(all, source);
        add_outbox_owner_cases(all, source);
        add_delivery_clock_cases(all, source);
    }
    if constexpr (application_store<store>) add_application_cases(all, source);
    if constexpr (oauth_store<store>) {
        add_grant_cases(all, source);
        add_grant_clock_cases(all, source);
        add_registration_cases(all, source);
    }
    if constexpr (session_store<store>) {
        add_session_cases(all, source);
        add_session_clock_cases(all, source);
    }
    return all;
}

/// Runs every case, calls `report(const case_result&)` for each, and returns true if all passed.
template <class... Required, class Make, class Report>
bool run(Make make, std::function<std::invoke_result_t<Make&>()> reopen, Report report) {
    bool all_passed = true;
    for (const test_case& each : cases<Required...>(std::move(make), std::move(reopen))) {
        const case_result ended = each.run();
        all_passed = all_passed && ended.passed;
        report(ended);
    }
    return all_passed;
}
template <class... Required, class Make, class Report>
bool run(Make make, Report report) {
    return run<Required...>(std::move(make), {}, std::move(report));
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_STORE_SUITE_HPP
