#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_WORKER_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_WORKER_IPP

#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/base/detail/system/process.hpp>
#include <tollgate/base/detail/system/start_thread.hpp>
#include <tollgate/base/detail/thread_mark.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/webhooks/detail/asio.hpp>
#include <tollgate/webhooks/detail/connection.hpp>
#include <tollgate/webhooks/detail/delivery_scheduler.hpp>
#include <tollgate/webhooks/detail/delivery_trace.hpp>
#include <tollgate/webhooks/detail/delivery_worker.hpp>
#include <tollgate/webhooks/detail/hook_client.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace tollgate::inline v0::webhooks {

namespace detail {

/// At most `requested`, and at most half of the process's descriptors; the rest is left to the program.
inline std::size_t affordable_attempts(std::size_t requested) noexcept {
    return (std::min)(requested, (std::max)(tollgate::detail::open_files_max() / 2, std::size_t{1}));
}

inline hook_dispatch_settings affordable(hook_dispatch_settings settings) noexcept {
    settings.attempts_max = affordable_attempts(settings.attempts_max);
    // Leave slots for hooks that are not slow.
    settings.slow_attempts_max = (std::min)(settings.slow_attempts_max, (std::max)(settings.attempts_max / 2, std::size_t{1}));
    return settings;
}

inline result<void> check_settings(const hook_dispatch_settings& settings) {
    constexpr milliseconds none{0}, some{1}, day = std::chrono::hours{24}, longest_wait = std::chrono::days{limits::delivery_wait_days_max};
    constexpr const char* whose = "dispatcher";
    const hook_client_settings& client = settings.client;
    if (auto checked = tollgate::detail::check_bounds(
            whose, {{"client.attempt_timeout", client.attempt_timeout, some, day},
                    {"client.lookup_timeout", client.lookup_timeout, some, day},
                    {"client.connect_timeout", client.connect_timeout, some, day},
                    {"client.handshake_timeout", client.handshake_timeout, some, day},
                    {"client.body_timeout", client.body_timeout, some, day},
                    {"client.idle_timeout", client.idle_timeout, none},
                    {"client.connection_age_max", client.connection_age_max, none},
                    {"lease_margin", settings.lease_margin, some, day},
                    {"poll_interval", settings.poll_interval, some, day},
                    {"lease_interval", settings.lease_interval, some, day},
                    {"history", settings.history, none},
                    {"retry.disable_after", settings.retry.disable_after, none},
                    {"retry.retry_after_max", settings.retry.retry_after_max, none, longest_wait}});
        !checked)
        return checked;
    for (const milliseconds each : settings.retry.waits)
        if (auto checked = tollgate::detail::check_bounds(whose, {{"retry.waits", each, none, longest_wait}}); !checked) return checked;
    const auto refuse = [](const char* name, std::size_t least, std::size_t most) {
        return tollgate::detail::setting_error(whose, name, std::to_string(least), std::to_string(most));
    };

    struct bounded_count {
        const char* name;
        std::size_t value, least;
    };
    constexpr std::size_t count_max = 1'000'000;
    const bounded_count counts[] = {{"attempts_max", settings.attempts_max, 1},
                                    {"slow_attempts_max", settings.slow_attempts_max, 1},
                                    {"per_host_max", settings.per_host_max, 1},
                                    {"per_slow_host_max", settings.per_slow_host_max, 1},
                                    {"per_hook_minute_max", settings.per_hook_minute_max, 0},
                                    {"lease_max", settings.lease_max, 1},
                                    {"client.lookup_threads_max", client.lookup_threads_max, 0},
                                    {"client.addresses_max", client.addresses_max, 1},
                                    {"client.idle_connections_max", client.idle_connections_max, 0},
                                    {"client.idle_per_host_max", client.idle_per_host_max, 0}};
    for (const auto& [name, count, least] : counts)
        if (count < least || count > count_max) return refuse(name, least, count_max);
    if (settings.retry.jitter_percent > 100) return refuse("retry.jitter_percent", 0, 100);
    return {};
}

}  // namespace detail

class delivery_worker::impl {
public:
    impl(worker_environment& environment, hook_dispatch_settings settings, const asio::any_io_executor* executor)
        : environment_{environment},
          settings_{detail::affordable(std::move(settings))},
          scheduler_{settings_, environment.tells_changes()} {
        if (executor != nullptr) executor_ = *executor;
    }
    TOLLGATE_DECL ~impl();

    TOLLGATE_DECL result<void> start();
    TOLLGATE_DECL void stop(std::optional<milliseconds> deadline);
    TOLLGATE_DECL void wake() noexcept;
    [[nodiscard]] TOLLGATE_DECL result<void> reload_authorities() noexcept;
    /// Whether it must not be destroyed: it belongs to the parent process, or one of its own threads destroys it.
    [[nodiscard]] TOLLGATE_DECL bool must_remain() noexcept;

private:
    using clock = std::chrono::steady_clock;
    /// Marks a thread that calls the environment, which may stop the dispatcher.
    using callback_mark = tollgate::detail::thread_mark<impl>;
    enum class state { fresh, running, stopping, stopped };

    /// Receives results for a worker that may be gone while the executor still runs pending operations.
    class result_receiver final : public client_owner {
    public:
        explicit result_receiver(impl& to) : to_{&to} {}
        bool allows(const ip_address& address) noexcept override {
            const std::lock_guard hold{mutex_};
            if (to_ == nullptr) return false;
            const callback_mark mark{*to_};
            return to_->environment_.allows(address);
        }
        void on_ended(ended_attempts ended) noexcept override {
            const std::lock_guard hold{mutex_};
            if (to_ != nullptr) to_->take(std::move(ended));
        }
        void close() noexcept {
            const std::lock_guard hold{mutex_};
            to_ = nullptr;
        }

    private:
        std::mutex mutex_;
        impl* to_;
    };

    TOLLGATE_DECL void take(ended_attempts ended) noexcept;
    TOLLGATE_DECL void serve_sockets() noexcept;
    TOLLGATE_DECL void run() noexcept;
    TOLLGATE_DECL void work();
    TOLLGATE_DECL void report(const scheduler_actions& actions) noexcept;
    TOLLGATE_DECL void call_store(const scheduler_actions& actions);
    [[nodiscard]] TOLLGATE_DECL bool is_owner_active(const account_ref& account);
    TOLLGATE_DECL void send(const std::vector<scheduler_actions::delivery_to_send>& all);
    TOLLGATE_DECL std::optional<outgoing_request> prepare(const scheduler_actions::delivery_to_send& each,
                                                          ended_attempt& refusal);
    TOLLGATE_DECL void finish() noexcept;
    template <class Body>
    [[nodiscard]] std::thread start_counted(Body body);
    [[nodiscard]] scheduler_time now() noexcept { return {clock::now(), environment_.now()}; }

    worker_environment& environment_;
    const hook_dispatch_settings settings_;
    std::unique_ptr<asio::io_context> own_context_;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> own_context_stays_;
    asio::any_io_executor executor_;
    std::shared_ptr<result_receiver> receiver_;
    std::shared_ptr<hook_client> client_;
    std::thread client_thread_;
    std::thread worker_thread_;

    std::mutex mutex_;  // guards the following; not held while integrator code runs
    std::condition_variable changed_;
    state state_ = state::fresh;
    clock::time_point stop_at_ = (clock::time_point::max)();
    bool woken_ = false;
    ended_attempts ended_;

    tollgate::detail::owning_process process_;
    tollgate::detail::before_openssl_end before_openssl_end_;
    tollgate::detail::thread_count running_;
    std::mutex join_mutex_;  // one of several threads that stop joins

    // Used only by the worker's thread.
    delivery_scheduler scheduler_;
    scheduler_inputs inputs_;
    clock::time_point next_step_at_{};
    http::field_block fields_;
    std::map<account_ref, bool> known_owners_;  // owners of the last second: at most as many as deliveries were leased
    clock::time_point owners_known_since_{};
};

template <class Body>
std::thread delivery_worker::impl::start_counted(Body body) {
    return tollgate::detail::start_thread([this, body] {
        running_.run(body);
    });
}

TOLLGATE_DECL bool delivery_worker::impl::must_remain() noexcept {
    if (process_.is_parent()) return true;
    if (!callback_mark::is_set_for(*this)) return false;
    before_openssl_end_.cancel();
    stop(milliseconds{0});  // which only requests it here
    if (own_context_) own_context_->stop();
    running_.join_others(client_thread_, worker_thread_);
    return true;
}

TOLLGATE_DECL delivery_worker::impl::~impl() {
    before_openssl_end_.cancel();
    stop(milliseconds{0});
    if (worker_thread_.joinable()) worker_thread_.join();
}

TOLLGATE_DECL result<void> delivery_worker::impl::start() {
    if (process_.is_parent()) return unavailable("The parent process has started this dispatcher.");
    const std::lock_guard hold{mutex_};
    if (state_ != state::fresh) return unavailable("A dispatcher can be started only once, and not after it has been stopped.");
    try {
        if (auto checked = detail::check_settings(settings_); !checked) {
            state_ = state::stopped;
            return checked;
        }
        asio::any_io_executor executor = executor_;
        if (!executor) {
            own_context_ = std::make_unique<asio::io_context>(1);
            own_context_stays_.emplace(own_context_->get_executor());
            executor = own_context_->get_executor();
        }
        receiver_ = std::make_shared<result_receiver>(*this);
        auto client = hook_client::make(executor, settings_.client, receiver_);
        if (!client) {
            state_ = state::stopped;
            return std::move(client).error();
        }
        client_ = *std::move(client);
        process_.take();
        before_openssl_end_.call(
            [](void* self) noexcept {
                if (!static_cast<impl*>(self)->must_remain()) static_cast<impl*>(self)->stop(milliseconds{0});
            },
            this);
        if (own_context_) client_thread_ = start_counted([this] { serve_sockets(); });
        worker_thread_ = start_counted([this] { run(); });
        state_ = state::running;
        return {};
    } catch (const std::exception& failed) {
        if (client_thread_.joinable()) {
            own_context_stays_.reset();
            client_thread_.join();
        }
        state_ = state::stopped;
        return internal_error(std::string{"the dispatcher could not start: "} + failed.what());
    }
}

TOLLGATE_DECL void delivery_worker::impl::stop(std::optional<milliseconds> deadline) {
    if (process_.is_parent()) return;
    {
        const std::lock_guard hold{mutex_};
        if (state_ == state::fresh) state_ = state::stopped;
        if (state_ == state::running || state_ == state::stopping) {
            state_ = state::stopping;
            constexpr milliseconds longest = std::chrono::hours{24};
            const milliseconds wait = deadline.value_or(settings_.client.attempt_timeout);
            stop_at_ = (std::min)(stop_at_, clock::now() + (std::clamp)(wait, milliseconds{0}, longest));
            changed_.notify_all();
        }
        if (callback_mark::is_set_for(*this)) return;
    }
    const std::lock_guard joining{join_mutex_};
    if (worker_thread_.joinable() && worker_thread_.get_id() != std::this_thread::get_id()) worker_thread_.join();
}

TOLLGATE_DECL void delivery_worker::impl::wake() noexcept {
    const std::lock_guard hold{mutex_};
    if (woken_) return;
    woken_ = true;
    changed_.notify_all();
}

TOLLGATE_DECL void delivery_worker::impl::take(ended_attempts ended) noexcept {
    const std::lock_guard hold{mutex_};
    const bool first = ended_.empty();
    ended_.splice(ended_.end(), ended);
    if (first) changed_.notify_all();
}

TOLLGATE_DECL void delivery_worker::impl::serve_sockets() noexcept {
    const callback_mark mark{*this};  // an observer called here may stop the dispatcher
    for (;;) {
        try {
            own_context_->run();
            return;
        } catch (const std::exception& failed) {
            // Out of memory: the attempt concerned ends by its timeout.
            environment_.on_problem(exception_error("the dispatcher's sockets", failed.what()));
        }
    }
}

TOLLGATE_DECL void delivery_worker::impl::run() noexcept {
    const callback_mark mark{*this};
    std::unique_lock hold{mutex_};
    for (;;) {
        const bool stopping = state_ == state::stopping;
        if (stopping && (scheduler_.in_flight() == 0 || clock::now() >= stop_at_)) break;
        const auto stop_at = stop_at_;
        changed_.wait_until(hold, stopping ? (std::min)(stop_at, next_step_at_) : next_step_at_,
                            [&] { return !ended_.empty() || (woken_ && !stopping) || stop_at_ != stop_at; });

        inputs_.stopping = state_ == state::stopping;
        inputs_.ended.splice(inputs_.ended.end(), ended_);
        inputs_.wakeup = std::exchange(woken_, false) || inputs_.wakeup;
        hold.unlock();
        try {
            work();
        } catch (const std::exception& failed) {
            // Out of memory. Ended attempts are judged later; leased deliveries that were not sent are due again after
            // their lease.
            environment_.on_problem(exception_error("the dispatcher", failed.what()));
            scheduler_.pause_after_failure(now());
            next_step_at_ = clock::now() + milliseconds{100};
        }
        hold.lock();
    }
    hold.unlock();
    finish();
    hold.lock();
    state_ = state::stopped;
}

/// Steps until nothing is left to do now.
TOLLGATE_DECL void delivery_worker::impl::work() {
    for (;;) {
        for (ended_attempt& each : inputs_.ended) each.chance = environment_.chance();
        inputs_.store_changed = environment_.may_have_changed();
        const scheduler_actions actions = scheduler_.step(inputs_, now());
        next_step_at_ = actions.next_step_at;
        report(actions);
        send(actions.send);
        call_store(actions);
        if (!actions.calls_store() && inputs_.ended.empty()) return;
        const std::lock_guard hold{mutex_};
        inputs_.stopping = state_ == state::stopping;
        inputs_.ended.splice(inputs_.ended.end(), ended_);
        if (!actions.calls_store() && clock::now() < next_step_at_) return;
    }
}

TOLLGATE_DECL void delivery_worker::impl::report(const scheduler_actions& actions) noexcept {
    for (const error& each : actions.problems) environment_.on_problem(each);
    for (const auto& each : actions.finished)
        environment_.on_attempt({each.delivery.sent, each.result, each.completion, each.reason});  // which adds the trace
}

TOLLGATE_DECL void delivery_worker::impl::call_store(const scheduler_actions& actions) {
    if (actions.complete) inputs_.completed = environment_.complete(scheduler_.results(), environment_.now());
    if (actions.list_due_hooks) inputs_.listed = environment_.list_due_hooks(environment_.now(), *actions.list_due_hooks);
    if (!actions.lease.empty()) {
        inputs_.leased = environment_.lease(actions.lease, actions.leased_for);
        if (settings_.is_owner_active && *inputs_.leased)
            for (due_delivery& each : **inputs_.leased) each.owner_is_active = is_owner_active(each.event->account);
    }
    if (actions.sweep) inputs_.swept = environment_.sweep(actions.sweep->ended_before, actions.sweep->rows_max);
}

/// Asks once a second for each account: the answer may need a query.
TOLLGATE_DECL bool delivery_worker::impl::is_owner_active(const account_ref& account) {
    constexpr seconds known_for{1};
    const auto at = clock::now();
    if (at - owners_known_since_ > known_for) {
        known_owners_.clear();
        owners_known_since_ = at;
    }
    const auto [known, is_new] = known_owners_.try_emplace(account, false);
    if (!is_new) return known->second;
    try {
        const auto active = settings_.is_owner_active(account);
        if (!active) environment_.on_problem(active.error());
        known->second = active && *active;
    } catch (const std::exception& failed) {
        environment_.on_problem(exception_error("is_owner_active threw", failed.what()));
    }
    return known->second;
}

TOLLGATE_DECL void delivery_worker::impl::send(const std::vector<scheduler_actions::delivery_to_send>& all) {
    if (all.empty()) return;
    try {
        std::vector<outgoing_request> requests;
        requests.reserve(all.size());
        ended_attempts refused;
        for (const auto& each : all) {
            ended_attempts refusal(1);
            refusal.front().number = each.number;
            if (auto request = prepare(each, refusal.front())) requests.push_back(*std::move(request));
            else refused.splice(refused.end(), refusal);
        }
        if (!requests.empty()) client_->send(std::move(requests));
        inputs_.ended.splice(inputs_.ended.end(), refused);
    } catch (const std::exception&) {
        for (const auto& each : all) scheduler_.drop(each.number, now());
        throw;
    }
}

TOLLGATE_DECL std::optional<outgoing_request> delivery_worker::impl::prepare(
    const scheduler_actions::delivery_to_send& each, ended_attempt& refusal) {
    auto target = http::url::parse(each.delivery->target_url);
    if (!target) {
        refusal.end = attempt_end::no_address;
        refusal.reason = "the target is not a URL";
        return std::nullopt;
    }
    // Checked again, because the rule may have become stricter since the hook was created.
    if (const auto checked = environment_.check(*target); !checked) {
        refusal.end = attempt_end::refused_address;
        refusal.reason = checked.error().message;
        return std::nullopt;
    }
    if (!each.delivery->unreadable_secret.empty()) {
        refusal.progress = attempt_progress::postponed;  // the scheduler reports it
        refusal.reason = "the signing secret cannot be read";
        return std::nullopt;
    }
    if (!each.delivery->owner_is_active) {
        refusal.progress = attempt_progress::postponed;
        refusal.reason = "the owner of the account is disabled";
        return std::nullopt;
    }
    fields_.clear();
    std::string body;
    if (const auto written = environment_.write(*each.delivery, environment_.now(), fields_, body); !written) {
        environment_.on_problem(written.error());
        refusal.progress = attempt_progress::unsendable;
        refusal.end = attempt_end::no_connection;
        refusal.reason = "the payload format failed";
        return std::nullopt;
    }
    auto fields = std::string{fields_.view()}.append("traceparent: ").append(delivery_trace::of(*each.delivery).traceparent());
    fields.append("\r\n");
    return outgoing_request{each.number, *std::move(target), std::move(fields), std::move(body), each.done_by};
}

/// At the end of the stop period: cuts off what is left and completes it, so that requests already sent are recorded
/// and everything else is due again at once. Results still held by an executor that does not run are lost; those
/// deliveries are due again after their lease.
TOLLGATE_DECL void delivery_worker::impl::finish() noexcept {
    try {
        client_->abort();
    } catch (const std::exception&) {  // out of memory
        if (own_context_) own_context_->stop();
    }
    if (client_thread_.joinable()) {
        own_context_stays_.reset();
        client_thread_.join();
    } else {
        // The executor belongs to the integrator; it may be busy or stopped.
        std::unique_lock hold{mutex_};
        changed_.wait_for(hold, milliseconds{200},
                          [&] { return ended_.size() + inputs_.ended.size() >= scheduler_.being_sent(); });
    }
    receiver_->close();
    try {
        inputs_.stopping = inputs_.flush = true;
        inputs_.ended.splice(inputs_.ended.end(), ended_);
        work();
    } catch (const std::exception&) {  // as if they had not arrived
    }
    client_.reset();
}

TOLLGATE_DECL result<void> delivery_worker::impl::reload_authorities() noexcept {
    if (process_.is_parent()) return unavailable("The parent process has started this dispatcher.");
    std::shared_ptr<hook_client> client;
    {
        const std::lock_guard hold{mutex_};
        if (state_ != state::running) return {};
        client = client_;
    }
    return client->reload_authorities();
}

TOLLGATE_DECL delivery_worker::delivery_worker(worker_environment& environment, hook_dispatch_settings settings,
                                               const asio::any_io_executor* executor)
    : impl_{std::make_unique<impl>(environment, std::move(settings), executor)} {}

TOLLGATE_DECL delivery_worker::~delivery_worker() {
    if (impl_->must_remain()) tollgate::detail::leave_undestroyed(impl_);
}

TOLLGATE_DECL result<void> delivery_worker::start() { return impl_->start(); }
TOLLGATE_DECL void delivery_worker::stop(std::optional<milliseconds> deadline) { impl_->stop(deadline); }
TOLLGATE_DECL void delivery_worker::wake() noexcept { impl_->wake(); }
TOLLGATE_DECL result<void> delivery_worker::reload_authorities() noexcept { return impl_->reload_authorities(); }

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_WORKER_IPP
