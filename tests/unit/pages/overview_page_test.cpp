#include <tollgate/pages/detail/overview_page.hpp>
#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/account/register_application.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/";

new_personal_token token_of(user_id user, int number, std::optional<instant> expires_at = {}) {
    const auto text = std::to_string(number);
    return {user, *token_username::from("u" + text), digest_of(text), "Token " + text, scope_set{}, from_unix_seconds(number),
            expires_at};
}

/// The page without its header and navigation.
std::string content_of(const http::response& page) { return page_shop::between(page.body(), "<main", "</main>"); }

}  // namespace

TEST_CASE("the overview shows the balance and the accounts") {
    page_shop shop;
    const auto page = shop.get(path);
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "<a href=\"/en/user/\" aria-current=\"page\">Overview</a>"));
    CHECK(has(page, "<title>Your account</title>"));
    const auto content = content_of(page);
    for (const auto* part : {"1234.50 EUR", "Ann&#39;s site", "Another &quot;one&quot;", "Ann&#39;s items", "Administrator", "Member",
                             "/en/user/settings/webhooks/?account=itemplatform%2F1", "No token or application has access"})
        CHECK(content.find(part) != std::string::npos);
    CHECK(content.find("Bob") == std::string::npos);
    CHECK(content.find("Recent activity") == std::string::npos);  // this directory has none
    CHECK(has(shop.get(path, "bob"), "0.10 USD"));
    CHECK(shop.get(path, "").find("Location") == "/en/user/sign_in/?return_to=" + tollgate::detail::percent_encode(path));
}

TEST_CASE("the overview lists tokens and applications with access, the last used first") {
    page_shop shop;
    for (int i = 1; i <= 3; ++i) REQUIRE(shop.store.create_personal_token(token_of(ann, i), 100));
    REQUIRE(shop.store.create_personal_token(token_of(ann, 4, shop.now), 100));  // expired
    REQUIRE(shop.store.create_personal_token(token_of(bob, 5), 100));
    REQUIRE(shop.store.record_use(personal_token_key{"u2"}, shop.now, "203.0.113.0/24"));
    const auto content = content_of(shop.get(path));
    for (const auto* part : {"Token 1", "Token 3", "Manage tokens (3)", "Manage authorized applications (0)"})
        CHECK(content.find(part) != std::string::npos);
    for (const auto* part : {"Token 4", "Token 5"}) CHECK(content.find(part) == std::string::npos);
    CHECK(content.find("Token 2") < content.find("Token 1"));
}

TEST_CASE("the overview stays short") {
    page_shop shop;
    auto& accounts = shop.users.people.at(ann).accounts.at("sitesmaker");
    for (int i = 10; i < 50; ++i) accounts.push_back({account_id{i}, "Site " + std::to_string(i), false});
    for (int i = 1; i <= 20; ++i) REQUIRE(shop.store.create_personal_token(token_of(ann, i), 100));
    const auto content = content_of(shop.get(path));
    CHECK(content.find("and 23 more") != std::string::npos);
    CHECK(content.find("Manage tokens (20)") != std::string::npos);
    std::size_t rows = 0;
    for (auto at = content.find("<tr "); at != std::string::npos; at = content.find("<tr ", at + 1)) ++rows;
    CHECK(rows == 1 + pages::overview_accounts_max + 1 + pages::overview_access_max);
}

TEST_CASE("a failing part is an error page, not half an overview") {
    page_shop shop;
    shop.users.failure = internal_error("a bug");
    CHECK(to_number(shop.get(path).status()) == 500);
}

TEST_CASE("the overview accepts no form") {
    page_shop shop;
    const auto posted = shop.post_unchanged(path, "a=b");
    CHECK(to_number(posted.status()) == 405);
    CHECK(posted.find("Allow") == "GET, HEAD, OPTIONS");
}
