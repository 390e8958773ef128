#include <tollgate/server/detail/ticket_keys.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;
using server_detail::ticket_key;
using server_detail::ticket_keys;
using std::chrono::hours;
using std::chrono::minutes;

namespace {

struct counting_random {
    bool works = true;
    mutable unsigned char next = 0;
    bool fill(std::span<std::byte> bytes) const noexcept {
        for (std::byte& each : bytes) each = std::byte{next};
        ++next;
        return works;
    }
};

constexpr ticket_keys::time_point start{hours{1000}};

std::string line(char each) { return tollgate::detail::base64_encode(std::string(32, each)); }

}  // namespace

TEST_CASE("a secret makes one name and two keys", "[server][tickets]") {
    const auto a = ticket_key::from(std::string(32, 'a'));
    const auto b = ticket_key::from(std::string(32, 'b'));
    CHECK(a.name == ticket_key::from(std::string(32, 'a')).name);
    CHECK(a.name != b.name);
    CHECK(a.cipher_key != b.cipher_key);
    CHECK(a.mac_key != b.mac_key);
    CHECK(a.cipher_key != a.mac_key);
}

TEST_CASE("own keys are replaced after two hours, and decrypt for two more", "[server][tickets]") {
    ticket_keys keys;
    counting_random random;
    const auto first = keys.newest(start, random);
    REQUIRE(first);
    CHECK(keys.newest(start + minutes{119}, random)->name == first->name);
    CHECK(keys.find(first->name, start + minutes{119})->is_newest);
    CHECK_FALSE(keys.find(first->name, start + hours{2})->is_newest);

    const auto second = keys.newest(start + hours{2}, random);
    CHECK(second->name != first->name);
    CHECK(keys.find(second->name, start + hours{2})->is_newest);
    CHECK_FALSE(keys.find(first->name, start + hours{3})->is_newest);
    CHECK(keys.find(first->name, start + hours{3})->key.cipher_key == first->cipher_key);
    CHECK_FALSE(keys.find(first->name, start + hours{4}));

    const auto third = keys.newest(start + hours{4}, random);
    CHECK(third->name != second->name);
    CHECK_FALSE(keys.find(first->name, start + hours{4}));
    CHECK(keys.find(second->name, start + hours{4}));

    // After a long time without a handshake no key is left.
    CHECK_FALSE(keys.find(third->name, start + hours{8}));
    const auto fourth = keys.newest(start + hours{100}, random);
    CHECK_FALSE(keys.find(third->name, start + hours{100}));
    CHECK(keys.find(fourth->name, start + hours{100}));
}

TEST_CASE("without randomness there is no new key, and the old one stays in use", "[server][tickets]") {
    ticket_keys keys;
    counting_random random;
    random.works = false;
    CHECK_FALSE(keys.newest(start, random));
    random.works = true;
    const auto first = keys.newest(start, random);
    REQUIRE(first);
    random.works = false;
    CHECK_FALSE(keys.newest(start + hours{2}, random));
    CHECK(keys.find(first->name, start + hours{3}));
}

TEST_CASE("the first key of a file encrypts, and all keys decrypt until the file changes", "[server][tickets]") {
    const auto keys = ticket_keys::parse("# comment\n" + line('a') + "\n\n " + line('b') + " \r\n\r\n");
    REQUIRE(keys);
    const counting_random random;
    const auto a = ticket_key::from(std::string(32, 'a')), b = ticket_key::from(std::string(32, 'b'));
    for (const auto now : {start, start + hours{1000}}) {
        CHECK((*keys)->newest(now, random)->name == a.name);
        CHECK((*keys)->find(a.name, now)->is_newest);
        REQUIRE((*keys)->find(b.name, now));
        CHECK_FALSE((*keys)->find(b.name, now)->is_newest);
        CHECK_FALSE((*keys)->find(ticket_key::from(std::string(32, 'c')).name, now));
    }
    CHECK(ticket_keys::parse(line('a')));  // without a line end
}

TEST_CASE("a file whose lines are not 32 bytes in base64 is refused, and the error names the line", "[server][tickets]") {
    struct row {
        std::string text, expected;
    };
    std::string many;
    for (char each = 'a'; each < 'a' + 16; ++each) many += line(each) + "\n";
    CHECK(ticket_keys::parse(many));
    for (const auto& [text, expected] :
         std::vector<row>{{"", "no key"},
                          {"\n\n", "no key"},
                          {"# " + line('a'), "no key"},
                          {"abc", "line 1"},
                          {line('a') + " # comment", "line 1"},
                          {line('a') + "\r\r\n", "line 1"},
                          {"# comment\n\nabc", "line 3"},
                          {line('a') + "\n" + tollgate::detail::base64_encode(std::string(31, 'a')), "line 2"},
                          {tollgate::detail::base64_encode(std::string(48, 'a')), "line 1"},
                          {many + line('z'), "more than 16"}}) {
        CAPTURE(text);
        const auto parsed = ticket_keys::parse(text);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().message.find(expected) != std::string::npos);
        CHECK(parsed.error().message.find(line('a')) == std::string::npos);
    }
}
