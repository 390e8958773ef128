#include <tollgate/oauth/detail/device_page.hpp>

#include <support/oauth_shop.hpp>

#include <tollgate/testing/detail/granting.hpp>
#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

namespace {

constexpr const char* page = "/en/user/device/";

/// A public client on a device.
template <class Sessions>
struct device_shop_of : oauth_shop<Sessions> {
    using oauth_shop<Sessions>::app, oauth_shop<Sessions>::post, oauth_shop<Sessions>::open, oauth_shop<Sessions>::submit;

    explicit device_shop_of(account_service_settings settings = test_oauth_settings()) : oauth_shop<Sessions>{std::move(settings)} {
        app = this->register_client("TV", std::nullopt, "https://app.example/", client_type::public_client);
        app.client_secret.clear();
    }

    http::response request(std::string scope = "sitesmaker:read,user:balance") {
        return post("/user/oauth_device/", {{"client_id", app.client_id}, {"scope", std::move(scope)}});
    }
    http::response poll(const http::response& requested) {
        return post("/user/oauth_token/", {{"client_id", app.client_id},
                                           {"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
                                           {"device_code", member(requested, "device_code")}});
    }
    http::response get(const std::string& target, std::string cookie = "site=ann") {
        return this->handle(test_request{method::get, target}.field("Cookie", std::move(cookie)));
    }
    http::response type_only(const std::string& code, const std::string& cookie = "site=ann") {
        return submit(with(hidden_fields(open({}, cookie, page)), {{"user_code", code}}), cookie, page);
    }
    /// The page that asks for a decision, which typing a right code redirects to.
    http::response type(const std::string& code, const std::string& cookie = "site=ann") {
        auto response = type_only(code, cookie);
        if (response.status() != status::see_other) return response;
        return get(std::string{response.find("Location")}, cookie);
    }
    http::response decide_only(const http::response& question, std::string decision, std::string cookie = "site=ann") {
        return submit(with(hidden_fields(question), {{"decision", std::move(decision)}}), cookie, page);
    }
    /// The page with the result, which the decision redirects to.
    http::response decide(const http::response& question, std::string decision, std::string cookie = "site=ann") {
        auto response = decide_only(question, std::move(decision), cookie);
        const std::string location{response.find("Location")};
        if (!location.starts_with(std::string{page} + "?result=")) return response;
        CHECK(response.status() == status::see_other);
        return this->handle(test_request{method::get, location}.field("Cookie", std::move(cookie)));
    }
    http::response submit_decision(const http::response& requested, std::string decision, std::string cookie = "site=ann") {
        return decide(type(member(requested, "user_code"), cookie), std::move(decision), cookie);
    }
};
using device_shop = device_shop_of<site_sessions>;

}  // namespace

TEST_CASE("codes that exist already are drawn again", "[oauth][device]") {
    device_shop shop;
    shop.store.faults.failure = error{error_kind::conflict, "This already exists or is in use.", {}};
    shop.store.faults.start(2);  // after the application
    CHECK(shop.request().status() == status::ok);
    CHECK(shop.store.faults.calls >= 3);
}

TEST_CASE("a device gets tokens after its user allows it", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    REQUIRE(requested.status() == status::ok);
    CHECK(requested.find("Cache-Control") == "no-store");
    CHECK(is_well_formed(secret_kind::device_code, member(requested, "device_code")));
    const auto code = member(requested, "user_code");
    CHECK(oauth::parse_user_code(code) == code);
    CHECK(member(requested, "verification_uri") == "https://shop.example/en/user/device/");
    CHECK(member(requested, "verification_uri_complete") == "https://shop.example/en/user/device/?user_code=" + code);
    CHECK(member(requested, "expires_in") == "600");
    CHECK(member(requested, "interval") == "5");
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    shop.now += seconds{5};

    const auto question = shop.type(code);
    REQUIRE(question.status() == status::ok);
    for (const char* text : {"Authorize TV?", "sitesmaker:read", "user:balance", "Continue only if you started it yourself",
                             "Any program can claim to be this application."})
        CHECK(has(question, text));
    CHECK(has(question, "<title>Authorize TV? - "));
    CHECK(has(question, "<p>Your device must show this code: <strong class=\"code\">" + code + "</strong></p>"));
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    CHECK(has(shop.decide(question, "allow"), "Device authorized"));
    shop.now += seconds{5};
    const auto tokens = shop.poll(requested);
    REQUIRE(tokens.status() == status::ok);
    CHECK(shop.accepts(member(tokens, "access_token")));
    CHECK(member(tokens, "scope") == "sitesmaker:read user:balance");
    CHECK(is_well_formed(secret_kind::refresh_token, member(tokens, "refresh_token")));
    CHECK((*testing::detail::granted_scopes(shop.store.rows, ann, shop.app.id)).has_value());

    shop.now += seconds{30};
    CHECK(member(shop.poll(requested), "error") == "invalid_grant");  // a code works once
    CHECK_FALSE(shop.accepts(member(tokens, "access_token")));
    CHECK(shop.observer.causes.empty());
}

TEST_CASE("a device learns that its user denied, and gets no result after expiry", "[oauth][device]") {
    device_shop shop;
    const auto denied = shop.request(), expired = shop.request(), late = shop.request();
    CHECK(has(shop.submit_decision(denied, "deny"), "Access denied"));
    CHECK(member(shop.poll(denied), "error") == "access_denied");
    CHECK(member(shop.poll(denied), "error") == "slow_down");
    CHECK_FALSE((*testing::detail::granted_scopes(shop.store.rows, ann, shop.app.id)).has_value());

    CHECK(has(shop.submit_decision(late, "allow"), "Device authorized"));
    shop.now += seconds{600};
    CHECK(member(shop.poll(expired), "error") == "expired_token");
    CHECK(shop.type(member(expired, "user_code")).status() == status::unprocessable_content);
    CHECK(member(shop.poll(late), "error") == "expired_token");
}

TEST_CASE("an expired device code stays expired for some minutes, whatever is swept", "[oauth][device]") {
    const bool is_approved = GENERATE(false, true);
    device_shop shop;
    const auto requested = shop.request();
    if (is_approved) CHECK(has(shop.decide(shop.type(member(requested, "user_code")), "allow"), "Device authorized"));
    for (const seconds wait : {seconds{600}, seconds{300}, seconds{299}}) {
        shop.now += wait;
        REQUIRE(shop.store.sweep({.expired_at = shop.now, .rows_max = 1000}));
        CHECK(member(shop.poll(requested), "error") == "expired_token");
    }
    shop.now += seconds{1};
    REQUIRE(shop.store.sweep({.expired_at = shop.now, .rows_max = 1000}));
    shop.now += seconds{5};
    CHECK(member(shop.poll(requested), "error") == "invalid_grant");
}

TEST_CASE("a device whose user approved at the last moment gets its tokens", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request(), late = shop.request();
    const auto question = shop.type(member(requested, "user_code")), late_question = shop.type(member(late, "user_code"));
    shop.now += seconds{600} - milliseconds{1};
    CHECK(has(shop.decide(question, "allow"), "Device authorized"));
    shop.now += seconds{10};
    REQUIRE(shop.store.sweep({.expired_at = shop.now, .rows_max = 1000}));
    CHECK(shop.poll(requested).status() == status::ok);
    CHECK_FALSE(has(shop.decide(late_question, "allow"), "Device authorized"));
}

TEST_CASE("a poll that is repeated because its response was lost revokes nothing", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    CHECK(has(shop.decide(shop.type(member(requested, "user_code")), "allow"), "Device authorized"));
    const auto issued = shop.poll(requested);
    REQUIRE(issued.status() == status::ok);
    shop.now += seconds{29};
    const auto repeated = shop.poll(requested);
    CHECK(member(repeated, "error") == "invalid_grant");
    CHECK(member(repeated, "error_description").find("a moment ago") != std::string::npos);
    CHECK(shop.accepts(member(issued, "access_token")));
    shop.now += seconds{5};
    CHECK(member(shop.poll(requested), "error") == "invalid_grant");
    CHECK_FALSE(shop.accepts(member(issued, "access_token")));
}

TEST_CASE("a device that polls too often gets slow_down", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request(), other = shop.request();
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    for (int i = 0; i < 3; ++i) {
        CHECK(member(shop.poll(requested), "error") == "slow_down");
        shop.now += seconds{1};
    }
    CHECK(member(shop.poll(other), "error") == "authorization_pending");
    shop.now += seconds{1};  // of the five seconds, one is tolerated for network delay
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
}

TEST_CASE("invalid device requests are refused", "[oauth][device]") {
    device_shop shop;
    const auto error_of = [&](const parameter_list& fields) { return member(shop.post("/user/oauth_device/", fields), "error"); };
    const parameter_list good{{"client_id", shop.app.client_id}, {"scope", "user:balance"}};
    CHECK(error_of(good).empty());
    CHECK(error_of(with(good, {{"scope", ""}})) == "invalid_request");
    CHECK(error_of(with(good, {{"scope", "user:fortune"}})) == "invalid_scope");
    CHECK(error_of(with(good, {{"client_id", "tgi_x"}})) == "invalid_client");
    const auto confidential = shop.register_client("App", "https://app.example/cb");
    CHECK(error_of({{"client_id", confidential.client_id}, {"scope", "user:balance"}}) == "invalid_client");
    CHECK(error_of({{"client_id", confidential.client_id}, {"client_secret", confidential.client_secret}, {"scope", "user:balance"}}).empty());
    const auto service = shop.register_client("Service", {}, "https://app.example/", client_type::resource_server);
    CHECK(error_of({{"client_id", service.client_id}, {"client_secret", service.client_secret}, {"scope", "user:balance"}}) ==
          "unauthorized_client");

    const auto requested = shop.request();
    CHECK(has(shop.type(member(requested, "user_code")), "Any program can claim to be this application."));
    shop.app = confidential;
    const auto proved = shop.post("/user/oauth_device/", with(good, {{"client_id", shop.app.client_id}, {"client_secret", shop.app.client_secret}}));
    CHECK(has(shop.type(member(proved, "user_code")), "Continue only if you started it yourself"));
    CHECK_FALSE(has(shop.type(member(proved, "user_code")), "Any program can claim to be this application."));
    const auto poll = [&](const std::string& code) {
        return member(shop.post("/user/oauth_token/", {{"client_id", shop.app.client_id},
                                                       {"client_secret", shop.app.client_secret},
                                                       {"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
                                                       {"device_code", code}}),
                      "error");
    };
    CHECK(poll(member(requested, "device_code")) == "invalid_grant");  // another application's
    CHECK(poll("tgd_x") == "invalid_grant");
    CHECK(poll("") == "invalid_request");
}

TEST_CASE("device codes are bounded per address", "[oauth][device][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.device_requests = {2, seconds{60}};
    device_shop shop{settings};
    for (int i = 0; i < 2; ++i) CHECK(shop.request().status() == status::ok);
    const auto refused = shop.request();
    CHECK(refused.status() == status::too_many_requests);
    CHECK(refused.find("Retry-After") == "60");
    shop.now += seconds{60};
    CHECK(shop.request().status() == status::ok);
}

TEST_CASE("device codes are bounded per IPv6 network", "[oauth][device][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.device_requests = {2, seconds{60}};
    settings.oauth.device_requests_of_site = {3, seconds{60}};
    settings.oauth.device_requests_of_network = {5, seconds{60}};
    device_shop shop{settings};
    const auto from = [&](std::string_view address) {
        const parameter_list fields{{"client_id", shop.app.client_id}, {"scope", "user:balance"}};
        test_request request{method::post, "/user/oauth_device/"};
        request.from(*ip_address::parse(address)).body(to_form(fields), "application/x-www-form-urlencoded");
        return shop.handle(request).status();
    };
    for (const auto& [address, expected] : std::vector<std::pair<std::string_view, status>>{
             {"2001:db8:1:100::1", status::ok},
             {"2001:db8:1:100::2", status::ok},
             {"2001:db8:1:100::3", status::too_many_requests},  // the /64; not counted for the others
             {"2001:db8:1:1ff::1", status::ok},
             {"2001:db8:1:101::1", status::too_many_requests},  // the /56
             {"2001:db8:1:200::1", status::ok},
             {"2001:db8:1:000::1", status::ok},
             {"2001:db8:1:300::1", status::too_many_requests},  // the /48
             {"2001:db8:2:300::1", status::ok},
             {"203.0.113.1", status::ok},
             {"203.0.113.1", status::ok},
             {"203.0.113.1", status::too_many_requests},
             {"203.0.113.2", status::ok},
             {"203.0.113.3", status::ok},
             {"203.0.113.4", status::ok},
             {"203.0.113.5", status::ok},  // each IPv4 address is a separate client
         }) {
        CAPTURE(address);
        CHECK(from(address) == expected);
    }
}

TEST_CASE("wrong user codes are bounded per user", "[oauth][device][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.user_code_attempts = {3, seconds{600}};
    device_shop shop{settings};
    const auto code = member(shop.request(), "user_code");
    // No valid code, so not counted as a guess. What is too long is not shown again.
    CHECK(shop.type("nonsense").status() == status::unprocessable_content);
    const auto too_long = shop.type(code + std::string(60, '-'));
    CHECK(too_long.status() == status::unprocessable_content);
    CHECK_FALSE(has(too_long, code));
    for (int i = 0; i < 3; ++i) {
        const auto wrong = shop.type("BBBB-BBBB");
        CHECK(wrong.status() == status::unprocessable_content);
        CHECK(has(wrong, "This code is wrong, has expired or was already used"));
    }
    const auto refused = shop.type(code);
    CHECK(refused.status() == status::too_many_requests);
    CHECK(refused.find("Retry-After") == "600");
    CHECK(has(refused, "Try again in 10 minutes"));
    CHECK(shop.type(code, "site=bob").status() == status::ok);
    shop.now += seconds{600};
    CHECK(shop.type(member(shop.request(), "user_code")).status() == status::ok);
}

TEST_CASE("a device code is decided once, by the user who saw the question", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    const auto question = shop.type(member(requested, "user_code"));
    CHECK(shop.decide(question, "allow", "site=bob").status() == status::forbidden);
    CHECK(shop.submit(with(hidden_fields(question), {{"decision", "allow"}, {"user_code", member(shop.request(), "user_code")}}),
                      "site=ann", page)
              .status() == status::forbidden);
    const auto first_form = hidden_fields(shop.open({}, "site=ann", page));
    CHECK(shop.submit(with(first_form, {{"user_code", member(requested, "user_code")}, {"decision", "allow"}}), "site=ann", page)
              .status() == status::forbidden);  // the user has not seen the question
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    CHECK(has(shop.decide(question, "allow"), "Device authorized"));
    const auto second = shop.decide(question, "deny");
    CHECK(second.status() == status::ok);
    CHECK(has(second, "You already authorized this device, so your last decision had no effect."));
    shop.now += seconds{5};
    CHECK(shop.poll(requested).status() == status::ok);
}

TEST_CASE("a decision that is sent again has the same result, on a page that can be reloaded", "[oauth][device]") {
    for (const auto& [decision, opposite, text] : {std::tuple{"allow", "deny", "The device has access to the account of ann."},
                                                   std::tuple{"deny", "allow", "The device did not get access to your account."}}) {
        CAPTURE(decision);
        device_shop shop;
        const auto requested = shop.request();
        const auto question = shop.type(member(requested, "user_code"));
        const auto posted = shop.decide_only(question, decision);
        CHECK(posted.status() == status::see_other);
        const std::string location{posted.find("Location")};
        const auto get = [&](const std::string& target, const char* cookie) { return shop.get(target, cookie); };
        for (int i = 0; i < 2; ++i) CHECK(has(get(location, "site=ann"), text));
        CHECK(has(get(location, "site=ann"), "href=\"/de" + location.substr(3) + "\""));  // in another language
        CHECK(has(get("/de" + location.substr(3), "site=ann"), decision == std::string{"allow"} ? "auf das Konto von ann" : "Zugriff abgelehnt"));
        for (int i = 0; i < 2; ++i) CHECK(has(shop.decide(question, decision), text));
        CHECK(has(shop.decide(question, opposite), "so your last decision had no effect."));
        // Others, and the same user later, see the form.
        for (const auto& other : {get(location, "site=bob"), get(location + "x", "site=ann"), get(std::string{page} + "?result=", "site=ann")})
            CHECK(has(other, "Enter the code that your device shows."));
        shop.now += seconds{300};
        CHECK(has(get(location, "site=ann"), "Enter the code that your device shows."));
        CHECK((*testing::detail::granted_scopes(shop.store.rows, ann, shop.app.id)).has_value() == (std::string{decision} == "allow"));
    }
}

TEST_CASE("the page that asks for a decision can be requested again, by the session that typed the code", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    const auto code = member(requested, "user_code");
    const auto typed = shop.type_only(code);
    CHECK(typed.status() == status::see_other);
    const std::string location{typed.find("Location")};
    REQUIRE(location.starts_with(std::string{page} + "?user_code=" + code + "&request="));
    const auto form = [&](const http::response& response) {
        return response.status() == status::ok && has(response, "Enter the code that your device shows.");
    };
    for (int i = 0; i < 2; ++i) CHECK(has(shop.get(location), "Authorize TV?"));
    CHECK(has(shop.get(location), "href=\"/de/user/device/?user_code=" + code + "&amp;request="));
    CHECK(has(shop.get("/de" + location.substr(3)), "TV autorisieren?"));
    // No link leads past typing the code.
    const auto sealed = location.substr(location.rfind('=') + 1);
    for (const auto& other : {shop.get(location, "site=bob"), shop.get(location + "x"), shop.get(std::string{page} + "?request=" + code)})
        CHECK(form(other));
    CHECK(has(shop.get(location, "site=bob"), "value=\"" + code + "\""));

    // After the decision, going back shows its result.
    const auto question = shop.get(location);
    CHECK(has(shop.decide(question, "allow"), "Device authorized"));
    CHECK(has(shop.get(location), "The device has access to the account of ann."));
    CHECK(shop.get(location).status() == status::ok);
    shop.now += seconds{300};
    CHECK(form(shop.get(location)));

    const auto second = shop.type_only(member(shop.request(), "user_code"));
    shop.now += seconds{299};
    CHECK(has(shop.get(std::string{second.find("Location")}), "Authorize TV?"));
}

TEST_CASE("the page of a request that another user answered, or that expired, says so", "[oauth][device]") {
    auto settings = test_oauth_settings();
    device_shop shop{settings};
    const auto code = member(shop.request(), "user_code");
    const std::string anns{shop.type_only(code).find("Location")};
    CHECK(has(shop.decide(shop.type(code, "site=bob"), "deny", "site=bob"), "The device did not get access"));
    CHECK(has(shop.get(anns), "<h1>Answered by another user</h1>"));
    shop.now += seconds{400};
    const auto late = member(shop.request(), "user_code");
    shop.now += seconds{599};
    const std::string typed{shop.type_only(late).find("Location")};
    CHECK(has(shop.get(typed), "Authorize TV?"));
    shop.now += seconds{1};
    CHECK(has(shop.get(typed), "This code is wrong, has expired or was already used"));
}

TEST_CASE("another user who is signed in now is named, and decides anew", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    const auto code = member(requested, "user_code");
    const auto form = shop.open({}, "site=ann", page);
    const auto question = shop.type(code);
    const auto typed = shop.submit(with(hidden_fields(form), {{"user_code", code}}), "site=bob", page);
    const auto decided = shop.decide(question, "allow", "site=bob");
    for (const auto* each : {&typed, &decided}) {
        CHECK(each->status() == status::forbidden);
        CHECK(has(*each, "You are signed in as bob now. The form was loaded while another user was signed in, so nothing was changed."));
    }
    CHECK_FALSE(has(typed, code));
    CHECK(has(decided, "You are signed in as bob."));
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    CHECK(has(shop.decide(decided, "allow", "site=bob"), "The device has access to the account of bob."));
}

TEST_CASE("of two users who decide on one request, the second learns that another one answered", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    const auto code = member(requested, "user_code");
    const auto anns = shop.type(code), bobs = shop.type(code, "site=bob");
    CHECK(has(shop.decide(anns, "allow"), "The device has access to the account of ann."));
    for (const char* decision : {"allow", "deny"}) {
        const auto second = shop.decide(bobs, decision, "site=bob");
        CHECK(has(second, "<h1>Answered by another user</h1>"));
        CHECK_FALSE(has(second, "account of ann"));
    }
    CHECK((*testing::detail::granted_scopes(shop.store.rows, ann, shop.app.id)).has_value());
    CHECK_FALSE((*testing::detail::granted_scopes(shop.store.rows, bob, shop.app.id)).has_value());
    shop.now += seconds{5};
    const auto tokens = shop.poll(requested);
    CHECK(tokens.status() == status::ok);
    const auto access = *shop.store.rows.find_credential(access_token_key{digest_of(member(tokens, "access_token"))});
    REQUIRE(access);
    CHECK(access->user == ann);
}

TEST_CASE("a form of a session that was replaced is shown again, and counts as typing the code", "[oauth][device][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.user_code_attempts = {1, seconds{600}};
    device_shop shop{settings};
    const auto requested = shop.request();
    const auto code = member(requested, "user_code");
    const auto form = shop.open({}, "site=ann", page);
    const auto question = shop.type(code);
    shop.sessions.known.at("site=ann").secret = "another secret";

    const auto typed_again = shop.submit(with(hidden_fields(form), {{"user_code", code}}), "site=ann", page);
    CHECK(typed_again.status() == status::forbidden);
    CHECK(has(typed_again, "You signed in again after this form was loaded"));
    CHECK(has(typed_again, "value=\"" + code + "\""));
    for (const char* decision : {"allow", "deny", "other_user"}) {
        const auto shown_again = shop.decide(question, decision);
        CHECK(shown_again.status() == status::forbidden);
        CHECK(has(shown_again, "You signed in again after this form was loaded"));
        CHECK(has(shown_again, "Authorize TV?"));
    }
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    const parameter_list guess{{"form_token", "x"}, {"user_code", "BBBB-BBBB"}, {"decision", "allow"}};
    CHECK(shop.submit(guess, "site=ann", page).status() == status::unprocessable_content);
    CHECK(shop.submit(guess, "site=ann", page).status() == status::too_many_requests);
    shop.now += seconds{600};
    const auto next = shop.type(member(shop.request(), "user_code"));
    CHECK(has(shop.decide(next, "allow"), "Device authorized"));
}

namespace {

struct sessions_of_active_owners : site_sessions {
    bool owner_active = true;
    result<bool> is_active(user_id user) const { return user != bob || owner_active; }
};

}  // namespace

TEST_CASE("a device of an application that is suspended, or whose owner is inactive, is not approved", "[oauth][device][suspension]") {
    for (const bool by_operator : {true, false}) {
        CAPTURE(by_operator);
        device_shop_of<sessions_of_active_owners> shop;
        const auto requested = shop.request(), denied = shop.request();
        const auto question = shop.type(member(requested, "user_code")), other = shop.type(member(denied, "user_code"));
        const auto stop = [&](bool stops) {
            if (!by_operator) shop.sessions.owner_active = !stops;
            else REQUIRE(*shop.store.rows.change_application({}, shop.app.id, suspension_change{stops ? std::optional{suspension::by_operator} : std::nullopt}));
        };
        stop(true);
        const auto refused = shop.decide(question, "allow");
        CHECK(refused.status() == status::bad_request);
        CHECK(has(refused, "Application suspended"));
        CHECK_FALSE((*testing::detail::granted_scopes(shop.store.rows, ann, shop.app.id)).has_value());
        CHECK(has(shop.decide(other, "deny"), "Access denied"));
        stop(false);
        CHECK(has(shop.decide(question, "allow"), "Device authorized"));
        stop(true);
        CHECK(has(shop.decide(question, "allow"), "Device authorized"));  // as decided before
    }
}

TEST_CASE("a decision on a request that has expired meanwhile is not called a second one", "[oauth][device]") {
    device_shop shop;
    const auto question = shop.type(member(shop.request(), "user_code"));
    shop.now += seconds{601};
    REQUIRE(shop.store.sweep({.expired_at = shop.now, .rows_max = 100}));
    const auto late = shop.decide(question, "allow");
    CHECK(late.status() == status::unprocessable_content);
    CHECK(has(late, "This code is wrong, has expired or was already used"));
}

TEST_CASE("a decision that is sent again does not count as a wrong code", "[oauth][device][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.user_code_attempts = {1, seconds{600}};
    device_shop shop{settings};
    const auto question = shop.type(member(shop.request(), "user_code"));
    CHECK(has(shop.decide(question, "allow"), "Device authorized"));
    for (int i = 0; i < 3; ++i) CHECK(has(shop.decide(question, "allow"), "Device authorized"));
    CHECK(shop.type(member(shop.request(), "user_code")).status() == status::ok);
    for (const status expected : {status::unprocessable_content, status::too_many_requests})
        CHECK(shop.type("BBBB-BBBB").status() == expected);
}

TEST_CASE("another application's poll does not delay the device, nor the device's poll its refusal", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    const auto other = shop.register_client("App", "https://app.example/cb");
    const auto poll_of_other = [&] {
        return member(shop.post("/user/oauth_token/", {{"client_id", other.client_id},
                                                       {"client_secret", other.client_secret},
                                                       {"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
                                                       {"device_code", member(requested, "device_code")}}),
                      "error");
    };
    CHECK(poll_of_other() == "invalid_grant");
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    shop.now += seconds{5};
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    CHECK(poll_of_other() == "invalid_grant");
}

TEST_CASE("a user who is not signed in signs in first and keeps the code", "[oauth][device]") {
    device_shop shop;
    const auto led = shop.open({{"user_code", "bcdfghjk"}}, "", page);
    CHECK(led.status() == status::see_other);
    CHECK(has(shop.open({{"user_code", "BCDF-GHJK"}}, "site=ann", page), "value=\"BCDF-GHJK\""));
    CHECK(std::string{led.find("Location")}.find("BCDF-GHJK") != std::string::npos);
    CHECK(shop.submit({{"user_code", "BCDF-GHJK"}}, "site=ann", page).status() == status::forbidden);
    CHECK(shop.handle(test_request{method::delete_, page}).status() == status::method_not_allowed);
}

TEST_CASE("the page of a code keeps it in other languages, and a text that is no code is dropped", "[oauth][device]") {
    device_shop shop;
    CHECK(has(shop.open({{"user_code", "bcdfghjk"}}, "site=ann", page), "href=\"/de/user/device/?user_code=BCDF-GHJK\""));
    CHECK(has(shop.open({{"user_code", "\"><b>"}}, "site=ann", page), "href=\"/de/user/device/\""));
}

TEST_CASE("another user signs out and returns to the same code", "[oauth][device]") {
    device_shop_of<entering_sessions> shop;
    const auto requested = shop.request();
    const auto question = shop.type(member(requested, "user_code"));
    CHECK(has(question, "name=\"decision\" value=\"other_user\">Not you?</button>"));
    CHECK(shop.submit(with(hidden_fields(question), {{"decision", "other_user"}, {"form_token", "x"}}), "site=ann", page).status() ==
          status::forbidden);
    CHECK(shop.sessions.signed_out == 0);
    const auto redirect = shop.decide(question, "other_user");
    CHECK(redirect.status() == status::see_other);
    CHECK(sign_in_target(redirect) == std::string{page} + "?user_code=" + member(requested, "user_code"));
    CHECK(shop.sessions.signed_out == 1);
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");

    // It is not offered where the page cannot sign out.
    device_shop other;
    const auto without = other.type(member(other.request(), "user_code"));
    CHECK_FALSE(has(without, "other_user"));
    CHECK(other.decide(without, "other_user").status() == status::bad_request);
}

TEST_CASE("a store failure is shown on the page, and a retry succeeds", "[oauth][device]") {
    device_shop shop;
    const auto requested = shop.request();
    const auto question = shop.type(member(requested, "user_code"));
    shop.store.faults.start(3);  // after the session and the request
    CHECK(shop.decide(question, "allow").status() == status::service_unavailable);
    CHECK(member(shop.poll(requested), "error") == "authorization_pending");
    CHECK(has(shop.decide(question, "allow"), "Device authorized"));
    shop.now += seconds{5};
    CHECK(shop.poll(requested).status() == status::ok);
}
