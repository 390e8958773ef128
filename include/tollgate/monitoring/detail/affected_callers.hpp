#pragma once
#ifndef TOLLGATE_MONITORING_DETAIL_AFFECTED_CALLERS_HPP
#define TOLLGATE_MONITORING_DETAIL_AFFECTED_CALLERS_HPP

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/response.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::monitoring {

/// How a response affects its caller. Each response counts as one kind at most: a 503 that took long has failed.
enum class effect : std::uint8_t {
    failed,   ///< 5xx
    limited,  ///< 429
    slow,     ///< any other that took longer than `slow_after`
};
inline constexpr std::size_t effects = 3;

inline constexpr std::chrono::milliseconds slow_after{250};  // a bound of the histogram of durations

[[nodiscard]] constexpr std::string_view to_text(effect kind) noexcept {
    constexpr std::array<std::string_view, effects> texts{"failed", "limited", "slow"};
    return texts[static_cast<std::size_t>(kind)];
}

/// The result is empty for what most responses are: neither refused by a limit, nor failed, nor slow.
[[nodiscard]] constexpr std::optional<effect> effect_of(http::status status, std::chrono::nanoseconds duration) noexcept {
    if (to_number(status) >= 500) return effect::failed;
    if (status == http::status::too_many_requests) return effect::limited;
    if (duration > slow_after) return effect::slow;
    return std::nullopt;
}

/// A user, or the network of a client that was not authenticated.
struct affected_caller {
    std::optional<user_id> user;
    ip_address network;  ///< the address without the bits of the host; `::` for a user

    [[nodiscard]] static constexpr affected_caller of(user_id user) noexcept { return {user, {}}; }
    [[nodiscard]] static constexpr affected_caller of(const ip_address& client) noexcept {
        return {std::nullopt, tollgate::detail::without_host(client)};
    }

    friend constexpr bool operator==(const affected_caller&, const affected_caller&) noexcept = default;
};

/// Counts responses of the callers that have most of them, with the Space-Saving algorithm (Metwally, Agrawal, El Abbadi, 2005): in
/// a full table, a new caller replaces the one with the smallest count and takes over that count, so that a caller who had more than
/// a sixteenth of all is in the table at the end. A report counts only what came after the caller entered, so it is never too high.
class top_callers {
public:
    static constexpr std::size_t callers_max = 16;  // more than a person reads

    struct entry {
        affected_caller caller{};
        std::uint64_t count = 0;
        std::uint64_t inherited = 0;  ///< the part of `count` that other callers had

        [[nodiscard]] constexpr std::uint64_t own() const noexcept { return count - inherited; }
    };

    void add(const affected_caller& caller) noexcept {
        entry* least = &entries_.front();
        for (entry& each : entries_) {
            if (each.count != 0 && each.caller == caller) {
                ++each.count;
                return;
            }
            if (each.count < least->count) least = &each;
        }
        *least = {caller, least->count + 1, least->count};
    }
    /// The caller's count since they entered the table; 0 if they are not in it.
    [[nodiscard]] std::uint64_t count_of(const affected_caller& caller) const noexcept {
        for (const entry& each : entries_)
            if (each.count != 0 && each.caller == caller) return each.own();
        return 0;
    }
    /// Calls `use(const affected_caller&, std::uint64_t)` for each.
    template <class Use>
    void each(Use&& use) const {
        for (const entry& each : entries_)
            if (each.count != 0) use(each.caller, each.own());
    }

private:
    std::array<entry, callers_max> entries_{};
};

/// The callers who were affected most, by kind of effect, in the last one to two windows of time: an incident that is over does not
/// hide the next one. Its memory is fixed. All functions may be called from many threads at once.
class affected_callers {
public:
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::minutes window{5};

    void add(effect kind, const affected_caller& caller, time_point now) noexcept {
        const std::lock_guard hold{mutex_};
        advance(now);
        current_[static_cast<std::size_t>(kind)].add(caller);
    }

    /// Calls `use(effect, const affected_caller&, std::uint64_t count)` for each, once. `use` may throw.
    template <class Use>
    void each(time_point now, Use&& use) {
        std::array<top_callers, effects> current, previous;
        {
            const std::lock_guard hold{mutex_};
            advance(now);
            current = current_;
            previous = previous_;
        }
        for (std::size_t i = 0; i < effects; ++i) {
            const auto kind = static_cast<effect>(i);
            current[i].each([&](const affected_caller& caller, std::uint64_t count) {
                use(kind, caller, count + previous[i].count_of(caller));
            });
            previous[i].each([&](const affected_caller& caller, std::uint64_t count) {
                if (current[i].count_of(caller) == 0) use(kind, caller, count);
            });
        }
    }

private:
    void advance(time_point now) noexcept {
        if (now < ends_) return;
        const bool follows = now < ends_ + window;
        previous_ = follows ? current_ : std::array<top_callers, effects>{};
        current_ = {};
        ends_ = (follows ? ends_ : now) + window;
    }

    std::mutex mutex_;
    time_point ends_ = (time_point::min)();  // end of the current window
    std::array<top_callers, effects> current_, previous_;
};

}  // namespace tollgate::monitoring

#endif  // TOLLGATE_MONITORING_DETAIL_AFFECTED_CALLERS_HPP
