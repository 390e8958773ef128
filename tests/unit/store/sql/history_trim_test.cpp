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
            if (!sql::trims_history(delivery_id{i * webhooks})) continue;
            ++trims;
            kept -= (std::min)(kept, sql::trimmed_rows_max);
        }
        CHECK(trims > 100'000 / 96);
        CHECK(trims < 100'000 / 48);
        CHECK(most < 1'000);  // beyond the bound
    }
}
