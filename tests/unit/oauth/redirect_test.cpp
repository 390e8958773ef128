#include <tollgate/oauth/detail/redirect.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <string>

using namespace tollgate;

TEST_CASE("a redirect URL equals the registered one byte for byte, except for a loopback port", "[oauth][redirect]") {
    struct row {
        const char* registered;
        const char* requested;
        bool matches;
    };
    const auto each = GENERATE(values<row>({
        {"https://app.example/cb", "https://app.example/cb", true},
        {"https://app.example/cb?x=1", "https://app.example/cb?x=1", true},
        {"https://app.example/cb", "https://app.example/cb/", false},
        {"https://app.example/cb", "https://app.example/CB", false},
        {"https://app.example/cb", "https://APP.example/cb", false},
        {"https://app.example/cb", "https://app.example:443/cb", false},
        {"https://app.example/cb", "https://app.example/cb?", false},
        {"https://app.example/cb", "https://app.example/cb#", false},
        {"https://app.example/cb", "https://app.example/x/../cb", false},
        {"https://app.example/cb", "https://app.example/%63b", false},
        {"https://app.example/cb", "https://app.example.evil/cb", false},
        {"https://app.example/cb", "https://app.example@evil/cb", false},
        {"https://app.example/cb", "http://app.example/cb", false},
        {"https://app.example/cb", "javascript:alert(1)", false},
        {"https://app.example/cb", "", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", true},
        {"http://127.0.0.1:80/cb", "http://127.0.0.1:49152/cb", true},
        {"http://[::1]/cb", "http://[::1]:49152/cb", true},
        {"http://127.0.0.1/cb", "http://127.0.0.2:49152/cb", false},
        {"http://127.0.0.1/cb", "http://[::1]:49152/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:49152/cb?x", false},
        {"http://127.0.0.1/cb", "https://127.0.0.1:49152/cb", false},
        {"http://127.0.0.1/cb", "http://a@127.0.0.1:49152/cb", false},
        {"http://localhost/cb", "http://localhost:49152/cb", false},
        {"http://192.0.2.1/cb", "http://192.0.2.1:49152/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1/cb", true},
        {"http://127.0.0.1:80/cb", "http://127.0.0.1/cb", true},
        {"http://127.0.0.1/cb", "http://127.1:49152/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:49152@evil.example/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:0/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:65536/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:080/cb", false},
        {"http://127.0.0.1/cb", "HTTP://127.0.0.1:49152/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:49152/%63b", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:49152\\cb", false},
        {"http://[::1]/cb", "http://[0:0:0:0:0:0:0:1]:49152/cb", false},
        {"http://[::1]/cb", "http://[::1%25eth0]:49152/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:49152/cb#x", false},
        // What is registered is accepted as it is, and as a URL library writes it.
        {"http://localhost:8080", "http://localhost:8080", true},
        {"http://localhost:8080", "http://localhost:8080/", true},
        {"http://localhost:8080", "http://LOCALHOST:8080", false},
        {"https://app.example.com?x=1", "https://app.example.com?x=1", true},
        {"https://app.example.com?x=1", "https://app.example.com/?x=1", true},
        {"https://app.example:443/cb", "https://app.example:443/cb", true},
        {"https://app.example:443/cb", "https://app.example/cb", true},
        {"https://app.example:443/cb", "https://app.example:0443/cb", false},
        {"HTTPS://App.Example/Cb", "HTTPS://App.Example/Cb", true},
        {"HTTPS://App.Example/Cb", "https://app.example/Cb", true},
        {"HTTPS://App.Example/Cb", "https://App.Example/Cb", false},
        {"HTTPS://App.Example/Cb", "https://app.example/cb", false},
        {"http://127.1/cb", "http://127.1/cb", true},
        {"http://127.1/cb", "http://127.0.0.1/cb", true},
        {"http://127.1/cb", "http://127.1:49152/cb", true},
        {"http://127.1/cb", "http://127.0.0.1:49152/cb", true},
        {"http://127.1/cb", "http://127.0.1:49152/cb", false},
        {"http://127.1", "http://127.1:49152", true},
        {"http://127.1", "http://127.0.0.1:49152/", true},
        {"http://127.1", "http://127.0.0.1:49152", false},
        {"http://127.1?x", "http://127.1:49152?x", true},
        {"http://[0:0:0:0:0:0:0:1]/cb", "http://[0:0:0:0:0:0:0:1]/cb", true},
        {"http://[0:0:0:0:0:0:0:1]/cb", "http://[0:0:0:0:0:0:0:1]:49152/cb", true},
        {"http://[0:0:0:0:0:0:0:1]/cb", "http://[::1]:49152/cb", true},
        {"http://[0:0:0:0:0:0:0:1]:80/cb", "http://[::1]/cb", true},
        {"http://[0:0:0:0:0:0:0:1]/cb", "http://[0::1]:49152/cb", false},
        {"http://[2001:DB8:0::1]/cb", "http://[2001:DB8:0::1]/cb", true},
        {"http://[2001:DB8:0::1]/cb", "http://[2001:db8::1]:49152/cb", false},
        {"com.Example.App:/cb", "com.Example.App:/cb", true},
        {"com.Example.App:/cb", "com.example.app:/cb", true},
        {"com.Example.App:/cb", "COM.Example.App:/cb", false},
        {"com.Example.App:/cb", "com.example.app:/CB", false},
        {"https://u@app.example/cb", "https://app.example/cb", false},
        {"no URL", "no URL", true},
    }));
    CAPTURE(each.registered, each.requested);
    CHECK(oauth::matches_registered(each.registered, each.requested) == each.matches);
}

TEST_CASE("without a registered redirect URL, the origin must be the website's", "[oauth][redirect]") {
    CHECK(oauth::matches_website("https://app.example/about", "https://app.example/cb?x=1"));
    CHECK(oauth::matches_website("https://app.example", "https://app.example:443/cb"));
    for (const char* requested : {"http://app.example/cb", "https://app.example:444/cb", "https://www.app.example/cb", "https://app.example.evil/",
                                  "https://app.example/cb#x", "https://u@app.example/cb", "https://app.example./cb",
                                  "https://app.example.:443/cb", "https://app.example.?x", "https://app.example%2e/cb",
                                  "https://app.example/cb?code=x", "https://app.example/cb?x=1&st%61te=", "//app.example/cb", "/cb", ""})
        CHECK_FALSE(oauth::matches_website("https://app.example/about", requested));
}

TEST_CASE("the redirect URL is chosen from the registered and the requested one", "[oauth][redirect]") {
    application client{application_id{1}, user_id{1}, {}, {}, "App", "https://app.example", "", {"https://app.example/cb"}, {}};
    CHECK(oauth::choose_redirect(client, std::nullopt) == "https://app.example/cb");
    CHECK(oauth::choose_redirect(client, "https://app.example/cb") == "https://app.example/cb");
    CHECK_FALSE(oauth::choose_redirect(client, "https://app.example/other"));
    CHECK_FALSE(oauth::choose_redirect(client, ""));
    client.redirect_urls.clear();
    CHECK_FALSE(oauth::choose_redirect(client, std::nullopt));
    CHECK(oauth::choose_redirect(client, "https://app.example/other") == "https://app.example/other");
    CHECK_FALSE(oauth::choose_redirect(client, "https://other.example/"));
    client.type = client_type::public_client;
    CHECK_FALSE(oauth::choose_redirect(client, "https://app.example/other"));

    client.redirect_urls = {"https://app.example/a", "http://127.0.0.1/b", "com.app.example:/c"};
    for (const char* requested : {"https://app.example/a", "http://127.0.0.1:49152/b", "com.app.example:/c"})
        CHECK(oauth::choose_redirect(client, requested) == requested);
    for (const char* requested : {"https://app.example/", "https://app.example:8443/a", "http://127.0.0.1:49152/a", "com.app.example:/d",
                                  "com.app.example://c", "COM.app.example:/c"})
        CHECK_FALSE(oauth::choose_redirect(client, requested));
    CHECK_FALSE(oauth::choose_redirect(client, std::nullopt));  // of several none is the one
}

TEST_CASE("redirects cannot inject fields or parameters", "[oauth][redirect]") {
    application client{application_id{1}, user_id{1}, {}, {}, "App", "https://app.example", "", {"https://app.example/cb#part"}, {}};
    for (const char* registered : {"https://app.example/cb#part", "https://app.example/c b", "https://app.example/c\r\nb", "https://app.example/\xc3\xbc"}) {
        client.redirect_urls = {registered};
        CHECK_FALSE(oauth::choose_redirect(client, std::nullopt));
        CHECK_FALSE(oauth::choose_redirect(client, registered));
    }
    client.redirect_urls = {"com.app.example:/cb"};
    CHECK(oauth::choose_redirect(client, std::nullopt) == "com.app.example:/cb");
    CHECK_FALSE(oauth::choose_redirect(client, "com.app.example:/cc"));
}

TEST_CASE("parameters are appended to a redirect URL's own query, encoded", "[oauth][redirect]") {
    const std::array<oauth::redirect_parameter, 1> code{{{"code", "x"}}};
    const std::array<oauth::redirect_parameter, 2> both{{{"code", "x"}, {"state", "a b&c=d%\r\n"}}};
    CHECK(oauth::with_parameters("https://a.example/cb", both) ==
          "https://a.example/cb?code=x&state=a%20b%26c%3Dd%25%0D%0A");
    CHECK(oauth::with_parameters("https://a.example/cb?k=v", code) == "https://a.example/cb?k=v&code=x");
    CHECK(oauth::with_parameters("https://a.example/cb?k=v&", both) ==
          "https://a.example/cb?k=v&code=x&state=a%20b%26c%3Dd%25%0D%0A");
    CHECK(oauth::with_parameters("https://a.example/cb?", code) == "https://a.example/cb?code=x");
    CHECK(oauth::with_parameters("https://a.example/cb", {}) == "https://a.example/cb");
}
