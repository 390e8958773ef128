#include <tollgate/model/scope.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

using namespace tollgate;

TEST_CASE("scopes are separated by commas, spaces or both", "[domain][scope]") {
    struct row {
        const char* list;
        const char* text;
    };
    const auto each = GENERATE(row{"", ""}, row{"a", "a"}, row{"a,b", "a b"}, row{"a b", "a b"}, row{"a, b ,  c", "a b c"},
                               row{",,a,,", "a"}, row{"a b a,b", "a b"}, row{"sitesmaker sitesmaker:read", "sitesmaker sitesmaker:read"});
    const auto read = scope_set::parse(each.list);
    REQUIRE(read);
    CHECK(read->text() == each.text);
}

TEST_CASE("a set equals the set that is parsed from its text", "[domain][scope]") {
    const auto* list = GENERATE("", "a", "b a", "sitesmaker,sitesmaker:read,user:balance");
    const auto read = *scope_set::parse(list);
    CHECK(scope_set::from_text(read.text()) == read);
    const auto longest = *scope_set::parse(std::string(limits::scope_text_bytes_max, 'x'));
    CHECK(scope_set::from_text(longest.text()) == longest);
}

TEST_CASE("a list with an invalid byte is refused", "[domain][scope]") {
    const auto* list = GENERATE("a\tb", "a\"b", "a\\b", "\x7f", "caf\xc3\xa9", "a\nb");
    CHECK_FALSE(scope_set::parse(list));
    CHECK_FALSE(scope_set::parse(std::string_view{"a\0b", 3}));
}

TEST_CASE("a set is bounded in bytes", "[domain][scope]") {
    const std::string longest(limits::scope_text_bytes_max, 'x');
    CHECK(scope_set::parse(longest));
    CHECK_FALSE(scope_set::parse(longest + "x"));
    auto full = *scope_set::parse(longest);
    CHECK(full.add(longest));
    CHECK_FALSE(full.add("y"));
    CHECK(full.text() == longest);
}

TEST_CASE("only scopes are added to a set", "[domain][scope]") {
    auto set = *scope_set::parse("b a");
    CHECK(set.add("c:read"));
    CHECK(set.add("a"));
    CHECK(set.text() == "b a c:read");
    const auto before = set;
    for (const std::string_view text : {std::string_view{""}, std::string_view{" "}, std::string_view{"d e"}, std::string_view{"a b"},
                                        std::string_view{"d,e"}, std::string_view{"d "}, std::string_view{"d\"e"}, std::string_view{"d\0", 2}}) {
        CHECK_FALSE(set.add(text));
        CHECK(set == before);
    }
    scope_set none;
    CHECK_FALSE(none.add(""));
    CHECK(none.empty());
    CHECK(none.add("a"));
    CHECK(none.text() == "a");
}

TEST_CASE("sets with the same scopes in another order differ", "[domain][scope]") {
    const auto one = *scope_set::parse("a b"), other = *scope_set::parse("b a");
    CHECK(one.contains_all(other));
    CHECK(other.contains_all(one));
    CHECK_FALSE(one == other);
}

TEST_CASE("a list is bounded before it is parsed", "[domain][scope]") {
    std::string list;
    while (list.size() + 2 <= limits::scope_list_bytes_max) list.append("a,");
    CHECK(scope_set::parse(list)->text() == "a");
    CHECK_FALSE(scope_set::parse(list + "a"));
    CHECK_FALSE(scope_set::parse(std::string(limits::scope_list_bytes_max + 1, ',')));
    CHECK(scope_set::parse(std::string(limits::scope_list_bytes_max, ' '))->empty());
}

TEST_CASE("duplicates are folded in a list of the maximum length", "[domain][scope]") {
    std::string list, folded;
    for (int i = 0; folded.size() + 4 <= limits::scope_text_bytes_max; ++i) {
        const auto scope = std::to_string(i);
        folded.append(folded.empty() ? "" : " ").append(scope);
        list.append(scope).append(",").append(scope).append(" ");
    }
    CHECK(scope_set::parse(list)->text() == folded);
    CHECK(scope_set::parse(folded + "," + list)->text() == folded);
    CHECK_FALSE(scope_set::parse(list + "one.more"));
}

TEST_CASE("a set contains whole scopes only", "[domain][scope]") {
    const auto held = *scope_set::parse("sitesmaker:read user:balance");
    CHECK(held.contains("user:balance"));
    CHECK(held.contains("sitesmaker:read"));
    CHECK_FALSE(held.contains("sitesmaker"));
    CHECK_FALSE(held.contains("user"));
    CHECK_FALSE(held.contains(""));
    CHECK(held.contains_all(held));
    CHECK(held.contains_all(*scope_set::parse("sitesmaker:read")));
    CHECK(held.contains_all({}));
    CHECK_FALSE(held.contains_all(*scope_set::parse("sitesmaker:read sitesmaker")));
    CHECK_FALSE(scope_set{}.contains_all(held));
}

TEST_CASE("clients cannot choose scopes that collide in the table of a set", "[domain][scope]") {
    const auto unkeyed = [](std::string_view text) {
        std::uint32_t hash = 2166136261U;
        for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
        return hash % limits::scope_text_bytes_max;
    };
    std::set<std::size_t> slots;
    int chosen = 0;
    for (int i = 0; chosen < 64; ++i) {
        const std::string scope = "s" + std::to_string(i);
        if (unkeyed(scope) != unkeyed("s0")) continue;
        ++chosen;
        slots.insert(detail::hash_of_scope(scope) % limits::scope_text_bytes_max);
    }
    CHECK(slots.size() > 32);
}
