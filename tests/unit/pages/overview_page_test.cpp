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

TEST_CASE("the overview shows the requests of the user's window") {
    page_shop shop;
    auto policies = default_policies().with_clock(fake_clock{&shop.now});
    account_pages pages{page_shop_settings(), shop.users, shop.store, shop.sessions, policies};
    const auto overview = [&] { return content_of(pages.handle(test_request{http::method::get, path}.field("Cookie", "who=ann").view())); };
    auto content = overview();
    for (const auto* part : {"API requests", "0 of 1000 used, 1000 left.", "<rect class=\"used\" width=\"0\""})
        CHECK(content.find(part) != std::string::npos);
    for (const auto* part : {"starts again", "Requests today"}) CHECK(content.find(part) == std::string::npos);

    for (int i = 0; i < 250; ++i) static_cast<void>(policies.limiter().take(limit_key::of(ann), default_user_quota, shop.now));
    shop.now += std::chrono::minutes{90};
    content = overview();
    for (const auto* part : {"250 of 1000 used, 750 left.", "<rect class=\"used\" width=\"250\"", "starts again", "2023-11-15T22:13:20Z"})
        CHECK(content.find(part) != std::string::npos);
    CHECK(overview() == content);  // looking at it counts nothing

    shop.users.people.at(ann).own_quota = quota{200, std::chrono::hours{24}};
    content = overview();
    for (const auto* part : {"200 of 200 used, 0 left.", "<rect class=\"used up\" width=\"1000\""}) CHECK(content.find(part) != std::string::npos);
    shop.users.people.at(ann).own_quota = quota{};
    CHECK(overview().find("API requests") == std::string::npos);
}

TEST_CASE("the overview, the tokens and the applications show today's requests, if they are counted") {
    page_shop shop;
    auto policies = default_policies().with_clock(fake_clock{&shop.now}).with_usage_counts();
    account_pages pages{page_shop_settings(), shop.users, shop.store, shop.sessions, policies};
    const auto page = [&](const std::string& target, const std::string& login = "ann") {
        return content_of(pages.handle(test_request{http::method::get, target}.field("Cookie", "who=" + login).view()));
    };
    const auto token = shop.store.create_personal_token(token_of(ann, 1), 100);
    REQUIRE(token);
    const caller with_token{ann, {}, credential_kind::personal_token, std::nullopt, std::nullopt, *token};
    for (int i = 0; i < 12; ++i) policies.usage()->record(with_token, i < 3, shop.now);
    for (const auto& target : {path, std::string{"/en/user/settings/tokens/"}}) {
        const auto content = page(target);
        CHECK(content.find("Requests today") != std::string::npos);
        CHECK(content.find("12 <span class=\"quiet\">(3 failed)</span>") != std::string::npos);
    }
    CHECK(page(path).find("<rect class=\"used\" width=\"12\"") != std::string::npos);  // of 1000

    const auto registered = register_application(shop.store, {ann, "Book keeper", "https://books.example", "", {"https://books.example/back"}}, shop.now);
    REQUIRE(registered);
    const auto application = shop.store.find_application(registered->client_id.view());
    REQUIRE((application && *application));
    const caller with_application{bob, {}, credential_kind::access_token, (*application)->id};
    policies.usage()->record(with_application, false, shop.now);
    CHECK(page("/en/user/settings/applications/").find("<dt>Requests today</dt><dd>1</dd>") != std::string::npos);
}
