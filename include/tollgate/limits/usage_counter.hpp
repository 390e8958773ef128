#pragma once
#ifndef TOLLGATE_LIMITS_USAGE_COUNTER_HPP
#define TOLLGATE_LIMITS_USAGE_COUNTER_HPP

#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/quota.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace tollgate::inline v0 {

/// The requests of one day.
struct usage {
    std::uint32_t requests = 0;
    std::uint32_t failures = 0;  ///< those of them with a status of 400 or more

    friend bool operator==(const usage&, const usage&) noexcept = default;
};

/// Counts the API requests of each personal token and each OAuth application, from 0:00 UTC on, for the account pages. It is for people to
/// look at, and limits nothing.
///
/// The counts are in the memory of this process: a restart begins at zero, and each node counts its own requests. Memory is bounded as that
/// of a `window_limiter`; when it is full, the counts of those with the fewest requests are lost. Nothing is stored.
///
/// Thread rule: any thread may call it. It never blocks and throws nothing, except for the constructor.
class usage_counter {
public:
    /// The number of counts: 24 bytes each, touched on first use. A token has one or two; an application two, and two for each of its
    /// users.
    static constexpr std::size_t counts_max = std::size_t{1} << 17;

    /// Throws as the constructor of `window_limiter` does.
    usage_counter() : counted_{key_capacity{.users = counts_max, .addresses = 1}} {}

    /// Counts a request that was answered with a failure or a success. Requests without a token are not counted.
    void record(const caller& by, bool has_failed, instant now) noexcept {
        if (by.token) count({kind::token, by.token->value(), 0}, has_failed, now);
        if (!by.application) return;
        count({kind::application, by.application->value(), 0}, has_failed, now);
        count({kind::application, by.application->value(), by.user.value()}, has_failed, now);
    }

    /// Each returns today's count: of a personal token, of an application, and of an application when it acts for one user.
    [[nodiscard]] usage of(token_id token, instant now) const noexcept { return find({kind::token, token.value(), 0}, now); }
    [[nodiscard]] usage of(application_id application, instant now) const noexcept {
        return find({kind::application, application.value(), 0}, now);
    }
    [[nodiscard]] usage of(application_id application, user_id user, instant now) const noexcept {
        return find({kind::application, application.value(), user.value()}, now);
    }

private:
    enum class kind : char { token = 't', application = 'a' };

    struct subject {
        kind of;
        std::int64_t id;
        std::int64_t user;  ///< 0: all users
    };

    // A window that begins today ends after today, so that it has all requests of the day, and that its key is free tomorrow.
    static constexpr quota whole_day{(std::numeric_limits<std::uint32_t>::max)(), std::chrono::hours{24}};

    /// The key of a count of one day, as a name of a window of this object.
    [[nodiscard]] static limit_key key_of(const subject& what, bool is_of_failures, instant now) noexcept {
        // The kind, the day (the same again after 179 years) and, if there is one, the user: few bytes, because each is hashed.
        std::array<char, 12> name{static_cast<char>(what.of), is_of_failures ? 'f' : 'r'};
        const auto day = static_cast<std::uint64_t>(std::chrono::floor<std::chrono::days>(now).time_since_epoch().count());
        const auto user = static_cast<std::uint64_t>(what.user);
        for (std::size_t i = 0; i < 2; ++i) name[2 + i] = static_cast<char>(day >> 8 * i);
        for (std::size_t i = 0; i < 8; ++i) name[4 + i] = static_cast<char>(user >> 8 * i);
        return limit_key::of(user_id{what.id}).in({name.data(), what.user == 0 ? std::size_t{4} : name.size()});
    }

    void count(const subject& what, bool has_failed, instant now) noexcept {
        static_cast<void>(counted_.take(key_of(what, false, now), whole_day, now));
        if (has_failed) static_cast<void>(counted_.take(key_of(what, true, now), whole_day, now));
    }
    [[nodiscard]] usage find(const subject& what, instant now) const noexcept {
        const auto counted = [&](bool is_of_failures) {
            return whole_day.requests - counted_.peek(key_of(what, is_of_failures, now), whole_day, now).remaining;
        };
        return {counted(false), counted(true)};
    }

    window_limiter counted_;
};

}  // namespace tollgate

#endif  // TOLLGATE_LIMITS_USAGE_COUNTER_HPP
