#pragma once
#ifndef TOLLGATE_BASE_DETAIL_LOOKUP_POOL_HPP
#define TOLLGATE_BASE_DETAIL_LOOKUP_POOL_HPP

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/detail/system/start_thread.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::detail {

/// The most recently added names, a bounded number.
class recent_names {
public:
    explicit recent_names(std::size_t names_max) : names_max_{names_max} {}

    [[nodiscard]] bool contains(const std::string& name) const { return places_.contains(name); }
    void add(const std::string& name) {
        if (const auto known = places_.find(name); known != places_.end())
            return names_.splice(names_.begin(), names_, known->second);
        std::list<std::string> added{name};
        places_.emplace(added.front(), added.begin());
        names_.splice(names_.begin(), added);
        if (names_.size() > names_max_) remove(std::string{names_.back()});
    }
    void remove(const std::string& name) {
        const auto known = places_.find(name);
        if (known == places_.end()) return;
        const auto place = known->second;
        places_.erase(known);
        names_.erase(place);
    }

private:
    const std::size_t names_max_;
    std::list<std::string> names_;  // most recent first
    std::unordered_map<std::string_view, std::list<std::string>::iterator, detail::keyed_hash>
        places_;  // keyed, because users choose the names
};

/// The registrable domain, approximately: `b.example` of `a.b.example`, `b.co.uk` of `a.b.co.uk`.
[[nodiscard]] inline std::string domain_of(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    const auto before = [host](std::size_t end) {
        const auto dot = end == 0 ? std::string_view::npos : host.rfind('.', end - 1);
        return dot == std::string_view::npos ? std::size_t{0} : dot + 1;
    };
    const std::size_t top = before(host.size());
    if (top == 0) return std::string{host};
    const std::size_t second = before(top - 1);
    constexpr std::size_t country_bytes = 2, kind_bytes_max = 3;  // such as co, com, org
    if (second == 0 || host.size() - top != country_bytes || top - 1 - second > kind_bytes_max)
        return std::string{host.substr(second)};
    return std::string{host.substr(before(second - 1))};
}

enum class lookup_end : std::uint8_t { resolved, no_response, local_failure };

template <class Addresses>
struct lookup_result {
    lookup_end end = lookup_end::resolved;
    Addresses addresses{};
    std::string reason{};
};

/// Who chooses the names that a pool looks up.
enum class lookup_names : std::uint8_t {
    configured,  ///< the operator: any of them may use all threads
    /// Users: the owner of a domain controls how long its lookup takes. So that names known to be quick always find a thread, all others
    /// together use at most half of the threads, slow domains a quarter, and one domain an eighth (a quarter if the name is quick).
    from_users,
};

/// Looks names up on threads of its own, because the system's resolver blocks. Threads are started when they are needed, up to a bound,
/// end when no name waits for them, and are not joined: a thread that waits for a name server cannot be interrupted.
template <class Addresses>
class lookup_pool {
public:
    /// Must not throw. Called from several threads at once, possibly even after the pool has stopped: it must own all that it uses.
    using look_up = std::function<lookup_result<Addresses>(const std::string& host)>;
    using on_result = std::function<void(const lookup_result<Addresses>&)>;

    /// `threads_max`: 0 and 1 count as 2.
    lookup_pool(look_up resolver, std::size_t threads_max, lookup_names names)
        : state_{std::make_shared<state>(std::move(resolver), threads_max, names)} {}
    lookup_pool(const lookup_pool&) = delete;
    lookup_pool& operator=(const lookup_pool&) = delete;
    ~lookup_pool() { stop(); }

    /// Calls `done` once, on one of the threads or, if none can be started, at once; not at all if the pool stops before or memory runs
    /// out. Concurrent lookups of one name share one query. `done` is called with the pool's lock held: it must return quickly and not use
    /// the pool. May throw std::bad_alloc; then `done` is not called. Returns a number for `withdraw`.
    std::uint64_t resolve(const std::string& host, on_result done) { return state_->resolve(host, std::move(done)); }

    /// For a caller that has timed out. If the name still waits for a thread, this lookup is removed, and the name with
    /// its last lookup. False if a thread is resolving the name now.
    [[nodiscard]] bool withdraw(const std::string& host, std::uint64_t number) { return state_->withdraw(host, number); }

    /// After this has returned, no callback is called.
    void stop() noexcept { state_->stop(); }

private:
    class state;
    const std::shared_ptr<state> state_;
};

/// Shared by the threads, which may outlive the pool.
template <class Addresses>
class lookup_pool<Addresses>::state : public std::enable_shared_from_this<state> {
public:
    state(look_up resolver, std::size_t threads_max, lookup_names names)
        : look_up_{std::move(resolver)}, threads_max_{(std::max)(threads_max, std::size_t{2})}, names_{names} {}

    std::uint64_t resolve(const std::string& host, on_result done) {
        const std::lock_guard hold{mutex_};
        const std::uint64_t number = ++last_number_;
        if (stopping_) return number;
        if (const auto same = by_host_.find(host); same != by_host_.end()) {
            same->second->callers.push_back({number, std::move(done)});
            return number;
        }
        queries added;
        added.push_back({host, names_ == lookup_names::from_users ? domain_of(host) : std::string{}});
        query& one = added.front();
        if (quick_names_.contains(host)) one.expected = pace::quick;
        else if (slow_domains_.contains(one.domain)) one.expected = pace::slow;
        one.callers.push_back({number, std::move(done)});
        by_host_.emplace(host, added.begin());
        waiting_.splice(waiting_.end(), added);
        start_threads();
        return number;
    }

    bool withdraw(const std::string& host, std::uint64_t number) {
        const std::lock_guard hold{mutex_};
        const auto found = by_host_.find(host);
        if (found == by_host_.end()) return true;
        const auto one = found->second;
        if (one->running) return false;
        std::erase_if(one->callers, [number](const caller& each) { return each.number == number; });
        if (!one->callers.empty()) return true;
        by_host_.erase(found);
        waiting_.erase(one);
        return true;
    }

    void stop() noexcept {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
        by_host_.clear();
        waiting_.clear();
        // Now: the callbacks belong to an executor that may be gone when the lookup ends.
        for (query& each : running_) each.callers.clear();
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds slow_lookup{1};
    static constexpr std::size_t names_max = 8192;  // at most 2 MB

    enum class pace : std::uint8_t { unknown, quick, slow };
    struct caller {
        std::uint64_t number;
        on_result done;
    };
    struct query {
        std::string host;
        std::string domain;
        pace expected = pace::unknown;
        bool running = false;
        std::vector<caller> callers{};
    };
    using queries = std::list<query>;
    using place = typename queries::iterator;

    [[nodiscard]] std::size_t part_of_threads(std::size_t divisor) const noexcept {
        return (std::max)(threads_max_ / divisor, std::size_t{1});
    }

    /// The next name that a thread may look up now.
    [[nodiscard]] place next() noexcept {
        if (names_ == lookup_names::configured) return waiting_.begin();
        const auto count = [this](auto which) {
            return static_cast<std::size_t>(std::count_if(running_.begin(), running_.end(), which));
        };
        const bool others_allowed =
            count([](const query& one) { return one.expected != pace::quick; }) < part_of_threads(2);
        const bool slow_allowed = count([](const query& one) { return one.expected == pace::slow; }) < part_of_threads(4);
        return std::find_if(waiting_.begin(), waiting_.end(), [&](const query& each) {
            const bool quick = each.expected == pace::quick;
            if (!quick && (!others_allowed || (each.expected == pace::slow && !slow_allowed))) return false;
            const std::size_t of_domain = count([&](const query& one) { return one.domain == each.domain; });
            return of_domain < part_of_threads(quick ? 4 : 8);
        });
    }

    void begin(place one) noexcept {
        one->running = true;
        running_.splice(running_.end(), waiting_, one);
    }

    /// Each thread that runs has a name, so that one name per free thread can begin now.
    void start_threads() noexcept {
        while (running_.size() < threads_max_) {
            const auto one = next();
            if (one == waiting_.end()) return;
            try {
                start_thread([self = this->shared_from_this(), one] { self->run(one); }).detach();
            } catch (const std::exception&) {
                if (!running_.empty()) return;  // the thread of one of these will look it up
                queries failed;
                failed.splice(failed.end(), waiting_, one);
                end(*one, failed_to_start());
                continue;
            }
            begin(one);  // its thread waits for the lock
        }
    }

    void run(place one) noexcept {
        {
            const std::lock_guard begun{mutex_};  // after `begin`
        }
        for (;;) {
            const auto started = clock::now();
            const lookup_result<Addresses> looked_up = look_up_(one->host);
            const bool was_quick = clock::now() - started < slow_lookup;

            const std::lock_guard hold{mutex_};
            queries finished;
            finished.splice(finished.end(), running_, one);
            if (stopping_) return;
            if (looked_up.end == lookup_end::resolved || !was_quick) remember(*one, was_quick);
            end(*one, looked_up);
            const auto following = next();
            if (following == waiting_.end()) return;
            begin(following);
            one = following;
            start_threads();  // the time and threads that this lookup freed may be enough for two
        }
    }

    [[nodiscard]] static lookup_result<Addresses> failed_to_start() noexcept {
        try {
            return {.end = lookup_end::local_failure, .reason = "no thread for the lookup"};
        } catch (const std::exception&) {
            return {.end = lookup_end::local_failure};
        }
    }

    void remember(const query& one, bool was_quick) noexcept {
        if (names_ == lookup_names::configured) return;
        try {
            if (was_quick) {
                quick_names_.add(one.host);
                slow_domains_.remove(one.domain);
            } else {
                quick_names_.remove(one.host);
                slow_domains_.add(one.domain);
            }
        } catch (const std::exception&) {  // only slows later lookups
        }
    }
    void end(query& one, const lookup_result<Addresses>& looked_up) noexcept {
        by_host_.erase(one.host);
        for (const caller& each : one.callers) {
            try {
                each.done(looked_up);
            } catch (const std::exception&) {  // the caller has a timeout
            }
        }
    }

    const look_up look_up_;
    const std::size_t threads_max_;
    const lookup_names names_;
    std::mutex mutex_;
    std::unordered_map<std::string, place, detail::keyed_hash> by_host_;  // keyed, because users choose the hosts
    queries waiting_, running_;
    recent_names quick_names_{names_max}, slow_domains_{names_max};
    std::uint64_t last_number_ = 0;
    bool stopping_ = false;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_LOOKUP_POOL_HPP
