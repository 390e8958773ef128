#include <tollgate/server/detail/worker_pool.hpp>

#include <catch2/catch.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace tollgate::server_detail;
using tollgate::http::work_kind;

namespace {

const worker_pool::time_point start{1h};

/// Counts the items that were completed.
class counter {
public:
    void add(bool worked) noexcept {
        const std::lock_guard hold{mutex_};
        ++(worked ? worked_ : withdrawn_);
        changed_.notify_all();
    }
    void wait_for(int count) {
        std::unique_lock hold{mutex_};
        changed_.wait(hold, [&] { return worked_ >= count; });
    }
    [[nodiscard]] int withdrawn() {
        const std::lock_guard hold{mutex_};
        return withdrawn_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int worked_ = 0;
    int withdrawn_ = 0;
};

class job final : public work_item {
public:
    job(counter& completed, std::function<void()> run) : completed_{completed}, run_{std::move(run)} {}
    std::optional<work_kind> work(bool) noexcept override {
        run_();
        return std::nullopt;
    }
    void complete(bool worked) noexcept override { completed_.add(worked); }

private:
    counter& completed_;
    std::function<void()> run_;
};

}  // namespace

TEST_CASE("all work is done and completed", "[worker_pool]") {
    for (const unsigned threads : {1U, 4U}) {
        counter completed;
        worker_pool pool{10'000};
        pool.start(threads);
        std::atomic<int> done = 0;
        std::vector<std::unique_ptr<job>> jobs;
        for (int i = 0; i < 5'000; ++i) jobs.push_back(std::make_unique<job>(completed, [&] { ++done; }));
        for (const auto& one : jobs) REQUIRE(pool.submit(*one, work_kind::other, start));
        completed.wait_for(5'000);
        CHECK(done == 5'000);
        pool.stop();
    }
}

TEST_CASE("waiting items do not delay others while there are idle workers", "[worker_pool]") {
    counter completed;
    worker_pool pool{100};
    pool.start(3);
    tollgate_test::gate gate;
    job first{completed, [&] { gate.wait(); }};
    job second{completed, [&] { gate.wait(); }};
    std::vector<std::unique_ptr<job>> quick;
    for (int i = 0; i < 20; ++i) quick.push_back(std::make_unique<job>(completed, [] {}));
    REQUIRE(pool.submit(first, work_kind::other, start));
    REQUIRE(pool.submit(second, work_kind::other, start));
    for (const auto& one : quick) REQUIRE(pool.submit(*one, work_kind::other, start));
    completed.wait_for(20);
    gate.open();
    completed.wait_for(22);
}

TEST_CASE("an item is completed before its worker begins the next one", "[worker_pool]") {
    counter completed;
    worker_pool pool{10};
    tollgate_test::gate gate;
    job quick{completed, [] {}};
    job slow{completed, [&] { gate.wait(); }};
    REQUIRE(pool.submit(quick, work_kind::other, start));
    REQUIRE(pool.submit(slow, work_kind::other, start));
    pool.start(1);
    completed.wait_for(1);
    gate.open();
    completed.wait_for(2);
}

TEST_CASE("a full queue refuses items", "[worker_pool]") {
    counter completed;
    worker_pool pool{2};
    job one{completed, [] {}};
    job two{completed, [] {}};
    job three{completed, [] {}};
    CHECK(pool.submit(one, work_kind::other, start));
    CHECK(pool.submit(two, work_kind::other, start));
    CHECK_FALSE(pool.submit(three, work_kind::other, start));
    pool.start(1);
    completed.wait_for(2);
    CHECK(pool.submit(three, work_kind::other, start));
    completed.wait_for(3);
}

TEST_CASE("queued items that are too old are completed without being worked on", "[worker_pool]") {
    counter completed;
    worker_pool pool{10};
    std::atomic<int> done = 0;
    job old{completed, [&] { ++done; }};
    job limit{completed, [&] { ++done; }};
    job young{completed, [&] { ++done; }};
    REQUIRE(pool.submit(old, work_kind::other, start));
    REQUIRE(pool.submit(limit, work_kind::other, start + 2s));
    REQUIRE(pool.submit(young, work_kind::other, start + 3s));
    pool.withdraw_older_than(start);
    CHECK(completed.withdrawn() == 0);
    pool.withdraw_older_than(start + 2s);
    CHECK(completed.withdrawn() == 1);
    SECTION("the others are worked on") {
        pool.start(1);
        completed.wait_for(2);
        CHECK(done == 2);
    }
    SECTION("unless all are withdrawn") {
        pool.withdraw_all();
        CHECK(completed.withdrawn() == 3);
        pool.start(1);
        pool.stop();
        CHECK(done == 0);
    }
}

TEST_CASE("an item that began anew counts its time from then", "[worker_pool]") {
    /// Waits for another kind of work next, as old as before or new.
    class changing_job final : public work_item {
    public:
        changing_job(counter& completed, tollgate_test::gate& running, bool begins_anew)
            : completed_{completed}, running_{running}, begins_anew_{begins_anew} {}
        std::optional<work_kind> work(bool) noexcept override {
            running_.wait();
            if (begins_anew_) begin_anew(start + 5s);
            return work_kind::store_reads;
        }
        void complete(bool worked) noexcept override { completed_.add(worked); }

    private:
        counter& completed_;
        tollgate_test::gate& running_;
        bool begins_anew_;
    };
    for (const bool begins_anew : {false, true}) {
        CAPTURE(begins_anew);
        counter completed, other_completed;
        tollgate_test::gate first, other;
        worker_pool pool{10};
        job busy{other_completed, [&] { other.wait(); }};
        changing_job changing{completed, first, begins_anew};
        pool.start(1);
        REQUIRE(pool.submit(busy, work_kind::store_reads, start + 9s));
        other.wait_for_calls(1);
        REQUIRE(pool.submit(changing, work_kind::other, start));
        first.wait_for_calls(1);
        first.open();
        REQUIRE(tollgate_test::eventually([&] { return pool.queued() == 1; }));
        pool.withdraw_older_than(start + 2s);
        CHECK(completed.withdrawn() == (begins_anew ? 0 : 1));
        pool.withdraw_all();
        CHECK(completed.withdrawn() == 1);
        other.open();
        pool.stop();
    }
}

TEST_CASE("a pool that stops completes its queue and refuses new items", "[worker_pool]") {
    counter completed;
    worker_pool pool{10};
    std::atomic<int> done = 0;
    job one{completed, [&] { ++done; }};
    job two{completed, [&] { ++done; }};
    REQUIRE(pool.submit(one, work_kind::other, start));
    pool.start(2);
    pool.stop();
    CHECK(done == 1);
    CHECK_FALSE(pool.submit(two, work_kind::other, start));
    pool.stop();
}

namespace {

/// Waits at the gate once for each kind of work in its list.
class multi_kind_item final : public work_item {
public:
    multi_kind_item(counter& completed, std::vector<work_kind> next, std::function<void()> run)
        : completed_{completed}, next_{std::move(next)}, run_{std::move(run)} {}
    std::optional<work_kind> work(bool) noexcept override {
        run_();
        if (at_ == next_.size()) return std::nullopt;
        return next_[at_++];
    }
    void complete(bool worked) noexcept override { completed_.add(worked); }

private:
    counter& completed_;
    std::vector<work_kind> next_;
    std::function<void()> run_;
    std::size_t at_ = 0;
};

}  // namespace

TEST_CASE("waiting work of one kind does not delay other kinds", "[worker_pool]") {
    counter slow_ones, quick_ones;
    worker_pool pool{100};
    pool.start(2);
    tollgate_test::gate gate;
    std::vector<std::unique_ptr<job>> jobs;
    const auto add = [&](counter& completed, work_kind kind, std::function<void()> run) {
        jobs.push_back(std::make_unique<job>(completed, std::move(run)));
        REQUIRE(pool.submit(*jobs.back(), kind, start));
    };
    // Enough to occupy all workers if they were not bounded by kind.
    for (int i = 0; i < 50; ++i) add(slow_ones, work_kind::store_writes, [&] { gate.wait(); });
    for (int i = 0; i < 50; ++i) add(quick_ones, work_kind::users, [] {});
    quick_ones.wait_for(50);
    gate.open();
    slow_ones.wait_for(50);
}

TEST_CASE("one kind of work uses at most its bound of workers", "[worker_pool]") {
    struct expected {
        work_kind kind;
        int workers;
    };
    for (const expected& row : {expected{work_kind::pages, 2}, expected{work_kind::users, 16}, expected{work_kind::sign_in, 8}}) {
        counter completed;
        worker_pool pool{100};
        pool.start(2);
        std::mutex mutex;
        std::condition_variable changed;
        int inside = 0, most = 0;
        bool is_open = false;
        std::vector<std::unique_ptr<job>> jobs;
        for (int i = 0; i < 20; ++i) {
            jobs.push_back(std::make_unique<job>(completed, [&] {
                std::unique_lock hold{mutex};
                most = (std::max)(most, ++inside);
                changed.notify_all();
                changed.wait(hold, [&] { return is_open; });
                --inside;
            }));
            REQUIRE(pool.submit(*jobs.back(), row.kind, start));
        }
        {
            std::unique_lock hold{mutex};
            changed.wait(hold, [&] { return inside == row.workers; });
            is_open = true;
            changed.notify_all();
        }
        completed.wait_for(20);
        CHECK(most == row.workers);
    }
}

TEST_CASE("an item that changes its kind continues when the new kind has capacity", "[worker_pool]") {
    counter completed, occupying;
    worker_pool pool{10};
    tollgate_test::gate gate;
    std::atomic<int> steps = 0;
    job occupant{occupying, [&] { gate.wait(); }};
    multi_kind_item one{completed, {work_kind::store_writes, work_kind::limits}, [&] { ++steps; }};
    job behind{completed, [] {}};
    REQUIRE(pool.submit(occupant, work_kind::store_writes, start));
    pool.start(1);
    gate.wait_for_calls(1);
    // One worker at most does this kind of work, so `behind` begins after the first item has left it.
    REQUIRE(pool.submit(one, work_kind::other, start));
    REQUIRE(pool.submit(behind, work_kind::other, start));
    completed.wait_for(1);  // `behind`: the first item waits to write, and occupies no worker
    CHECK(steps == 1);
    SECTION("the new kind has capacity") {
        gate.open();
        completed.wait_for(2);
        CHECK(steps == 3);
    }
    SECTION("the item is withdrawn, by its time of arrival") {
        pool.withdraw_older_than(start);
        CHECK(completed.withdrawn() == 0);
        pool.withdraw_older_than(start + 1s);
        CHECK(completed.withdrawn() == 1);
        gate.open();
    }
    occupying.wait_for(1);
}

TEST_CASE("an item that changes its kind is queued like a new one", "[worker_pool]") {
    struct arrival {
        std::chrono::seconds submitted_at;
        bool has_changed_kind;
        bool is_accepted;
        bool is_overdue;
    };
    struct variant {
        const char* name;
        std::size_t queue_max;
        std::vector<arrival> arrivals;
    };
    constexpr auto limit = 2s;
    constexpr bool changed = true, is_new = false, accepted = true, refused = false, overdue = true, in_time = false;
    const variant variants[] = {
        {"they leave in the order in which they came", 10,
         {{3s, changed, accepted, in_time}, {4s, is_new, accepted, in_time},
          {5s, changed, accepted, in_time}, {6s, changed, accepted, in_time}}},
        {"a full queue refuses it", 2,
         {{3s, is_new, accepted, in_time}, {4s, changed, accepted, in_time},
          {5s, changed, refused, in_time}, {1s, changed, refused, in_time}}},
        {"an overdue item behind one that is not", 10,
         {{3s, is_new, accepted, in_time}, {1s, changed, accepted, overdue}, {4s, is_new, accepted, in_time}}},
        {"an overdue item in front of one that has changed its kind", 10,
         {{1s, is_new, accepted, overdue}, {1s, changed, accepted, overdue}, {3s, changed, accepted, in_time}}},
    };
    for (const variant& each : variants) {
        CAPTURE(each.name);
        struct item {
            counter completed;
            std::optional<multi_kind_item> work;
        };
        std::vector<std::unique_ptr<item>> items;
        std::mutex mutex;
        std::vector<std::size_t> order;
        counter occupying, marking;
        tollgate_test::gate gate;
        worker_pool pool{each.queue_max};
        job occupant{occupying, [&] { gate.wait(); }};
        pool.start(1);
        REQUIRE(pool.submit(occupant, work_kind::store_writes, start));
        gate.wait_for_calls(1);
        std::vector<std::size_t> expected;
        for (std::size_t i = 0; i < each.arrivals.size(); ++i) {
            const arrival& row = each.arrivals[i];
            item& one = *items.emplace_back(std::make_unique<item>());
            one.work.emplace(one.completed, row.has_changed_kind ? std::vector{work_kind::store_writes} : std::vector<work_kind>{}, [&, i] {
                const std::lock_guard hold{mutex};
                order.push_back(i);
            });
            REQUIRE(pool.submit(*one.work, row.has_changed_kind ? work_kind::other : work_kind::store_writes, start + row.submitted_at));
            // One worker at most does other work, so this one begins after the item has been queued or refused.
            job mark{marking, [] {}};
            REQUIRE(pool.submit(mark, work_kind::other, start + row.submitted_at));
            marking.wait_for(static_cast<int>(i) + 1);
            if (row.is_accepted && !row.is_overdue) expected.push_back(i);
        }
        CHECK(pool.queued() == static_cast<std::size_t>(std::count_if(each.arrivals.begin(), each.arrivals.end(),
                                                                     [](const arrival& row) { return row.is_accepted; })));
        {
            const std::lock_guard hold{mutex};
            order.clear();
        }
        pool.withdraw_older_than(start + limit);
        CHECK(pool.queued() == expected.size());
        gate.open();
        pool.stop();
        CHECK(order == expected);
        for (std::size_t i = 0; i < items.size(); ++i) {
            CAPTURE(i);
            CHECK(items[i]->completed.withdrawn() == (each.arrivals[i].is_accepted && !each.arrivals[i].is_overdue ? 0 : 1));
        }
    }
}

TEST_CASE("after all items were withdrawn, a running item starts no further call", "[worker_pool]") {
    counter completed;
    worker_pool pool{10};
    tollgate_test::gate gate;
    std::atomic<int> steps = 0;
    multi_kind_item one{completed, {work_kind::users, work_kind::limits}, [&] {
                     ++steps;
                     gate.wait();
                 }};
    pool.start(1);
    REQUIRE(pool.submit(one, work_kind::credentials, start));
    gate.wait_for_calls(1);
    pool.withdraw_all();
    CHECK(completed.withdrawn() == 0);
    gate.open();
    pool.stop();
    CHECK(completed.withdrawn() == 1);
    CHECK(steps == 1);
}

TEST_CASE("each kind has its own queue", "[worker_pool]") {
    counter completed;
    worker_pool pool{1};
    job one{completed, [] {}}, two{completed, [] {}}, three{completed, [] {}};
    CHECK(pool.submit(one, work_kind::users, start));
    CHECK_FALSE(pool.submit(two, work_kind::users, start));
    CHECK(pool.submit(three, work_kind::limits, start));
    pool.start(1);
    completed.wait_for(2);
}
