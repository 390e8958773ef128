#pragma once
#ifndef TOLLGATE_MONITORING_METRICS_IPP
#define TOLLGATE_MONITORING_METRICS_IPP

#include <tollgate/monitoring/metrics.hpp>

#include <tollgate/base/detail/system/process.hpp>

#include <tollgate/monitoring/detail/affected_callers.hpp>
#include <tollgate/http/detail/guarded_response.hpp>
#include <tollgate/monitoring/detail/oauth_counts.hpp>


#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <limits>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

namespace metrics_detail {

using counter = std::atomic<std::uint64_t>;

inline void add(counter& to, std::uint64_t count = 1) noexcept { to.fetch_add(count, std::memory_order_relaxed); }

// What Prometheus recommends for requests of web services, with three smaller ones: most take less than 5 ms.
inline constexpr std::array<double, 14> bounds_seconds{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};

struct histogram {
    std::array<counter, bounds_seconds.size() + 1> buckets{};  // not cumulative; the last is all above
    counter nanoseconds{};

    void add(std::chrono::nanoseconds duration) noexcept {
        const double seconds = std::chrono::duration<double>{duration}.count();
        std::size_t at = 0;
        while (at < bounds_seconds.size() && seconds > bounds_seconds[at]) ++at;
        metrics_detail::add(buckets[at]);
        metrics_detail::add(nanoseconds, static_cast<std::uint64_t>((std::max)(duration, std::chrono::nanoseconds{0}).count()));
    }
};

/// Sums of histograms.
struct histogram_sum {
    std::array<std::uint64_t, bounds_seconds.size() + 1> buckets{};
    std::uint64_t nanoseconds = 0;

    void add(const histogram& source) noexcept {
        for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += source.buckets[i].load(std::memory_order_relaxed);
        nanoseconds += source.nanoseconds.load(std::memory_order_relaxed);
    }
    void write(metrics_writer& to, std::string_view route, std::string_view method) const {
        std::uint64_t count = 0;
        const auto sample = [&](auto value, std::string_view suffix, std::string_view bound) {
            if (route.empty() && !bound.empty()) to.sample(value, {{"le", bound}}, suffix);
            else if (route.empty()) to.sample(value, {}, suffix);
            else if (!bound.empty()) to.sample(value, {{"route", route}, {"method", method}, {"le", bound}}, suffix);
            else to.sample(value, {{"route", route}, {"method", method}}, suffix);
        };
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            count += buckets[i];
            char digits[24];
            std::string_view bound = "+Inf";
            if (i < bounds_seconds.size()) {
                const auto end = std::to_chars(digits, digits + sizeof digits, bounds_seconds[i], std::chars_format::fixed).ptr;
                bound = {digits, static_cast<std::size_t>(end - digits)};
            }
            sample(count, "_bucket", bound);
        }
        sample(static_cast<double>(nanoseconds) / 1e9, "_sum", {});
        sample(count, "_count", {});
    }
};

inline constexpr std::size_t routes_max = 96;
inline constexpr std::size_t statuses_max = 32;  // counted separately
inline constexpr std::size_t methods = static_cast<std::size_t>(http::method::other) + 1;

/// The counters of one thread, or of several: there are a few shards, so that threads seldom write to the same cache line.
struct shard {
    struct route_counts {
        std::array<counter, statuses_max> by_status{};
        histogram durations;
    };
    std::array<route_counts, routes_max + 1> routes{};  // the last: all others
    std::array<counter, statuses_max> refusals{};
    counter unavailable{};  // problems of this kind
    counter internal{};     // all other problems
};

inline constexpr std::size_t shards_max = 8;  // 50 KB each, if used

/// The number of the calling thread's shard.
inline std::size_t shard_number() noexcept {
    static std::atomic<std::size_t> threads{0};
    static thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed) % shards_max;
    return number;
}

/// The statuses that are counted separately. All others share the last place.
inline constexpr std::array<std::uint16_t, statuses_max - 1> statuses{200, 201, 202, 204, 301, 302, 303, 304, 307, 308, 400,
                                                                      401, 403, 404, 405, 406, 408, 409, 410, 413, 414, 415,
                                                                      417, 421, 422, 429, 431, 500, 501, 503, 505};

struct status_places {
    std::array<std::uint8_t, 600> by_status{};
    consteval status_places() {
        by_status.fill(statuses_max - 1);
        for (std::size_t i = 0; i < statuses.size(); ++i) by_status[statuses[i]] = static_cast<std::uint8_t>(i);
    }
};
inline constexpr status_places places{};

inline std::size_t place_of(http::status status) noexcept {
    const unsigned number = to_number(status);
    return number < places.by_status.size() ? places.by_status[number] : statuses_max - 1;
}

inline std::string status_text(std::size_t place) { return place < statuses.size() ? std::to_string(statuses[place]) : "other"; }

/// Why a server refuses, from the status that it answers with.
inline std::string_view refusal_kind(std::size_t place) noexcept {
    switch (place < statuses.size() ? statuses[place] : 0) {
        case 400: return "malformed";
        case 408: return "too_slow";
        case 413:
        case 414:
        case 431: return "too_large";
        case 421: return "other_host";
        case 503: return "overload";
        default: return "other";
    }
}

inline std::string_view outcome_text(delivery_outcome outcome) noexcept {
    switch (outcome) {
        case delivery_outcome::delivered: return "delivered";
        case delivery_outcome::retry: return "retry";
        case delivery_outcome::given_up: return "given_up";
        case delivery_outcome::gone: return "gone";
        case delivery_outcome::not_attempted: return "not_attempted";
    }
    return "other";
}

}  // namespace metrics_detail

struct metrics::impl {
    using shard = metrics_detail::shard;

    /// A route and method that are counted. A route's text is of static storage, so that its address names it.
    struct route_entry {
        std::string route;
        http::method method = http::method::other;
    };
    struct known_route {
        std::atomic<const char*> text{nullptr};
        std::array<std::atomic<std::uint16_t>, metrics_detail::methods> numbers{};  // plus one; zero: none yet
    };
    static constexpr std::size_t known_max = 256;  // a power of two: addresses of texts

    std::array<std::atomic<shard*>, metrics_detail::shards_max> shards{};
    std::array<known_route, known_max> known{};
    mutable std::mutex routes_mutex;  // locked for new routes and for reports
    std::vector<route_entry> routes;

    std::array<metrics_detail::counter, 5> attempts{};
    metrics_detail::histogram attempt_durations;
    monitoring::affected_callers affected;
    monitoring::oauth_counts oauth;
    std::vector<collector> collectors;
    std::vector<std::pair<std::string, std::function<backend_statistics()>>> backends;

    impl() { routes.reserve(metrics_detail::routes_max); }
    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;
    ~impl() {
        for (auto& each : shards) delete each.load();
    }

    // What happens once, or rarely, is compiled outside of `on_request`.

    /// The calling thread's shard; null if there is no memory for it.
    shard* own_shard() noexcept {
        auto& at = shards[metrics_detail::shard_number()];
        if (shard* const existing = at.load(std::memory_order_acquire)) [[likely]] return existing;
        return make_shard(at);
    }
    [[gnu::noinline, gnu::cold]] static shard* make_shard(std::atomic<shard*>& at) noexcept {
        std::unique_ptr<shard> fresh{new (std::nothrow) shard};
        shard* expected = nullptr;
        if (fresh && at.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) return fresh.release();
        return expected;
    }

    /// The entry of `known` that has this text, or could get it.
    known_route* find(const char* text) noexcept {
        const std::size_t hash = reinterpret_cast<std::uintptr_t>(text) * 0x9e37'79b9'7f4a'7c15 >> 32;
        for (std::size_t i = 0; i < known_max; ++i) {
            known_route& each = known[(hash + i) % known_max];
            const char* const current = each.text.load(std::memory_order_acquire);
            if (current == text || current == nullptr) return &each;
        }
        return nullptr;
    }

    /// The number of a route and method; `routes_max` for those beyond the bound.
    std::size_t number_of(std::string_view route, http::method method) noexcept {
        static constexpr char none = '\0';  // the address of the route of all requests without one
        const char* const text = route.empty() ? &none : route.data();
        known_route* at = find(text);
        if (at == nullptr) return metrics_detail::routes_max;
        auto& number = at->numbers[static_cast<std::size_t>(method)];
        if (at->text.load(std::memory_order_acquire) == text)
            if (const auto stored = number.load(std::memory_order_acquire)) [[likely]] return stored - std::size_t{1};
        return learn(text, route, method);
    }

    [[gnu::noinline, gnu::cold]] std::size_t learn(const char* text, std::string_view route, http::method method) noexcept {
        const std::lock_guard hold{routes_mutex};
        known_route* at = find(text);
        if (at == nullptr) return metrics_detail::routes_max;
        auto number = static_cast<std::size_t>(
            std::find_if(routes.begin(), routes.end(),
                         [&](const route_entry& each) { return each.method == method && each.route == route; }) -
            routes.begin());
        if (number == routes.size() && number < metrics_detail::routes_max) {
            try {
                routes.push_back({std::string{route}, method});
            } catch (const std::bad_alloc&) {
                return metrics_detail::routes_max;
            }
        }
        at->numbers[static_cast<std::size_t>(method)].store(static_cast<std::uint16_t>(number + 1), std::memory_order_release);
        at->text.store(text, std::memory_order_release);
        return number;
    }

    template <class Use>
    void each_shard(Use&& use) const {
        for (const auto& each : shards)
            if (const shard* const existing = each.load(std::memory_order_acquire)) use(*existing);
    }
    /// The sum of the counters that `of` returns, one of each shard.
    template <class Of>
    [[nodiscard]] std::uint64_t sum(Of of) const {
        std::uint64_t count = 0;
        each_shard([&](const shard& each) { count += of(each).load(std::memory_order_relaxed); });
        return count;
    }

    [[gnu::noinline, gnu::cold]] void add_affected(http::status status, const request_context& context, const caller* caller) noexcept {
        if (const auto effect = monitoring::effect_of(status, context.duration))
            affected.add(*effect,
                         caller != nullptr ? monitoring::affected_caller::of(caller->user)
                                           : monitoring::affected_caller::of(context.client),
                         std::chrono::steady_clock::now());
    }

    void write_requests(metrics_writer& to) const {
        std::vector<route_entry> names;
        {
            const std::lock_guard hold{routes_mutex};
            names = routes;
        }
        names.resize(metrics_detail::routes_max);
        names.push_back({"other", http::method::other});
        const auto method_of = [](const route_entry& entry) {
            return entry.method == http::method::other ? "other" : to_text(entry.method);
        };
        const auto route_of = [](const route_entry& entry) { return entry.route.empty() ? std::string_view{"none"} : entry.route; };

        std::vector<metrics_detail::histogram_sum> durations(names.size());
        to.counter("tollgate_requests_total", "Requests by route, method and status.");
        for (std::size_t i = 0; i < names.size(); ++i) {
            each_shard([&](const shard& each) { durations[i].add(each.routes[i].durations); });
            for (std::size_t place = 0; place < metrics_detail::statuses_max; ++place) {
                const auto count = sum([&](const shard& each) -> auto& { return each.routes[i].by_status[place]; });
                if (count != 0)
                    to.sample(count, {{"route", route_of(names[i])}, {"method", method_of(names[i])},
                                      {"status", metrics_detail::status_text(place)}});
            }
        }
        to.histogram("tollgate_request_duration_seconds", "From the head of a request to its response, including all waits.");
        for (std::size_t i = 0; i < names.size(); ++i)
            if (std::any_of(durations[i].buckets.begin(), durations[i].buckets.end(), [](std::uint64_t count) { return count != 0; }))
                durations[i].write(to, route_of(names[i]), method_of(names[i]));
    }

    void write_failures(metrics_writer& to) const {
        to.counter("tollgate_refusals_total", "Connections and requests that the server refused, not a handler.");
        for (const std::string_view kind : {"malformed", "too_slow", "too_large", "other_host", "overload", "other"}) {
            std::uint64_t count = 0;
            for (std::size_t place = 0; place < metrics_detail::statuses_max; ++place)
                if (metrics_detail::refusal_kind(place) == kind)
                    count += sum([&](const shard& each) -> auto& { return each.refusals[place]; });
            to.sample(count, {{"kind", kind}});
        }
        to.counter("tollgate_problems_total", "Server failures, in requests and deliveries.");
        to.sample(sum([](const shard& each) -> auto& { return each.unavailable; }), {{"kind", "unavailable"}});
        to.sample(sum([](const shard& each) -> auto& { return each.internal; }), {{"kind", "internal"}});
    }

    void write_affected(metrics_writer& to) {
        to.gauge("tollgate_affected_requests",
                 "Requests of the last 5 to 10 minutes that failed (5xx), were limited (429) or took longer than 250 ms, by the callers "
                 "with the most of them; each is counted from when it entered a table of 16.");
        affected.each(std::chrono::steady_clock::now(),
                      [&](monitoring::effect effect, const monitoring::affected_caller& caller, std::uint64_t count) {
            if (caller.user) to.sample(count, {{"kind", to_text(effect)}, {"user", std::to_string(caller.user->value())}});
            else to.sample(count, {{"kind", to_text(effect)}, {"network", network_of(caller.network)}});
        });
    }

    void write_deliveries(metrics_writer& to) const {
        to.counter("tollgate_delivery_attempts_total", "Attempts to deliver a webhook, by outcome.");
        for (std::size_t i = 0; i < attempts.size(); ++i)
            to.sample(attempts[i].load(std::memory_order_relaxed),
                      {{"outcome", metrics_detail::outcome_text(static_cast<delivery_outcome>(i))}});
        to.histogram("tollgate_delivery_attempt_duration_seconds", "Duration of attempts whose request was sent.");
        metrics_detail::histogram_sum durations;
        durations.add(attempt_durations);
        durations.write(to, {}, {});
    }

    void write_backends(metrics_writer& to) const {
        if (backends.empty()) return;
        std::vector<backend_statistics> now;
        for (const auto& [name, read] : backends) now.push_back(read());
        const auto family = [&](auto&& value) {
            for (std::size_t i = 0; i < now.size(); ++i) to.sample(value(now[i]), {{"backend", backends[i].first}});
        };
        const auto in_seconds = [](std::chrono::nanoseconds duration) { return std::chrono::duration<double>{duration}.count(); };
        to.gauge("tollgate_backend_up", "0 while calls fail at once because the server cannot be reached.");
        family([](const backend_statistics& statistics) { return statistics.is_up ? 1 : 0; });
        to.counter("tollgate_backend_calls_total", "Uses of a connection to the store or the limits.");
        family([](const backend_statistics& statistics) { return statistics.calls; });
        to.counter("tollgate_backend_errors_total", "Calls that got no connection or lost it.");
        family([](const backend_statistics& statistics) { return statistics.errors; });
        to.counter("tollgate_backend_fallbacks_total", "Windows of requests that the limiter decided without its server.");
        family([](const backend_statistics& statistics) { return statistics.fallbacks; });
        to.counter("tollgate_backend_call_seconds_total", "Duration of those calls.");
        family([&](const backend_statistics& statistics) { return in_seconds(statistics.busy); });
        to.counter("tollgate_backend_wait_seconds_total", "Time waited for a connection.");
        family([&](const backend_statistics& statistics) { return in_seconds(statistics.waited); });
        to.counter("tollgate_cache_hits_total", "Lookups that were answered without a call.");
        family([](const backend_statistics& statistics) { return statistics.cache_hits; });
        to.counter("tollgate_cache_misses_total", "Lookups that the cache could not answer.");
        family([](const backend_statistics& statistics) { return statistics.cache_misses; });
    }
};

TOLLGATE_DECL metrics::metrics() : impl_{std::make_unique<impl>()} {}
TOLLGATE_DECL metrics::~metrics() = default;

TOLLGATE_DECL void metrics::on_request(const request_record& record) const noexcept {
    auto* const shard = impl_->own_shard();
    if (shard == nullptr) return;
    auto& counts = shard->routes[impl_->number_of(record.context.route, record.request.method)];
    metrics_detail::add(counts.by_status[metrics_detail::place_of(record.response.status())]);
    counts.durations.add(record.context.duration);
    if (record.context.duration > monitoring::slow_after || record.response.status() >= http::status::too_many_requests) [[unlikely]]
        impl_->add_affected(record.response.status(), record.context, record.caller);
    if (!record.oauth.error.empty()) [[unlikely]] impl_->oauth.add_error(record.context.route, record.oauth.error);
}

TOLLGATE_DECL void metrics::on_activity(const activity& done) const noexcept {
    if (done.kind == activity_kind::access_revoked_after_reuse) impl_->oauth.add_revocation_after_reuse();
}

TOLLGATE_DECL void metrics::on_refusal(const refusal_record& record) const noexcept {
    if (auto* const shard = impl_->own_shard()) metrics_detail::add(shard->refusals[metrics_detail::place_of(record.refusal.status)]);
    if (to_number(record.refusal.status) >= 500) impl_->add_affected(record.refusal.status, record.context, nullptr);
}

TOLLGATE_DECL void metrics::on_problem(const problem_record& record) const noexcept {
    auto* const shard = impl_->own_shard();
    if (shard != nullptr) metrics_detail::add(record.error.kind == error_kind::unavailable ? shard->unavailable : shard->internal);
}

TOLLGATE_DECL void metrics::on_attempt(const delivery_record& record) const noexcept {
    metrics_detail::add(impl_->attempts[static_cast<std::size_t>(record.result.outcome)]);
    if (record.result.outcome != delivery_outcome::not_attempted) impl_->attempt_durations.add(record.result.attempt.duration);
}

TOLLGATE_DECL void metrics::add(collector function) { impl_->collectors.push_back(std::move(function)); }

TOLLGATE_DECL void metrics::add_backend(std::string name, std::function<backend_statistics()> statistics) {
    impl_->backends.emplace_back(std::move(name), std::move(statistics));
}

namespace metrics_detail {

inline void write_process(metrics_writer& to) {
    const auto figures = detail::read_process_figures();
    if (figures.cpu_seconds) {
        to.counter("process_cpu_seconds_total", "CPU time of the process.");
        to.sample(*figures.cpu_seconds);
    }
    if (figures.resident_bytes) {
        to.gauge("process_resident_memory_bytes", "Resident memory of the process.");
        to.sample(*figures.resident_bytes);
    }
    if (figures.open_files) {
        to.gauge("process_open_fds", "Open file descriptors.");
        to.sample(*figures.open_files);
        if (const auto allowed = detail::open_files_max(); allowed != (std::numeric_limits<std::size_t>::max)()) {
            to.gauge("process_max_fds", "File descriptors that the system allows.");
            to.sample(std::uint64_t{allowed});
        }
    }
}

}  // namespace metrics_detail

TOLLGATE_DECL void metrics::watch_process() { add(&metrics_detail::write_process); }

TOLLGATE_DECL std::string metrics::report() const {
    std::string text;
    metrics_writer writer{text};
    impl_->write_requests(writer);
    impl_->write_failures(writer);
    impl_->oauth.write(writer);
    impl_->write_affected(writer);
    impl_->write_deliveries(writer);
    impl_->write_backends(writer);
    for (const auto& each : impl_->collectors) each(writer);
    return text;
}

TOLLGATE_DECL void metrics::handle(const http::request& request, http::response& response) const noexcept {
    http::detail::write_or_status(response, http::status::internal_server_error, [&] {
        if (!http::is_read(request.method)) {
            http::refuse_method(request, response, "GET, HEAD, OPTIONS");
            return;
        }
        response.add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        response.body() = report();
    });
}

TOLLGATE_DECL void metrics::handle(const http::refusal& refused, http::response& response) const noexcept {
    response.set_status(refused.status);
}

TOLLGATE_DECL void metrics_writer::begin(std::string_view name, std::string_view help, std::string_view type) {
    name_ = name;
    to_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

TOLLGATE_DECL void metrics_writer::counter(std::string_view name, std::string_view help) { begin(name, help, "counter"); }
TOLLGATE_DECL void metrics_writer::gauge(std::string_view name, std::string_view help) { begin(name, help, "gauge"); }
TOLLGATE_DECL void metrics_writer::histogram(std::string_view name, std::string_view help) { begin(name, help, "histogram"); }

TOLLGATE_DECL void metrics_writer::sample(double value, std::initializer_list<label> labels, std::string_view suffix) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    write_sample({digits, static_cast<std::size_t>(end - digits)}, labels, suffix);
}

TOLLGATE_DECL void metrics_writer::write_sample(std::string_view value, std::initializer_list<label> labels, std::string_view suffix) {
    to_.append(name_).append(suffix);
    char before = '{';
    for (const label& each : labels) {
        to_.append(1, before).append(each.name).append("=\"");
        before = ',';
        for (char c : each.value) {
            if (c == '\n') {
                to_.append("\\n");
                continue;
            }
            if (c == '"' || c == '\\') to_.append(1, '\\');
            to_.append(1, c);
        }
        to_.append("\"");
    }
    if (before == ',') to_.append("}");
    to_.append(" ").append(value).append("\n");
}

}  // namespace tollgate

#endif  // TOLLGATE_MONITORING_METRICS_IPP
