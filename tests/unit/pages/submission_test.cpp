#include <tollgate/pages/detail/submission.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string tokens = "/en/user/settings/tokens/";
const std::string applications = "/en/user/settings/applications/";
const std::string webhooks = "/en/user/settings/webhooks/";
const std::string token_fields = "description=a&scopes=sitesmaker";
const std::string application_text = "name=A&website=https://a.example";
const std::string hook_text = "account=sitesmaker/1&event=site.created&target_url=https://a.example/";
const account_ref anns_site{*service_name::from("sitesmaker"), account_id{1}};

const web::form_nonce nonce = [] {
    web::form_nonce bytes{};
    bytes[0] = std::byte{7};
    return bytes;
}();
constexpr instant noon = from_unix_seconds(1'700'000'000);

const auto make_token = pages::maker_of(secret_kind::personal_token);

/// The secret on the page that a submission redirects to; empty if it does not.
template <class Pages>
std::string secret_after(Pages& pages, const http::response& posted) {
    const std::string location{posted.find("Location")};
    if (location.find("?shown=") == std::string::npos) return {};
    test_request request{http::method::get, location};
    request.field("Cookie", "who=ann");
    const auto page = pages.handle(request.view());
    for (const char* field : {"secret", "client-secret"})
        if (auto found = page_shop::between(page.body(), std::string{"id=\""} + field + "\">", "<"); !found.empty()) return found;
    return {};
}

/// A form that creates a secret.
struct secret_form {
    const char* name;
    std::string path;
    std::string created_first;  // the fields that create what the form changes; empty if it creates something
    std::string fields;         // of the form; those of its action if `created_first` is not empty
};

const std::vector<secret_form> secret_forms{
    {"a token", tokens, "", token_fields},
    {"a token's secret", tokens, token_fields, "renew"},
    {"an application", applications, "", application_text},
    {"a client secret", applications, application_text, "new_secret"},
    {"a webhook", webhooks, "", hook_text},
    {"a webhook's secret", webhooks, hook_text, "new_secret"},
};

/// The secrets that the store has: their digests.
std::vector<std::string> stored_secrets(page_shop& shop) {
    std::vector<std::string> all;
    const auto users_tokens = *shop.store.personal_tokens_of(ann);
    const auto users_applications = *shop.store.applications_of(ann);
    const auto hooks = *shop.store.hooks_of(anns_site);
    for (const auto& each : users_tokens) all.emplace_back(each.secret_digest.raw());
    for (const auto& each : users_applications) {
        all.emplace_back(each.secret_digest.raw());
        if (each.older_secret_digest) all.emplace_back(each.older_secret_digest->raw());
    }
    for (const auto& each : hooks) all.emplace_back(each.secret_digest.raw());
    return all;
}

std::string body_of(page_shop& shop, const secret_form& form) {
    if (form.created_first.empty()) return form.fields + "&form_token=" + page_shop::token_on(shop.get(form.path));
    static_cast<void>(shop.post(form.path, form.created_first));
    return page_shop::form_of(shop.get(form.path), form.fields);
}

}  // namespace

TEST_CASE("a submission has the same ids at any time, and the same secret for a minute", "[submission]") {
    const session ann_here{ann, "ann", "secret"};
    const pages::form_submission first{ann_here, nonce, "a=b", noon};
    const auto secret = first.new_secret(make_token);
    CHECK(is_well_formed(secret_kind::personal_token, secret));
    CHECK(first.new_secret(make_hook_secret).starts_with("whsec_"));
    CHECK(first.new_id(public_id_kind::username).view().starts_with("tgu_"));
    struct row {
        int seconds_later;
        bool is_found;
    };
    for (const row& each : {row{0, true}, {1, true}, {30, true}, {60, true}, {91, false}, {3600, false}, {-31, true}, {-91, false}}) {
        CAPTURE(each.seconds_later);
        const pages::form_submission again{ann_here, nonce, "a=b", noon + seconds{each.seconds_later}};
        CHECK(again.key() == first.key());
        CHECK(again.new_id(public_id_kind::username).view() == first.new_id(public_id_kind::username).view());
        const auto found = again.find_secret(digest_of(secret), make_token);
        REQUIRE(found.has_value() == each.is_found);
        if (found) CHECK(found->view() == secret.view());
    }
    CHECK(pages::form_submission(ann_here, nonce, "a=b", noon + seconds{91}).new_secret(make_token).view() != secret.view());
}

TEST_CASE("a submission of another session, form or content is another one", "[submission]") {
    web::form_nonce other_nonce = nonce;
    other_nonce[15] = std::byte{1};
    const session here{ann, "ann", "secret"}, elsewhere{ann, "ann", "secreu"};
    std::set<std::string> keys, ids, secrets;
    for (const pages::form_submission& each :
         {pages::form_submission{here, nonce, "a=b", noon}, pages::form_submission{elsewhere, nonce, "a=b", noon},
          pages::form_submission{here, other_nonce, "a=b", noon}, pages::form_submission{here, nonce, "a=c", noon},
          pages::form_submission{here, nonce, "", noon}}) {
        keys.emplace(each.key().raw());
        ids.emplace(each.new_id(public_id_kind::client_id).view());
        secrets.emplace(each.new_secret(make_token).view());
    }
    CHECK(keys.size() == 5);
    CHECK(ids.size() == 5);
    CHECK(secrets.size() == 5);
}

TEST_CASE("a form that creates a secret, submitted again within a minute, leads to the same secret on any node", "[submission]") {
    for (const secret_form& form : secret_forms) {
        CAPTURE(form.name);
        page_shop shop;
        decltype(shop.pages) second{page_shop_settings(), shop.users, shop.store, shop.sessions,
                                    default_policies().with_clock(fake_clock{&shop.now}).with_random(
                                        counting_random{&shop.entropy, &shop.random_works})};
        const auto body = body_of(shop, form);
        const auto post_to_second = [&] {
            test_request request{http::method::post, form.path};
            request.field("Cookie", "who=ann").body(body, "application/x-www-form-urlencoded");
            return second.handle(request.view());
        };
        const auto secret = secret_after(shop.pages, shop.post_unchanged(form.path, body));
        REQUIRE_FALSE(secret.empty());
        const auto stored = stored_secrets(shop);

        CHECK(secret_after(second, post_to_second()) == secret);
        CHECK(secret_after(shop.pages, shop.post_unchanged(form.path, body)) == secret);
        shop.now += seconds{59};
        CHECK(secret_after(second, post_to_second()) == secret);
        shop.now += seconds{60};
        for (const auto& late : {post_to_second(), shop.post_unchanged(form.path, body)}) {
            CHECK(to_number(late.status()) == 403);
            CHECK(has(late, "<h1>Already submitted</h1>"));
        }
        CHECK(stored_secrets(shop) == stored);
    }
}

TEST_CASE("at the bound, a form that is submitted again leads to what it created", "[submission]") {
    auto settings = page_shop_settings();
    settings.pages.tokens_per_user_max = settings.pages.applications_per_user_max = settings.hooks_per_event_max = 1;
    for (const secret_form& form : secret_forms) {
        if (!form.created_first.empty()) continue;
        CAPTURE(form.name);
        page_shop shop{settings};
        const auto body = body_of(shop, form);
        const auto secret = secret_after(shop.pages, shop.post_unchanged(form.path, body));
        REQUIRE_FALSE(secret.empty());
        CHECK(secret_after(shop.pages, shop.post_unchanged(form.path, body)) == secret);
        CHECK(to_number(shop.post(form.path, form.fields).status()) == 422);
    }
}

TEST_CASE("a form that replaces a secret does nothing if the secret was replaced since it was loaded", "[submission]") {
    for (const secret_form& form : secret_forms) {
        if (form.created_first.empty()) continue;
        CAPTURE(form.name);
        page_shop shop;
        const auto first = body_of(shop, form);
        const auto second = page_shop::form_of(shop.get(form.path), form.fields);
        REQUIRE(first != second);
        REQUIRE_FALSE(secret_after(shop.pages, shop.post_unchanged(form.path, first)).empty());
        const auto stored = stored_secrets(shop);
        CHECK(to_number(shop.post_unchanged(form.path, second).status()) == 403);
        CHECK(stored_secrets(shop) == stored);

        // Nor does the first one, after a third.
        const auto third = page_shop::form_of(shop.get(form.path), form.fields);
        REQUIRE_FALSE(secret_after(shop.pages, shop.post_unchanged(form.path, third)).empty());
        const auto newest = stored_secrets(shop);
        CHECK(to_number(shop.post_unchanged(form.path, first).status()) == 403);
        CHECK(stored_secrets(shop) == newest);
    }
}

TEST_CASE("what was created by a form and then deleted is created with another secret a minute later", "[submission]") {
    page_shop shop;
    const auto body = body_of(shop, secret_forms[0]);
    const auto secret = secret_after(shop.pages, shop.post_unchanged(tokens, body));
    REQUIRE(*shop.store.revoke(personal_token_revocation{shop.store.personal_tokens_of(ann)->front().id}));
    shop.now += seconds{120};
    const auto other = secret_after(shop.pages, shop.post_unchanged(tokens, body));
    CHECK_FALSE(other.empty());
    CHECK(other != secret);
}

TEST_CASE("a form of a session that was replaced is shown again with its text, and changes nothing", "[submission]") {
    struct row {
        const char* name;
        std::string path;
        std::string fields;
        std::string shown;  // what the page contains
    };
    page_shop shop;
    static_cast<void>(shop.post(tokens, token_fields));
    static_cast<void>(shop.post(applications, application_text));
    static_cast<void>(shop.post(webhooks, hook_text));
    const auto application = std::to_string(shop.store.applications_of(ann)->front().id.value());
    const auto hook = std::to_string(shop.store.hooks_of(anns_site)->front().id.value());
    const auto stored = stored_secrets(shop);
    for (const row& each : std::vector<row>{
             {"a new token", tokens, "description=My+text&scopes=user:balance&days=90", "value=\"My text\""},
             {"a new application", applications, "name=My+text&website=https://b.example", "value=\"My text\""},
             {"an application", applications, "action=edit&name=My+text&website=https://b.example&application=" + application,
              "value=\"My text\""},
             {"a new webhook", webhooks, "account=sitesmaker/1&event=site.created&target_url=https://my.example/",
              "value=\"https://my.example/\""},
             {"a webhook", webhooks, "action=edit&account=sitesmaker/1&event=site.created&target_url=https://my.example/&hook=" + hook,
              "value=\"https://my.example/\""},
             {"a deletion", webhooks, "action=delete&account=sitesmaker/1&hook=" + hook, "https://a.example/"},
             {"a test event", webhooks, "action=test&account=sitesmaker/1&hook=" + hook, "https://a.example/"},
             {"a revocation", "/en/user/settings/authorizations/", "application=1", "<h1>Authorized applications</h1>"},
             {"a sign-out", "/en/user/sign_out/", "", "<h1>Sign out</h1>"},
         }) {
        CAPTURE(each.name);
        const auto body = each.fields + "&form_token=" + page_shop::token_on(shop.get(each.path));
        shop.sessions.signed_in_again += "!";
        const auto page = shop.post_unchanged(each.path, body);
        CHECK(to_number(page.status()) == 403);
        CHECK(page.find("Set-Cookie").empty());
        CHECK(has(page, "You signed in again after this form was loaded, so nothing was changed."));
        CHECK(has(page, each.shown));
        CHECK(stored_secrets(shop) == stored);
        CHECK(shop.store.hooks_of(anns_site)->front().target_url == "https://a.example/");
        CHECK(shop.store.applications_of(ann)->front().name == "A");
    }
    // The form that is shown again is accepted.
    const auto body = "description=b&scopes=sitesmaker&form_token=";
    const auto again = shop.post_unchanged(tokens, std::string{body} + "x");
    CHECK(to_number(shop.post_unchanged(tokens, body + page_shop::token_on(again)).status()) == 303);
    CHECK(shop.store.personal_tokens_of(ann)->size() == 2);
}
