#include <tollgate/base/detail/keyed_hash.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

using namespace tollgate;

TEST_CASE("equal keys have equal hashes, wherever their bytes are") {
    const tollgate::detail::keyed_hash hash;
    for (std::size_t size = 0; size < 70; ++size) {
        const std::string text(size, 'x');
        const std::string shifted = "yz" + text;
        CHECK(hash(std::string_view{text}) == hash(std::string_view{shifted}.substr(2)));
    }
    CHECK(hash(user_id{5}) == hash(user_id{5}));
    CHECK(hash(sha256("a")) == hash(sha256("a")));
}

TEST_CASE("similar keys have hashes that differ in their upper and lower bits") {
    const tollgate::detail::keyed_hash hash;
    std::set<std::size_t> hashes, low, high;
    std::size_t count = 0;
    const auto add = [&](std::size_t value) {
        ++count;
        hashes.insert(value);
        low.insert(value & 0xffff);
        high.insert(value >> (sizeof value * 8 - 16));
    };
    for (std::size_t size = 0; size <= 40; ++size) {
        std::string text(size, '\0');
        add(hash(text));
        for (std::size_t bit = 0; bit < size * 8; ++bit) {
            auto flipped = text;
            flipped[bit / 8] = static_cast<char>(1 << bit % 8);
            add(hash(flipped));
        }
    }
    CHECK(hashes.size() == count);
    // 6601 values in 65536 slots: about 6283 are expected to be distinct.
    CHECK(low.size() > 6100);
    CHECK(high.size() > 6100);

    low.clear();
    high.clear();
    for (std::int64_t value = 1; value <= 6601; ++value) add(hash(user_id{value}));
    CHECK(low.size() > 6100);
    CHECK(high.size() > 6100);
}

TEST_CASE("two tables hash differently, so collisions cannot be chosen") {
    const tollgate::detail::keyed_hash one, other;
    CHECK(one("tgu_a") != other("tgu_a"));
    CHECK(one(user_id{1}) != other(user_id{1}));
}
