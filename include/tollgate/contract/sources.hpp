#pragma once
#ifndef TOLLGATE_CONTRACT_SOURCES_HPP
#define TOLLGATE_CONTRACT_SOURCES_HPP

#include <tollgate/base/time.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>

namespace tollgate::inline v0 {

/// Provides the current time. Handlers get the time only from a time source, so that tests can set it.
///
/// Exemplar:
///
///     struct stopped_clock {
///         instant now() const noexcept { return instant{}; }
///     };
template <class C>
concept time_source = requires(const C& c) {
    // Returns the time in UTC. Called from many threads at once, at the start of each request, or once for all requests that the server
    // answers in one pass without waiting. The time may go backwards, as that of system clocks does.
    { c.now() } noexcept -> std::same_as<instant>;
};

/// Reads the clock to measure a duration, which is the difference of two readings. Returns `clock.steady_now()` if the clock has that
/// member (it returns std::chrono::nanoseconds, is noexcept and never goes backwards), otherwise `now()`, to the millisecond.
template <time_source C>
[[nodiscard]] std::chrono::nanoseconds steady_now(const C& clock) noexcept {
    if constexpr (requires { { clock.steady_now() } noexcept -> std::same_as<std::chrono::nanoseconds>; })
        return clock.steady_now();
    else return clock.now().time_since_epoch();
}

/// Provides unpredictable random bytes, from which every secret is created.
///
/// Exemplar:
///
///     struct only_for_tests {
///         bool fill(std::span<std::byte> bytes) const noexcept {
///             for (std::byte& each : bytes) each = std::byte{7};
///             return true;
///         }
///     };
template <class R>
concept random_source = requires(const R& r, std::span<std::byte> bytes) {
    // Fills `bytes` completely, or returns false: then the request fails with 500 and no weak secret is created. Called from many threads
    // at once.
    { r.fill(bytes) } noexcept -> std::same_as<bool>;
};

namespace detail {

struct time_source_calls {
    instant (*now)(void*) noexcept;
    std::chrono::nanoseconds (*steady_now)(void*) noexcept;
};

template <class T>
struct calls_of_time_source {
    static instant now(void* object) noexcept { return object_at<T>(object).now(); }

    static std::chrono::nanoseconds steady_now(void* object) noexcept { return tollgate::steady_now(object_at<T>(object)); }

    static constexpr time_source_calls table{&now, &steady_now};
};

}  // namespace detail

/// A reference to a `time_source` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class time_source_ref : public detail::reference<detail::time_source_calls> {
public:
    time_source_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, time_source_ref>
    time_source_ref(T& object) noexcept {
        static_assert(time_source<T>, "tollgate: this does not satisfy time_source; read tollgate/contract/sources.hpp");
        if constexpr (time_source<T>) {
            static_assert(!detail::names_steady_now<T> ||
                              requires(const T& clock) { { clock.steady_now() } noexcept -> std::same_as<std::chrono::nanoseconds>; },
                          "tollgate: steady_now of a clock is const, noexcept and returns std::chrono::nanoseconds; "
                          "read tollgate/contract/sources.hpp");
            refer_to(object, detail::calls_of_time_source<T>::table);
        }
    }

    /// Each calls the object's function of this name; see `time_source`.
    [[nodiscard]] instant now() const noexcept { return calls_->now(object_); }
    /// Reads the clock to measure a duration; see `tollgate::steady_now`.
    [[nodiscard]] std::chrono::nanoseconds steady_now() const noexcept { return calls_->steady_now(object_); }
};

namespace detail {

struct random_source_calls {
    bool (*fill)(void*, std::span<std::byte>) noexcept;
};

template <class T>
struct calls_of_random_source {
    static bool fill(void* object, std::span<std::byte> bytes) noexcept { return object_at<T>(object).fill(bytes); }

    static constexpr random_source_calls table{&fill};
};

}  // namespace detail

/// A reference to a `random_source` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class random_source_ref : public detail::reference<detail::random_source_calls> {
public:
    random_source_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, random_source_ref>
    random_source_ref(T& object) noexcept {
        static_assert(random_source<T>, "tollgate: this does not satisfy random_source; read tollgate/contract/sources.hpp");
        if constexpr (random_source<T>) refer_to(object, detail::calls_of_random_source<T>::table);
    }

    /// Each calls the object's function of this name; see `random_source`.
    [[nodiscard]] bool fill(std::span<std::byte> bytes) const noexcept { return calls_->fill(object_, bytes); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_SOURCES_HPP
