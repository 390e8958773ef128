#include <tollgate/limits/detail/redis/server_address.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using namespace tollgate;
using redis::parse_url;

TEST_CASE("a Redis URL names the server, the user and the database") {
    struct row {
        std::string_view url;
        std::string_view host;
        std::uint16_t port;
        std::string_view user;
        std::string_view password;
        std::uint32_t database;
        bool tls;
    };
    const row table[] = {
        {"redis://localhost", "localhost", 6379, "", "", 0, false},
        {"redis://localhost/", "localhost", 6379, "", "", 0, false},
        {"redis://localhost:1/2", "localhost", 1, "", "", 2, false},
        {"rediss://cache.example:6380/15", "cache.example", 6380, "", "", 15, true},
        {"redis://127.0.0.1:65535", "127.0.0.1", 65535, "", "", 0, false},
        {"redis://[::1]", "::1", 6379, "", "", 0, false},
        {"redis://[2001:db8::7]:7000/1", "2001:db8::7", 7000, "", "", 1, false},
        {"redis://:secret@h", "h", 6379, "", "secret", 0, false},
        {"redis://me:secret@h:1", "h", 1, "me", "secret", 0, false},
        {"redis://me:a%40b%3a%2F%25@h", "h", 6379, "me", "a@b:/%", 0, false},
        {"redis://me:a@b:c@h", "h", 6379, "me", "a@b:c", 0, false},
        {"redis://m%65:%00@h", "h", 6379, "me", std::string_view{"\0", 1}, 0, false},
    };
    for (const row& each : table) {
        CAPTURE(each.url);
        const auto read = parse_url(each.url);
        REQUIRE(read);
        CHECK(read->host == each.host);
        CHECK(read->port == each.port);
        CHECK(read->user == each.user);
        CHECK(read->password == each.password);
        CHECK(read->database == each.database);
        CHECK(read->tls == each.tls);
    }
}

TEST_CASE("an invalid Redis URL is refused with a message that names the part and omits the password") {
    const std::pair<std::string_view, std::string_view> table[] = {
        {"", "must begin with"},
        {"localhost:6379", "must begin with"},
        {"http://localhost", "must begin with"},
        {"redis:", "must begin with"},
        {"redis:/localhost", "must begin with"},
        {"REDIS://localhost", "must begin with"},
        {" redis://localhost", "must begin with"},
        {"redis://", "must have a host"},
        {"redis:///0", "must have a host"},
        {"redis://:6379", "must have a host"},
        {"redis://a b", "visible ASCII"},
        {"redis://h\n", "visible ASCII"},
        {"redis://h\xc3\xa9", "visible ASCII"},
        {"redis://h!", "must have a host"},
        {"redis://::1", "must have a host"},
        {"redis://h:", "port"},
        {"redis://h:0", "port"},
        {"redis://h:65536", "port"},
        {"redis://h:123456", "port"},
        {"redis://h:x", "port"},
        {"redis://h:-1", "port"},
        {"redis://h:1:2", "port"},
        {"redis://[::1", "brackets"},
        {"redis://[]", "brackets"},
        {"redis://[h]", "brackets"},
        {"redis://[127.0.0.1]", "brackets"},
        {"redis://[::1]6379", "port"},
        {"redis://h/x", "database"},
        {"redis://h/0/", "database"},
        {"redis://h/-1", "database"},
        {"redis://h/123456", "database"},
        {"redis://h?timeout=1", "query"},
        {"redis://h/0#x", "query"},
        {"redis://hunter2@h", "password too"},
        {"redis://me:@h", "password too"},
        {"redis://me:hunter2%@h", "hexadecimal"},
        {"redis://me:hunter2%4@h", "hexadecimal"},
        {"redis://me:hunter2%zz@h", "hexadecimal"},
        {"redis://me:hunter2@", "must have a host"},
    };
    for (const auto& [url, word] : table) {
        CAPTURE(url);
        const auto read = parse_url(url);
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == error_kind::invalid);
        CHECK(read.error().message.find(word) != std::string::npos);
        CHECK(read.error().message.find("hunter2") == std::string::npos);
        CHECK(read.error().cause.find("hunter2") == std::string::npos);
    }
    CHECK_FALSE(parse_url("redis://" + std::string(254, 'a')));
    CHECK(parse_url("redis://" + std::string(253, 'a')));
}

TEST_CASE("the displayed address omits the password") {
    CHECK(parse_url("redis://me:secret@h:1/2")->to_text() == "h:1");
    CHECK(parse_url("redis://[::1]")->to_text() == "[::1]:6379");
}
