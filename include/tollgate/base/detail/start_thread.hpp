#pragma once

#include <thread>
#include <utility>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace tollgate::inline v0::detail {

/// Starts a thread of the library's own. It cannot be cancelled. Throws `std::system_error`, or what copying `body` throws.
template <class Body>
[[nodiscard]] std::thread start_thread(Body body) {
    return std::thread{[body = std::move(body)]() mutable {
#if defined(__unix__)
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
        // Without effect on a thread that cannot be cancelled, but glibc then makes no atomic operations around each system call,
        // which cost a fifth of one.
        ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
#endif
        body();
    }};
}

}  // namespace tollgate::detail
