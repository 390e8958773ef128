#include <tollgate/pages/detail/sign_in_page.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/sign_in/";
const std::string home = "/en/user/";

http::response sign_in(page_shop& shop, std::string body) { return shop.post_unchanged(path, std::move(body), ""); }

}  // namespace

TEST_CASE("sign-in") {
    page_shop shop;
    const auto page = shop.get(path, "");
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "autocomplete=\"username\""));
    CHECK(has(page, "autocomplete=\"current-password\""));
    CHECK(page.find("Cache-Control") == "no-store");

    const auto done = sign_in(shop, "login=ann&password=nna");
    CHECK(to_number(done.status()) == 303);
    CHECK(done.find("Location") == path + "?signed_in=1");
    CHECK(done.find("Set-Cookie") == "who=ann; Path=/");
    CHECK(shop.get(path + "?signed_in=1").find("Location") == home);
}

TEST_CASE("the sign-in page says that the session cookie did not come back, and does not redirect again") {
    page_shop shop;
    const auto done = sign_in(shop, "login=ann&password=nna&return_to=" + tollgate::detail::percent_encode("/en/user/oauth/?client_id=a"));
    const auto page = shop.get(std::string{done.find("Location")}, "");
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page,
              "your browser did not send the session cookie back. Allow cookies for this site, and open it at "
              "https://shop.example."));
    CHECK(has(page, "name=\"return_to\" value=\"/en/user/oauth/?client_id=a\""));
    CHECK_FALSE(has(shop.get(path, ""), "session cookie"));
    // It depends on nothing but the request: it reveals nothing about logins.
    CHECK(has(shop.get(path + "?signed_in=1", ""), "session cookie"));
    // With a target that would make the URL too long, the check is left out.
    const auto longest = "/" + std::string(limits::target_bytes_max - 40, 'a');
    CHECK(sign_in(shop, "login=ann&password=nna&return_to=" + longest).find("Location") == longest);
}

TEST_CASE("a sign-in form that the browser sends from another address is refused with the site's address") {
    page_shop shop;
    test_request request{http::method::post, path};
    request.field("Origin", "null").body("login=ann&password=nna", "application/x-www-form-urlencoded");
    const auto page = shop.handle(request);
    CHECK(to_number(page.status()) == 403);
    CHECK(has(page, "this form was not sent from https://shop.example. Open the sign-in page there"));
}

TEST_CASE("sign-in returns to the requested page, on this site only") {
    page_shop shop;
    const auto place_after = [&](std::string_view return_to) {
        const auto done = sign_in(shop, "login=ann&password=nna&return_to=" + tollgate::detail::percent_encode(return_to));
        return std::string{shop.get(std::string{done.find("Location")}).find("Location")};
    };
    CHECK(place_after("/en/user/oauth/?client_id=a&state=%26") == "/en/user/oauth/?client_id=a&state=%26");
    CHECK(place_after("/") == "/");
    for (const std::string& hostile :
         {std::string{"https://evil.example/"}, std::string{"//evil.example"}, std::string{"/\\evil.example"},
          std::string{"\\/evil.example"}, std::string{"evil"}, std::string{"javascript:alert(1)"},
          std::string{"/a\r\nSet-Cookie: x=y"}, std::string{"/\t/evil.example"}, std::string{"/a b"},
          std::string{"/\xc3\xa4"}, std::string{}, "/" + std::string(100'000, 'a')}) {
        CAPTURE(hostile.substr(0, 40));
        CHECK(place_after(hostile) == home);
    }
    CHECK(has(shop.get(path + "?return_to=%2Fa%3F%22", ""), "name=\"return_to\" value=\"/a?&quot;\""));
    CHECK_FALSE(has(shop.get(path + "?return_to=%2F%2Fevil.example", ""), "evil"));
    CHECK(to_number(shop.get(path + "?return_to=%zz", "").status()) == 200);
}

TEST_CASE("sign-in on the way to an application keeps redirects and the opener working") {
    page_shop shop;
    const auto is_isolated = [](const http::response& page) {
        const bool isolated = page.find("Cross-Origin-Opener-Policy") == "same-origin";
        CHECK(isolated == (page.find("Content-Security-Policy").find("form-action 'self'") != std::string_view::npos));
        CHECK(page.find("X-Frame-Options") == "DENY");
        return isolated;
    };
    CHECK(is_isolated(shop.get(path, "")));
    CHECK_FALSE(is_isolated(shop.get(path + "?return_to=/en/user/oauth/?client_id%3Dx", "")));
    CHECK(is_isolated(shop.get(path + "?return_to=https://evil.example/", "")));
    CHECK_FALSE(is_isolated(sign_in(shop, "login=ann&password=x&return_to=/en/user/oauth/")));
    CHECK_FALSE(is_isolated(sign_in(shop, "login=&password=x&return_to=/en/user/oauth/")));
    CHECK(is_isolated(sign_in(shop, "login=ann&password=x")));
}

TEST_CASE("a signed-in user is forwarded") {
    page_shop shop;
    CHECK(shop.get(path).find("Location") == home);
    CHECK(shop.get(path + "?return_to=/a%3Fb").find("Location") == "/a?b");
    CHECK(shop.get(path + "?return_to=//evil.example").find("Location") == home);
}

TEST_CASE("a prompt shows the form to a signed-in user") {
    page_shop shop;
    const auto page = shop.get(path + "?return_to=/a%3Fb&prompt=login&login_hint=%20ann%20");
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "name=\"login\" type=\"text\" autocomplete=\"username\" value=\"ann\""));
    // The language can be changed without losing anything.
    CHECK(has(page, "/de/user/sign_in/?return_to=%2Fa%3Fb&amp;prompt=login&amp;login_hint=ann"));
    const auto again = shop.post_unchanged(path, "login=ann&password=x&return_to=/a%3Fb&prompt=login");
    CHECK(to_number(again.status()) == 422);
    CHECK(has(again, "/de/user/sign_in/?return_to=%2Fa%3Fb&amp;prompt=login"));
    const auto done = shop.post_unchanged(path, "login=ann&password=nna&return_to=/a%3Fb&prompt=login");
    CHECK(shop.get(std::string{done.find("Location")}).find("Location") == "/a?b");
    CHECK(shop.get(path + "?return_to=/a%3Fb&prompt=").find("Location") == "/a?b");
    CHECK(shop.get(path + "?return_to=/a%3Fb&login_hint=ann").find("Location") == "/a?b");
}

TEST_CASE("a login hint is a suggestion") {
    page_shop shop;
    const auto page = shop.get(path + "?login_hint=%22%3E%3Cscript%3E", "");
    CHECK(has(page, "value=\"&quot;&gt;&lt;script&gt;\""));
    for (const std::string& ignored : {std::string{"a%00"}, std::string(255, 'a'), std::string{"%E2%80%AEann"}, std::string{"a%0Ab"}})
        CHECK_FALSE(has(shop.get(path + "?login_hint=" + ignored, ""), "autocomplete=\"username\" value="));
    // The password is next.
    CHECK(has(shop.get(path + "?login_hint=ann", ""), "autocomplete=\"current-password\" required autofocus"));
    CHECK(has(shop.get(path, ""), "spellcheck=\"false\" required autofocus"));
}

TEST_CASE("blanks around a login do not count on the page") {
    page_shop shop;
    CHECK(sign_in(shop, "login=+ann%C2%A0&password=nna").find("Location") == path + "?signed_in=1");
    CHECK(has(sign_in(shop, "login=+ann+&password=x"), "value=\"ann\""));
    CHECK(has(sign_in(shop, "login=++&password=x"), "Enter your username."));
}

TEST_CASE("a wrong password keeps the login in the form, not the password") {
    page_shop shop;
    const auto page = sign_in(shop, "login=a%22nn&password=topsecret&return_to=/a");
    CHECK(to_number(page.status()) == 422);
    CHECK(page.find("Set-Cookie").empty());
    CHECK(has(page, "value=\"a&quot;nn\""));
    CHECK(has(page, "name=\"return_to\" value=\"/a\""));
    CHECK_FALSE(has(page, "topsecret"));
    CHECK(has(page, "<title>Error: Sign in"));
    CHECK(has(page, "id=\"password-fault\""));
    CHECK(has(page, "aria-describedby=\"password-fault\" aria-invalid=\"true\" autofocus"));
    // The page is the same for an unknown login and a wrong password.
    CHECK(sign_in(shop, "login=bob&password=x").body() == sign_in(shop, "login=bob&password=y").body());
}

TEST_CASE("empty fields are not an attempt") {
    page_shop shop;
    shop.sessions.failure = internal_error("nobody should ask");
    const auto page = sign_in(shop, "login=&password=");
    CHECK(to_number(page.status()) == 422);
    CHECK(has(page, "Enter your username."));
    CHECK(has(page, "Enter your password."));
    CHECK(to_number(sign_in(shop, "").status()) == 422);
    CHECK(to_number(sign_in(shop, "login=ann").status()) == 422);
}

TEST_CASE("after too many failures the page shows how long to wait") {
    page_shop shop;
    shop.sessions.next_refusal = {sign_in_result::throttled, std::nullopt, seconds{125}};
    const auto page = sign_in(shop, "login=ann&password=x");
    CHECK(to_number(page.status()) == 429);
    CHECK(page.find("Retry-After") == "125");
    CHECK(has(page, "Try again in 3 minutes"));
    shop.sessions.next_refusal.retry_after = seconds{0};
    CHECK(sign_in(shop, "login=ann&password=x").find("Retry-After") == "1");
}

TEST_CASE("another site cannot sign a user in") {
    page_shop shop;
    for (const auto& [name, value] :
         {std::pair{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}}) {
        test_request request{http::method::post, path};
        request.field(name, value).body("login=ann&password=nna", "application/x-www-form-urlencoded");
        const auto page = shop.handle(request);
        CHECK(to_number(page.status()) == 403);
        CHECK(page.find("Set-Cookie").empty());
    }
}

TEST_CASE("attempts are counted by the client's address behind trusted proxies") {
    auto settings = page_shop_settings();
    settings.trusted_proxies = {*ip_network::parse("192.0.2.0/24")};
    page_shop shop{settings};
    test_request request{http::method::post, path};
    request.field("X-Forwarded-For", "198.51.100.7").body("login=ann&password=x", "application/x-www-form-urlencoded");
    static_cast<void>(shop.handle(request));
    CHECK(shop.sessions.last_client == ip_address::v4(198, 51, 100, 7));
}

TEST_CASE("sign-out requires a form") {
    page_shop shop;
    const std::string out = "/en/user/sign_out/";
    const auto page = shop.get(out);
    CHECK(to_number(page.status()) == 200);
    CHECK(page.find("Set-Cookie").empty());
    CHECK(has(page, "action=\"/en/user/sign_out/\""));

    CHECK(to_number(shop.post_unchanged(out, "form_token=x").status()) == 403);
    const auto done = shop.post(out, "");
    CHECK(to_number(done.status()) == 303);
    CHECK(done.find("Set-Cookie") == "who=; Path=/; Max-Age=0");
    CHECK(done.find("Location") == path + "?signed_out=1");
    CHECK(has(shop.get(path + "?signed_out=1", ""), "You are signed out."));

    CHECK(shop.get(out, "").find("Location") == path);
    CHECK(shop.post_unchanged(out, "", "").find("Location") == path + "?signed_out=1");  // a second click on the button
}
