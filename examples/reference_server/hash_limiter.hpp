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
#include <optional>
#include <utility>
#include <vector>

namespace reference {

/// How many hashes run at a time, and how many may wait.
struct hash_bounds {
    std::size_t running_max;
    std::size_t waiting_max;        ///< of all clients
    std::size_t known_waiting_max;  ///< of browsers that have signed in before, in addition
    tollgate::milliseconds queue_wait_max;
};

/// Bounds password hashing: one takes 32 MiB and a core. Clients share it by address range: waiting clients are admitted in turns
/// between ranges, and if too many wait, one of the range with the most is refused; of ranges with equally many, one of the range that was
/// admitted most often recently, so that a few ranges cannot keep all others out. Browsers that have signed in before wait in separate
/// slots and are admitted first every other time, since one account can make any number of them.
///
/// Thread rule: any thread.
class hash_limiter {
public:
    struct client {
        tollgate::ip_address address{};
        bool is_known_browser = false;
    };

    explicit hash_limiter(const hash_bounds& bounds) : bounds_{bounds} {}

    /// The right to compute a hash, for its lifetime, if `admitted()`.
    class permit {
    public:
        permit(hash_limiter& limiter, const client& requester)
            : limiter_{limiter}, range_{range_of(requester.address)}, admitted_{limiter.acquire(range_, requester)} {}
        permit(const permit&) = delete;
        permit& operator=(const permit&) = delete;
        ~permit() {
            if (admitted_) limiter_.release(range_);
        }
        [[nodiscard]] bool admitted() const { return admitted_; }

    private:
        hash_limiter& limiter_;
        std::uint64_t range_;
        bool admitted_;
    };

    /// How many wait now. For tests.
    [[nodiscard]] std::size_t waiting() {
        const std::lock_guard hold{mutex_};
        return queue_.size();
    }

    /// Of how many ranges something is known. For tests.
    [[nodiscard]] std::size_t remembered_ranges() {
        const std::lock_guard hold{mutex_};
        return by_range_.size();
    }

private:
    enum class state { waiting, admitted, refused };
    struct waiter {
        std::uint64_t range;
        bool is_known_browser;
        state now = state::waiting;
        std::condition_variable changed{};
    };

    /// An IPv4 /24 or an IPv6 /48: the range of one provider or organization.
    static std::uint64_t range_of(const tollgate::ip_address& address) {
        const auto value = tollgate::limit_key::of(address).value();
        return address.is_v4() ? value & ~std::uint64_t{0xff} : value & ~std::uint64_t{0xffff};
    }

    [[nodiscard]] bool acquire(std::uint64_t range, const client& requester) {
        std::unique_lock hold{mutex_};
        // Allocates what `release` needs: it must not throw.
        by_range_.try_emplace(range);
        bool admitted = false;
        try {
            admitted = running_ < bounds_.running_max;  // then nobody waits: `release` admits the next client
            if (admitted) admit(range, requester.is_known_browser);
            else admitted = make_queue_slot(range, requester.is_known_browser) && wait_for_turn(hold, range, requester);
        } catch (...) {
            forget_unused(range);
            throw;
        }
        forget_unused(range);
        return admitted;
    }

    [[nodiscard]] bool wait_for_turn(std::unique_lock<std::mutex>& hold, std::uint64_t range, const client& requester) {
        const auto self = queue_.emplace(queue_.end(), range, requester.is_known_browser);
        ++by_range_.find(range)->second.waiting;
        self->changed.wait_for(hold, bounds_.queue_wait_max, [&] { return self->now != state::waiting; });
        const bool admitted = self->now == state::admitted;
        --by_range_.find(range)->second.waiting;
        queue_.erase(self);
        return admitted;
    }

    void forget_unused(std::uint64_t range) noexcept {
        const auto found = by_range_.find(range);
        if (found == by_range_.end()) return;
        const range_use& use = found->second;
        if (use.running + use.waiting + use.recent == 0) by_range_.erase(found);
    }

    /// Counts an admission of the range, and forgets the oldest one.
    void remember(std::uint64_t range) noexcept {
        ++by_range_.find(range)->second.recent;
        std::optional<std::uint64_t>& oldest = recent_[recent_at_++ % recent_.size()];
        const auto forgotten = std::exchange(oldest, range);
        if (!forgotten) return;
        --by_range_.find(*forgotten)->second.recent;
        forget_unused(*forgotten);
    }

    /// How much a range uses, if so many of its clients wait: first those, then those that were admitted recently.
    [[nodiscard]] std::pair<std::size_t, std::size_t> use_of(std::uint64_t range, std::size_t waiting) const {
        return {waiting, by_range_.find(range)->second.recent};
    }

    /// Whether one more may wait. If necessary, the newest client of the range that uses the queue most is refused for it.
    [[nodiscard]] bool make_queue_slot(std::uint64_t range, bool is_known_browser) {
        std::map<std::uint64_t, std::size_t> waiting_by_range;
        std::size_t count = 0;
        for (const waiter& each : queue_) {
            if (each.now != state::waiting || each.is_known_browser != is_known_browser) continue;
            ++count;
            ++waiting_by_range[each.range];
        }
        if (count < (is_known_browser ? bounds_.known_waiting_max : bounds_.waiting_max)) return true;
        if (count == 0) return false;
        const auto most = std::max_element(waiting_by_range.begin(), waiting_by_range.end(), [&](const auto& a, const auto& b) {
            return use_of(a.first, a.second) < use_of(b.first, b.second);
        });
        // The past counts only for a range of which nobody waits: none may have more clients in the queue than the others.
        const auto own = waiting_by_range.find(range);
        if (own != waiting_by_range.end() ? most->second <= own->second + 1
                                          : use_of(most->first, most->second) <= use_of(range, 1))
            return false;
        const auto victim = std::find_if(queue_.rbegin(), queue_.rend(), [&](const waiter& each) {
            return each.now == state::waiting && each.is_known_browser == is_known_browser && each.range == most->first;
        });
        victim->now = state::refused;
        victim->changed.notify_one();
        return true;
    }

    void admit(std::uint64_t range, bool is_known_browser) noexcept {
        ++running_;
        known_was_last_ = is_known_browser;
        ++by_range_.find(range)->second.running;
        remember(range);
    }

    /// Admits the next client: the first of the range with the fewest hashes running; of known browsers, if the last one was not.
    void release(std::uint64_t range) noexcept {
        const std::lock_guard hold{mutex_};
        --running_;
        --by_range_.find(range)->second.running;
        forget_unused(range);
        last_served_ = range;
        waiter* next = nullptr;
        const auto rank = [&](const waiter& each) {
            const std::size_t running = by_range_.find(each.range)->second.running;
            return std::pair{known_was_last_ || !each.is_known_browser, 2 * running + (each.range == last_served_ ? 1 : 0)};
        };
        for (waiter& each : queue_)
            if (each.now == state::waiting && (next == nullptr || rank(each) < rank(*next))) next = &each;
        if (next == nullptr) return;
        next->now = state::admitted;
        admit(next->range, next->is_known_browser);
        next->changed.notify_one();
    }

    const hash_bounds bounds_;
    std::mutex mutex_;
    std::list<waiter> queue_;
    struct range_use {
        std::size_t running = 0;
        std::size_t waiting = 0;
        std::size_t recent = 0;  // in `recent_`
    };
    std::map<std::uint64_t, range_use> by_range_;  // of each range with a client that runs or waits, or ran recently
    // The ranges of the last admissions: at 40 hashes per second, of more than a minute. An attack needs as many ranges.
    std::vector<std::optional<std::uint64_t>> recent_ = std::vector<std::optional<std::uint64_t>>(4096);
    std::size_t recent_at_ = 0;
    std::uint64_t last_served_ = 0;
    bool known_was_last_ = false;
    std::size_t running_ = 0;
};

}  // namespace reference
