#include <tollgate/pages/account_pages.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string tokens = "/en/user/settings/tokens/";
const std::string german_tokens = "/de/user/settings/tokens/";

http::response fetch(page_shop& shop, std::string target, std::string accepted, std::string_view login = "ann") {
    test_request request{http::method::get, std::move(target)};
    if (!login.empty()) request.field("Cookie", "who=" + std::string{login});
    if (!accepted.empty()) request.field("Accept-Language", accepted);
    return shop.handle(request);
}

}  // namespace

TEST_CASE("a page is in the language of its path, whatever the browser prefers") {
    page_shop shop;
    const auto german = fetch(shop, german_tokens, "en");
    CHECK(to_number(german.status()) == 200);
    CHECK(has(german, "<html lang=\"de\">"));
    CHECK(has(german, "<h1>Persönliche API-Token</h1>"));
    CHECK(has(german, "Ihren Kontostand ansehen"));
    const auto english = fetch(shop, tokens, "de");
    CHECK(has(english, "<html lang=\"en\">"));
    CHECK(has(english, "View your balance"));
    CHECK(to_number(fetch(shop, "/fr/user/settings/tokens/", "de").status()) == 404);
}

TEST_CASE("a German page links to German pages only, except for the language links") {
    page_shop shop;
    auto body = fetch(shop, german_tokens, "").body();
    CHECK(body.find("<a href=\"/en/user/settings/tokens/\" lang=\"en\" hreflang=\"en\">English</a>") != std::string::npos);
    for (auto at = body.find("hreflang=\"en\""); at != std::string::npos; at = body.find("hreflang=\"en\""))
        body.erase(body.rfind('<', at), 1 + at - body.rfind('<', at));
    for (const auto* part : {"action=\"/en/", "<a href=\"/en/", "<a class=\"name\" href=\"/en"}) {
        CAPTURE(part);
        CHECK(body.find(part) == std::string::npos);
    }
    CHECK(body.find("action=\"/de/user/settings/tokens/\"") != std::string::npos);
    CHECK(body.find("action=\"/de/user/sign_out/\"") != std::string::npos);
}

TEST_CASE("redirects keep the language") {
    page_shop shop;
    CHECK(fetch(shop, "/de/", "en").find("Location") == "/de/user/");
    CHECK(fetch(shop, "/de", "en").find("Location") == "/de/user/");
    CHECK(fetch(shop, "/de/user/settings/tokens?a=b", "en").find("Location") == german_tokens + "?a=b");
    CHECK(fetch(shop, german_tokens, "en", "").find("Location") ==
          "/en/user/sign_in/?return_to=" + tollgate::detail::percent_encode(german_tokens));
    CHECK(shop.post("/de/user/sign_out/", "").find("Location") == "/de/user/sign_in/?signed_out=1");
    static_cast<void>(shop.post(german_tokens, "description=a&scopes=sitesmaker"));
    const auto id = page_shop::between(shop.get(german_tokens).body(), "name=\"token\" value=\"", "\"");
    CHECK(shop.post(german_tokens, "action=revoke&token=" + id).find("Location") == german_tokens + "?done=1");
}

TEST_CASE("a path without a language redirects to the browser's language") {
    page_shop shop;
    for (const auto& [path, below] : {std::pair{"/", "/user/"},
                                      {"/user/settings/", "/user/"},
                                      {"/user", "/user/"},
                                      {"/user/settings/tokens/", "/user/settings/tokens/"},
                                      {"/user/settings/webhooks?account=sitesmaker%2F1", "/user/settings/webhooks/?account=sitesmaker%2F1"},
                                      {"/user/sign_in/?return_to=/x", "/user/sign_in/?return_to=/x"}}) {
        CAPTURE(path);
        for (const auto& [accepted, language] :
             {std::pair{"de-CH, en;q=0.5", "/de"}, {"en, de;q=0.9", "/en"}, {"fr", "/en"}, {"", "/en"}}) {
            const auto redirect = fetch(shop, path, accepted, "");
            CHECK(to_number(redirect.status()) == 303);
            CHECK(redirect.find("Location") == std::string{language} + below);
            CHECK(redirect.find("Vary") == "Accept-Language");
        }
    }
    test_request form{http::method::post, "/user/settings/tokens/"};
    form.body("description=a", "application/x-www-form-urlencoded");
    const auto refused = shop.handle(form);
    CHECK(to_number(refused.status()) == 405);
    CHECK(refused.find("Allow") == "GET, HEAD, OPTIONS");
}

TEST_CASE("errors and faults are in the language of the path, or the browser's") {
    page_shop shop;
    CHECK(has(fetch(shop, "/de/nothing", "en"), "Seite nicht gefunden"));
    CHECK(has(fetch(shop, "/nothing", "de"), "Seite nicht gefunden"));
    CHECK(has(fetch(shop, "/nothing", ""), "Page not found"));
    const auto fault = shop.post(german_tokens, "description=&scopes=sitesmaker");
    CHECK(to_number(fault.status()) == 422);
    CHECK(has(fault, "Geben Sie eine Beschreibung ein."));
    CHECK(has(fault, "<title>Fehler: "));
    CHECK(has(shop.post_unchanged(german_tokens, "description=a"), "Formular abgelaufen"));
}

TEST_CASE("a user who signs in in another language returns to a page in that language") {
    page_shop shop;
    const auto page = fetch(shop, "/en/user/sign_in/?return_to=" + tollgate::detail::percent_encode(tokens + "?a=b"), "", "");
    const auto other = "/de/user/sign_in/?return_to=" + tollgate::detail::percent_encode(tokens + "?a=b");
    CHECK(has(page, "href=\"" + other + "\""));
    const auto german = fetch(shop, other, "", "");
    CHECK(has(german, "action=\"/de/user/sign_in/\""));
    const auto place_after = [&](const std::string& return_to) {
        const auto done = shop.post_unchanged(
            "/de/user/sign_in/", "login=ann&password=nna&return_to=" + tollgate::detail::percent_encode(return_to), "");
        return std::string{shop.get(std::string{done.find("Location")}).find("Location")};
    };
    CHECK(place_after(tokens + "?a=b") == german_tokens + "?a=b");
    // A path that is not a page is not changed.
    CHECK(place_after("/english") == "/english");
    // A refused form has links to other languages.
    const auto refused = shop.post_unchanged("/de/user/sign_in/", "login=ann&password=x&return_to=/english", "");
    CHECK(has(refused, "href=\"/en/user/sign_in/?return_to=%2Fenglish\""));
}

TEST_CASE("a page that shows a secret once has no language links") {
    page_shop shop;
    const auto created = shop.post(german_tokens, "description=a&scopes=sitesmaker");
    CHECK(has(created, "Ihr neues Token"));
    CHECK_FALSE(has(created, "hreflang"));
}

TEST_CASE("an integrator chooses the languages") {
    struct swiss_theme : plain_theme {};
    page_shop shop;
    swiss_theme theme;
    theme.languages = {german_texts()};
    theme.languages[0].frame.language = "de-CH";
    account_pages pages{page_shop_settings(), shop.users, shop.store, shop.sessions, default_policies(), theme};
    const auto get = [&](std::string target) {
        test_request request{http::method::get, std::move(target)};
        request.field("Cookie", "who=ann").field("Accept-Language", "en");
        return pages.handle(request.view());
    };
    CHECK(get("/").find("Location") == "/de-CH/user/");
    const auto page = get("/de-CH/user/settings/tokens/");
    CHECK(has(page, "<html lang=\"de-CH\">"));
    CHECK_FALSE(has(page, "hreflang"));
    CHECK(to_number(get(tokens).status()) == 404);
    CHECK(pages.language_roots() == std::vector<std::string>{"/de-CH"});

    const auto construct = [&](std::vector<page_texts> languages) {
        theme.languages = std::move(languages);
        account_pages translated_pages{page_shop_settings(), shop.users, shop.store, shop.sessions, default_policies(), theme};
    };
    page_texts nameless;
    nameless.frame.language = "../x";
    CHECK_THROWS_AS(construct({}), std::invalid_argument);
    CHECK_THROWS_AS(construct({page_texts{}, page_texts{}}), std::invalid_argument);
    CHECK_THROWS_AS(construct({nameless}), std::invalid_argument);
    CHECK_NOTHROW(construct({page_texts{}, german_texts()}));
}
