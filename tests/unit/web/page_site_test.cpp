#include <tollgate/web/detail/page.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::web;
using tollgate_test::test_request;

namespace {

const page_site site = page_site::make("https://shop.example", "body {}");

bool crosses(const std::vector<std::pair<std::string, std::string>>& fields) {
    test_request request{http::method::post, "/"};
    for (const auto& [name, value] : fields) request.field(name, value);
    return is_cross_site(request.view(), site);
}

}  // namespace

TEST_CASE("a site's address comes from auth_url") {
    struct row {
        std::string_view url;
        std::string_view root;
        std::string_view origin;
        bool secure;
    };
    for (const row& each : {row{"https://shop.example", "", "https://shop.example", true},
                            row{"https://shop.example/", "", "https://shop.example", true},
                            row{"https://Shop.Example:443/account/", "/account", "https://shop.example", true},
                            row{"http://127.0.0.1:8080/a/b", "/a/b", "http://127.0.0.1:8080", false},
                            row{"http://[::1]:8080", "", "http://[::1]:8080", false}}) {
        CAPTURE(each.url);
        const auto opened = page_site::make(each.url, "");
        CHECK(opened.root == each.root);
        CHECK(opened.origin == each.origin);
        CHECK(opened.secure == each.secure);
    }
    for (const auto* url : {"", "shop.example", "/account", "ftp://shop.example", "https://shop.example/?a",
                            "https://shop.example/#a", "https://ann@shop.example"})
        CHECK_THROWS_AS(page_site::make(url, ""), std::invalid_argument);
}

TEST_CASE("a style sheet's path contains its digest, and it is immutable") {
    const page_asset* const style = site.find_asset(site.style_url);
    REQUIRE(style != nullptr);
    CHECK(style->body == "body {}");
    CHECK(style->field_lines ==
          "Content-Type: text/css; charset=utf-8\r\nCache-Control: public, max-age=31536000, immutable\r\n"
          "X-Content-Type-Options: nosniff\r\n");

    CHECK(page_site::make("https://shop.example", "body { }").style_url != site.style_url);
    CHECK(page_site::make("https://shop.example/a", "body {}").style_url == "/a" + site.style_url);
    for (const std::string& other : {site.style_url + "/", std::string{"/en/style-.css"}, "/x" + site.style_url})
        CHECK(site.find_asset(other) == nullptr);
}

TEST_CASE("an icon is served at a path with its digest, and at /favicon.ico") {
    const auto one = page_site::make("https://shop.example/a", "", "<svg/>"), other = page_site::make("https://shop.example/a", "", "<svg />");
    CHECK(one.icon_url != other.icon_url);
    CHECK(one.icon_url.starts_with("/a/en/icon-"));
    for (const std::string& path : {one.icon_url, std::string{"/a/favicon.ico"}}) {
        const page_asset* const icon = one.find_asset(path);
        REQUIRE(icon != nullptr);
        CHECK(icon->body == "<svg/>");
        CHECK((icon->field_lines.find("immutable") != std::string_view::npos) == (path == one.icon_url));
    }
    CHECK(one.find_asset("/favicon.ico") == nullptr);
}

TEST_CASE("same-site requests, and clients that are not browsers, are accepted") {
    CHECK_FALSE(crosses({}));
    CHECK_FALSE(crosses({{"Sec-Fetch-Site", "same-origin"}}));
    CHECK_FALSE(crosses({{"Sec-Fetch-Site", "none"}}));
    CHECK_FALSE(crosses({{"Origin", "https://shop.example"}}));
    CHECK_FALSE(crosses({{"Origin", "null"}, {"Sec-Fetch-Site", "same-origin"}}));
}

TEST_CASE("cross-site requests are detected") {
    CHECK(crosses({{"Sec-Fetch-Site", "cross-site"}}));
    CHECK(crosses({{"sec-fetch-site", "same-site"}}));
    CHECK(crosses({{"Sec-Fetch-Site", ""}}));
    CHECK(crosses({{"Sec-Fetch-Site", "same-origin, cross-site"}}));
    CHECK(crosses({{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "cross-site"}}));
    CHECK(crosses({{"Origin", "https://evil.example"}}));
    CHECK(crosses({{"Origin", "http://shop.example"}}));
    CHECK(crosses({{"Origin", "https://shop.example.evil.example"}}));
    CHECK(crosses({{"Origin", "https://shop.example:8443"}}));
    CHECK(crosses({{"Origin", "null"}}));
    CHECK(crosses({{"Origin", "https://shop.example"}, {"Origin", "https://evil.example"}}));
}

TEST_CASE("pages have strict security fields") {
    http::response out;
    add_page_fields(out, site);
    CHECK(out.find("Content-Security-Policy") ==
          "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
          "frame-ancestors 'none'");
    CHECK(out.find("X-Frame-Options") == "DENY");
    CHECK(out.find("Referrer-Policy") == "no-referrer");
    CHECK(out.find("Cache-Control") == "no-store");
    CHECK(out.find("X-Content-Type-Options") == "nosniff");
    CHECK(out.find("Cross-Origin-Opener-Policy") == "same-origin");
    CHECK(out.find("Strict-Transport-Security") == "max-age=31536000");

    http::response plain;
    add_page_fields(plain, page_site::make("http://127.0.0.1", ""));
    CHECK(plain.find("Strict-Transport-Security").empty());
}

TEST_CASE("only a page with a script allows scripts, of this site alone") {
    http::response out;
    add_page_fields(out, site, page_reach::this_site, true);
    CHECK(out.find("Content-Security-Policy") ==
          "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self'; base-uri 'none'; "
          "frame-ancestors 'none'");
    const page_asset* const script = site.find_asset(site.script_url);
    REQUIRE(script != nullptr);
    CHECK(script->field_lines.find("Content-Type: text/javascript; charset=utf-8\r\n") != std::string_view::npos);
    CHECK(script->field_lines.find("X-Content-Type-Options: nosniff\r\n") != std::string_view::npos);
}

TEST_CASE("a page that redirects to an application allows redirects and the opener") {
    http::response out;
    add_page_fields(out, site, page_reach::other_sites);
    CHECK(out.find("Content-Security-Policy") ==
          "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'");
    CHECK(out.find("X-Frame-Options") == "DENY");
    CHECK(out.find("Cross-Origin-Opener-Policy").empty());
    CHECK(out.find("Strict-Transport-Security") == "max-age=31536000");
}

TEST_CASE("a redirect has its target, or is refused") {
    http::response out;
    REQUIRE(respond_see_other(out, site, "/en/?a=b"));
    CHECK(to_number(out.status()) == 303);
    CHECK(out.find("Location") == "/en/?a=b");
    CHECK(out.find("Cache-Control") == "no-store");
    for (const auto* hostile : {"", "/a\r\nSet-Cookie: x=y", "/\xc3\xa4"}) {
        http::response none;
        CHECK_FALSE(respond_see_other(none, site, hostile));
        CHECK(none.field_block().empty());
    }
}
