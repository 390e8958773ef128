#include <tollgate/base/result.hpp>

#include <catch2/catch.hpp>
#include <support/captured_stderr.hpp>

#include <any>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

error failure() { return {error_kind::conflict, "Taken.", "unique index"}; }

struct copies {  // counts how often it was copied
    int count = 0;
    copies() = default;
    copies(const copies& from) : count{from.count + 1} {}
    copies(copies&& from) noexcept = default;
    copies& operator=(const copies&) = delete;
    copies& operator=(copies&&) = delete;
};

struct throws {
    explicit throws(bool now) {
        if (now) throw std::runtime_error{"no"};
    }
};

}  // namespace

TEST_CASE("a result is a value or an error", "[base][result]") {
    result<std::string> good{"yes"};
    REQUIRE(good);
    CHECK(*good == "yes");
    CHECK(good->size() == 3);

    const result<std::string> bad{unavailable("disk on fire")};
    REQUIRE_FALSE(bad);
    CHECK(bad.error().kind == error_kind::unavailable);
    CHECK(bad.error().cause == "disk on fire");
    CHECK(bad.error().message.find("disk") == std::string::npos);
}

TEST_CASE("a result has the constructors of std::expected", "[base][result]") {
    CHECK(result<std::string>{}.value().empty());
    CHECK(*result<std::string>{std::in_place, 3U, 'x'} == "xxx");
    CHECK(result<void>{});
    CHECK(result<void>{std::in_place});
    STATIC_REQUIRE(std::is_same_v<result<int>::value_type, int>);
    STATIC_REQUIRE(std::is_same_v<result<int>::error_type, error>);
    STATIC_REQUIRE(std::is_same_v<result<void>::value_type, void>);
    STATIC_REQUIRE(std::is_same_v<result<void>::error_type, error>);
    STATIC_REQUIRE(std::is_convertible_v<error, result<int>>);
    STATIC_REQUIRE(std::is_convertible_v<int, result<int>>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<result<throws>>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<std::in_place_t, result<int>>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<result<int>, std::in_place_t, std::string>);
}

TEST_CASE("a value and a result convert from convertible types", "[base][result]") {
    const result<std::string> text = "yes";
    CHECK(text == "yes");
    CHECK(result<long>{result<int>{7}} == 7L);
    CHECK(result<long>{result<int>{failure()}} == failure());
    const result<std::optional<int>> some = 7;
    CHECK(some->value() == 7);
    const result<std::optional<int>> none = std::nullopt;
    CHECK_FALSE(none->has_value());
    STATIC_REQUIRE(std::is_convertible_v<const char*, result<std::string>>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<bool, result<throws>>);  // its constructor is explicit
    STATIC_REQUIRE_FALSE(std::is_convertible_v<std::string, result<int>>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<result<std::string>, result<int>>);
}

TEST_CASE("a value that could also be an element of its own list is not wrapped", "[base][result]") {
    const std::vector<std::any> two{1, 2};
    CHECK(result<std::vector<std::any>>{two}->size() == 2);
    const result<std::vector<std::any>> converted = two;
    CHECK(converted->size() == 2);
    CHECK(result<std::vector<std::any>>{result<std::vector<std::any>>{two}}->size() == 2);
    CHECK(result<std::vector<std::any>>{std::in_place, two}->size() == 2);
    CHECK(converted.transform([](auto all) { return all; })->size() == 2);
}

TEST_CASE("the value of a result can be moved out", "[base][result]") {
    result<std::unique_ptr<int>> owner{std::make_unique<int>(7)};
    const auto taken = *std::move(owner);
    CHECK(*taken == 7);
    CHECK(*result<std::unique_ptr<int>>{std::make_unique<int>(8)}.value() == 8);
}

TEST_CASE("a result<void> is success or an error", "[base][result]") {
    const result<void> done;
    CHECK(done);
    *done;
    result<void> failed{invalid("event is missing.")};
    REQUIRE_FALSE(failed);
    const error problem = std::move(failed).error();
    CHECK(problem.message == "event is missing.");
}

TEST_CASE("a result is copied, moved and assigned between both states", "[base][result]") {
    using counted_pointer = std::shared_ptr<int>;  // counts its owners, to detect values that are lost or destroyed twice
    const auto counted = std::make_shared<int>(7);
    {
        const result<counted_pointer> good{counted};
        const result<counted_pointer> bad{invalid("no.")};
        for (const auto* from : {&good, &bad}) {
            for (const auto* before : {&good, &bad}) {
                result<counted_pointer> copied{*from};
                result<counted_pointer> into{*before};
                into = copied;
                result<counted_pointer> moved{*before};
                moved = std::move(copied);
                auto& same = moved;
                moved = same;
                result<counted_pointer> swapped{*before};
                result<counted_pointer> other{*from};
                swap(swapped, other);
                CHECK(other == *before);
                for (const auto* after : {&into, &moved, &swapped}) {
                    REQUIRE(after->has_value() == from->has_value());
                    if (*from) CHECK(**after == counted);
                    else CHECK(after->error().message == "no.");
                }
            }
        }
        CHECK(counted.use_count() == 2);  // `counted` and `good`
    }
    CHECK(counted.use_count() == 1);
}

TEST_CASE("emplace replaces a value and an error, and changes nothing if the constructor throws", "[base][result]") {
    for (const bool has_value : {true, false}) {
        CAPTURE(has_value);
        result<std::string> text = has_value ? result<std::string>{"before"} : result<std::string>{failure()};
        CHECK(text.emplace(2U, 'a') == "aa");
        CHECK(text == "aa");

        result<throws> target = has_value ? result<throws>{std::in_place, false} : result<throws>{failure()};
        CHECK_THROWS_AS(target.emplace(true), std::runtime_error);
        CHECK(target.has_value() == has_value);
        if (!has_value) CHECK(target.error() == failure());

        result<void> nothing = has_value ? result<void>{} : result<void>{failure()};
        nothing.emplace();
        CHECK(nothing);
    }
}

TEST_CASE("a result of a move-only type is move-only, and moves never throw", "[base][result]") {
    STATIC_REQUIRE(std::is_copy_constructible_v<result<std::string>>);
    STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
    STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<result<std::unique_ptr<int>>>);
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<result<std::unique_ptr<int>>>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<result<std::unique_ptr<int>>>);
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<result<void>>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<result<void>>);
    STATIC_REQUIRE(std::is_nothrow_swappable_v<result<std::string>>);
}

TEST_CASE("value() returns the value, or throws the error", "[base][result]") {
    result<int> good{7};
    CHECK(good.value() == 7);
    CHECK(std::as_const(good).value() == 7);
    good.value() = 8;
    CHECK(std::move(good).value() == 8);
    CHECK_NOTHROW(result<void>{}.value());

    STATIC_REQUIRE(std::is_base_of_v<std::logic_error, bad_result_access>);
    struct {
        error held;
        const char* message;
    } const rows[] = {{failure(), "unique index"}, {invalid("Name is missing."), "Name is missing."}};
    for (const auto& row : rows) {
        result<int> bad{row.held};
        CHECK_THROWS_WITH(bad.value(), row.message);
        CHECK_THROWS_WITH(std::as_const(bad).value(), row.message);
        CHECK_THROWS_WITH(result<void>{row.held}.value(), row.message);
        try {
            static_cast<void>(std::move(bad).value());
            FAIL("value() returned");
        } catch (const bad_result_access& thrown) {
            CHECK(thrown.error() == row.held);
        }
    }
}

TEST_CASE("report prints the cause, or the message without one, and returns the exit code", "[base][result]") {
    struct {
        error problem;
        const char* printed;
    } const rows[] = {{failure(), "tollgate: unique index\n"}, {invalid("Name is missing."), "tollgate: Name is missing.\n"}};
    for (const auto& row : rows) {
        CHECK("tollgate: " + row.problem.log_text() + "\n" == row.printed);
        tollgate_test::captured_stderr printed;
        CHECK(report(row.problem) == 1);
        CHECK(printed.text() == row.printed);
    }
}

TEST_CASE("value_or and error_or", "[base][result]") {
    const result<std::string> good{"yes"};
    const result<std::string> bad{failure()};
    CHECK(good.value_or("no") == "yes");
    CHECK(bad.value_or("no") == "no");
    CHECK(result<std::string>{"yes"}.value_or("no") == "yes");
    CHECK(result<std::string>{failure()}.value_or("no") == "no");
    CHECK(*result<std::unique_ptr<int>>{std::make_unique<int>(7)}.value_or(nullptr) == 7);
    CHECK(good.error_or(not_found()) == not_found());
    CHECK(bad.error_or(not_found()) == failure());
    CHECK(result<std::string>{failure()}.error_or(not_found()) == failure());
    CHECK(result<void>{}.error_or(not_found()) == not_found());
    CHECK(result<void>{failure()}.error_or(not_found()) == failure());
}

TEST_CASE("the monadic functions call the function that applies, and pass on other values and errors", "[base][result]") {
    const auto half = [](int n) -> result<std::string> {
        if (n % 2 != 0) return invalid("odd");
        return std::to_string(n / 2);
    };
    struct {
        result<int> from;
        result<std::string> and_then;
        result<std::string> transform;
        result<int> or_else;
        result<int> transform_error;
    } const rows[] = {
        {8, "4", "8", 8, 8},
        {7, invalid("odd"), "7", 7, 7},
        {failure(), failure(), failure(), 6, not_found()},
    };
    for (const auto& row : rows) {
        const auto text = [](int n) { return std::to_string(n); };
        const auto message_length = [](const error& problem) -> result<int> { return static_cast<int>(problem.message.size()); };  // "Taken."
        const auto hidden = [](const error&) { return not_found(); };
        auto copy = row.from;
        CHECK(copy.and_then(half) == row.and_then);
        CHECK(row.from.and_then(half) == row.and_then);
        CHECK(result<int>{row.from}.and_then(half) == row.and_then);
        CHECK(copy.transform(text) == row.transform);
        CHECK(row.from.transform(text) == row.transform);
        CHECK(result<int>{row.from}.transform(text) == row.transform);
        CHECK(row.from.or_else(message_length) == row.or_else);
        CHECK(result<int>{row.from}.or_else(message_length) == row.or_else);
        CHECK(row.from.transform_error(hidden) == row.transform_error);
        CHECK(result<int>{row.from}.transform_error(hidden) == row.transform_error);

        const auto nothing = row.from.transform([](int) {});
        STATIC_REQUIRE(std::is_same_v<decltype(nothing), const result<void>>);
        CHECK(nothing.has_value() == row.from.has_value());
        CHECK(nothing.and_then([&] { return row.from; }) == row.from);
        CHECK(result<void>{nothing}.and_then([&] { return row.from; }) == row.from);
        CHECK(nothing.transform([] { return 5; }).value_or(0) == (row.from ? 5 : 0));
        CHECK(nothing.transform([] {}).has_value() == row.from.has_value());
        CHECK(nothing.or_else([](const error&) { return result<void>{}; }));
        CHECK(nothing.transform_error(hidden).error_or(failure()) == (row.from ? failure() : not_found()));
    }
}

TEST_CASE("the monadic functions move values and errors from an rvalue", "[base][result]") {
    result<std::unique_ptr<int>> owner{std::make_unique<int>(7)};
    const auto moved = std::move(owner)
                           .and_then([](std::unique_ptr<int> from) -> result<std::unique_ptr<int>> { return from; })
                           .or_else([](error problem) -> result<std::unique_ptr<int>> { return problem; })
                           .transform_error([](error problem) { return problem; })
                           .transform([](std::unique_ptr<int> from) { return *from; });
    CHECK(moved == 7);
    CHECK(result<copies>{copies{}}.transform_error([](error problem) { return problem; })->count == 0);
    const result<copies> original{copies{}};
    CHECK(original.transform_error([](error problem) { return problem; })->count == 1);
}

TEST_CASE("results are equal by their values or their errors", "[base][result]") {
    const result<int> values[] = {7, 8, failure(), not_found()};
    for (const auto& a : values)
        for (const auto& b : values) {
            CHECK((a == b) == (&a == &b));
            CHECK((a != b) == (&a != &b));
        }
    CHECK(result<int>{7} == result<long>{7});
    CHECK(result<int>{7} == 7);
    CHECK(7 == result<int>{7});
    CHECK(result<int>{failure()} != 7);
    CHECK(result<int>{failure()} == failure());
    CHECK(result<int>{failure()} != not_found());
    CHECK(result<int>{7} != failure());
    CHECK(result<std::string>{"yes"} == "yes");
    CHECK(result<void>{} == result<void>{});
    CHECK(result<void>{} != result<void>{failure()});
    CHECK(result<void>{failure()} == failure());
    CHECK(result<void>{failure()} != result<void>{not_found()});
}
