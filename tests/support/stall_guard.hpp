#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tollgate_test {

/// Ends the process when it makes no progress for two minutes: prints the running test and, with gdb, the stacks of all
/// threads, and then aborts it. TOLLGATE_TEST_STALL_SECONDS sets another time.
///
/// The guard is a process, not a thread: tests fork, and ThreadSanitizer allows no threads in the child of a process with
/// several threads. Construct one guard before the first test.
class stall_guard {
public:
    stall_guard() {
        void* const place = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED) throw std::runtime_error{"no memory for the stall guard"};
        state() = new (place) shared_state;
        ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // gdb is not a parent of this process
        const pid_t watched = ::getpid();
        guard_ = ::fork();
        if (guard_ < 0) throw std::runtime_error{"no process for the stall guard"};
        if (guard_ == 0) watch(watched);
    }
    stall_guard(const stall_guard&) = delete;
    stall_guard& operator=(const stall_guard&) = delete;
    ~stall_guard() {
        ::kill(guard_, SIGKILL);
        ::waitpid(guard_, nullptr, 0);
    }

    /// `what` starts now. Any process of the test program may call this, from one thread at a time.
    static void progress(std::string_view what) noexcept {
        shared_state* const shared = state();
        if (shared == nullptr) return;
        const std::size_t bytes = std::min(what.size(), sizeof shared->what - 1);
        std::memcpy(shared->what, what.data(), bytes);
        shared->what[bytes] = '\0';
        ++shared->steps;
    }

private:
    struct shared_state {
        std::atomic<std::uint64_t> steps{0};
        char what[200] = "the program before its first test";
    };

    static shared_state*& state() noexcept {
        static shared_state* only = nullptr;
        return only;
    }

    static double seconds_now() noexcept {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    }

    [[noreturn]] static void watch(pid_t watched) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != watched) ::_exit(0);
        ::setpgid(0, 0);  // a signal to the test's process group is not for the guard
        const char* const setting = std::getenv("TOLLGATE_TEST_STALL_SECONDS");
        const double seconds_max = setting != nullptr ? std::atof(setting) : 120;
        std::uint64_t steps = 0;
        double since = seconds_now();
        for (;;) {
            const timespec pause{0, 200'000'000};
            ::nanosleep(&pause, nullptr);
            if (const std::uint64_t now = state()->steps; now != steps) {
                steps = now;
                since = seconds_now();
            }
            if (seconds_now() - since >= seconds_max) break;
        }
        std::fprintf(stderr, "\nNo progress for %g s in: %s\n", seconds_max, state()->what);
        const std::string command = "timeout 40 gdb -nx -batch -p " + std::to_string(watched) +
                                    " -ex 'set pagination off' -ex 'thread apply all backtrace 60' 2>&1 |"
                                    " grep -v -e '^\\[New LWP' -e '^warning' 1>&2";
        if (std::system("command -v gdb >/dev/null") != 0) std::fputs("Install gdb to see the stacks here.\n", stderr);
        else if (std::system(command.c_str()) != 0) std::fputs("gdb shows no stacks.\n", stderr);
        ::kill(watched, SIGABRT);
        for (int tries = 0; tries < 25; ++tries) {  // Catch reports the signal; a process that cannot is killed
            const timespec pause{0, 200'000'000};
            ::nanosleep(&pause, nullptr);
        }
        ::kill(watched, SIGKILL);
        ::_exit(0);
    }

    pid_t guard_ = -1;
};

}  // namespace tollgate_test
