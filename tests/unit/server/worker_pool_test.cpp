#include <tollgate/server/detail/worker_pool.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using namespace tollgate::server_detail;

namespace {

/// Counts what comes back, and how often it is woken.
class loop final : public completion_target {
public:
    void notify() noexcept override {
        const std::lock_guard hold{mutex_};
        woken_with_ = returned_.load();
        changed_.notify_all();
    }
    void come_back() noexcept { ++returned_; }
    void wait_for(int count) {
        std::unique_lock hold{mutex_};
        changed_.wait(hold, [&] { return woken_with_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<int> returned_ = 0;
    int woken_with_ = 0;
};

class job final : public work_item {
public:
    job(loop& from, std::function<void()> what) : from_{from}, what_{std::move(what)} {}
    void work() noexcept override { what_(); }
    completion_target& complete() noexcept override {
        from_.come_back();
        return from_;
    }

private:
    loop& from_;
    std::function<void()> what_;
};

}  // namespace

TEST_CASE("all work is done, and its loop is woken for it", "[worker_pool]") {
    for (const unsigned threads : {1U, 4U}) {
        loop from;
        worker_pool pool{10'000};
        pool.start(threads);
        std::atomic<int> done = 0;
        std::vector<std::unique_ptr<job>> jobs;
        for (int i = 0; i < 5'000; ++i) jobs.push_back(std::make_unique<job>(from, [&] { ++done; }));
        for (const auto& one : jobs) REQUIRE(pool.submit(*one));
        from.wait_for(5'000);
        CHECK(done == 5'000);
        pool.stop();
    }
}

TEST_CASE("one that waits holds up nobody while there are other workers", "[worker_pool]") {
    loop from;
    worker_pool pool{100};
    pool.start(3);
    std::mutex gate;
    gate.lock();
    job first{from, [&] { const std::lock_guard wait{gate}; }};
    job second{from, [&] { const std::lock_guard wait{gate}; }};
    std::vector<std::unique_ptr<job>> quick;
    for (int i = 0; i < 20; ++i) quick.push_back(std::make_unique<job>(from, [] {}));
    REQUIRE(pool.submit(first));
    REQUIRE(pool.submit(second));
    for (const auto& one : quick) REQUIRE(pool.submit(*one));
    from.wait_for(20);
    gate.unlock();
    from.wait_for(22);
}

TEST_CASE("a full queue takes nothing", "[worker_pool]") {
    loop from;
    worker_pool pool{2};
    job one{from, [] {}};
    job two{from, [] {}};
    job three{from, [] {}};
    CHECK(pool.submit(one));
    CHECK(pool.submit(two));
    CHECK_FALSE(pool.submit(three));
    pool.start(1);
    from.wait_for(2);
    CHECK(pool.submit(three));
    from.wait_for(3);
}

TEST_CASE("a pool that stops does what it has, and takes nothing more", "[worker_pool]") {
    loop from;
    worker_pool pool{10};
    std::atomic<int> done = 0;
    job one{from, [&] { ++done; }};
    job two{from, [&] { ++done; }};
    REQUIRE(pool.submit(one));
    pool.start(2);
    pool.stop();
    CHECK(done == 1);
    CHECK_FALSE(pool.submit(two));
    pool.stop();
}
