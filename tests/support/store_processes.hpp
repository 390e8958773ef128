#pragma once

#include <support/child_process.hpp>

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace tollgate_test {

// Processes that share a database. Each opens it with `open()`, which returns a store.

/// Processes that create hooks at the same time never exceed the bound.
template <class Open>
void check_bound_of_hooks(const Open& open) {
    using namespace tollgate::testing;
    using namespace tollgate::testing::detail;
    constexpr int process_count = 4, each_tries = 10, bound = 20;
    const auto created = run_processes(process_count, [&](number_pipe&, int number) {
        auto store = open();
        int succeeded = 0;
        for (int n = 0; n < each_tries; ++n) {
            auto hook = sample_hook(sample_account());
            hook.target_url = "https://" + std::to_string(number) + ".example/";
            const auto id = store.create_hook(hook, bound);
            if (!id && id.error().kind != tollgate::error_kind::invalid) return 255;
            if (id) ++succeeded;
        }
        return succeeded;
    });
    CHECK(std::accumulate(created.begin(), created.end(), 0) == bound);
    auto store = open();
    CHECK(value_of(store.hooks_of(sample_account())).size() == bound);
}

/// Of processes that redeem one code at the same time, exactly one succeeds, and the reuse by the others revokes its tokens.
template <class Open>
void check_concurrent_redemptions(const Open& open) {
    using namespace tollgate::testing;
    using namespace tollgate::testing::detail;
    constexpr int process_count = 6;
    constexpr std::uint64_t code_count = 10;
    const auto application = [&] {
        auto store = open();
        const auto created = create_sample_application(store);
        for (std::uint64_t code = 0; code < code_count; ++code)
            expect_code(store, sample_code(code, created), tollgate::code_result::created);
        return created;
    }();
    const auto redeemed = run_processes(process_count, [&](number_pipe& start, int number) {
        auto store = open();
        start.take();
        int succeeded = 0;
        for (std::uint64_t code = 0; code < code_count; ++code) {
            auto redemption = sample_redemption(code, application);
            redemption.tokens = sample_tokens(code * 100 + static_cast<std::uint64_t>(number));
            const auto outcome = store.redeem_code(redemption);
            if (!outcome) return 255;
            if (outcome->result == tollgate::redemption_result::redeemed) ++succeeded;
            else if (outcome->result != tollgate::redemption_result::reused) return 254;
        }
        return succeeded;
    });
    CHECK(std::accumulate(redeemed.begin(), redeemed.end(), 0) == code_count);
    auto store = open();
    for (std::uint64_t code = 0; code < code_count; ++code)
        for (std::uint64_t number = 0; number < process_count; ++number) {
            CHECK_FALSE(value_of(store.find_credential(tollgate::access_token_key{sample_access_digest(code * 100 + number)})));
            CHECK_FALSE(is_refreshable(store, code * 100 + number, application));
        }
}

/// Processes that lease at the same time never get the same delivery, and everything is delivered.
template <class Open>
void check_concurrent_leases(const Open& open) {
    using namespace tollgate::testing;
    using namespace tollgate::testing::detail;
    constexpr int process_count = 4, host_count = 5, event_count = 60;
    {
        auto store = open();
        for (int i = 0; i < host_count; ++i) listen_at(store, sample_account(), "https://" + std::to_string(i) + ".example/");
        report(store, sample_account(), event_count);
    }
    number_pipe ids;  // it holds all ids: processes end before it is read
    const auto codes = run_processes(process_count, [&](number_pipe& start, int) {
        auto store = open();
        start.take();
        for (;;) {
            auto terms = sample_terms(noon);
            terms.deliveries_max = 7;
            terms.host_leases_max = 4;
            const auto leased = lease_due(store, terms);
            std::vector<tollgate::attempt_result> ended;
            for (const tollgate::due_delivery& each : leased) {
                if (!ids.put(each.lease.delivery.value())) return 1;
                ended.push_back(completed(each, tollgate::delivery_outcome::delivered));
            }
            const auto results = store.complete(ended, noon);
            if (!results || *results != std::vector(ended.size(), tollgate::completion::done)) return 2;
            const auto page = store.due_hooks(noon, 10);
            if (!page) return 3;
            const bool none_left = page->hooks.empty() && (!page->next_at || *page->next_at > noon + tollgate::seconds{1});
            if (ended.empty() && none_left) return 0;
        }
    });
    CHECK(codes == std::vector<int>(process_count, 0));
    ids.close_writing();
    std::multiset<std::int64_t> all;
    while (const auto id = ids.take()) all.insert(*id);
    CHECK(all.size() == host_count * event_count);
    CHECK(std::set<std::int64_t>(all.begin(), all.end()).size() == all.size());
}

}  // namespace tollgate_test
