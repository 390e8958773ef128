#include <tollgate/store/detail/sql/rows.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace tollgate;

namespace {

/// Rows with the numbers 0, 1, ...; the one with the number `bad` cannot be read.
struct numbered_rows {
    std::int64_t count, bad;
    std::int64_t next_number = 0;

    template <class... Columns>
    result<std::optional<std::tuple<Columns...>>> next() {
        if (next_number == bad) return internal_error("bad");
        if (next_number == count) return std::optional<std::tuple<Columns...>>{};
        return std::optional{std::tuple<Columns...>{next_number++}};
    }
};

}  // namespace

TEST_CASE("rows are taken one after another, until one cannot be read") {
    std::vector<std::int64_t> taken;
    const auto take = [&](std::int64_t number) { taken.push_back(number); };
    CHECK(sql::for_each_row(numbered_rows{3, 9}, take));
    CHECK(taken == std::vector<std::int64_t>{0, 1, 2});
    CHECK(sql::for_each_row(numbered_rows{0, 9}, take));
    CHECK(taken.size() == 3);
    const auto done = sql::for_each_row(numbered_rows{3, 1}, take);
    REQUIRE(!done);
    CHECK(done.error().cause == "bad");
    CHECK(taken == std::vector<std::int64_t>{0, 1, 2, 0});
}

TEST_CASE("the columns of an owner become a quota and a balance") {
    const user_id ann{1};
    struct row {
        sql::owner_columns read;
        std::optional<known_user> expected;  // empty: an internal error
    };
    const auto quota_only = [](std::uint32_t requests, int window) {
        return known_user{quota{requests, seconds{window}}, std::nullopt};
    };
    const auto balance_only = [&](decimal amount) { return known_user{std::nullopt, balance{ann, amount, "EUR"}}; };
    const auto each = GENERATE_COPY(
        row{{}, known_user{}}, row{{std::nullopt, 60, std::nullopt, "EUR"}, known_user{}}, row{{5, 60, {}, {}}, quota_only(5, 60)},
        row{{0, 1, {}, {}}, quota_only(0, 1)},
        row{{4'294'967'295, 31'622'400, {}, {}}, quota_only(4'294'967'295, 31'622'400)},
        row{{{}, {}, "12.50", "EUR"}, balance_only("12.50")}, row{{{}, {}, "-0", "EUR"}, balance_only("-0")},
        row{{5, 60, "1", "EUR"}, known_user{quota{5, seconds{60}}, balance{ann, "1", "EUR"}}},
        row{{-1, 60, {}, {}}, {}}, row{{1, 0, {}, {}}, {}}, row{{1, -1, {}, {}}, {}}, row{{4'294'967'296, 60, {}, {}}, {}},
        row{{1, std::nullopt, {}, {}}, {}}, row{{1, 31'622'401, {}, {}}, {}}, row{{{}, {}, "", "EUR"}, {}},
        row{{{}, {}, "NaN", "EUR"}, {}}, row{{{}, {}, "1e3", "EUR"}, {}}, row{{{}, {}, "1", std::nullopt}, {}},
        row{{{}, {}, "1", "EURO"}, {}}, row{{{}, {}, "1", "EU"}, {}}, row{{5, 60, "x", "EUR"}, {}});
    const auto user = sql::to_known_user(ann, each.read);
    REQUIRE(user.has_value() == each.expected.has_value());
    if (user) CHECK(*user == *each.expected);
    else CHECK(user.error().kind == error_kind::internal);
}
