#include <tollgate/pages/detail/dispatch.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string tokens = "/en/user/settings/tokens/";
const std::string applications = "/en/user/settings/applications/";
const std::string authorizations = "/en/user/settings/authorizations/";
const std::string webhooks = "/en/user/settings/webhooks/";
const std::string token_fields = "description=a&scopes=sitesmaker";
const std::string application_text = "name=A&website=https://a.example";
const std::string hook_text = "account=sitesmaker/1&event=site.created&target_url=https://a.example/";
const account_ref anns_site{*service_name::from("sitesmaker"), account_id{1}};

/// Ann has a token, an application with two secrets that she has authorized, and a webhook.
struct full_shop : page_shop {
    full_shop() {
        static_cast<void>(post(tokens, token_fields));
        static_cast<void>(post(applications, application_text));
        static_cast<void>(post_unchanged(applications, form_of(get(applications), "new_secret")));
        static_cast<void>(post(webhooks, hook_text));
        REQUIRE(store.create_code({.code_digest = sha256("code"),
                                   .user = ann,
                                   .application = application_of_ann(),
                                   .scopes = *scope_set::parse("sitesmaker"),
                                   .redirect = "https://a.example",
                                   .code_challenge = {},
                                   .created_at = now,
                                   .expires_at = now + seconds{60}}));
    }
    application_id application_of_ann() { return store.applications_of(ann)->front().id; }
};

/// A form that removes an item.
struct removal_form {
    const char* name;
    std::string path;
    std::string action;
    std::string id_name;
    std::string extra = {};  // what the user types
    std::string done = "1";
};
const std::vector<removal_form> removal_forms{{"a token", tokens, "revoke", "token"},
                                              {"an authorization", authorizations, "revoke", "application"},
                                              {"an older secret", applications, "remove_secret", "application", {}, "secret"},
                                              {"an application", applications, "delete", "application", "&confirm_name=A"},
                                              {"a webhook", webhooks, "delete", "hook"}};

}  // namespace

TEST_CASE("a form that removes an item, submitted again, says that it was removed", "[dispatch]") {
    for (const removal_form& each : removal_forms) {
        CAPTURE(each.name);
        full_shop shop;
        const auto form = page_shop::form_of(shop.get(each.path), each.action) + each.extra;
        REQUIRE(form.find("item_mark=") != std::string::npos);
        for (int i = 0; i < 3; ++i) {
            const auto done = shop.post_unchanged(each.path, form);
            CHECK(to_number(done.status()) == 303);
            CHECK(done.find("Location") == each.path + "?done=" + each.done);
        }
        // A form of another item, of another user, or without the mark, is about nothing.
        const auto without_mark = [](std::string fields) {
            const auto begin = fields.find("&item_mark=");
            return fields.erase(begin, fields.find('&', begin + 1) - begin);
        };
        const auto of_other_item = [&](std::string fields) {
            const auto begin = fields.find("&" + each.id_name + "=") + each.id_name.size() + 2;
            return fields.replace(begin, fields.find('&', begin) - begin, "999999");
        };
        for (const auto& other : {without_mark(form), of_other_item(form)}) {
            CAPTURE(other);
            const auto refused = shop.post_unchanged(each.path, other);
            CHECK(to_number(refused.status()) == 404);
            CHECK(has(refused, "<h1>No longer available</h1>"));
        }
        const auto bobs = form.substr(form.find("&item_mark="));
        CHECK(to_number(shop.post(each.path, "action=" + each.action + bobs, "bob").status()) == 404);
    }
}

TEST_CASE("another action on an item that was removed does nothing", "[dispatch]") {
    for (const auto& [path, action, removal] : {std::tuple{tokens, "renew", "revoke"}, {applications, "new_secret", "delete"},
                                                {webhooks, "new_secret", "delete"}}) {
        CAPTURE(path);
        full_shop shop;
        const auto form = page_shop::form_of(shop.get(path), action);
        const auto removed = shop.post_unchanged(path, page_shop::form_of(shop.get(path), removal) + "&confirm_name=A");
        REQUIRE(to_number(removed.status()) == 303);
        const auto refused = shop.post_unchanged(path, form);
        CHECK(to_number(refused.status()) == 404);
        CHECK(has(refused, "Nothing was changed."));
    }
}

TEST_CASE("a form of another user shows who is signed in now, without what was typed, and changes nothing", "[dispatch]") {
    struct row {
        const char* name;
        std::string path;
        std::string fields;
    };
    full_shop shop;
    const auto application = std::to_string(shop.application_of_ann().value());
    const auto hook = std::to_string(shop.store.hooks_of(anns_site)->front().id.value());
    const auto token = std::to_string(shop.store.personal_tokens_of(ann)->front().id.value());
    for (const row& each : std::vector<row>{
             {"a new token", tokens, "description=My+text&scopes=user:balance&days=90"},
             {"a token", tokens, "action=revoke&token=" + token},
             {"a new application", applications, "name=My+text&website=https://my-text.example"},
             {"an application", applications, "action=edit&name=My+text&website=https://b.example&application=" + application},
             {"a deletion", applications, "action=delete&application=" + application},
             {"a revocation", authorizations, "action=revoke&application=" + application},
             {"a new webhook", webhooks, "account=sitesmaker/1&event=site.created&target_url=https://my-text.example/"},
             {"a webhook", webhooks, "action=edit&account=sitesmaker/1&event=site.created&target_url=https://b.example/&hook=" + hook},
             {"a test event", webhooks, "action=test&account=sitesmaker/1&hook=" + hook},
             {"a sign-out", "/en/user/sign_out/", "a=b"},
         }) {
        CAPTURE(each.name);
        for (const bool is_german : {false, true}) {
            const auto path = is_german ? "/de" + each.path.substr(3) : each.path;
            const auto body = each.fields + "&form_token=" + page_shop::token_on(shop.get(path));
            const auto page = shop.post_unchanged(path, body, "bob");
            CHECK(to_number(page.status()) == 403);
            CHECK(page.find("Set-Cookie").empty());
            CHECK(has(page, is_german ? "Sie sind jetzt als bob angemeldet."
                                      : "You are signed in as bob now. The form was loaded while another user was signed in, so nothing was"));
            CHECK_FALSE(has(page, "You signed in again"));
            CHECK_FALSE(has(page, "My text"));
            CHECK_FALSE(has(page, "my-text"));
        }
    }
    CHECK(shop.store.personal_tokens_of(ann)->size() == 1);
    CHECK(shop.store.personal_tokens_of(bob)->empty());
    CHECK(shop.store.applications_of(ann)->front().name == "A");
    CHECK(shop.store.applications_of(bob)->empty());
    CHECK(shop.store.grants_of(ann)->size() == 1);
    CHECK(shop.store.hooks_of(anns_site)->front().target_url == "https://a.example/");
}

TEST_CASE("a confirmation of a session that was replaced is open on the page that shows it again", "[dispatch]") {
    for (const auto& [path, action, button] :
         {std::tuple{tokens, "renew", "Generate a new secret"}, {tokens, "revoke", "Revoke this token"},
          {applications, "new_secret", "Generate a new secret"}, {applications, "remove_secret", "Remove the old secret"},
          {applications, "delete", "Delete this application"}, {authorizations, "revoke", "Revoke access"},
          {webhooks, "new_secret", "Generate a new secret"}, {webhooks, "delete", "Delete this webhook"}}) {
        CAPTURE(path, action);
        full_shop shop;
        static_cast<void>(shop.post(path, path == webhooks ? hook_text : path == tokens ? token_fields : application_text));
        const auto form = page_shop::form_of(shop.get(path), action);
        shop.sessions.signed_in_again = "!";
        const auto page = shop.post_unchanged(path, form);
        CHECK(to_number(page.status()) == 403);
        // One, of the item that the form was about, and the others are closed.
        const std::string_view body = page.body();
        const auto open = body.find("role=\"group\" aria-label=\"" + std::string{button} + "\"");
        REQUIRE(open != std::string_view::npos);
        CHECK(body.find("role=\"group\" aria-label", open + 1) == std::string_view::npos);
        CHECK(body.substr(open).find("autofocus") != std::string_view::npos);
        // Its form is accepted.
        const auto again = page_shop::form_of(page, action);
        CHECK(to_number(shop.post_unchanged(path, again + "&confirm_name=A").status()) == 303);
    }
}
