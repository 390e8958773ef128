#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_BOOT_CLOCK_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_BOOT_CLOCK_HPP

#include <tollgate/base/detail/system/kind.hpp>

#include <chrono>

#if defined(TOLLGATE_SYSTEM_LINUX)
#include <time.h>
#endif

namespace tollgate::inline v0::detail {

/// The time since the machine started, including time in suspension, when other machines continue and data received from them
/// grows older. It cannot be set. On Linux, `steady_clock` stops during suspension.
[[nodiscard]] inline std::chrono::steady_clock::time_point boot_now() noexcept {
#if defined(TOLLGATE_SYSTEM_LINUX)
    timespec now{};
    if (::clock_gettime(CLOCK_BOOTTIME, &now) == 0)
        return std::chrono::steady_clock::time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
#endif
    return std::chrono::steady_clock::now();
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_BOOT_CLOCK_HPP
