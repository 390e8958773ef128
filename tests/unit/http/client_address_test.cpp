#include <tollgate/http/detail/client_address.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

const std::vector<ip_network> trusted{*ip_network::parse("10.0.0.0/8"), *ip_network::parse("fd00::/8")};

std::string client(const char* peer, const std::vector<std::pair<const char*, const char*>>& fields) {
    http::request request;
    request.peer = *ip_address::parse(peer);
    for (const auto& [name, value] : fields) request.fields.add(name, value);
    const bool by_forwarded = request.fields.count(http::field_id::forwarded) != 0;
    return http::client_address(request, trusted, by_forwarded ? forwarding_field::forwarded : forwarding_field::x_forwarded_for)
        .to_text();
}

}  // namespace

TEST_CASE("only fields of trusted proxies are used", "[http][client_address]") {
    CHECK(client("203.0.113.9", {{"X-Forwarded-For", "198.51.100.1"}}) == "203.0.113.9");
    CHECK(client("203.0.113.9", {{"Forwarded", "for=198.51.100.1"}}) == "203.0.113.9");
    CHECK(client("10.0.0.1", {{"X-Forwarded-For", "198.51.100.1"}}) == "198.51.100.1");
    CHECK(client("::ffff:10.0.0.1", {{"X-Forwarded-For", "198.51.100.1"}}) == "198.51.100.1");
    CHECK(client("fd00::1", {{"Forwarded", "for=198.51.100.1"}}) == "198.51.100.1");
    CHECK(client("10.0.0.1", {}) == "10.0.0.1");

    http::request request;
    request.peer = ip_address::v4(10, 0, 0, 1);
    request.fields.add("X-Forwarded-For", "198.51.100.1");
    CHECK(http::client_address(request, {}) == request.peer);
}

TEST_CASE("the rightmost address that is not a trusted proxy is the client's", "[http][client_address]") {
    struct row {
        std::vector<std::pair<const char*, const char*>> fields;
        const char* client;
    };
    const auto each = GENERATE(values<row>({
        {{{"X-Forwarded-For", "1.1.1.1, 198.51.100.1"}}, "198.51.100.1"},
        {{{"X-Forwarded-For", "1.1.1.1,198.51.100.1 , 10.2.3.4"}}, "198.51.100.1"},
        {{{"X-Forwarded-For", "1.1.1.1"}, {"x-forwarded-for", "198.51.100.1"}}, "198.51.100.1"},
        {{{"X-Forwarded-For", "10.9.9.9, 10.2.3.4"}}, "10.9.9.9"},
        {{{"X-Forwarded-For", "198.51.100.1:4711"}}, "198.51.100.1"},
        {{{"X-Forwarded-For", "198.51.100.1, , ,"}}, "198.51.100.1"},
        {{{"X-Forwarded-For", "2001:db8::1"}}, "2001:db8::1"},
        {{{"X-Forwarded-For", "[2001:db8::1]:4711"}}, "2001:db8::1"},
        {{{"X-Forwarded-For", "::ffff:198.51.100.1"}}, "198.51.100.1"},
        {{{"Forwarded", "for=198.51.100.1"}}, "198.51.100.1"},
        {{{"Forwarded", "For=\"198.51.100.1:80\";proto=https;by=10.0.0.1"}}, "198.51.100.1"},
        {{{"Forwarded", "proto=https ; for=\"[2001:db8::1]:4711\""}}, "2001:db8::1"},
        {{{"Forwarded", "for=1.1.1.1, for=198.51.100.1, for=10.2.3.4"}}, "198.51.100.1"},
        {{{"Forwarded", "for=198.51.100.1,"}}, "198.51.100.1"},
        // What a client sends does not hide what a proxy appends to it.
        {{{"Forwarded", "for=a:1, for=198.51.100.1"}}, "198.51.100.1"},
        {{{"Forwarded", "x y, for=198.51.100.1"}}, "198.51.100.1"},
        {{{"Forwarded", "for=\"a, for=198.51.100.1"}}, "198.51.100.1"},
        {{{"Forwarded", "for=\"a, for=\"[2001:db8::1]\""}}, "2001:db8::1"},
        {{{"Forwarded", "for=\"a\\, for=198.51.100.1, for=10.2.3.4"}}, "198.51.100.1"},
        {{{"Forwarded", ", for=198.51.100.1, ,,for=10.2.3.4 , "}}, "198.51.100.1"},
        {{{"Forwarded", "for=198.51.100.1"}, {"Forwarded", ""}}, "198.51.100.1"},
        {{{"Forwarded", "for=1.1.1.1"}, {"Forwarded", "for=198.51.100.1;host=\"a,b;c=\\\"d\""}}, "198.51.100.1"},
    }));
    CHECK(client("10.0.0.1", each.fields) == each.client);
}

TEST_CASE("after an unreadable entry the last trusted hop is the client", "[http][client_address]") {
    struct row {
        std::vector<std::pair<const char*, const char*>> fields;
        const char* client;
    };
    const auto each = GENERATE(values<row>({
        {{{"X-Forwarded-For", ""}}, "10.0.0.1"},
        {{{"X-Forwarded-For", "198.51.100.1:http"}}, "10.0.0.1"},
        {{{"X-Forwarded-For", "198.51.100.1:"}}, "10.0.0.1"},
        {{{"X-Forwarded-For", "[2001:db8::1]:"}}, "10.0.0.1"},
        {{{"Forwarded", "for=1.1.1.1;for=198.51.100.1"}}, "10.0.0.1"},
        {{{"X-Forwarded-For", "198.51.100.1, unknown"}}, "10.0.0.1"},
        {{{"X-Forwarded-For", "198.51.100.1, garbage, 10.2.3.4"}}, "10.2.3.4"},
        {{{"X-Forwarded-For", "[2001:db8::1"}}, "10.0.0.1"},
        {{{"X-Forwarded-For", "[2001:db8::1]x"}}, "10.0.0.1"},
        {{{"X-Forwarded-For", "198.51.100.01"}}, "10.0.0.1"},
        {{{"Forwarded", "for=_hidden"}}, "10.0.0.1"},
        {{{"Forwarded", "for=198.51.100.1, for=unknown, for=10.2.3.4"}}, "10.2.3.4"},
        {{{"Forwarded", "for=198.51.100.1, proto=https"}}, "10.0.0.1"},
        {{{"Forwarded", "for=198.51.100.1, ;"}}, "10.0.0.1"},
        {{{"Forwarded", "for=198.51.100.1, ="}}, "10.0.0.1"},
        {{{"Forwarded", ","}}, "10.0.0.1"},
        {{{"Forwarded", "for=\"198.51.100.1"}}, "10.0.0.1"},
        {{{"Forwarded", "for=198.51.100.1 x"}}, "10.0.0.1"},
        {{{"Forwarded", "198.51.100.1"}}, "10.0.0.1"},
    }));
    CHECK(client("10.0.0.1", each.fields) == each.client);
}

TEST_CASE("only the last hops of a long list are read", "[http][client_address]") {
    std::string list = "1.1.1.1";
    for (int i = 0; i < 1000; ++i) list += ", 10.0.0.2";
    CHECK(client("10.0.0.1", {{"X-Forwarded-For", list.c_str()}}) == "10.0.0.2");
    CHECK(client("10.0.0.1", {{"X-Forwarded-For", (list + ", 198.51.100.1").c_str()}}) == "198.51.100.1");
}

TEST_CASE("only the configured field is read, because a proxy forwards the other one", "[http][client_address]") {
    http::request request;
    request.peer = ip_address::v4(10, 0, 0, 1);
    request.fields.add("Forwarded", "for=203.0.113.1");
    CHECK(http::client_address(request, trusted) == request.peer);
    CHECK(http::client_address(request, trusted, forwarding_field::forwarded) == ip_address::v4(203, 0, 113, 1));
    request.fields.add("X-Forwarded-For", "198.51.100.1");
    CHECK(http::client_address(request, trusted) == ip_address::v4(198, 51, 100, 1));
    CHECK(http::client_address(request, trusted, forwarding_field::forwarded) == ip_address::v4(203, 0, 113, 1));
}
