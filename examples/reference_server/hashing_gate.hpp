#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

namespace reference {

/// How many hashes run at a time, and how many may wait.
struct gate_bounds {
    std::size_t inside_max;
    std::size_t waiting_max;        ///< of all clients
    std::size_t known_waiting_max;  ///< of browsers that have signed in before, in addition
    tollgate::milliseconds patience;
};

/// Bounds password hashing: one takes 32 MiB and a core. Clients share it by address range: waiting clients are admitted in turns
/// between ranges, and if too many wait, one of the range with the most is refused. Browsers that have signed in before
/// have separate places and are admitted first.
///
/// Thread rule: any thread.
class hashing_gate {
public:
    struct client {
        tollgate::ip_address address{};
        bool is_known_browser = false;
    };

    explicit hashing_gate(const gate_bounds& bounds) : bounds_{bounds} {}

    /// Admission for its lifetime; or none, as `admitted` says.
    class place {
    public:
        place(hashing_gate& gate, const client& of) : gate_{gate}, range_{range_of(of.address)}, admitted_{gate.enter(range_, of)} {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() {
            if (admitted_) gate_.leave(range_);
        }
        [[nodiscard]] bool admitted() const { return admitted_; }

    private:
        hashing_gate& gate_;
        std::uint64_t range_;
        bool admitted_;
    };

    /// How many wait now. For tests.
    [[nodiscard]] std::size_t waiting() {
        const std::lock_guard hold{mutex_};
        return queue_.size();
    }

private:
    enum class state { waiting, admitted, refused };
    struct waiter {
        std::uint64_t range;
        bool is_known_browser;
        state now = state::waiting;
        std::condition_variable changed{};
    };

    /// An IPv4 /24 or an IPv6 /48: the range of one provider or organisation.
    static std::uint64_t range_of(const tollgate::ip_address& address) {
        const auto value = tollgate::limit_key::of(address).value();
        return address.is_v4() ? value & ~std::uint64_t{0xff} : value & ~std::uint64_t{0xffff};
    }

    [[nodiscard]] bool enter(std::uint64_t range, const client& of) {
        std::unique_lock hold{mutex_};
        if (inside_ < bounds_.inside_max && queue_.empty()) {
            admit(range);
            return true;
        }
        if (!make_room(range, of.is_known_browser)) return false;
        const auto self = queue_.emplace(queue_.end(), range, of.is_known_browser);
        self->changed.wait_for(hold, bounds_.patience, [&] { return self->now != state::waiting; });
        const bool admitted = self->now == state::admitted;
        queue_.erase(self);
        return admitted;
    }

    /// Whether one more may wait, after the newest of the most crowded range was refused for it if necessary.
    [[nodiscard]] bool make_room(std::uint64_t range, bool is_known_browser) {
        std::map<std::uint64_t, std::size_t> crowds;
        std::size_t count = 0;
        for (const waiter& each : queue_) {
            if (each.now != state::waiting || each.is_known_browser != is_known_browser) continue;
            ++count;
            ++crowds[each.range];
        }
        if (count < (is_known_browser ? bounds_.known_waiting_max : bounds_.waiting_max)) return true;
        if (count == 0) return false;
        const auto most = std::max_element(crowds.begin(), crowds.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most->second <= crowds[range] + 1) return false;
        const auto victim = std::find_if(queue_.rbegin(), queue_.rend(), [&](const waiter& each) {
            return each.now == state::waiting && each.is_known_browser == is_known_browser && each.range == most->first;
        });
        victim->now = state::refused;
        victim->changed.notify_one();
        return true;
    }

    void admit(std::uint64_t range) {
        ++inside_;
        ++inside_by_range_[range];
    }

    /// The next one: known browsers first, then of the range with the fewest inside the one that came first.
    void leave(std::uint64_t range) {
        const std::lock_guard hold{mutex_};
        --inside_;
        if (--inside_by_range_[range] == 0) inside_by_range_.erase(range);
        last_served_ = range;
        waiter* next = nullptr;
        const auto rank = [&](const waiter& each) {
            const auto found = inside_by_range_.find(each.range);
            const std::size_t inside = found == inside_by_range_.end() ? 0 : found->second;
            return each.is_known_browser ? std::size_t{0} : 1 + 2 * inside + (each.range == last_served_ ? 1 : 0);
        };
        for (waiter& each : queue_)
            if (each.now == state::waiting && (next == nullptr || rank(each) < rank(*next))) next = &each;
        if (next == nullptr) return;
        next->now = state::admitted;
        admit(next->range);
        next->changed.notify_one();
    }

    const gate_bounds bounds_;
    std::mutex mutex_;
    std::list<waiter> queue_;
    std::map<std::uint64_t, std::size_t> inside_by_range_;
    std::uint64_t last_served_ = 0;
    std::size_t inside_ = 0;
};

}  // namespace reference
