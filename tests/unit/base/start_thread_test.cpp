#include <tollgate/base/detail/start_thread.hpp>

#include <catch2/catch.hpp>

#include <pthread.h>

#include <memory>
#include <thread>
#include <utility>

namespace {

/// The cancel state and type of the calling thread.
std::pair<int, int> cancellation() {
    int state = 0, type = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    ::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return {state, type};
}

}  // namespace

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
