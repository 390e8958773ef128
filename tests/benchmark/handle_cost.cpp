// One warm `handle` of a balance request, memory store, without a server around it:
//
//     handle_cost COUNT [USERS [THREADS]]
//
// Prints JSON: nanoseconds of CPU and allocations per call, of COUNT calls. `run` counts the instructions with callgrind. With
// USERS, each call has the token of a random one of so many users: the more users, the fewer of them are in the caches of the
// processor and of the library. With THREADS, so many threads make COUNT calls each at the same time, and `calls_per_second` is
// their total per second of elapsed time.

#include "common/account_service.hpp"
#include "common/fixed_answer.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/store/memory.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
}

namespace {

std::atomic<long> allocations = 0;

}  // namespace

// Every allocation is counted, also those of OpenSSL and SQLite, which do not use operator new.
extern "C" void* malloc(std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(bytes);
}
extern "C" void* calloc(std::size_t count, std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_calloc(count, bytes);
}
extern "C" void* realloc(void* old, std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_realloc(old, bytes);
}

namespace {

double cpu_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// A caller with its own request and response, like a connection of a server.
template <class Api>
class caller {
public:
    caller(Api& api, const std::vector<std::string>& tokens, bool sets_token, unsigned seed)
        : api_{api}, tokens_{tokens}, sets_token_{sets_token}, random_{seed}, any_token_{0, tokens.size() - 1},
          bytes_{"GET /v1/user/balance HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmark\r\nAuthorization: " + tokens.front() +
                 "\r\n\r\n"} {
        tollgate::http::request_parser parser;
        parser.start();
        if (parser.step(bytes_, request_) != tollgate::http::parse_step::complete) std::abort();
    }

    /// Makes `times` calls. Returns their nanoseconds of CPU.
    double ask(long times) {
        // The texts of a batch are fetched before its time is taken: a server finds them in the buffer that it has just filled.
        std::array<std::string, 64> batch;
        double nanoseconds = 0;
        for (long done = 0; done < times;) {
            const long size = std::min<long>(sets_token_ ? batch.size() : times, times - done);
            if (sets_token_)
                for (auto& each : batch) each = tokens_[any_token_(random_)];
            const double before = cpu_nanoseconds();
            for (long i = 0; i < size; ++i) {
                answer_.clear();
                if (sets_token_) {
                    request_.fields.clear();
                    request_.fields.add("Host", "127.0.0.1");
                    request_.fields.add("User-Agent", "benchmark");
                    request_.fields.add("Authorization", batch[static_cast<std::size_t>(i)]);
                }
                api_.handle(request_, answer_);
            }
            nanoseconds += cpu_nanoseconds() - before;
            done += size;
        }
        return nanoseconds;
    }

    [[nodiscard]] const tollgate::http::response& answer() const { return answer_; }

private:
    Api& api_;
    const std::vector<std::string>& tokens_;
    const bool sets_token_;
    tollgate::http::request request_;
    tollgate::http::response answer_;
    std::minstd_rand random_;
    std::uniform_int_distribution<std::size_t> any_token_;
    std::string bytes_;
};

}  // namespace

int main(int argc, char** argv) {
    const long count = argc > 1 ? std::atol(argv[1]) : 0;
    const long user_count = argc > 2 ? std::atol(argv[2]) : 1;
    const long thread_count = argc > 3 ? std::atol(argv[3]) : 1;
    if (count <= 0 || user_count <= 0 || thread_count <= 0) {
        std::fputs("usage: handle_cost COUNT [USERS [THREADS]]\n", stderr);
        return 2;
    }
    const bool sets_token = argc > 2;
    benchmark::one_user users;
    tollgate::memory_store store;
    tollgate::account_api api{benchmark::settings(), users, store, tollgate::account_routes()};

    std::vector<std::string> tokens;
    for (long i = 1; i <= user_count; ++i) tokens.push_back(benchmark::add_token(store, tollgate::user_id{i}));
    caller first{api, tokens, sets_token, 1};
    first.ask(sets_token ? 100 + 3 * user_count : 100);  // warm: the windows exist, the response has its memory
    if (first.answer().status() != tollgate::http::status::ok || (!sets_token && first.answer().body() != benchmark::body)) {
        std::fprintf(stderr, "an unexpected answer: %s\n", first.answer().body().c_str());
        return 1;
    }
    const long allocations_before = allocations;
    const auto start = std::chrono::steady_clock::now();
    double nanoseconds = 0;
    if (thread_count == 1) {
        nanoseconds = first.ask(count);
    } else {
        std::vector<std::thread> threads;
        std::vector<double> durations(static_cast<std::size_t>(thread_count));
        for (std::size_t i = 0; i < durations.size(); ++i)
            threads.emplace_back([&, i] { durations[i] = caller{api, tokens, sets_token, static_cast<unsigned>(i) + 2}.ask(count); });
        for (auto& each : threads) each.join();
        for (const double each : durations) nanoseconds += each;
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const auto calls = static_cast<double>(count * thread_count);
    std::printf("{\"nanoseconds\": %.1f, \"allocations\": %.3f, \"calls_per_second\": %.0f}\n", nanoseconds / calls,
                static_cast<double>(allocations - allocations_before) / calls, calls / passed.count());
}
