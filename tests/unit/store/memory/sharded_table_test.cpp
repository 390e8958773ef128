#include <tollgate/store/detail/memory/sharded_table.hpp>

#include <tollgate/base/detail/inline_text.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace tollgate;

namespace {

using name = tollgate::detail::inline_text<32>;
using table = memory::sharded_table<name, int>;

std::optional<int> find(const table& in, std::string_view key) {
    return in.with(key, [](const int* row) { return row != nullptr ? std::optional{*row} : std::nullopt; });
}

}  // namespace

TEST_CASE("a sharded table inserts, finds, changes and erases") {
    table rows;
    CHECK_FALSE(find(rows, "a"));
    CHECK(rows.insert(*name::from("a"), 1));
    CHECK_FALSE(rows.insert(*name::from("a"), 2));
    CHECK(find(rows, "a") == 1);
    CHECK(rows.change(std::string_view{"a"}, [](int& row) { row += 5; }));
    CHECK_FALSE(rows.change(std::string_view{"b"}, [](int& row) { row += 5; }));
    CHECK(find(rows, "a") == 6);
    CHECK_FALSE(find(rows, "b"));
    CHECK_FALSE(find(rows, "ab"));
    CHECK_FALSE(find(rows, ""));
    CHECK(rows.erase(*name::from("a")));
    CHECK_FALSE(rows.erase(*name::from("a")));
    CHECK_FALSE(find(rows, "a"));
}

TEST_CASE("a sharded table is equivalent to a map") {
    // Few keys fill shards of the smallest size, where searches wrap around; many make the shards grow.
    const unsigned keys = GENERATE(500U, 20'000U);
    table rows;
    std::map<std::string, int> truth;
    std::mt19937 random{Catch::rngSeed()};
    for (int step = 0; step < 40'000; ++step) {
        const std::string key = "key_" + std::to_string(random() % keys);
        switch (random() % 4) {
            case 0: REQUIRE(rows.insert(*name::from(key), step) == truth.try_emplace(key, step).second); break;
            case 1: REQUIRE(rows.erase(*name::from(key)) == (truth.erase(key) == 1)); break;
            case 2: {
                const auto known = truth.find(key);
                REQUIRE(rows.change(key, [step](int& row) { row -= step; }) == (known != truth.end()));
                if (known != truth.end()) known->second -= step;
                break;
            }
            default: {
                const auto known = truth.find(key);
                REQUIRE(find(rows, key) == (known == truth.end() ? std::nullopt : std::optional{known->second}));
            }
        }
    }
    for (const auto& [key, row] : truth) REQUIRE(find(rows, key) == row);
    for (const auto& [key, row] : truth) REQUIRE(rows.erase(*name::from(key)));
    for (const auto& [key, row] : truth) REQUIRE_FALSE(find(rows, key));
}

TEST_CASE("a sharded table moves rows that own memory") {
    memory::sharded_table<name, std::string> rows;
    const auto row_of = [](int key) { return std::string(100, static_cast<char>('a' + key % 26)) + std::to_string(key); };
    constexpr int keys = 2000;
    for (int key = 0; key < keys; ++key) REQUIRE(rows.insert(*name::from(std::to_string(key)), row_of(key)));
    for (int key = 0; key < keys; key += 3) REQUIRE(rows.erase(*name::from(std::to_string(key))));
    for (int key = 0; key < keys; ++key) {
        const bool present = rows.with(std::to_string(key), [&](const std::string* row) { return row != nullptr && *row == row_of(key); });
        REQUIRE(present == (key % 3 != 0));
    }
}

TEST_CASE("a sharded table is thread-safe") {
    table rows;
    constexpr int threads = 6, keys = 500;
    std::atomic<int> inserted{0};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
            for (int key = 0; key < keys; ++key) {
                const auto text = std::to_string(key);
                if (rows.insert(*name::from(text), i)) ++inserted;
                if (!find(rows, text)) inserted += 1000;
            }
        });
    for (auto& each : all) each.join();
    CHECK(inserted == keys);
}
