#pragma once
#ifndef TOLLGATE_MONITORING_METRICS_HPP
#define TOLLGATE_MONITORING_METRICS_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/http/handler.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// Writes metrics in the Prometheus text format, version 0.0.4: a family, then its samples.
///
///     writer.gauge("shop_orders_open", "Orders that are not paid.");
///     writer.sample(12, {{"currency", "EUR"}});
class metrics_writer {
public:
    /// A label of a sample. The value may be any text.
    struct label {
        std::string_view name;
        std::string_view value;
    };

    /// Constructs a writer that appends to `to`, which must outlive the writer.
    explicit metrics_writer(std::string& to) noexcept : to_{to} {}

    /// Begins a family: a `counter`, which only grows and whose name ends in `_total`; a `gauge`, which goes up and down; or a `histogram`,
    /// which is a distribution. The help text is one line. `name` must be valid until the last sample of the family.
    TOLLGATE_DECL void counter(std::string_view name, std::string_view help);
    TOLLGATE_DECL void gauge(std::string_view name, std::string_view help);
    TOLLGATE_DECL void histogram(std::string_view name, std::string_view help);

    /// Writes a sample of the last family. `suffix` is `_bucket`, `_sum` or `_count` in a histogram.
    void sample(std::integral auto value, std::initializer_list<label> labels = {}, std::string_view suffix = {}) {
        write_sample(std::to_string(value), labels, suffix);
    }
    /// Writes a sample that is a number of seconds.
    TOLLGATE_DECL void sample(double value, std::initializer_list<label> labels = {}, std::string_view suffix = {});

private:
    TOLLGATE_DECL void begin(std::string_view name, std::string_view help, std::string_view type);
    TOLLGATE_DECL void write_sample(std::string_view value, std::initializer_list<label> labels, std::string_view suffix);

    std::string& to_;
    std::string_view name_;
};

/// Counts requests, refusals, failures, OAuth errors and deliveries, and serves the counts to Prometheus: an observer and a handler.
///
///     metrics counts;
///     account_service service{settings, users, store, default_policies().with_observer(std::ref(counts))};
///     server server{service, {.port = 8443, .tls = {"cert.pem", "key.pem"}}};
///     counts.watch_server(server);
///     http::site operators{http::mounted("/metrics", counts)};
///
/// Requests are counted by the pattern of their route, their method and their status. A count is a few relaxed atomic additions to memory
/// that a thread shares with few other threads: no lock, and no allocation except at the first request of a route. At most 96 pairs of
/// route and method are counted separately; all further pairs are counted together as the route `other`.
///
/// Requests that failed (5xx), were limited (429) or took longer than 250 ms also count for their caller, in a table of fixed size behind a
/// lock: `tollgate_affected_requests` names the users with the most such requests, by their ids, or the networks (/24, /48) of clients that
/// were not authenticated. No other request touches that table.
///
/// The objects passed to `add` and `watch_...` must exist whenever a report is written, so destroy the server of the reports first. In the
/// example, declare the server of `operators` last; it is then destroyed first.
///
/// Thread rule: every function may be called from many threads at once, except `add` and `watch_...`, which must be called before all
/// others.
class metrics {
public:
    /// The counts are in memory.
    static constexpr bool blocking = false;

    /// A function that appends families of its own to a report. It must not wait, because it runs for each report.
    using collector = std::function<void(metrics_writer&)>;

    TOLLGATE_DECL metrics();
    metrics(const metrics&) = delete;
    metrics& operator=(const metrics&) = delete;
    TOLLGATE_DECL ~metrics();

    /// Each implements a function of `delivery_observer`. The text of a route must have static storage, as in a route table.
    TOLLGATE_DECL void on_request(const request_record& record) const noexcept;
    TOLLGATE_DECL void on_refusal(const refusal_record& record) const noexcept;
    TOLLGATE_DECL void on_problem(const problem_record& record) const noexcept;
    TOLLGATE_DECL void on_attempt(const delivery_record& record) const noexcept;
    /// Implements `activity_observer`. Counts revocations because a code or refresh token was used again.
    TOLLGATE_DECL void on_activity(const activity& done) const noexcept;

    /// Adds the collector's families to every report.
    TOLLGATE_DECL void add(collector function);

    /// Reports the connections and workers of a `server`.
    template <class Server>
    void watch_server(const Server& server) {
        add([&server](metrics_writer& writer) { write_server(writer, server.statistics()); });
    }
    /// Reports the counts of `statistics()` of a store or limiter. `name` is the value of the label `backend`.
    template <class Backend>
    void watch_backend(std::string name, const Backend& backend) {
        add_backend(std::move(name), [&backend] { return backend.statistics(); });
    }

    /// Reports the CPU time, memory and descriptors of this process: those that the system tells, on Linux all of them.
    TOLLGATE_DECL void watch_process();

    /// Returns all families, as in the response of `/metrics`.
    [[nodiscard]] TOLLGATE_DECL std::string report() const;

    /// Implements `http::handler`: serves the report on every path. Mount it where only operators have access.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) const noexcept;
    TOLLGATE_DECL void handle(const http::refusal& refused, http::response& response) const noexcept;
    /// The handler does not read bodies.
    static constexpr bool reads_body = false;

private:
    struct impl;

    template <class Statistics>
    static void write_server(metrics_writer& writer, const Statistics& statistics) {
        writer.gauge("tollgate_connections", "Open connections.");
        writer.sample(statistics.connections);
        writer.counter("tollgate_connections_accepted_total", "Connections that were accepted.");
        writer.sample(statistics.connections_accepted);
        writer.counter("tollgate_connections_refused_total", "Connections that were refused because a limit was reached.");
        writer.sample(statistics.connections_refused);
        writer.gauge("tollgate_unsent_bytes", "Bytes of responses that clients have not taken yet.");
        writer.sample(statistics.unsent_bytes);
        writer.counter("tollgate_unsent_closed_total", "Connections that were closed because too much was unsent.");
        writer.sample(statistics.unsent_closed);
        writer.gauge("tollgate_worker_queue_length", "Requests that wait for a worker.");
        writer.sample(statistics.queued);
        writer.counter("tollgate_worker_requests_total", "Requests that a worker started.");
        writer.sample(statistics.taken_up);
        writer.counter("tollgate_worker_wait_seconds_total", "Time that those requests waited for a worker.");
        writer.sample(std::chrono::duration<double>{statistics.waited}.count());
        writer.counter("tollgate_worker_dropped_total", "Requests that no worker started in time (503).");
        writer.sample(statistics.dropped);
    }
    TOLLGATE_DECL void add_backend(std::string name, std::function<backend_statistics()> statistics);

    std::unique_ptr<impl> impl_;
};

static_assert(delivery_observer<metrics> && activity_observer<metrics>);
static_assert(http::handler<const metrics>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/monitoring/metrics.ipp>
#endif

#endif  // TOLLGATE_MONITORING_METRICS_HPP
