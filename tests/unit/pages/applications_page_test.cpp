#include <tollgate/pages/detail/applications_page.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/settings/applications/";
const std::string good = "name=Statistics&website=https://statistics.example";

std::vector<application> applications_of(page_shop& shop, user_id user) { return *shop.store.applications_of(user); }

std::string value_of(const http::response& page, const std::string& id) {
    return page_shop::between(page.body(), "id=\"" + id + "\">", "<");
}

}  // namespace

TEST_CASE("an application is registered, and its secret shown once") {
    page_shop shop;
    CHECK(has(shop.get(path), "You have not registered any applications yet."));
    const auto page =
        shop.post(path, "name=Shop+%26+more&website=https://statistics.example&description=Numbers&redirect_url=" +
                            tollgate::detail::percent_encode("https://statistics.example/callback?a=b"));
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "<h1>Shop &amp; more was registered</h1>"));
    const auto client_id = value_of(page, "client-id");
    const auto secret = value_of(page, "client-secret");

    const auto stored = shop.store.find_application(client_id);
    REQUIRE((stored && *stored));
    CHECK((*stored)->owner == ann);
    CHECK((*stored)->secret_digest == digest_of(secret));
    CHECK((*stored)->name == "Shop & more");
    CHECK((*stored)->description == "Numbers");
    CHECK((*stored)->redirect_urls == std::vector<std::string>{"https://statistics.example/callback?a=b"});

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
        CHECK(each.redirect_urls.empty());
    }
}

TEST_CASE("invalid input is reported at its field and preserved") {
    page_shop shop;
    struct row {
        std::string body;
        std::string_view field;
        std::string_view message;
    };
    const auto website = [](const std::string& url) { return "name=a&website=" + tollgate::detail::percent_encode(url); };
    const auto redirect = [](const std::string& url) { return good + "&redirect_url=" + tollgate::detail::percent_encode(url); };
    for (const row& each : {
             row{"name=&website=https://a.example", "name", "Enter a name."},
             row{"name=" + std::string(101, 'a') + "&website=https://a.example", "name", "at most 100 bytes are allowed"},
             row{"name=a%0Ab&website=https://a.example", "name", "plain text on a single line"},
             row{"name=a%E2%80%AEb&website=https://a.example", "name", "plain text on a single line"},
             row{"name=a", "website", "Enter the URL of the application"},
             row{website("a.example"), "website", "Enter an http or https URL"},
             row{website("javascript:alert(1)"), "website", "Enter an http or https URL"},
             row{website("ftp://a.example"), "website", "Enter an http or https URL"},
             row{website("https://ann:x@a.example"), "website", "Enter an http or https URL"},
             row{website("https://a.example/" + std::string(2048, 'a')), "website", "at most 2048 bytes are allowed"},
             row{good + "&description=" + std::string(256, 'a'), "description", "at most 255 bytes are allowed"},
             row{good + "&description=a%00", "description", "plain text on a single line"},
             row{redirect("/callback"), "redirect_url", "without a #fragment"},
             row{redirect("https://a.example/#x"), "redirect_url", "without a #fragment"},
             row{redirect("https://a.example/\r\nx\r\ny"), "redirect_url", "x: Enter absolute URLs without a #fragment"},
             row{redirect("https://a.example/\nhttp://b.example/c"), "redirect_url", "http://b.example/c: Use https."},
             row{redirect("http://b.example/c"), "redirect_url", "</strong> Use https."},
             row{redirect("com.example.app:/back"), "redirect_url", "without a #fragment"},
             row{redirect([] {
                     std::string all;
                     for (int i = 0; i < 21; ++i) all += "https://a.example/" + std::to_string(i) + "\n";
                     return all;
                 }()),
                 "redirect_url", "at most 20 URLs"},
             row{redirect("https://a.example/" + std::string(2048, 'a')), "redirect_url",
                 "at most 2048 bytes are allowed"},
         }) {
        CAPTURE(each.body.substr(0, 60));
        const auto page = shop.post(path, each.body);
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "<title>Error: OAuth applications"));
        CHECK(fault_of(page, each.field).find(each.message) != std::string::npos);
    }
    CHECK(applications_of(shop, ann).empty());

    const auto page = shop.post(path, "name=%3Cb%3E&website=x&description=d&redirect_url=y");
    for (const auto* expected : {"value=\"&lt;b&gt;\"", "value=\"x\"", "value=\"d\"", ">y</textarea>"})
        CHECK(has(page, expected));
    CHECK(has(page, "<li><a href=\"#website\">Website: Enter an http or https URL"));
    CHECK(has(page, "<li><a href=\"#redirect_url\">Redirect URLs: Enter"));
}

TEST_CASE("an application has several redirect URLs, one a line") {
    page_shop shop;
    const auto body =
        good + "&redirect_url=" +
        tollgate::detail::percent_encode(" https://a.example/1 \r\n\r\nhttps://a.example/2\nhttps://a.example");
    CHECK(to_number(shop.post(path, body).status()) == 200);
    CHECK(applications_of(shop, ann).front().redirect_urls ==
          std::vector<std::string>{"https://a.example/1", "https://a.example/2", "https://a.example"});
    const auto list = shop.get(path);
    CHECK(has(list, "<li><code>https://a.example/1</code></li><li><code>https://a.example/2</code></li>"));

    const auto refused = shop.post(
        path,
        good + "&redirect_url=" + tollgate::detail::percent_encode("https://a.example/1\nhttps://a.example/?code=x"));
    CHECK(to_number(refused.status()) == 422);
    CHECK(has(refused, "https://a.example/?code=x: The query must not have parameters named code"));
}

TEST_CASE("a public client has no secret to show or to renew") {
    page_shop shop;
    const auto page = shop.post(path, good + "&type=public&redirect_url=" + tollgate::detail::percent_encode("com.example.app:/back"));
    CHECK(page.find("Location") == path + "?done=registered");
    const auto application = applications_of(shop, ann).front();
    CHECK(application.type == client_type::public_client);
    CHECK(application.redirect_urls == std::vector<std::string>{"com.example.app:/back"});
    const auto list = shop.get(path + "?done=registered");
    CHECK(has(list, ">Statistics was registered.</p>"));
    CHECK(has(list, "Public client"));
    CHECK_FALSE(has(list, "new_secret"));
    CHECK(to_number(shop.post(path, "action=new_secret&application=" + std::to_string(application.id.value())).status()) == 404);
}

TEST_CASE("the client types have short names, and the hints say what they are") {
    page_shop shop;
    const auto page = shop.get(path);
    for (const auto* part :
         {">Confidential</option>", ">Public</option>", "A confidential client is a server that keeps a secret.",
          "If a confidential client has none, each request", "A public client without one can only use the device flow."})
        CHECK(has(page, part));
}

TEST_CASE("a type that the form does not offer is refused") {
    page_shop shop;
    for (const auto* type : {"zzz", "Public", "public ", "resource_server"}) {  // the last one is for the operator alone
        CAPTURE(type);
        const auto page = shop.post(path, good + "&type=" + type);
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "Choose one of the listed options."));
        CHECK(has(page, "value=\"Statistics\""));
    }
    CHECK(applications_of(shop, ann).empty());
    for (const auto* type : {"", "&type=", "&type=confidential"}) static_cast<void>(shop.post(path, good + type));
    for (const auto& each : applications_of(shop, ann)) CHECK(each.type == client_type::confidential);
    CHECK(applications_of(shop, ann).size() == 3);
}

TEST_CASE("a form that is submitted again registers no second application, whatever its type") {
    page_shop shop;
    const auto body = good + "&form_token=" + page_shop::token_on(shop.get(path));
    std::size_t registered = 0;
    for (const std::string type : {"&type=public", "&type=confidential"}) {
        CAPTURE(type);
        for (int i = 0; i < 2; ++i) CHECK(to_number(shop.post_unchanged(path, body + type).status()) == 303);
        CHECK(applications_of(shop, ann).size() == ++registered);
    }
}

TEST_CASE("the number of applications is bounded") {
    auto settings = page_shop_settings();
    settings.pages.applications_per_user_max = 1;
    page_shop shop{settings};
    CHECK(to_number(shop.post(path, good).status()) == 200);
    const auto page = shop.post(path, good);
    CHECK(to_number(page.status()) == 422);
    CHECK(has(page, "the maximum number of applications"));
    CHECK(applications_of(shop, ann).size() == 1);
}

TEST_CASE("a new secret is valid beside the old one until the owner removes it") {
    page_shop shop;
    const auto old_secret = value_of(shop.post(path, good), "client-secret");
    const auto application = applications_of(shop, ann).front();
    CHECK(to_number(shop.post(path, "action=new_secret&application=" + std::to_string(application.id.value()), "bob").status()) == 404);
    CHECK(applications_of(shop, ann).front().secret_digest == digest_of(old_secret));

    const auto action = page_shop::form_of(shop.get(path), "new_secret");
    const auto page = shop.get(std::string{shop.post_unchanged(path, action).find("Location")});
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "<h1>New secret for Statistics</h1>"));
    CHECK(value_of(page, "client-id") == application.client_id.view());
    const auto secret = value_of(page, "client-secret");
    CHECK(secret != old_secret);
    CHECK(applications_of(shop, ann).front().secret_digest == digest_of(secret));
    CHECK(applications_of(shop, ann).front().older_secret_digest == digest_of(old_secret));

    const auto removal = "action=remove_secret&application=" + std::to_string(application.id.value());
    CHECK(has(shop.get(path), "Remove the old secret"));
    CHECK(to_number(shop.post(path, removal, "bob").status()) == 404);
    CHECK(shop.post(path, removal).find("Location") == path + "?done=secret");
    CHECK_FALSE(applications_of(shop, ann).front().older_secret_digest);
    CHECK(applications_of(shop, ann).front().secret_digest == digest_of(secret));
    CHECK_FALSE(has(shop.get(path), "Remove the old secret"));
    CHECK(to_number(shop.post(path, removal).status()) == 404);
}

TEST_CASE("the owner can edit everything of an application but its client_id") {
    page_shop shop;
    static_cast<void>(shop.post(
        path, good + "&redirect_url=" + tollgate::detail::percent_encode("https://a.example/1\nhttps://a.example/2")));
    const auto application = applications_of(shop, ann).front();
    const auto id = std::to_string(application.id.value());
    CHECK(has(shop.get(path), "?edit=" + id + "\">Edit"));
    const auto form = shop.get(path + "?edit=" + id);
    for (const std::string& expected : {std::string{"<h1>Edit Statistics</h1>"}, std::string{"value=\"https://statistics.example/\""},
                                        std::string{">https://a.example/1\nhttps://a.example/2\n</textarea>"},
                                        std::string{"Allow access to my own account"}})
        CHECK(has(form, expected));
    CHECK(to_number(shop.get(path + "?edit=" + id, "bob").status()) == 404);
    CHECK(to_number(shop.get(path + "?edit=x").status()) == 404);

    const auto change = "action=edit&application=" + id + "&name=Numbers&website=https://Numbers.example&description=d&redirect_url=" +
                        tollgate::detail::percent_encode("https://b.example") + "&acts_for_owner=yes&type=public";
    CHECK(to_number(shop.post(path, change, "bob").status()) == 404);
    CHECK(applications_of(shop, ann).front().name == "Statistics");
    CHECK(shop.post(path, change).find("Location") == path + "?done=edited");
    const auto changed = applications_of(shop, ann).front();
    CHECK(changed.client_id == application.client_id);
    CHECK(changed.secret_digest == application.secret_digest);
    CHECK(changed.type == client_type::confidential);
    CHECK(changed.name == "Numbers");
    CHECK(changed.website == "https://numbers.example/");
    CHECK(changed.description == "d");
    CHECK(changed.redirect_urls == std::vector<std::string>{"https://b.example"});
    CHECK(changed.acts_for_owner);
    CHECK(has(shop.get(path + "?edit=" + id), "checked"));

    const auto wrong = shop.post(path, "action=edit&application=" + id + "&name=&website=https://a.example");
    CHECK(to_number(wrong.status()) == 422);
    CHECK(has(wrong, "<h1>Edit Numbers</h1>"));
    CHECK(has(wrong, "Enter a name."));
    CHECK(applications_of(shop, ann).front().name == "Numbers");
}

TEST_CASE("a public client keeps its scheme and never acts for its owner") {
    page_shop shop;
    static_cast<void>(shop.post(path, good + "&type=public"));
    const auto id = std::to_string(applications_of(shop, ann).front().id.value());
    CHECK_FALSE(has(shop.get(path + "?edit=" + id), "acts_for_owner"));
    CHECK(shop.post(path, "action=edit&application=" + id + "&name=N&website=https://a.example&acts_for_owner=yes&redirect_url=" +
                              tollgate::detail::percent_encode("com.example.app:/back"))
              .find("Location") == path + "?done=edited");
    CHECK(applications_of(shop, ann).front().redirect_urls == std::vector<std::string>{"com.example.app:/back"});
    CHECK_FALSE(applications_of(shop, ann).front().acts_for_owner);
}

TEST_CASE("an application with users is deleted after its name is typed") {
    page_shop shop;
    static_cast<void>(shop.post(path, good));
    const auto application = applications_of(shop, ann).front();
    REQUIRE(*shop.store.create_code({.code_digest = sha256("code"),
                                     .user = bob,
                                     .application = application.id,
                                     .scopes = *scope_set::parse("user:balance"),
                                     .redirect = "https://a.example",
                                     .code_challenge = {},
                                     .created_at = shop.now,
                                     .expires_at = shop.now}) == code_result::created);
    const auto list = shop.get(path);
    CHECK(has(list, "<dt>Users</dt><dd>1</dd>"));
    CHECK(has(list, "Type Statistics to confirm"));
    const auto id = std::to_string(application.id.value());
    const auto remove = "action=delete&application=" + id;
    for (const auto* name : {"", "&confirm_name=", "&confirm_name=statistics"}) {
        const auto refused = shop.post(path, remove + name);
        CHECK(to_number(refused.status()) == 422);
        // The confirmation that was refused is open, the other one is not, and the form of a new application has no fault.
        CHECK(has(refused, "id=\"confirm-delete-" + id + "\" role=\"group\""));
        CHECK(has(refused, " popover role=\"dialog\""));
        CHECK(has(refused, "id=\"confirm_name-fault\"><strong>Error:</strong> Statistics has users. Type its exact name to delete it."));
        CHECK(has(refused, "aria-describedby=\"confirm_name-fault\" aria-invalid=\"true\" autofocus"));
        CHECK(has(refused, "<a class=\"button quiet\" href=\"" + path + "\">Cancel</a>"));
        CHECK_FALSE(has(refused, "popovertarget=\"confirm-delete-" + id));
        CHECK_FALSE(has(refused, "class=\"faults\""));
    }
    CHECK(applications_of(shop, ann).size() == 1);
    CHECK(shop.post(path, remove + "&confirm_name=Statistics").find("Location") == path + "?done=1");
    CHECK(applications_of(shop, ann).empty());
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
    CHECK(has(shop.get(path + "?done=1"), "The application was deleted and its access revoked"));
    CHECK(applications_of(shop, ann).empty());
    CHECK(to_number(shop.post(path, "action=delete&application=" + id).status()) == 404);
}

TEST_CASE("the owner of an application sees that it is suspended, and why") {
    page_shop shop;
    static_cast<void>(shop.post(path, "name=A&website=https://a.example"));
    const auto application = shop.store.applications_of(ann)->front().id;
    const auto edit = path + "?edit=" + std::to_string(application.value());
    struct row {
        std::optional<suspension> reason;
        std::string_view english, german;
    };
    for (const row& each : {row{std::nullopt, "", ""},
                            row{suspension::by_operator, "The operator of this site has suspended", "Der Betreiber dieser Website hat"},
                            row{suspension::owner_disabled, "because your account was disabled", "weil Ihr Konto deaktiviert wurde"}}) {
        REQUIRE(*shop.store.change_application({}, application, suspension_change{each.reason}));
        for (const auto& target : {path, edit}) {
            CAPTURE(target);
            const auto english = shop.get(target), german = shop.get("/de" + target.substr(3));
            CHECK(has(english, ">Suspended</span>") == each.reason.has_value());
            CHECK(has(german, ">Gesperrt</span>") == each.reason.has_value());
            CHECK(has(english, each.english));
            CHECK(has(german, each.german));
        }
    }
}
