#pragma once
#ifndef TOLLGATE_MONITORING_HEALTH_IPP
#define TOLLGATE_MONITORING_HEALTH_IPP

#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/base/detail/system/start_thread.hpp>
#include <tollgate/base/detail/thread_mark.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/detail/guarded_response.hpp>
#include <tollgate/monitoring/health.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace tollgate::inline v0 {

struct health::impl {
    using time_point = std::chrono::steady_clock::time_point;
    using running_here = detail::thread_mark<impl>;

    struct running_check {
        std::string name;
        check run;
        std::atomic<bool> succeeded = false;  // the last time
        std::atomic<time_point::rep> started_at = never;
        std::thread thread;
    };
    static constexpr time_point::rep never = (std::chrono::steady_clock::time_point::max)().time_since_epoch().count();

    explicit impl(health_settings configuration) : settings{std::move(configuration)} {}

    [[nodiscard]] time_point::rep now() const noexcept { return settings.now().time_since_epoch().count(); }
    [[nodiscard]] bool fails(const running_check& one) const noexcept {
        const auto started_at = one.started_at.load(std::memory_order_acquire);
        constexpr auto ticks = [](milliseconds time) { return std::chrono::steady_clock::duration{time}.count(); };
        const bool hangs = started_at != never && now() - started_at > ticks(settings.timeout);
        return hangs || !one.succeeded.load(std::memory_order_acquire);
    }

    void run(running_check& one) noexcept {
        const running_here mark{*this};
        bool is_first = true;
        std::unique_lock hold{mutex};
        while (!stopping) {
            hold.unlock();
            one.started_at.store(now(), std::memory_order_release);
            const auto done = result_of(one);
            const bool changed = one.succeeded.exchange(done.has_value(), std::memory_order_acq_rel) != done.has_value();
            one.started_at.store(never, std::memory_order_release);
            if (settings.on_change && (changed || (is_first && !done))) report(one, done);
            is_first = false;
            hold.lock();
            stopped.wait_for(hold, settings.interval, [this] { return stopping; });
        }
    }

    static result<void> result_of(running_check& one) noexcept {
        try {
            try {
                return one.run();
            } catch (const std::exception& thrown) {
                return error{error_kind::internal, {}, thrown.what()};
            }
        } catch (...) {
            return error{error_kind::internal, {}, "an exception"};  // short enough to be stored without allocating
        }
    }

    void report(const running_check& one, const result<void>& done) noexcept {
        try {
            settings.on_change(one.name, done);
        } catch (...) {
            return;  // the checks continue without the report
        }
    }

    /// Returns true if it must not be destroyed: it belongs to the parent process, or one of its own threads destroys it.
    [[nodiscard]] bool must_remain() const noexcept { return process.is_parent() || running_here::is_set_for(*this); }

    void stop() noexcept {
        if (process.is_parent()) return;
        {
            const std::lock_guard hold{mutex};
            stopping = true;
        }
        stopped.notify_all();
        if (running_here::is_set_for(*this)) return;
        const std::lock_guard joining{threads_mutex};
        for (auto& each : checks)
            if (each.thread.joinable()) each.thread.join();
    }

    const health_settings settings;
    std::list<running_check> checks;
    std::mutex mutex;
    std::condition_variable stopped;
    bool stopping = false;
    std::atomic<bool> process_stops = false;
    detail::owning_process process;
    detail::before_openssl_end before_openssl_end;
    std::mutex threads_mutex;  // while threads are started or joined; locked before `mutex`
    bool started = false;
};

TOLLGATE_DECL health::health(health_settings settings) : impl_{std::make_unique<impl>(std::move(settings))} {}
TOLLGATE_DECL health::~health() {
    impl_->stop();
    if (impl_->must_remain()) detail::leave_undestroyed(impl_);
}

TOLLGATE_DECL void health::add(std::string name, check function) {
    auto& added = impl_->checks.emplace_back();
    added.name = std::move(name);
    added.run = std::move(function);
}

TOLLGATE_DECL result<void> health::start() {
    constexpr milliseconds some{1}, day = std::chrono::days{1};
    if (auto checked = detail::check_bounds("health check", {{"interval", impl_->settings.interval, some, day},
                                                             {"timeout", impl_->settings.timeout, some, day}});
        !checked)
        return checked;
    try {
        const std::lock_guard starting{impl_->threads_mutex};
        {
            const std::lock_guard hold{impl_->mutex};
            if (impl_->stopping || std::exchange(impl_->started, true))
                return unavailable("Health checks can be started only once, and not after they have been stopped.");
        }
        impl_->process.take();
        impl_->before_openssl_end.call([](void* self) noexcept { static_cast<impl*>(self)->stop(); }, impl_.get());
        for (auto& each : impl_->checks) each.thread = detail::start_thread([this, &each] { impl_->run(each); });
        return {};
    } catch (const std::exception& failed) {
        stop();
        return internal_error(std::string{"the health checks could not start: "} + failed.what());
    }
}

TOLLGATE_DECL void health::stop() noexcept { impl_->stop(); }

TOLLGATE_DECL void health::begin_stop() noexcept { impl_->process_stops = true; }

TOLLGATE_DECL std::vector<std::string> health::failing() const {
    std::vector<std::string> names;
    if (impl_->process_stops) names.emplace_back("stopping");
    for (const auto& each : impl_->checks)
        if (impl_->fails(each)) names.push_back(each.name);
    return names;
}

TOLLGATE_DECL void health::handle(const http::request& request, http::response& response) const noexcept {
    http::detail::write_or_status(response, http::status::internal_server_error, [&] {
        if (!http::is_read(request.method)) {
            http::refuse_method(request, response, "GET, HEAD, OPTIONS");
            return;
        }
        response.add_prepared_lines(http::detail::json_field_lines);
        http::json_writer json{response.body()};
        json.begin_object();
        if (!request.target.path.ends_with("/readyz")) {
            json.member("healthy").boolean(true);
        } else {
            const auto names = failing();
            json.member("ready").boolean(names.empty());
            if (!names.empty()) {
                response.set_status(http::status::service_unavailable);
                json.member("failing").begin_array();
                for (const auto& each : names) json.string(each);
                json.end_array();
            }
        }
        json.end_object();
    });
}

TOLLGATE_DECL void health::handle(const http::refusal& refused, http::response& response) const noexcept {
    response.set_status(refused.status);
}

}  // namespace tollgate

#endif  // TOLLGATE_MONITORING_HEALTH_IPP
