#pragma once

#include <tollgate/base/time.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace reference {

/// How many may be inside at the same time, and how many may stand before the door.
struct gate_bounds {
    std::size_t inside_max;
    std::size_t waiting_max;
    tollgate::milliseconds patience;  ///< how long one of them stands there
};

/// Bounds what is dear: a slow hash takes 32 MiB and a core, and a hundred at once would take the machine.
///
/// Thread rule: any thread.
class hashing_gate {
public:
    explicit hashing_gate(const gate_bounds& bounds) : bounds_{bounds} {}

    /// One place inside, given back at its end; or none, as `admitted` says.
    class place {
    public:
        explicit place(hashing_gate& gate) : gate_{gate.enter() ? &gate : nullptr} {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() {
            if (gate_ != nullptr) gate_->leave();
        }
        [[nodiscard]] bool admitted() const { return gate_ != nullptr; }

    private:
        hashing_gate* gate_;
    };

private:
    /// False where too many wait already, and for who waited in vain.
    [[nodiscard]] bool enter() {
        std::unique_lock hold{mutex_};
        const auto has_room = [this] { return inside_ < bounds_.inside_max; };
        if (!has_room()) {
            if (waiting_ == bounds_.waiting_max) return false;
            ++waiting_;
            const bool came = left_.wait_for(hold, bounds_.patience, has_room);
            --waiting_;
            if (!came) return false;
        }
        ++inside_;
        return true;
    }

    void leave() {
        {
            const std::lock_guard hold{mutex_};
            --inside_;
        }
        left_.notify_one();
    }

    const gate_bounds bounds_;
    std::mutex mutex_;
    std::condition_variable left_;
    std::size_t inside_ = 0;
    std::size_t waiting_ = 0;
};

}  // namespace reference
