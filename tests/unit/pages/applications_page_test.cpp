#include <tollgate/pages/detail/applications_page.hpp>

#include <catch2/catch.hpp>

#include "support/page_shop.hpp"
#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate::test;

namespace {

const std::string path = "/en/user/settings/applications/";
const std::string good = "name=Statistics&website=https://statistics.example";

std::vector<application> applications_of(page_shop& shop, user_id user) { return *shop.store.applications_of(user); }

std::string value_of(const http::response& page, const std::string& id) {
    return page_shop::between(page.body(), "id=\"" + id + "\" value=\"", "\"");
}

}  // namespace

TEST_CASE("an application is registered, and its secret shown once") {
    page_shop shop;
    CHECK(has(shop.get(path), "You have not registered any applications yet."));
    const auto page =
        shop.post(path, "name=Shop+%26+more&website=https://statistics.example&description=Numbers&redirect_url=" +
                            percent_encode("https://statistics.example/callback?a=b"));
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "<h1>Shop &amp; more is registered</h1>"));
    const auto client_id = value_of(page, "client-id");
    const auto secret = value_of(page, "client-secret");

    const auto kept = shop.store.find_application(client_id);
    REQUIRE((kept && *kept));
    CHECK((*kept)->owner == ann);
    CHECK((*kept)->secret_digest == digest_of(secret));
    CHECK((*kept)->name == "Shop & more");
    CHECK((*kept)->description == "Numbers");
    CHECK((*kept)->redirect_url == "https://statistics.example/callback?a=b");

    const auto list = shop.get(path);
    CHECK(has(list, client_id));
    CHECK(has(list, "<a href=\"https://statistics.example/\" rel=\"external noopener noreferrer\">"));
    CHECK_FALSE(has(list, secret));
    CHECK_FALSE(has(shop.get(path, "bob"), client_id));
}

TEST_CASE("description and redirect URL may be left out") {
    page_shop shop;
    CHECK(to_number(shop.post(path, good + "&description=&redirect_url=").status()) == 200);
    CHECK(to_number(shop.post(path, good).status()) == 200);
    for (const auto& each : applications_of(shop, ann)) {
        CHECK(each.description.empty());
        CHECK_FALSE(each.redirect_url);
    }
}

TEST_CASE("invalid input is reported at its field and kept") {
    page_shop shop;
    struct row {
        std::string body;
        std::string_view field;
        std::string_view says;
    };
    const auto website = [](const std::string& url) { return "name=a&website=" + percent_encode(url); };
    const auto redirect = [](const std::string& url) { return good + "&redirect_url=" + percent_encode(url); };
    for (const row& each : {
             row{"name=&website=https://a.example", "name", "Enter a name."},
             row{"name=" + std::string(101, 'a') + "&website=https://a.example", "name", "at most 100 bytes are allowed"},
             row{"name=a%0Ab&website=https://a.example", "name", "plain text on a single line"},
             row{"name=a%E2%80%AEb&website=https://a.example", "name", "plain text on a single line"},
             row{"name=a", "website", "Enter the URL of the application"},
             row{website("a.example"), "website", "Enter an absolute URL"},
             row{website("javascript:alert(1)"), "website", "Enter an absolute URL"},
             row{website("https://ann:x@a.example"), "website", "Enter an absolute URL"},
             row{website("https://a.example/" + std::string(2048, 'a')), "website", "at most 2048 bytes are allowed"},
             row{good + "&description=" + std::string(256, 'a'), "description", "at most 255 bytes are allowed"},
             row{good + "&description=a%00", "description", "plain text on a single line"},
             row{redirect("/callback"), "redirect_url", "without a #fragment"},
             row{redirect("https://a.example/#x"), "redirect_url", "without a #fragment"},
             row{redirect("https://a.example/\r\n"), "redirect_url", "without a #fragment"},
             row{redirect("https://a.example/" + std::string(2048, 'a')), "redirect_url",
                 "at most 2048 bytes are allowed"},
         }) {
        CAPTURE(each.body.substr(0, 60));
        const auto page = shop.post(path, each.body);
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "<title>Error: OAuth applications"));
        CHECK(
            page_shop::between(page.body(), "id=\"" + std::string{each.field} + "-fault\">", "</p>").find(each.says) !=
            std::string::npos);
    }
    CHECK(applications_of(shop, ann).empty());

    const auto page = shop.post(path, "name=%3Cb%3E&website=x&description=d&redirect_url=y");
    for (const auto* kept : {"value=\"&lt;b&gt;\"", "value=\"x\"", "value=\"d\"", "value=\"y\""})
        CHECK(has(page, kept));
    CHECK(has(page, "<li><a href=\"#website\">Website: Enter an absolute URL"));
    CHECK(has(page, "<li><a href=\"#redirect_url\">Redirect URL: Enter"));
}

TEST_CASE("the number of applications is bounded") {
    auto settings = page_shop_settings();
    settings.applications_per_user_max = 1;
    page_shop shop{settings};
    CHECK(to_number(shop.post(path, good).status()) == 200);
    const auto page = shop.post(path, good);
    CHECK(to_number(page.status()) == 422);
    CHECK(has(page, "the maximum number of applications"));
    CHECK(applications_of(shop, ann).size() == 1);
}

TEST_CASE("a new secret replaces the old one, for the owner only") {
    page_shop shop;
    const auto old_secret = value_of(shop.post(path, good), "client-secret");
    const auto made = applications_of(shop, ann).front();
    const auto action = "action=new_secret&application=" + std::to_string(made.id.value());

    CHECK(to_number(shop.post(path, action, "bob").status()) == 404);
    CHECK(applications_of(shop, ann).front().secret_digest == digest_of(old_secret));

    const auto page = shop.post(path, action);
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "<h1>New secret for Statistics</h1>"));
    CHECK(value_of(page, "client-id") == made.client_id.view());
    const auto secret = value_of(page, "client-secret");
    CHECK(secret != old_secret);
    CHECK(applications_of(shop, ann).front().secret_digest == digest_of(secret));
}

TEST_CASE("an application is deleted by its owner only") {
    page_shop shop;
    static_cast<void>(shop.post(path, good));
    const auto id = std::to_string(applications_of(shop, ann).front().id.value());
    CHECK(to_number(shop.post(path, "action=delete&application=" + id, "bob").status()) == 404);
    for (const auto* other : {"", "0", "01", "x", "999999", "9223372036854775808"})
        for (const auto* action : {"delete", "new_secret"})
            CHECK(to_number(shop.post(path, std::string{"action="} + action + "&application=" + other).status()) ==
                  404);
    CHECK(applications_of(shop, ann).size() == 1);

    const auto done = shop.post(path, "action=delete&application=" + id);
    CHECK(done.find("Location") == path + "?done=1");
    CHECK(has(shop.get(path + "?done=1"), "The application and all its access were deleted"));
    CHECK(applications_of(shop, ann).empty());
    CHECK(to_number(shop.post(path, "action=delete&application=" + id).status()) == 404);
}
