#include <tollgate/policy/public_targets.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace tollgate;

namespace {

/// The rule's message for the text of a URL; empty if it is allowed, "no URL" if it is not a URL.
std::string refusal(const public_targets& rule, const std::string& text) {
    const auto target = http::url::parse(text);
    if (!target) return "no URL";
    const auto allowed = rule.check(*target);
    return allowed ? "" : allowed.error().message;
}

}  // namespace

TEST_CASE("public targets are allowed") {
    for (const char* text : {"http://example.com/",
                             "https://example.com",
                             "https://hooks.example.co.uk:8443/a?b=c",
                             "http://EXAMPLE.com./",
                             "http://8.8.8.8/",
                             "http://134744072/",
                             "http://0x08080808/",
                             "http://[2606:4700:4700::1111]/",
                             "http://[::ffff:8.8.8.8]/",
                             "http://xn--bcher-kva.example/",
                             "http://localhost.example.com/",
                             "http://internal.example.com/",
                             "http://local.example.com/",
                             "http://mylocal.example/",
                             "http://notlocalhost.com/",
                             "http://9.255.255.255/",
                             "http://11.0.0.0/",
                             "http://100.63.255.255/",
                             "http://100.128.0.0/",
                             "http://126.255.255.255/",
                             "http://128.0.0.0/",
                             "http://169.253.255.255/",
                             "http://169.255.0.0/",
                             "http://172.15.255.255/",
                             "http://172.32.0.0/",
                             "http://192.167.255.255/",
                             "http://192.169.0.0/",
                             "http://198.17.255.255/",
                             "http://198.20.0.0/",
                             "http://223.255.255.255/",
                             "http://192.0.1.0/",
                             "http://192.0.3.0/",
                             "http://1.0.0.0/",
                             "http://168.63.129.17/",
                             "http://[2001:200::1]/",
                             "http://[2003::1]/",
                             "http://[2001:db7::1]/",
                             "http://[2a00:1450::1]/"}) {
        CAPTURE(text);
        CHECK(refusal({}, text) == "");
    }
}

TEST_CASE("user information and fragments are refused, even where private targets are allowed") {
    for (const public_targets rule : {public_targets{}, public_targets{.private_allowed = true}}) {
        for (const char* text : {"http://user@example.com/", "http://user:password@example.com/",
                                 "http://@example.com/", "http://example.com@10.0.0.1/"})
            CHECK(refusal(rule, text) == "target_url must not have a username or password.");
        for (const char* text : {"http://example.com/#", "http://example.com#a", "http://example.com/a?b#c"})
            CHECK(refusal(rule, text) == "target_url must not have a fragment.");
    }
}

TEST_CASE("private addresses are refused in every spelling, and accepted if allowed") {
    const std::vector<std::string> hosts = {
        // Loopback and this network.
        "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1",
        "017700000001", "0x7f.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "0", "0.0.0.0", "0x0", "00",
        "0.1", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:1]",
        "[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:7f00:1]",
        // Private, carrier-grade, link-local.
        "10.0.0.1", "10.255.255.255", "167772161", "0xa.1", "012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1",
        "3232235521", "192.168.1", "0xc0a80001", "0300.0250.0.1", "100.64.0.1", "100.127.255.255", "169.254.0.1",
        "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[::ffff:192.168.0.1]", "[::10.0.0.1]", "[fe80::1]", "[febf::1]",
        "[fec0::1]", "[feff::1]", "[fc00::1]", "[fdff:ffff::1]",
        // Metadata services.
        "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518",
        "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16",
        "192.0.0.192", "metadata.google.internal", "instance-data.ec2.internal", "metadata",
        // IPv4 in IPv6, where a router unwraps it: NAT64, 6to4, Teredo, ISATAP.
        "[64:ff9b::127.0.0.1]", "[64:ff9b::8.8.8.8]", "[64:ff9b:1::1]", "[64:ff9b:1:ffff::a00:1]", "[2002:7f00:1::]",
        "[2002:a00:1::1]", "[2002:808:808::1]", "[2001::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        "[2a00::5efe:7f00:1]", "[2a00::200:5efe:a00:1]", "[2a00::5efe:127.0.0.1]", "[fe80::5efe:192.168.0.1]",
        // Multicast, reserved, broadcast, documentation, benchmarks, protocol assignments.
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "4294967295", "192.0.2.1", "198.51.100.1",
        "203.0.113.1", "198.18.0.1", "198.19.255.255", "192.0.0.1", "192.88.99.1", "[ff02::1]", "[ff0e::1]",
        "[2001:db8::1]", "[2001:2::1]", "[2001:10::1]", "[2001:1ff::1]", "[3fff::1]", "[100::1]", "[5f00::1]",
        "[4000::1]", "[e000::1]", "[1::1]",
        // Names of the local network.
        "localhost", "LOCALHOST", "localhost.", "%6cocalhost", "a.localhost", "a.b.localhost.", "printer.local",
        "router.localdomain", "db.internal", "host.docker.internal", "nas.home.arpa", "home.arpa", "intranet", "com"};
    for (const auto& host : hosts)
        for (const char* scheme : {"http://", "https://"}) {
            const auto text = scheme + host + "/hook";
            CAPTURE(text);
            CHECK(refusal({}, text) == "target_url must point to a public address.");
            CHECK(refusal({.private_allowed = true}, text) == "");
        }
}

TEST_CASE("addresses are checked before each connection") {
    for (const char* text : {"127.0.0.1", "::ffff:127.0.0.1", "::1", "::", "0.0.0.0", "10.1.2.3", "169.254.169.254",
                             "100.64.0.1", "192.168.1.1", "fe80::1", "fd00::1", "64:ff9b::a00:1",
                             "2002:a00:1::", "2001:0:1::", "::10.0.0.1", "ff02::1", "255.255.255.255"}) {
        CAPTURE(text);
        CHECK_FALSE(public_targets{}.allows(*ip_address::parse(text)));
        CHECK(public_targets{.private_allowed = true}.allows(*ip_address::parse(text)));
    }
    for (const char* text : {"8.8.8.8", "::ffff:8.8.8.8", "2606:4700:4700::1111"}) {
        CAPTURE(text);
        CHECK(public_targets{}.allows(*ip_address::parse(text)));
    }
}

TEST_CASE("a refusal is an error of the client") {
    const auto refused = public_targets{}.check(*http::url::parse("http://127.0.0.1/"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::invalid);
    CHECK(refused.error().cause.empty());
}
