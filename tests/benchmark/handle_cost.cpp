// One warm `handle` of a balance request, memory store, without a server around it:
//
//     handle_cost COUNT
//
// Prints JSON: nanoseconds of CPU and allocations of one of COUNT calls. `run` counts its instructions from outside.

#include "common/account_service.hpp"
#include "common/fixed_answer.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/store/memory.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
}

namespace {

long allocations = 0;

}  // namespace

// Every way to the heap is counted, so OpenSSL's and SQLite's too, which do not use operator new.
extern "C" void* malloc(std::size_t bytes) {
    ++allocations;
    return __libc_malloc(bytes);
}
extern "C" void* calloc(std::size_t count, std::size_t bytes) {
    ++allocations;
    return __libc_calloc(count, bytes);
}
extern "C" void* realloc(void* old, std::size_t bytes) {
    ++allocations;
    return __libc_realloc(old, bytes);
}

namespace {

double cpu_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
    const long count = argc > 1 ? std::atol(argv[1]) : 0;
    if (count <= 0) {
        std::fputs("usage: handle_cost COUNT\n", stderr);
        return 2;
    }
    benchmark::one_user users;
    tollgate::memory_store store;
    tollgate::account_api api{benchmark::settings(), users, store};

    std::string bytes = "GET /v1/user/balance HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmark\r\nAuthorization: " +
                        benchmark::add_token(store) + "\r\n\r\n";
    tollgate::http::request_parser parser;
    tollgate::http::request asked;
    parser.start();
    if (parser.step(bytes, asked) != tollgate::http::parse_step::complete) return 1;

    tollgate::http::response answer;
    const auto ask = [&](long times) {
        for (long i = 0; i < times; ++i) {
            answer.clear();
            api.handle(asked, answer);
        }
    };
    ask(100);  // warm: the window exists, the response has its memory
    if (answer.status() != tollgate::http::status::ok || answer.body() != benchmark::body) {
        std::fprintf(stderr, "an unexpected answer: %s\n", answer.body().c_str());
        return 1;
    }
    const long allocations_before = allocations;
    const double before = cpu_nanoseconds();
    ask(count);
    const double after = cpu_nanoseconds();
    std::printf("{\"nanoseconds\": %.1f, \"allocations\": %.3f}\n", (after - before) / static_cast<double>(count),
                static_cast<double>(allocations - allocations_before) / static_cast<double>(count));
}
