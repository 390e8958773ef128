#pragma once

#include <chrono>

#if defined(__linux__)
#include <time.h>
#endif

namespace tollgate::inline v0::detail {

/// The time since the machine started, which nobody sets, including the time for which it was suspended: other machines went on
/// meanwhile, so that what was heard from them is as much older. `steady_clock` stands still then on Linux.
[[nodiscard]] inline std::chrono::steady_clock::time_point boot_now() noexcept {
#if defined(__linux__)
    timespec now{};
    if (::clock_gettime(CLOCK_BOOTTIME, &now) == 0)
        return std::chrono::steady_clock::time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
#endif
    return std::chrono::steady_clock::now();
}

}  // namespace tollgate::detail
