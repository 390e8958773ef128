#include "../../../examples/reference_server/hash_limiter.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using reference::hash_limiter;

namespace {

const hash_limiter::client attacker{ip_address::v4(198, 51, 100, 1), false};
const hash_limiter::client user{ip_address::v4(192, 0, 2, 1), false};
const hash_limiter::client known{ip_address::v4(198, 51, 100, 1), true};

/// Clients that wait for a permit, each on its own thread, until they are admitted or refused; admitted ones release it at once.
struct waiting_clients {
    hash_limiter& limiter;
    std::vector<std::thread> threads{};
    std::atomic<int> admitted = 0, refused = 0;

    void add(const hash_limiter::client& client) {
        const auto before = limiter.waiting();
        threads.emplace_back([this, client] {
            const hash_limiter::permit permit{limiter, client};
            ++(permit.admitted() ? admitted : refused);
        });
        while (limiter.waiting() == before && refused == 0) std::this_thread::yield();
    }
    void join() {
        for (auto& each : threads) each.join();
        threads.clear();
    }
};

}  // namespace

TEST_CASE("a hash limiter admits as many as there are slots, and refuses those that waited too long", "[hash_limiter]") {
    hash_limiter limiter{{.running_max = 2, .waiting_max = 1, .known_waiting_max = 1, .queue_wait_max = milliseconds{0}}};
    const hash_limiter::permit first{limiter, user};
    {
        const hash_limiter::permit second{limiter, attacker};
        CHECK(first.admitted());
        CHECK(second.admitted());
        CHECK_FALSE(hash_limiter::permit{limiter, user}.admitted());
    }
    CHECK(hash_limiter::permit{limiter, user}.admitted());
    CHECK(limiter.waiting() == 0);
}

TEST_CASE("when the queue is full, a waiting entry of the largest range is evicted", "[hash_limiter][threads]") {
    const auto at = [](std::string_view text) { return hash_limiter::client{*ip_address::parse(text), false}; };
    struct row {
        hash_limiter::client attacker, neighbour, user;
    };
    for (const row& each : {row{at("198.51.100.1"), at("198.51.100.250"), at("198.51.101.1")},
                            row{at("2001:db8:1::1"), at("2001:db8:1:ffff::1"), at("2001:db8:2::1")}}) {
        hash_limiter limiter{{.running_max = 1, .waiting_max = 3, .known_waiting_max = 1, .queue_wait_max = seconds{600}}};
        auto running = std::make_unique<hash_limiter::permit>(limiter, each.attacker);
        waiting_clients all{limiter};
        for (int i = 0; i < 3; ++i) all.add(each.attacker);
        CHECK_FALSE(hash_limiter::permit{limiter, each.neighbour}.admitted());  // of the same range: refused itself
        std::atomic<bool> user_admitted = false;
        std::thread signing_in{[&] { user_admitted = hash_limiter::permit{limiter, each.user}.admitted(); }};
        while (all.refused == 0) std::this_thread::yield();
        CHECK_FALSE(hash_limiter::permit{limiter, each.user}.admitted());  // with it, both ranges would have two
        running.reset();
        signing_in.join();
        all.join();
        CHECK(user_admitted);
        CHECK(all.refused == 1);
        CHECK(all.admitted == 2);
    }
}

TEST_CASE("the range with the fewest running hashes is next", "[hash_limiter][threads]") {
    hash_limiter limiter{{.running_max = 2, .waiting_max = 2, .known_waiting_max = 0, .queue_wait_max = seconds{600}}};
    const hash_limiter::permit busy{limiter, attacker};
    auto other = std::make_unique<hash_limiter::permit>(limiter, hash_limiter::client{ip_address::v4(203, 0, 113, 1), false});
    std::vector<std::string> order;
    std::vector<std::thread> threads;
    for (const auto& [client, name] : {std::pair{attacker, "attacker"}, {user, "user"}}) {
        const auto before = limiter.waiting();
        threads.emplace_back([&, from = client, who = name] {
            const hash_limiter::permit permit{limiter, from};
            order.push_back(who);  // one at a time: the other slot is busy
        });
        while (limiter.waiting() == before) std::this_thread::yield();
    }
    other.reset();
    for (auto& each : threads) each.join();
    CHECK(order == std::vector<std::string>{"user", "attacker"});
}

TEST_CASE("known browsers do not use every slot", "[hash_limiter][threads]") {
    const hash_limiter::client known_elsewhere{ip_address::v4(203, 0, 113, 1), true};
    struct order {
        std::vector<hash_limiter::client> waiting;
        std::vector<std::size_t> admitted;
    };
    for (const auto& [waiting, admitted] : {
             order{{known, known, user, user}, {2, 0, 3, 1}},
             order{{known, known_elsewhere, user, known}, {1, 0, 2, 3}},
             order{{attacker, user, known_elsewhere}, {1, 2, 0}},
         }) {
        hash_limiter limiter{{.running_max = 1, .waiting_max = 4, .known_waiting_max = 4, .queue_wait_max = seconds{600}}};
        auto running = std::make_unique<hash_limiter::permit>(limiter, known);
        std::vector<std::size_t> order;
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            threads.emplace_back([&, i, client = waiting[i]] {
                const hash_limiter::permit permit{limiter, client};
                order.push_back(i);  // one at a time
            });
            while (limiter.waiting() == i) std::this_thread::yield();
        }
        running.reset();
        for (auto& each : threads) each.join();
        CHECK(order == admitted);
    }
}

TEST_CASE("known browsers have their own slots", "[hash_limiter][threads]") {
    hash_limiter limiter{{.running_max = 1, .waiting_max = 2, .known_waiting_max = 1, .queue_wait_max = seconds{600}}};
    auto running = std::make_unique<hash_limiter::permit>(limiter, attacker);
    waiting_clients unknown_clients{limiter};
    for (int i = 0; i < 2; ++i) unknown_clients.add(attacker);
    waiting_clients known_clients{limiter};
    known_clients.add(known);
    CHECK(limiter.waiting() == 3);
    CHECK_FALSE(hash_limiter::permit{limiter, known}.admitted());
    running.reset();
    known_clients.join();
    unknown_clients.join();
    CHECK(known_clients.admitted == 1);
    CHECK(unknown_clients.admitted == 2);
}

TEST_CASE("ranges that were admitted recently do not keep a new one out", "[hash_limiter][threads]") {
    hash_limiter limiter{{.running_max = 1, .waiting_max = 4, .known_waiting_max = 1, .queue_wait_max = seconds{600}}};
    const auto attacker_in = [](int range) { return hash_limiter::client{ip_address::v4(198, 51, static_cast<std::uint8_t>(range), 1), false}; };
    for (int range = 0; range < 6; ++range) REQUIRE(hash_limiter::permit{limiter, attacker_in(range)}.admitted());
    for (int attempt = 0; attempt < 10; ++attempt) {
        auto running = std::make_unique<hash_limiter::permit>(limiter, attacker_in(0));
        waiting_clients attackers{limiter};
        for (int range = 1; range < 5; ++range) attackers.add(attacker_in(range));
        // Each range has one client in the queue. One of them is refused for the user, and one for each attacker who tries again.
        const hash_limiter::client new_user{ip_address::v4(192, 0, static_cast<std::uint8_t>(attempt), 1), false};
        std::atomic<bool> user_admitted = false;
        std::atomic<int> user_refused = 0;
        std::thread signing_in{[&] {
            if (hash_limiter::permit{limiter, new_user}.admitted()) user_admitted = true;
            else ++user_refused;
        }};
        while (attackers.refused + user_refused < 1) std::this_thread::yield();
        for (int range = 1; range < 6; ++range) attackers.add(attacker_in(range));
        while (attackers.refused + user_refused < 6) std::this_thread::yield();
        running.reset();
        signing_in.join();
        attackers.join();
        CHECK(user_admitted);
    }
}

TEST_CASE("what was admitted is forgotten after a bounded number of admissions", "[hash_limiter]") {
    hash_limiter limiter{{.running_max = 1, .waiting_max = 1, .known_waiting_max = 1, .queue_wait_max = milliseconds{0}}};
    for (unsigned i = 0; i < 10'000; ++i) {
        const auto address = ip_address::v4(10, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i), 1);
        REQUIRE(hash_limiter::permit{limiter, {address, false}}.admitted());
    }
    CHECK(limiter.remembered_ranges() <= 4096);
}
