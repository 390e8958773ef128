#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <tollgate/store/memory.hpp>
#include <tollgate/webhooks/verify.hpp>

#include <support/child_process.hpp>
#include <support/eventually.hpp>
#include <support/fakes.hpp>
#include <support/scripted_peer.hpp>

#include <tollgate/testing/detail/delivering.hpp>

#include <catch2/catch.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using tollgate_test::peer_connection;
using tollgate_test::scripted_peer;
using std::chrono::hours;
using std::chrono::minutes;

namespace {

const account_ref shop{*service_name::from("sitesmaker"), account_id{1}};
const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

std::string status_line(unsigned status, const std::string& fields = {}) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 0\r\n" + fields + "\r\n";
}

/// A clock that many threads may read while a test sets it.
struct fake_clock {
    const std::atomic<std::int64_t>* milliseconds_since_1970;
    [[nodiscard]] instant now() const noexcept { return from_unix_milliseconds(*milliseconds_since_1970); }
};

/// Receives requests and responds as configured; a test waits for them one by one.
class receiver {
public:
    std::atomic<unsigned> status = 200;
    std::string fields;
    std::atomic<bool> hangs = false;

    [[nodiscard]] std::string url(const std::string& path = "/") const {
        return "http://127.0.0.1:" + std::to_string(peer_.port()) + path;
    }
    /// The next request that was not returned yet; empty if none arrives in time.
    std::string next(milliseconds timeout = minutes{1}) {
        std::unique_lock hold{mutex_};
        if (!changed_.wait_for(hold, timeout, [this] { return taken_ < received_.size(); })) return {};
        return received_[taken_++];
    }
    std::size_t count() {
        const std::lock_guard hold{mutex_};
        return received_.size();
    }
    std::size_t at_once_max() const { return at_once_max_; }

private:
    void serve(peer_connection& client) {
        for (std::string request = client.read_request(); !request.empty(); request = client.read_request()) {
            const std::size_t at_once = ++at_once_;
            for (std::size_t highest = at_once_max_; at_once > highest && !at_once_max_.compare_exchange_weak(highest, at_once);) {
            }
            {
                const std::lock_guard hold{mutex_};
                received_.push_back(std::move(request));
                changed_.notify_all();
            }
            if (hangs) {
                client.wait_for_the_end();
                --at_once_;
                return;
            }
            --at_once_;
            client.write(status_line(status, fields));
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> received_;
    std::size_t taken_ = 0;
    std::atomic<std::size_t> at_once_ = 0, at_once_max_ = 0;
    scripted_peer peer_{[this](peer_connection& client, int) { serve(client); }};
};

std::string field(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}
std::string body(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

/// Stores the attempts and problems of a dispatcher.
class recording_observer {
public:
    struct observed_attempt {
        tollgate::attempt attempt;
        delivery_outcome outcome;
        instant retry_at;
        tollgate::completion completion;
        std::string reason;
        std::string trace_id;
        std::string span_id;
    };
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record& record) const noexcept {
        const std::lock_guard hold{mutex_};
        problems_.push_back(record.error.cause);
        if (on_problem_) on_problem_();
        changed_.notify_all();
    }
    void on_attempt(const delivery_record& record) const noexcept {
        const std::lock_guard hold{mutex_};
        const auto& [delivery, result, completion, reason, trace_id, span_id] = record;
        received_.push_back({result.attempt, result.outcome, result.retry_at, completion, std::string{reason}, std::string{trace_id},
                             std::string{span_id}});
        changed_.notify_all();
    }

    std::optional<observed_attempt> next(milliseconds timeout = minutes{1}) {
        std::unique_lock hold{mutex_};
        if (!changed_.wait_for(hold, timeout, [this] { return taken_ < received_.size(); })) return std::nullopt;
        return received_[taken_++];
    }
    bool wait_for_problem() {
        std::unique_lock hold{mutex_};
        return changed_.wait_for(hold, minutes{1}, [this] { return !problems_.empty(); });
    }
    /// The first one.
    std::string problem() {
        const std::lock_guard hold{mutex_};
        return problems_.empty() ? std::string{} : problems_.front();
    }
    std::function<void()> on_problem_;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    mutable std::vector<observed_attempt> received_;
    mutable std::vector<std::string> problems_;
    std::size_t taken_ = 0;
};
static_assert(delivery_observer<recording_observer>);

/// Polls often, and waits long for receivers, which a busy machine may delay.
hook_dispatch_settings quick() {
    hook_dispatch_settings settings;
    settings.client.attempt_timeout = settings.client.connect_timeout = settings.client.lookup_timeout = minutes{10};
    settings.poll_interval = settings.lease_interval = milliseconds{20};
    settings.retry.jitter_percent = 0;
    return settings;
}

/// A store, a clock under the test's control, and the policies of a dispatcher.
class dispatcher_setup {
public:
    std::atomic<std::int64_t> now_milliseconds = 1'700'000'000'000;
    memory_store store;
    recording_observer observer;

    [[nodiscard]] instant now() const { return from_unix_milliseconds(now_milliseconds); }
    void advance_clock(milliseconds by) { now_milliseconds += by.count(); }

    auto policies(public_targets rule = {.private_allowed = true}) {
        return default_policies()
            .with_clock(fake_clock{&now_milliseconds})
            .with_target_rule(rule)
            .with_observer(std::ref(observer));
    }
    hook_id hook(const std::string& url, const std::string& event = "site.created") {
        const auto stored = store.create_hook({.account = shop, .event = event, .source = hook_source::api, .type = "webhook",
                                               .target_url = url, .secret = secret, .created_at = now()}, 2000);
        REQUIRE(stored);
        return *stored;
    }
    std::size_t publish(auto& to, const std::string& data = R"({"n":1})", const std::string& event = "site.created") {
        message_seed seed{};
        for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::byte>(++published_ >> (i * 3));
        const auto stored = to.append_event({shop, event, data, now()}, seed, now());
        REQUIRE(stored);
        return *stored;
    }
    delivery only_delivery(hook_id hook) {
        const auto all = testing::detail::deliveries_of(store, shop, hook, 10);
        REQUIRE((all && all->size() == 1));
        return all->front();
    }

private:
    std::uint64_t published_ = 0;
};

}  // namespace

TEST_CASE("an event is delivered at once, signed and in the payload format") {
    dispatcher_setup setup;
    receiver endpoint;
    const auto id = setup.hook(endpoint.url("/in?x=y"));
    auto settings = quick();
    settings.poll_interval = settings.lease_interval = hours{1};  // so that only the append wakes it
    hook_dispatcher dispatcher{setup.store, settings, setup.policies()};
    REQUIRE(dispatcher.start());
    std::string request;
    for (int i = 0; i < 5; ++i) {
        CHECK(setup.publish(dispatcher) == 1);
        request = endpoint.next();
    }

    CHECK(request.starts_with("POST /in?x=y HTTP/1.1\r\n"));
    CHECK(field(request, "User-Agent").starts_with("Tollgate/"));
    CHECK(field(request, "Content-Type") == "application/json");
    CHECK(field(request, "webhook-timestamp") == "1700000000");
    CHECK(body(request) == R"({"type":"site.created","timestamp":"2023-11-14T22:13:20Z","service":"sitesmaker","account":1,"data":{"n":1}})");
    const std::string id_text = field(request, "webhook-id"), time = field(request, "webhook-timestamp"), signature = field(request, "webhook-signature");
    CHECK(verify_webhook(secret, {id_text, time, signature}, body(request), setup.now()));
    CHECK_FALSE(verify_webhook(secret, {id_text, time, signature}, body(request) + " ", setup.now()));

    const auto attempt = setup.observer.next();
    REQUIRE(attempt);
    CHECK(attempt->outcome == delivery_outcome::delivered);
    CHECK(attempt->attempt.at == setup.now());
    CHECK(attempt->completion == completion::done);
    dispatcher.stop();
    CHECK(testing::detail::deliveries_of(setup.store, shop, id, 10)->front().state == delivery_state::delivered);
}

TEST_CASE("while a secret is being replaced both secrets sign, and afterwards only the new one") {
    dispatcher_setup setup;
    receiver endpoint;
    const auto id = setup.hook(endpoint.url());
    const std::string newer = "whsec_" + std::string(43, 'A') + "=";
    REQUIRE(*setup.store.change_hook(shop, id, hook_secret_replacement{newer, setup.now() + hours{24}}));
    hook_dispatcher dispatcher{setup.store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    for (const bool both : {true, false}) {
        setup.publish(dispatcher);
        const std::string request = endpoint.next();
        const std::string id_text = field(request, "webhook-id"), time = field(request, "webhook-timestamp"), signature = field(request, "webhook-signature");
        CHECK(bool(verify_webhook(newer, {id_text, time, signature}, body(request), setup.now())));
        CHECK(bool(verify_webhook(secret, {id_text, time, signature}, body(request), setup.now())) == both);
        setup.advance_clock(hours{25});
    }
}

TEST_CASE("a failure is retried as planned, with the same id and a new timestamp and signature, and finally given up") {
    dispatcher_setup setup;
    receiver endpoint;
    endpoint.status = 503;
    const auto id = setup.hook(endpoint.url());
    hook_dispatcher dispatcher{setup.store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    const milliseconds waits[] = {seconds{5}, minutes{5}, minutes{30}, hours{2}, hours{5}, hours{10}, hours{10}};
    const std::string first = endpoint.next();
    std::string last = first;
    std::set<std::string> traces, spans;
    for (std::size_t i = 0;; ++i) {
        const auto attempt = setup.observer.next();
        REQUIRE(attempt);
        CHECK(attempt->attempt.status == 503);
        traces.insert(attempt->trace_id);
        spans.insert(attempt->span_id);
        CHECK(field(last, "traceparent") == "00-" + attempt->trace_id + "-" + attempt->span_id + "-01");
        if (i == 7) {
            CHECK(attempt->outcome == delivery_outcome::given_up);
            break;
        }
        CHECK(attempt->outcome == delivery_outcome::retry);
        CHECK(attempt->retry_at - setup.now() <= waits[i]);
        CHECK(attempt->retry_at - setup.now() >= waits[i] - milliseconds{1});
        setup.advance_clock(waits[i] - milliseconds{10});
        dispatcher.wake();
        CHECK(endpoint.next(milliseconds{i == 0 ? 80 : 0}).empty());
        setup.advance_clock(milliseconds{10});
        dispatcher.wake();
        const std::string again = endpoint.next();
        CHECK(field(again, "webhook-id") == field(first, "webhook-id"));
        CHECK(field(again, "webhook-timestamp") == std::to_string(to_unix_seconds(setup.now())));
        CHECK(field(again, "webhook-signature") != field(first, "webhook-signature"));
        CHECK(body(again) == body(first));
        last = again;
    }
    CHECK(traces.size() == 1);  // all attempts are in one trace
    CHECK(spans.size() == 8);
    CHECK(http::traceparent::parse(field(last, "traceparent")));
    CHECK(setup.only_delivery(id).state == delivery_state::given_up);
    setup.advance_clock(hours{1000});
    dispatcher.wake();
    CHECK(endpoint.next(milliseconds{50}).empty());
    CHECK(testing::detail::attempts_of(setup.store, shop, id, 100)->size() == 8);
}

TEST_CASE("a 410 disables a hook, and so do 120 hours without a success") {
    dispatcher_setup setup;
    receiver endpoint;
    hook_dispatcher dispatcher{setup.store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    SECTION("gone") {
        endpoint.status = 410;
        setup.hook(endpoint.url());
        setup.publish(dispatcher);
        const auto attempt = setup.observer.next();
        REQUIRE(attempt);
        CHECK(attempt->outcome == delivery_outcome::gone);
        CHECK(attempt->completion == completion::hook_disabled);
        CHECK(setup.publish(dispatcher) == 0);
    }
    SECTION("failing") {
        endpoint.status = 500;
        setup.hook(endpoint.url());
        setup.publish(dispatcher);
        REQUIRE(setup.observer.next());
        setup.advance_clock(hours{119});
        setup.publish(dispatcher);
        for (int i = 0; i < 2; ++i) CHECK(setup.observer.next()->completion == completion::done);
        setup.advance_clock(hours{1});
        setup.publish(dispatcher);
        const auto attempt = setup.observer.next();
        REQUIRE(attempt);
        CHECK(attempt->completion == completion::hook_disabled);
        CHECK(setup.publish(dispatcher) == 0);
    }
    SECTION("a success restarts the period") {
        setup.hook(endpoint.url());
        struct step {
            unsigned status;
            int attempts;  // of the event that is published, and of one that has failed before
        };
        for (const auto& [status, attempts] : {step{500, 1}, step{200, 2}, step{500, 1}, step{500, 2}}) {
            endpoint.status = status;
            setup.publish(dispatcher);
            for (int i = 0; i < attempts; ++i) CHECK(setup.observer.next()->completion == completion::done);
            setup.advance_clock(hours{60});
        }
    }
}

TEST_CASE("a deleted hook gets no further attempt") {
    dispatcher_setup setup;
    receiver endpoint;
    endpoint.status = 500;
    const auto id = setup.hook(endpoint.url());
    hook_dispatcher dispatcher{setup.store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    REQUIRE(setup.observer.next());
    REQUIRE(setup.store.delete_hook(shop, id));
    setup.advance_clock(hours{1});
    dispatcher.wake();
    CHECK(endpoint.count() == 1);
    CHECK(endpoint.next(seconds{1}).size() > 0);
    CHECK(endpoint.next(milliseconds{60}).empty());
}

TEST_CASE("forbidden targets are refused by URL and by address, and recorded") {
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    auto settings = quick();
    settings.client.look_up = [](const std::string&) { return std::vector{ip_address::v4(127, 0, 0, 1)}; };
    const auto port = endpoint.url().substr(endpoint.url().rfind(':'));
    hook_dispatcher dispatcher{setup.store, settings, setup.policies(public_targets{})};
    REQUIRE(dispatcher.start());
    SECTION("the URL") {
        setup.publish(dispatcher);
        const auto attempt = setup.observer.next();
        CHECK(attempt->attempt.end == attempt_end::refused_address);
        CHECK(attempt->outcome == delivery_outcome::retry);
    }
    SECTION("the address") {
        setup.hook("http://rebound.example" + port, "site.published");
        setup.publish(dispatcher, "{}", "site.published");
        const auto attempt = setup.observer.next();
        CHECK(attempt->attempt.end == attempt_end::refused_address);
        CHECK(attempt->reason == "127.0.0.1");
    }
    CHECK(endpoint.count() == 0);
}

TEST_CASE("other hosts are served while some hang, and no host exceeds its share") {
    dispatcher_setup setup;
    receiver healthy, hanging;
    hanging.hangs = true;
    auto settings = quick();
    settings.attempts_max = 16;
    settings.slow_attempts_max = 8;
    for (int i = 0; i < 10; ++i) setup.hook(hanging.url("/" + std::to_string(i)));
    setup.hook(healthy.url(), "site.published");
    hook_dispatcher dispatcher{setup.store, settings, setup.policies()};
    REQUIRE(dispatcher.start());
    for (int i = 0; i < 5; ++i) setup.publish(dispatcher);
    for (int i = 0; i < 200; ++i) setup.publish(dispatcher, "{}", "site.published");
    for (int i = 0; i < 200; ++i) REQUIRE_FALSE(healthy.next().empty());
    CHECK(healthy.at_once_max() <= settings.per_host_max);
    const std::size_t to_unknown_host = settings.per_slow_host_max + 1;  // the last one is of a hook that has none
    for (std::size_t i = 0; i < to_unknown_host; ++i) CHECK_FALSE(hanging.next().empty());
    CHECK(hanging.count() == to_unknown_host);
    dispatcher.stop(milliseconds{0});
}

TEST_CASE("a stop lets running attempts end, or cuts them off at its deadline") {
    dispatcher_setup setup;
    receiver endpoint;
    const auto id = setup.hook(endpoint.url());
    endpoint.hangs = true;
    auto settings = quick();
    SECTION("it ends by its own timeout") {
        settings.client.attempt_timeout = milliseconds{400};
        hook_dispatcher dispatcher{setup.store, settings, setup.policies()};
        REQUIRE(dispatcher.start());
        setup.publish(dispatcher);
        REQUIRE_FALSE(endpoint.next().empty());
        dispatcher.stop(hours{1});
        REQUIRE(setup.observer.next(milliseconds{0}));
        CHECK(testing::detail::attempts_of(setup.store, shop, id, 10)->size() == 1);
        CHECK(testing::detail::attempts_of(setup.store, shop, id, 10)->front().attempt.end == attempt_end::timed_out);
    }
    SECTION("it is cut off, recorded, and sent again by the next dispatcher") {
        {
            hook_dispatcher dispatcher{setup.store, settings, setup.policies()};
            REQUIRE(dispatcher.start());
            setup.publish(dispatcher);
            REQUIRE_FALSE(endpoint.next().empty());
            dispatcher.stop(milliseconds{50});
            dispatcher.stop();  // repeated, without effect
            CHECK_FALSE(dispatcher.start());
        }
        REQUIRE(testing::detail::attempts_of(setup.store, shop, id, 10)->size() == 1);
        CHECK(testing::detail::attempts_of(setup.store, shop, id, 10)->front().attempt.end == attempt_end::broken_off);
        endpoint.hangs = false;
        hook_dispatcher next{setup.store, settings, setup.policies()};
        REQUIRE(next.start());
        CHECK_FALSE(endpoint.next().empty());
    }
    SECTION("before start") {
        hook_dispatcher dispatcher{setup.store, settings, setup.policies()};
        dispatcher.stop();
        CHECK_FALSE(dispatcher.start());
    }
    SECTION("by many threads, while it starts") {
        hook_dispatcher dispatcher{setup.store, settings, setup.policies()};
        std::vector<std::thread> all;
        for (int i = 0; i < 4; ++i) all.emplace_back([&] { dispatcher.stop(milliseconds{10}); });
        static_cast<void>(dispatcher.start());
        for (auto& each : all) each.join();
        dispatcher.stop(milliseconds{0});
    }
}

namespace {

/// Fails on demand.
struct failing_store {
    memory_store& real;
    std::atomic<int> failing_listings = 0, failing_leases = 0, failing_completions = 0, completions = 0;
    std::atomic<bool> throws = false;

    auto append_event(const event& reported, const message_seed& seed, instant now, std::optional<hook_id> only_to = {}) {
        return real.append_event(reported, seed, now, only_to);
    }
    result<due_hook_page> due_hooks(instant now, std::size_t most) {
        if (failing_listings > 0 && failing_listings-- > 0) return fail();
        return real.due_hooks(now, most);
    }
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& time) {
        if (failing_leases > 0 && failing_leases-- > 0) return fail();
        return real.lease(requests, time);
    }
    result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) {
        ++completions;
        if (failing_completions > 0 && failing_completions-- > 0) return fail();
        return real.complete(ended, now);
    }
    auto deliveries_of(const account_ref& account, const delivery_query& query) { return real.deliveries_of(account, query); }
    auto resend(const account_ref& account, const resend_request& resent, instant now) { return real.resend(account, resent, now); }
    auto sweep(const sweep_request& request) { return real.sweep(request); }

private:
    error fail() {
        if (throws) throw std::runtime_error{"a store's own"};
        return unavailable("the disk is full");
    }
};

struct no_format {
    result<void> write(const due_delivery&, instant, http::field_block&, std::string&) const { return internal_error("no words"); }
};

}  // namespace

TEST_CASE("when a store fails or throws for a while, no delivery is lost") {
    dispatcher_setup setup;
    receiver endpoint;
    const auto id = setup.hook(endpoint.url());
    failing_store store{setup.store};
    store.throws = GENERATE(false, true);
    store.failing_listings = 2;
    store.failing_leases = 2;
    store.failing_completions = 2;
    hook_dispatcher dispatcher{store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    const auto attempt = setup.observer.next();
    REQUIRE(attempt);
    CHECK(attempt->outcome == delivery_outcome::delivered);
    CHECK(setup.observer.wait_for_problem());
    CHECK(endpoint.count() == 1);
    CHECK(setup.only_delivery(id).state == delivery_state::delivered);
}

TEST_CASE("at its deadline a stop does not wait again for a failing store") {
    dispatcher_setup setup;
    receiver endpoint;
    const auto id = setup.hook(endpoint.url());
    endpoint.hangs = true;
    failing_store store{setup.store};
    const bool fails = GENERATE(false, true);
    {
        hook_dispatcher dispatcher{store, quick(), setup.policies()};
        REQUIRE(dispatcher.start());
        setup.publish(dispatcher);
        REQUIRE_FALSE(endpoint.next().empty());
        if (fails) {
            store.failing_listings = std::numeric_limits<int>::max();
            REQUIRE(setup.observer.wait_for_problem());
        }
        dispatcher.stop(milliseconds{50});
    }
    CHECK(store.completions == (fails ? 0 : 1));
    CHECK(testing::detail::attempts_of(setup.store, shop, id, 10)->size() == (fails ? 0 : 1));
}

TEST_CASE("a delivery that the payload format refuses is given up, and the reason is reported") {
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    hook_dispatcher dispatcher{setup.store, quick(), setup.policies().with_format(no_format{})};
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    CHECK(setup.observer.next()->outcome == delivery_outcome::given_up);
    CHECK(setup.observer.wait_for_problem());
    CHECK(endpoint.count() == 0);
}

TEST_CASE("an observer may stop the dispatcher that calls it") {
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    hook_dispatcher dispatcher{setup.store, quick(), setup.policies().with_format(no_format{})};
    setup.observer.on_problem_ = [&] { dispatcher.stop(); };
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    REQUIRE(setup.observer.wait_for_problem());
    dispatcher.stop();
}

TEST_CASE("an observer may end the process") {
    static dispatcher_setup* setup;
    static std::unique_ptr<hook_dispatcher> dispatcher;
    tollgate_test::child_process child{[] {
        ::alarm(100);  // the test fails if it makes no progress
        setup = new dispatcher_setup;
        setup->hook("http://127.0.0.1:9/");
        setup->observer.on_problem_ = [] { std::exit(7); };
        dispatcher = std::make_unique<hook_dispatcher>(setup->store, quick(), setup->policies().with_format(no_format{}));
        if (!dispatcher->start()) return 1;
        setup->publish(*dispatcher);
        for (;;) ::pause();
    }};
    CHECK(child.wait() == 7);
}

TEST_CASE("a child process leaves the dispatcher of its parent alone") {
    const bool on_executor = GENERATE(false, true);
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    auto context = std::make_unique<asio::io_context>();
    auto dispatcher = on_executor ? std::make_unique<hook_dispatcher>(context->get_executor(), setup.store, quick(), setup.policies())
                                  : std::make_unique<hook_dispatcher>(setup.store, quick(), setup.policies());
    REQUIRE(dispatcher->start());
    const auto deliver_one = [&] {
        setup.publish(*dispatcher);
        if (!on_executor) return setup.observer.next().has_value();
        return tollgate_test::eventually([&] {
            context->restart();
            context->poll();
            return setup.observer.next(milliseconds{1}).has_value();
        });
    };
    CHECK(deliver_one());  // its connection is kept
    for (const bool stops : {false, true}) {
        tollgate_test::child_process child{[&] {
            ::alarm(100);
            if (stops) dispatcher->stop();
            dispatcher.reset();
            context.reset();
            return 0;
        }};
        CHECK(child.wait() == 0);
    }
    CHECK(deliver_one());
    CHECK(endpoint.count() == 2);
    dispatcher->stop();
}

TEST_CASE("a dispatcher starts with settings at their bounds, and refuses settings beyond them by name") {
    dispatcher_setup setup;
    using all = hook_dispatch_settings;
    constexpr milliseconds day = hours{24}, week = 7 * day, century = 36'500 * day;
    struct time_row {
        const char* name;
        milliseconds& (*of)(all&);
        milliseconds least, most;
    };
    const time_row times[] = {
        {"client.attempt_timeout", [](all& of) -> milliseconds& { return of.client.attempt_timeout; }, milliseconds{1}, day},
        {"client.lookup_timeout", [](all& of) -> milliseconds& { return of.client.lookup_timeout; }, milliseconds{1}, day},
        {"client.connect_timeout", [](all& of) -> milliseconds& { return of.client.connect_timeout; }, milliseconds{1}, day},
        {"client.handshake_timeout", [](all& of) -> milliseconds& { return of.client.handshake_timeout; }, milliseconds{1}, day},
        {"client.body_timeout", [](all& of) -> milliseconds& { return of.client.body_timeout; }, milliseconds{1}, day},
        {"client.idle_timeout", [](all& of) -> milliseconds& { return of.client.idle_timeout; }, milliseconds{0}, century},
        {"client.connection_age_max", [](all& of) -> milliseconds& { return of.client.connection_age_max; }, milliseconds{0}, century},
        {"lease_margin", [](all& of) -> milliseconds& { return of.lease_margin; }, milliseconds{1}, day},
        {"poll_interval", [](all& of) -> milliseconds& { return of.poll_interval; }, milliseconds{1}, day},
        {"lease_interval", [](all& of) -> milliseconds& { return of.lease_interval; }, milliseconds{1}, day},
        {"history", [](all& of) -> milliseconds& { return of.history; }, milliseconds{0}, century},
        {"retry.waits", [](all& of) -> milliseconds& { return of.retry.waits.at(1); }, milliseconds{0}, week},
        {"retry.disable_after", [](all& of) -> milliseconds& { return of.retry.disable_after; }, milliseconds{0}, century},
        {"retry.retry_after_max", [](all& of) -> milliseconds& { return of.retry.retry_after_max; }, milliseconds{0}, week}};
    struct count_row {
        const char* name;
        std::size_t& (*of)(all&);
        std::size_t low = 1;
    };
    const count_row counts[] = {{"attempts_max", [](all& of) -> std::size_t& { return of.attempts_max; }},
                                {"slow_attempts_max", [](all& of) -> std::size_t& { return of.slow_attempts_max; }},
                                {"per_host_max", [](all& of) -> std::size_t& { return of.per_host_max; }},
                                {"per_slow_host_max", [](all& of) -> std::size_t& { return of.per_slow_host_max; }},
                                {"lease_max", [](all& of) -> std::size_t& { return of.lease_max; }},
                                {"per_hook_minute_max", [](all& of) -> std::size_t& { return of.per_hook_minute_max; }, 0},
                                {"client.lookup_threads_max", [](all& of) -> std::size_t& { return of.client.lookup_threads_max; }, 0},
                                {"client.addresses_max", [](all& of) -> std::size_t& { return of.client.addresses_max; }},
                                {"client.idle_connections_max", [](all& of) -> std::size_t& { return of.client.idle_connections_max; }, 0},
                                {"client.idle_per_host_max", [](all& of) -> std::size_t& { return of.client.idle_per_host_max; }, 0}};
    const auto start = [&](const all& settings) {
        hook_dispatcher dispatcher{setup.store, settings, setup.policies()};
        return dispatcher.start();
    };
    const auto refuses = [&](const all& settings, const std::string& name) {
        CAPTURE(name);
        const auto started = start(settings);
        REQUIRE_FALSE(started);
        CHECK(started.error().kind == error_kind::invalid);
        CHECK_THAT(started.error().message, Catch::StartsWith("The dispatcher setting " + name + " must be from "));
    };
    all least, most;
    for (const auto& [name, of, low, high] : times) {
        all settings;
        of(settings) = low - milliseconds{1};
        refuses(settings, name);
        of(settings) = high + milliseconds{1};
        refuses(settings, name);
        of(least) = low;
        of(most) = high;
    }
    for (const auto& [name, of, low] : counts) {
        all settings;
        if (low != 0) {
            of(settings) = low - 1;
            refuses(settings, name);
        }
        if (std::string_view{name} != "attempts_max" && std::string_view{name} != "slow_attempts_max") {
            of(settings) = 1'000'001;  // those two are reduced to what the process can open
            refuses(settings, name);
        }
        of(least) = low;
        of(most) = 1'000'000;
    }
    all settings;
    settings.retry.jitter_percent = 101;
    refuses(settings, "retry.jitter_percent");
    most.retry.jitter_percent = 100;
    least.retry.waits.clear();
    least.client.idle_connections_max = least.client.idle_per_host_max = least.client.lookup_threads_max = 0;
    least.data_bytes_max = least.per_hook_minute_max = 0;
    CHECK(start(least));
    CHECK(start(most));
}

TEST_CASE("events of another process are found without a notification") {
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    hook_dispatcher dispatcher{setup.store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    setup.publish(setup.store);
    CHECK_FALSE(endpoint.next().empty());
}

namespace {

struct telling_store : failing_store {
    std::atomic<std::uint64_t> changes = 1;
    std::atomic<int> listings = 0;
    mutable std::atomic<int> polls = 0;

    explicit telling_store(memory_store& setup) : failing_store{setup} {}
    result<due_hook_page> due_hooks(instant now, std::size_t most) {
        ++listings;
        return failing_store::due_hooks(now, most);
    }
    [[nodiscard]] std::optional<std::uint64_t> changes_seen() const noexcept {
        ++polls;
        return changes.load();
    }
};
static_assert(shared_outbox<telling_store>);

}  // namespace

TEST_CASE("a store that reports changes is queried only after a change") {
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    telling_store store{setup.store};
    auto settings = quick();
    settings.poll_interval = milliseconds{5};
    settings.lease_interval = hours{1};
    hook_dispatcher dispatcher{store, settings, setup.policies()};
    REQUIRE(dispatcher.start());
    REQUIRE(tollgate_test::eventually([&] { return store.polls >= 20; }));
    CHECK(store.listings <= 2);
    setup.publish(store);
    ++store.changes;
    CHECK_FALSE(endpoint.next().empty());
}

TEST_CASE("a dispatcher on an executor delivers while it runs, and stops even if it does not") {
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    asio::io_context context;
    auto work_guard = asio::make_work_guard(context);
    hook_dispatcher dispatcher{context.get_executor(), setup.store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    SECTION("two threads") {
        std::thread request{[&] { context.run(); }}, other{[&] { context.run(); }};
        for (int i = 0; i < 50; ++i) setup.publish(dispatcher);
        for (int i = 0; i < 51; ++i) REQUIRE_FALSE(endpoint.next().empty());
        dispatcher.stop();
        work_guard.reset();
        request.join();
        other.join();
    }
    SECTION("no thread") {
        dispatcher.stop(milliseconds{50});
        work_guard.reset();
        context.run();  // the remaining handlers have no effect
        CHECK(endpoint.count() == 0);
    }
}

TEST_CASE("a dispatcher whose executor runs late sends each delivery once") {
    dispatcher_setup setup;
    receiver endpoint;
    const auto id = setup.hook(endpoint.url());
    asio::io_context context;
    auto work_guard = asio::make_work_guard(context);
    auto settings = quick();
    settings.client.attempt_timeout = milliseconds{400};
    settings.lease_margin = milliseconds{200};
    hook_dispatcher dispatcher{context.get_executor(), setup.store, settings, setup.policies()};
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    for (int i = 0; i < 10; ++i) {  // the lease ends, repeatedly
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        setup.advance_clock(milliseconds{700});
        dispatcher.wake();
    }
    std::thread request{[&] { context.run(); }};
    CHECK(tollgate_test::eventually([&] {  // on a busy machine the first attempts may time out
        setup.advance_clock(seconds{1});
        dispatcher.wake();
        return setup.only_delivery(id).state == delivery_state::delivered;
    }));
    dispatcher.stop();
    work_guard.reset();
    request.join();
    CHECK(endpoint.count() <= testing::detail::attempts_of(setup.store, shop, id, 100)->size());
}

TEST_CASE("the executor may end before its dispatcher") {
    dispatcher_setup setup;
    receiver endpoint;
    endpoint.hangs = true;
    setup.hook(endpoint.url());
    asio::io_context context;
    const auto work_guard = asio::make_work_guard(context);
    hook_dispatcher dispatcher{context.get_executor(), setup.store, quick(), setup.policies()};
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    CHECK(tollgate_test::eventually([&] {
        context.run_for(std::chrono::milliseconds{5});
        return endpoint.count() == 1;
    }));
}

TEST_CASE("while this machine cannot connect, deliveries wait in the store and retries are rare") {
    dispatcher_setup setup;
    receiver endpoint;
    telling_store store{setup.store};
    std::vector<hook_id> hooks;
    const auto port = endpoint.url().substr(endpoint.url().rfind(':'));
    for (int i = 0; i < 20; ++i) hooks.push_back(setup.hook("http://n" + std::to_string(i) + ".example" + port));
    auto settings = quick();
    std::atomic<bool> is_short = true;
    settings.client.look_up = [&](const std::string&) {
        if (is_short) throw std::system_error{std::make_error_code(std::errc::too_many_files_open)};
        return std::vector{ip_address::v4(127, 0, 0, 1)};
    };
    hook_dispatcher dispatcher{store, settings, setup.policies()};
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(dispatcher.start());
    setup.publish(dispatcher);
    REQUIRE(setup.observer.wait_for_problem());
    CHECK(tollgate_test::eventually([&] { return store.listings > 5; }));
    CHECK(std::chrono::steady_clock::now() - began > milliseconds{300});  // at least two pauses, of 100 and 200 ms
    for (const hook_id each : hooks) {
        CHECK(testing::detail::attempts_of(setup.store, shop, each, 10)->empty());
        CHECK(setup.only_delivery(each).attempts_made == 0);
    }
    is_short = false;
    setup.advance_clock(minutes{1});
    for (int i = 0; i < 20; ++i) CHECK_FALSE(endpoint.next().empty());
    dispatcher.stop();
}

TEST_CASE("two dispatchers on one store send each delivery once") {
    dispatcher_setup setup;
    receiver endpoint;
    setup.hook(endpoint.url());
    hook_dispatcher request{setup.store, quick(), setup.policies()}, other{setup.store, quick(), setup.policies()};
    REQUIRE(request.start());
    REQUIRE(other.start());
    for (int i = 0; i < 300; ++i) setup.publish(i % 2 == 0 ? request : other);
    // A dispatcher that finds the host full with the other's deliveries leaves the webhook to the store for 75 s.
    const auto is_seen = [&] {
        for (int tries = 0; tries < 5; ++tries) {
            if (setup.observer.next(seconds{2})) return true;
            setup.advance_clock(seconds{80});
        }
        return false;
    };
    for (int i = 0; i < 300; ++i) REQUIRE(is_seen());
    request.stop();
    other.stop();
    CHECK(endpoint.count() == 300);
    CHECK(endpoint.at_once_max() <= 8);
}

namespace {

/// A database store without the key of its secrets.
class locked_store : public memory_store {
public:
    std::atomic<bool> is_locked = true;

    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& time) noexcept {
        auto leased = memory_store::lease(requests, time);
        if (leased && is_locked)
            for (due_delivery& each : *leased) {
                each.unreadable_secret = "the key is missing";
                each.secret.clear();
            }
        return leased;
    }
};

}  // namespace

TEST_CASE("a delivery whose secret cannot be read is not sent until the secret is readable") {
    dispatcher_setup setup;
    receiver endpoint;
    locked_store store;
    const auto hook = store.create_hook({.account = shop, .event = "site.created", .source = hook_source::api, .type = "webhook",
                                         .target_url = endpoint.url(), .secret = secret, .created_at = setup.now()}, 20);
    REQUIRE(hook);
    {
        hook_dispatcher dispatcher{store, quick(), setup.policies()};
        REQUIRE(dispatcher.start());
        CHECK(setup.publish(dispatcher) == 1);
        REQUIRE(setup.observer.wait_for_problem());
        CHECK(setup.observer.problem() == "the key is missing");
        CHECK(endpoint.count() == 0);
        CHECK(testing::detail::attempts_of(store, shop, *hook, 10)->empty());
    }
    CHECK(testing::detail::deliveries_of(store, shop, *hook, 10)->at(0).state == delivery_state::waiting);

    store.is_locked = false;
    hook_dispatcher dispatcher{store, quick(), setup.policies()};  // started again, with the key
    REQUIRE(dispatcher.start());
    CHECK(tollgate_test::eventually([&] {  // when its pause has ended
        setup.advance_clock(minutes{1});
        dispatcher.wake();
        return endpoint.count() == 1;
    }));
    const auto request = endpoint.next();
    const std::string id = field(request, "webhook-id"), time = field(request, "webhook-timestamp"), signature = field(request,
                                                                                                                       "webhook-signature");
    CHECK(verify_webhook(secret, {id, time, signature}, body(request), from_unix_seconds(std::stoll(time))));
    dispatcher.stop();
}

TEST_CASE("the deliveries of a disabled owner wait until the owner is enabled") {
    dispatcher_setup setup;
    receiver endpoint;
    memory_store store;
    const auto hook = store.create_hook({.account = shop, .event = "site.created", .source = hook_source::api, .type = "webhook",
                                         .target_url = endpoint.url(), .secret = secret, .created_at = setup.now()}, 20);
    REQUIRE(hook);
    std::atomic<int> asked = 0;
    std::atomic<bool> is_active = false, fails = false, throws = false;
    auto settings = quick();
    settings.is_owner_active = [&](const account_ref& account) -> result<bool> {
        CHECK(account == shop);
        ++asked;
        if (throws) throw std::runtime_error{"no answer"};
        if (fails) return unavailable("no answer");
        return is_active.load();
    };
    for (auto* failure : {static_cast<std::atomic<bool>*>(nullptr), &fails, &throws}) {
        if (failure != nullptr) *failure = true;
        const int before = asked;
        hook_dispatcher dispatcher{store, settings, setup.policies()};
        REQUIRE(dispatcher.start());
        CHECK(setup.publish(dispatcher) == 1);
        CHECK(tollgate_test::eventually([&] {
            setup.advance_clock(minutes{1});  // what waits is due again
            dispatcher.wake();
            return asked > before;
        }));
        dispatcher.stop();
        if (failure != nullptr) *failure = false;
    }
    CHECK(endpoint.count() == 0);
    CHECK(testing::detail::attempts_of(store, shop, *hook, 10)->empty());
    is_active = true;
    hook_dispatcher dispatcher{store, settings, setup.policies()};
    REQUIRE(dispatcher.start());
    CHECK(tollgate_test::eventually([&] {
        setup.advance_clock(minutes{1});
        dispatcher.wake();
        return endpoint.count() == 3;
    }));
    dispatcher.stop();
}
