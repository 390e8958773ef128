#pragma once

#include <tollgate/webhooks/detail/connection.hpp>
#include <tollgate/webhooks/detail/delivery_desk.hpp>
#include <tollgate/webhooks/detail/hook_client.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0::webhooks {

namespace detail {

/// Whose call this thread is inside of: code of the integrator's may stop the dispatcher that calls it.
inline thread_local const void* inside_of = nullptr;

class inside {
public:
    explicit inside(const void* whose) noexcept : before_{std::exchange(inside_of, whose)} {}
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    ~inside() { inside_of = before_; }

private:
    const void* const before_;
};

/// At most `wanted`, and at most half of the descriptors that the process may have: the other half is its host's.
inline std::size_t affordable_attempts(std::size_t wanted) noexcept {
    rlimit allowed{};
    if (::getrlimit(RLIMIT_NOFILE, &allowed) != 0 || allowed.rlim_cur == RLIM_INFINITY) return wanted;
    return (std::max)(std::size_t{1}, (std::min)(wanted, static_cast<std::size_t>(allowed.rlim_cur / 2)));
}

}  // namespace detail

/// What a desk is made of: its thread, its flights, and what stands between it and the client.
class delivery_desk::core {
public:
    core(desk_back& back, hook_dispatch_settings settings, const asio::any_io_executor* guest_of)
        : back_{back}, settings_{std::move(settings)} {
        if (guest_of != nullptr) executor_ = *guest_of;
        settings_.attempts_max = detail::affordable_attempts(settings_.attempts_max);
        // A host that is slow must leave a hand for one that is not.
        settings_.slow_attempts_max =
            (std::min)(settings_.slow_attempts_max, (std::max)(settings_.attempts_max / 2, std::size_t{1}));
    }
    TOLLGATE_DECL ~core();

    TOLLGATE_DECL result<void> start();
    TOLLGATE_DECL void stop(milliseconds deadline);
    TOLLGATE_DECL void wake() noexcept;

private:
    using clock = std::chrono::steady_clock;
    enum class state { fresh, running, stopping, stopped };

    /// Stands between the client and a desk that may be gone while a guest's executor still runs what is left.
    class mailbox final : public client_owner {
    public:
        explicit mailbox(core& of) : of_{&of} {}
        bool allows(const ip_address& address) noexcept override {
            const std::lock_guard hold{mutex_};
            if (of_ == nullptr) return false;
            const detail::inside mark{of_};
            return of_->back_.allows(address);
        }
        void on_ended(incoming_list ended) noexcept override {
            const std::lock_guard hold{mutex_};
            if (of_ != nullptr) of_->take(std::move(ended));
        }
        void close() noexcept {
            const std::lock_guard hold{mutex_};
            of_ = nullptr;
        }

    private:
        std::mutex mutex_;
        core* of_;
    };

    /// What is on its way, or has come back and is not settled yet.
    struct flight {
        due_delivery sent;
        instant began;
        clock::time_point lease_over;
        std::size_t bytes = 0;
        bool unsendable = false;
    };

    TOLLGATE_DECL void take(incoming_list ended) noexcept;
    TOLLGATE_DECL void serve_sockets() noexcept;
    TOLLGATE_DECL void run() noexcept;
    TOLLGATE_DECL void work(bool claims);
    TOLLGATE_DECL void judge();
    TOLLGATE_DECL void judge_one(incoming& each, instant now);
    TOLLGATE_DECL void settle();
    TOLLGATE_DECL void forget_overdue();
    TOLLGATE_DECL void claim();
    TOLLGATE_DECL void send(std::vector<due_delivery> claimed, instant now, clock::time_point claimed_at);
    TOLLGATE_DECL bool have_already(const due_delivery& again, clock::time_point lease_over);
    TOLLGATE_DECL void send_one(due_delivery next, instant now, clock::time_point claimed_at,
                                std::vector<outgoing>& requests);
    TOLLGATE_DECL void forget(std::uint64_t number) noexcept;
    TOLLGATE_DECL void rest_from_shortage(std::string_view why);
    TOLLGATE_DECL void sweep();
    TOLLGATE_DECL void come_back_after(milliseconds wait);
    TOLLGATE_DECL void land(flight& over) noexcept;
    TOLLGATE_DECL void finish() noexcept;
    [[nodiscard]] std::size_t under_way() const noexcept { return flights_.size() + settled_next_.size(); }

    desk_back& back_;
    hook_dispatch_settings settings_;
    std::unique_ptr<asio::io_context> own_context_;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> own_context_stays_;
    asio::any_io_executor executor_;
    std::shared_ptr<mailbox> mail_;
    std::shared_ptr<hook_client> client_;
    std::thread own_thread_;
    std::thread desk_thread_;

    std::mutex mutex_;  // guards these, and no call of the integrator's code
    std::condition_variable changed_;
    state state_ = state::fresh;
    clock::time_point stop_at_ = (clock::time_point::max)();
    bool woken_ = false;
    incoming_list ended_;

    std::mutex join_mutex_;  // of several threads that stop, one joins

    // The desk thread's own.
    std::uint64_t last_number_ = 0;
    std::unordered_map<std::uint64_t, flight> flights_;
    std::unordered_map<std::int64_t, std::uint64_t> numbers_;  // of flights, by their deliveries
    incoming_list arrived_;                                     // and not judged yet
    std::vector<settlement> settled_next_;
    std::vector<std::pair<flight, std::string>> settled_flights_;  // of each settlement, and why it failed
    std::size_t slow_under_way_ = 0;
    std::size_t bytes_under_way_ = 0;
    bool hands_came_free_ = false;
    clock::time_point next_claim_{}, next_look_{}, next_judge_{}, next_settle_{}, next_sweep_{};
    milliseconds store_pause_{0};     // after failures of the store
    milliseconds shortage_pause_{0};  // while this machine cannot connect
    clock::time_point no_claim_before_{};
    clock::time_point next_shortage_told_{};
    http::field_block fields_;

    static constexpr milliseconds first_pause{100}, longest_pause = seconds{5};
    static constexpr std::size_t sweep_rows_max = 1000;  // a few ms of a database
    static constexpr milliseconds sweep_interval = seconds{60}, sweep_pause{100};
};

}  // namespace tollgate::webhooks
