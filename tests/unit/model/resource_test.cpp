#include <tollgate/model/resource.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;

namespace {

resource_set set_of(std::initializer_list<std::uint64_t> values) {
    resource_set all;
    for (const auto each : values) CHECK(all.add({each}));
    return all;
}

}  // namespace

TEST_CASE("the id of a resource follows from its URL", "[resource]") {
    const auto id = resource_id_of("https://api.example/v1");
    CHECK(id.value == 0xca596ae86d2e1874U);
    CHECK(resource_id_of("https://api.example/v1/") == id);
    CHECK(resource_id_of("https://api.example/v1/mcp") != id);
    CHECK(resource_id_of("https://api.example/V1") != id);
}

TEST_CASE("a set of resources is sorted, without duplicates, and bounded", "[resource]") {
    auto all = set_of({7, 3, 7, 5});
    CHECK(all.size() == 3);
    CHECK(all == set_of({3, 5, 7}));
    CHECK(all.add({1}));
    CHECK_FALSE(all.add({2}));
    CHECK(all.add({7}));
    CHECK(all == set_of({1, 3, 5, 7}));
}

TEST_CASE("an empty set is for every resource, any other for its own", "[resource]") {
    const resource_set every;
    const auto two = set_of({3, 5});
    struct row {
        const resource_set& token;
        const resource_set& requested;
        bool is_for_all;
    };
    const auto one = set_of({5}), other = set_of({4});
    for (const auto& [token, requested, is_for_all] :
         {row{every, every, true}, row{every, two, true}, row{two, one, true}, row{two, two, true}, row{two, other, false},
          row{one, two, false}, row{two, every, false}})
        CHECK(token.is_for_all(requested) == is_for_all);
    CHECK(every.is_for({9}));
    CHECK(two.is_for({5}));
    CHECK_FALSE(two.is_for({4}));
    CHECK(every.narrowed_to(two) == two);
    CHECK(two.narrowed_to(every) == two);
    CHECK(two.narrowed_to(one) == one);
}

TEST_CASE("stores keep a set as text", "[resource]") {
    for (const auto& all : {resource_set{}, set_of({1}), set_of({0, UINT64_MAX}), set_of({0x0123456789abcdefU, 2, 3, 4})})
        CHECK(resource_set::parse(all.text()) == all);
    CHECK(set_of({0xabU, 1}).text() == "000000000000000100000000000000ab");
    const std::string one = "00000000000000ab";
    for (const std::string& refused : {one.substr(1), one + "0", std::string{"00000000000000AB"}, std::string{"00000000000000a "},
                                       one + one, one + "0000000000000001", one + one.substr(1) + "g"}) {
        CAPTURE(refused);
        CHECK_FALSE(resource_set::parse(refused));
    }
    std::string five;
    for (int i = 1; i <= 5; ++i) five += "000000000000000" + std::to_string(i);
    CHECK_FALSE(resource_set::parse(five));
    CHECK(resource_set::parse(five.substr(16)));
}
