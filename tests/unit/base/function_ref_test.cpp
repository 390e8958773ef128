#include <tollgate/base/detail/function_ref.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <type_traits>
#include <utility>

using tollgate::detail::function_ref;

namespace {

int twice(int number) { return 2 * number; }

int call(function_ref<int(int)> function, int number) { return function(number); }

}  // namespace

TEST_CASE("a function reference calls the object that it refers to") {
    int calls = 0;
    auto counting = [&calls](int number) mutable { return ++calls, number + 1; };
    CHECK(call(counting, 1) == 2);
    CHECK(call(counting, 5) == 6);
    CHECK(calls == 2);
    const auto constant = [](int number) { return -number; };
    CHECK(call(constant, 3) == -3);
    CHECK(call([](int number) { return number * number; }, 4) == 16);
    int (*const pointer)(int) = twice;
    CHECK(call(pointer, 4) == 8);
}

TEST_CASE("a copy of a function reference refers to the same object") {
    int calls = 0;
    const auto counting = [&calls] { ++calls; };
    const function_ref<void()> first{counting}, second = first;
    first();
    second();
    CHECK(calls == 2);
}

TEST_CASE("a function reference forwards its arguments and its result") {
    const auto pass = [](std::unique_ptr<int> owned) { return owned; };
    const function_ref<std::unique_ptr<int>(std::unique_ptr<int>)> passing{pass};
    CHECK(*passing(std::make_unique<int>(7)) == 7);
    using pointer = int (*)(int);
    STATIC_REQUIRE(std::is_constructible_v<function_ref<long(int)>, pointer&>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<function_ref<int(const char*)>, pointer&>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<function_ref<std::unique_ptr<int>(int)>, pointer&>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<function_ref<int(int)>, decltype(twice)&>);  // a function is no object
}
