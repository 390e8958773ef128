#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_START_THREAD_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_START_THREAD_HPP

#include <tollgate/base/detail/system/kind.hpp>

#include <initializer_list>
#include <thread>
#include <utility>

#if !defined(TOLLGATE_SYSTEM_WINDOWS)
#include <pthread.h>
#include <signal.h>
#endif

namespace tollgate::inline v0::detail {

/// Blocks signals on the calling thread, so that a thread which it starts meanwhile blocks them, too. Signals to the process are then
/// delivered to the program's own threads, where it expects them: by a handler, `sigwait` or `signalfd`.
///
/// Not blocked are signals that a thread causes itself, whose handlers report crashes, and SIGPROF, with which profilers sample threads.
#if defined(TOLLGATE_SYSTEM_WINDOWS)
class blocked_signals {
public:
    blocked_signals() noexcept {}  // Windows interrupts no thread for a signal
};
#else
class blocked_signals {
public:
    blocked_signals() noexcept {
        sigset_t blocked;
        ::sigfillset(&blocked);
        for (const int each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) ::sigdelset(&blocked, each);
        ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};
#endif

/// Starts a thread of the library's own, which takes none of the process's signals. With glibc, it cannot be cancelled. Throws
/// `std::system_error`, or what copying `body` throws.
template <class Body>
[[nodiscard]] std::thread start_thread(Body body) {
    const blocked_signals inherited;
    return std::thread{[body = std::move(body)]() mutable {
#if defined(__GLIBC__)
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
        // It has no effect on a thread that cannot be cancelled, except that glibc omits two atomic operations around each system call
        // that may block. They cost a fifth of a short one.
        ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
#endif
        body();
    }};
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_START_THREAD_HPP
