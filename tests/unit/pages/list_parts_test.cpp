#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/account/issue_personal_token.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

pages::page_view view_of(const page_texts& texts, const web::scope_text_list& scopes, std::size_t number) {
    return {.texts = texts, .scopes = scopes, .url = "/en/list/", .form_token = "token", .page_number = number};
}

constexpr std::size_t page_bytes_max = 500 * 1024;

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("a list has as many pages as it needs") {
    const page_texts texts;
    const web::scope_text_list scopes;
    struct row {
        std::size_t items, wanted, number, count, first, size;
    };
    for (const row& each : {row{0, 1, 1, 1, 0, 0}, row{1, 1, 1, 1, 0, 1}, row{25, 1, 1, 1, 0, 25}, row{26, 1, 1, 2, 0, 25}, row{26, 2, 2, 2, 25, 1},
                            row{26, 3, 2, 2, 25, 1}, row{100, 1'000'000, 4, 4, 75, 25}, row{0, 7, 1, 1, 0, 0}, row{60, 2, 2, 3, 25, 25}}) {
        CAPTURE(each.items, each.wanted);
        const auto page = pages::choose_page(view_of(texts, scopes, each.wanted), each.items);
        CHECK((page.number == each.number && page.count == each.count && page.first == each.first && page.size == each.size));
    }
}

TEST_CASE("the pages of a list are linked") {
    const page_texts texts;
    const web::scope_text_list scopes;
    const auto links = [&](std::size_t items, std::size_t number, std::string_view query = {}) {
        std::string text;
        html_writer html{text};
        const auto view = view_of(texts, scopes, number);
        pages::write_page_links(html, view, pages::choose_page(view, items), query);
        return text;
    };
    CHECK(links(25, 1).empty());
    const auto first = links(60, 1), second = links(60, 2, "account=a%2F1"), last = links(60, 3);
    CHECK(first.find("Page 1 of 3 <a rel=\"next\" href=\"/en/list/?page=2\">Next</a>") != std::string::npos);
    CHECK(first.find("rel=\"prev\"") == std::string::npos);
    CHECK(second.find("<a rel=\"prev\" href=\"/en/list/?account=a%2F1&amp;page=1\">Previous</a> Page 2 of 3 <a rel=\"next\"") != std::string::npos);
    CHECK(last.find("rel=\"next\"") == std::string::npos);
}

TEST_CASE("long texts are shortened to whole characters") {
    CHECK(pages::shorten("", 5) == "");
    CHECK(pages::shorten("abcde", 5) == "abcde");
    CHECK(pages::shorten("abcdef", 5) == "abcd\u2026");
    CHECK(pages::shorten("\u00e4\u00f6\u00fc\u00df\u20ac", 5) == "\u00e4\u00f6\u00fc\u00df\u20ac");
    CHECK(pages::shorten("\u00e4\u00f6\u00fc\u00df\u20ac!", 5) == "\u00e4\u00f6\u00fc\u00df\u2026");
    CHECK(pages::shorten(std::string(300, 'a')).size() == 99 + 3);
    CHECK(pages::shorten("a\xff\xff\xff", 3) == "a\xff\u2026");
}

TEST_CASE("the most tokens of a user are shown on several pages, and a change returns to its page") {
    page_shop shop;
    const std::string path = "/en/user/settings/tokens/";
    const counting_random random{&shop.entropy, &shop.random_works};
    for (int i = 0; i < 60; ++i)
        REQUIRE(issue_personal_token(shop.store, {ann, "Token " + std::to_string(i) + std::string(200, '<'), *scope_set::parse("user:balance")},
                                     shop.now, random));
    for (const auto& [query, size] : {std::pair{"", 25}, {"?page=2", 25}, {"?page=3", 10}, {"?page=4", 10}, {"?page=0", 25}, {"?page=x", 25},
                                      {"?page=99999999999999999999", 25}}) {
        CAPTURE(query);
        const auto page = shop.get(path + query);
        CHECK(count_of(page.body(), "<li><div class=\"top\">") == static_cast<std::size_t>(size));
        CHECK(page.body().size() < page_bytes_max);
    }
    const auto last = shop.get(path + "?page=3");
    CHECK(has(last, "Page 3 of 3"));
    CHECK(has(last, "<input type=\"hidden\" name=\"page\" value=\"3\">"));
    const auto id = page_shop::between(last.body(), "name=\"token\" value=\"", "\"");
    const auto revoked = shop.post(path, "action=revoke&token=" + id + "&page=3");
    CHECK(revoked.find("Location") == path + "?page=3&done=1");
    CHECK(has(shop.get(std::string{revoked.find("Location")}), "The token was revoked."));
    // A form with errors shows the page from which it was sent.
    CHECK(has(shop.post(path, "description=&page=2"), "Page 2 of 3"));
}

TEST_CASE("the largest applications of a user make no large page, and are shown whole where they are edited") {
    page_shop shop;
    const std::string path = "/en/user/settings/applications/";
    const auto url = [](std::size_t number) {
        return "https://a.example/" + std::to_string(number) + "?" + std::string(limits::target_url_bytes_max - 30, '&');
    };
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < limits::redirect_urls_max; ++i) urls.push_back(url(i));
    for (std::size_t i = 0; i < limits::applications_per_user_max; ++i)
        REQUIRE(shop.store.create_application({.owner = ann,
                                               .client_id = *client_id_text::from("tgi_" + std::to_string(i)),
                                               .secret_digest = {},
                                               .name = "App " + std::to_string(i) + " " + std::string(80, '&'),
                                               .website = url(99),
                                               .description = std::string(limits::application_description_bytes_max, '&'),
                                               .redirect_urls = urls,
                                               .created_at = shop.now},
                                              limits::applications_per_user_max));
    for (const char* query : {"", "?page=4"}) {
        const auto page = shop.get(path + query);
        CHECK(page.body().size() < page_bytes_max);
        CHECK(count_of(page.body(), "<li><div class=\"top\">") == 25);
        CHECK(has(page, "and 15 more"));
        CHECK_FALSE(has(page, std::string(500, '&')));
    }
    const auto id = page_shop::between(shop.get(path + "?page=2").body(), "?edit=", "&amp;page=2\"");
    REQUIRE(application_id::parse(id));
    const auto edit = shop.get(path + "?edit=" + id + "&page=2");
    CHECK(has(edit, "href=\"" + path + "?page=2\""));  // back to the list
    CHECK(has(edit, "<input type=\"hidden\" name=\"page\" value=\"2\">"));
    for (std::size_t i = 0; i < limits::redirect_urls_max; ++i) CHECK(has(edit, "https://a.example/" + std::to_string(i) + "?&amp;"));
    CHECK(edit.body().size() < page_bytes_max);
    // A deletion that is refused is shown where it was attempted.
    CHECK(to_number(shop.post(path, "action=delete&application=" + id + "&page=2").status()) == 303);
}

TEST_CASE("the most authorizations of a user are shown on several pages") {
    page_shop shop;
    const std::string path = "/en/user/settings/authorizations/";
    for (int i = 0; i < 60; ++i) {
        const auto application = shop.store.create_application({.owner = user_id{static_cast<std::int64_t>(100 + i)},
                                                                .client_id = *client_id_text::from("tgi_" + std::to_string(i)),
                                                                .secret_digest = {},
                                                                .name = "App",
                                                                .website = "https://a.example/" + std::string(2000, '&'),
                                                                .description = {},
                                                                .redirect_urls = {},
                                                                .created_at = shop.now},
                                                               100);
        REQUIRE(application);
        REQUIRE(shop.store.create_code({.code_digest = sha256("code " + std::to_string(i)),
                                        .user = ann,
                                        .application = *application,
                                        .scopes = *scope_set::parse("user:balance"),
                                        .redirect = "https://a.example",
                                        .code_challenge = {},
                                        .created_at = shop.now,
                                        .expires_at = shop.now + seconds{60}}));
    }
    const auto page = shop.get(path);
    CHECK(count_of(page.body(), "<li><div class=\"top\">") == 25);
    CHECK(page.body().size() < page_bytes_max);
    const auto last = shop.get(path + "?page=3");
    CHECK(count_of(last.body(), "<li><div class=\"top\">") == 10);
    const auto id = page_shop::between(last.body(), "name=\"application\" value=\"", "\"");
    CHECK(shop.post(path, "action=revoke&application=" + id + "&page=3").find("Location") == path + "?page=3&done=1");
}

TEST_CASE("the most webhooks of a user make no large page") {
    page_shop shop;
    const std::string path = "/en/user/settings/webhooks/";
    const std::string target = "https://a.example/" + std::string(limits::target_url_bytes_max - 20, '&');
    const auto add = [&](std::int64_t account, int count) {
        for (int i = 0; i < count; ++i)
            REQUIRE(shop.store.create_hook({.account = {*service_name::from("sitesmaker"), account_id::from(account).value()},
                                            .event = "site.created",
                                            .target_url = target,
                                            .secret = "whsec_x",
                                            .created_at = shop.now},
                                           100));
    };
    add(1, 30);
    add(2, 30);
    for (const auto& [query, size, number] : {std::tuple{"", 25, "Page 1 of 3"}, {"?page=2", 25, "Page 2 of 3"}, {"?page=3", 10, "Page 3 of 3"},
                                              {"?account=sitesmaker%2F2&page=2", 5, "Page 2 of 2"}}) {
        CAPTURE(query);
        const auto page = shop.get(path + query);
        CHECK(count_of(page.body(), "<li><div class=\"top\">") == static_cast<std::size_t>(size));
        CHECK(has(page, number));
        CHECK(page.body().size() < page_bytes_max);
    }
    CHECK(has(shop.get(path + "?account=sitesmaker%2F2"), "?account=sitesmaker%2F2&amp;page=2\">Next</a>"));
    // An account whose webhooks are all on another page has none to show, and is not named.
    CHECK_FALSE(has(shop.get(path), "This account has no webhooks."));
}
