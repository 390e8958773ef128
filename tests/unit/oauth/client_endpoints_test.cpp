#include <tollgate/oauth/detail/client_endpoints.hpp>

#include <support/oauth_shop.hpp>

#include <tollgate/testing/detail/granting.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

namespace {

constexpr const char* token = "/user/oauth_token/";
constexpr const char* revocation_path = "/user/oauth_revoke/";
constexpr const char* verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
constexpr const char* challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// With a public client as the application.
struct public_shop : oauth_shop<> {
    explicit public_shop(account_service_settings settings = test_oauth_settings()) : oauth_shop{std::move(settings)} {
        app = register_client("App", "http://127.0.0.1/cb", "https://app.example/", client_type::public_client);
        app.client_secret.clear();
    }

    parameter_list parameters_with_challenge() const {
        return with(parameters(), {{"redirect_uri", "http://127.0.0.1:49152/cb"},
                                   {"code_challenge", challenge},
                                   {"code_challenge_method", "S256"}});
    }
    http::response exchange() {
        return post(token, with(exchange_of(make_code(challenge)), {{"code_verifier", verifier}}));
    }
    std::string refreshed(const std::string& with_token) { return member(post(token, refresh_of(with_token)), "refresh_token"); }
    bool is_granted() { return (*testing::detail::granted_scopes(store.rows, ann, app.id)).has_value(); }
};

void check_error(const http::response& response, status expected, std::string_view error) {
    CHECK(response.status() == expected);
    CHECK(member(response, "error") == error);
    CHECK_FALSE(has_member(response, "access_token"));
}

}  // namespace

TEST_CASE("a public client must send a code challenge", "[oauth][public]") {
    public_shop shop;
    const auto refused = shop.open(with(shop.parameters(), {{"redirect_uri", "http://127.0.0.1:49152/cb"}}));
    CHECK(returned(refused, "error") == "invalid_request");
    CHECK(returned(refused, "state") == "xyz");
    CHECK_FALSE(shop.consent(shop.parameters_with_challenge()).empty());
}

TEST_CASE("a public client's users see the consent page each time, with the reason", "[oauth][public]") {
    public_shop shop;
    const auto exact = with(shop.parameters_with_challenge(), {{"redirect_uri", "http://127.0.0.1/cb"}});
    for (int i = 0; i < 2; ++i) {
        CHECK_FALSE(shop.consent(exact).empty());
        const auto page = shop.open(exact);
        CHECK(page.status() == status::ok);
        CHECK(page.body().find("Any program can claim to be this application") != std::string::npos);
    }
    oauth_shop<> confidential;
    CHECK(confidential.open(confidential.parameters()).body().find("Any program can claim") == std::string::npos);
}

TEST_CASE("a public client may use its registered redirect URLs only", "[oauth][public]") {
    public_shop shop;
    for (const char* other : {"http://127.0.0.1/other", "https://app.example/", "http://localhost/cb"})
        CHECK(shop.open(with(shop.parameters_with_challenge(), {{"redirect_uri", other}})).status() == status::bad_request);
    shop.app = shop.register_client("Device", std::nullopt, "https://app.example/", client_type::public_client);
    CHECK(shop.open(with(shop.parameters_with_challenge(), {{"redirect_uri", "https://app.example/"}})).status() == status::bad_request);
}

TEST_CASE("a resource server cannot request authorization", "[oauth]") {
    oauth_shop<> shop;
    shop.app = shop.register_client("Service", "https://app.example/cb", "https://app.example/", client_type::resource_server);
    CHECK(shop.open(shop.parameters()).status() == status::bad_request);
}

TEST_CASE("a public client sends its client_id and no secret", "[oauth][public]") {
    public_shop shop;
    const auto fields = [&] { return with(shop.exchange_of(shop.make_code(challenge)), {{"code_verifier", verifier}}); };
    CHECK(shop.post(token, fields()).status() == status::ok);
    CHECK(shop.handle(test_request{method::post, token}
                          .field("Authorization", "Basic " + tollgate::detail::base64_encode(shop.app.client_id + ":"))
                          .body(to_form(with(fields(), {{"client_id", ""}})), "application/x-www-form-urlencoded"))
              .status() == status::ok);
    const oauth_shop<> other;
    for (const std::string& secret : {other.app.client_secret, std::string{"x"}})
        check_error(shop.post(token, with(fields(), {{"client_secret", secret}})), status::unauthorized, "invalid_client");
    check_error(shop.post(token, with(fields(), {{"code_verifier", ""}})), status::bad_request, "invalid_grant");
    check_error(shop.post(token, with(fields(), {{"code_verifier", std::string(43, 'a')}})), status::bad_request, "invalid_grant");

    oauth_shop<> confidential;
    check_error(confidential.post(token, with(confidential.exchange_of(confidential.make_code()), {{"client_secret", ""}})),
                status::unauthorized, "invalid_client");
    CHECK(confidential.observer.causes.empty());
}

TEST_CASE("a public client's refresh tokens are replaced, and a lost response is repeated", "[oauth][public]") {
    public_shop shop;
    const auto first = shop.exchange();
    const auto one = member(first, "refresh_token");
    shop.now += seconds{100};
    const auto second = shop.post(token, shop.refresh_of(one));
    REQUIRE(second.status() == status::ok);
    const auto two = member(second, "refresh_token");
    CHECK(is_well_formed(secret_kind::refresh_token, two));
    CHECK(two != one);
    CHECK(family_of(two) == family_of(one));
    shop.now += seconds{29};
    const auto again = shop.post(token, shop.refresh_of(one));
    CHECK(member(again, "refresh_token") == two);
    CHECK(member(again, "access_token") != member(second, "access_token"));
    for (const auto* response : {&first, &second, &again}) CHECK(shop.accepts(member(*response, "access_token")));
    const auto three = shop.refreshed(two);
    CHECK(three != two);
    CHECK(shop.refreshed(three) != three);
    CHECK(shop.is_granted());
}

TEST_CASE("reuse of a replaced refresh token revokes the grant", "[oauth][public]") {
    public_shop shop;
    const auto other_grant = member(shop.exchange(), "access_token");
    const auto first = shop.exchange();
    const auto one = member(first, "refresh_token");
    const auto second = shop.post(token, shop.refresh_of(one));
    const auto two = member(second, "refresh_token");
    SECTION("after the grace period") { shop.now += seconds{30}; }
    SECTION("after its successor was replaced") { REQUIRE_FALSE(shop.refreshed(two).empty()); }
    CHECK(shop.is_granted());
    check_error(shop.post(token, shop.refresh_of(one)), status::bad_request, "invalid_grant");
    CHECK_FALSE(shop.is_granted());
    for (const auto& revoked : {other_grant, member(first, "access_token"),
                                member(second, "access_token")}) CHECK_FALSE(shop.accepts(revoked));
    check_error(shop.post(token, shop.refresh_of(two)), status::bad_request, "invalid_grant");
    CHECK(shop.observer.causes.empty());
}

TEST_CASE("the replacement of all refresh tokens and the grace period are settings", "[oauth][public]") {
    auto settings = test_oauth_settings();
    settings.oauth.rotates_all_refresh_tokens = true;
    settings.oauth.rotation_grace = seconds{5};
    oauth_shop<> shop{settings};
    const auto one = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    const auto two = member(shop.post(token, shop.refresh_of(one)), "refresh_token");
    CHECK(is_well_formed(secret_kind::refresh_token, two));
    shop.now += seconds{4};
    CHECK(member(shop.post(token, shop.refresh_of(one)), "refresh_token") == two);
    shop.now += seconds{1};
    check_error(shop.post(token, shop.refresh_of(one)), status::bad_request, "invalid_grant");

    oauth_shop<> usual;
    const auto refresh = usual.refresh_of(member(usual.post(token, usual.exchange_of(usual.make_code())), "refresh_token"));
    for (int i = 0; i < 2; ++i) CHECK_FALSE(has_member(usual.post(token, refresh), "refresh_token"));
}

TEST_CASE("a public client revokes its tokens with its client_id, also with an old refresh token", "[oauth][public]") {
    public_shop shop;
    const auto revoke = [&](const std::string& value) {
        return shop.post(revocation_path, {{"client_id", shop.app.client_id}, {"token", value}}).status() == status::ok;
    };
    const auto access = member(shop.exchange(), "access_token");
    CHECK(revoke(access));
    CHECK_FALSE(shop.accepts(access));

    const auto one = member(shop.exchange(), "refresh_token");
    const auto two = shop.refreshed(one);
    CHECK(revoke(one));
    check_error(shop.post(token, shop.refresh_of(two)), status::bad_request, "invalid_grant");
    CHECK(shop.is_granted());

    const auto other = shop.register_client("Other", "https://other.example/cb");
    const auto own_access = member(shop.exchange(), "access_token");
    check_error(shop.post(revocation_path, {{"client_id", other.client_id}, {"token", own_access}}), status::unauthorized, "invalid_client");
    CHECK(shop.accepts(own_access));
}

TEST_CASE("requests that anyone can send do not use up the limits of a public client", "[oauth][public][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.refreshes = settings.oauth.refreshes_of_client = {2, seconds{60}};
    public_shop shop{std::move(settings)};
    const auto refresh_token = member(shop.exchange(), "refresh_token");
    for (const auto& [name, value] : {std::pair{"grant_type", "client_credentials"}, {"refresh_token", "x"},
                                      {"refresh_token", "tgr_000000000000000000000000000000000000000000000000000"}})
        for (int i = 0; i < 3; ++i)
            CHECK(shop.post(token, with(shop.refresh_of("x"), {{"scope", "user:balance"}, {name, value}})).status() == status::bad_request);
    CHECK(shop.post(token, shop.refresh_of(refresh_token)).status() == status::ok);
}

TEST_CASE("a refresh of a deleted public client is an invalid grant", "[oauth][public]") {
    public_shop shop;
    const auto refresh = shop.refresh_of(member(shop.exchange(), "refresh_token"));
    REQUIRE(*shop.store.delete_application(bob, shop.app.id));
    check_error(shop.post(token, refresh), status::bad_request, "invalid_grant");
}

TEST_CASE("both of two secrets are valid, and an application without a secret has none", "[oauth]") {
    oauth_shop<> shop;
    const auto status_with = [&](std::string_view secret) {
        return shop.post(revocation_path, {{"client_id", shop.app.client_id}, {"client_secret", std::string{secret}}, {"token", "x"}}).status();
    };
    const auto old_secret = shop.app.client_secret;
    const auto new_secret = *tollgate::new_secret(secret_kind::client_secret, shared_random{&shop.entropy, &shop.random_works});
    CHECK(status_with(new_secret) == status::unauthorized);
    REQUIRE(*shop.store.change_application(bob, shop.app.id, client_secret_addition{digest_of(new_secret)}));
    for (const auto& secret : {old_secret, std::string{new_secret.view()}}) CHECK(status_with(secret) == status::ok);
    REQUIRE(*shop.store.change_application(bob, shop.app.id, older_secret_removal{}));
    CHECK(status_with(old_secret) == status::unauthorized);
    CHECK(status_with(new_secret) == status::ok);
}

TEST_CASE("missing and misplaced credentials are named and not counted", "[oauth][limits]") {
    oauth_shop<> shop;
    const auto device = shop.register_client("TV", std::nullopt, "https://app.example/", client_type::public_client);
    const auto code = shop.exchange_of(shop.make_code());
    const std::string form_type = "application/x-www-form-urlencoded", form = to_form(code);
    const std::string json = R"({"grant_type":"refresh_token","client_id":")" + shop.app.client_id + R"(","refresh_token":"x"})";
    const auto basic = [](const std::string& text) { return "Basic " + tollgate::detail::base64_encode(text); };
    struct row {
        const char* query;
        const char* authorization;
        std::string body;
        status expected;
        const char* error;
        const char* description;
    };
    const std::string broken_basic = basic(shop.app.client_id), no_base64 = "Basic !", no_id = basic(":" + shop.app.client_secret);
    const std::string right_basic = basic(shop.app.client_id + ":" + shop.app.client_secret);
    for (const row& each :
         {row{"", "", json, status::bad_request, "invalid_request", "The body is JSON"},
          row{"", "", "\t" + json, status::bad_request, "invalid_request", "The body is JSON"},
          row{"", right_basic.c_str(), json, status::bad_request, "invalid_request", "The body is JSON"},
          row{"?client_id=x&client_secret=y", "", "", status::bad_request, "invalid_request", "in the body, not in the query"},
          row{"?client_id=x", "", "grant_type=refresh_token", status::bad_request, "invalid_request", "in the body, not in the query"},
          row{"", "", "", status::bad_request, "invalid_request", "The body is empty"},
          row{"", "", "&", status::bad_request, "invalid_request", "client_id is missing"},
          row{"", no_id.c_str(), "", status::bad_request, "invalid_request", "client_id is missing"},
          row{"", "", "client_secret=" + shop.app.client_secret, status::bad_request, "invalid_request", "client_id is missing"},
          row{"", "", "client_id=" + shop.app.client_id, status::unauthorized, "invalid_client", "client_secret is missing"},
          row{"", "", "client_id=tgi_nobody", status::unauthorized, "invalid_client", "no application with this client_id"},
          row{"", "", "client_id=" + device.client_id + "&client_secret=x", status::unauthorized, "invalid_client", "Omit client_secret"},
          row{"", "Bearer x", form, status::bad_request, "invalid_request", "must use Basic"},
          row{"", "", form + "&client_id=x", status::bad_request, "invalid_request", "more than once"},
          row{"", broken_basic.c_str(), form, status::unauthorized, "invalid_client", "a colon and client_secret"},
          row{"", no_base64.c_str(), form, status::unauthorized, "invalid_client", "a colon and client_secret"}}) {
        CAPTURE(each.query, each.authorization, each.body);
        for (const char* path : {token, revocation_path, "/user/oauth_introspect/", "/user/oauth_device/"}) {
            const auto target = std::string{path} + each.query;
            test_request request{method::post, target};
            if (*each.authorization != '\0') request.field("Authorization", each.authorization);
            const auto response = shop.handle(request.body(each.body, form_type));
            check_error(response, each.expected, each.error);
            CHECK(member(response, "error_description").find(each.description) != std::string::npos);
            CHECK(response.find("X-RateLimit-Remaining") == "60");
            const bool is_challenged = each.expected == status::unauthorized && *each.authorization != '\0';
            CHECK(response.find("WWW-Authenticate").empty() != is_challenged);
        }
    }
    // What tests a secret is counted.
    for (const auto& changes : std::vector<parameter_list>{{{"client_secret", "x"}}, {{"client_id", "tgi_nobody"}}})
        check_error(shop.post(token, with(code, changes)), status::unauthorized, "invalid_client");
    CHECK(shop.post(token, code).find("X-RateLimit-Remaining") == "58");
}

TEST_CASE("a public client cannot introspect tokens, which is not counted", "[oauth][introspection]") {
    public_shop shop;
    const auto refused = shop.post("/user/oauth_introspect/", {{"client_id", shop.app.client_id}, {"token", "x"}});
    check_error(refused, status::unauthorized, "invalid_client");
    CHECK(refused.find("X-RateLimit-Remaining") == "60");
}

TEST_CASE("a refresh may ask for a scope that a granted scope covers", "[oauth][token][refresh]") {
    const bool rotates = GENERATE(false, true);
    auto settings = test_oauth_settings();
    settings.oauth.rotates_all_refresh_tokens = rotates;
    oauth_shop<> shop{std::move(settings)};
    const auto code = shop.make_code(std::nullopt, "sitesmaker user:balance");
    auto refresh_token = member(shop.post(token, shop.exchange_of(code)), "refresh_token");
    const auto refreshed = [&](const char* scope) {
        auto response = shop.post(token, with(shop.refresh_of(refresh_token), {{"scope", scope}}));
        if (has_member(response, "refresh_token")) refresh_token = member(response, "refresh_token");
        return response;
    };
    CHECK(member(refreshed("sitesmaker:read"), "scope") == "sitesmaker:read");
    CHECK(member(refreshed("user:balance,sitesmaker:read"), "scope") == "user:balance sitesmaker:read");
    CHECK(member(refreshed("sitesmaker"), "scope") == "sitesmaker");
    // Not covered, and covered by name only, but unknown to the service.
    for (const char* scope : {"itemplatform:read", "sitesmaker:read itemplatform", "sitesmaker:nothing", "user", "sitesmaker:"})
        check_error(refreshed(scope), status::bad_request, "invalid_scope");
    CHECK(member(refreshed(""), "scope") == "sitesmaker user:balance");
}

namespace {

struct sessions_of_active_users : site_sessions {
    result<bool> active = true, owner_active = true;
    result<bool> is_active(user_id user) const { return user == bob ? owner_active : active; }
};

}  // namespace

TEST_CASE("an inactive user gets no tokens", "[oauth][token]") {
    oauth_shop<sessions_of_active_users> shop;
    const auto refresh = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    REQUIRE(is_well_formed(secret_kind::refresh_token, refresh));
    const auto code = shop.make_code();
    shop.sessions.active = false;
    for (const auto& fields : {shop.refresh_of(refresh), shop.exchange_of(code)}) {
        const auto refused = shop.post(token, fields);
        CHECK(refused.status() == status::bad_request);
        CHECK(member(refused, "error") == "invalid_grant");
        CHECK(refused.body().find("tga_") == std::string::npos);
    }
    shop.sessions.active = unavailable("the users' database");
    CHECK(shop.post(token, shop.refresh_of(refresh)).status() == status::service_unavailable);
    CHECK(shop.post(token, shop.exchange_of(shop.make_code())).status() == status::ok);
    shop.sessions.active = true;
    CHECK(shop.post(token, shop.refresh_of(refresh)).status() == status::ok);
    CHECK(shop.post(token, shop.exchange_of(shop.make_code())).status() == status::ok);
}

TEST_CASE("an inactive user gets no tokens for a refresh token that was replaced", "[oauth][token][refresh]") {
    auto settings = test_oauth_settings();
    settings.oauth.rotates_all_refresh_tokens = true;
    settings.oauth.refreshes = {4, seconds{60}};
    oauth_shop<sessions_of_active_users> shop{std::move(settings)};
    const auto replaced = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    const auto status = [&] { return shop.post(token, shop.refresh_of(replaced)).status(); };
    CHECK(status() == http::status::ok);
    CHECK(status() == http::status::ok);  // its grace period
    shop.sessions.active = false;
    CHECK(status() == http::status::bad_request);
    shop.sessions.active = true;
    CHECK(status() == http::status::ok);
    CHECK(status() == http::status::too_many_requests);  // all of them are counted
}

TEST_CASE("invalid codes and tokens of a public client count against the address", "[oauth][token][limits]") {
    auto settings = test_oauth_settings();
    settings.anonymous_quota = {3, std::chrono::hours{1}};
    oauth_shop<> shop{settings};
    const auto confidential = shop.app;
    const auto public_client = shop.register_client("TV", "https://app.example/cb", "https://app.example/", client_type::public_client);
    const auto fields = [&](const registered_client& by, const char* grant_type, const char* name, std::string value) {
        parameter_list all{{"client_id", by.client_id}, {"grant_type", grant_type}, {name, std::move(value)}};
        if (!by.client_secret.empty() && by.id == confidential.id) all.emplace_back("client_secret", by.client_secret);
        return all;
    };
    const std::string code = "tgc_nonsense", refresh = "tgr_nonsense";
    for (int i = 0; i < 9; ++i)
        check_error(shop.post(token, fields(confidential, "authorization_code", "code", code)), status::bad_request, "invalid_grant");
    check_error(shop.post(token, fields(public_client, "authorization_code", "code", "")), status::bad_request, "invalid_request");
    check_error(shop.post(token, fields(public_client, "authorization_code", "code", code)), status::bad_request, "invalid_grant");
    check_error(shop.post(token, fields(public_client, "refresh_token", "refresh_token", refresh)), status::bad_request, "invalid_grant");
    const auto last = shop.post(token, fields(public_client, "authorization_code", "code", code));
    check_error(last, status::bad_request, "invalid_grant");
    CHECK(last.find("X-RateLimit-Remaining") == "0");
    const auto refused = shop.post(token, fields(public_client, "refresh_token", "refresh_token", refresh));
    check_error(refused, status::too_many_requests, "invalid_grant");
    CHECK(refused.find("Retry-After") == "3600");
    // A valid code is never refused.
    shop.app = public_client;
    const std::string verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    auto exchange = fields(public_client, "authorization_code", "code", shop.make_code(challenge));
    exchange.emplace_back("code_verifier", verifier);
    CHECK(shop.post(token, exchange).status() == status::ok);
    check_error(shop.post(token, fields(confidential, "authorization_code", "code", code)), status::bad_request, "invalid_grant");
}

TEST_CASE("an application that is suspended, or whose owner is inactive, gets nothing but may revoke", "[oauth][suspension]") {
    for (const bool by_operator : {true, false}) {
        CAPTURE(by_operator);
        oauth_shop<sessions_of_active_users> shop;
        const auto tokens = shop.post(token, shop.exchange_of(shop.make_code()));
        const auto access = member(tokens, "access_token"), refresh = member(tokens, "refresh_token");
        const auto exchange = shop.exchange_of(shop.make_code());
        const parameter_list client{{"client_id", shop.app.client_id}, {"client_secret", shop.app.client_secret}};
        const auto device = with(client, {{"scope", "user:balance"}});
        const auto stop = [&](bool stops) {
            if (!by_operator) shop.sessions.owner_active = !stops;
            else REQUIRE(*shop.store.change_application({}, shop.app.id, suspension_change{stops ? std::optional{suspension::by_operator} : std::nullopt}));
        };
        stop(true);
        CHECK(shop.accepts(access) == !by_operator);
        for (const auto& fields : {exchange, shop.refresh_of(refresh), with(client, {{"grant_type", "client_credentials"}})})
            check_error(shop.post(token, fields), status::bad_request, "unauthorized_client");
        check_error(shop.post("/user/oauth_device/", device), status::bad_request, "unauthorized_client");
        check_error(shop.post("/user/oauth_introspect/", with(client, {{"token", refresh}})), status::bad_request, "unauthorized_client");
        for (const auto& parameters : {shop.parameters(), with(shop.parameters(), {{"scope", "nothing"}})}) {
            const auto page = shop.open(parameters);
            CHECK(page.status() == status::bad_request);
            CHECK(page.find("Location").empty());
            CHECK(page.body().find("Application suspended") != std::string::npos);
        }
        check_error(shop.post(token, with(exchange, {{"client_secret", "x"}})), status::unauthorized, "invalid_client");
        CHECK(shop.observer.outcomes.front() == shop.app.client_id + " ");

        stop(false);
        CHECK(shop.post(token, exchange).status() == status::ok);
        CHECK(shop.post(token, shop.refresh_of(refresh)).status() == status::ok);
        CHECK(returned(shop.open(shop.parameters()), "code"));
        CHECK(shop.post("/user/oauth_device/", device).status() == status::ok);
        stop(true);
        CHECK(shop.post("/user/oauth_revoke/", with(client, {{"token", refresh}})).status() == status::ok);
        stop(false);
        check_error(shop.post(token, shop.refresh_of(refresh)), status::bad_request, "invalid_grant");
        shop.sessions.owner_active = unavailable("the users' database");
        CHECK(shop.post(token, exchange).status() == status::service_unavailable);
        CHECK(shop.open(shop.parameters()).status() == status::service_unavailable);
    }
}

TEST_CASE("introspection describes a client's own tokens, and to a resource server every access token", "[oauth][introspection]") {
    oauth_shop<> shop;
    const auto tokens = shop.post(token, shop.exchange_of(shop.make_code()));
    const auto other = shop.register_client("Other", "https://other.example/cb");
    const auto service = shop.register_client("Service", std::nullopt, "https://app.example/", client_type::resource_server);
    const auto device = shop.register_client("TV", std::nullopt, "https://app.example/", client_type::public_client);
    constexpr const char* introspection = "/user/oauth_introspect/";
    const auto introspect = [&](const registered_client& by, const std::string& value) {
        return shop.post(introspection, {{"client_id", by.client_id}, {"client_secret", by.client_secret}, {"token", value}});
    };
    const auto is_inactive = [](const http::response& response) {
        return response.status() == status::ok && response.body() == R"({"active":false})" && response.find("Cache-Control") == "no-store";
    };
    const auto access = member(tokens, "access_token"), refresh = member(tokens, "refresh_token");
    for (const registered_client* by : {&std::as_const(shop.app), &service})
        CHECK(introspect(*by, access).body() ==
              R"({"active":true,"scope":"sitesmaker:read user:balance","client_id":")" + shop.app.client_id +
                  R"(","token_type":"bearer","exp":1700003600,"iat":1700000000,"sub":")" + std::to_string(ann.value()) +
                  R"(","iss":"https://shop.example"})");
    CHECK(introspect(shop.app, refresh).body() ==
          R"({"active":true,"scope":"sitesmaker:read user:balance","client_id":")" + shop.app.client_id +
              R"(","exp":1702592000,"sub":")" + std::to_string(ann.value()) + R"(","iss":"https://shop.example"})");
    CHECK(is_inactive(introspect(service, refresh)));
    for (const auto& value : {access, refresh}) CHECK(is_inactive(introspect(other, value)));
    for (const auto& value : {std::string{"x"}, shop.app.client_secret, std::string(5000, 'x'), access.substr(1)})
        for (const registered_client* by : {&std::as_const(shop.app), &service}) CHECK(is_inactive(introspect(*by, value)));
    check_error(introspect(shop.app, ""), status::bad_request, "invalid_request");
    CHECK(shop.handle(test_request{method::get, introspection}).status() == status::method_not_allowed);

    check_error(introspect({device.id, device.client_id, ""}, access), status::unauthorized, "invalid_client");
    check_error(introspect({other.id, other.client_id, shop.app.client_secret}, access), status::unauthorized, "invalid_client");
    CHECK(shop.post(introspection, {{"token", access}}).find("X-RateLimit-Remaining") == "59");  // only the wrong secret was counted

    shop.now += seconds{3600};
    CHECK(is_inactive(introspect(service, access)));
    CHECK(member(introspect(shop.app, refresh), "active") == "true");
    static_cast<void>(shop.store.revoke(grant_revocation{ann, shop.app.id}));
    CHECK(is_inactive(introspect(shop.app, refresh)));
    shop.store.faults.start(2);
    CHECK(introspect(shop.app, refresh).status() == status::service_unavailable);
}

TEST_CASE("a resource server gets no tokens", "[oauth]") {
    oauth_shop<> shop;
    shop.app = shop.register_client("Service", std::nullopt, "https://app.example/", client_type::resource_server);
    for (const char* grant_type : {"client_credentials", "refresh_token", "authorization_code"})
        check_error(shop.post(token, with(shop.refresh_of("x"), {{"grant_type", grant_type}, {"scope", "user:balance"}})),
                    status::bad_request, "unauthorized_client");
}

TEST_CASE("an application gets tokens for its owner's accounts if the owner has allowed it", "[oauth][client_credentials]") {
    oauth_shop<> shop;
    const parameter_list fields{{"client_id", shop.app.client_id},
                                {"client_secret", shop.app.client_secret},
                                {"grant_type", "client_credentials"},
                                {"scope", "user:balance,sitesmaker"}};
    check_error(shop.post(token, fields), status::bad_request, "unauthorized_client");
    application_fields changed{.name = "App", .website = "https://app.example/", .description = {}, .redirect_urls = {},
                               .acts_for_owner = true};
    REQUIRE(*shop.store.change_application(bob, shop.app.id, changed));
    const auto issued = shop.post(token, fields);
    REQUIRE(issued.status() == status::ok);
    CHECK(member(issued, "scope") == "user:balance sitesmaker");
    CHECK(member(issued, "expires_in") == "3600");
    CHECK_FALSE(has_member(issued, "refresh_token"));
    const auto access = member(issued, "access_token");
    CHECK((*shop.store.rows.find_credential(access_token_key{digest_of(access)}))->user == bob);
    CHECK(shop.accepts(access));

    check_error(shop.post(token, with(fields, {{"scope", ""}})), status::bad_request, "invalid_request");
    for (const char* scope : {"user:fortune", "user:balance,user:fortune", "\x01"})
        check_error(shop.post(token, with(fields, {{"scope", scope}})), status::bad_request, "invalid_scope");
    check_error(shop.post(token, with(fields, {{"client_secret", "x"}})), status::unauthorized, "invalid_client");

    changed.acts_for_owner = false;
    REQUIRE(*shop.store.change_application(bob, shop.app.id, changed));
    CHECK_FALSE(shop.accepts(access));
    check_error(shop.post(token, fields), status::bad_request, "unauthorized_client");
}
