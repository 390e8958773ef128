#pragma once

#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/session_store.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/testing/detail/expect.hpp>

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

/// How a case ended. `message` is empty when it passed, and begins with `file:line: ` when it did not.
struct verdict {
    std::string_view name;
    bool passed;
    std::string message;
};

/// One rule of the contract. `run` makes a fresh store, and may be called any number of times.
class test_case {
public:
    test_case(std::string_view name, std::function<void()> body) : name_{name}, body_{std::move(body)} {}

    [[nodiscard]] std::string_view name() const noexcept { return name_; }

    [[nodiscard]] verdict run() const {
        try {
            body_();
            return {name_, true, {}};
        } catch (const failed& why) {
            return {name_, false, why.message};
        } catch (const std::exception& thrown) {
            return {name_, false, std::string{"the store threw, which it never may: "} + thrown.what()};
        } catch (...) {
            return {name_, false, "the store threw, which it never may"};
        }
    }

private:
    std::string_view name_;
    std::function<void()> body_;
};

/// Where cases get their stores from: `Given` is a store, or a pointer of any kind to one.
template <class Given>
struct store_source {
    std::function<Given()> make;
    std::function<Given()> reopen;  ///< empty where nothing outlives a store
};

/// What there are rules for. A store may be several of these, and one of them alone.
template <class S>
concept any_store = token_store<S> || hook_store<S> || application_store<S> || oauth_store<S> || session_store<S>;

template <class Given>
auto& store_of(Given& given) {
    if constexpr (any_store<Given>)
        return given;
    else
        return *given;
}

template <class Given>
using store_given_as = std::remove_reference_t<decltype(store_of(std::declval<Given&>()))>;

/// What adds a rule: `add("name of the rule", [](auto& store) { ... })`, with a fresh store each time it runs. Lives no
/// longer than the list.
template <class Given>
[[nodiscard]] auto adder_of_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    return [&to, source](std::string_view name, auto body) {
        to.emplace_back(name, [source, body] {
            auto made = source->make();
            body(store_of(made));
        });
    };
}

/// Enough to meet in every lock, few enough for any machine.
inline constexpr std::size_t thread_count = 8;

/// Calls `work(i)` on threads that start together, i from 0 to thread_count - 1; a failure in one is one of the case.
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
            } catch (const failed& why) {
                failures[i] = why.message;
            } catch (...) {
                failures[i] = "the store threw, which it never may";
            }
        });
    for (std::thread& each : threads) each.join();
    for (const std::string& each : failures)
        if (!each.empty()) throw failed{each};
}

}  // namespace tollgate::testing
