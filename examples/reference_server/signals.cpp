#include "signals.hpp"

#include <pthread.h>
#include <unistd.h>

#include <ctime>
#include <initializer_list>

namespace reference {

signals::signals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::sigemptyset(&blocked_);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&blocked_, each);
    ::pthread_sigmask(SIG_BLOCK, &blocked_, nullptr);
}

std::optional<int> signals::wait(std::chrono::milliseconds at_most) const {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    timespec left{};
    left.tv_sec = static_cast<std::time_t>(whole.count());
    left.tv_nsec = static_cast<long>(std::chrono::nanoseconds{at_most - whole}.count());
    const int number = ::sigtimedwait(&blocked_, nullptr, &left);
    if (number < 0) return std::nullopt;
    return number;
}

std::optional<int> signals::wait() const {
    int number = 0;
    while (::sigwait(&blocked_, &number) != 0) {
    }
    return number;
}

void signals::exit_on_next_signal_or_after(std::chrono::seconds at_most) const {
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int each : {SIGTERM, SIGINT, SIGALRM}) {
        ::signal(each, [](int) { ::_exit(1); });
        ::sigaddset(&ending, each);
    }
    ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    ::alarm(static_cast<unsigned>(at_most.count()));
}

}  // namespace reference
