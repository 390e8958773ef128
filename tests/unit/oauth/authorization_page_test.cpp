#include <tollgate/oauth/detail/authorization_page.hpp>

#include <support/oauth_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::test;
using http::method;
using http::status;

namespace {

void check_page(const http::response& answer, status expected) {
    CHECK(answer.status() == expected);
    CHECK(answer.find("Content-Type") == "text/html; charset=utf-8");
    CHECK(answer.find("Cache-Control") == "no-store");
    CHECK(answer.find("X-Frame-Options") == "DENY");
    CHECK(answer.find("X-Content-Type-Options") == "nosniff");
    CHECK(answer.find("Referrer-Policy") == "no-referrer");
    CHECK(answer.find("Content-Security-Policy").starts_with("default-src 'none'; style-src 'self';"));
    CHECK(answer.find("Content-Security-Policy").find("frame-ancestors 'none'") != std::string_view::npos);
    CHECK(answer.find("X-RateLimit-Limit").empty());
    CHECK(answer.find("Location").empty());
    CHECK(answer.body().starts_with("<!doctype html>"));
}

void check_code(const http::response& answer, std::string_view redirect = "https://app.example/cb?") {
    CHECK(answer.status() == status::see_other);
    CHECK(answer.find("Location").starts_with(redirect));
    CHECK(is_well_formed(secret_kind::authorization_code, returned(answer, "code").value_or("")));
    CHECK(returned(answer, "iss") == "https://shop.example");
    CHECK_FALSE(returned(answer, "error"));
    CHECK(answer.find("Cache-Control") == "no-store");
    CHECK(answer.find("Referrer-Policy") == "no-referrer");
    CHECK(answer.body().empty());
}

/// Where a browser comes back to after the sign-in that the answer sends it to.
std::string sign_in_target(const http::response& answer) {
    constexpr std::string_view sign_in = "/login?next=";
    CHECK(answer.status() == status::see_other);
    CHECK(answer.find("Location").starts_with(sign_in));
    return percent_decode(answer.find("Location").substr(sign_in.size())).value_or("");
}

void check_error(const http::response& answer, std::string_view error, std::string_view redirect = "https://app.example/cb?") {
    CHECK(answer.status() == status::see_other);
    CHECK(answer.find("Location").starts_with(redirect));
    CHECK(returned(answer, "error") == error);
    CHECK_FALSE(returned(answer, "error_description").value_or("").empty());
    CHECK(returned(answer, "iss") == "https://shop.example");
    CHECK_FALSE(returned(answer, "code"));
}

}  // namespace

TEST_CASE("allowing redirects with a code", "[oauth][page]") {
    oauth_shop shop;
    for (const char* path : {"/en/user/oauth/", "/en/user/oauth"}) {
        const auto page = shop.open(shop.asks(), "site=ann", path);
        check_page(page, status::ok);
        CHECK(page.body().find("<h1>Authorize App?</h1>") != std::string::npos);
        CHECK(page.body().find("View your sitesmaker accounts") != std::string::npos);
        CHECK(page.body().find("<code>user:balance</code>") != std::string::npos);
        CHECK(page.body().find("Signed in as ann") != std::string::npos);
        CHECK(page.body().find("<button name=\"decision\" value=\"allow\">") != std::string::npos);
        CHECK(page.body().find("name=\"decision\" value=\"deny\"") != std::string::npos);
        CHECK(page.body().find("type=\"password\"") == std::string::npos);
        CHECK(page.body().find("<script") == std::string::npos);
        // Chromium asks the policy about each redirect behind the form, the application's own among them.
        CHECK(page.find("Content-Security-Policy").starts_with("default-src 'none'"));
        CHECK(page.find("Content-Security-Policy").find("form-action") == std::string_view::npos);
        // An application that opened a window for this waits for it to come back.
        CHECK(page.find("Cross-Origin-Opener-Policy").empty());

        const auto answer = shop.press(with(hidden_fields(page), {{"decision", "allow"}}), "site=ann", path);
        check_code(answer);
        CHECK(returned(answer, "state") == "xyz");
        const auto tokens = shop.post("/user/oauth_token/", shop.exchange_of(*returned(answer, "code")));
        CHECK(tokens.status() == status::ok);
        CHECK(member(tokens, "scope") == "sitesmaker:read user:balance");
        CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));
    }
}

TEST_CASE("denying redirects with access_denied", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.asks())), {{"decision", "deny"}});
    const auto answer = shop.press(fields);
    check_error(answer, "access_denied");
    CHECK(returned(answer, "state") == "xyz");
    CHECK(shop.store.grants_of(ann)->empty());
    // They may think again.
    check_code(shop.press(with(fields, {{"decision", "allow"}})));
}

TEST_CASE("a user who is not signed in is sent to sign in and returns", "[oauth][page]") {
    oauth_shop shop;
    const auto answer = shop.open(shop.asks(), "");
    CHECK(answer.status() == status::see_other);
    constexpr std::string_view door = "/login?next=";
    REQUIRE(answer.find("Location").starts_with(door));
    const auto back = percent_decode(answer.find("Location").substr(door.size()));
    REQUIRE(back);
    CHECK(back->starts_with("/en/user/oauth/?"));
    CHECK(shop.answer(sent{method::get, *back}.field("Cookie", "site=ann")).status() == status::ok);

    // A form that outlived its session: sign in, and see the page again.
    const auto fields = with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}});
    const auto posted = shop.press(fields, "");
    CHECK(posted.status() == status::see_other);
    CHECK(posted.find("Location") == answer.find("Location"));
}

TEST_CASE("without a valid redirect URL an error page is shown", "[oauth][page]") {
    oauth_shop shop;
    const auto bare = shop.register_client("Bare", std::nullopt, "https://bare.example/about");
    const auto odd = shop.register_client("Odd", "https://odd.example/cb#part", "https://odd.example/");
    for (const auto& changes : std::vector<parameter_list>{{{"client_id", ""}},
                                                           {{"client_id", "tgi_nobody"}},
                                                           {{"client_id", std::string(2000, 'x')}},
                                                           {{"client_id", std::string("a\0b", 3)}},
                                                           {{"redirect_uri", "https://app.example/cb/"}},
                                                           {{"redirect_uri", "https://app.example/CB"}},
                                                           {{"redirect_uri", "https://APP.example/cb"}},
                                                           {{"redirect_uri", "HTTPS://app.example/cb"}},
                                                           {{"redirect_uri", "http://app.example/cb"}},
                                                           {{"redirect_uri", "https://app.example:443/cb"}},
                                                           {{"redirect_uri", "https://app.example/./cb"}},
                                                           {{"redirect_uri", "https://app.example/x/../cb"}},
                                                           {{"redirect_uri", "https://app.example//cb"}},
                                                           {{"redirect_uri", "https://app.example/%63b"}},
                                                           {{"redirect_uri", "https://app.example/cb?"}},
                                                           {{"redirect_uri", "https://app.example/cb?x=1"}},
                                                           {{"redirect_uri", "https://app.example/cb#"}},
                                                           {{"redirect_uri", "https://user@app.example/cb"}},
                                                           {{"redirect_uri", "https://app.example@evil.example/cb"}},
                                                           {{"redirect_uri", "https://app.example.evil.example/cb"}},
                                                           {{"redirect_uri", "https://app.example./cb"}},
                                                           {{"redirect_uri", "https://app.example\\@evil.example/cb"}},
                                                           {{"redirect_uri", " https://app.example/cb"}},
                                                           {{"redirect_uri", "https://app.example/cb\n"}},
                                                           {{"redirect_uri", "//app.example/cb"}},
                                                           {{"redirect_uri", "/cb"}},
                                                           {{"redirect_uri", "javascript:alert(1)"}},
                                                           {{"client_id", bare.client_id}},
                                                           {{"client_id", bare.client_id}, {"redirect_uri", "https://bare.example.evil/"}},
                                                           {{"client_id", bare.client_id}, {"redirect_uri", "https://sub.bare.example/"}},
                                                           {{"client_id", bare.client_id}, {"redirect_uri", "http://bare.example/"}},
                                                           {{"client_id", bare.client_id}, {"redirect_uri", "https://bare.example:444/"}},
                                                           {{"client_id", bare.client_id}, {"redirect_uri", "https://a@bare.example/"}},
                                                           {{"client_id", bare.client_id}, {"redirect_uri", "https://bare.example/#x"}},
                                                           {{"client_id", odd.client_id}}}) {
        CAPTURE(to_form(changes).substr(0, 100));
        for (const char* cookie : {"site=ann", ""}) check_page(shop.open(with(shop.asks(), changes), cookie), status::bad_request);
        check_page(shop.press(with(with(hidden_fields(shop.open(shop.asks())), changes), {{"decision", "allow"}})), status::bad_request);
    }
    // Said twice, said in bytes that are no text: nobody can tell which counts.
    for (const std::string& more : {"&client_id=" + shop.app.client_id, std::string{"&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&redirect_uri=x"},
                                   std::string{"&state=%ff"}, std::string{"&state=%"}, std::string{"&%00=%zz"}}) {
        CAPTURE(more);
        check_page(shop.answer(sent{method::get, "/en/user/oauth/?" + to_form(shop.asks()) + more}.field("Cookie", "site=ann")),
                   status::bad_request);
    }
    check_page(shop.answer(sent{method::get, "/en/user/oauth/"}), status::bad_request);
}

TEST_CASE("permitted redirect URLs are used", "[oauth][page]") {
    oauth_shop shop;
    struct row {
        std::optional<std::string> registered;
        const char* asked;  // empty: none
        const char* begins;
    };
    for (const auto& [registered, asked, begins] :
         std::vector<row>{{"https://app.example/cb", "https://app.example/cb", "https://app.example/cb?code="},
                          {"https://app.example/cb", "", "https://app.example/cb?code="},
                          {"https://app.example/cb?a=b&c=%20d", "", "https://app.example/cb?a=b&c=%20d&code="},
                          {"https://app.example/cb?", "", "https://app.example/cb?code="},
                          {"http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", "http://127.0.0.1:49152/cb?code="},
                          {"http://127.0.0.1:1/cb?x", "http://127.0.0.1:2/cb?x", "http://127.0.0.1:2/cb?x&code="},
                          {"http://[::1]:1/cb", "http://[::1]:2/cb", "http://[::1]:2/cb?code="},
                          {"com.example.app:/cb", "com.example.app:/cb", "com.example.app:/cb?code="},
                          {std::nullopt, "https://app.example/any?where", "https://app.example/any?where&code="},
                          {std::nullopt, "https://app.example:443/", "https://app.example:443/?code="}}) {
        CAPTURE(registered.value_or(""), asked);
        shop.app = shop.register_client("App", registered);
        const auto asks = with(shop.asks(), {{"client_id", shop.app.client_id}, {"redirect_uri", asked}});
        const auto page = shop.open(asks);
        check_page(page, status::ok);
        const auto answer = shop.press(with(hidden_fields(page), {{"decision", "allow"}}));
        check_code(answer, begins);
        const auto exchange = shop.exchange_of(*returned(answer, "code"));
        // What the request named, the exchange may name, and nothing else.
        CHECK(shop.post("/user/oauth_token/", with(exchange, {{"redirect_uri", "https://app.example/else"}})).status() == status::bad_request);
        CHECK(shop.post("/user/oauth_token/", with(exchange, {{"redirect_uri", asked}})).status() == status::ok);
    }
}

TEST_CASE("other errors are redirected to the application, with its state", "[oauth][page]") {
    oauth_shop shop;
    const std::string challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    struct row {
        parameter_list changes;
        const char* error;
    };
    for (const auto& [changes, error] : std::vector<row>{
             {{{"response_type", ""}}, "invalid_request"},
             {{{"response_type", "token"}}, "unsupported_response_type"},
             {{{"response_type", "code token"}}, "unsupported_response_type"},
             {{{"response_type", "Code"}}, "unsupported_response_type"},
             {{{"scope", ""}}, "invalid_request"},
             {{{"scope", ","}}, "invalid_scope"},
             {{{"scope", "sitesmaker:write"}}, "invalid_scope"},
             {{{"scope", "sitesmaker:read,nothing"}}, "invalid_scope"},
             {{{"scope", "SITESMAKER"}}, "invalid_scope"},
             {{{"scope", "sitesmaker:read\nuser:balance"}}, "invalid_scope"},
             {{{"scope", std::string(4000, 'x')}}, "invalid_scope"},
             {{{"code_challenge", challenge}}, "invalid_request"},
             {{{"code_challenge", challenge}, {"code_challenge_method", "plain"}}, "invalid_request"},
             {{{"code_challenge", challenge}, {"code_challenge_method", "s256"}}, "invalid_request"},
             {{{"code_challenge", challenge + "="}, {"code_challenge_method", "S256"}}, "invalid_request"},
             {{{"code_challenge", "short"}, {"code_challenge_method", "S256"}}, "invalid_request"},
             {{{"code_challenge_method", "S256"}}, "invalid_request"},
         }) {
        CAPTURE(to_form(changes).substr(0, 100));
        const auto answer = shop.open(with(shop.asks(), changes));
        check_error(answer, error);
        CHECK(returned(answer, "state") == "xyz");
        // A stranger is sent nowhere but to sign in, and sees the same afterwards.
        for (const char* path : {"/en/user/oauth/", "/en/itemplatform/oauth/"}) {
            const auto back = sign_in_target(shop.open(with(shop.asks(), changes), "", path));
            CHECK(back.starts_with(path));
            CHECK(shop.answer(sent{method::get, back}.field("Cookie", "site=ann")).find("Location") == answer.find("Location"));
        }
        CHECK_FALSE(returned(shop.open(with(with(shop.asks(), changes), {{"state", ""}})), "state"));
        check_error(shop.press(with(with(hidden_fields(shop.open(shop.asks())), changes), {{"decision", "allow"}})), error);
    }
    for (const char* twice : {"state=1", "scope=user%3Abalance", "response_type=code", "state=", "unknown=1&unknown=2"}) {
        const auto answer = shop.answer(sent{method::get, "/en/user/oauth/?" + to_form(shop.asks()) + "&" + twice}.field("Cookie", "site=ann"));
        check_error(answer, "invalid_request");
    }
    CHECK(shop.answer(sent{method::get, "/en/user/oauth/?" + to_form(shop.asks()) + "&resource=1&resource=2"}.field("Cookie", "site=ann"))
              .status() == status::ok);
}

TEST_CASE("an invalid form without a session is refused and does not redirect", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}, {"scope", "nothing"}});
    check_error(shop.press(fields), "invalid_scope");
    check_page(shop.press(fields, ""), status::forbidden);
}

TEST_CASE("consent is skipped only for the registered redirect URL itself, and only by GET", "[oauth][page]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(shop.asks()).empty());
    check_code(shop.open(shop.asks()));
    const auto path = "/en/user/oauth/?" + to_form(shop.asks());
    check_page(shop.answer(sent{method::head, path}.field("Cookie", "site=ann")), status::ok);

    struct row {
        std::optional<std::string> registered;
        const char* asked;
        bool skipped;
    };
    for (const auto& [registered, asked, skipped] :
         std::vector<row>{{"https://app.example/cb", "https://app.example/cb", true},
                          {"http://127.0.0.1:8000/cb", "http://127.0.0.1:8000/cb", true},
                          {"http://127.0.0.1:8000/cb", "http://127.0.0.1:8001/cb", false},
                          {"http://[::1]/cb", "http://[::1]:49152/cb", false},
                          {std::nullopt, "https://app.example/any", false}}) {
        CAPTURE(asked);
        shop.app = shop.register_client("App", registered);
        const auto asks = with(shop.asks(), {{"client_id", shop.app.client_id}, {"redirect_uri", asked}});
        check_code(shop.press(with(hidden_fields(shop.open(asks)), {{"decision", "allow"}})), asked);
        if (skipped) check_code(shop.open(asks), asked);
        else check_page(shop.open(asks), status::ok);
    }
}

TEST_CASE("the error page for a missing redirect_uri names it", "[oauth][page]") {
    oauth_shop shop;
    const auto bare = shop.register_client("Bare", std::nullopt);
    const auto missing = shop.open(with(shop.asks(), {{"client_id", bare.client_id}}));
    check_page(missing, status::bad_request);
    CHECK(missing.body().find("<h1>Missing redirect_uri</h1>") != std::string::npos);
    const auto other = shop.open(with(shop.asks(), {{"client_id", bare.client_id}, {"redirect_uri", "https://evil.example/"}}));
    check_page(other, status::bad_request);
    CHECK(other.body().find("<h1>Redirect URL not registered</h1>") != std::string::npos);
}

TEST_CASE("scopes are separated by commas, spaces or both, and duplicates count once", "[oauth][page]") {
    oauth_shop shop;
    for (const char* scope : {"sitesmaker:read,user:balance", "sitesmaker:read user:balance", " sitesmaker:read ,, user:balance,",
                              "sitesmaker:read,user:balance,sitesmaker:read", "sitesmaker:read  user:balance user:balance"}) {
        const auto code = shop.consent(with(shop.asks(), {{"scope", scope}}));
        CHECK(member(shop.post("/user/oauth_token/", shop.exchange_of(code)), "scope") == "sitesmaker:read user:balance");
        CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));
    }
}

TEST_CASE("state is returned byte for byte", "[oauth][page]") {
    oauth_shop shop;
    std::string all;
    for (char c = 1; c < 127; ++c) all.push_back(c);
    for (const std::string& state : {std::string{"a b+c&d=e%25/?#\"<>'\\"}, std::string{"\"><script>alert(1)</script>"}, std::string{"&amp;&#39;"},
                                     std::string{"\xc3\xbc \xf0\x9f\x98\x80"}, std::string{"line\r\nSet-Cookie: a=b"}, std::string{"\n"}, std::string{"\r"},
                                     std::string{"\t "}, std::string{"%0A"}, std::string{"\x7f"}, all, std::string(2000, 's')}) {
        CAPTURE(state.substr(0, 60));
        const auto page = shop.open(with(shop.asks(), {{"state", state}}));
        check_page(page, status::ok);
        CHECK(page.body().find("<script") == std::string::npos);
        // A browser turns the line ends of what it sends into others.
        for (const auto& [name, value] : hidden_fields(page)) CHECK(value.find_first_of("\r\n") == std::string::npos);
        for (const char* decision : {"deny", "allow"})
            CHECK(returned(shop.press(with(hidden_fields(page), {{"decision", decision}})), "state") == state);
        CHECK(returned(shop.open(with(shop.asks(), {{"state", state}})), "state") == state);  // without a page this time
        CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));
    }
    CHECK_FALSE(returned(shop.press(with(hidden_fields(shop.open(with(shop.asks(), {{"state", ""}}))), {{"decision", "allow"}})), "state"));
    // An empty one was not sent (RFC 6749 section 3.1).
    const auto empty = shop.answer(sent{method::get, "/en/user/oauth/?" + to_form(with(shop.asks(), {{"state", ""}})) + "&state="}.field("Cookie", "site=ann"));
    check_code(empty);
    CHECK_FALSE(returned(empty, "state"));
    check_error(shop.open(with(shop.asks(), {{"state", std::string("a\0b", 3)}})), "invalid_request");
}

TEST_CASE("consent is skipped only for scopes granted by name", "[oauth][page]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(with(shop.asks(), {{"scope", "sitesmaker,user:balance"}})).empty());
    struct row {
        const char* scope;
        bool skipped;
    };
    for (const auto& [scope, skipped] : std::vector<row>{{"sitesmaker", true},
                                                         {"user:balance", true},
                                                         {"user:balance,sitesmaker", true},
                                                         {"sitesmaker:read", false},
                                                         {"sitesmaker,itemplatform", false},
                                                         {"itemplatform:read", false}}) {
        CAPTURE(scope);
        const auto answer = shop.open(with(shop.asks(), {{"scope", scope}}));
        if (skipped) check_code(answer);
        else check_page(answer, status::ok);
    }
    // Not for somebody else, not for another application, not once it was taken back.
    check_page(shop.open(with(shop.asks(), {{"scope", "sitesmaker"}}), "site=bob"), status::ok);
    const auto other = shop.register_client("Other", "https://other.example/cb");
    check_page(shop.open(with(shop.asks(), {{"scope", "sitesmaker"}, {"client_id", other.client_id}})), status::ok);
    // What is added later adds up.
    CHECK_FALSE(shop.consent(with(shop.asks(), {{"scope", "sitesmaker:read"}})).empty());
    check_code(shop.open(with(shop.asks(), {{"scope", "sitesmaker:read,sitesmaker"}})));
    CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));
    check_page(shop.open(with(shop.asks(), {{"scope", "sitesmaker"}})), status::ok);
    // Each request without a page has a code of its own.
    CHECK_FALSE(shop.consent(shop.asks()).empty());
    CHECK(returned(shop.open(shop.asks()), "code") != returned(shop.open(shop.asks()), "code"));
}

TEST_CASE("skipped consent does not undo a concurrent revocation", "[oauth][page]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(shop.asks()).empty());
    shop.store.before_code = [&] { CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id)); };
    check_page(shop.open(shop.asks()), status::ok);
    CHECK(shop.store.grants_of(ann)->empty());
    shop.store.before_code = nullptr;
    CHECK_FALSE(shop.consent(shop.asks()).empty());
}

TEST_CASE("a form from elsewhere is a 403", "[oauth][page][csrf]") {
    oauth_shop shop;
    const auto good = with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}});
    const auto bobs = with(hidden_fields(shop.open(shop.asks(), "site=bob")), {{"decision", "allow"}});
    const auto other_scope = hidden_fields(shop.open(with(shop.asks(), {{"scope", "sitesmaker"}})));
    const auto token_of = [](const parameter_list& fields) {
        for (const auto& [name, value] : fields)
            if (name == "form_token") return value;
        return std::string{};
    };
    for (const auto& changes :
         std::vector<parameter_list>{{{"form_token", ""}},
                                     {{"form_token", "x"}},
                                     {{"form_token", token_of(good) + "A"}},
                                     {{"form_token", token_of(good).substr(1)}},
                                     {{"form_token", token_of(bobs)}},
                                     {{"form_token", token_of(other_scope)}},
                                     {{"scope", "sitesmaker"}},
                                     {{"state", "other"}},
                                     {{"state", ""}},
                                     {{"redirect_uri", "https://app.example/cb"}},
                                     {{"code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, {"code_challenge_method", "S256"}}}) {
        CAPTURE(to_form(changes));
        for (const char* decision : {"allow", "deny"})
            check_page(shop.press(with(with(good, changes), {{"decision", decision}})), status::forbidden);
    }
    check_page(shop.press(with(good, {{"form_token", ""}}), ""), status::forbidden);
    // What else there is, or is not, is not even looked at.
    for (const auto& bare : std::vector<parameter_list>{
             {{"decision", "allow"}}, {{"decision", "allow"}, {"client_id", "nobody"}}, {{"login", "ann"}, {"password", "x"}}})
        for (const char* who : {"site=ann", ""}) check_page(shop.press(bare, who), status::forbidden);
    check_page(shop.press(good, "site=bob"), status::forbidden);

    const auto from = [&](const char* name, const char* value) {
        return shop.answer(sent{method::post, "/en/user/oauth/"}
                               .field("Cookie", "site=ann")
                               .field(name, value)
                               .body(to_form(good), "application/x-www-form-urlencoded"));
    };
    check_page(from("Sec-Fetch-Site", "cross-site"), status::forbidden);
    check_page(from("Sec-Fetch-Site", "same-site"), status::forbidden);
    check_page(from("Origin", "https://evil.example"), status::forbidden);
    check_page(from("Origin", "null"), status::forbidden);
    CHECK(shop.store.grants_of(ann)->empty());
    check_code(from("Origin", "https://shop.example"));
    check_code(from("Sec-Fetch-Site", "same-origin"));
}

TEST_CASE("a form submitted twice issues one code, and none after it was redeemed", "[oauth][page]") {
    oauth_shop shop;
    const auto page = shop.open(shop.asks());
    const auto fields = with(hidden_fields(page), {{"decision", "allow"}});
    const auto first = shop.press(fields);
    const auto second = shop.press(fields);
    check_code(first);
    CHECK(second.find("Location") == first.find("Location"));
    const auto exchange = shop.exchange_of(*returned(first, "code"));
    const auto tokens = shop.post("/user/oauth_token/", exchange);
    CHECK(tokens.status() == status::ok);
    check_page(shop.press(fields), status::conflict);
    CHECK(shop.is_good(member(tokens, "access_token")));

    // Another page, another code; another's code, too.
    CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));
    const auto again = shop.press(with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}}));
    check_code(again);
    CHECK(returned(again, "code") != returned(first, "code"));
}

TEST_CASE("a form whose code was deleted issues a new code", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}});
    const auto first = shop.press(fields);
    check_code(first);
    CHECK(shop.post("/user/oauth_token/", shop.exchange_of(*returned(first, "code"))).status() == status::ok);

    shop.now += seconds{limits::spent_code_seconds - 1};
    check_page(shop.press(fields), status::conflict);
    // As if it had been forgotten by now, which is for the store to choose.
    shop.now += seconds{120};
    CHECK(shop.store.rows.sweep_expired(shop.now, 1000).has_value());
    const auto late = shop.press(fields);
    check_code(late);
    CHECK(returned(late, "code") != returned(first, "code"));
    CHECK(returned(shop.press(fields), "code") != returned(late, "code"));
}

TEST_CASE("a form without a decision is a 400", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = hidden_fields(shop.open(shop.asks()));
    for (const char* decision : {"", "Allow", "yes", "allow "})
        check_page(shop.press(with(fields, {{"decision", decision}})), status::bad_request);
    const auto twice = shop.answer(sent{method::post, "/en/user/oauth/"}
                                       .field("Cookie", "site=ann")
                                       .body(to_form(fields) + "&decision=deny&decision=allow", "application/x-www-form-urlencoded"));
    check_error(twice, "invalid_request");
    check_page(shop.answer(sent{method::post, "/en/user/oauth/"}.field("Cookie", "site=ann").body("{}", "application/json")),
               status::unsupported_media_type);
    check_page(shop.answer(sent{method::post, "/en/user/oauth/"}.field("Cookie", "site=ann").body("%", "application/x-www-form-urlencoded")),
               status::bad_request);
    sent large{method::post, "/en/user/oauth/"};
    check_page(shop.answer(large.too_large()), status::content_too_large);
    CHECK(shop.store.grants_of(ann)->empty());
}

TEST_CASE("the code challenge is stored with the code", "[oauth][page][pkce]") {
    oauth_shop shop;
    const auto code = shop.consent(with(
        shop.asks(), {{"code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, {"code_challenge_method", "S256"}}));
    CHECK(shop.post("/user/oauth_token/", shop.exchange_of(code)).status() == status::bad_request);
    CHECK(shop.post("/user/oauth_token/",
                    with(shop.exchange_of(code), {{"code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}}))
              .status() == status::ok);
}

TEST_CASE("texts of an application are escaped", "[oauth][page]") {
    oauth_shop shop;
    shop.app = shop.register_client("<b>\"App\" & 'Co'</b> {}", "https://app.example/cb");
    const auto page = shop.open(shop.asks());
    CHECK(page.body().find("<b>") == std::string::npos);
    CHECK(page.body().find("&lt;b&gt;&quot;App&quot; &amp; &#39;Co&#39;&lt;/b&gt; {}") != std::string::npos);
}

TEST_CASE("HEAD is GET without a body, other methods are a 405", "[oauth][page]") {
    oauth_shop shop;
    const auto path = "/en/user/oauth/?" + to_form(shop.asks());
    check_page(shop.answer(sent{method::head, path}.field("Cookie", "site=ann")), status::ok);
    const auto options = shop.answer(sent{method::options, path});
    CHECK(options.status() == status::no_content);
    CHECK(options.find("Allow") == "GET, HEAD, POST, OPTIONS");
    for (const auto each : {method::put, method::delete_, method::patch, method::other}) {
        const auto answer = shop.answer(sent{each, path}.field("Cookie", "site=ann"));
        check_page(answer, http::refused_method_status(each));
        CHECK(answer.find("Allow") == "GET, HEAD, POST, OPTIONS");
    }
}

TEST_CASE("the observer sees the signed-in user", "[oauth][page]") {
    oauth_shop shop;
    shop.open(shop.asks());
    shop.open(shop.asks(), "");
    shop.open({}, "site=ann");
    CHECK(shop.seen.requests == std::vector<std::string>{"200 by 1", "303", "400"});
    CHECK(shop.seen.causes.empty());
}

TEST_CASE("an internal error is redirected to the application once that is known", "[oauth][page][failure]") {
    oauth_shop shop;
    const bool down = GENERATE(true, false);
    shop.store.faults.what = down ? unavailable("db-7 refused") : internal_error("db-7 is odd");
    const char* error = down ? "temporarily_unavailable" : "server_error";
    const auto fields = with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}});

    // The application, the session, what was granted before.
    for (int nth = 1; nth <= 3; ++nth) {
        CAPTURE(nth);
        shop.store.faults.start(nth);
        const auto answer = shop.open(shop.asks());
        if (nth <= 2) {  // nobody is known to be signed in
            check_page(answer, down ? status::service_unavailable : status::internal_server_error);
            CHECK(answer.find("Retry-After") == (down ? "2" : ""));
        } else {
            check_error(answer, error);
            CHECK(returned(answer, "state") == "xyz");
        }
        CHECK(answer.body().find("db-7") == std::string::npos);
        CHECK(answer.find("Location").find("db-7") == std::string_view::npos);
        CHECK(shop.seen.causes.size() == static_cast<std::size_t>(nth));
    }
    // The application, the session, the code.
    for (int nth = 1; nth <= 3; ++nth) {
        shop.store.faults.start(nth);
        const auto answer = shop.press(fields);
        if (nth <= 2) check_page(answer, down ? status::service_unavailable : status::internal_server_error);
        else check_error(answer, error);
    }
    CHECK(shop.store.grants_of(ann)->empty());
    // Sweeping comes behind.
    shop.store.faults.start(4);
    check_code(shop.press(fields));
    CHECK(shop.store.faults.seen == 4);

    shop.store.faults.start(0);
    shop.random_works = false;
    check_error(shop.open(shop.asks()), "server_error");
    CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));
    check_error(shop.open(shop.asks()), "server_error");
}

TEST_CASE("an exception results in an error page", "[oauth][page][failure]") {
    oauth_shop shop;
    shop.store.faults.throws = true;
    for (int nth = 1; nth <= 3; ++nth) {
        shop.store.faults.start(nth);
        const auto answer = shop.open(shop.asks());
        check_page(answer, status::internal_server_error);
        CHECK(answer.body().find("db-7") == std::string::npos);
        CHECK(shop.seen.causes.back() == "thrown: secret of db-7");
    }
}

TEST_CASE("an application deleted before the decision is not found", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}});
    REQUIRE(*shop.store.delete_application(bob, shop.app.id));
    check_page(shop.press(fields), status::bad_request);
    shop.app = shop.register_client("App", "https://app.example/cb");
    shop.store.faults.what = not_found();
    const auto others = with(hidden_fields(shop.open(shop.asks())), {{"decision", "allow"}});
    shop.store.faults.start(3);
    check_page(shop.press(others), status::bad_request);
    shop.store.faults.what = invalid("The scopes would be too many.");
    shop.store.faults.start(3);
    check_error(shop.press(others), "invalid_scope");
    CHECK(shop.seen.causes.empty());
}

TEST_CASE("a session without a secret cannot consent", "[oauth][page]") {
    oauth_shop shop;
    shop.sessions.known.insert({"site=open", session{ann, "ann", ""}});
    check_error(shop.open(shop.asks(), "site=open"), "server_error");
}

TEST_CASE("pages are limited per address", "[oauth][page][limits]") {
    auto settings = test_oauth_settings();
    settings.page_requests = {2, seconds{60}};
    oauth_shop shop{std::move(settings)};
    for (int i = 0; i < 2; ++i) check_page(shop.open(shop.asks()), status::ok);
    const auto refused = shop.open(shop.asks());
    check_page(refused, status::too_many_requests);
    CHECK(refused.find("Retry-After") == "60");
    shop.now += seconds{60};
    check_page(shop.open(shop.asks()), status::ok);
}

TEST_CASE("the authorization page is in the language of its path, or the one that the application asks for", "[oauth][page]") {
    oauth_shop shop;
    const auto german = shop.open(shop.asks(), "site=ann", "/de/user/oauth/");
    check_page(german, status::ok);
    CHECK(german.body().find("<html lang=\"de\">") != std::string::npos);
    CHECK(german.body().find("action=\"/de/user/oauth/\"") != std::string::npos);
    CHECK(german.body().find("lang=\"en\" hreflang=\"en\">English</a>") != std::string::npos);
    CHECK(german.body().find("href=\"/en/user/oauth/?") != std::string::npos);
    check_code(shop.press(with(hidden_fields(german), {{"decision", "allow"}}), "site=ann", "/de/user/oauth/"));
    CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));

    // A form of one language may be submitted in another: it is the same request.
    check_code(shop.press(with(hidden_fields(german), {{"decision", "allow"}})));
    CHECK(*shop.store.rows.revoke_grant(ann, shop.app.id));

    for (const auto& [asked, language] : {std::pair{"de", "de"}, {"fr de-AT en", "de"}, {"fr", "en"}, {"", "en"}}) {
        CAPTURE(asked);
        const auto page = shop.open(with(shop.asks(), {{"ui_locales", asked}}));
        CHECK(page.body().find("<html lang=\"" + std::string{language} + "\">") != std::string::npos);
        CHECK(page.body().find("action=\"/" + std::string{language} + "/user/oauth/\"") != std::string::npos);
    }
    CHECK(sign_in_target(shop.open(with(shop.asks(), {{"ui_locales", "de"}}), "")).starts_with("/de/user/oauth/?"));
}

TEST_CASE("an authorization request without a language is redirected to the browser's", "[oauth][page]") {
    oauth_shop shop;
    sent asked{method::get, "/user/oauth?" + to_form(shop.asks())};
    asked.field("Accept-Language", "de");
    const auto led = shop.oauth.handle(asked.asked());
    CHECK(led.status() == status::see_other);
    CHECK(led.find("Location") == "/de/user/oauth/?" + to_form(shop.asks()));
    CHECK(led.find("Vary") == "Accept-Language");
    sent posted{method::post, "/user/oauth/"};
    posted.body("a=b", "application/x-www-form-urlencoded");
    CHECK(to_number(shop.oauth.handle(posted.asked()).status()) == 405);
}

TEST_CASE("consent says who asks, for what, at whose site, and as whom", "[oauth][page]") {
    oauth_shop shop;
    const auto page = shop.open(shop.asks());
    for (const auto* part : {"<p>App requests access to your account at shop.example.</p>", "<li>View your balance <code>user:balance</code></li>",
                             "You are signed in as ann.", ">Authorize App</button>", ">Cancel</button>",
                             "Either way you return to app.example.", "Website stated by the application: https://app.example/"}) {
        CAPTURE(part);
        CHECK(page.body().find(part) != std::string::npos);
    }
    // A name cannot take the operator's place.
    const auto tricky = shop.register_client("{} and", "https://app.example/cb");
    const auto asked = shop.open(with(shop.asks(), {{"client_id", tricky.client_id}}));
    CHECK(asked.body().find("<p>{} and requests access to your account at shop.example.</p>") != std::string::npos);
    // Who cannot sign out here is not offered to.
    CHECK(page.body().find("value=\"other_user\"") == std::string::npos);
    CHECK(shop.press(with(hidden_fields(page), {{"decision", "other_user"}})).status() == status::bad_request);
}

TEST_CASE("whoever is somebody else signs out, and comes back to the same request", "[oauth][page]") {
    oauth_shop<entering_sessions> shop;
    const auto page = shop.open(shop.asks());
    CHECK(page.body().find("name=\"decision\" value=\"other_user\">Not you?</button>") != std::string::npos);
    const auto fields = with(hidden_fields(page), {{"decision", "other_user"}});
    const auto back = sign_in_target(shop.press(fields));
    CHECK(shop.sessions.signed_out == 1);
    CHECK(back.starts_with("/en/user/oauth/?"));
    CHECK(back.find("state=xyz") != std::string::npos);
    CHECK(back.find(shop.app.client_id) != std::string::npos);
    // Another site cannot sign anybody out.
    CHECK(shop.press(with(fields, {{"form_token", "x"}})).status() == status::forbidden);
    CHECK(shop.sessions.signed_out == 1);

    // Where sign-in and consent share a page, the page itself signs in.
    const std::string one_page = "/en/itemplatform/oauth/";
    const auto shared = shop.open(shop.asks(), "site=ann", one_page);
    const auto led = shop.press(with(hidden_fields(shared), {{"decision", "other_user"}}), "site=ann", one_page);
    CHECK(led.status() == status::see_other);
    CHECK(led.find("Location").starts_with(one_page + "?"));
    CHECK(shop.sessions.signed_out == 2);
    const auto anonymous = shop.open(shop.asks(), "", one_page);
    CHECK(anonymous.body().find("value=\"other_user\"") == std::string::npos);
}
