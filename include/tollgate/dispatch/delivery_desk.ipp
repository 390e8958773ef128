#pragma once

#include <tollgate/dispatch/delivery_desk.hpp>
#include <tollgate/dispatch/hook_client.hpp>
#include <tollgate/dispatch/outgoing.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <sys/resource.h>

namespace tollgate::dispatching {

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

    TOLLGATE_DECL outcome<void> start();
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
        void on_ended(std::vector<incoming> ended) noexcept override {
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

    TOLLGATE_DECL void take(std::vector<incoming> ended) noexcept;
    TOLLGATE_DECL void serve_sockets() noexcept;
    TOLLGATE_DECL void run() noexcept;
    TOLLGATE_DECL void work(std::vector<incoming> ended, bool claims);
    TOLLGATE_DECL void judge(std::vector<incoming> ended);
    TOLLGATE_DECL void settle();
    TOLLGATE_DECL void forget_overdue();
    TOLLGATE_DECL void claim();
    TOLLGATE_DECL void send(std::vector<due_delivery> claimed, instant now);
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
    std::vector<incoming> ended_;

    std::mutex join_mutex_;  // of several threads that stop, one joins

    // The desk thread's own.
    std::uint64_t last_number_ = 0;
    std::unordered_map<std::uint64_t, flight> flights_;
    std::vector<settlement> settled_next_;
    std::vector<std::pair<flight, std::string>> settled_flights_;  // of each settlement, and why it failed
    std::vector<incoming> ended_here_;  // without ever having left
    std::size_t slow_under_way_ = 0;
    std::size_t bytes_under_way_ = 0;
    bool hands_came_free_ = false;
    clock::time_point next_claim_{}, next_look_{}, next_settle_{}, next_sweep_{};
    milliseconds store_pause_{0};  // after failures of the store
    clock::time_point next_shortage_told_{};
    http::field_block fields_;

    static constexpr milliseconds first_pause{100}, longest_pause = seconds{5};
    static constexpr std::size_t sweep_rows_max = 1000;  // a few ms of a database
    static constexpr milliseconds sweep_interval = seconds{60}, sweep_pause{100};
};

TOLLGATE_DECL delivery_desk::core::~core() {
    stop(milliseconds{0});
    if (desk_thread_.joinable()) desk_thread_.join();
}

TOLLGATE_DECL outcome<void> delivery_desk::core::start() {
    const std::lock_guard hold{mutex_};
    if (state_ != state::fresh) return unavailable("a dispatcher starts once, and not after it was stopped");
    try {
        asio::any_io_executor where = executor_;
        if (!where) {
            own_context_ = std::make_unique<asio::io_context>(1);
            own_context_stays_.emplace(own_context_->get_executor());
            where = own_context_->get_executor();
        }
        mail_ = std::make_shared<mailbox>(*this);
        auto made = hook_client::make(where, settings_.client, mail_);
        if (!made) {
            state_ = state::stopped;
            return std::move(made).error();
        }
        client_ = *std::move(made);
        if (own_context_) own_thread_ = std::thread{[this] { serve_sockets(); }};
        desk_thread_ = std::thread{[this] { run(); }};
        state_ = state::running;
        return {};
    } catch (const std::exception& failed) {
        if (own_thread_.joinable()) {
            own_context_stays_.reset();
            own_thread_.join();
        }
        state_ = state::stopped;
        return internal_error(std::string{"the dispatcher could not start: "} + failed.what());
    }
}

TOLLGATE_DECL void delivery_desk::core::stop(milliseconds deadline) {
    {
        const std::lock_guard hold{mutex_};
        if (state_ == state::fresh) state_ = state::stopped;
        if (state_ == state::running || state_ == state::stopping) {
            state_ = state::stopping;
            constexpr milliseconds longest = std::chrono::hours{24};
            stop_at_ = (std::min)(stop_at_, clock::now() + (std::min)(deadline, longest));
            changed_.notify_all();
        }
        if (detail::inside_of == this) return;
    }
    const std::lock_guard joining{join_mutex_};
    if (desk_thread_.joinable() && desk_thread_.get_id() != std::this_thread::get_id()) desk_thread_.join();
}

TOLLGATE_DECL void delivery_desk::core::wake() noexcept {
    const std::lock_guard hold{mutex_};
    if (woken_) return;
    woken_ = true;
    changed_.notify_all();
}

TOLLGATE_DECL void delivery_desk::core::take(std::vector<incoming> ended) noexcept {
    const std::lock_guard hold{mutex_};
    const bool first = ended_.empty();
    if (first) std::swap(ended_, ended);
    else ended_.insert(ended_.end(), std::make_move_iterator(ended.begin()), std::make_move_iterator(ended.end()));
    if (first) changed_.notify_all();
}

TOLLGATE_DECL void delivery_desk::core::serve_sockets() noexcept {
    for (;;) {
        try {
            own_context_->run();
            return;
        } catch (const std::exception& failed) {
            // Memory is short: the attempt that it happened to ends by its time-out.
            back_.on_problem(internal_error(std::string{"the dispatcher's sockets: "} + failed.what()));
        }
    }
}

TOLLGATE_DECL void delivery_desk::core::run() noexcept {
    const detail::inside mark{this};
    std::unique_lock hold{mutex_};
    for (;;) {
        const bool stopping = state_ == state::stopping;
        if (stopping && (under_way() == 0 || clock::now() >= stop_at_)) break;
        const auto stop_at = stop_at_;
        auto until = stopping ? stop_at : (std::min)({next_claim_, next_look_, next_sweep_});
        if (!settled_next_.empty()) until = (std::min)(until, next_settle_);
        changed_.wait_until(hold, until, [&] {
            return !ended_.empty() || !ended_here_.empty() || (woken_ && !stopping) || stop_at_ != stop_at;
        });

        const bool stops = state_ == state::stopping;
        auto ended = std::exchange(ended_, {});
        if (std::exchange(woken_, false)) next_claim_ = clock::now();
        hold.unlock();
        try {
            work(std::move(ended), !stops);
        } catch (const std::exception& failed) {
            // Memory is short: what was lost of it comes back when its lease is over.
            back_.on_problem(internal_error(std::string{"the dispatcher: "} + failed.what()));
            come_back_after(first_pause);
        }
        hold.lock();
    }
    hold.unlock();
    finish();
    hold.lock();
    state_ = state::stopped;
}

/// Ends what is left, when the time for it is over. What had come back by then is settled; the rest comes back when its
/// lease is over.
TOLLGATE_DECL void delivery_desk::core::finish() noexcept {
    client_->abort();
    if (own_thread_.joinable()) {
        own_context_stays_.reset();
        own_thread_.join();
    }
    mail_->close();
    try {
        next_settle_ = {};
        work(std::exchange(ended_, {}), false);
    } catch (const std::exception&) {  // as if they had not come back
    }
    client_.reset();
}

TOLLGATE_DECL void delivery_desk::core::work(std::vector<incoming> ended, bool claims) {
    for (incoming& each : std::exchange(ended_here_, {})) ended.push_back(std::move(each));
    judge(std::move(ended));
    settle();
    if (!claims) return;
    const auto now = clock::now();
    bool looks = now >= next_claim_ || hands_came_free_;
    if (now >= next_look_) {
        next_look_ = now + (back_.tells_changes() ? settings_.look_interval : settings_.claim_interval);
        looks = back_.may_have_more() || looks;
    }
    if (looks) claim();
    if (now >= next_sweep_) sweep();
}

TOLLGATE_DECL void delivery_desk::core::judge(std::vector<incoming> ended) {
    const instant now = back_.now();
    for (incoming& each : ended) {
        auto found = flights_.extract(each.number);
        if (!found) continue;
        flight& one = found.mapped();
        if (!each.tried) {
            // Not a failure of the receiver's: the delivery is left to its lease.
            land(one);
            if (!each.why.empty() && clock::now() >= next_shortage_told_) {
                next_shortage_told_ = clock::now() + longest_pause;
                back_.on_problem(unavailable("webhooks wait, for this machine cannot connect: " + each.why));
            }
            continue;
        }
        attempt made{.at = one.began, .duration = each.duration, .end = each.end, .status = each.status,
                     .answer = std::move(each.answer)};
        settled_next_.push_back(
            judge_attempt(settings_.retry, one.sent, {std::move(made), each.retry_after}, now, back_.chance()));
        if (one.unsendable) settled_next_.back().verdict = delivery_verdict::given_up;
        settled_flights_.emplace_back(std::move(one), std::move(each.why));
    }
}

TOLLGATE_DECL void delivery_desk::core::land(flight& over) noexcept {
    if (over.sent.slow) --slow_under_way_;
    bytes_under_way_ -= over.bytes;
    hands_came_free_ = true;
}

TOLLGATE_DECL void delivery_desk::core::settle() {
    if (settled_next_.empty() || clock::now() < next_settle_) return;
    const auto results = back_.settle(settled_next_, back_.now());
    if (!results) {
        back_.on_problem(results.error());
        store_pause_ = (std::clamp)(2 * store_pause_, first_pause, longest_pause);
        next_settle_ = clock::now() + store_pause_;
        return forget_overdue();
    }
    store_pause_ = {};
    for (std::size_t i = 0; i < settled_next_.size(); ++i) {
        auto& [one, why] = settled_flights_[i];
        land(one);
        back_.on_attempt(
            {one.sent, settled_next_[i], i < results->size() ? (*results)[i] : settle_result::too_late, why});
    }
    settled_next_.clear();
    settled_flights_.clear();
}

/// What the store would not take until its lease was over is sent again anyway: no use in holding it.
TOLLGATE_DECL void delivery_desk::core::forget_overdue() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < settled_next_.size(); ++i) {
        if (clock::now() >= settled_flights_[i].first.lease_over) {
            land(settled_flights_[i].first);
            continue;
        }
        if (kept != i) {
            settled_next_[kept] = std::move(settled_next_[i]);
            settled_flights_[kept] = std::move(settled_flights_[i]);
        }
        ++kept;
    }
    settled_next_.erase(settled_next_.begin() + static_cast<std::ptrdiff_t>(kept), settled_next_.end());
    settled_flights_.erase(settled_flights_.begin() + static_cast<std::ptrdiff_t>(kept), settled_flights_.end());
}

TOLLGATE_DECL void delivery_desk::core::come_back_after(milliseconds wait) {
    next_claim_ = clock::now() + wait;
    next_look_ = (std::max)(next_look_, next_claim_);
}

TOLLGATE_DECL void delivery_desk::core::claim() {
    hands_came_free_ = false;
    const std::size_t hands = settings_.attempts_max - (std::min)(under_way(), settings_.attempts_max);
    if (hands == 0 || bytes_under_way_ >= settings_.data_bytes_max) {
        next_claim_ = clock::now() + settings_.claim_interval;  // or as soon as one comes free
        return;
    }
    const instant now = back_.now();
    const auto lease = settings_.client.attempt_timeout + settings_.lease_margin;
    claim_terms terms{.now = now, .lease_until = now + lease};
    terms.deliveries_max = (std::min)(hands, settings_.claim_max);
    terms.slow_deliveries_max = (std::min)(
        terms.deliveries_max, settings_.slow_attempts_max - (std::min)(slow_under_way_, settings_.slow_attempts_max));
    terms.per_host_max = settings_.per_host_max;
    terms.per_slow_host_max = settings_.per_slow_host_max;
    terms.data_bytes_max = settings_.data_bytes_max - bytes_under_way_;
    auto claimed = back_.claim_due(terms);
    if (!claimed) {
        back_.on_problem(claimed.error());
        store_pause_ = (std::clamp)(2 * store_pause_, first_pause, longest_pause);
        return come_back_after(store_pause_);
    }
    store_pause_ = {};
    const bool got_some = !claimed->deliveries.empty();
    if (got_some) send(std::move(claimed->deliveries), now);

    const auto present = clock::now();
    // Now and then whatever was said, for a clock may be set.
    const milliseconds longest = (back_.tells_changes() ? 10 : 1) * settings_.claim_interval;
    if (!claimed->next_at) next_claim_ = present + longest;
    // A store that promises more, and gives none, is not asked without a pause.
    else if (*claimed->next_at <= now) next_claim_ = got_some ? present : present + milliseconds{10};
    else next_claim_ = present + (std::min)(*claimed->next_at - now, longest);
}

TOLLGATE_DECL void delivery_desk::core::send(std::vector<due_delivery> claimed, instant now) {
    const auto lease_over = clock::now() + settings_.client.attempt_timeout + settings_.lease_margin;
    std::vector<outgoing> requests;
    requests.reserve(claimed.size());
    for (due_delivery& each : claimed) {
        const std::uint64_t number = ++last_number_;
        flight& one = flights_.emplace(number, flight{std::move(each), now, lease_over}).first->second;
        if (one.sent.slow) ++slow_under_way_;
        auto target = http::url::parse(one.sent.target_url);
        if (!target) {
            ended_here_.push_back({.number = number, .end = attempt_end::no_address, .why = "the target is no URL"});
            continue;
        }
        // Once more, as it was when the hook was made: the rule may have become stricter.
        if (const auto checked = back_.check(*target); !checked) {
            ended_here_.push_back(
                {.number = number, .end = attempt_end::refused_address, .why = checked.error().message});
            continue;
        }
        fields_.clear();
        std::string body;
        if (const auto written = back_.write(one.sent, now, fields_, body); !written) {
            back_.on_problem(written.error());
            one.unsendable = true;
            ended_here_.push_back(
                {.number = number, .end = attempt_end::no_connection, .why = "it cannot be put into its format"});
            continue;
        }
        one.bytes = body.size();
        bytes_under_way_ += one.bytes;
        requests.push_back({number, *std::move(target), std::string{fields_.view()}, std::move(body)});
    }
    if (!requests.empty()) client_->send(std::move(requests));
}

TOLLGATE_DECL void delivery_desk::core::sweep() {
    const auto swept = back_.sweep(back_.now() - settings_.history, sweep_rows_max);
    if (!swept) back_.on_problem(swept.error());
    next_sweep_ = clock::now() + (swept && *swept == sweep_rows_max ? sweep_pause : sweep_interval);
}

TOLLGATE_DECL delivery_desk::delivery_desk(desk_back& back, hook_dispatch_settings settings,
                                           const asio::any_io_executor* guest_of)
    : core_{std::make_unique<core>(back, std::move(settings), guest_of)} {}

TOLLGATE_DECL delivery_desk::~delivery_desk() = default;

TOLLGATE_DECL outcome<void> delivery_desk::start() { return core_->start(); }
TOLLGATE_DECL void delivery_desk::stop(milliseconds deadline) { core_->stop(deadline); }
TOLLGATE_DECL void delivery_desk::wake() noexcept { core_->wake(); }

}  // namespace tollgate::dispatching
