#include <tollgate/pages/detail/authorizations_page.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/settings/authorizations/";

application_id add_application(page_shop& shop, std::string name, std::string website) {
    return *shop.store.create_application({.owner = bob,
                                           .client_id = *client_id_text::from("tgi_" + name.substr(0, 20)),
                                           .secret_digest = {},
                                           .name = name,
                                           .website = std::move(website),
                                           .description = {},
                                           .redirect_urls = {},
                                           .created_at = shop.now},
                                          100);
}

void authorize(page_shop& shop, user_id user, application_id application, std::string_view scopes) {
    static int codes = 0;
    static_cast<void>(shop.store.create_code({.code_digest = sha256("code " + std::to_string(++codes)),
                                              .user = user,
                                              .application = application,
                                              .scopes = *scope_set::parse(scopes),
                                              .redirect = "https://a.example",
                                              .code_challenge = {},
                                              .created_at = shop.now,
                                              .expires_at = shop.now + seconds{60}}));
}

}  // namespace

TEST_CASE("an empty list explains itself") {
    page_shop shop;
    CHECK(has(shop.get(path), "You have not authorized any applications."));
}

TEST_CASE("authorized applications are listed with plain texts") {
    page_shop shop;
    authorize(shop, ann, add_application(shop, "Statistics <1>", "https://statistics.example"),
           "user:balance itemplatform:read");
    const auto page = shop.get(path);
    CHECK(has(page, "Statistics &lt;1&gt;"));
    CHECK(has(page,
              "<li>View your balance <code>user:balance</code></li>\n<li>View your itemplatform accounts, and manage their webhooks "
                    "<code>itemplatform:read</code></li>"));
    CHECK(has(page, "<a href=\"https://statistics.example\""));
    CHECK_FALSE(has(shop.get(path, "bob"), "Statistics"));
}

TEST_CASE("a website that is not a web address is not a link") {
    page_shop shop;
    authorize(shop, ann, add_application(shop, "Odd", "javascript:alert(1)"), "user:balance");
    const auto page = shop.get(path);
    CHECK(has(page, "javascript:alert(1)"));
    CHECK_FALSE(has(page, "href=\"javascript"));

    // A user would read it as an address of the bank.
    authorize(shop, ann, add_application(shop, "Odder", "https://bank.example@evil.example/"), "user:balance");
    const auto both = shop.get(path);
    CHECK(has(both, "https://bank.example@evil.example/"));
    CHECK_FALSE(has(both, "href=\"https://bank.example@"));
}

TEST_CASE("an unknown scope is shown unchanged") {
    page_shop shop;
    authorize(shop, ann, add_application(shop, "Old", "https://old.example"), "gone:read");
    CHECK(has(shop.get(path), "<li>gone:read <code>gone:read</code></li>"));
}

TEST_CASE("an application that is suspended says so, and can be revoked") {
    page_shop shop;
    const auto application = add_application(shop, "Statistics", "https://statistics.example");
    authorize(shop, ann, application, "user:balance");
    CHECK_FALSE(has(shop.get(path), "Suspended"));
    for (const auto reason : {suspension::by_operator, suspension::owner_disabled}) {
        REQUIRE(*shop.store.change_application({}, application, suspension_change{reason}));
        CHECK(has(shop.get(path), "<span class=\"state bad\">Suspended</span> The application is suspended, so it has no access"));
        CHECK(has(shop.get("/de" + path.substr(3)), "<span class=\"state bad\">Gesperrt</span>"));
        CHECK_FALSE(has(shop.get("/en/user/"), "Statistics"));  // it has no access
    }
    REQUIRE(*shop.store.change_application({}, application, suspension_change{std::nullopt}));
    CHECK_FALSE(has(shop.get(path), "Suspended"));
    CHECK(has(shop.get("/en/user/"), "Statistics"));
    REQUIRE(*shop.store.change_application({}, application, suspension_change{suspension::by_operator}));
    CHECK(to_number(shop.post(path, "action=revoke&application=" + std::to_string(application.value())).status()) == 303);
}

TEST_CASE("users revoke their own authorizations only") {
    page_shop shop;
    const auto application = add_application(shop, "Statistics", "https://statistics.example");
    authorize(shop, ann, application, "user:balance");
    authorize(shop, bob, application, "user:balance");
    const auto body = "action=revoke&application=" + std::to_string(application.value());
    for (const auto* other : {"", "0", "x", "999999"})
        CHECK(to_number(shop.post(path, std::string{"action=revoke&application="} + other).status()) == 404);

    CHECK(has(shop.get(path), "Webhooks that it created will remain: review them on the &quot;Webhooks&quot; page."));
    CHECK(has(shop.get("/de" + path.substr(3)), "Webhooks, die sie angelegt hat, bleiben"));
    const auto done = shop.post(path, body);
    CHECK(to_number(done.status()) == 303);
    CHECK(done.find("Location") == path + "?done=1");
    CHECK(has(shop.get(path + "?done=1"), "Access was revoked"));
    CHECK(shop.store.grants_of(ann)->empty());
    CHECK(shop.store.grants_of(bob)->size() == 1);
    CHECK(to_number(shop.post(path, body).status()) == 404);
}
