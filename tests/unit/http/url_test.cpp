#include <tollgate/http/url.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using tollgate::ip_address;
using tollgate::http::url;
using tollgate::http::url_scheme;

TEST_CASE("an absolute URL is split into its parts") {
    const auto full = url::parse("HTTPS://Hooks.Example.COM:8443/a/../B%2f?x=1&y[]=?#");
    REQUIRE(full);
    CHECK(full->scheme == url_scheme::https);
    CHECK(full->host == "hooks.example.com");
    CHECK_FALSE(full->address);
    CHECK(full->port == 8443);
    CHECK(full->path == "/a/../B%2f");
    CHECK(full->query == "x=1&y[]=?");
    CHECK(full->has_query);
    CHECK(full->has_fragment);
    CHECK_FALSE(full->has_user_info);
    CHECK(full->authority() == "hooks.example.com:8443");
    CHECK(full->origin() == "https://hooks.example.com:8443");
    CHECK(full->request_target() == "/a/../B%2f?x=1&y[]=?");
}

TEST_CASE("missing parts have defaults") {
    struct row {
        const char* text;
        unsigned port;
        const char* origin;
        const char* request_target;
    };
    for (const auto& [text, port, origin, request_target] : {
             row{"http://example.com", 80, "http://example.com", "/"},
             row{"https://example.com", 443, "https://example.com", "/"},
             row{"https://example.com/", 443, "https://example.com", "/"},
             row{"https://example.com?", 443, "https://example.com", "/?"},
             row{"https://example.com?q", 443, "https://example.com", "/?q"},
             row{"https://example.com#f/g?h", 443, "https://example.com", "/"},
             row{"https://example.com:443/", 443, "https://example.com", "/"},
             row{"http://example.com:/x", 80, "http://example.com", "/x"},
             row{"https://example.com:", 443, "https://example.com", "/"},
             row{"https://[2001:db8::1]:?q", 443, "https://[2001:db8::1]", "/?q"},
             row{"http://example.com:443/", 443, "http://example.com:443", "/"},
             row{"http://example.com:80/", 80, "http://example.com", "/"},
             row{"http://example.com.:65535//x", 65535, "http://example.com:65535", "//x"},
             row{"http://[2001:DB8::1]:8080/x", 8080, "http://[2001:db8::1]:8080", "/x"},
             row{"http://xn--bcher-kva.example/", 80, "http://xn--bcher-kva.example", "/"},
             row{"http://under_score.example/", 80, "http://under_score.example", "/"},
             row{"http://ex%61mple.com/", 80, "http://example.com", "/"},
             row{"http://1.example/", 80, "http://1.example", "/"},
             row{"http://1.2.3.4a/", 80, "http://1.2.3.4a", "/"},
             row{"http://0xg/", 80, "http://0xg", "/"},
         }) {
        CAPTURE(text);
        const auto parsed = url::parse(text);
        REQUIRE(parsed);
        CHECK(parsed->port == port);
        CHECK(parsed->origin() == origin);
        CHECK(parsed->request_target() == request_target);
    }
}

TEST_CASE("user information is separated from the host") {
    for (const char* text :
         {"http://user@example.com/", "http://user:password@example.com/", "http://@example.com/",
          "http://:@example.com/", "http://evil.example@example.com/", "http://evil.example:80@example.com/",
          "http://a@b@example.com/", "http://127.0.0.1@example.com/", "http://[::1]@example.com/",
          "http://a%40b@example.com/"}) {
        CAPTURE(text);
        const auto parsed = url::parse(text);
        REQUIRE(parsed);
        CHECK(parsed->has_user_info);
        CHECK(parsed->host == "example.com");
    }
    for (const char* text : {"http://example.com/@x", "http://example.com?@x", "http://example.com#@x"}) {
        CAPTURE(text);
        CHECK_FALSE(url::parse(text)->has_user_info);
        CHECK(url::parse(text)->host == "example.com");
    }
}

TEST_CASE("every spelling of an IPv4 address is parsed as that address") {
    struct row {
        const char* host;
        const char* address;
    };
    for (const auto& [host, address] : {
             row{"127.0.0.1", "127.0.0.1"},
             row{"127.0.0.1.", "127.0.0.1"},
             row{"127.1", "127.0.0.1"},
             row{"127.1.", "127.0.0.1"},
             row{"127.0.1", "127.0.0.1"},
             row{"127.65534", "127.0.255.254"},
             row{"2130706433", "127.0.0.1"},
             row{"0x7f000001", "127.0.0.1"},
             row{"0X7F000001", "127.0.0.1"},
             row{"0x7f.1", "127.0.0.1"},
             row{"0x7f.0x0.0x0.0x1", "127.0.0.1"},
             row{"0x000000000000007f.1", "127.0.0.1"},
             row{"0177.0.0.1", "127.0.0.1"},
             row{"0177.0.0.01", "127.0.0.1"},
             row{"00000177.0.0.1", "127.0.0.1"},
             row{"017700000001", "127.0.0.1"},
             row{"0177.0x1", "127.0.0.1"},
             row{"%31%32%37.0.0.1", "127.0.0.1"},
             row{"127%2e0%2E0%2e1", "127.0.0.1"},
             row{"127.0.0.1%2e", "127.0.0.1"},
             row{"%30x7f000001", "127.0.0.1"},
             row{"0", "0.0.0.0"},
             row{"0x", "0.0.0.0"},
             row{"0x.0x.0x.0x", "0.0.0.0"},
             row{"4294967295", "255.255.255.255"},
             row{"0xffffffff", "255.255.255.255"},
             row{"255.16777215", "255.255.255.255"},
             row{"255.255.65535", "255.255.255.255"},
             row{"2852039166", "169.254.169.254"},
             row{"0xa9fea9fe", "169.254.169.254"},
             row{"0251.0376.0251.0376", "169.254.169.254"},
             row{"169.254.43518", "169.254.169.254"},
             row{"[::ffff:127.0.0.1]", "127.0.0.1"},
             row{"[::ffff:7f00:1]", "127.0.0.1"},
             row{"[::FFFF:7F00:0001]", "127.0.0.1"},
             row{"[0:0:0:0:0:ffff:7f00:1]", "127.0.0.1"},
             row{"[::1]", "::1"},
             row{"[0:0:0:0:0:0:0:1]", "::1"},
             row{"[::127.0.0.1]", "::7f00:1"},
             row{"[fe80::1]", "fe80::1"},
         }) {
        CAPTURE(host);
        const std::string name = host;
        for (const std::string& text : {"http://" + name + "/", "https://" + name, "http://" + name + ":8080?q"}) {
            const auto parsed = url::parse(text);
            REQUIRE(parsed);
            CHECK(parsed->address == ip_address::parse(address));
            CHECK(parsed->host == address);
        }
    }
}

TEST_CASE("a host that ends in a number but is not an IPv4 address is refused") {
    for (const char* host : {"256.0.0.1",
                             "1.2.3.256",
                             "1.2.3.4.5",
                             "1.2.3.4.5.",
                             "4294967296",
                             "0x100000000",
                             "040000000000",
                             "1.2.65536",
                             "1.16777216",
                             "1.256.1",
                             "127.0.0.09",
                             "08",
                             "0.0.0.08",
                             "example.1",
                             "example.0x1",
                             "example.0x",
                             "a.b.c.09",
                             "1..2",
                             "1.2.3..4",
                             "127.0.0.1..",
                             "99999999999999999999999999",
                             "0xfffffffffffffffffffffffff",
                             "-1.2.3.4",
                             "1e3.1"}) {
        CAPTURE(host);
        CHECK_FALSE(url::parse("http://" + std::string{host} + "/"));
    }
}

TEST_CASE("the root of an API or of pages is a URL without user information, query and fragment") {
    for (const auto& [text, path] : {std::pair{"https://api.example.com/v1", "/v1"}, std::pair{"https://api.example.com", ""},
                                     std::pair{"https://api.example.com/", ""}, std::pair{"http://127.0.0.1:8080/a/b/v1//", "/a/b/v1"},
                                     std::pair{"http://[::1]:80/v1", "/v1"}, std::pair{"HTTP://localhost/v1/", "/v1"},
                                     std::pair{"https://api.example.com/.a/..b/v1...", "/.a/..b/v1..."}}) {
        CAPTURE(text);
        CHECK(url::root(text).path == path);
    }
    for (const char* text : {"", "/v1", "api.example.com/v1", "ftp://api.example.com/v1", "https://", "https:///v1",
                             "https://api.example.com/v1?", "https://api.example.com/v1?a", "https://api.example.com/v1#",
                             "https://api.example.com/v1#a", "https://ann@api.example.com/v1", "https://@api.example.com/v1",
                             "https://api.example.com/v1 ", "https://api.example.com//v1", "https://api.example.com/a//v1",
                             "https://api.example.com/./v1", "https://api.example.com/a/../v1", "https://api.example.com/v1/..",
                             "https://api.example.com/v1/./", "https://api.example.com/%2E%2e/v1", "https://api.example.com/.%2e/v1"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(url::root(text), std::invalid_argument);
        CHECK_THROWS_WITH(url::root(text, "base_url"), Catch::StartsWith(std::string{"tollgate: base_url '"} + text + "' "));
    }
}

TEST_CASE("text that is not an absolute http or https URL is refused") {
    const std::string label(63, 'a');
    for (const std::string& text :
         std::vector<std::string>{"",
                                  "http",
                                  "http:",
                                  "http:/",
                                  "http://",
                                  "https://",
                                  "http:///",
                                  "http:///path",
                                  "http:example.com",
                                  "http:/example.com",
                                  "http:///example.com",
                                  "//example.com/",
                                  "/path",
                                  "example.com",
                                  "example.com/path",
                                  "ftp://example.com/",
                                  "file:///etc/passwd",
                                  "gopher://example.com/",
                                  "javascript:alert(1)",
                                  "data:text/plain,x",
                                  "ws://example.com/",
                                  "httpx://example.com/",
                                  "httpshttp://a.b/",
                                  " http://example.com/",
                                  "http://example.com/ ",
                                  "http ://example.com/",
                                  "http:// example.com/",
                                  "http://example.com/a b",
                                  "http://exa mple.com/",
                                  "\thttp://example.com/",
                                  "http://exam\tple.com/",
                                  "http://example.com/\t",
                                  "http://example.com/\n",
                                  "http://example.com/\r\nX: y",
                                  "htt\np://example.com/",
                                  "http://example.com/\x7f",
                                  "http://example.com/\x01",
                                  "http://ex\xc3\xa4mple.com/",
                                  "http://example.com/\xc3\xa4",
                                  "http://example\xe3\x80\x82"
                                  "com/",
                                  "http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/",
                                  "http:\\\\example.com\\",
                                  "http:/\\example.com/",
                                  "http://example.com\\@evil.example/",
                                  "http://evil.example\\.example.com/",
                                  "http://example.com/\\",
                                  "http://example.com/%",
                                  "http://example.com/%2",
                                  "http://example.com/%zz",
                                  "http://example.com/?%",
                                  "http://%/",
                                  "http://%zz/",
                                  "http://ex%00ample.com/",
                                  "http://example.com%2f/",
                                  "http://example.com%23/",
                                  "http://example.com%3a80/",
                                  "http://a%40b/",
                                  "http://%5b::1%5d/",
                                  "http://ex%25ample.com/",
                                  "http://example%0d%0a.com/",
                                  "http://%c3%a4.example/",
                                  "http://example.com:0/",
                                  "http://example.com:080/",
                                  "http://example.com:65536/",
                                  "http://example.com:99999999/",
                                  "http://example.com:-1/",
                                  "http://example.com:+80/",
                                  "http://example.com:8o/",
                                  "http://example.com:80:80/",
                                  "http://example.com: 80/",
                                  "http://:80/",
                                  "http://user@/",
                                  "http://user@:80/",
                                  "http://?",
                                  "http://#",
                                  "http://./",
                                  "http://../",
                                  "http://.example.com/",
                                  "http://a..b/",
                                  "http://example.com../",
                                  "http://exa,mple.com/",
                                  "http://exa!mple.com/",
                                  "http://exa*mple.com/",
                                  "http://exa$mple/",
                                  "http://(example)/",
                                  "http://example.com;/",
                                  "http://[]/",
                                  "http://[/",
                                  "http://]/",
                                  "http://[::1",
                                  "http://::1/",
                                  "http://::1]/",
                                  "http://[::1]]/",
                                  "http://[[::1]]/",
                                  "http://[::1]x/",
                                  "http://[::1]80/",
                                  "http://x[::1]/",
                                  "http://[::1%25eth0]/",
                                  "http://[::1%eth0]/",
                                  "http://[fe80::1%251]/",
                                  "http://[127.0.0.1]/",
                                  "http://[example.com]/",
                                  "http://[v1.x]/",
                                  "http://[::g]/",
                                  "http://[1:2:3]/",
                                  "http://[::ffff:127.1]/",
                                  "http://[::ffff:0x7f.0.0.1]/",
                                  "http://exam<ple.com/",
                                  "http://example.com/<x>",
                                  "http://example.com/\"",
                                  "http://example.com/`",
                                  "http://example.com/{x}",
                                  "http://example.com/^",
                                  "http://" + label + "a.example/",
                                  "http://" + label + "." + label + "." + label + "." + label + "/"}) {
        CAPTURE(text);
        CHECK_FALSE(url::parse(text));
    }
    CHECK_FALSE(url::parse(std::string_view{"http://example.com/\0", 20}));
    CHECK(url::parse("http://" + label + ".example/"));
    CHECK(url::parse("http://" + label + "." + label + "." + label + "." + std::string(61, 'a') + "/"));
}

TEST_CASE("a URL of the maximum length is accepted, one byte more is refused") {
    const std::string start = "https://example.com/";
    CHECK(url::parse(start + std::string(2048 - start.size(), 'a')));
    CHECK_FALSE(url::parse(start + std::string(2049 - start.size(), 'a')));
}
