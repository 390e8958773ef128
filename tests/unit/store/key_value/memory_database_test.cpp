#include <tollgate/store/detail/key_value/memory_database.hpp>

#include <support/key_value_databases.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using key_value_detail::memory_database;

namespace {

/// A transaction on a database and on a map at the same time, whose results must be equal.
class both {
public:
    both(key_value_transaction_ref one, key_value_transaction_ref other) : one_{one}, other_{other} {}

    void put(const std::string& key, const std::string& value) {
        CHECK(one_.put(key, value));
        CHECK(other_.put(key, value));
    }
    void erase(const std::string& key) {
        CHECK(one_.erase(key));
        CHECK(other_.erase(key));
    }
    void compare(const std::string& key) {
        std::string one, other;
        const bool found = one_.get(key, one).value();
        REQUIRE(found == other_.get(key, other).value());
        if (found) CHECK(one == other);
    }
    void compare(const std::string& first, const std::string& end, std::size_t rows_max) {
        const auto rows_of = [&](key_value_transaction_ref of) {
            std::vector<std::string> rows;
            const auto add = [&](std::string_view key, std::string_view value) {
                rows.push_back(std::string{key} + '=' + std::string{value});
                return true;
            };
            CHECK(of.scan(first, end, rows_max, add));
            return rows;
        };
        CHECK(rows_of(one_) == rows_of(other_));
    }

private:
    key_value_transaction_ref one_, other_;
};

/// Keys of hashed and ordered tables, and of credentials, with the lengths and the bytes at which comparisons change their way.
std::vector<std::string> sample_keys() {
    const std::string digest_a(32, 'a'), digest_b(32, 'b');
    std::vector<std::string> keys{"Ttgu_1", "Ttgu_2", "T" + digest_a, "A" + digest_a, "A" + digest_b, "H", "Habc", "S" + digest_a};
    for (const char table : {'a', 'd', 'z'})
        for (const std::size_t size : {1U, 7U, 8U, 9U, 47U, 48U, 49U, 50U, 254U})
            for (const char last : {'\0', '\1', '\x7f', '\xff'}) {
                keys.push_back(table + std::string(size, 'k'));
                keys.back().back() = last;
                keys.push_back(table + std::string(size, '\0'));
            }
    return keys;
}

}  // namespace

TEST_CASE("the rows of a memory database are those of a map, whichever transactions fail") {
    memory_database database;
    tollgate_test::map_database map;
    const auto keys = sample_keys();
    std::minstd_rand random{7};
    const auto any = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    for (int round = 0; round < 400; ++round) {
        const bool fails = any(3) == 0;
        const auto work = [&](key_value_transaction_ref one) -> result<void> {
            const auto on_both = [&](key_value_transaction_ref other) -> result<void> {
                both all{one, other};
                for (std::size_t i = 0; i < 20; ++i) {
                    const std::string& key = keys[any(keys.size())];
                    if (any(3) == 0) all.erase(key);
                    else all.put(key, std::string(std::vector<std::size_t>{0, 8, 20, 21, 152, 153, 1000}[any(7)], 'v'));
                    all.compare(keys[any(keys.size())]);
                }
                for (const char table : {'a', 'd', 'z'}) {
                    const std::string first(1, table), end(1, static_cast<char>(table + 1));
                    all.compare(first, end, 1000);
                    all.compare(first, end, any(5) + 1);
                    all.compare(first + std::string(any(60), 'k'), first + std::string(any(60), 'l'), 1000);
                }
                return fails ? result<void>{unavailable("test")} : result<void>{};
            };
            return map.transact(on_both);
        };
        CHECK(database.transact(work).has_value() == !fails);
    }
    const auto compare_all = [&](key_value_transaction_ref one) -> result<void> {
        const auto on_both = [&](key_value_transaction_ref other) -> result<void> {
            both all{one, other};
            for (const auto& key : keys) all.compare(key);
            return {};
        };
        return map.read(on_both);
    };
    CHECK(database.read(compare_all));
    CHECK(map.rows().size() > 10);
}

TEST_CASE("a change of a credential in a memory database is seen by look-ups once it is committed") {
    memory_database database;
    const auto is_stored = [&] {
        return database.personal_tokens().with(std::string_view{"tgu_1"}, [](const auto* stored) { return stored != nullptr; });
    };
    const auto change = [&](bool put, bool fails) {
        const auto work = [&](key_value_transaction_ref rows) -> result<void> {
            const bool before = is_stored();
            CHECK((put ? rows.put("Ttgu_1", "value") : rows.erase("Ttgu_1")));
            CHECK(is_stored() == before);
            std::string value;
            CHECK(rows.get("Ttgu_1", value).value() == put);
            return fails ? result<void>{unavailable("test")} : result<void>{};
        };
        return database.transact(work).has_value();
    };
    CHECK_FALSE(change(true, true));
    CHECK_FALSE(is_stored());
    CHECK(change(true, false));
    CHECK(is_stored());
    CHECK_FALSE(change(false, true));
    CHECK(is_stored());
    CHECK(change(false, false));
    CHECK_FALSE(is_stored());
}
