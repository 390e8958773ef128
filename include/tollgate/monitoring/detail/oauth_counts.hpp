#pragma once
#ifndef TOLLGATE_MONITORING_DETAIL_OAUTH_COUNTS_HPP
#define TOLLGATE_MONITORING_DETAIL_OAUTH_COUNTS_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::monitoring {

/// What `metrics` counts of OAuth. Refused requests are rare, or an attack that its limits slow down, so a lock is enough. All functions
/// may be called from many threads at once.
class oauth_counts {
public:
    /// Routes and error codes are of static storage, and there are few of both. The bound is for programs with endpoints of their own.
    static constexpr std::size_t errors_max = 256;

    void add_error(std::string_view route, std::string_view code) noexcept {
        try {
            const std::lock_guard hold{mutex_};
            const auto found = errors_.find({route, code});
            if (found != errors_.end()) ++found->second;
            else if (errors_.size() < errors_max) errors_.emplace(std::pair{route, code}, 1);
        } catch (const std::bad_alloc&) {  // the next one is counted
        }
    }
    void add_revocation_after_reuse() noexcept { revocations_.fetch_add(1, std::memory_order_relaxed); }

    /// `Writer`: `metrics_writer`.
    template <class Writer>
    void write(Writer& to) const {
        to.counter("tollgate_oauth_errors_total", "OAuth requests that were refused, by route and error code.");
        {
            const std::lock_guard hold{mutex_};
            for (const auto& [key, count] : errors_)
                to.sample(count, {{"route", key.first.empty() ? std::string_view{"none"} : key.first}, {"error", key.second}});
        }
        to.counter("tollgate_revocations_after_reuse_total",
                   "Authorizations and tokens that were revoked because a code or refresh token was used again.");
        to.sample(revocations_.load(std::memory_order_relaxed));
    }

private:
    mutable std::mutex mutex_;
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> errors_;  // counts by route and error code
    std::atomic<std::uint64_t> revocations_{0};
};

}  // namespace tollgate::monitoring

#endif  // TOLLGATE_MONITORING_DETAIL_OAUTH_COUNTS_HPP
