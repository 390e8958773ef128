#include <tollgate/pages/account_pages.hpp>
#include <tollgate/web/cookie_sessions.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string sign_in_path = "/en/user/sign_in/";
const std::string sign_out_path = "/en/user/sign_out/";
const std::string tokens = "/en/user/settings/tokens/";
const std::string form_fields = "description=x&scopes=user:balance";

struct shop_passwords {
    static constexpr bool blocking = false;

    result<std::optional<user_id>> check_password(std::string_view login, std::string_view password) {
        if (password != "open sesame") return std::optional<user_id>{};
        return login == "ann" ? std::optional{ann} : login == "bob" ? std::optional{bob} : std::nullopt;
    }
};

/// Pages with cookie sessions.
struct cookie_shop : page_shop {
    shop_passwords passwords;
    cookie_sessions<memory_store, shop_passwords> cookies{{.auth_url = "https://shop.example"}, store, passwords};
    account_pages site_pages{
        page_shop_settings(), users, store, cookies,
        default_policies().with_clock(fake_clock{&now}).with_random(counting_random{&entropy, &random_works})};

    http::response send(http::method method, std::string target, std::string_view cookie, std::string body = {}) {
        test_request request{method, std::move(target)};
        if (!cookie.empty()) request.field("Cookie", std::string{cookie});
        if (method == http::method::post) request.body(std::move(body), "application/x-www-form-urlencoded");
        return site_pages.handle(request.view());
    }
    /// The cookie of a sign-in, as a browser sends it back.
    std::string authenticate(std::string_view login, std::string_view before = {}) {
        const auto response =
            send(http::method::post, sign_in_path, before, "login=" + std::string{login} + "&password=open+sesame");
        const auto line = response.find("Set-Cookie");
        return std::string{line.substr(0, line.find(';'))};
    }
    std::string form_of(std::string_view cookie) {
        return "&form_token=" + token_on(send(http::method::get, tokens, cookie));
    }
    bool is_in(std::string_view cookie) {
        return to_number(send(http::method::get, tokens, cookie).status()) == 200;
    }
    std::size_t token_count() { return store.personal_tokens_of(ann)->size() + store.personal_tokens_of(bob)->size(); }
};

}  // namespace

TEST_CASE("a form is invalid after its session has ended") {
    cookie_shop shop;
    const auto cookie = shop.authenticate("ann");
    REQUIRE(cookie.starts_with("__Host-"));
    const auto form = shop.form_of(cookie);
    CHECK(to_number(shop.send(http::method::post, sign_out_path, cookie, form.substr(1)).status()) == 303);

    // The old cookie has no session; with a new cookie the form belongs to another session.
    const auto away = shop.send(http::method::post, tokens, cookie, form_fields + form);
    CHECK(to_number(away.status()) == 303);
    CHECK(away.find("Location").starts_with(sign_in_path));
    const auto again = shop.authenticate("ann");
    CHECK(again != cookie);
    CHECK(to_number(shop.send(http::method::post, tokens, again, form_fields + form).status()) == 403);
    CHECK(shop.token_count() == 0);
    CHECK(to_number(shop.send(http::method::post, tokens, again, form_fields + shop.form_of(again)).status()) == 303);
    CHECK(shop.token_count() == 1);
}

TEST_CASE("sign-in replaces a session fixed by an attacker") {
    cookie_shop shop;
    const auto planted = shop.authenticate("bob");
    const auto cookie = shop.authenticate("ann", planted);
    CHECK(cookie != planted);
    CHECK(shop.is_in(cookie));
    CHECK_FALSE(shop.is_in(planted));
    // A made-up cookie has no session either.
    CHECK(shop.authenticate("ann", cookie_name_of("https://shop.example", {}, "session") + "=tgw_planted").find("planted") == std::string::npos);
}

TEST_CASE("with two session cookies there is no session") {
    cookie_shop shop;
    const auto anns = shop.authenticate("ann");
    const auto bobs = shop.authenticate("bob");
    const auto form = shop.form_of(anns);
    for (const auto& both : {anns + "; " + bobs, bobs + "; " + anns}) {
        CHECK_FALSE(shop.is_in(both));
        CHECK(to_number(shop.send(http::method::post, tokens, both, form_fields + form).status()) == 303);
    }
    CHECK(shop.token_count() == 0);
    CHECK(shop.is_in(anns + "; " + anns));
}

TEST_CASE("a session ends while its page is open") {
    cookie_shop shop;
    const auto cookie = shop.authenticate("ann");
    const auto form = shop.form_of(cookie);
    shop.now += std::chrono::hours{12};
    CHECK(to_number(shop.send(http::method::post, tokens, cookie, form_fields + form).status()) == 303);
    CHECK(shop.token_count() == 0);
}
