#include <tollgate/webhooks/detail/delivery_scheduler.hpp>

#include <tollgate/store/memory.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using webhooks::delivery_scheduler;
using webhooks::ended_attempt;
using webhooks::scheduler_actions;
using webhooks::scheduler_inputs;

namespace {

/// A scheduler over a memory store, in simulated time: an attempt takes as long as its host's name says.
class simulation {
public:
    explicit simulation(hook_dispatch_settings with = {}) : settings{with}, scheduler_{with, true} {}

    hook_dispatch_settings settings;
    memory_store store;
    std::map<std::string, milliseconds> durations;  // by host; others answer after 10 ms
    std::map<hook_id, std::vector<milliseconds>> started;  // since the beginning
    std::map<std::string, std::size_t> at_once, at_once_max;
    std::size_t in_flight_max = 0, slow_in_flight_max = 0, leases = 0, listings = 0, problems = 0;
    int failing_completions = 0, failing_listings = 0;
    bool cannot_connect = false;

    hook_id hook(std::int64_t account, const std::string& url) {
        return listen_at(store, sample_account("sitesmaker", account), url);
    }
    void hang(const std::string& host) { durations[host] = settings.client.attempt_timeout; }
    void publish(std::int64_t account, std::size_t count = 1) {
        report(store, sample_account("sitesmaker", account), count, wall());
        inputs_.wakeup = inputs_.store_changed = true;
    }
    [[nodiscard]] milliseconds now() const { return std::chrono::duration_cast<milliseconds>(now_.time_since_epoch()); }
    [[nodiscard]] std::size_t in_flight() const { return scheduler_.in_flight(); }
    void stop() { inputs_.stopping = true; }
    /// Ends all attempts and makes the last step; whether that one calls the store.
    bool stop_now() {
        while (!running_.empty()) finish_first();
        inputs_.stopping = inputs_.flush = true;
        return scheduler_.step(inputs_, {now_, wall()}).calls_store();
    }

    /// Goes on until that moment since the beginning.
    void run_until(milliseconds end) {
        const delivery_scheduler::clock::time_point last{end};
        for (std::size_t steps = 0;; ++steps) {
            REQUIRE(steps < 200'000);
            while (!running_.empty() && running_.begin()->first <= now_) finish_first();
            const scheduler_actions actions = scheduler_.step(inputs_, {now_, wall()});
            inputs_.store_changed = false;
            act(actions);
            if (actions.calls_store()) continue;
            auto next = (std::min)(last, actions.next_step_at);
            if (!running_.empty()) next = (std::min)(next, running_.begin()->first);
            if (now_ >= last) return;
            now_ = (std::max)(next, now_ + milliseconds{1});
        }
    }

private:
    [[nodiscard]] instant wall() const { return noon + now(); }

    void act(const scheduler_actions& actions) {
        problems += actions.problems.size();
        for (const auto& each : actions.send) start(each);
        if (actions.complete) {
            if (failing_completions > 0 && failing_completions-- > 0) inputs_.completed = unavailable("the disk is full");
            else inputs_.completed = store.complete(scheduler_.results(), wall());
        }
        if (actions.list_due_hooks) {
            ++listings;
            if (failing_listings > 0 && failing_listings-- > 0) inputs_.listed = unavailable("the disk is full");
            else inputs_.listed = store.due_hooks(wall(), *actions.list_due_hooks);
        }
        if (!actions.lease.empty()) {
            ++leases;
            inputs_.leased = store.lease(actions.lease, actions.leased_for);
        }
        if (actions.sweep) inputs_.swept = store.sweep_deliveries(actions.sweep->ended_before, actions.sweep->rows_max);
    }

    void start(const scheduler_actions::delivery_to_send& each) {
        const std::string host = delivery_host(each.what->target_url);
        started[each.what->hook].push_back(now());
        const auto found = durations.find(host);
        const milliseconds takes = found == durations.end() ? milliseconds{10} : found->second;
        ended_attempt ended{.number = each.number, .duration = takes};
        if (takes >= settings.client.attempt_timeout) ended.end = attempt_end::timed_out;
        else ended.status = 200;
        if (cannot_connect) ended = {.number = each.number, .tried = false, .shortage = true, .why = "no descriptors"};
        running_.emplace(now_ + (cannot_connect ? milliseconds{1} : takes), std::pair{host, ended});
        at_once_max[host] = (std::max)(at_once_max[host], ++at_once[host]);
        in_flight_max = (std::max)(in_flight_max, running_.size());
        std::size_t slow = 0;
        for (const auto& [at, one] : running_) slow += one.second.duration >= webhooks::slow_attempt;
        slow_in_flight_max = (std::max)(slow_in_flight_max, slow);
    }

    void finish_first() {
        --at_once[running_.begin()->second.first];
        inputs_.ended.push_back(std::move(running_.begin()->second.second));
        running_.erase(running_.begin());
    }

    delivery_scheduler scheduler_;
    scheduler_inputs inputs_;
    delivery_scheduler::clock::time_point now_{};
    std::multimap<delivery_scheduler::clock::time_point, std::pair<std::string, ended_attempt>> running_;
};

const std::string shared_host = "https://shared.example";

}  // namespace

TEST_CASE("an event is sent at once, and the store is not called without need afterwards") {
    simulation of;
    const auto hook = of.hook(1, "https://one.example/");
    of.run_until(milliseconds{5});
    const auto before = of.listings;
    of.publish(1);
    of.run_until(seconds{9});
    CHECK(of.started[hook] == std::vector{milliseconds{5}});
    CHECK(of.in_flight() == 0);
    CHECK(of.listings - before < 10);
}

TEST_CASE("fifty hanging hooks of one account delay another account's hook on the same host by at most one attempt") {
    for (const bool host_was_quick : {false, true}) {
        CAPTURE(host_was_quick);
        simulation of;
        const auto probe = of.hook(3, shared_host + "/probe");
        if (host_was_quick) of.publish(3);
        of.run_until(seconds{1});
        of.hang(shared_host);
        for (int i = 0; i < 50; ++i) of.hook(1, shared_host + "/" + std::to_string(i));
        of.publish(1, 20);
        of.run_until(seconds{4});
        const auto other = of.hook(2, shared_host + "/other");
        of.publish(2);
        of.run_until(seconds{40});
        REQUIRE(of.started.contains(other));
        CHECK(of.started[other][0] <= seconds{4} + of.settings.client.attempt_timeout + milliseconds{2});
        CHECK(of.at_once_max[shared_host] == (host_was_quick ? of.settings.per_host_max : of.settings.per_slow_host_max));
        CHECK(of.started[probe].size() == (host_was_quick ? 1 : 0));
    }
}

TEST_CASE("accounts that share a host share its slots, whatever the backlog of each") {
    simulation of;
    of.durations[shared_host] = milliseconds{100};
    const auto busy = of.hook(1, shared_host + "/busy"), calm = of.hook(2, shared_host + "/calm");
    of.publish(1, 500);
    of.run_until(milliseconds{350});
    of.publish(2, 8);
    const auto before = of.started[busy].size();
    of.run_until(milliseconds{800});
    CHECK(of.started[calm].size() == 8);
    CHECK(of.started[busy].size() - before >= 8);
    CHECK(of.at_once_max[shared_host] <= of.settings.per_host_max);
    of.run_until(seconds{30});
    CHECK(of.started[busy].size() == 500);
}

TEST_CASE("hanging hosts delay no other host and leave slots for it") {
    hook_dispatch_settings with;
    with.attempts_max = 64;
    with.slow_attempts_max = 32;
    simulation of{with};
    for (int i = 0; i < 100; ++i) {
        const std::string host = "https://h" + std::to_string(i) + ".example";
        of.hang(host);
        of.hook(10 + i, host + "/");
        of.publish(10 + i, 30);
    }
    const auto healthy = of.hook(1, "https://healthy.example/");
    of.publish(1, 100);
    of.run_until(seconds{65});
    CHECK(of.in_flight_max <= 64);
    for (int i = 0; i < 20; ++i) {  // by now the others are known to be slow
        of.publish(1);
        of.run_until(of.now() + seconds{1});
        REQUIRE(of.started[healthy].size() == 101U + static_cast<unsigned>(i));
        CHECK(of.now() - of.started[healthy].back() >= milliseconds{990});
    }
    CHECK(of.at_once_max["https://h7.example"] <= with.per_slow_host_max);
    CHECK(of.at_once_max["https://healthy.example"] <= with.per_host_max);
}

TEST_CASE("an unknown host gets few deliveries at once, a quick one more, and one that becomes slow few again") {
    simulation of;
    const std::string host = "https://one.example";
    of.hook(1, host + "/");
    of.durations[host] = milliseconds{500};
    of.publish(1, 40);
    of.run_until(milliseconds{400});
    CHECK(of.at_once_max[host] == of.settings.per_slow_host_max);
    of.run_until(milliseconds{900});
    CHECK(of.at_once_max[host] == of.settings.per_host_max);
    of.durations[host] = webhooks::slow_attempt;
    of.run_until(milliseconds{3000});
    of.at_once_max[host] = 0;
    of.run_until(milliseconds{6000});
    CHECK(of.at_once_max[host] == of.settings.per_slow_host_max);
}

TEST_CASE("when more hooks wait for a host than are remembered, each gets its turn") {
    simulation of;
    of.durations[shared_host] = milliseconds{50};
    std::vector<hook_id> all;
    for (int i = 0; i < 400; ++i) all.push_back(of.hook(1 + i % 40, shared_host + "/" + std::to_string(i)));
    for (int i = 0; i < 40; ++i) of.publish(1 + i);
    of.run_until(seconds{20});
    for (const hook_id each : all) CHECK(of.started[each].size() == 1);
    CHECK(of.at_once_max[shared_host] <= of.settings.per_host_max);
}

TEST_CASE("leases are bounded by slots and bytes") {
    hook_dispatch_settings with;
    with.attempts_max = 5;
    with.data_bytes_max = 2 * limits::event_data_bytes_max;
    simulation of{with};
    for (int i = 0; i < 9; ++i) {
        const std::string host = "https://h" + std::to_string(i) + ".example";
        of.durations[host] = milliseconds{100};
        of.hook(1, host + "/");
    }
    SECTION("bytes") {
        auto large = sample_event(sample_account("sitesmaker", 1));
        large.data = '"' + std::string(limits::event_data_bytes_max - 2, 'x') + '"';
        value_of(of.store.append_event(large, sample_seed(1), noon));
        of.run_until(milliseconds{90});
        CHECK(of.in_flight_max == 2);
    }
    SECTION("slots") {
        of.publish(1);
        of.run_until(milliseconds{90});
        CHECK(of.in_flight_max == 5);
    }
    of.run_until(seconds{2});
    CHECK(of.started.size() == 9);
    CHECK(of.in_flight() == 0);
}

TEST_CASE("results are kept while the store fails, and recorded once") {
    simulation of;
    const auto hook = of.hook(1, "https://one.example/");
    of.failing_completions = 3;
    of.publish(1);
    of.run_until(seconds{3});
    CHECK(of.problems == 3);
    CHECK(of.started[hook].size() == 1);
    CHECK(value_of(of.store.attempts_of(sample_account("sitesmaker", 1), hook, 9)).size() == 1);
    CHECK(deliveries(of.store, sample_account("sitesmaker", 1), hook).at(0).state == delivery_state::delivered);

    // When the lease is over, a new one completes what is known already: nothing is sent twice.
    of.failing_completions = 1000;
    of.publish(1);
    of.run_until(seconds{50});
    of.failing_completions = 0;
    of.run_until(seconds{100});
    CHECK(of.started[hook].size() == 2);
    CHECK(deliveries(of.store, sample_account("sitesmaker", 1), hook).at(0).state == delivery_state::delivered);
    CHECK(of.in_flight() == 0);
}

TEST_CASE("a failure is retried after the planned wait, and not before") {
    hook_dispatch_settings with;
    with.retry.jitter_percent = 0;
    simulation of{with};
    of.hang("https://one.example");
    const auto hook = of.hook(1, "https://one.example/");
    of.publish(1);
    of.run_until(std::chrono::minutes{6});
    REQUIRE(of.started[hook].size() == 3);
    const auto& at = of.started[hook];
    CHECK(at[1] - at[0] - seconds{20} < milliseconds{50});  // 15 s until the time-out, 5 s of the plan
    CHECK(at[1] - at[0] >= seconds{20});
    CHECK(at[2] - at[1] >= seconds{315});
}

TEST_CASE("while this machine cannot connect, the store is rarely called and no attempt is counted") {
    simulation of;
    std::vector<hook_id> hooks;
    for (int i = 0; i < 100; ++i) hooks.push_back(of.hook(1, "https://h" + std::to_string(i) + ".example/"));
    of.cannot_connect = true;
    of.publish(1);
    of.run_until(seconds{10});
    CHECK(of.leases < 12);
    CHECK(of.problems <= 3);
    for (const hook_id each : hooks) {
        CHECK(value_of(of.store.attempts_of(sample_account("sitesmaker", 1), each, 9)).empty());
        CHECK(only_delivery(of.store, sample_account("sitesmaker", 1), each).attempts_made == 0);
    }
    of.cannot_connect = false;
    of.run_until(seconds{40});
    for (const hook_id each : hooks)
        CHECK(only_delivery(of.store, sample_account("sitesmaker", 1), each).state == delivery_state::delivered);
}

TEST_CASE("a stopping scheduler leases nothing more and completes what ends") {
    simulation of;
    of.durations["https://one.example"] = milliseconds{100};
    const auto hook = of.hook(1, "https://one.example/");
    of.publish(1, 10);
    of.run_until(milliseconds{50});
    CHECK(of.started[hook].size() == of.settings.per_slow_host_max);
    of.stop();
    of.run_until(seconds{5});
    CHECK(of.started[hook].size() == of.settings.per_slow_host_max);
    CHECK(of.in_flight() == 0);
}

TEST_CASE("the last step of a stop completes what has ended, unless the store's last call failed") {
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        simulation of;
        of.durations["https://a.test"] = seconds{2};
        of.hook(1, "https://a.test/");
        of.publish(1);
        of.run_until(seconds{1});
        of.failing_listings = fails ? 1 : 0;
        of.publish(1);
        of.run_until(seconds{1} + milliseconds{50});
        CHECK(of.problems == (fails ? 1 : 0));
        CHECK(of.stop_now() == !fails);
    }
}

TEST_CASE("a hook gets as many attempts in a minute as it may, and the rest in the next ones") {
    simulation of{{.per_hook_minute_max = 5}};
    const auto limited = of.hook(1, "https://a.example/"), other = of.hook(2, "https://a.example/other");
    of.publish(1, 12);
    of.publish(2, 3);
    of.run_until(seconds{59});
    CHECK(of.started[limited].size() == 5);
    CHECK(of.started[other].size() == 3);
    of.run_until(seconds{119});
    CHECK(of.started[limited].size() == 10);
    of.run_until(seconds{179});
    CHECK(of.started[limited].size() == 12);
    // In each minute at once, and not before the minute is over.
    const auto& at = of.started[limited];
    CHECK(at[4] < seconds{1});
    CHECK(at[5] >= at[0] + seconds{60});
    CHECK(at[9] < at[0] + seconds{62});
    CHECK(at[10] >= at[5] + seconds{60});
    CHECK(of.in_flight() == 0);
}

TEST_CASE("a minute begins with its first attempt, and one that is over counts no more") {
    simulation of{{.per_hook_minute_max = 2}};
    const auto hook = of.hook(1, "https://a.example/");
    of.publish(1);
    of.run_until(seconds{50});
    of.publish(1, 2);
    of.run_until(seconds{59});
    CHECK(of.started[hook].size() == 2);
    of.run_until(seconds{65});
    CHECK(of.started[hook].size() == 3);
    of.publish(1);
    of.run_until(seconds{70});
    CHECK(of.started[hook].size() == 4);
}

TEST_CASE("a hook that has used up its minute delays no other, and the store is rarely called for it") {
    simulation of{{.per_host_max = 2, .per_hook_minute_max = 1}};
    std::vector<hook_id> hooks;
    for (std::int64_t account = 1; account <= 20; ++account) {
        hooks.push_back(of.hook(account, "https://shared.example/" + std::to_string(account)));
        of.publish(account, 3);
    }
    of.run_until(seconds{30});
    for (const auto each : hooks) CHECK(of.started[each].size() == 1);
    const auto leases = of.leases, listings = of.listings;
    of.run_until(seconds{55});
    CHECK(of.leases - leases <= 30);
    CHECK(of.listings - listings <= 60);
    of.run_until(seconds{185});
    for (const auto each : hooks) CHECK(of.started[each].size() == 3);
}

TEST_CASE("without a bound a hook gets all at once") {
    simulation of;
    const auto hook = of.hook(1, "https://a.example/");
    of.publish(1, 500);
    of.run_until(seconds{30});
    CHECK(of.started[hook].size() == 500);
}
