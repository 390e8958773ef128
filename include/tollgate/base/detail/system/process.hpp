#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_PROCESS_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_PROCESS_HPP

#include <tollgate/base/detail/system/windows.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#if !defined(TOLLGATE_SYSTEM_WINDOWS)
#include <dirent.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#endif

/// What the system tells about this process.
namespace tollgate::inline v0::detail {

/// For metrics. Empty: the system does not tell.
struct process_figures {
    std::optional<double> cpu_seconds{};
    std::optional<std::uint64_t> resident_bytes{};
    std::optional<std::int64_t> open_files{};
};

#if defined(TOLLGATE_SYSTEM_WINDOWS)

using process_id = int;
/// Always the same: no process has a copy of another one's objects.
[[nodiscard]] inline process_id process_number() noexcept { return 1; }

[[nodiscard]] inline std::size_t open_files_max() noexcept { return (std::numeric_limits<std::size_t>::max)(); }

[[nodiscard]] inline process_figures read_process_figures() noexcept {
    process_figures figures;
    FILETIME begun{}, ended{}, in_kernel{}, in_user{};
    if (::GetProcessTimes(::GetCurrentProcess(), &begun, &ended, &in_kernel, &in_user) != 0) {
        const auto in_seconds = [](const FILETIME& time) {  // counted in 100 ns
            return static_cast<double>(std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) / 1e7;
        };
        figures.cpu_seconds = in_seconds(in_kernel) + in_seconds(in_user);
    }
    PROCESS_MEMORY_COUNTERS memory{};
    if (::K32GetProcessMemoryInfo(::GetCurrentProcess(), &memory, sizeof memory) != 0) figures.resident_bytes = memory.WorkingSetSize;
    return figures;
}

#else

using process_id = pid_t;
[[nodiscard]] inline process_id process_number() noexcept { return ::getpid(); }

/// The number of descriptors that this process may have; the largest number if unlimited.
[[nodiscard]] inline std::size_t open_files_max() noexcept {
    rlimit limit{};
    const bool limited = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? number_as<std::size_t>(limit.rlim_cur) : (std::numeric_limits<std::size_t>::max)();
}

[[nodiscard]] inline process_figures read_process_figures() noexcept {
    process_figures figures;
    rusage used{};
    if (::getrusage(RUSAGE_SELF, &used) == 0) {
        const auto in_seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        figures.cpu_seconds = in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
    }
#if defined(TOLLGATE_SYSTEM_LINUX)
    constexpr const char* own_descriptors = "/proc/self/fd";
    if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
        unsigned long all = 0, resident = 0;
        if (std::fscanf(file, "%lu %lu", &all, &resident) == 2)
            figures.resident_bytes = std::uint64_t{resident} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        std::fclose(file);
    }
#else
    constexpr const char* own_descriptors = "/dev/fd";
#endif
    if (DIR* const open = ::opendir(own_descriptors)) {
        std::int64_t count = -3;  // `.`, `..` and the directory itself
        while (::readdir(open) != nullptr) ++count;
        ::closedir(open);
        figures.open_files = count;
    }
    return figures;
}

#endif

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_PROCESS_HPP
