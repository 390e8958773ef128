#include <tollgate/server/detail/worker_pool.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace tollgate::server_detail;

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
    job(counter& completed, std::function<void()> what) : completed_{completed}, what_{std::move(what)} {}
    void work() noexcept override { what_(); }
    void complete(bool worked) noexcept override { completed_.add(worked); }

private:
    counter& completed_;
    std::function<void()> what_;
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
        for (const auto& one : jobs) REQUIRE(pool.submit(*one, start));
        completed.wait_for(5'000);
        CHECK(done == 5'000);
        pool.stop();
    }
}

TEST_CASE("items that wait hold up no others while there are idle workers", "[worker_pool]") {
    counter completed;
    worker_pool pool{100};
    pool.start(3);
    std::mutex gate;
    gate.lock();
    job first{completed, [&] { const std::lock_guard wait{gate}; }};
    job second{completed, [&] { const std::lock_guard wait{gate}; }};
    std::vector<std::unique_ptr<job>> quick;
    for (int i = 0; i < 20; ++i) quick.push_back(std::make_unique<job>(completed, [] {}));
    REQUIRE(pool.submit(first, start));
    REQUIRE(pool.submit(second, start));
    for (const auto& one : quick) REQUIRE(pool.submit(*one, start));
    completed.wait_for(20);
    gate.unlock();
    completed.wait_for(22);
}

TEST_CASE("an item is completed before its worker begins the next one", "[worker_pool]") {
    counter completed;
    worker_pool pool{10};
    std::mutex gate;
    gate.lock();
    job quick{completed, [] {}};
    job slow{completed, [&] { const std::lock_guard wait{gate}; }};
    REQUIRE(pool.submit(quick, start));
    REQUIRE(pool.submit(slow, start));
    pool.start(1);
    completed.wait_for(1);
    gate.unlock();
    completed.wait_for(2);
}

TEST_CASE("a full queue takes nothing", "[worker_pool]") {
    counter completed;
    worker_pool pool{2};
    job one{completed, [] {}};
    job two{completed, [] {}};
    job three{completed, [] {}};
    CHECK(pool.submit(one, start));
    CHECK(pool.submit(two, start));
    CHECK_FALSE(pool.submit(three, start));
    pool.start(1);
    completed.wait_for(2);
    CHECK(pool.submit(three, start));
    completed.wait_for(3);
}

TEST_CASE("queued items that are too old are completed without being worked on", "[worker_pool]") {
    counter completed;
    worker_pool pool{10};
    std::atomic<int> done = 0;
    job old{completed, [&] { ++done; }};
    job limit{completed, [&] { ++done; }};
    job young{completed, [&] { ++done; }};
    REQUIRE(pool.submit(old, start));
    REQUIRE(pool.submit(limit, start + 2s));
    REQUIRE(pool.submit(young, start + 3s));
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

TEST_CASE("a pool that stops does what it has, and takes nothing more", "[worker_pool]") {
    counter completed;
    worker_pool pool{10};
    std::atomic<int> done = 0;
    job one{completed, [&] { ++done; }};
    job two{completed, [&] { ++done; }};
    REQUIRE(pool.submit(one, start));
    pool.start(2);
    pool.stop();
    CHECK(done == 1);
    CHECK_FALSE(pool.submit(two, start));
    pool.stop();
}
