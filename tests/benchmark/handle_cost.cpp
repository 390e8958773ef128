// One warm `handle` of a balance request, memory store, without a server around it:
//
//     handle_cost COUNT [USERS]
//
// Prints JSON: nanoseconds of CPU and allocations of one of COUNT calls. `run` counts its instructions from outside. With USERS,
// each call has the token of one of so many users, in random order: the more there are, the less of them is in the caches of the
// processor and of the library.

#include "common/account_service.hpp"
#include "common/fixed_answer.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/store/memory.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

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
    const long user_count = argc > 2 ? std::atol(argv[2]) : 1;
    if (count <= 0 || user_count <= 0) {
        std::fputs("usage: handle_cost COUNT [USERS]\n", stderr);
        return 2;
    }
    const bool sets_token = argc > 2;
    benchmark::one_user users;
    tollgate::memory_store store;
    tollgate::account_api api{benchmark::settings(), users, store, tollgate::account_routes()};

    std::vector<std::string> tokens;
    for (long i = 1; i <= user_count; ++i) tokens.push_back(benchmark::add_token(store, tollgate::user_id{i}));
    std::string bytes = "GET /v1/user/balance HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmark\r\nAuthorization: " +
                        tokens.front() + "\r\n\r\n";
    tollgate::http::request_parser parser;
    tollgate::http::request asked;
    parser.start();
    if (parser.step(bytes, asked) != tollgate::http::parse_step::complete) return 1;

    tollgate::http::response answer;
    double nanoseconds = 0;
    std::minstd_rand random;
    std::uniform_int_distribution<std::size_t> any_token{0, tokens.size() - 1};
    const auto ask = [&](long times) {
        // The texts of a batch are fetched before its time is taken: a server finds them in the buffer that it has just filled.
        std::array<std::string, 64> batch;
        for (long done = 0; done < times;) {
            const long size = std::min<long>(sets_token ? batch.size() : times, times - done);
            if (sets_token)
                for (auto& each : batch) each = tokens[any_token(random)];
            const double before = cpu_nanoseconds();
            for (long i = 0; i < size; ++i) {
                answer.clear();
                if (sets_token) {
                    asked.fields.clear();
                    asked.fields.add("Host", "127.0.0.1");
                    asked.fields.add("User-Agent", "benchmark");
                    asked.fields.add("Authorization", batch[static_cast<std::size_t>(i)]);
                }
                api.handle(asked, answer);
            }
            nanoseconds += cpu_nanoseconds() - before;
            done += size;
        }
    };
    ask(sets_token ? 100 + 3 * user_count : 100);  // warm: the windows exist, the response has its memory
    if (answer.status() != tollgate::http::status::ok || (!sets_token && answer.body() != benchmark::body)) {
        std::fprintf(stderr, "an unexpected answer: %s\n", answer.body().c_str());
        return 1;
    }
    const long allocations_before = allocations;
    nanoseconds = 0;
    ask(count);
    std::printf("{\"nanoseconds\": %.1f, \"allocations\": %.3f}\n", nanoseconds / static_cast<double>(count),
                static_cast<double>(allocations - allocations_before) / static_cast<double>(count));
}
