#include <tollgate/base/detail/system/start_thread.hpp>

#include <catch2/catch.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

// Windows sends no signals to threads, and cancels none.

namespace {

/// The cancel state and type of the calling thread.
std::pair<int, int> cancellation() {
    int state = 0, type = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    ::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return {state, type};
}

/// The signals that the calling thread blocks.
std::vector<int> blocked_signals() {
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    std::vector<int> numbers;
    for (int number = 1; number <= SIGRTMAX; ++number)
        if (::sigismember(&blocked, number) == 1) numbers.push_back(number);
    return numbers;
}

}  // namespace

TEST_CASE("a thread of the library takes no signals but those that it causes itself") {
    const auto before = blocked_signals();
    std::vector<int> found;
    tollgate::detail::start_thread([&found] { found = blocked_signals(); }).join();
    const auto blocks = [&found](int number) { return std::count(found.begin(), found.end(), number) == 1; };
    for (const int each : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGCONT, SIGTSTP, SIGWINCH, SIGIO,
                           SIGVTALRM, SIGRTMIN, SIGRTMAX}) {
        CAPTURE(each);
        CHECK(blocks(each));
    }
    for (const int each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
        CAPTURE(each);
        CHECK_FALSE(blocks(each));
    }
    CHECK(blocked_signals() == before);
}

TEST_CASE("a thread of the library cannot be cancelled, and system calls do not check for it") {
    std::pair<int, int> found;
    tollgate::detail::start_thread([&found] { found = cancellation(); }).join();
    CHECK(found == std::pair{int{PTHREAD_CANCEL_DISABLE}, int{PTHREAD_CANCEL_ASYNCHRONOUS}});

    std::thread{[&found] { found = cancellation(); }}.join();
    CHECK(found == std::pair{int{PTHREAD_CANCEL_ENABLE}, int{PTHREAD_CANCEL_DEFERRED}});
}

TEST_CASE("the body of a thread may be movable only, and change what it holds") {
    int last = 0;
    tollgate::detail::start_thread([&last, own = std::make_unique<int>(1)]() mutable { last = ++*own; }).join();
    CHECK(last == 2);
}
