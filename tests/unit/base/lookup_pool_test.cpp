#include <tollgate/base/detail/lookup_pool.hpp>

#include <support/eventually.hpp>
#include <support/gate.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using tollgate::detail::lookup_end;
using tollgate::detail::lookup_names;
using tollgate::detail::lookup_pool;
using tollgate::detail::lookup_result;
using tollgate_test::eventually;
using tollgate_test::gate;

TEST_CASE("the names of one domain cannot block other lookups, whatever their number") {
    struct shared {
        gate go_on;
        std::mutex counting;
        std::atomic<int> at_once = 0, at_once_max = 0;
    };
    const auto shared_state = std::make_shared<shared>();
    lookup_pool<int> pool{[shared_state](const std::string& host) {
                         if (host.ends_with(".tar.example")) {
                             {
                                 const std::lock_guard hold{shared_state->counting};
                                 shared_state->at_once_max = (std::max)(shared_state->at_once_max.load(), shared_state->at_once + 1);
                                 ++shared_state->at_once;
                             }
                             shared_state->go_on.wait();
                             --shared_state->at_once;
                         }
                         return lookup_result<int>{};
                     },
                     16, lookup_names::from_users};
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 40; ++i)
        numbers.push_back(pool.resolve("n" + std::to_string(i) + ".x.tar.example", [](const auto&) {}));
    std::atomic<int> resolved = 0;
    for (int i = 0; i < 3; ++i) pool.resolve("good" + std::to_string(i) + ".example", [&](const auto&) { ++resolved; });
    CHECK(eventually([&] { return resolved == 3 && shared_state->at_once == 2; }));
    CHECK(shared_state->at_once_max == 2);
    CHECK_FALSE(pool.withdraw("n0.x.tar.example", numbers.front()));
    CHECK(pool.withdraw("n39.x.tar.example", numbers.back()));
    pool.stop();
    shared_state->go_on.open();
}

TEST_CASE("a lookup that is withdrawn leaves those of other attempts for the same name") {
    struct shared {
        gate first;
        std::mutex mutex;
        std::vector<std::string> looked_up;
        std::atomic<int> withdrawn = 0, kept = 0, last = 0;
    };
    const auto shared_state = std::make_shared<shared>();
    lookup_pool<int> pool{[shared_state](const std::string& host) {
                         {
                             const std::lock_guard hold{shared_state->mutex};
                             shared_state->looked_up.push_back(host);
                         }
                         if (host == "hangs.example") shared_state->first.wait();
                         return lookup_result<int>{};
                     },
                     2, lookup_names::from_users};  // one for names that are not known to be quick
    pool.resolve("hangs.example", [](const auto&) {});
    shared_state->first.wait_for_calls(1);
    const auto first = pool.resolve("shared.example", [shared_state](const auto&) { ++shared_state->withdrawn; });
    pool.resolve("shared.example", [shared_state](const auto&) { ++shared_state->kept; });
    const auto single = pool.resolve("alone.example", [shared_state](const auto&) { ++shared_state->withdrawn; });
    pool.resolve("last.example", [shared_state](const auto&) { ++shared_state->last; });
    CHECK(pool.withdraw("shared.example", first));
    CHECK(pool.withdraw("alone.example", single));  // nobody else waits for it
    shared_state->first.open();
    CHECK(eventually([&] { return shared_state->last == 1; }));
    CHECK(shared_state->withdrawn == 0);
    CHECK(shared_state->kept == 1);
    const std::lock_guard hold{shared_state->mutex};
    CHECK(shared_state->looked_up == std::vector<std::string>{"hangs.example", "shared.example", "last.example"});
}

TEST_CASE("a stopped pool keeps no callbacks, even while a lookup is running") {
    const auto lookups = std::make_shared<gate>();
    const auto callback_owner = std::make_shared<int>(0);
    lookup_pool<int> pool{[lookups](const std::string&) {
                         lookups->wait();
                         return lookup_result<int>{};
                     },
                     4, lookup_names::from_users};
    for (const char* const each : {"a.example", "b.example", "c.other", "d.third", "e.fourth"})
        pool.resolve(each, [callback_owner](const auto&) {});
    lookups->wait_for_calls(1);
    CHECK(callback_owner.use_count() > 1);
    pool.stop();
    CHECK(callback_owner.use_count() == 1);
    lookups->open();
}

TEST_CASE("names that the operator has configured may use all threads") {
    const auto lookups = std::make_shared<gate>();
    lookup_pool<int> pool{[lookups](const std::string&) {
                              lookups->wait();
                              return lookup_result<int>{};
                          },
                          4, lookup_names::configured};
    std::atomic<int> resolved = 0;
    for (int i = 0; i < 5; ++i) pool.resolve("db" + std::to_string(i) + ".example", [&](const auto&) { ++resolved; });
    lookups->wait_for_calls(4);
    CHECK_FALSE(pool.withdraw("db3.example", 4));
    CHECK(pool.withdraw("db4.example", 5));
    lookups->open();
    CHECK(eventually([&] { return resolved == 4; }));
}

TEST_CASE("every name is looked up, whatever the order in which lookups end") {
    std::atomic<int> resolved = 0;
    lookup_pool<int> pool{[](const std::string&) { return lookup_result<int>{}; }, 3, lookup_names::from_users};
    for (int i = 0; i < 300; ++i)
        pool.resolve("h" + std::to_string(i) + ".d" + std::to_string(i % 7) + ".example", [&](const auto&) { ++resolved; });
    CHECK(eventually([&] { return resolved == 300; }));
    pool.stop();
}

TEST_CASE("domain_of returns the registrable domain") {
    struct row {
        const char *host, *domain;
    };
    for (const auto& [host, domain] : {row{"a.b.example", "b.example"}, {"b.example", "b.example"}, {"example", "example"},
                                       {"a.b.co.uk", "b.co.uk"}, {"b.co.uk", "b.co.uk"}, {"co.uk", "co.uk"},
                                       {"x.y.com.au", "y.com.au"}, {"a.abc.de", "a.abc.de"}, {"a.b.shops.de", "shops.de"},
                                       {"a.b.example.", "b.example"}, {"", ""}, {".", ""}})
        CHECK(tollgate::detail::domain_of(host) == domain);
}
