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
    // Both times are above zero and at most a day.
    milliseconds interval = seconds{2};  ///< between two runs of a check: how late a failure may be noticed
    milliseconds timeout = seconds{1};   ///< a check that takes longer counts as failing until it returns without an error
    /// Called by the thread of a check when its result changes: the name, and the error if there is one. It must be quick. A check
    /// that hangs is not reported here.
    std::function<void(std::string_view name, const result<void>& now)> on_change = {};
    /// The clock; tests set another one.
    std::chrono::steady_clock::time_point (*now)() noexcept = &std::chrono::steady_clock::now;
};

/// Tells load balancers whether this process can serve: a handler for `/healthz` and `/readyz`. Checks run in the
/// background, each on its own thread, so the handler responds at once even if a check hangs.
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
/// `{"ready":false,"failing":["store"]}`; every other path gets 200, because the process serves. A check fails before its first
/// run. After `begin_stop`, `/readyz` names `stopping`, whatever the checks say.
///
/// Thread rule: everything may be called from any thread at any time, except for `add` after `start`.
class health {
public:
    static constexpr bool blocking = false;

    /// Checks something that is needed to serve requests, such as a row of the store. It may block, but it must return by itself, because
    /// `stop` waits for it. An error or an exception means that the check fails.
    using check = std::function<result<void>()>;

    /// Checks nothing until `start`.
    TOLLGATE_DECL explicit health(health_settings settings = {});
    health(const health&) = delete;
    health& operator=(const health&) = delete;
    /// Stops.
    TOLLGATE_DECL ~health();

    /// Adds a check. Everything that it refers to must outlive this object.
    TOLLGATE_DECL void add(std::string name, check function);

    /// Runs the checks from now on. An error means that a time in the settings is outside its bounds, that a thread could not be started,
    /// that this is not the first call, or that the checks have been stopped.
    TOLLGATE_DECL result<void> start();

    /// Runs no further checks, and waits for those in progress, unless it is called by one of them or by `on_change`. May be called
    /// repeatedly.
    TOLLGATE_DECL void stop() noexcept;

    /// From now on, `/readyz` says that the process is not ready. Call it before `server::stop`, so that load balancers send requests
    /// to other processes. The checks continue.
    TOLLGATE_DECL void begin_stop() noexcept;

    /// `stopping` after `begin_stop`, and the names of the checks that fail, in the order in which they were added. Never waits.
    [[nodiscard]] TOLLGATE_DECL std::vector<std::string> failing() const;

    /// Serves a request as described above. Never waits.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) const noexcept;
    TOLLGATE_DECL void handle(const http::refusal& refused, http::response& response) const noexcept;
    /// No path takes a body.
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
