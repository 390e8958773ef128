#include "process.hpp"

#include "output.hpp"
#include "text_values.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace reference {

signals::signals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::sigemptyset(&blocked_);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&blocked_, each);
    sigset_t blocked = blocked_;
    ::sigaddset(&blocked, SIGALRM);
    ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

std::optional<int> signals::wait(std::chrono::milliseconds at_most) const {
    // A timer, because macOS has no sigtimedwait.
    itimerval timer{};
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    timer.it_value.tv_sec = static_cast<std::time_t>(whole.count());
    timer.it_value.tv_usec = static_cast<suseconds_t>(std::chrono::microseconds{at_most - whole}.count());
    ::setitimer(ITIMER_REAL, &timer, nullptr);
    sigset_t awaited = blocked_;
    ::sigaddset(&awaited, SIGALRM);
    int number = 0;
    while (::sigwait(&awaited, &number) != 0) {
    }
    timer = {};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
    if (number == SIGALRM) return std::nullopt;
    return number;
}

std::optional<int> signals::wait() const {
    int number = 0;
    while (::sigwait(&blocked_, &number) != 0) {
    }
    return number;
}

void signals::exit_on_next_signal_or_after(std::chrono::seconds at_most) const {
    ::signal(SIGALRM, SIG_IGN);  // discards the signal of a timer that has just ended
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int each : {SIGTERM, SIGINT, SIGALRM}) {
        ::signal(each, [](int) { ::_exit(1); });
        ::sigaddset(&ending, each);
    }
    ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    ::alarm(static_cast<unsigned>(at_most.count()));
}

namespace {

constexpr int first_passed_descriptor = 3;  // SD_LISTEN_FDS_START
constexpr std::uint64_t sockets_max = 64;
constexpr std::uint64_t number_max = 1'000'000'000'000;

std::string take(const char* name) {
    const char* const value = ::getenv(name);
    std::string taken = value != nullptr ? value : "";
    ::unsetenv(name);
    return taken;
}

/// Whether a variable that names a process names this one; `otherwise` if it is not set.
bool is_this_process(const std::string& pid, bool otherwise) {
    if (pid.empty()) return otherwise;
    return parse_whole_number(pid, 1, number_max) == static_cast<std::uint64_t>(::getpid());
}

}  // namespace

service_manager::service_manager() : socket_{take("NOTIFY_SOCKET")} {
    const auto listen_fds = take("LISTEN_FDS"), listen_pid = take("LISTEN_PID");
    static_cast<void>(take("LISTEN_FDNAMES"));
    if (!listen_fds.empty() && is_this_process(listen_pid, false)) {
        const auto count = parse_whole_number(listen_fds, 0, sockets_max);
        if (!count)
            throw run_error{"LISTEN_FDS: '" + listen_fds + "' is not a whole number from 0 to " + std::to_string(sockets_max) + "."};
        for (int i = 0; i < static_cast<int>(*count); ++i) {
            sockets_.push_back(first_passed_descriptor + i);
            ::fcntl(sockets_.back(), F_SETFD, FD_CLOEXEC);
        }
    }
    const auto watchdog = take("WATCHDOG_USEC"), watchdog_pid = take("WATCHDOG_PID");
    if (const auto microseconds = parse_whole_number(watchdog, 1, number_max); microseconds && is_this_process(watchdog_pid, true))
        watchdog_interval_ = (std::max)(tollgate::milliseconds{*microseconds / 2000}, tollgate::milliseconds{1});
}

void service_manager::notify(std::string_view state) const noexcept {
    sockaddr_un to{};
    if (socket_.empty() || socket_.size() >= sizeof to.sun_path || (socket_.front() != '/' && socket_.front() != '@')) return;
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, socket_.data(), socket_.size());
    if (socket_.front() == '@') to.sun_path[0] = '\0';
    const int from = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    if (from < 0) return;
    ::fcntl(from, F_SETFD, FD_CLOEXEC);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    static_cast<void>(::sendto(from, state.data(), state.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), bytes));
    ::close(from);
}

}  // namespace reference
