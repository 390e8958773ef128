#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_TEST_CASE_HPP
#define TOLLGATE_TESTING_DETAIL_TEST_CASE_HPP

#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0::testing {

/// The result of a case. `message` says why it failed, usually beginning with `file:line: `. Of a case that passed it is empty, except
/// that `contract: ...` says whether the store has that contract, and `durability` whether it was tested.
struct case_result {
    std::string name;
    bool passed;
    std::string message;
};

/// A rule of the contract. `run` creates a new store and may be called repeatedly.
class test_case {
public:
    /// `body` throws `failed`, or returns nothing or the message of a case that passed.
    template <class Body>
    test_case(std::string name, Body body) : name_{std::move(name)} {
        if constexpr (std::is_void_v<std::invoke_result_t<Body&>>)
            body_ = [body = std::move(body)]() mutable { return body(), std::string{}; };
        else
            body_ = std::move(body);
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    [[nodiscard]] case_result run() const {
        try {
            return {name_, true, body_()};
        } catch (const failed& failure) {
            return {name_, false, failure.message};
        } catch (const std::exception& thrown) {
            return {name_, false, std::string{"the store threw an exception: "} + thrown.what()};
        } catch (...) {
            return {name_, false, "the store threw an exception"};
        }
    }

private:
    std::string name_;
    std::function<std::string()> body_;
};

/// Creates the stores for the cases: `Given` is a store, or a pointer of any kind to one.
template <class Given>
struct store_source {
    std::function<Given()> make;
    std::function<Given()> reopen;  ///< empty if nothing outlives a store
};

/// The contracts that have rules. A store may implement one or several.
template <class S>
concept any_store =
    token_store<S> || access_token_store<S> || hook_store<S> || application_store<S> || oauth_store<S> || session_store<S>;

template <class Given>
auto& store_of(Given& instance) {
    if constexpr (requires { *instance; })
        return *instance;
    else
        return instance;
}

template <class Given>
using store_given_as = std::remove_reference_t<decltype(store_of(std::declval<Given&>()))>;

/// The store that `make` returned. It must not hold what earlier cases made: they make it for the same users and accounts.
template <class Given>
auto& empty_store_of(Given& instance) {
    auto& store = store_of(instance);
    using store_type = std::remove_reference_t<decltype(store)>;
    const auto expect_none = [](std::string_view kind, const auto& listed) {
        if (!listed.empty())
            throw failed{"make() must return an empty store each time, but this one already holds " + std::string{kind}};
    };
    if constexpr (token_store<store_type>)
        expect_none("personal tokens", value_of(store.personal_tokens_of(sample_personal_token("tgu_a").user)));
    if constexpr (hook_store<store_type>) expect_none("webhooks", value_of(store.hooks_of(sample_account())));
    if constexpr (application_store<store_type>)
        expect_none("applications", value_of(store.applications_of(sample_application("tgi_a").owner)));
    if constexpr (session_store<store_type>) expect_none("sessions", value_of(store.sessions_of(sample_session(1).user)));
    return store;
}

/// Adds rules: `add("name of the rule", [](auto& store) { ... })`; each run gets a new store. Must not outlive the
/// list. A rule is a plain function: what calls it is compiled once for a store, not once for each rule.
template <class Given>
[[nodiscard]] auto adder_of_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    return [&to, source](std::string_view name, void (*body)(store_given_as<Given>&)) {
        to.emplace_back(std::string{name}, [source, body] {
            auto instance = source->make();
            body(empty_store_of(instance));
        });
    };
}

/// Adds the rule that what is stored survives a restart, if the source can reopen a store. `body(store)` gets a new store and returns a
/// function, which is called with the reopened one.
template <class Given, class Body>
void add_reopen_case(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source, const std::string& kind,
                     Body body) {
    if (!source->reopen) return;
    to.emplace_back(kind + ": everything is present after the store is reopened", [source, body] {
        const auto expect_all = [&] {
            auto instance = source->make();
            return body(empty_store_of(instance));
        }();
        auto again = source->reopen();
        expect_all(store_of(again));
    });
}

/// Enough to collide in every lock, few enough for any machine.
inline constexpr std::size_t thread_count = 8;

/// Calls `work(i)` on threads that start together, i from 0 to thread_count - 1; a failure in one fails the case.
template <class Work>
void in_parallel(const Work& work) {
    std::vector<std::string> failures(thread_count);
    std::vector<std::thread> threads;
    std::atomic<std::size_t> ready{0};
    threads.reserve(thread_count);
    for (std::size_t i = 0; i < thread_count; ++i)
        threads.emplace_back([&, i] {
            ++ready;
            while (ready < thread_count) std::this_thread::yield();
            try {
                work(i);
            } catch (const failed& failure) {
                failures[i] = failure.message;
            } catch (...) {
                failures[i] = "the store threw an exception";
            }
        });
    for (std::thread& each : threads) each.join();
    for (const std::string& each : failures)
        if (!each.empty()) throw failed{each};
}

/// Calls `wins(i)` on such threads; it must return true on exactly one of them. Returns which.
template <class Wins>
std::size_t expect_one_winner(const Wins& wins, std::string_view message,
                              const std::source_location& at = std::source_location::current()) {
    std::atomic<std::size_t> count{0}, winner{0};
    in_parallel([&](std::size_t i) {
        if (!wins(i)) return;
        ++count;
        winner = i;
    });
    expect(count == 1, message, at);
    return winner;
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_TEST_CASE_HPP
