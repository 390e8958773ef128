// The latency of look-ups in a PostgreSQL store, by the number of its rows: one line of JSON.
//
//     store_lookups CONNECTION_STRING ROWS
//
// The store has ROWS personal tokens, as many access tokens and a tenth as many hooks, with the names that `run` creates them
// with; each look-up is of a random one. One caller, no cache, microseconds. With ROWS 0 it only creates the tables.

#include <tollgate/base/digest.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/postgres.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace tollgate;

namespace {

const service_name the_service = *service_name::from("sitesmaker");
std::mt19937_64 chance{1};  // NOLINT: the same choices in each run

std::int64_t one_of(std::int64_t count) { return std::uniform_int_distribution<std::int64_t>{1, count}(chance); }

/// Calls it 2,000 times, 200 of them to warm up. `call` returns whether it found the row.
template <class Call>
void tell(const char* name, bool first, const Call& call) {
    constexpr int warm = 200, count = 2000;
    std::vector<double> durations;
    for (int i = 0; i < warm + count; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const bool right = call();
        const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
        if (!right) {
            std::fprintf(stderr, "%s: not what is there\n", name);
            std::exit(1);
        }
        if (i >= warm) durations.push_back(passed.count());
    }
    std::sort(durations.begin(), durations.end());
    std::printf("%s\"%s_median\": %.1f, \"%s_p99\": %.1f", first ? "{" : ", ", name, durations[count / 2], name,
                durations[count * 99 / 100]);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: store_lookups CONNECTION_STRING ROWS\n", stderr);
        return 2;
    }
    const std::int64_t rows = std::atoll(argv[2]);
    postgres_store store{argv[1]};
    if (rows == 0) return 0;
    tell("personal_token", true, [&] {
        const auto found = store.find_credential(personal_token_key{"pt" + std::to_string(one_of(rows))});
        return found && found->has_value();
    });
    tell("access_token", false, [&] {
        const auto found = store.find_credential(access_token_key{sha256(std::to_string(one_of(rows)))});
        return found && found->has_value();
    });
    tell("hooks", false, [&] {
        const auto found = store.hooks_of({the_service, account_id{one_of(rows / 10)}});
        return found && found->size() == 1;
    });
    std::uint64_t number = 0;
    tell("event", false, [&] {
        message_seed seed{};
        std::memcpy(seed.data(), &++number, sizeof number);
        const auto now = system_clock{}.now();
        const account_ref account{the_service, account_id{one_of(rows / 10)}};
        const auto appended = store.append_event({account, "site.created", "1", now}, seed, now);
        return appended && *appended == 1;
    });
    std::puts("}");
}
