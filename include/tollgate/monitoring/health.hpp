#pragma once
#ifndef TOLLGATE_MONITORING_HEALTH_HPP
#define TOLLGATE_MONITORING_HEALTH_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/handler.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The settings of `health`.
struct health_settings {
    // Both durations are above zero and at most a day.
    milliseconds interval = seconds{2};  ///< time between two runs of a check: a failure may be noticed as late as this
    milliseconds timeout = seconds{1};   ///< a check that takes longer counts as failing until it returns without an error
    /// Called by the thread of a check when its result changes, with the name, and the error if there is one. It must be quick. It is not
    /// called for a check that hangs.
    std::function<void(std::string_view name, const result<void>& now)> on_change = {};
    /// Reads the clock. Tests set another clock.
    std::chrono::steady_clock::time_point (*now)() noexcept = &std::chrono::steady_clock::now;
};

/// Reports to load balancers if this process can serve: a handler for `/healthz` and `/readyz`. Checks run in the background, each on its
/// own thread, so the handler responds at once even if a check hangs.
///
///     health checks;
///     checks.add("store", [&]() -> result<void> {
///         if (const auto due = store.backlog(system_clock{}.now(), 1); !due) return due.error();
///         return {};
///     });
///     if (const auto started = checks.start(); !started) return report(started.error());
///     http::site operators{http::mounted("/healthz", checks), http::mounted("/readyz", checks)};
///
/// A path that ends in `/readyz` gets 200 and `{"ready":true}` if the last run of each check succeeded, else 503 and
/// `{"ready":false,"failing":["store"]}`. Every other path gets 200, because the process serves. A check fails before its first run. After
/// `begin_stop`, `/readyz` names `stopping`, whatever the checks return.
///
/// Thread rule: every function may be called from any thread at any time, except for `add` after `start`.
class health {
public:
    /// The parts are checked on a thread of their own.
    static constexpr bool blocking = false;

    /// A function that checks something that requests need, such as a row of the store. It may block, but it must return by itself, because
    /// `stop` waits for it. An error or an exception means that the check fails.
    using check = std::function<result<void>()>;

    /// Constructs an object that runs no checks until `start`.
    TOLLGATE_DECL explicit health(health_settings settings = {});
    health(const health&) = delete;
    health& operator=(const health&) = delete;
    /// Stops the checks, as `stop` does.
    TOLLGATE_DECL ~health();

    /// Adds a check. Everything that it refers to must outlive this object.
    TOLLGATE_DECL void add(std::string name, check function);

    /// Runs the checks from now on. An error means that a duration in the settings is outside its bounds, that a thread could not be
    /// started, that `start` was called before, or that the checks have been stopped.
    TOLLGATE_DECL result<void> start();

    /// Runs no further checks, and waits for the checks in progress, unless a check or `on_change` calls it. May be called repeatedly.
    TOLLGATE_DECL void stop() noexcept;

    /// From now on, `/readyz` reports that the process is not ready. Call it before `server::stop`, so that load balancers send requests to
    /// other processes. The checks continue.
    TOLLGATE_DECL void begin_stop() noexcept;

    /// Returns `stopping` after `begin_stop`, and the names of the checks that fail, in the order in which they were added. Never waits.
    [[nodiscard]] TOLLGATE_DECL std::vector<std::string> failing() const;

    /// Implements `http::handler` for the paths of this class. Never waits.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) const noexcept;
    TOLLGATE_DECL void handle(const http::refusal& refused, http::response& response) const noexcept;
    /// The handler does not read bodies.
    static constexpr bool reads_body = false;

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

static_assert(http::handler<const health>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/monitoring/health.ipp>
#endif

#endif  // TOLLGATE_MONITORING_HEALTH_HPP
