#include <tollgate/webhooks/detail/delivery_scheduler.hpp>

#include <tollgate/store/memory.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/allocations.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using webhooks::attempt_progress;
using webhooks::delivery_scheduler;
using webhooks::ended_attempt;
using webhooks::scheduler_actions;
using webhooks::scheduler_inputs;

namespace {

/// A scheduler over a memory store, in simulated time; the duration of an attempt depends on its host.
class simulation {
public:
    explicit simulation(hook_dispatch_settings initial = {}) : settings{initial}, scheduler_{initial, true} {}

    hook_dispatch_settings settings;
    memory_store store;
    std::map<std::string, milliseconds> durations;  // by host; others respond after 10 ms
    std::map<hook_id, std::vector<milliseconds>> started;  // since the beginning
    std::map<std::string, std::size_t> at_once, at_once_max;
    std::size_t in_flight_max = 0, slow_in_flight_max = 0, leases = 0, listings = 0, problems = 0;
    int failing_completions = 0, failing_listings = 0, problems_beside_listings = 0;
    bool cannot_connect = false;
    std::set<hook_id> unreadable;  // hooks whose secret cannot be read
    std::set<hook_id> unsendable;  // hooks whose events the payload format refuses

    hook_id hook(std::int64_t account, const std::string& url) {
        return listen_at(store, sample_account("sitesmaker", account), url);
    }
    void hang(const std::string& host) { durations[host] = settings.client.attempt_timeout; }
    void hang_hook(hook_id hook) { hanging_.insert(hook); }
    void publish(std::int64_t account, std::size_t count = 1) {
        report(store, sample_account("sitesmaker", account), count, wall());
        inputs_.wakeup = inputs_.store_changed = true;
    }
    [[nodiscard]] milliseconds now() const { return std::chrono::duration_cast<milliseconds>(now_.time_since_epoch()); }
    [[nodiscard]] std::size_t in_flight() const { return scheduler_.in_flight(); }
    void stop() { inputs_.stopping = true; }
    /// Ends all attempts with this response. The first allocations of the next step fail, each once.
    void finish_short_of_memory(const std::string& response) {
        while (!running_.empty()) {
            running_.begin()->second.second.response = response;
            finish_first();
        }
        scheduler_actions actions;
        tollgate_test::fail_each_allocation([&](auto short_of_memory) {
            try {
                actions = short_of_memory([&] { return scheduler_.step(inputs_, {now_, wall()}); });
                return true;
            } catch (const std::bad_alloc&) {
                return false;
            }
        });
        act(actions);
    }
    /// Ends all attempts and runs the last step; returns whether that step called the store.
    bool stop_now() {
        while (!running_.empty()) finish_first();
        inputs_.stopping = inputs_.flush = true;
        return scheduler_.step(inputs_, {now_, wall()}).calls_store();
    }

    /// Runs until that time since the beginning.
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
            if (problems_beside_listings > 0 && problems_beside_listings-- > 0) inputs_.listed->value().problem = unavailable("a lock");
        }
        if (!actions.lease.empty()) {
            ++leases;
            auto leased = store.lease(actions.lease, actions.leased_for);
            if (leased)
                for (due_delivery& each : *leased)
                    if (unreadable.contains(each.hook)) each.unreadable_secret = "the key is missing";
            inputs_.leased = std::move(leased);
        }
        if (actions.sweep) inputs_.swept = store.sweep({.deliveries_ended_before = actions.sweep->ended_before, .rows_max = actions.sweep->rows_max});
    }

    void start(const scheduler_actions::delivery_to_send& each) {
        const std::string host = delivery_host(each.delivery->target_url);
        started[each.delivery->hook].push_back(now());
        const auto found = durations.find(host);
        const milliseconds takes = hanging_.contains(each.delivery->hook) ? settings.client.attempt_timeout
                                   : found == durations.end()             ? milliseconds{10}
                                                                          : found->second;
        ended_attempt ended{.number = each.number, .duration = takes};
        if (takes >= settings.client.attempt_timeout) ended.end = attempt_end::timed_out;
        else ended.status = 200;
        if (cannot_connect) ended = {.number = each.number, .progress = attempt_progress::shortage, .reason = "no descriptors"};
        const bool is_unreadable = !each.delivery->unreadable_secret.empty();
        if (is_unreadable) ended = {.number = each.number, .progress = attempt_progress::postponed, .reason = "no secret"};
        if (unsendable.contains(each.delivery->hook))
            ended = {.number = each.number, .progress = attempt_progress::unsendable, .end = attempt_end::no_connection, .duration = takes};
        running_.emplace(now_ + (cannot_connect || is_unreadable ? milliseconds{1} : takes), std::pair{host, ended});
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
    std::set<hook_id> hanging_;
    delivery_scheduler::clock::time_point now_{};
    std::multimap<delivery_scheduler::clock::time_point, std::pair<std::string, ended_attempt>> running_;
};

const std::string shared_host = "https://shared.example";

}  // namespace

TEST_CASE("an event is sent at once, and afterwards the store is not called unnecessarily") {
    simulation sim;
    const auto hook = sim.hook(1, "https://one.example/");
    sim.run_until(milliseconds{5});
    const auto before = sim.listings;
    sim.publish(1);
    sim.run_until(seconds{9});
    CHECK(sim.started[hook] == std::vector{milliseconds{5}});
    CHECK(sim.in_flight() == 0);
    CHECK(sim.listings - before < 10);
}

TEST_CASE("a hanging hook does not delay another hook of its account on the same host") {
    for (const bool host_is_known : {false, true}) {
        CAPTURE(host_is_known);
        simulation sim;
        const auto hanging = sim.hook(1, shared_host + "/hanging");
        sim.hang_hook(hanging);
        if (host_is_known) sim.publish(1);
        sim.run_until(seconds{16});
        sim.publish(1, 50);
        sim.run_until(seconds{17});
        CHECK(sim.at_once_max[shared_host] == sim.settings.per_slow_host_max);  // alone it gets no more
        const auto other = sim.hook(1, shared_host + "/other");
        for (int i = 0; i < 60; ++i) {
            sim.publish(1);
            sim.run_until(seconds{18 + i});
            REQUIRE(sim.started[other].size() == static_cast<std::size_t>(i) + 1);
            CHECK(sim.started[other].back() <= seconds{17 + i} + milliseconds{20});
        }
        CHECK(sim.at_once_max[shared_host] <= sim.settings.per_slow_host_max + 1);
    }
}

TEST_CASE("the backlog of a quick hook does not delay another hook of its account on the same host") {
    for (const bool other_hangs : {false, true}) {
        CAPTURE(other_hangs);
        simulation sim;
        sim.durations[shared_host] = milliseconds{100};
        const auto busy = sim.hook(1, shared_host + "/busy");
        sim.publish(1, 2000);
        sim.run_until(seconds{2});
        CHECK(sim.at_once_max[shared_host] == sim.settings.per_host_max);
        const auto other = sim.hook(1, shared_host + "/other");
        if (other_hangs) sim.hang_hook(other);
        sim.publish(1);
        sim.run_until(seconds{4});
        REQUIRE_FALSE(sim.started[other].empty());
        CHECK(sim.started[other][0] <= seconds{2} + milliseconds{200});
        sim.run_until(seconds{40});
        CHECK(sim.started[busy].size() == 2001);
    }
}

TEST_CASE("fifty hanging hooks of one account do not delay another account's hook on the same host") {
    for (const bool host_was_quick : {false, true}) {
        CAPTURE(host_was_quick);
        simulation sim;
        const auto probe = sim.hook(3, shared_host + "/probe");
        if (host_was_quick) sim.publish(3);
        sim.run_until(seconds{1});
        sim.hang(shared_host);
        for (int i = 0; i < 50; ++i) sim.hook(1, shared_host + "/" + std::to_string(i));
        sim.publish(1, 20);
        sim.run_until(seconds{4});
        const auto other = sim.hook(2, shared_host + "/other");
        sim.publish(2);
        sim.run_until(seconds{40});
        REQUIRE(sim.started.contains(other));
        CHECK(sim.started[other][0] <= seconds{4} + milliseconds{20});
        // The other account adds its own attempt to those of the first: two, and one of a hook that has none.
        CHECK(sim.at_once_max[shared_host] == sim.settings.per_slow_host_max + 2);
        CHECK(sim.started[probe].size() == (host_was_quick ? 1 : 0));
    }
}

TEST_CASE("an account whose hooks hang delays no other account's hook on the same host once both are known") {
    const bool has_quick_hook = GENERATE(false, true);
    CAPTURE(has_quick_hook);
    simulation sim;
    const auto other = sim.hook(2, shared_host + "/other");
    std::vector<hook_id> hanging;
    for (int i = 0; i < 20; ++i) hanging.push_back(sim.hook(1, shared_host + "/" + std::to_string(i)));
    if (has_quick_hook) sim.hook(1, shared_host + "/quick");
    sim.publish(2);
    for (const hook_id each : hanging) sim.hang_hook(each);
    sim.run_until(seconds{1});
    for (int i = 0; i < 120; ++i) {  // two minutes, so that attempts end at many different times
        sim.publish(1);
        sim.publish(2);
        const auto before = sim.now();
        sim.run_until(sim.now() + seconds{1});
        CAPTURE(i);
        REQUIRE(sim.started[other].size() == 2U + static_cast<unsigned>(i));
        CHECK(sim.started[other].back() - before <= milliseconds{20});
    }
    CHECK(sim.at_once_max[shared_host] <= sim.settings.per_host_max);
    CHECK(sim.started[hanging[0]].size() >= 1);
}

TEST_CASE("as many hooks of one account as may listen to an event are sent to a quick host one after the other") {
    simulation sim;
    std::vector<hook_id> hooks;
    for (std::size_t i = 0; i < limits::hooks_per_event_max; ++i)
        hooks.push_back(sim.hook(1, shared_host + "/" + std::to_string(i)));
    sim.publish(1);
    sim.run_until(milliseconds{500});
    for (const hook_id each : hooks) CHECK(sim.started[each].size() == 1);
    CHECK(sim.at_once_max[shared_host] <= sim.settings.per_host_max);
}

TEST_CASE("accounts that share a host share its slots, whatever the backlog of each") {
    simulation sim;
    sim.durations[shared_host] = milliseconds{100};
    const auto busy = sim.hook(1, shared_host + "/busy"), single = sim.hook(2, shared_host + "/calm");
    sim.publish(1, 500);
    sim.run_until(milliseconds{350});
    sim.publish(2, 8);
    const auto before = sim.started[busy].size();
    sim.run_until(milliseconds{800});
    CHECK(sim.started[single].size() == 8);
    CHECK(sim.started[busy].size() - before >= 8);
    CHECK(sim.at_once_max[shared_host] <= sim.settings.per_host_max);
    sim.run_until(seconds{30});
    CHECK(sim.started[busy].size() == 500);
}

TEST_CASE("hanging hosts delay no other host and leave slots for it") {
    hook_dispatch_settings settings;
    settings.attempts_max = 64;
    settings.slow_attempts_max = 32;
    simulation sim{settings};
    for (int i = 0; i < 100; ++i) {
        const std::string host = "https://h" + std::to_string(i) + ".example";
        sim.hang(host);
        sim.hook(10 + i, host + "/");
        sim.publish(10 + i, 30);
    }
    const auto healthy = sim.hook(1, "https://healthy.example/");
    sim.publish(1, 100);
    sim.run_until(seconds{65});
    CHECK(sim.in_flight_max <= 64);
    for (int i = 0; i < 20; ++i) {  // by now the others are known to be slow
        sim.publish(1);
        sim.run_until(sim.now() + seconds{1});
        REQUIRE(sim.started[healthy].size() == 101U + static_cast<unsigned>(i));
        CHECK(sim.now() - sim.started[healthy].back() >= milliseconds{990});
    }
    CHECK(sim.at_once_max["https://h7.example"] <= settings.per_slow_host_max);
    CHECK(sim.at_once_max["https://healthy.example"] <= settings.per_host_max);
}

TEST_CASE("an unknown host gets few deliveries at once, a quick one more, and one that becomes slow few again") {
    simulation sim;
    const std::string host = "https://one.example";
    sim.hook(1, host + "/");
    sim.durations[host] = milliseconds{500};
    sim.publish(1, 40);
    sim.run_until(milliseconds{400});
    CHECK(sim.at_once_max[host] == sim.settings.per_slow_host_max);
    sim.run_until(milliseconds{900});
    CHECK(sim.at_once_max[host] == sim.settings.per_host_max);
    sim.durations[host] = webhooks::slow_attempt;
    sim.run_until(milliseconds{3000});
    sim.at_once_max[host] = 0;
    sim.run_until(milliseconds{6000});
    CHECK(sim.at_once_max[host] == sim.settings.per_slow_host_max);
}

TEST_CASE("when more hooks wait for a host than the scheduler lists, each gets its turn") {
    simulation sim;
    sim.durations[shared_host] = milliseconds{50};
    std::vector<hook_id> all;
    for (int i = 0; i < 400; ++i) all.push_back(sim.hook(1 + i % 40, shared_host + "/" + std::to_string(i)));
    for (int i = 0; i < 40; ++i) sim.publish(1 + i);
    sim.run_until(seconds{20});
    for (const hook_id each : all) CHECK(sim.started[each].size() == 1);
    CHECK(sim.at_once_max[shared_host] <= sim.settings.per_host_max);
}

TEST_CASE("leases are bounded by slots and bytes") {
    hook_dispatch_settings settings;
    settings.attempts_max = 5;
    settings.data_bytes_max = 2 * limits::event_data_bytes_max;
    simulation sim{settings};
    for (int i = 0; i < 9; ++i) {
        const std::string host = "https://h" + std::to_string(i) + ".example";
        sim.durations[host] = milliseconds{100};
        sim.hook(1, host + "/");
    }
    SECTION("bytes") {
        auto large = sample_event(sample_account("sitesmaker", 1));
        large.data = '"' + std::string(limits::event_data_bytes_max - 2, 'x') + '"';
        value_of(sim.store.append_event(large, sample_seed(1), noon));
        sim.run_until(milliseconds{90});
        CHECK(sim.in_flight_max == 2);
    }
    SECTION("slots") {
        sim.publish(1);
        sim.run_until(milliseconds{90});
        CHECK(sim.in_flight_max == 5);
    }
    sim.run_until(seconds{2});
    CHECK(sim.started.size() == 9);
    CHECK(sim.in_flight() == 0);
}

TEST_CASE("results are kept while the store fails, and recorded once") {
    simulation sim;
    const auto hook = sim.hook(1, "https://one.example/");
    sim.failing_completions = 3;
    sim.publish(1);
    sim.run_until(seconds{3});
    CHECK(sim.problems == 3);
    CHECK(sim.started[hook].size() == 1);
    CHECK(value_of(testing::detail::attempts_of(sim.store, sample_account("sitesmaker", 1), hook, 9)).size() == 1);
    CHECK(deliveries(sim.store, sample_account("sitesmaker", 1), hook).at(0).state == delivery_state::delivered);

    // When the lease has ended, a new one completes known results: nothing is sent twice.
    sim.failing_completions = 1000;
    sim.publish(1);
    sim.run_until(seconds{50});
    sim.failing_completions = 0;
    sim.run_until(seconds{100});
    CHECK(sim.started[hook].size() == 2);
    CHECK(deliveries(sim.store, sample_account("sitesmaker", 1), hook).at(0).state == delivery_state::delivered);
    CHECK(sim.in_flight() == 0);
}

TEST_CASE("a failure is retried after the planned wait, and not before") {
    hook_dispatch_settings settings;
    settings.retry.jitter_percent = 0;
    simulation sim{settings};
    sim.hang("https://one.example");
    const auto hook = sim.hook(1, "https://one.example/");
    sim.publish(1);
    sim.run_until(std::chrono::minutes{6});
    REQUIRE(sim.started[hook].size() == 3);
    const auto& at = sim.started[hook];
    CHECK(at[1] - at[0] - seconds{20} < milliseconds{50});  // 15 s until the timeout, 5 s planned wait
    CHECK(at[1] - at[0] >= seconds{20});
    CHECK(at[2] - at[1] >= seconds{315});
}

TEST_CASE("while this machine cannot connect, the store is rarely called and no attempt is counted") {
    simulation sim;
    std::vector<hook_id> hooks;
    for (int i = 0; i < 100; ++i) hooks.push_back(sim.hook(1, "https://h" + std::to_string(i) + ".example/"));
    sim.cannot_connect = true;
    sim.publish(1);
    sim.run_until(seconds{10});
    CHECK(sim.leases < 12);
    CHECK(sim.problems <= 3);
    for (const hook_id each : hooks) {
        CHECK(value_of(testing::detail::attempts_of(sim.store, sample_account("sitesmaker", 1), each, 9)).empty());
        CHECK(only_delivery(sim.store, sample_account("sitesmaker", 1), each).attempts_made == 0);
    }
    sim.cannot_connect = false;
    sim.run_until(seconds{40});
    for (const hook_id each : hooks)
        CHECK(only_delivery(sim.store, sample_account("sitesmaker", 1), each).state == delivery_state::delivered);
}

TEST_CASE("a hook whose secret cannot be read is tried and reported once a minute, and loses nothing") {
    const std::size_t per_minute = GENERATE(0U, 100U);
    hook_dispatch_settings settings;
    settings.per_hook_minute_max = per_minute;
    simulation sim{settings};
    const account_ref account = sample_account("sitesmaker", 1);
    const auto locked = sim.hook(1, "https://locked.example/"), other = sim.hook(1, "https://other.example/");
    sim.unreadable = {locked};
    sim.publish(1, 50);
    sim.run_until(seconds{10});
    CHECK(sim.started[other].size() == 50);
    const auto leases = sim.leases;
    sim.run_until(seconds{290});  // in the fifth minute
    CHECK(sim.problems == 5);
    CHECK(sim.started[locked].size() == 5 * sim.settings.per_slow_host_max);
    CHECK(sim.leases - leases <= 12);  // in each minute one that leases and one that puts off the rest
    CHECK(value_of(testing::detail::attempts_of(sim.store, account, locked, 9)).empty());
    CHECK(sim.in_flight() == 0);

    sim.unreadable.clear();
    sim.run_until(std::chrono::minutes{7});
    CHECK(sim.problems == 5);
    const auto sent = deliveries(sim.store, account, locked);
    CHECK(sent.size() == 50);
    for (const auto& each : sent) {
        CHECK(each.state == delivery_state::delivered);
        CHECK(each.attempts_made == 1);
    }
}

TEST_CASE("events that the payload format refuses do not disable a hook, as failing attempts do") {
    hook_dispatch_settings settings;
    settings.retry.waits = {};
    settings.retry.disable_after = std::chrono::minutes{1};
    simulation sim{settings};
    const auto refused = sim.hook(1, "https://one.example/"), failing = sim.hook(2, "https://two.example/");
    sim.unsendable = {refused};
    sim.hang("https://two.example");
    for (const int second : {0, 40, 80, 120}) {
        sim.run_until(seconds{second});
        sim.publish(1);
        sim.publish(2);
    }
    sim.run_until(seconds{160});
    CHECK(sim.started[refused].size() == 4);
    CHECK_FALSE(value_of(sim.store.hooks_of(sample_account("sitesmaker", 1))).front().failing_since);
    CHECK(sim.started[failing].size() == 3);
}

TEST_CASE("a stopping scheduler leases no more deliveries and completes those that end") {
    simulation sim;
    sim.durations["https://one.example"] = milliseconds{100};
    const auto hook = sim.hook(1, "https://one.example/");
    sim.publish(1, 10);
    sim.run_until(milliseconds{50});
    CHECK(sim.started[hook].size() == sim.settings.per_slow_host_max);
    sim.stop();
    sim.run_until(seconds{5});
    CHECK(sim.started[hook].size() == sim.settings.per_slow_host_max);
    CHECK(sim.in_flight() == 0);
}

TEST_CASE("a problem beside a listing is reported, and what is listed is sent") {
    simulation sim;
    const auto hook = sim.hook(1, "https://a.test/");
    sim.problems_beside_listings = 1;
    sim.publish(1);
    sim.run_until(seconds{1});
    CHECK(sim.problems == 1);
    CHECK(sim.started[hook].size() == 1);
}

TEST_CASE("the last step of a stop completes ended deliveries, unless the store's last call failed") {
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        simulation sim;
        sim.durations["https://a.test"] = seconds{2};
        sim.hook(1, "https://a.test/");
        sim.publish(1);
        sim.run_until(seconds{1});
        sim.failing_listings = fails ? 1 : 0;
        sim.publish(1);
        sim.run_until(seconds{1} + milliseconds{50});
        CHECK(sim.problems == (fails ? 1 : 0));
        CHECK(sim.stop_now() == !fails);
    }
}

TEST_CASE("a hook gets its bound of attempts in a minute, and the rest in the next minutes") {
    simulation sim{{.per_hook_minute_max = 5}};
    const auto limited = sim.hook(1, "https://a.example/"), other = sim.hook(2, "https://a.example/other");
    sim.publish(1, 12);
    sim.publish(2, 3);
    sim.run_until(seconds{59});
    CHECK(sim.started[limited].size() == 5);
    CHECK(sim.started[other].size() == 3);
    sim.run_until(seconds{119});
    CHECK(sim.started[limited].size() == 10);
    sim.run_until(seconds{179});
    CHECK(sim.started[limited].size() == 12);
    // Each minute's attempts at once, and not before the minute has ended.
    const auto& at = sim.started[limited];
    CHECK(at[4] < seconds{1});
    CHECK(at[5] >= at[0] + seconds{60});
    CHECK(at[9] < at[0] + seconds{62});
    CHECK(at[10] >= at[5] + seconds{60});
    CHECK(sim.in_flight() == 0);
}

TEST_CASE("a minute begins with its first attempt, and a past minute is not counted") {
    simulation sim{{.per_hook_minute_max = 2}};
    const auto hook = sim.hook(1, "https://a.example/");
    sim.publish(1);
    sim.run_until(seconds{50});
    sim.publish(1, 2);
    sim.run_until(seconds{59});
    CHECK(sim.started[hook].size() == 2);
    sim.run_until(seconds{65});
    CHECK(sim.started[hook].size() == 3);
    sim.publish(1);
    sim.run_until(seconds{70});
    CHECK(sim.started[hook].size() == 4);
}

TEST_CASE("a hook that has reached its bound delays no other hook, and the store is rarely called for it") {
    simulation sim{{.per_host_max = 2, .per_hook_minute_max = 1}};
    std::vector<hook_id> hooks;
    for (std::int64_t account = 1; account <= 20; ++account) {
        hooks.push_back(sim.hook(account, "https://shared.example/" + std::to_string(account)));
        sim.publish(account, 3);
    }
    sim.run_until(seconds{30});
    for (const auto each : hooks) CHECK(sim.started[each].size() == 1);
    const auto leases = sim.leases, listings = sim.listings;
    sim.run_until(seconds{55});
    CHECK(sim.leases - leases <= 30);
    CHECK(sim.listings - listings <= 60);
    sim.run_until(seconds{185});
    for (const auto each : hooks) CHECK(sim.started[each].size() == 3);
}

TEST_CASE("without a bound a hook gets all deliveries at once") {
    simulation sim;
    const auto hook = sim.hook(1, "https://a.example/");
    sim.publish(1, 500);
    sim.run_until(seconds{30});
    CHECK(sim.started[hook].size() == 500);
}

TEST_CASE("a response is recorded although memory ran out while it was judged") {
    simulation sim;
    const auto hook = sim.hook(1, "https://one.example/a/path/that/no/string/holds/in/place");
    const std::string response(100, 'x');
    sim.publish(1);
    sim.run_until(milliseconds{5});
    sim.finish_short_of_memory(response);
    sim.run_until(milliseconds{10});
    const auto attempts = value_of(testing::detail::attempts_of(sim.store, sample_account("sitesmaker", 1), hook, 10, std::nullopt));
    REQUIRE(attempts.size() == 1);
    CHECK(attempts.front().attempt.response == response);
}
