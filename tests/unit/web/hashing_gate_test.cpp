#include "../../../examples/reference_server/hashing_gate.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace tollgate;
using reference::hashing_gate;

namespace {

const hashing_gate::client attacker{ip_address::v4(198, 51, 100, 1), false};
const hashing_gate::client neighbour{ip_address::v4(198, 51, 100, 250), false};
const hashing_gate::client user{ip_address::v4(192, 0, 2, 1), false};
const hashing_gate::client known{ip_address::v4(198, 51, 100, 1), true};

/// Clients that wait at a gate, each on a thread, until they are admitted or refused; admitted ones leave at once.
struct crowd {
    hashing_gate& gate;
    std::vector<std::thread> threads{};
    std::atomic<int> admitted = 0, refused = 0;

    void add(const hashing_gate::client& who) {
        const auto before = gate.waiting();
        threads.emplace_back([this, who] {
            const hashing_gate::place place{gate, who};
            ++(place.admitted() ? admitted : refused);
        });
        while (gate.waiting() == before && refused == 0) std::this_thread::yield();
    }
    void join() {
        for (auto& each : threads) each.join();
        threads.clear();
    }
};

}  // namespace

TEST_CASE("a gate admits as many as there are slots, and refuses those that waited too long", "[hashing_gate]") {
    hashing_gate gate{{.inside_max = 2, .waiting_max = 1, .known_waiting_max = 1, .patience = milliseconds{0}}};
    const hashing_gate::place first{gate, user};
    {
        const hashing_gate::place second{gate, attacker};
        CHECK(first.admitted());
        CHECK(second.admitted());
        CHECK_FALSE(hashing_gate::place{gate, user}.admitted());
    }
    CHECK(hashing_gate::place{gate, user}.admitted());
    CHECK(gate.waiting() == 0);
}

TEST_CASE("when the queue is full, a waiting entry of the largest range is evicted", "[hashing_gate][threads]") {
    hashing_gate gate{{.inside_max = 1, .waiting_max = 3, .known_waiting_max = 1, .patience = seconds{600}}};
    auto inside = std::make_unique<hashing_gate::place>(gate, attacker);
    crowd all{gate};
    for (int i = 0; i < 3; ++i) all.add(i == 1 ? neighbour : attacker);
    CHECK(gate.waiting() == 3);
    CHECK_FALSE(hashing_gate::place{gate, neighbour}.admitted());  // of the same range: refused itself
    std::atomic<bool> user_admitted = false;
    std::thread signing_in{[&] { user_admitted = hashing_gate::place{gate, user}.admitted(); }};
    while (all.refused == 0) std::this_thread::yield();
    inside.reset();
    signing_in.join();
    all.join();
    CHECK(user_admitted);
    CHECK(all.refused == 1);
    CHECK(all.admitted == 2);
}

TEST_CASE("known browsers have their own slots", "[hashing_gate][threads]") {
    hashing_gate gate{{.inside_max = 1, .waiting_max = 2, .known_waiting_max = 1, .patience = seconds{600}}};
    auto inside = std::make_unique<hashing_gate::place>(gate, attacker);
    crowd strangers{gate};
    for (int i = 0; i < 2; ++i) strangers.add(attacker);
    crowd knowns{gate};
    knowns.add(known);
    CHECK(gate.waiting() == 3);
    inside.reset();
    knowns.join();
    strangers.join();
    CHECK(knowns.admitted == 1);
    CHECK(strangers.admitted == 2);
}
