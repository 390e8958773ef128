#include <tollgate/oauth/detail/authorization_page.hpp>

#include <support/oauth_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

namespace {

void check_page(const http::response& response, status expected) {
    CHECK(response.status() == expected);
    CHECK(response.find("Content-Type") == "text/html; charset=utf-8");
    CHECK(response.find("Cache-Control") == "no-store");
    CHECK(response.find("X-Frame-Options") == "DENY");
    CHECK(response.find("X-Content-Type-Options") == "nosniff");
    CHECK(response.find("Referrer-Policy") == "no-referrer");
    CHECK(response.find("Content-Security-Policy").starts_with("default-src 'none'; style-src 'self';"));
    CHECK(response.find("Content-Security-Policy").find("frame-ancestors 'none'") != std::string_view::npos);
    CHECK(response.find("X-RateLimit-Limit").empty());
    CHECK(response.find("Location").empty());
    CHECK(response.body().starts_with("<!doctype html>"));
}

void check_code(const http::response& response, std::string_view redirect = "https://app.example/cb?") {
    CHECK(response.status() == status::see_other);
    CHECK(response.find("Location").starts_with(redirect));
    CHECK(is_well_formed(secret_kind::authorization_code, returned(response, "code").value_or("")));
    CHECK(returned(response, "iss") == "https://shop.example");
    CHECK_FALSE(returned(response, "error"));
    CHECK(response.find("Cache-Control") == "no-store");
    CHECK(response.find("Referrer-Policy") == "no-referrer");
    CHECK(response.body().empty());
}

void check_error(const http::response& response, std::string_view error, std::string_view redirect = "https://app.example/cb?") {
    CHECK(response.status() == status::see_other);
    CHECK(response.find("Location").starts_with(redirect));
    CHECK(returned(response, "error") == error);
    CHECK_FALSE(returned(response, "error_description").value_or("").empty());
    CHECK(returned(response, "iss") == "https://shop.example");
    CHECK_FALSE(returned(response, "code"));
}

}  // namespace

TEST_CASE("allowing redirects with a code", "[oauth][page]") {
    oauth_shop shop;
    for (const char* path : {"/en/user/oauth/", "/en/user/oauth"}) {
        const auto page = shop.open(shop.parameters(), "site=ann", path);
        check_page(page, status::ok);
        CHECK(page.body().find("<h1>Authorize App?</h1>") != std::string::npos);
        CHECK(page.body().find("View your sitesmaker accounts") != std::string::npos);
        CHECK(page.body().find("<code>user:balance</code>") != std::string::npos);
        CHECK(page.body().find("Signed in as ann") != std::string::npos);
        CHECK(page.body().find("<button name=\"decision\" value=\"allow\">") != std::string::npos);
        CHECK(page.body().find("name=\"decision\" value=\"deny\"") != std::string::npos);
        CHECK(page.body().find("type=\"password\"") == std::string::npos);
        CHECK(page.body().find("<script") == std::string::npos);
        // Chromium applies form-action to each redirect after the form, including the application's own.
        CHECK(page.find("Content-Security-Policy").starts_with("default-src 'none'"));
        CHECK(page.find("Content-Security-Policy").find("form-action") == std::string_view::npos);
        // An application that opened a window for this waits for the redirect.
        CHECK(page.find("Cross-Origin-Opener-Policy").empty());

        const auto response = shop.submit(with(hidden_fields(page), {{"decision", "allow"}}), "site=ann", path);
        check_code(response);
        CHECK(returned(response, "state") == "xyz");
        const auto tokens = shop.post("/user/oauth_token/", shop.exchange_of(*returned(response, "code")));
        CHECK(tokens.status() == status::ok);
        CHECK(member(tokens, "scope") == "sitesmaker:read user:balance");
        CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
    }
}

TEST_CASE("denying redirects with access_denied", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "deny"}});
    const auto response = shop.submit(fields);
    check_error(response, "access_denied");
    CHECK(returned(response, "state") == "xyz");
    CHECK(shop.store.grants_of(ann)->empty());
    // The user may still decide otherwise.
    check_code(shop.submit(with(fields, {{"decision", "allow"}})));
}

TEST_CASE("a user who is not signed in is redirected to sign-in and back", "[oauth][page]") {
    oauth_shop shop;
    const auto response = shop.open(shop.parameters(), "");
    CHECK(response.status() == status::see_other);
    constexpr std::string_view sign_in_url = "/login?next=";
    REQUIRE(response.find("Location").starts_with(sign_in_url));
    const auto back = tollgate::detail::percent_decode(response.find("Location").substr(sign_in_url.size()));
    REQUIRE(back);
    CHECK(back->starts_with("/en/user/oauth/?"));
    CHECK(shop.handle(test_request{method::get, *back}.field("Cookie", "site=ann")).status() == status::ok);

    // A form whose session has ended: the user signs in and gets the page again.
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});
    const auto posted = shop.submit(fields, "");
    CHECK(posted.status() == status::see_other);
    CHECK(posted.find("Location") == response.find("Location"));
}

TEST_CASE("a long state survives the sign-in", "[oauth][page]") {
    oauth_shop shop;
    for (const char* state : {"\"", "%", "{", "&"})
        for (const char* type : {"code", "token"}) {
            CAPTURE(state, type);
            std::string text;
            while (text.size() < 2000) text.append(state);
            const auto redirected = shop.open(with(shop.parameters(), {{"response_type", type}, {"state", text}}), "");
            CHECK(redirected.status() == status::see_other);
            CHECK(redirected.find("Location").size() < 4000);
            const auto back = shop.handle(test_request{method::get, sign_in_target(redirected)}.field("Cookie", "site=ann"));
            if (back.status() == status::ok)
                CHECK(returned(shop.submit(with(hidden_fields(back), {{"decision", "allow"}})), "state") == text);
            else CHECK(returned(back, "state") == text);
        }
}

TEST_CASE("a request that does not fit in the URL of the sign-in page gets a page", "[oauth][page]") {
    oauth_shop shop;
    const auto response_to = [&](std::size_t bytes, const std::string& cookie, const char* type = "code") {
        auto parameters = with(shop.parameters(), {{"response_type", type}, {"state", std::string(bytes, '"')}});
        return shop.open(parameters, cookie);
    };
    // The longest state that fits: three bytes become four.
    const auto state_max = [&](const char* type) {
        const auto others = response_to(999, "", type).find("Location").size() - 999 / 3 * 4;
        return (limits::target_bytes_max - others) / 4 * 3;
    };
    for (const char* type : {"code", "token"}) {
        CAPTURE(type);
        const auto redirected = response_to(state_max(type), "", type);
        CHECK(redirected.status() == status::see_other);
        CHECK_FALSE(sign_in_target(redirected).empty());
        CHECK(redirected.find("Location").size() <= limits::target_bytes_max);
        const auto page = response_to(state_max(type) + 3, "", type);
        check_page(page, status::uri_too_long);
        CHECK(page.body().find("<h1>Address too long</h1>") != std::string::npos);
        CHECK(page.find("Location").empty());
    }
    const auto consent = response_to(state_max("code") + 3, "site=ann");
    check_page(consent, status::ok);
    const auto fields = with(hidden_fields(consent), {{"decision", "allow"}});
    check_page(shop.submit(fields, ""), status::uri_too_long);
    check_code(shop.submit(fields));
}

TEST_CASE("prompt=login asks a signed-in user to sign in again, once", "[oauth][page][prompt]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    const auto parameters = with(shop.parameters(), {{"prompt", "login"}, {"login_hint", "ann@shop.example"}});
    for (const char* cookie : {"site=ann", ""}) {
        const auto response = shop.open(parameters, cookie);
        CHECK(response.status() == status::see_other);
        const std::string location{response.find("Location")};
        CHECK(location.ends_with("&prompt=login&login_hint=ann%40shop.example"));
        const auto back = *tollgate::detail::percent_decode(
            location.substr(0, location.find('&')).substr(std::string_view{"/login?next="}.size()));
        CHECK(back.find("prompt") == std::string::npos);
        CHECK(back.find("login_hint") == std::string::npos);
        check_code(shop.handle(test_request{method::get, back}.field("Cookie", "site=ann")));
    }
    // With consent, that is asked for after the sign-in.
    const auto both = shop.open(with(shop.parameters(), {{"prompt", "login consent"}}));
    const std::string location{both.find("Location")};
    CHECK(location.ends_with("&prompt=login"));
    const auto back = *tollgate::detail::percent_decode(
        location.substr(0, location.find('&')).substr(std::string_view{"/login?next="}.size()));
    check_page(shop.handle(test_request{method::get, back}.field("Cookie", "site=ann")), status::ok);
}

TEST_CASE("prompt=consent asks for consent that was given before", "[oauth][page][prompt]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    check_code(shop.open(shop.parameters()));
    const auto page = shop.open(with(shop.parameters(), {{"prompt", "consent"}}));
    check_page(page, status::ok);
    // In another language, and after signing in again, too.
    CHECK(page.body().find("/de/user/oauth/?response_type=code") != std::string::npos);
    CHECK(unescape_html(page.body()).find("&prompt=consent\"") != std::string::npos);
    const auto fields = with(hidden_fields(page), {{"decision", "allow"}});
    const auto back = sign_in_target(shop.submit(fields, ""));
    check_page(shop.handle(test_request{method::get, back}.field("Cookie", "site=ann")), status::ok);
    check_code(shop.submit(fields));
}

TEST_CASE("prompt=select_account shows who is signed in", "[oauth][page][prompt]") {
    oauth_shop<entering_sessions> shop;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    const auto parameters = with(shop.parameters(), {{"prompt", "select_account"}});
    const auto page = shop.open(parameters);
    check_page(page, status::ok);
    CHECK(page.body().find("value=\"other_user\"") != std::string::npos);
    // The sign-in selects an account.
    const auto redirected = shop.open(parameters, "");
    CHECK(redirected.find("Location").ends_with("&prompt=select_account"));
    // Without sign-out on this page, the site's own sign-in page has to offer it.
    oauth_shop elsewhere;
    CHECK(elsewhere.open(with(elsewhere.parameters(), {{"prompt", "select_account"}}))
              .find("Location")
              .ends_with("&prompt=select_account"));
}

TEST_CASE("prompt=none shows no page", "[oauth][page][prompt]") {
    oauth_shop shop;
    const auto silent = with(shop.parameters(), {{"prompt", "none"}});
    check_error(shop.open(silent, ""), "login_required");
    CHECK(returned(shop.open(silent, ""), "state") == "xyz");
    check_error(shop.open(silent), "consent_required");
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    check_code(shop.open(silent));
    check_error(shop.open(with(silent, {{"scope", "sitesmaker"}})), "consent_required");
    // An invalid request, too.
    check_error(shop.open(with(silent, {{"scope", "nothing"}}), ""), "invalid_scope");
    // Not where the redirect URL is not the application's.
    check_page(shop.open(with(silent, {{"redirect_uri", "https://evil.example/"}}), ""), status::bad_request);
    // Revoked in the meantime.
    shop.store.before_code = [&] { CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id})); };
    check_error(shop.open(silent), "consent_required");
}

TEST_CASE("an unknown prompt, and none with others, is an invalid request", "[oauth][page][prompt]") {
    oauth_shop shop;
    for (const char* prompt : {"none login", "create", "consent,login", "LOGIN"}) {
        CAPTURE(prompt);
        check_error(shop.open(with(shop.parameters(), {{"prompt", prompt}})), "invalid_request");
        CHECK_FALSE(sign_in_target(shop.open(with(shop.parameters(), {{"prompt", prompt}}), "")).empty());
    }
}

TEST_CASE("without a valid redirect URL an error page is shown", "[oauth][page]") {
    oauth_shop shop;
    const auto plain = shop.register_client("Bare", std::nullopt, "https://bare.example/about");
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
                                                           {{"client_id", plain.client_id}},
                                                           {{"client_id", plain.client_id}, {"redirect_uri", "https://bare.example.evil/"}},
                                                           {{"client_id", plain.client_id}, {"redirect_uri", "https://sub.bare.example/"}},
                                                           {{"client_id", plain.client_id}, {"redirect_uri", "http://bare.example/"}},
                                                           {{"client_id", plain.client_id}, {"redirect_uri", "https://bare.example:444/"}},
                                                           {{"client_id", plain.client_id}, {"redirect_uri", "https://a@bare.example/"}},
                                                           {{"client_id", plain.client_id}, {"redirect_uri", "https://bare.example/#x"}},
                                                           {{"client_id", odd.client_id}}}) {
        CAPTURE(to_form(changes).substr(0, 100));
        for (const char* cookie : {"site=ann", ""}) check_page(shop.open(with(shop.parameters(), changes), cookie), status::bad_request);
        check_page(shop.submit(with(with(hidden_fields(shop.open(shop.parameters())), changes), {{"decision", "allow"}})),
                   status::bad_request);
    }
    // Repeated, or not UTF-8: the values are ambiguous.
    for (const std::string& more : {"&client_id=" + shop.app.client_id,
                                    std::string{"&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&redirect_uri=x"},
                                    std::string{"&state=%ff"}, std::string{"&state=%"}, std::string{"&%00=%zz"}}) {
        CAPTURE(more);
        check_page(shop.handle(test_request{method::get, "/en/user/oauth/?" + to_form(shop.parameters()) + more}.field("Cookie",
                                                                                                                       "site=ann")),
                   status::bad_request);
    }
    check_page(shop.handle(test_request{method::get, "/en/user/oauth/"}), status::bad_request);
}

TEST_CASE("permitted redirect URLs are used", "[oauth][page]") {
    oauth_shop shop;
    struct row {
        std::optional<std::string> registered;
        const char* requested;  // empty: none
        const char* prefix;
    };
    for (const auto& [registered, requested, prefix] :
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
        CAPTURE(registered.value_or(""), requested);
        shop.app = shop.register_client("App", registered);
        const auto parameters = with(shop.parameters(), {{"client_id", shop.app.client_id}, {"redirect_uri", requested}});
        const auto page = shop.open(parameters);
        check_page(page, status::ok);
        const auto response = shop.submit(with(hidden_fields(page), {{"decision", "allow"}}));
        check_code(response, prefix);
        const auto exchange = shop.exchange_of(*returned(response, "code"));
        // The exchange must repeat the redirect URL of the request.
        CHECK(
            shop.post("/user/oauth_token/", with(exchange, {{"redirect_uri", "https://app.example/else"}})).status() ==
            status::bad_request);
        CHECK(shop.post("/user/oauth_token/", with(exchange, {{"redirect_uri", requested}})).status() == status::ok);
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
             {{{"response_mode", "fragment"}}, "invalid_request"},
             {{{"response_mode", "form_post"}}, "invalid_request"},
             {{{"response_mode", "Query"}}, "invalid_request"},
         }) {
        CAPTURE(to_form(changes).substr(0, 100));
        const auto response = shop.open(with(shop.parameters(), changes));
        check_error(response, error);
        CHECK(returned(response, "state") == "xyz");
        // A user without a session is redirected to sign-in only, and gets the same error afterwards.
        for (const char* path : {"/en/user/oauth/", "/en/itemplatform/oauth/"}) {
            const auto back = sign_in_target(shop.open(with(shop.parameters(), changes), "", path));
            CHECK(back.starts_with(path));
            CHECK(shop.handle(test_request{method::get, back}.field("Cookie", "site=ann")).find("Location") == response.find("Location"));
        }
        CHECK_FALSE(returned(shop.open(with(with(shop.parameters(), changes), {{"state", ""}})), "state"));
        check_error(shop.submit(with(with(hidden_fields(shop.open(shop.parameters())), changes), {{"decision", "allow"}})), error);
    }
    for (const char* twice : {"state=1", "scope=user%3Abalance", "response_type=code", "state=", "unknown=1&unknown=2"}) {
        const auto response =
            shop.handle(test_request{method::get, "/en/user/oauth/?" + to_form(shop.parameters()) + "&" + twice}.field(
                "Cookie", "site=ann"));
        check_error(response, "invalid_request");
    }
    CHECK(shop.handle(test_request{method::get,
                                   "/en/user/oauth/?" + to_form(shop.parameters()) + "&resource=1&resource=2"}.field("Cookie", "site=ann"))
              .status() == status::ok);
}

TEST_CASE("an invalid form without a session is refused and does not redirect", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}, {"scope", "nothing"}});
    check_error(shop.submit(fields), "invalid_scope");
    check_page(shop.submit(fields, ""), status::forbidden);
}

TEST_CASE("consent is skipped only for the registered redirect URL itself, and only by GET", "[oauth][page]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    check_code(shop.open(shop.parameters()));
    const auto path = "/en/user/oauth/?" + to_form(shop.parameters());
    check_page(shop.handle(test_request{method::head, path}.field("Cookie", "site=ann")), status::ok);

    struct row {
        std::optional<std::string> registered;
        const char* requested;
        bool skipped;
    };
    for (const auto& [registered, requested, skipped] :
         std::vector<row>{{"https://app.example/cb", "https://app.example/cb", true},
                          {"http://127.0.0.1:8000/cb", "http://127.0.0.1:8000/cb", true},
                          {"http://127.0.0.1:8000/cb", "http://127.0.0.1:8001/cb", false},
                          {"http://[::1]/cb", "http://[::1]:49152/cb", false},
                          {std::nullopt, "https://app.example/any", false}}) {
        CAPTURE(requested);
        shop.app = shop.register_client("App", registered);
        const auto parameters = with(shop.parameters(), {{"client_id", shop.app.client_id}, {"redirect_uri", requested}});
        check_code(shop.submit(with(hidden_fields(shop.open(parameters)), {{"decision", "allow"}})), requested);
        if (skipped) check_code(shop.open(parameters), requested);
        else check_page(shop.open(parameters), status::ok);
    }
}

TEST_CASE("a redirect URL is accepted as it was registered and in its normalized form", "[oauth][page]") {
    struct row {
        const char* registered;
        const char* normalized;
        const char* neither;
    };
    oauth_shop shop;
    for (const row& each : {row{"http://localhost:8080", "http://localhost:8080/", "http://localhost:8080//"},
                            row{"https://app.example.com?x=1", "https://app.example.com/?x=1", "https://app.example.com/?x=2"},
                            row{"https://App.example:443/cb", "https://app.example/cb", "https://app.example:443/cb"}}) {
        shop.app = shop.register_client("App", each.registered);
        for (const char* sent : {each.registered, each.normalized}) {
            CAPTURE(sent);
            const auto parameters = with(shop.parameters(), {{"redirect_uri", sent}});
            const auto code = shop.consent(parameters);
            REQUIRE_FALSE(code.empty());
            CHECK(shop.open(parameters).find("Location").starts_with(sent));  // consent is skipped
            const auto exchange = shop.exchange_of(code);
            const char* other = sent == each.registered ? each.normalized : each.registered;
            CHECK(shop.post("/user/oauth_token/", with(exchange, {{"redirect_uri", other}})).status() == status::bad_request);
            CHECK(shop.post("/user/oauth_token/", with(exchange, {{"redirect_uri", sent}})).status() == status::ok);
        }
        check_page(shop.open(with(shop.parameters(), {{"redirect_uri", each.neither}})), status::bad_request);
        CHECK(shop.open(shop.parameters()).find("Location").starts_with(each.registered));
    }
}

TEST_CASE("the error page for a missing redirect_uri names it", "[oauth][page]") {
    oauth_shop shop;
    const auto plain = shop.register_client("Bare", std::nullopt);
    const auto missing = shop.open(with(shop.parameters(), {{"client_id", plain.client_id}}));
    check_page(missing, status::bad_request);
    CHECK(missing.body().find("<h1>Missing redirect_uri</h1>") != std::string::npos);
    const auto other = shop.open(with(shop.parameters(), {{"client_id", plain.client_id}, {"redirect_uri", "https://evil.example/"}}));
    check_page(other, status::bad_request);
    CHECK(other.body().find("<h1>Redirect URL not registered</h1>") != std::string::npos);
    CHECK(other.body().find("<pre>\nhttps://evil.example/</pre>") != std::string::npos);
    CHECK(other.body().find("href=\"https://evil.example") == std::string::npos);
    for (const auto& [sent, shown] :
         {std::pair{std::string{"javascript:'<b>\n\xe2\x80\xae"}, std::string{"javascript:&#39;&lt;b&gt;%0A%E2%80%AE"}},
          {std::string(2049, 'x'), std::string(2048, 'x') + " ..."}}) {
        const auto refused = shop.open(with(shop.parameters(), {{"redirect_uri", sent}}));
        check_page(refused, status::bad_request);
        CHECK(refused.body().find("<pre>\n" + shown + "</pre>") != std::string::npos);
    }

    // A public client without one can only use the device flow, whatever the request contains.
    const auto open = shop.register_client("Open", std::nullopt, "https://app.example/", client_type::public_client);
    for (const auto& changes : {parameter_list{}, parameter_list{{"redirect_uri", "https://app.example/cb"}}}) {
        const auto page = shop.open(with(with(shop.parameters(), {{"client_id", open.client_id}}), changes));
        check_page(page, status::bad_request);
        CHECK(page.body().find("<h1>No redirect URL registered</h1>") != std::string::npos);
        CHECK(page.body().find("it can only use the device flow") != std::string::npos);
    }
}

TEST_CASE("scopes are separated by commas, spaces or both, and duplicates count once", "[oauth][page]") {
    oauth_shop shop;
    for (const char* scope : {"sitesmaker:read,user:balance", "sitesmaker:read user:balance", " sitesmaker:read ,, user:balance,",
                              "sitesmaker:read,user:balance,sitesmaker:read", "sitesmaker:read  user:balance user:balance"}) {
        const auto code = shop.consent(with(shop.parameters(), {{"scope", scope}}));
        CHECK(member(shop.post("/user/oauth_token/", shop.exchange_of(code)), "scope") == "sitesmaker:read user:balance");
        CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
    }
}

TEST_CASE("state is returned byte for byte", "[oauth][page]") {
    oauth_shop shop;
    std::string all;
    for (char c = 1; c < 127; ++c) all.push_back(c);
    for (const std::string& state :
         {std::string{"a b+c&d=e%25/?#\"<>'\\"}, std::string{"\"><script>alert(1)</script>"}, std::string{"&amp;&#39;"},
          std::string{"\xc3\xbc \xf0\x9f\x98\x80"}, std::string{"line\r\nSet-Cookie: a=b"}, std::string{"\n"},
          std::string{"\r"}, std::string{"\t "}, std::string{"%0A"}, std::string{"\x7f"}, all,
          std::string(2000, 's')}) {
        CAPTURE(state.substr(0, 60));
        const auto page = shop.open(with(shop.parameters(), {{"state", state}}));
        check_page(page, status::ok);
        CHECK(page.body().find("<script") == std::string::npos);
        // A browser normalizes the line ends of form fields.
        for (const auto& [name, value] : hidden_fields(page)) CHECK(value.find_first_of("\r\n") == std::string::npos);
        for (const char* decision : {"deny", "allow"})
            CHECK(returned(shop.submit(with(hidden_fields(page), {{"decision", decision}})), "state") == state);
        CHECK(returned(shop.open(with(shop.parameters(), {{"state", state}})), "state") == state);  // without a page this time
        CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
    }
    CHECK_FALSE(returned(shop.submit(with(hidden_fields(shop.open(with(shop.parameters(), {{"state", ""}}))), {{"decision", "allow"}})),
                         "state"));
    // An empty one was not sent (RFC 6749 section 3.1).
    const auto empty = shop.handle(
        test_request{method::get, "/en/user/oauth/?" + to_form(with(shop.parameters(), {{"state", ""}})) + "&state="}
            .field("Cookie", "site=ann"));
    check_code(empty);
    CHECK_FALSE(returned(empty, "state"));
    check_error(shop.open(with(shop.parameters(), {{"state", std::string("a\0b", 3)}})), "invalid_request");
}

TEST_CASE("consent is skipped only for scopes granted by name", "[oauth][page]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(with(shop.parameters(), {{"scope", "sitesmaker,user:balance"}})).empty());
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
        const auto response = shop.open(with(shop.parameters(), {{"scope", scope}}));
        if (skipped) check_code(response);
        else check_page(response, status::ok);
    }
    // Not for another user, not for another application, not after revocation.
    check_page(shop.open(with(shop.parameters(), {{"scope", "sitesmaker"}}), "site=bob"), status::ok);
    const auto other = shop.register_client("Other", "https://other.example/cb");
    check_page(shop.open(with(shop.parameters(), {{"scope", "sitesmaker"}, {"client_id", other.client_id}})), status::ok);
    // Scopes that are granted later are added.
    CHECK_FALSE(shop.consent(with(shop.parameters(), {{"scope", "sitesmaker:read"}})).empty());
    check_code(shop.open(with(shop.parameters(), {{"scope", "sitesmaker:read,sitesmaker"}})));
    CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
    check_page(shop.open(with(shop.parameters(), {{"scope", "sitesmaker"}})), status::ok);
    // Each request without a page gets its own code.
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    CHECK(returned(shop.open(shop.parameters()), "code") != returned(shop.open(shop.parameters()), "code"));
}

TEST_CASE("skipped consent does not undo a concurrent revocation", "[oauth][page]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    shop.store.before_code = [&] { CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id})); };
    check_page(shop.open(shop.parameters()), status::ok);
    CHECK(shop.store.grants_of(ann)->empty());
    shop.store.before_code = nullptr;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
}

TEST_CASE("an application that is suspended while a user authorizes it gets no code", "[oauth][page][suspension]") {
    oauth_shop shop;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    const auto form = hidden_fields(shop.open(with(shop.parameters(), {{"prompt", "consent"}})));
    shop.store.before_code = [&] { CHECK(*shop.store.rows.change_application({}, shop.app.id, suspension_change{suspension::by_operator})); };
    for (const bool asks : {true, false}) {
        CAPTURE(asks);
        CHECK(*shop.store.rows.change_application({}, shop.app.id, suspension_change{std::nullopt}));
        const auto refused = asks ? shop.submit(with(form, {{"decision", "allow"}})) : shop.open(shop.parameters());
        check_page(refused, status::bad_request);
        CHECK(refused.body().find("Application suspended") != std::string::npos);
    }
}

TEST_CASE("a request is shown again if the user signed in again in another tab", "[oauth][page][csrf]") {
    oauth_shop shop;
    const auto form = hidden_fields(shop.open(shop.parameters()));
    shop.sessions.known.at("site=ann").secret = "another secret";
    for (const char* decision : {"allow", "deny", "other_user"}) {
        const auto again = shop.submit(with(form, {{"decision", decision}}));
        check_page(again, status::forbidden);
        CHECK(again.body().find("You signed in again after this form was loaded, so nothing was changed.") != std::string::npos);
        CHECK(again.find("Location").empty());
        CHECK(shop.store.rows.grants_of(ann)->empty());
        if (std::string_view{decision} == "other_user")
            CHECK(returned(shop.submit(with(hidden_fields(again), {{"decision", "allow"}})), "code"));
    }
}

TEST_CASE("a request is shown to another user who is signed in now, and nothing is decided", "[oauth][page][csrf]") {
    oauth_shop shop;
    const auto form = hidden_fields(shop.open(shop.parameters()));
    for (const char* decision : {"allow", "deny", "other_user"}) {
        const auto again = shop.submit(with(form, {{"decision", decision}}), "site=bob");
        check_page(again, status::forbidden);
        CHECK(again.body().find("You are signed in as bob now. The form was loaded while another user was signed in") != std::string::npos);
        CHECK(again.body().find("You are signed in as bob.") != std::string::npos);
        CHECK(again.body().find("You signed in again") == std::string::npos);
        CHECK(again.find("Location").empty());
        CHECK(returned(shop.submit(with(hidden_fields(again), {{"decision", "allow"}}), "site=bob"), "code"));
    }
    CHECK(shop.store.rows.grants_of(ann)->empty());
}

TEST_CASE("a form from another site or session is a 403", "[oauth][page][csrf]") {
    oauth_shop shop;
    const auto good = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});
    const auto bobs = with(hidden_fields(shop.open(shop.parameters(), "site=bob")), {{"decision", "allow"}});
    const auto other_scope = hidden_fields(shop.open(with(shop.parameters(), {{"scope", "sitesmaker"}})));
    const auto token_of = [](const parameter_list& fields) {
        for (const auto& [name, value] : fields)
            if (name == "form_token") return value;
        return std::string{};
    };
    for (const auto& changes : std::vector<parameter_list>{
             {{"form_token", ""}},
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
            check_page(shop.submit(with(with(good, changes), {{"decision", decision}})), status::forbidden);
    }
    check_page(shop.submit(with(good, {{"form_token", ""}}), ""), status::forbidden);
    // Without a valid token, the other fields are not even checked.
    for (const auto& fields : std::vector<parameter_list>{
             {{"decision", "allow"}}, {{"decision", "allow"}, {"client_id", "nobody"}}, {{"login", "ann"}, {"password", "x"}}})
        for (const char* cookie : {"site=ann", ""}) check_page(shop.submit(fields, cookie), status::forbidden);
    check_page(shop.submit(good, "site=bob"), status::forbidden);
    const auto from = [&](const char* name, const char* value) {
        return shop.handle(test_request{method::post, "/en/user/oauth/"}
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
    const auto page = shop.open(shop.parameters());
    const auto fields = with(hidden_fields(page), {{"decision", "allow"}});
    const auto first = shop.submit(fields);
    const auto second = shop.submit(fields);
    check_code(first);
    CHECK(second.find("Location") == first.find("Location"));
    const auto exchange = shop.exchange_of(*returned(first, "code"));
    const auto tokens = shop.post("/user/oauth_token/", exchange);
    CHECK(tokens.status() == status::ok);
    check_page(shop.submit(fields), status::conflict);
    CHECK(shop.accepts(member(tokens, "access_token")));

    // Another page gets another code.
    CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
    const auto again = shop.submit(with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}}));
    check_code(again);
    CHECK(returned(again, "code") != returned(first, "code"));
}

TEST_CASE("a form sent again after its code has expired makes the code valid again", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});
    const auto exchange = shop.exchange_of(*returned(shop.submit(fields), "code"));
    shop.now += seconds{60};
    CHECK(shop.post("/user/oauth_token/", exchange).status() == status::bad_request);
    check_code(shop.submit(fields));
    CHECK(shop.post("/user/oauth_token/", exchange).status() == status::ok);
}

TEST_CASE("a form sent again never returns a code that is about to expire", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});
    check_code(shop.submit(fields));
    shop.now += seconds{55};
    const auto again = shop.submit(fields);
    check_code(again);
    shop.now += seconds{59};
    CHECK(shop.post("/user/oauth_token/", shop.exchange_of(*returned(again, "code"))).status() == status::ok);
    check_page(shop.submit(fields), status::conflict);
}

TEST_CASE("a form whose code was deleted issues a new code", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});
    const auto first = shop.submit(fields);
    check_code(first);
    CHECK(shop.post("/user/oauth_token/", shop.exchange_of(*returned(first, "code"))).status() == status::ok);

    shop.now += seconds{limits::spent_code_seconds - 1};
    check_page(shop.submit(fields), status::conflict);
    // As if the store had already removed the code.
    shop.now += seconds{120};
    CHECK(shop.store.rows.sweep({.expired_at = shop.now, .rows_max = 1000}).has_value());
    const auto late = shop.submit(fields);
    check_code(late);
    CHECK(returned(late, "code") != returned(first, "code"));
    CHECK(returned(shop.submit(fields), "code") != returned(late, "code"));
}

TEST_CASE("a form without a decision is a 400", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = hidden_fields(shop.open(shop.parameters()));
    for (const char* decision : {"", "Allow", "yes", "allow "})
        check_page(shop.submit(with(fields, {{"decision", decision}})), status::bad_request);
    const auto twice = shop.handle(test_request{method::post, "/en/user/oauth/"}
                                       .field("Cookie", "site=ann")
                                       .body(to_form(fields) + "&decision=deny&decision=allow", "application/x-www-form-urlencoded"));
    check_error(twice, "invalid_request");
    check_page(shop.handle(test_request{method::post, "/en/user/oauth/"}.field("Cookie", "site=ann").body("{}", "application/json")),
               status::unsupported_media_type);
    check_page(shop.handle(test_request{method::post, "/en/user/oauth/"}.field("Cookie",
                                                                               "site=ann").body("%", "application/x-www-form-urlencoded")),
               status::bad_request);
    test_request large{method::post, "/en/user/oauth/"};
    check_page(shop.handle(large.too_large()), status::content_too_large);
    CHECK(shop.store.grants_of(ann)->empty());
}

TEST_CASE("the code challenge is stored with the code", "[oauth][page][pkce]") {
    oauth_shop shop;
    const auto code = shop.consent(with(
        shop.parameters(), {{"code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, {"code_challenge_method", "S256"}}));
    CHECK(shop.post("/user/oauth_token/", shop.exchange_of(code)).status() == status::bad_request);
    CHECK(shop.post("/user/oauth_token/",
                    with(shop.exchange_of(code), {{"code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}}))
              .status() == status::ok);
}

TEST_CASE("texts of an application are escaped", "[oauth][page]") {
    oauth_shop shop;
    shop.app = shop.register_client("<b>\"App\" & 'Co'</b> {}", "https://app.example/cb");
    const auto page = shop.open(shop.parameters());
    CHECK(page.body().find("<b>") == std::string::npos);
    CHECK(page.body().find("&lt;b&gt;&quot;App&quot; &amp; &#39;Co&#39;&lt;/b&gt; {}") != std::string::npos);
}

TEST_CASE("HEAD is GET without a body, other methods are a 405", "[oauth][page]") {
    oauth_shop shop;
    const auto path = "/en/user/oauth/?" + to_form(shop.parameters());
    check_page(shop.handle(test_request{method::head, path}.field("Cookie", "site=ann")), status::ok);
    const auto options = shop.handle(test_request{method::options, path});
    CHECK(options.status() == status::no_content);
    CHECK(options.find("Allow") == "GET, HEAD, POST, OPTIONS");
    for (const auto each : {method::put, method::delete_, method::patch, method::other}) {
        const auto response = shop.handle(test_request{each, path}.field("Cookie", "site=ann"));
        check_page(response, each == method::other ? status::not_implemented : status::method_not_allowed);
        CHECK(response.find("Allow") == "GET, HEAD, POST, OPTIONS");
    }
}

TEST_CASE("the observer sees the signed-in user", "[oauth][page]") {
    oauth_shop shop;
    shop.open(shop.parameters());
    shop.open(shop.parameters(), "");
    shop.open({}, "site=ann");
    CHECK(shop.observer.requests == std::vector<std::string>{"200 by 1", "303", "400"});
    CHECK(shop.observer.causes.empty());
}

TEST_CASE("an internal error is redirected to the application once its redirect URL is known", "[oauth][page][failure]") {
    oauth_shop shop;
    const bool down = GENERATE(true, false);
    shop.store.faults.failure = down ? unavailable("db-7 refused") : internal_error("db-7 is odd");
    const char* error = down ? "temporarily_unavailable" : "server_error";
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});

    // The application, the session, the granted scopes.
    for (int nth = 1; nth <= 3; ++nth) {
        CAPTURE(nth);
        shop.store.faults.start(nth);
        const auto response = shop.open(shop.parameters());
        if (nth <= 2) {  // no user is signed in yet
            check_page(response, down ? status::service_unavailable : status::internal_server_error);
            CHECK(response.find("Retry-After") == (down ? "2" : ""));
        } else {
            check_error(response, error);
            CHECK(returned(response, "state") == "xyz");
        }
        CHECK(response.body().find("db-7") == std::string::npos);
        CHECK(response.find("Location").find("db-7") == std::string_view::npos);
        CHECK(shop.observer.causes.size() == static_cast<std::size_t>(nth));
    }
    // The application, the session, the code.
    for (int nth = 1; nth <= 3; ++nth) {
        shop.store.faults.start(nth);
        const auto response = shop.submit(fields);
        if (nth <= 2) check_page(response, down ? status::service_unavailable : status::internal_server_error);
        else check_error(response, error);
    }
    CHECK(shop.store.grants_of(ann)->empty());
    // Sweeping follows.
    shop.store.faults.start(4);
    check_code(shop.submit(fields));
    CHECK(shop.store.faults.calls == 4);

    shop.store.faults.start(0);
    shop.random_works = false;
    check_error(shop.open(shop.parameters()), "server_error");
    CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
    check_error(shop.open(shop.parameters()), "server_error");
}

TEST_CASE("an exception results in an error page", "[oauth][page][failure]") {
    oauth_shop shop;
    shop.store.faults.throws = true;
    for (int nth = 1; nth <= 3; ++nth) {
        shop.store.faults.start(nth);
        const auto response = shop.open(shop.parameters());
        check_page(response, status::internal_server_error);
        CHECK(response.body().find("db-7") == std::string::npos);
        CHECK(shop.observer.causes.back() == "thrown: secret of db-7");
    }
}

TEST_CASE("an application deleted before the decision is not found", "[oauth][page]") {
    oauth_shop shop;
    const auto fields = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});
    REQUIRE(*shop.store.delete_application(bob, shop.app.id));
    check_page(shop.submit(fields), status::bad_request);
    shop.app = shop.register_client("App", "https://app.example/cb");
    shop.store.faults.failure = not_found();
    const auto others = with(hidden_fields(shop.open(shop.parameters())), {{"decision", "allow"}});
    shop.store.faults.start(3);
    check_page(shop.submit(others), status::bad_request);
    shop.store.faults.failure = invalid("The scopes would be too many.");
    shop.store.faults.start(3);
    check_error(shop.submit(others), "invalid_scope");
    CHECK(shop.observer.causes.empty());
}

TEST_CASE("a session without a secret cannot consent", "[oauth][page]") {
    oauth_shop shop;
    shop.sessions.known.insert({"site=open", session{ann, "ann", ""}});
    check_error(shop.open(shop.parameters(), "site=open"), "server_error");
}

TEST_CASE("pages are limited per address", "[oauth][page][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.page_requests = {2, seconds{60}};
    oauth_shop shop{std::move(settings)};
    for (int i = 0; i < 2; ++i) check_page(shop.open(shop.parameters()), status::ok);
    const auto refused = shop.open(shop.parameters());
    check_page(refused, status::too_many_requests);
    CHECK(refused.find("Retry-After") == "60");
    shop.now += seconds{60};
    check_page(shop.open(shop.parameters()), status::ok);
}

TEST_CASE("the authorization page is in the language of its path, or the one that the application requests", "[oauth][page]") {
    oauth_shop shop;
    const auto german = shop.open(shop.parameters(), "site=ann", "/de/user/oauth/");
    check_page(german, status::ok);
    CHECK(german.body().find("<html lang=\"de\">") != std::string::npos);
    CHECK(german.body().find("action=\"/de/user/oauth/\"") != std::string::npos);
    CHECK(german.body().find("lang=\"en\" hreflang=\"en\">English</a>") != std::string::npos);
    CHECK(german.body().find("href=\"/en/user/oauth/?") != std::string::npos);
    check_code(shop.submit(with(hidden_fields(german), {{"decision", "allow"}}), "site=ann", "/de/user/oauth/"));
    CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));

    // A form may be submitted in another language: it is the same request.
    check_code(shop.submit(with(hidden_fields(german), {{"decision", "allow"}})));
    CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));

    for (const auto& [locales, language] : {std::pair{"de", "de"}, {"fr de-AT en", "de"}, {"fr", "en"}, {"", "en"}}) {
        CAPTURE(locales);
        const auto page = shop.open(with(shop.parameters(), {{"ui_locales", locales}}));
        CHECK(page.body().find("<html lang=\"" + std::string{language} + "\">") != std::string::npos);
        CHECK(page.body().find("action=\"/" + std::string{language} + "/user/oauth/\"") != std::string::npos);
    }
    CHECK(sign_in_target(shop.open(with(shop.parameters(), {{"ui_locales", "de"}}), "")).starts_with("/de/user/oauth/?"));
}

TEST_CASE("an authorization request without a language is redirected to the browser's", "[oauth][page]") {
    oauth_shop shop;
    test_request request{method::get, "/user/oauth?" + to_form(shop.parameters())};
    request.field("Accept-Language", "de");
    const auto redirect = shop.oauth.handle(request.view());
    CHECK(redirect.status() == status::see_other);
    CHECK(redirect.find("Location") == "/de/user/oauth/?" + to_form(shop.parameters()));
    CHECK(redirect.find("Vary") == "Accept-Language");
    test_request posted{method::post, "/user/oauth/"};
    posted.body("a=b", "application/x-www-form-urlencoded");
    CHECK(to_number(shop.oauth.handle(posted.view()).status()) == 405);
}

TEST_CASE("without texts in English, the published pages lead to the reader's language", "[oauth][page]") {
    oauth_shop shop;
    plain_theme theme;
    theme.languages = {german_texts()};
    authorization_server german{test_oauth_settings(), shop.store, shop.sessions, default_policies(), theme};
    const auto get = [&](std::string target) {
        test_request request{method::get, std::move(target)};
        return german.handle(request.view());
    };
    for (const std::string path : {"/user/oauth/", "/user/device/", "/itemplatform/oauth/"}) {
        CAPTURE(path);
        const auto redirect = get("/en" + path + "?a=b");
        CHECK(redirect.status() == status::see_other);
        CHECK(redirect.find("Location") == "/de" + path + "?a=b");
        CHECK(get("/fr" + path).status() == status::not_found);
    }
}

TEST_CASE("the consent page names the application, the scopes, the site and the user", "[oauth][page]") {
    oauth_shop shop;
    const auto page = shop.open(shop.parameters());
    for (const auto* part :
         {"<p>App requests access to your account at shop.example.</p>",
          "<li>View your balance <code>user:balance</code></li>", "You are signed in as ann.",
          ">Authorize App</button>", ">Cancel</button>", "Either way, you will be returned to app.example.",
          "Website, according to the application: https://app.example/"}) {
        CAPTURE(part);
        CHECK(page.body().find(part) != std::string::npos);
    }
    // A name cannot replace the operator's text.
    const auto tricky = shop.register_client("{} and", "https://app.example/cb");
    const auto tricky_page = shop.open(with(shop.parameters(), {{"client_id", tricky.client_id}}));
    CHECK(tricky_page.body().find("<p>{} and requests access to your account at shop.example.</p>") != std::string::npos);
    // Sign-out is not offered where it is not possible.
    CHECK(page.body().find("value=\"other_user\"") == std::string::npos);
    CHECK(shop.submit(with(hidden_fields(page), {{"decision", "other_user"}})).status() == status::bad_request);
}

TEST_CASE("another user signs out and returns to the same request", "[oauth][page]") {
    oauth_shop<entering_sessions> shop;
    const auto page = shop.open(shop.parameters());
    CHECK(page.body().find("name=\"decision\" value=\"other_user\">Not you?</button>") != std::string::npos);
    const auto fields = with(hidden_fields(page), {{"decision", "other_user"}});
    const auto back = sign_in_target(shop.submit(fields));
    CHECK(shop.sessions.signed_out == 1);
    CHECK(back.starts_with("/en/user/oauth/?"));
    CHECK(back.find("state=xyz") != std::string::npos);
    CHECK(back.find(shop.app.client_id) != std::string::npos);
    // Another site cannot sign a user out.
    CHECK(shop.submit(with(fields, {{"form_token", "x"}})).status() == status::forbidden);
    CHECK(shop.sessions.signed_out == 1);

    // If sign-in and consent share a page, the page itself signs in.
    const std::string one_page = "/en/itemplatform/oauth/";
    const auto shared = shop.open(shop.parameters(), "site=ann", one_page);
    const auto redirect = shop.submit(with(hidden_fields(shared), {{"decision", "other_user"}}), "site=ann", one_page);
    CHECK(redirect.status() == status::see_other);
    CHECK(redirect.find("Location").starts_with(one_page + "?"));
    CHECK(shop.sessions.signed_out == 2);
    const auto anonymous = shop.open(shop.parameters(), "", one_page);
    CHECK(anonymous.body().find("value=\"other_user\"") == std::string::npos);
}
