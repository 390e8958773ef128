#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <tollgate/store/memory.hpp>
#include <tollgate/webhooks/verify.hpp>

#include <support/eventually.hpp>
#include <support/fakes.hpp>
#include <support/scripted_peer.hpp>

#include <catch2/catch.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using tollgate_test::peer_line;
using tollgate_test::scripted_peer;
using std::chrono::hours;
using std::chrono::minutes;

namespace {

const account_ref shop{*service_name::from("sitesmaker"), account_id{1}};
const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

std::string status_line(unsigned status, const std::string& fields = {}) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 0\r\n" + fields + "\r\n";
}

/// A clock that may be read by many threads while a test turns it.
struct turned_clock {
    const std::atomic<std::int64_t>* milliseconds_since_1970;
    [[nodiscard]] instant now() const noexcept { return from_unix_milliseconds(*milliseconds_since_1970); }
};

/// Takes requests and answers what it is told; a test waits for them one by one.
class receiver {
public:
    std::atomic<unsigned> status = 200;
    std::string fields;
    std::atomic<bool> hangs = false;

    [[nodiscard]] std::string url(const std::string& path = "/") const {
        return "http://127.0.0.1:" + std::to_string(peer_.port()) + path;
    }
    /// The next request that has not been asked for; empty when there is none in time.
    std::string next(milliseconds patience = minutes{1}) {
        std::unique_lock hold{mutex_};
        if (!came_.wait_for(hold, patience, [this] { return taken_ < seen_.size(); })) return {};
        return seen_[taken_++];
    }
    std::size_t count() {
        const std::lock_guard hold{mutex_};
        return seen_.size();
    }
    std::size_t at_once_max() const { return at_once_max_; }

private:
    void play(peer_line& line) {
        for (std::string one = line.read_request(); !one.empty(); one = line.read_request()) {
            const std::size_t at_once = ++at_once_;
            for (std::size_t most = at_once_max_; at_once > most && !at_once_max_.compare_exchange_weak(most, at_once);) {
            }
            {
                const std::lock_guard hold{mutex_};
                seen_.push_back(std::move(one));
                came_.notify_all();
            }
            if (hangs) {
                line.wait_for_the_end();
                --at_once_;
                return;
            }
            --at_once_;
            line.write(status_line(status, fields));
        }
    }

    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<std::string> seen_;
    std::size_t taken_ = 0;
    std::atomic<std::size_t> at_once_ = 0, at_once_max_ = 0;
    scripted_peer peer_{[this](peer_line& line, int) { play(line); }};
};

std::string field(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}
std::string body(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

/// What a dispatcher told of its attempts.
class watcher {
public:
    struct seen {
        attempt made;
        delivery_outcome outcome;
        instant retry_at;
        completion result;
        std::string why;
        std::string trace_id;
        std::string span_id;
    };
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record& record) const noexcept {
        const std::lock_guard hold{mutex_};
        problems_.push_back(record.error.cause);
        if (on_problem_) on_problem_();
        came_.notify_all();
    }
    void on_attempt(const delivery_record& record) const noexcept {
        const std::lock_guard hold{mutex_};
        const auto& [delivery, attempt, result, why, trace_id, span_id] = record;
        seen_.push_back({attempt.made, attempt.outcome, attempt.retry_at, result, std::string{why}, std::string{trace_id},
                         std::string{span_id}});
        came_.notify_all();
    }

    std::optional<seen> next(milliseconds patience = minutes{1}) {
        std::unique_lock hold{mutex_};
        if (!came_.wait_for(hold, patience, [this] { return taken_ < seen_.size(); })) return std::nullopt;
        return seen_[taken_++];
    }
    bool wait_for_problem() {
        std::unique_lock hold{mutex_};
        return came_.wait_for(hold, minutes{1}, [this] { return !problems_.empty(); });
    }
    /// The first one.
    std::string problem() {
        const std::lock_guard hold{mutex_};
        return problems_.empty() ? std::string{} : problems_.front();
    }
    std::function<void()> on_problem_;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable came_;
    mutable std::vector<seen> seen_;
    mutable std::vector<std::string> problems_;
    std::size_t taken_ = 0;
};
static_assert(delivery_observer<watcher>);

/// Looks for work all the time, and waits long for receivers, which a busy machine may delay.
hook_dispatch_settings quick() {
    hook_dispatch_settings with;
    with.client.attempt_timeout = with.client.connect_timeout = with.client.lookup_timeout = minutes{10};
    with.poll_interval = with.claim_interval = milliseconds{20};
    with.retry.jitter_percent = 0;
    return with;
}

/// A store, a clock that stands, and a dispatcher over them.
class office {
public:
    std::atomic<std::int64_t> now_milliseconds = 1'700'000'000'000;
    memory_store store;
    watcher seen;

    [[nodiscard]] instant now() const { return from_unix_milliseconds(now_milliseconds); }
    void turn_clock(milliseconds by) { now_milliseconds += by.count(); }

    auto policies(public_targets rule = {.private_allowed = true}) {
        return default_policies()
            .with_clock(turned_clock{&now_milliseconds})
            .with_target_rule(rule)
            .with_observer(std::ref(seen));
    }
    hook_id hook(const std::string& url, const std::string& event = "site.created") {
        const auto made = store.create_hook({.account = shop, .event = event, .source = hook_source::api, .type = "webhook",
                                             .target_url = url, .secret = secret, .created_at = now()}, 2000);
        REQUIRE(made);
        return *made;
    }
    std::size_t publish(auto& to, const std::string& data = R"({"n":1})", const std::string& event = "site.created") {
        message_seed seed{};
        for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::byte>(++published_ >> (i * 3));
        const auto made = to.append_event({shop, event, data, now()}, seed, now());
        REQUIRE(made);
        return *made;
    }
    delivery only_delivery(hook_id of) {
        const auto all = store.deliveries_of(shop, of, 10);
        REQUIRE((all && all->size() == 1));
        return all->front();
    }

private:
    std::uint64_t published_ = 0;
};

}  // namespace

TEST_CASE("an event is delivered at once, signed and in the payload format") {
    office of;
    receiver there;
    const auto id = of.hook(there.url("/in?x=y"));
    auto with = quick();
    with.poll_interval = with.claim_interval = hours{1};  // so that nothing but the append wakes it
    hook_dispatcher dispatcher{of.store, with, of.policies()};
    REQUIRE(dispatcher.start());
    std::string got;
    for (int i = 0; i < 5; ++i) {
        CHECK(of.publish(dispatcher) == 1);
        got = there.next();
    }

    CHECK(got.starts_with("POST /in?x=y HTTP/1.1\r\n"));
    CHECK(field(got, "User-Agent").starts_with("Tollgate/"));
    CHECK(field(got, "Content-Type") == "application/json");
    CHECK(field(got, "webhook-timestamp") == "1700000000");
    CHECK(body(got) == R"({"type":"site.created","timestamp":"2023-11-14T22:13:20Z","service":"sitesmaker","account":1,"data":{"n":1}})");
    const std::string id_text = field(got, "webhook-id"), time = field(got, "webhook-timestamp"), signature = field(got, "webhook-signature");
    CHECK(verify_webhook(secret, {id_text, time, signature}, body(got), of.now()));
    CHECK_FALSE(verify_webhook(secret, {id_text, time, signature}, body(got) + " ", of.now()));

    const auto told = of.seen.next();
    REQUIRE(told);
    CHECK(told->outcome == delivery_outcome::delivered);
    CHECK(told->made.at == of.now());
    CHECK(told->result == completion::done);
    dispatcher.stop();
    CHECK(of.store.deliveries_of(shop, id, 10)->front().state == delivery_state::delivered);
}

TEST_CASE("while a secret is being replaced both sign, and afterwards only the new one") {
    office of;
    receiver there;
    const auto id = of.hook(there.url());
    const std::string newer = "whsec_" + std::string(43, 'A') + "=";
    REQUIRE(*of.store.replace_hook_secret(shop, id, newer, of.now() + hours{24}));
    hook_dispatcher dispatcher{of.store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    for (const bool both : {true, false}) {
        of.publish(dispatcher);
        const std::string got = there.next();
        const std::string id_text = field(got, "webhook-id"), time = field(got, "webhook-timestamp"), signature = field(got, "webhook-signature");
        CHECK(bool(verify_webhook(newer, {id_text, time, signature}, body(got), of.now())));
        CHECK(bool(verify_webhook(secret, {id_text, time, signature}, body(got), of.now())) == both);
        of.turn_clock(hours{25});
    }
}

TEST_CASE("a failure is retried as planned, with the same id and a new timestamp and signature, and finally given up") {
    office of;
    receiver there;
    there.status = 503;
    const auto id = of.hook(there.url());
    hook_dispatcher dispatcher{of.store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    const milliseconds waits[] = {seconds{5}, minutes{5}, minutes{30}, hours{2}, hours{5}, hours{10}, hours{10}};
    const std::string first = there.next();
    std::string last = first;
    std::set<std::string> traces, spans;
    for (std::size_t i = 0;; ++i) {
        const auto told = of.seen.next();
        REQUIRE(told);
        CHECK(told->made.status == 503);
        traces.insert(told->trace_id);
        spans.insert(told->span_id);
        CHECK(field(last, "traceparent") == "00-" + told->trace_id + "-" + told->span_id + "-01");
        if (i == 7) {
            CHECK(told->outcome == delivery_outcome::given_up);
            break;
        }
        CHECK(told->outcome == delivery_outcome::retry);
        CHECK(told->retry_at - of.now() <= waits[i]);
        CHECK(told->retry_at - of.now() >= waits[i] - milliseconds{1});
        of.turn_clock(waits[i] - milliseconds{10});
        dispatcher.wake();
        CHECK(there.next(milliseconds{i == 0 ? 80 : 0}).empty());
        of.turn_clock(milliseconds{10});
        dispatcher.wake();
        const std::string again = there.next();
        CHECK(field(again, "webhook-id") == field(first, "webhook-id"));
        CHECK(field(again, "webhook-timestamp") == std::to_string(to_unix_seconds(of.now())));
        CHECK(field(again, "webhook-signature") != field(first, "webhook-signature"));
        CHECK(body(again) == body(first));
        last = again;
    }
    CHECK(traces.size() == 1);  // all attempts are in one trace
    CHECK(spans.size() == 8);
    CHECK(http::traceparent::parse(field(last, "traceparent")));
    CHECK(of.only_delivery(id).state == delivery_state::given_up);
    of.turn_clock(hours{1000});
    dispatcher.wake();
    CHECK(there.next(milliseconds{50}).empty());
    CHECK(of.store.attempts_of(shop, id, 100)->size() == 8);
}

TEST_CASE("a 410 disables a hook, and so do 120 hours without a success") {
    office of;
    receiver there;
    hook_dispatcher dispatcher{of.store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    SECTION("gone") {
        there.status = 410;
        of.hook(there.url());
        of.publish(dispatcher);
        const auto told = of.seen.next();
        REQUIRE(told);
        CHECK(told->outcome == delivery_outcome::gone);
        CHECK(told->result == completion::hook_disabled);
        CHECK(of.publish(dispatcher) == 0);
    }
    SECTION("failing") {
        there.status = 500;
        of.hook(there.url());
        of.publish(dispatcher);
        REQUIRE(of.seen.next());
        of.turn_clock(hours{119});
        of.publish(dispatcher);
        for (int i = 0; i < 2; ++i) CHECK(of.seen.next()->result == completion::done);
        of.turn_clock(hours{1});
        of.publish(dispatcher);
        const auto told = of.seen.next();
        REQUIRE(told);
        CHECK(told->result == completion::hook_disabled);
        CHECK(of.publish(dispatcher) == 0);
    }
    SECTION("a success in between restarts the time") {
        of.hook(there.url());
        struct step {
            unsigned status;
            int attempts;  // of the event that is reported, and of one that has failed before
        };
        for (const auto& [status, attempts] : {step{500, 1}, step{200, 2}, step{500, 1}, step{500, 2}}) {
            there.status = status;
            of.publish(dispatcher);
            for (int i = 0; i < attempts; ++i) CHECK(of.seen.next()->result == completion::done);
            of.turn_clock(hours{60});
        }
    }
}

TEST_CASE("a deleted hook gets no further attempt") {
    office of;
    receiver there;
    there.status = 500;
    const auto id = of.hook(there.url());
    hook_dispatcher dispatcher{of.store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    REQUIRE(of.seen.next());
    REQUIRE(of.store.delete_hook(shop, id));
    of.turn_clock(hours{1});
    dispatcher.wake();
    CHECK(there.count() == 1);
    CHECK(there.next(seconds{1}).size() > 0);
    CHECK(there.next(milliseconds{60}).empty());
}

TEST_CASE("forbidden targets are refused by URL and by address, and recorded") {
    office of;
    receiver there;
    of.hook(there.url());
    auto with = quick();
    with.client.look_up = [](const std::string&) { return std::vector{ip_address::v4(127, 0, 0, 1)}; };
    const auto port = there.url().substr(there.url().rfind(':'));
    hook_dispatcher dispatcher{of.store, with, of.policies(public_targets{})};
    REQUIRE(dispatcher.start());
    SECTION("the URL") {
        of.publish(dispatcher);
        const auto told = of.seen.next();
        CHECK(told->made.end == attempt_end::refused_address);
        CHECK(told->outcome == delivery_outcome::retry);
    }
    SECTION("the address") {
        of.hook("http://rebound.example" + port, "site.published");
        of.publish(dispatcher, "{}", "site.published");
        const auto told = of.seen.next();
        CHECK(told->made.end == attempt_end::refused_address);
        CHECK(told->why == "127.0.0.1");
    }
    CHECK(there.count() == 0);
}

TEST_CASE("other hosts are served while some hang, and no host exceeds its share") {
    office of;
    receiver healthy, hanging;
    hanging.hangs = true;
    auto with = quick();
    with.attempts_max = 16;
    with.slow_attempts_max = 8;
    for (int i = 0; i < 10; ++i) of.hook(hanging.url("/" + std::to_string(i)));
    of.hook(healthy.url(), "site.published");
    hook_dispatcher dispatcher{of.store, with, of.policies()};
    REQUIRE(dispatcher.start());
    for (int i = 0; i < 5; ++i) of.publish(dispatcher);
    for (int i = 0; i < 200; ++i) of.publish(dispatcher, "{}", "site.published");
    for (int i = 0; i < 200; ++i) REQUIRE_FALSE(healthy.next().empty());
    CHECK(healthy.at_once_max() <= with.per_host_max);
    for (std::size_t i = 0; i < with.per_slow_host_max; ++i) CHECK_FALSE(hanging.next().empty());
    CHECK(hanging.count() == with.per_slow_host_max);
    dispatcher.stop(milliseconds{0});
}

TEST_CASE("a stop lets running attempts end, or cuts them off at its deadline") {
    office of;
    receiver there;
    const auto id = of.hook(there.url());
    there.hangs = true;
    auto with = quick();
    SECTION("it ends, by its own time-out") {
        with.client.attempt_timeout = milliseconds{400};
        hook_dispatcher dispatcher{of.store, with, of.policies()};
        REQUIRE(dispatcher.start());
        of.publish(dispatcher);
        REQUIRE_FALSE(there.next().empty());
        dispatcher.stop(hours{1});
        REQUIRE(of.seen.next(milliseconds{0}));
        CHECK(of.store.attempts_of(shop, id, 10)->size() == 1);
        CHECK(of.store.attempts_of(shop, id, 10)->front().made.end == attempt_end::timed_out);
    }
    SECTION("it is cut off, recorded, and sent again by the next dispatcher") {
        {
            hook_dispatcher dispatcher{of.store, with, of.policies()};
            REQUIRE(dispatcher.start());
            of.publish(dispatcher);
            REQUIRE_FALSE(there.next().empty());
            dispatcher.stop(milliseconds{50});
            dispatcher.stop();  // again, to no harm
            CHECK_FALSE(dispatcher.start());
        }
        REQUIRE(of.store.attempts_of(shop, id, 10)->size() == 1);
        CHECK(of.store.attempts_of(shop, id, 10)->front().made.end == attempt_end::broken_off);
        there.hangs = false;
        hook_dispatcher next{of.store, with, of.policies()};
        REQUIRE(next.start());
        CHECK_FALSE(there.next().empty());
    }
    SECTION("before start") {
        hook_dispatcher dispatcher{of.store, with, of.policies()};
        dispatcher.stop();
        CHECK_FALSE(dispatcher.start());
    }
    SECTION("by many threads, while it starts") {
        hook_dispatcher dispatcher{of.store, with, of.policies()};
        std::vector<std::thread> all;
        for (int i = 0; i < 4; ++i) all.emplace_back([&] { dispatcher.stop(milliseconds{10}); });
        static_cast<void>(dispatcher.start());
        for (auto& each : all) each.join();
        dispatcher.stop(milliseconds{0});
    }
}

namespace {

/// Fails when it is told to.
struct failing_store {
    memory_store& real;
    std::atomic<int> failing_listings = 0, failing_leases = 0, failing_completions = 0, completions = 0;
    std::atomic<bool> throws = false;

    auto append_event(const event& happened, const message_seed& seed, instant now) { return real.append_event(happened, seed, now); }
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
    auto deliveries_of(const account_ref& account, hook_id of, std::size_t most, std::optional<delivery_id> before,
                       std::optional<delivery_state> state) {
        return real.deliveries_of(account, of, most, before, state);
    }
    auto append_event_to(hook_id to, const event& happened, const message_seed& seed, instant now) {
        return real.append_event_to(to, happened, seed, now);
    }
    auto resend_given_up(const account_ref& account, hook_id of, instant since, std::size_t most, instant now) {
        return real.resend_given_up(account, of, since, most, now);
    }
    auto attempts_of(const account_ref& account, hook_id of, std::size_t most, std::optional<delivery_id> which) {
        return real.attempts_of(account, of, most, which);
    }
    auto resend(const account_ref& account, delivery_id id, instant now) { return real.resend(account, id, now); }
    auto enable_hook(const account_ref& account, hook_id id, instant now) { return real.enable_hook(account, id, now); }
    auto sweep_deliveries(instant before, std::size_t most) { return real.sweep_deliveries(before, most); }

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

TEST_CASE("a store that fails or throws for a while loses nothing") {
    office of;
    receiver there;
    const auto id = of.hook(there.url());
    failing_store store{of.store};
    store.throws = GENERATE(false, true);
    store.failing_listings = 2;
    store.failing_leases = 2;
    store.failing_completions = 2;
    hook_dispatcher dispatcher{store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    const auto told = of.seen.next();
    REQUIRE(told);
    CHECK(told->outcome == delivery_outcome::delivered);
    CHECK(of.seen.wait_for_problem());
    CHECK(there.count() == 1);
    CHECK(of.only_delivery(id).state == delivery_state::delivered);
}

TEST_CASE("at its deadline a stop does not wait again for a store that fails") {
    office of;
    receiver there;
    const auto id = of.hook(there.url());
    there.hangs = true;
    failing_store store{of.store};
    const bool fails = GENERATE(false, true);
    {
        hook_dispatcher dispatcher{store, quick(), of.policies()};
        REQUIRE(dispatcher.start());
        of.publish(dispatcher);
        REQUIRE_FALSE(there.next().empty());
        if (fails) {
            store.failing_listings = std::numeric_limits<int>::max();
            REQUIRE(of.seen.wait_for_problem());
        }
        dispatcher.stop(milliseconds{50});
    }
    CHECK(store.completions == (fails ? 0 : 1));
    CHECK(of.store.attempts_of(shop, id, 10)->size() == (fails ? 0 : 1));
}

TEST_CASE("a delivery that the payload format refuses is given up, and the reason is reported") {
    office of;
    receiver there;
    of.hook(there.url());
    hook_dispatcher dispatcher{of.store, quick(), of.policies().with_format(no_format{})};
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    CHECK(of.seen.next()->outcome == delivery_outcome::given_up);
    CHECK(of.seen.wait_for_problem());
    CHECK(there.count() == 0);
}

TEST_CASE("an observer may stop the dispatcher that calls it") {
    office of;
    receiver there;
    of.hook(there.url());
    hook_dispatcher dispatcher{of.store, quick(), of.policies().with_format(no_format{})};
    of.seen.on_problem_ = [&] { dispatcher.stop(); };
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    REQUIRE(of.seen.wait_for_problem());
    dispatcher.stop();
}

TEST_CASE("events of another process are found without a notification") {
    office of;
    receiver there;
    of.hook(there.url());
    hook_dispatcher dispatcher{of.store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    of.publish(of.store);
    CHECK_FALSE(there.next().empty());
}

namespace {

struct telling_store : failing_store {
    std::atomic<std::uint64_t> changes = 1;
    std::atomic<int> listings = 0;

    explicit telling_store(memory_store& of) : failing_store{of} {}
    result<due_hook_page> due_hooks(instant now, std::size_t most) {
        ++listings;
        return failing_store::due_hooks(now, most);
    }
    [[nodiscard]] std::optional<std::uint64_t> changes_seen() const noexcept { return changes.load(); }
};
static_assert(shared_outbox<telling_store>);

}  // namespace

TEST_CASE("a store that reports changes is queried only after a change") {
    office of;
    receiver there;
    of.hook(there.url());
    telling_store store{of.store};
    auto with = quick();
    with.poll_interval = milliseconds{5};
    with.claim_interval = hours{1};
    hook_dispatcher dispatcher{store, with, of.policies()};
    REQUIRE(dispatcher.start());
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    CHECK(store.listings <= 2);
    of.publish(store);
    ++store.changes;
    CHECK_FALSE(there.next().empty());
}

TEST_CASE("a dispatcher on an executor delivers while it runs, and stops even if it does not") {
    office of;
    receiver there;
    of.hook(there.url());
    asio::io_context context;
    auto stay = asio::make_work_guard(context);
    hook_dispatcher dispatcher{context.get_executor(), of.store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    SECTION("two threads") {
        std::thread one{[&] { context.run(); }}, other{[&] { context.run(); }};
        for (int i = 0; i < 50; ++i) of.publish(dispatcher);
        for (int i = 0; i < 51; ++i) REQUIRE_FALSE(there.next().empty());
        dispatcher.stop();
        stay.reset();
        one.join();
        other.join();
    }
    SECTION("no thread") {
        dispatcher.stop(milliseconds{50});
        stay.reset();
        context.run();  // what was left comes to nothing
        CHECK(there.count() == 0);
    }
}

TEST_CASE("a dispatcher whose executor runs late sends each delivery once") {
    office of;
    receiver there;
    const auto id = of.hook(there.url());
    asio::io_context context;
    auto stay = asio::make_work_guard(context);
    auto with = quick();
    with.client.attempt_timeout = milliseconds{400};
    with.lease_margin = milliseconds{200};
    hook_dispatcher dispatcher{context.get_executor(), of.store, with, of.policies()};
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    for (int i = 0; i < 10; ++i) {  // the lease is over, again and again
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        of.turn_clock(milliseconds{700});
        dispatcher.wake();
    }
    std::thread one{[&] { context.run(); }};
    CHECK(tollgate_test::eventually([&] {  // on a busy machine the first attempts may time out
        of.turn_clock(seconds{1});
        dispatcher.wake();
        return of.only_delivery(id).state == delivery_state::delivered;
    }));
    dispatcher.stop();
    stay.reset();
    one.join();
    CHECK(there.count() <= of.store.attempts_of(shop, id, 100)->size());
}

TEST_CASE("the executor may end before its dispatcher") {
    office of;
    receiver there;
    there.hangs = true;
    of.hook(there.url());
    asio::io_context context;
    const auto stay = asio::make_work_guard(context);
    hook_dispatcher dispatcher{context.get_executor(), of.store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    CHECK(tollgate_test::eventually([&] {
        context.run_for(std::chrono::milliseconds{5});
        return there.count() == 1;
    }));
}

TEST_CASE("while this machine cannot connect, deliveries wait in the store and retries are rare") {
    office of;
    receiver there;
    telling_store store{of.store};
    std::vector<hook_id> hooks;
    const auto port = there.url().substr(there.url().rfind(':'));
    for (int i = 0; i < 20; ++i) hooks.push_back(of.hook("http://n" + std::to_string(i) + ".example" + port));
    auto with = quick();
    std::atomic<bool> is_short = true;
    with.client.look_up = [&](const std::string&) {
        if (is_short) throw std::system_error{std::make_error_code(std::errc::too_many_files_open)};
        return std::vector{ip_address::v4(127, 0, 0, 1)};
    };
    hook_dispatcher dispatcher{store, with, of.policies()};
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(dispatcher.start());
    of.publish(dispatcher);
    REQUIRE(of.seen.wait_for_problem());
    CHECK(tollgate_test::eventually([&] { return store.listings > 5; }));
    CHECK(std::chrono::steady_clock::now() - began > milliseconds{300});  // two pauses at least, of 100 and 200 ms
    for (const hook_id each : hooks) {
        CHECK(of.store.attempts_of(shop, each, 10)->empty());
        CHECK(of.only_delivery(each).attempts_made == 0);
    }
    is_short = false;
    of.turn_clock(minutes{1});
    for (int i = 0; i < 20; ++i) CHECK_FALSE(there.next().empty());
    dispatcher.stop();
}

TEST_CASE("two dispatchers on one store send each delivery once") {
    office of;
    receiver there;
    of.hook(there.url());
    hook_dispatcher one{of.store, quick(), of.policies()}, other{of.store, quick(), of.policies()};
    REQUIRE(one.start());
    REQUIRE(other.start());
    for (int i = 0; i < 300; ++i) of.publish(i % 2 == 0 ? one : other);
    // A dispatcher that finds the host full with the other's deliveries leaves the webhook to the store for 75 s.
    const auto is_seen = [&] {
        for (int tries = 0; tries < 5; ++tries) {
            if (of.seen.next(seconds{2})) return true;
            of.turn_clock(seconds{80});
        }
        return false;
    };
    for (int i = 0; i < 300; ++i) REQUIRE(is_seen());
    one.stop();
    other.stop();
    CHECK(there.count() == 300);
    CHECK(there.at_once_max() <= 8);
}

namespace {

/// As a database store is without the key of its secrets.
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

TEST_CASE("a delivery whose secret cannot be read is not sent, and waits until it can") {
    office of;
    receiver there;
    locked_store store;
    const auto hook = store.create_hook({.account = shop, .event = "site.created", .source = hook_source::api, .type = "webhook",
                                         .target_url = there.url(), .secret = secret, .created_at = of.now()}, 20);
    REQUIRE(hook);
    hook_dispatcher dispatcher{store, quick(), of.policies()};
    REQUIRE(dispatcher.start());
    CHECK(of.publish(dispatcher) == 1);
    REQUIRE(of.seen.wait_for_problem());
    CHECK(of.seen.problem() == "the key is missing");
    CHECK(there.count() == 0);
    CHECK(store.attempts_of(shop, *hook, 10)->empty());
    CHECK(store.deliveries_of(shop, *hook, 10)->at(0).state == delivery_state::waiting);

    store.is_locked = false;
    CHECK(tollgate_test::eventually([&] {  // when its pause is over
        of.turn_clock(minutes{1});
        dispatcher.wake();
        return there.count() == 1;
    }));
    const auto got = there.next();
    const std::string id = field(got, "webhook-id"), time = field(got, "webhook-timestamp"), signature = field(got, "webhook-signature");
    CHECK(verify_webhook(secret, {id, time, signature}, body(got), from_unix_seconds(std::stoll(time))));
    dispatcher.stop();
}
