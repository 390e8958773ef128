#include <tollgate/pages/detail/tokens_page.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/settings/tokens/";

std::vector<personal_token> tokens_of(page_shop& shop, user_id user) { return *shop.store.personal_tokens_of(user); }

}  // namespace

TEST_CASE("an empty list explains itself for tokens") {
    page_shop shop;
    const auto page = shop.get(path);
    CHECK(has(page, "You have no tokens yet."));
    CHECK_FALSE(has(page, "<table"));
    CHECK(has(page, "name=\"scopes\" value=\"user:balance\""));
    CHECK(has(page, "View your sitesmaker accounts"));
}

TEST_CASE("a token is created, shown once, and accepted") {
    page_shop shop;
    const auto page =
        shop.post(path, "description=Nightly+%3Cbackup%3E&scopes=user%3Abalance&scopes=sitesmaker%3Aread");
    CHECK(to_number(page.status()) == 200);
    CHECK(page.find("Cache-Control") == "no-store");
    const auto username = page_shop::between(page.body(), "id=\"username\">", "<");
    const auto secret = page_shop::between(page.body(), "id=\"secret\">", "<");
    CHECK(is_well_formed(secret_kind::personal_token, secret));

    const auto stored = shop.store.find_credential(personal_token_key{username});
    REQUIRE((stored && *stored));
    CHECK((*stored)->user == ann);
    CHECK((*stored)->secret_digest == digest_of(secret));
    CHECK((*stored)->scopes.text() == "user:balance sitesmaker:read");

    const auto list = shop.get(path);
    CHECK(has(list, "Nightly &lt;backup&gt;"));
    CHECK(has(list, username));
    CHECK(has(list, "<time datetime=\"2023-11-14T22:13:20Z\" title=\"14 Nov 2023, 22:13:20 UTC\">14 Nov 2023</time>"));
    CHECK(has(list, "Never"));
    CHECK_FALSE(has(list, secret));
    CHECK_FALSE(has(shop.get(path, "bob"), username));
}

TEST_CASE("a token may have as many scopes as the store keeps") {
    auto settings = page_shop_settings();
    std::vector<scope_definition> own;
    std::string body = "description=a";
    for (int i = 0; i < 80; ++i) {
        own.push_back({"s" + std::to_string(i), "Scope"});
        body += "&scopes=x%3As" + std::to_string(i);
    }
    REQUIRE(settings.services.add("x", {"x.done"}, own));
    page_shop shop{settings};
    CHECK(to_number(shop.post(path, body).status()) == 200);
    CHECK(tokens_of(shop, ann).size() == 1);
}

TEST_CASE("invalid token input is reported at its field and preserved") {
    page_shop shop;
    struct row {
        std::string body;
        std::string_view field;
        std::string_view message;
    };
    const std::string long_text(256, 'a');
    for (const row& each : {
             row{"description=&scopes=sitesmaker", "description", "Enter a description."},
             row{"scopes=sitesmaker", "description", "Enter a description."},
             row{"description=+++&scopes=sitesmaker", "description", "Enter a description."},
             row{"description=" + long_text + "&scopes=sitesmaker", "description", "at most 255 bytes are allowed"},
             row{"description=a%00b&scopes=sitesmaker", "description", "plain text on a single line"},
             row{"description=a%0D%0Ab&scopes=sitesmaker", "description", "plain text on a single line"},
             row{"description=a%E2%80%AEb&scopes=sitesmaker", "description", "plain text on a single line"},
             row{"description=a", "scopes", "Select at least one"},
             row{"description=a&scopes=", "scopes", "Choose one of the listed options."},
             row{"description=a&scopes=nothing", "scopes", "Choose one of the listed options."},
             row{"description=a&scopes=user:balance+sitesmaker", "scopes", "Choose one of the listed options."},
             row{"description=a&scopes=sitesmaker&scopes=SITESMAKER", "scopes", "Choose one of the listed options."},
         }) {
        CAPTURE(each.body.substr(0, 60));
        const auto page = shop.post(path, each.body);
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "<title>Error: Personal API tokens"));
        CHECK(fault_of(page, each.field).find(each.message) != std::string::npos);
        CHECK(has(page, "autofocus"));
    }
    CHECK(tokens_of(shop, ann).empty());

    const auto page = shop.post(path, "description=%22a%22%0A&scopes=sitesmaker");
    CHECK(has(page, "value=\"&quot;a&quot;\n\""));
    CHECK(has(page, "value=\"sitesmaker\" checked"));
    CHECK_FALSE(has(page, "value=\"sitesmaker:read\" checked"));
}

TEST_CASE("the summary of errors is at the position that the browser scrolls to") {
    page_shop shop;
    const auto page = std::string{shop.post(path, "description=").body()};
    REQUIRE(page.find("Please correct the following") != std::string::npos);
    CHECK(page.find("Please correct the following") > page.find("<section class=\"form\" id=\"new\""));
}

TEST_CASE("a description of the maximum length") {
    page_shop shop;
    CHECK(to_number(shop.post(path, "scopes=sitesmaker&description=" + std::string(255, 'a')).status()) == 200);
    CHECK(tokens_of(shop, ann).front().description.size() == 255);
}

TEST_CASE("the number of tokens is bounded") {
    auto settings = page_shop_settings();
    settings.pages.tokens_per_user_max = 2;
    page_shop shop{settings};
    for (int i = 0; i < 2; ++i) CHECK(to_number(shop.post(path, "description=a&scopes=sitesmaker").status()) == 200);
    const auto page = shop.post(path, "description=kept&scopes=sitesmaker");
    CHECK(to_number(page.status()) == 422);
    CHECK(has(page, "the maximum number of tokens"));
    CHECK(page.body().find("the maximum number of tokens") < page.body().find("<ul class=\"items\""));
    CHECK(has(page, "value=\"kept\""));
    CHECK(tokens_of(shop, ann).size() == 2);
    CHECK(to_number(shop.post(path, "description=a&scopes=sitesmaker", "bob").status()) == 200);
}

TEST_CASE("a token is revoked by its owner only") {
    page_shop shop;
    static_cast<void>(shop.post(path, "description=first&scopes=sitesmaker"));
    static_cast<void>(shop.post(path, "description=second&scopes=sitesmaker"));
    static_cast<void>(shop.post(path, "description=bobs&scopes=sitesmaker", "bob"));
    const auto id = std::to_string(tokens_of(shop, ann).front().id.value());
    CHECK(has(shop.get(path), "Programs that use &quot;first&quot; will lose access immediately."));

    CHECK(to_number(shop.post(path, "action=revoke&token=" + id, "bob").status()) == 404);
    for (const auto* other : {"", "0", "-1", "01", "x", "999999", "9223372036854775808"}) {
        CAPTURE(other);
        CHECK(to_number(shop.post(path, std::string{"action=revoke&token="} + other).status()) == 404);
    }
    CHECK(tokens_of(shop, ann).size() == 2);
    CHECK(tokens_of(shop, bob).size() == 1);

    const auto done = shop.post(path, "action=revoke&token=" + id);
    CHECK(to_number(done.status()) == 303);
    CHECK(done.find("Location") == path + "?done=1");
    CHECK(has(shop.get(path + "?done=1"), "The token was revoked."));
    REQUIRE(tokens_of(shop, ann).size() == 1);
    CHECK(tokens_of(shop, ann).front().description == "second");
    CHECK(to_number(shop.post(path, "action=revoke&token=" + id).status()) == 404);
}

TEST_CASE("without random bytes no token is created") {
    page_shop shop;
    const auto token = page_shop::token_on(shop.get(path));
    shop.random_works = false;
    CHECK(to_number(shop.post_unchanged(path, "description=a&scopes=sitesmaker&form_token=" + token).status()) == 500);
    CHECK(tokens_of(shop, ann).empty());
}

TEST_CASE("a new secret can be reloaded for two minutes, and then its page is the list") {
    page_shop shop;
    const auto body = "description=a&scopes=sitesmaker&form_token=" + page_shop::token_on(shop.get(path));
    const auto response = shop.post_unchanged(path, body);
    CHECK(to_number(response.status()) == 303);
    CHECK(response.find("Cache-Control") == "no-store");
    const std::string secret_path{response.find("Location")};
    REQUIRE(secret_path.starts_with(path + "?shown="));
    CHECK(secret_path.find("tgp_") == std::string::npos);

    CHECK(to_number(shop.get(secret_path, "bob").status()) == 303);  // another session cannot see it
    test_request head{http::method::head, secret_path};
    head.field("Cookie", "who=ann");
    CHECK(to_number(shop.handle(head).status()) == 200);
    const auto first = shop.get(secret_path);
    const auto secret = page_shop::between(first.body(), "id=\"secret\">", "<");
    REQUIRE_FALSE(secret.empty());
    shop.now += seconds{119};
    CHECK(page_shop::between(shop.get(secret_path).body(), "id=\"secret\">", "<") == secret);
    shop.now += seconds{1};
    const auto late = shop.get(secret_path);
    CHECK(to_number(late.status()) == 303);
    CHECK(late.find("Location") == path);
    CHECK(tokens_of(shop, ann).size() == 1);
}

TEST_CASE("the page of a new secret leads back to the page of the list from which it was requested") {
    page_shop shop;
    for (int i = 0; i < 26; ++i) static_cast<void>(shop.post(path, "description=number" + std::to_string(i) + "&scopes=sitesmaker"));
    const auto body = page_shop::form_of(shop.get(path + "?page=2"), "renew");
    const auto location = std::string{shop.post_unchanged(path, body).find("Location")};
    REQUIRE(location.ends_with("&page=2"));
    CHECK(has(shop.get(location), "<a class=\"button\" href=\"" + path + "?page=2\">Back to tokens</a>"));
    shop.now += seconds{120};
    CHECK(shop.get(location).find("Location") == path + "?page=2");
}

TEST_CASE("a secret is not shown after two minutes, and an unused form stays valid") {
    page_shop shop;
    const auto token = page_shop::token_on(shop.get(path));
    CHECK(to_number(shop.post_unchanged(path, "description=&scopes=sitesmaker&form_token=" + token).status()) == 422);
    shop.random_works = true;
    const auto response = shop.post_unchanged(path, "description=a&scopes=sitesmaker&form_token=" + token);
    REQUIRE(to_number(response.status()) == 303);
    shop.now += seconds{120};
    const auto late = shop.get(std::string{response.find("Location")});
    CHECK(to_number(late.status()) == 303);
    CHECK_FALSE(has(late, "tgp_"));
}

TEST_CASE("the same form with other values creates another token") {
    page_shop shop;
    const auto token = "&form_token=" + page_shop::token_on(shop.get(path));
    for (const char* description : {"a", "b"})
        CHECK(to_number(shop.post_unchanged(path, std::string{"scopes=sitesmaker&description="} + description + token).status()) == 303);
    CHECK(to_number(shop.post_unchanged(path, "scopes=sitesmaker&description=b" + token).status()) == 303);
    CHECK(tokens_of(shop, ann).size() == 2);
}

TEST_CASE("a token expires at the chosen time, and the page shows this before and after") {
    page_shop shop;
    const std::string tokens = "/en/user/settings/tokens/";
    const auto create = [&](const std::string& days) {
        return to_number(shop.post(tokens, "description=d" + days + "&scopes=user:balance&days=" + days).status());
    };
    for (const auto* days : {"30", "90", "365", ""}) CHECK(create(days) == 200);
    for (const auto* days : {"0", "31", "x", "-30", "030"}) CHECK(create(days) == 422);
    const auto stored = *shop.store.personal_tokens_of(ann);
    REQUIRE(stored.size() == 4);
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(stored[i].expires_at == shop.now + std::chrono::days{std::array{30, 90, 365}[i]});
    CHECK_FALSE(stored[3].expires_at);
    CHECK(has(shop.get(tokens), "<span class=\"state care\">Never</span>"));
    CHECK_FALSE(has(shop.get(tokens), "Expires soon"));
    shop.now += std::chrono::days{23};
    CHECK(has(shop.get(tokens), "Expires soon"));
    CHECK_FALSE(has(shop.get(tokens), "Expired"));
    shop.now += std::chrono::days{7};
    CHECK(has(shop.get(tokens), "Expired"));
}

TEST_CASE("only its user gives a token a new secret, and its lifetime restarts") {
    page_shop shop;
    const std::string tokens = "/en/user/settings/tokens/";
    static_cast<void>(shop.post(tokens, "description=d&scopes=user:balance&days=30"));
    const auto original = (*shop.store.personal_tokens_of(ann)).front();
    shop.now += std::chrono::days{10};
    const auto action = page_shop::form_of(shop.get(tokens), "renew");
    CHECK(to_number(shop.post(tokens, "action=renew&token=" + std::to_string(original.id.value()), "bob").status()) == 404);
    CHECK(to_number(shop.post(tokens, "action=renew&token=x").status()) == 404);
    const auto before = *shop.store.find_credential(personal_token_key{original.username.view()});
    const auto page = shop.get(std::string{shop.post_unchanged(tokens, action).find("Location")});
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "<h1>New secret for d</h1>"));
    const auto secret = page_shop::between(page.body(), "id=\"secret\">", "<");
    const auto after = *shop.store.find_credential(personal_token_key{original.username.view()});
    CHECK(after->secret_digest == digest_of(secret));
    CHECK(after->secret_digest != before->secret_digest);
    CHECK(after->expires_at == shop.now + std::chrono::days{30});
    CHECK(has(page, std::string{original.username.view()}));
}
