#include <tollgate/pages/detail/webhooks_page.hpp>
#include <tollgate/account/issue_hook.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/settings/webhooks/";
const account_ref anns_site{*service_name::from("sitesmaker"), account_id{1}};
const account_ref bobs_site{*service_name::from("sitesmaker"), account_id{3}};

std::string hook_form(std::string_view account, std::string_view event, std::string_view target_url) {
    return "account=" + tollgate::detail::percent_encode(account) + "&event=" + tollgate::detail::percent_encode(event) +
           "&target_url=" + tollgate::detail::percent_encode(target_url);
}

std::vector<hook> hooks_of(page_shop& shop, const account_ref& account) { return *shop.store.hooks_of(account); }

std::string secret_on(const http::response& page) {
    return page_shop::between(page.body(), "id=\"secret\">", "<");
}

const std::string good = hook_form("sitesmaker/1", "site.created", "https://hooks.ann.example/in?a=b");

}  // namespace

TEST_CASE("an account has one valid text") {
    CHECK(pages::parse_account("sitesmaker/1") == anns_site);
    CHECK(pages::account_text(anns_site) == "sitesmaker/1");
    for (const auto* text :
         {"", "/", "sitesmaker", "sitesmaker/", "/1", "sitesmaker/01", "sitesmaker/0", "sitesmaker/-1", "sitesmaker/1/",
          "sitesmaker//1", "sitesmaker/9223372036854775808", "a-name-of-more-than-thirty-two-bytes/1"}) {
        CAPTURE(text);
        CHECK_FALSE(pages::parse_account(text));
    }
}

TEST_CASE("the form offers the user's accounts and their events") {
    page_shop shop;
    const auto page = shop.get(path);
    CHECK(has(page, "You have no webhooks yet."));
    CHECK(has(page, "<optgroup label=\"sitesmaker\">\n<option value=\"sitesmaker/1\">Ann&#39;s site</option>"));
    CHECK(has(page, "<option value=\"itemplatform/1\">"));
    CHECK_FALSE(has(page, "sitesmaker/3"));
    // The events depend on the account, which is chosen first.
    CHECK(has(page, "<form action=\"/en/user/settings/webhooks/#new\">"));
    for (const auto* event : {"item.created", "site.created"}) CHECK_FALSE(has(page, event));
    const auto site = shop.get(path + "?account=sitesmaker%2F2"), items = shop.get(path + "?account=itemplatform%2F1");
    CHECK(has(site, "name=\"account\" value=\"sitesmaker/2\""));
    CHECK((has(site, "<option value=\"site.created\">") && !has(site, "item.created")));
    CHECK((has(items, "<option value=\"item.created\">") && !has(items, "site.created")));
    // Bob has one account only, so there is no choice.
    const auto bobs = shop.get(path, "bob");
    CHECK(has(bobs, "name=\"account\" value=\"sitesmaker/3\""));
    CHECK((has(bobs, "<option value=\"site.created\">") && !has(bobs, "item.created")));
    CHECK(has(shop.get(path + "?account="), "<form action=\"/en/user/settings/webhooks/#new\">"));
}

TEST_CASE("an account that is not the user's is not found") {
    page_shop shop;
    CHECK(to_number(shop.get(path + "?account=sitesmaker%2F3", "bob").status()) == 200);
    for (const auto* account : {"sitesmaker%2F3", "sitesmaker%2F99", "nothing%2F1", "99", "zzz", "%00"}) {
        CAPTURE(account);
        CHECK(to_number(shop.get(path + "?account=" + account).status()) == 404);
    }
}

TEST_CASE("without accounts the page says that there are none") {
    page_shop shop;
    shop.users.people.at(ann).accounts.clear();
    const auto page = shop.get(path);
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "you have no accounts yet"));
    CHECK_FALSE(has(page, "<select"));
}

TEST_CASE("a webhook is created, and its secret shown once") {
    page_shop shop;
    const auto page = shop.post(path, good);
    CHECK(to_number(page.status()) == 200);
    const auto secret = secret_on(page);
    CHECK(secret.starts_with("whsec_"));
    REQUIRE(hooks_of(shop, anns_site).size() == 1);
    const auto hook = hooks_of(shop, anns_site).front();
    CHECK(hook.event == "site.created");
    CHECK(hook.target_url == "https://hooks.ann.example/in?a=b");
    CHECK(hook.source == hook_source::manual);
    CHECK(hook.type == default_hook_type);

    const auto list = shop.get(path);
    CHECK(has(list, "https://hooks.ann.example/in?a=b"));
    CHECK(has(list, "Settings page"));
    CHECK(page_shop::between(list.body(), "<dt>ID</dt><dd>", "</dd>") == std::to_string(hook.id.value()));
    CHECK_FALSE(has(list, secret));
    CHECK_FALSE(has(shop.get(path, "bob"), "hooks.ann.example"));
}

TEST_CASE("an account may be named by its id alone if that is unique") {
    page_shop shop;
    CHECK(to_number(shop.post(path, hook_form("3", "site.created", "https://bob.example/"), "bob").status()) == 200);
    CHECK(hooks_of(shop, bobs_site).size() == 1);
    // Two of Ann's accounts have that id, no account has the others, and an account of another user is never used.
    for (const auto* account : {"1", "3", "99", "03", "0", "-3", " 3"}) {
        CAPTURE(account);
        const auto page = shop.post(path, hook_form(account, "site.created", "https://ann.example/"));
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "Choose one of the listed options."));
    }
    CHECK(hooks_of(shop, anns_site).empty());
}

TEST_CASE("invalid webhook input is reported at its field and preserved") {
    page_shop shop;
    struct row {
        std::string body;
        std::string_view field;
        std::string_view message;
    };
    const std::string url = "https://hooks.ann.example/";
    for (const row& each : {
             row{hook_form("", "site.created", url), "account", "Choose one of the listed options."},
             row{hook_form("sitesmaker/3", "site.created", url), "account", "Choose one of the listed options."},
             row{hook_form("sitesmaker/99", "site.created", url), "account", "Choose one of the listed options."},
             row{hook_form("nothing/1", "site.created", url), "account", "Choose one of the listed options."},
             row{hook_form("sitesmaker/1", "", url), "event", "Choose one of the listed options."},
             row{hook_form("sitesmaker/1", "site.exploded", url), "event", "Choose one of the listed options."},
             row{hook_form("sitesmaker/1", "item.created", url), "event",
                 "The service sitesmaker does not have this event."},
             row{hook_form("sitesmaker/1", "site.created", ""), "target_url", "Enter the URL to send events to."},
             row{hook_form("sitesmaker/1", "site.created", "hooks.ann.example"), "target_url",
                 "Enter an http or https URL"},
             row{hook_form("sitesmaker/1", "site.created", "ftp://hooks.ann.example"), "target_url",
                 "Enter an http or https URL"},
             row{hook_form("sitesmaker/1", "site.created", url + "\n"), "target_url",
                 "The URL has a space, a control character"},
             row{hook_form("sitesmaker/1", "site.created", "http://m\xc3\xbcnchen.example/"), "target_url",
                 "Use its xn-- form"},
             row{hook_form("sitesmaker/1", "site.created", url + "100%"), "target_url",
                 "Write %25 for a percent sign."},
             row{hook_form("sitesmaker/1", "site.created", url + "{id}"), "target_url",
                 "replace a placeholder such as {id} with its value."},
             row{hook_form("sitesmaker/1", "site.created", url + std::string(2048, 'a')), "target_url",
                 "at most 2048 bytes are allowed"},
             row{hook_form("sitesmaker/1", "site.created", "http://169.254.169.254/"), "target_url",
                 "The URL must point to a public address."},
             row{hook_form("sitesmaker/1", "site.created", "http://127.1/"), "target_url",
                 "The URL must point to a public address."},
             row{hook_form("sitesmaker/1", "site.created", url + "#x"), "target_url",
                 "The URL must not have a fragment."},
             row{hook_form("sitesmaker/1", "site.created", "https://ann@hooks.ann.example/"), "target_url",
                 "The URL must not have a username or password."},
         }) {
        CAPTURE(each.body.substr(0, 80));
        const auto page = shop.post(path, each.body);
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "<title>Error: Webhooks"));
        CHECK(fault_of(page, each.field).find(each.message) != std::string::npos);
    }
    for (const auto& [target, message] :
         {std::pair{"https://hooks.ann.example/{id}", "oder ersetzen Sie einen Platzhalter wie {id}"},
          std::pair{"http://m\xc3\xbcnchen.example/", "Verwenden Sie die Schreibweise mit xn-- (Punycode)."},
          std::pair{"https://hooks.ann.example/100%", "Schreiben Sie %25 für ein Prozentzeichen."},
          std::pair{"https://hooks.ann.example/a b", "Schreiben Sie dafür %XX."},
          std::pair{"http://127.1/", "Die URL muss auf eine öffentliche Adresse verweisen."},
          std::pair{"https://hooks.ann.example/#x", "Die URL darf kein Fragment enthalten."},
          std::pair{"https://ann@hooks.ann.example/", "Die URL darf keinen Benutzernamen und kein Passwort enthalten."}}) {
        CAPTURE(target);
        CHECK(has(shop.post("/de/user/settings/webhooks/", hook_form("sitesmaker/1", "site.created", target)), message));
    }
    CHECK(pages::target_fault("target_url must be at hooks.partner.example.", webhook_texts{}) == "URL must be at hooks.partner.example.");
    CHECK(hooks_of(shop, anns_site).empty());
    CHECK(hooks_of(shop, bobs_site).empty());

    const auto page = shop.post(path, hook_form("sitesmaker/2", "site.published", "\"x\""));
    CHECK(has(page, "name=\"account\" value=\"sitesmaker/2\""));
    CHECK(has(page, "<option value=\"site.published\" selected>"));
    CHECK(has(page, "value=\"&quot;x&quot;\""));
}

TEST_CASE("the number of webhooks is bounded") {
    auto settings = page_shop_settings();
    settings.hooks_per_event_max = 1;
    page_shop shop{settings};
    CHECK(to_number(shop.post(path, good).status()) == 200);
    const auto page = shop.post(path, good);
    CHECK(to_number(page.status()) == 422);
    CHECK(has(page, "the maximum number of webhooks for this event"));
    CHECK(to_number(shop.post(path, hook_form("sitesmaker/1", "site.published", "https://a.example/")).status()) == 200);
    CHECK(hooks_of(shop, anns_site).size() == 2);
}

TEST_CASE("a webhook is deleted by its owner only") {
    page_shop shop;
    static_cast<void>(shop.post(path, good));
    const auto id = std::to_string(hooks_of(shop, anns_site).front().id.value());
    for (const auto* action : {"delete", "new_secret"}) {
        const auto base = std::string{"action="} + action;
        CHECK(to_number(shop.post(path, base + "&account=sitesmaker/1&hook=" + id, "bob").status()) == 404);
        CHECK(to_number(shop.post(path, base + "&account=sitesmaker/3&hook=" + id, "bob").status()) == 404);
        // Not through another account of the same user either.
        CHECK(to_number(shop.post(path, base + "&account=sitesmaker/2&hook=" + id).status()) == 404);
        CHECK(to_number(shop.post(path, base + "&account=itemplatform/1&hook=" + id).status()) == 404);
        CHECK(to_number(shop.post(path, base + "&account=nothing/1&hook=" + id).status()) == 404);
        CHECK(to_number(shop.post(path, base + "&hook=" + id).status()) == 404);
        for (const auto* other : {"", "0", "01", "x", "999999"})
            CHECK(to_number(shop.post(path, base + "&account=sitesmaker/1&hook=" + other).status()) == 404);
    }
    CHECK(hooks_of(shop, anns_site).size() == 1);

    const auto done = shop.post(path, "action=delete&account=sitesmaker/1&hook=" + id);
    CHECK(done.find("Location") == path + "?done=1");
    CHECK(has(shop.get(path + "?done=1"), "The webhook was deleted."));
    CHECK(hooks_of(shop, anns_site).empty());
}

TEST_CASE("a webhook gets a new secret") {
    page_shop shop;
    const auto old_secret = secret_on(shop.post(path, good));
    CHECK(has(shop.get(path), "A new signing secret will be generated for " + hooks_of(shop, anns_site).front().target_url + "."));
    const auto action = page_shop::form_of(shop.get(path), "new_secret");
    const auto page = shop.get(std::string{shop.post_unchanged(path, action).find("Location")});
    CHECK(to_number(page.status()) == 200);
    CHECK(secret_on(page).starts_with("whsec_"));
    CHECK(secret_on(page) != old_secret);
    CHECK(has(page, "For 24 hours, they are also signed with the previous secret"));
}

TEST_CASE("the texts about a new secret say how long the previous one is used") {
    const webhook_texts texts;
    for (const auto text : {texts.renewed_about, texts.renew_warning})
        CHECK(text.find(" " + std::to_string(hook_secret_overlap.count()) + " hours") != std::string_view::npos);
}

TEST_CASE("many accounts are shown one per page") {
    page_shop shop;
    auto& accounts = shop.users.people.at(ann).accounts["sitesmaker"];
    accounts.clear();
    const auto count = static_cast<std::int64_t>(pages::accounts_shown_max) + 1;
    for (std::int64_t i = 1; i <= count; ++i) accounts.push_back({account_id{i}, "Site " + std::to_string(i), false});
    const account_ref last{anns_site.service, account_id{count}};
    static_cast<void>(shop.post(path, hook_form(pages::account_text(last), "site.created", "https://last.example/")));

    const auto page = shop.get(path);
    CHECK(has(page, "You have too many accounts to list on one page."));
    CHECK_FALSE(has(page, "https://last.example/"));
    CHECK_FALSE(has(page, "You have no webhooks yet."));
    CHECK(has(shop.get(path, "bob"), "You have no webhooks yet."));
    const auto one = shop.get(path + "?account=" + tollgate::detail::percent_encode(pages::account_text(last)));
    CHECK(has(one, "https://last.example/"));
    CHECK(has(one, "<option value=\"" + pages::account_text(last) + "\" selected>"));
    CHECK(has(shop.get(path + "?account=sitesmaker/2"), "This account has no webhooks."));
    CHECK_FALSE(has(shop.get(path + "?account=sitesmaker/999"), "This account has no webhooks."));
}

TEST_CASE("a webhook is edited by its owner only") {
    page_shop shop;
    static_cast<void>(shop.post(path, good));
    const auto before = hooks_of(shop, anns_site).front();
    const auto id = std::to_string(before.id.value());
    const auto edit = [&](std::string_view account, std::string_view event, std::string_view url) {
        return "action=edit&hook=" + id + "&" + hook_form(account, event, url);
    };
    const auto form = shop.get(path + "?edit=1&account=sitesmaker%2F1&hook=" + id);
    CHECK(to_number(form.status()) == 200);
    CHECK(has(form, "<option value=\"site.created\" selected>"));
    CHECK(has(form, "value=\"https://hooks.ann.example/in?a=b\""));
    CHECK(has(shop.get(path), "?account=sitesmaker%2F1&amp;hook=" + id + "&amp;edit=1"));

    const std::string url = "https://new.ann.example/in";
    for (const auto* account : {"sitesmaker/2", "itemplatform/1", "sitesmaker/3", "nothing/1", ""})
        CHECK(to_number(shop.post(path, edit(account, "site.published", url)).status()) == 404);
    CHECK(to_number(shop.post(path, edit("sitesmaker/1", "site.published", url), "bob").status()) == 404);
    CHECK(to_number(shop.get(path + "?edit=1&account=sitesmaker%2F1&hook=" + id, "bob").status()) == 404);
    CHECK(to_number(shop.get(path + "?edit=1&account=sitesmaker%2F1&hook=99").status()) == 404);
    CHECK(to_number(shop.post_unchanged(path, edit("sitesmaker/1", "site.published", url)).status()) == 403);
    struct row {
        std::string event, url, field;
    };
    for (const row& each : {row{"site.exploded", url, "event"}, row{"item.created", url, "event"}, row{"site.created", "", "target_url"},
                            row{"site.created", "http://127.1/", "target_url"}, row{"site.created", "new.example", "target_url"}}) {
        const auto page = shop.post(path, edit("sitesmaker/1", each.event, each.url));
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "id=\"" + each.field + "-fault\""));
        CHECK(has(page, "<title>Error: Edit webhook"));
    }
    CHECK(hooks_of(shop, anns_site).front().target_url == before.target_url);

    const auto done = shop.post(path, edit("sitesmaker/1", "site.published", url));
    CHECK(done.find("Location") == path + "?done=edited");
    const auto after = hooks_of(shop, anns_site).front();
    CHECK((after.id == before.id && after.event == "site.published" && after.target_url == url));
    CHECK(has(shop.get(path + "?done=edited"), "The changes were saved."));
}

TEST_CASE("an edit does not exceed the bound of webhooks for one event") {
    auto settings = page_shop_settings();
    settings.hooks_per_event_max = 1;
    page_shop shop{settings};
    REQUIRE(to_number(shop.post(path, good).status()) == 200);
    REQUIRE(to_number(shop.post(path, hook_form("sitesmaker/1", "site.published", "https://a.example/")).status()) == 200);
    const auto id = std::to_string(hooks_of(shop, anns_site).back().id.value());
    const auto page = shop.post(path, "action=edit&hook=" + id + "&" + hook_form("sitesmaker/1", "site.created", "https://a.example/"));
    CHECK(to_number(page.status()) == 422);
    CHECK(has(page, "the maximum number of webhooks for this event"));
    CHECK(hooks_of(shop, anns_site).back().event == "site.published");
}
