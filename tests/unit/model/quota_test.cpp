#include <tollgate/model/quota.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <unordered_set>

using tollgate::ip_address;
using tollgate::limit_key;
using tollgate::limit_kind;
using tollgate::user_id;

namespace {

limit_key of_text(const char* address) { return limit_key::of(*ip_address::parse(address)); }

}  // namespace

TEST_CASE("an address counts by the prefix of one client") {
    CHECK(of_text("192.0.2.1") == of_text("192.0.2.1"));
    CHECK_FALSE(of_text("192.0.2.1") == of_text("192.0.2.2"));
    CHECK(of_text("::ffff:192.0.2.1") == of_text("192.0.2.1"));
    CHECK(of_text("2001:db8:1:2::1") == of_text("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    CHECK_FALSE(of_text("2001:db8:1:2::1") == of_text("2001:db8:1:3::1"));
    CHECK_FALSE(of_text("2001:db8:1:2::1") == of_text("2002:db8:1:2::1"));
}

TEST_CASE("an IPv6 client cannot choose the key of an IPv4 address") {
    // The only prefix that meets an IPv4 key is in the reserved block 0000::/8.
    CHECK_FALSE(of_text("2001:db8:c000:201::") == of_text("192.0.2.1"));
    CHECK_FALSE(of_text("::") == of_text("0.0.0.0"));
    CHECK((of_text("192.0.2.1").value() >> 56) == 0);
}

TEST_CASE("user and address keys differ even with equal numbers") {
    const auto address = of_text("0.0.0.1");
    const auto user = limit_key::of(user_id{static_cast<std::int64_t>(address.value())});
    CHECK(user.value() == address.value());
    CHECK_FALSE(user == address);
    CHECK(user.kind() == limit_kind::user);
    CHECK(address.kind() == limit_kind::address);
    const std::unordered_set<limit_key> keys{user, address, user};
    CHECK(keys.size() == 2);
}

TEST_CASE("a named window has its own key, which differs from all keys of users and clients") {
    std::unordered_set<limit_key> all;
    for (const char* name : {"", "exports", "export", "reports"})
        for (std::int64_t number = 1; number <= 1000; ++number) {
            const auto user = limit_key::of(user_id{number});
            const auto address = limit_key::of(ip_address::v4(192, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)));
            for (const auto& key : {user, address, user.in(name), address.in(name)}) all.insert(key);
            CHECK(user.in(name) == user.in(name));
            CHECK(user.in(name).kind() == limit_kind::user);
            CHECK(address.in(name).kind() == limit_kind::address);
            CHECK(user.in(name).value() >> 63 == 1);       // ids are below
            CHECK(address.in(name).value() >> 56 == 0x01);  // reserved
        }
    CHECK(all.size() == 1000 * 2 * (1 + 4));
}

TEST_CASE("an unused window of any length ends after now") {
    using tollgate::limit_decision, tollgate::quota, tollgate::seconds;
    const tollgate::instant now{tollgate::milliseconds{1'700'000'000'000}};
    for (const seconds window : {seconds{1}, quota::window_max, quota::window_max + seconds{1}, (seconds::max)()}) {
        const auto decision = limit_decision::unused({60, window}, now);
        CHECK(decision.remaining == 60);
        CHECK(decision.resets_at == now + (std::min)(window, quota::window_max));
    }
    for (const seconds window : {seconds{0}, seconds{-1}, (seconds::min)()})
        CHECK(limit_decision::unused({60, window}, now).resets_at == now);
}
