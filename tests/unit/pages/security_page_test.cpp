#include <tollgate/pages/detail/security_page.hpp>
#include <tollgate/web/cookie_sessions.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/settings/security/";
const std::string sign_in_path = "/en/user/sign_in/";

struct changing_passwords {
    std::map<std::string, std::string, std::less<>> by_login{{"ann", "password of ann"}, {"bob", "password of bob"}};
    result<std::optional<user_id>> check_password(std::string_view login, std::string_view typed) {
        const auto found = by_login.find(login);
        if (found == by_login.end() || found->second != typed) return std::optional<user_id>{};
        return login == "ann" ? std::optional{ann} : std::optional{bob};
    }
    result<void> set_password(const checked_password& current, std::string_view new_password) {
        by_login.at(current.user == ann ? "ann" : "bob") = new_password;
        return {};
    }
};

struct recorder : no_observer {
    std::vector<activity>* activities;
    void on_activity(const activity& entry) const noexcept { activities->push_back(entry); }
};

policies policies_of(page_shop& shop, std::vector<activity>* activities) {
    recorder listening;
    listening.activities = activities;
    return default_policies()
        .with_clock(fake_clock{&shop.now})
        .with_random(counting_random{&shop.entropy, &shop.random_works})
        .with_observer(listening);
}

/// Pages with sessions that are listed and ended.
struct secure_shop : page_shop {
    std::vector<activity> activities;
    changing_passwords passwords;
    cookie_sessions<memory_store, changing_passwords> cookies{{.auth_url = "https://shop.example"}, store, passwords};
    account_pages site_pages{
        page_shop_settings(), users, store, cookies, policies_of(*this, &activities), english_and_german()};

    http::response send(http::method method, std::string target, std::string_view cookie, std::string body = {},
                        std::string_view agent = "test") {
        test_request request{method, std::move(target)};
        request.without("User-Agent").field("User-Agent", std::string{agent});
        if (!cookie.empty()) request.field("Cookie", std::string{cookie});
        if (method == http::method::post) request.body(std::move(body), "application/x-www-form-urlencoded");
        return site_pages.handle(request.view());
    }
    std::string sign_in(std::string login, std::string_view agent) {
        const auto line = std::string{send(http::method::post, sign_in_path, "", "login=" + login + "&password=password+of+" + login, agent)
                                          .find("Set-Cookie")};
        return line.substr(0, line.find(';'));
    }
    http::response show(std::string_view cookie, std::string_view query = "") {
        return send(http::method::get, path + std::string{query}, cookie);
    }
    http::response post_here(std::string_view cookie, std::string body) {
        return send(http::method::post, path, cookie, body + "&form_token=" + token_on(show(cookie)));
    }
    bool is_in(std::string_view cookie) { return to_number(show(cookie).status()) == 200; }
};

const std::string firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0";

std::string change(std::string_view current, std::string_view new_password, std::string_view repeated) {
    return "action=change_password&current_password=" + tollgate::detail::percent_encode(current) +
           "&new_password=" + tollgate::detail::percent_encode(new_password) +
           "&repeated_password=" + tollgate::detail::percent_encode(repeated);
}

}  // namespace

TEST_CASE("a User-Agent is shown as a browser and a system") {
    struct row {
        std::string_view agent, text;
    };
    for (const row& each :
         {row{firefox, "Firefox on Windows"},
          row{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 "
              "Safari/605.1.15",
              "Safari on macOS"},
          row{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
              "Chrome on Linux"},
          row{"Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 "
              "Edg/126.0",
              "Edge on Windows"},
          row{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) "
              "Version/17.5 Mobile Safari/604.1",
              "Safari on iPhone"},
          row{"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile "
              "Safari/537.36",
              "Chrome on Android"},
          row{"curl/8.5.0", "curl"}, row{"something (Linux)", "Unknown browser on Linux"},
          row{"<b>", "Unknown browser"}, row{"", "Unknown browser"}}) {
        CAPTURE(each.agent);
        CHECK(pages::browser_text(each.agent, {}) == each.text);
    }
}

TEST_CASE("sessions are listed, the current one marked") {
    secure_shop shop;
    const auto current = shop.sign_in("ann", firefox);
    shop.now += std::chrono::minutes{1};
    const auto other = shop.sign_in("ann", "curl/8");
    const auto bobs = shop.sign_in("bob", "Opera \"<i>\" OPR/1");
    const auto page = shop.show(current);
    CHECK(has(page, "aria-current=\"page\">Security</a>"));
    for (const auto* part : {"Firefox on Windows", "curl", "192.0.2.0/24"}) CHECK(has(page, part));
    CHECK_FALSE(has(page, "Opera"));
    CHECK(page_shop::between(page.body(), "Firefox on Windows", "</tr>").find(">1 minute ago</time>") != std::string::npos);
    // Above the list, which may be long.
    CHECK(page.body().find("Sign out everywhere else") < page.body().find("<table"));
    CHECK(page_shop::between(page.body(), "Firefox on Windows", "</tr>").find("This session") != std::string::npos);
    CHECK(page_shop::between(page.body(), "curl", "</tr>").find("This session") == std::string::npos);
    CHECK(has(page, "Sign out<span class=\"unseen\"> curl, 14 Nov 2023, 22:14:20 UTC</span>"));
    CHECK(has(shop.show(bobs), "title=\"Opera &quot;&lt;i&gt;&quot; OPR/1\""));
    // Without other sessions there is no button to end them.
    CHECK_FALSE(has(shop.show(bobs), "Sign out everywhere else"));
}

TEST_CASE("one session is ended, or all others") {
    secure_shop shop;
    const auto current = shop.sign_in("ann", firefox), other = shop.sign_in("ann", "curl/8"), third = shop.sign_in("ann", "curl/9");
    const auto bobs = shop.sign_in("bob", "curl/10");
    shop.activities.clear();
    const auto id = page_shop::between(shop.show(current).body(), "name=\"session\" value=\"", "\"");
    REQUIRE(id.size() == 24);
    CHECK(to_number(shop.post_here(bobs, "action=end_session&session=" + id).status()) == 404);
    CHECK(to_number(shop.post_here(current, "action=end_session&session=0").status()) == 404);
    CHECK(to_number(shop.send(http::method::post, path, current, "action=end_session&session=" + id).status()) == 403);
    CHECK((shop.is_in(other) && shop.is_in(third)));
    const auto done = shop.post_here(current, "action=end_session&session=" + id);
    CHECK(done.find("Location") == path + "?done=session");
    CHECK(shop.is_in(other) != shop.is_in(third));
    CHECK(has(shop.show(current, "?done=session"), "The session was signed out."));

    CHECK(shop.post_here(current, "action=end_others").find("Location") == path + "?done=others");
    CHECK_FALSE((shop.is_in(other) || shop.is_in(third)));
    CHECK((shop.is_in(current) && shop.is_in(bobs)));
    REQUIRE(shop.activities.size() == 2);
    CHECK(shop.activities[0].kind == activity_kind::session_ended);
    CHECK(shop.activities[1].kind == activity_kind::other_sessions_ended);
}

TEST_CASE("a password is changed with the current one") {
    secure_shop shop;
    const auto current = shop.sign_in("ann", firefox), other = shop.sign_in("ann", "curl/8");
    shop.activities.clear();
    struct row {
        std::string form, field;
    };
    for (const row& each : {row{change("", "a long password", "a long password"), "current_password"},
                            row{change("a guess", "a long password", "a long password"), "current_password"},
                            row{change("password of ann", "1234567", "1234567"), "new_password"},
                            row{change("password of ann", "", ""), "new_password"},
                            row{change("password of ann", "12345678", "12345678"), "new_password"},
                            row{change("password of ann", "PASSWORD123", "PASSWORD123"), "new_password"},
                            row{change("password of ann", "\u00fc\u00fc\u00fc\u00fc", "\u00fc\u00fc\u00fc\u00fc"), "new_password"},
                            row{change("password of ann", std::string(1025, 'x'), std::string(1025, 'x')), "new_password"},
                            row{change("password of ann", "a long password", "another password"), "repeated_password"}}) {
        CAPTURE(each.form);
        const auto page = shop.post_here(current, each.form);
        CHECK(to_number(page.status()) == 422);
        CHECK(has(page, "id=\"" + each.field + "-fault\""));
        for (const auto* typed : {"a long password", "a guess", "1234567", "password of ann", "12345678"}) CHECK_FALSE(has(page, typed));
    }
    CHECK(to_number(shop.send(http::method::post, path, current, change("password of ann", "87654321 x", "87654321 x")).status()) == 403);
    CHECK(shop.passwords.by_login.at("ann") == "password of ann");
    CHECK(shop.is_in(other));
    CHECK(shop.activities.empty());

    const auto done = shop.post_here(current, change("password of ann", "87654321 x", "87654321 x"));
    CHECK(done.find("Location") == path + "?done=password");
    CHECK(shop.passwords.by_login.at("ann") == "87654321 x");
    CHECK(shop.passwords.by_login.at("bob") == "password of bob");
    CHECK_FALSE((shop.is_in(current) || shop.is_in(other)));
    const auto line = done.find("Set-Cookie");
    CHECK(shop.is_in(line.substr(0, line.find(';'))));
    REQUIRE(shop.activities.size() == 1);
    CHECK(shop.activities[0].kind == activity_kind::password_set);
    CHECK(shop.activities[0].client == ip_address::v4(192, 0, 2, 1));
}

namespace {

std::string cookie_of(const http::response& response) {
    const auto line = response.find("Set-Cookie");
    return std::string{line.substr(0, line.find(';'))};
}

}  // namespace

TEST_CASE("a change of the password that is submitted again leads to the same session and says that it was changed") {
    secure_shop shop;
    const auto before = shop.sign_in("ann", firefox), other = shop.sign_in("ann", "curl/8");
    shop.activities.clear();
    const auto fields = change("password of ann", "87654321 x", "87654321 x");
    const auto body = fields + "&form_token=" + shop.token_on(shop.show(before));
    const auto done = shop.send(http::method::post, path, before, body);
    REQUIRE(done.find("Location") == path + "?done=password");
    const auto next = cookie_of(done);
    // The browser has the new cookie, or not yet; from any page of a language.
    for (const auto& [sent_path, cookie] : {std::pair{path, before}, {path, next}, {"/de" + path.substr(3), before}}) {
        CAPTURE(sent_path, cookie == next);
        shop.now += seconds{19};
        const auto again = shop.send(http::method::post, sent_path, cookie, body);
        CHECK(to_number(again.status()) == 303);
        CHECK(again.find("Location") == sent_path + "?done=password");
        CHECK(cookie_of(again) == (cookie == next ? "" : next));
        CHECK(shop.is_in(next));
    }
    CHECK(shop.activities.size() == 1);
    CHECK(shop.store.sessions_of(ann)->size() == 1);
    CHECK_FALSE((shop.is_in(before) || shop.is_in(other)));

    // Only the same form, from the same session, and for a minute.
    const auto sign_in_first = "/en/user/sign_in/?return_to=";
    for (const auto& [cookie, sent] :
         {std::pair{before, body + "&a=b"}, {other, body}, {std::string{}, body}, {std::string{"a=b"}, body}, {before, std::string{}}}) {
        CAPTURE(sent);
        const auto refused = shop.send(http::method::post, path, cookie, sent);
        CHECK(refused.find("Location").starts_with(sign_in_first));
        CHECK(cookie_of(refused).empty());
    }
    CHECK(to_number(shop.send(http::method::post, path, next, body + "&a=b").status()) == 403);
    shop.now += seconds{3};
    CHECK(shop.send(http::method::post, path, before, body).find("Location").starts_with(sign_in_first));
    CHECK(to_number(shop.send(http::method::post, path, next, body).status()) == 403);
    CHECK(shop.passwords.by_login.at("ann") == "87654321 x");

    // The session that the change has begun can be ended, and nobody gets it again.
    CHECK(shop.is_in(next));
}

TEST_CASE("a change of the password that is submitted again does not begin a session that was ended meanwhile") {
    secure_shop shop;
    const auto before = shop.sign_in("ann", firefox);
    const auto body = change("password of ann", "87654321 x", "87654321 x") + "&form_token=" + shop.token_on(shop.show(before));
    REQUIRE(to_number(shop.send(http::method::post, path, before, body).status()) == 303);
    REQUIRE(shop.store.end_sessions(sessions_of_user{ann}));
    const auto again = shop.send(http::method::post, path, before, body);
    CHECK(again.find("Location").starts_with("/en/user/sign_in/"));
    CHECK(again.find("Set-Cookie").empty());
    CHECK(shop.store.sessions_of(ann)->empty());
}

TEST_CASE("a form without a session is refused by its head, unless it can be a change of the password that has ended it") {
    secure_shop shop;
    const auto step_of = [&](std::string target, std::string_view cookie) {
        test_request request{http::method::post, std::move(target)};
        if (!cookie.empty()) request.field("Cookie", std::string{cookie});
        request.body("a=b", "application/x-www-form-urlencoded");
        auto head = request.view();
        head.body_state = http::body_state::pending;
        http::handler_state state;
        http::response out;
        return shop.site_pages.advance(head, out, state, http::thread_kind::worker);
    };
    CHECK(step_of(path, "") == http::handle_step::done);
    CHECK(step_of("/en/user/settings/tokens/", "a=b") == http::handle_step::done);
    CHECK(step_of(path, "a=b") == http::handle_step::needs_body);
}

TEST_CASE("guesses at the current password are throttled") {
    secure_shop shop;
    const auto current = shop.sign_in("ann", firefox);
    for (int i = 0; i < 10; ++i) CHECK(to_number(shop.post_here(current, change("a guess", "87654321 x", "87654321 x")).status()) == 422);
    const auto page = shop.post_here(current, change("password of ann", "87654321 x", "87654321 x"));
    CHECK(to_number(page.status()) == 429);
    CHECK_FALSE(page.find("Retry-After").empty());
    CHECK(shop.passwords.by_login.at("ann") == "password of ann");
}

TEST_CASE("external sessions have no such page") {
    page_shop shop;
    CHECK(to_number(shop.get(path).status()) == 404);
    CHECK_FALSE(has(shop.get("/en/user/settings/tokens/"), "Security"));
}

TEST_CASE("password managers find the form to change a password") {
    secure_shop shop;
    const std::string known = "/.well-known/change-password";
    for (const char* language : {"en", "de"}) {
        test_request request{http::method::get, known};
        request.field("Accept-Language", language);
        const auto led = shop.site_pages.handle(request.view());
        CHECK(to_number(led.status()) == 303);
        CHECK(led.find("Location") == "/" + std::string{language} + "/user/settings/security/");
        CHECK(led.find("Vary") == "Accept-Language");
    }
    CHECK(to_number(shop.send(http::method::head, known, "").status()) == 303);
    CHECK(to_number(shop.send(http::method::post, known, "", "a=b").status()) == 405);
    CHECK(to_number(shop.send(http::method::options, known, "").status()) == 204);
    CHECK(to_number(shop.send(http::method::get, known + "/x", "").status()) == 404);
    const auto mounts = shop.site_pages.mounts();
    CHECK(std::count(mounts.begin(), mounts.end(), known) == 1);

    // On the whole host, wherever the pages are.
    auto settings = page_shop_settings();
    settings.auth_url = "https://shop.example/account";
    account_pages below{settings, shop.users, shop.store, shop.cookies};
    for (const std::string& path_of_it : {known, "/account" + known}) {
        test_request request{http::method::get, path_of_it};
        CHECK(below.handle(request.view()).find("Location") == "/account/en/user/settings/security/");
        const auto all = below.mounts();
        CHECK(std::count(all.begin(), all.end(), path_of_it) == 1);
    }
    // Where passwords are changed elsewhere, there is no such form.
    page_shop without;
    CHECK(to_number(without.get(known).status()) == 404);
    const auto others = without.pages.mounts();
    CHECK(std::count(others.begin(), others.end(), known) == 0);
}
