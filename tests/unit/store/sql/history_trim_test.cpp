#include <tollgate/store/detail/sql/history_trim.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace tollgate;

TEST_CASE("a webhook's history is trimmed often enough, however many webhooks share the table", "[store][sql]") {
    // With so many busy webhooks, one webhook's deliveries have ids at this distance.
    for (const std::int64_t webhooks : {1, 2, 64, 128, 1'000, 10'000, 10'002, 10'946, 20'000, 1'000'000}) {
        CAPTURE(webhooks);
        std::size_t kept = 0, most = 0, trims = 0;
        for (std::int64_t i = 1; i <= 100'000; ++i) {
            most = (std::max)(most, ++kept);
            if (!sql::trims_history(delivery_id{i * webhooks}, delivery_state::delivered)) continue;
            ++trims;
            kept -= (std::min)(kept, sql::trimmed_rows_max);
        }
        CHECK(trims > 100'000 / 96);
        CHECK(trims < 100'000 / 48);
        CHECK(most < 1'000);  // beyond the bound
    }
}

TEST_CASE("only deliveries that were delivered or given up count for the trimming of a history", "[store][sql]") {
    const auto trims = [](delivery_state state) {
        std::size_t count = 0;
        for (std::int64_t i = 1; i <= 1'000; ++i) count += sql::trims_history(delivery_id{i}, state) ? 1 : 0;
        return count;
    };
    CHECK(trims(delivery_state::delivered) > 0);
    CHECK(trims(delivery_state::given_up) == trims(delivery_state::delivered));
    CHECK(trims(delivery_state::waiting) == 0);
    CHECK(trims(delivery_state::held) == 0);
}
