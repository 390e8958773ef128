#pragma once

#include <thread>
#include <utility>

#if defined(__GLIBC__)
#include <pthread.h>
#endif

namespace tollgate::inline v0::detail {

/// Starts a thread of the library's own. With glibc, it cannot be cancelled. Throws `std::system_error`, or what copying `body` throws.
template <class Body>
[[nodiscard]] std::thread start_thread(Body body) {
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
