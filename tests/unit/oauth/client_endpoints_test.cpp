#include <tollgate/oauth/detail/client_endpoints.hpp>

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

constexpr const char* token = "/user/oauth_token/";
constexpr const char* revocation = "/user/oauth_revoke/";
constexpr const char* verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
constexpr const char* challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// With a public client in the place of the application.
struct public_shop : oauth_shop<> {
    explicit public_shop(oauth_settings settings = test_oauth_settings()) : oauth_shop{std::move(settings)} {
        app = register_client("App", "http://127.0.0.1/cb", "https://app.example/", client_type::public_client);
        app.client_secret.clear();
    }

    parameter_list asks_with_challenge() const {
        return with(asks(), {{"redirect_uri", "http://127.0.0.1:49152/cb"}, {"code_challenge", challenge}, {"code_challenge_method", "S256"}});
    }
    http::response exchange() {
        return post(token, with(exchange_of(make_code(challenge)), {{"code_verifier", verifier}}));
    }
    std::string refreshed(const std::string& with_token) { return member(post(token, refresh_of(with_token)), "refresh_token"); }
    bool is_granted() { return (*store.rows.granted_scopes(ann, app.id)).has_value(); }
};

void check_error(const http::response& answer, status expected, std::string_view error) {
    CHECK(answer.status() == expected);
    CHECK(member(answer, "error") == error);
    CHECK_FALSE(has_member(answer, "access_token"));
}

}  // namespace

TEST_CASE("a public client has to send a code challenge", "[oauth][public]") {
    public_shop shop;
    const auto refused = shop.open(with(shop.asks(), {{"redirect_uri", "http://127.0.0.1:49152/cb"}}));
    CHECK(returned(refused, "error") == "invalid_request");
    CHECK(returned(refused, "state") == "xyz");
    CHECK_FALSE(shop.consent(shop.asks_with_challenge()).empty());
}

TEST_CASE("a public client's users are asked each time, and told why", "[oauth][public]") {
    public_shop shop;
    const auto exact = with(shop.asks_with_challenge(), {{"redirect_uri", "http://127.0.0.1/cb"}});
    for (int i = 0; i < 2; ++i) {
        CHECK_FALSE(shop.consent(exact).empty());
        const auto page = shop.open(exact);
        CHECK(page.status() == status::ok);
        CHECK(page.body().find("Any program can claim to be this application") != std::string::npos);
    }
    oauth_shop<> confidential;
    CHECK(confidential.open(confidential.asks()).body().find("Any program can claim") == std::string::npos);
}

TEST_CASE("a public client comes back to what it registered alone", "[oauth][public]") {
    public_shop shop;
    for (const char* other : {"http://127.0.0.1/other", "https://app.example/", "http://localhost/cb"})
        CHECK(shop.open(with(shop.asks_with_challenge(), {{"redirect_uri", other}})).status() == status::bad_request);
    shop.app = shop.register_client("Device", std::nullopt, "https://app.example/", client_type::public_client);
    CHECK(shop.open(with(shop.asks_with_challenge(), {{"redirect_uri", "https://app.example/"}})).status() == status::bad_request);
}

TEST_CASE("a resource server asks no user for anything", "[oauth]") {
    oauth_shop<> shop;
    shop.app = shop.register_client("Service", "https://app.example/cb", "https://app.example/", client_type::resource_server);
    CHECK(shop.open(shop.asks()).status() == status::bad_request);
}

TEST_CASE("a public client sends its client_id and no secret", "[oauth][public]") {
    public_shop shop;
    const auto fields = [&] { return with(shop.exchange_of(shop.make_code(challenge)), {{"code_verifier", verifier}}); };
    CHECK(shop.post(token, fields()).status() == status::ok);
    CHECK(shop.answer(sent{method::post, token}
                          .field("Authorization", "Basic " + base64_encode(shop.app.client_id + ":"))
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
    CHECK(confidential.seen.causes.empty());
}

TEST_CASE("a public client's refresh tokens are replaced, and a lost response is given again", "[oauth][public]") {
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
    for (const auto* answer : {&first, &second, &again}) CHECK(shop.is_good(member(*answer, "access_token")));
    const auto three = shop.refreshed(two);
    CHECK(three != two);
    CHECK(shop.refreshed(three) != three);
    CHECK(shop.is_granted());
}

TEST_CASE("reuse of a replaced refresh token revokes the grant", "[oauth][public]") {
    public_shop shop;
    const auto elsewhere = member(shop.exchange(), "access_token");
    const auto first = shop.exchange();
    const auto one = member(first, "refresh_token");
    const auto second = shop.post(token, shop.refresh_of(one));
    const auto two = member(second, "refresh_token");
    SECTION("after the time of grace") { shop.now += seconds{30}; }
    SECTION("when its successor was replaced, too") { REQUIRE_FALSE(shop.refreshed(two).empty()); }
    CHECK(shop.is_granted());
    check_error(shop.post(token, shop.refresh_of(one)), status::bad_request, "invalid_grant");
    CHECK_FALSE(shop.is_granted());
    for (const auto& gone : {elsewhere, member(first, "access_token"), member(second, "access_token")}) CHECK_FALSE(shop.is_good(gone));
    check_error(shop.post(token, shop.refresh_of(two)), status::bad_request, "invalid_grant");
    CHECK(shop.seen.causes.empty());
}

TEST_CASE("whether all refresh tokens are replaced, and the time of grace, are settings", "[oauth][public]") {
    auto settings = test_oauth_settings();
    settings.rotates_all_refresh_tokens = true;
    settings.rotation_grace = seconds{5};
    oauth_shop<> shop{settings};
    const auto one = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    const auto two = member(shop.post(token, shop.refresh_of(one)), "refresh_token");
    CHECK(is_well_formed(secret_kind::refresh_token, two));
    shop.now += seconds{4};
    CHECK(member(shop.post(token, shop.refresh_of(one)), "refresh_token") == two);
    shop.now += seconds{1};
    check_error(shop.post(token, shop.refresh_of(one)), status::bad_request, "invalid_grant");

    oauth_shop<> usual;
    const auto stays = usual.refresh_of(member(usual.post(token, usual.exchange_of(usual.make_code())), "refresh_token"));
    for (int i = 0; i < 2; ++i) CHECK_FALSE(has_member(usual.post(token, stays), "refresh_token"));
}

TEST_CASE("a public client revokes its tokens by its client_id, by an old refresh token, too", "[oauth][public]") {
    public_shop shop;
    const auto revoke = [&](const std::string& what) {
        return shop.post(revocation, {{"client_id", shop.app.client_id}, {"token", what}}).status() == status::ok;
    };
    const auto access = member(shop.exchange(), "access_token");
    CHECK(revoke(access));
    CHECK_FALSE(shop.is_good(access));

    const auto one = member(shop.exchange(), "refresh_token");
    const auto two = shop.refreshed(one);
    CHECK(revoke(one));
    check_error(shop.post(token, shop.refresh_of(two)), status::bad_request, "invalid_grant");
    CHECK(shop.is_granted());

    const auto other = shop.register_client("Other", "https://other.example/cb");
    const auto kept = member(shop.exchange(), "access_token");
    check_error(shop.post(revocation, {{"client_id", other.client_id}, {"token", kept}}), status::unauthorized, "invalid_client");
    CHECK(shop.is_good(kept));
}

TEST_CASE("a refresh of a deleted public client is an invalid grant", "[oauth][public]") {
    public_shop shop;
    const auto refresh = shop.refresh_of(member(shop.exchange(), "refresh_token"));
    REQUIRE(*shop.store.delete_application(bob, shop.app.id));
    check_error(shop.post(token, refresh), status::bad_request, "invalid_grant");
}

TEST_CASE("of two secrets both are good, and an application without one has none", "[oauth]") {
    oauth_shop<> shop;
    const auto status_with = [&](std::string_view secret) {
        return shop.post(revocation, {{"client_id", shop.app.client_id}, {"client_secret", std::string{secret}}, {"token", "x"}}).status();
    };
    const auto old_secret = shop.app.client_secret;
    const auto fresh = *oauth::new_secret(secret_kind::client_secret, shared_random{&shop.entropy, &shop.random_works});
    CHECK(status_with(fresh) == status::unauthorized);
    REQUIRE(*shop.store.add_client_secret(bob, shop.app.id, digest_of(fresh)));
    for (const auto& secret : {old_secret, std::string{fresh.view()}}) CHECK(status_with(secret) == status::ok);
    REQUIRE(*shop.store.remove_older_secret(bob, shop.app.id));
    CHECK(status_with(old_secret) == status::unauthorized);
    CHECK(status_with(fresh) == status::ok);
}

namespace {

struct sessions_of_active_users : site_sessions {
    result<bool> active = true;
    result<bool> is_active(user_id) const { return active; }
};

}  // namespace

TEST_CASE("a user who is not active gets no tokens", "[oauth][token]") {
    oauth_shop<sessions_of_active_users> shop;
    const auto refresh = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    REQUIRE(is_well_formed(secret_kind::refresh_token, refresh));
    const auto code = shop.make_code();
    shop.sessions.active = false;
    for (const auto& wanted : {shop.refresh_of(refresh), shop.exchange_of(code)}) {
        const auto refused = shop.post(token, wanted);
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

TEST_CASE("introspection tells a client of its own tokens, and a resource server of every access token", "[oauth][introspection]") {
    oauth_shop<> shop;
    const auto tokens = shop.post(token, shop.exchange_of(shop.make_code()));
    const auto other = shop.register_client("Other", "https://other.example/cb");
    const auto service = shop.register_client("Service", std::nullopt, "https://app.example/", client_type::resource_server);
    const auto device = shop.register_client("TV", std::nullopt, "https://app.example/", client_type::public_client);
    constexpr const char* introspection = "/user/oauth_introspect/";
    const auto ask = [&](const registered_client& by, const std::string& what) {
        return shop.post(introspection, {{"client_id", by.client_id}, {"client_secret", by.client_secret}, {"token", what}});
    };
    const auto is_inactive = [](const http::response& answer) {
        return answer.status() == status::ok && answer.body() == R"({"active":false})" && answer.find("Cache-Control") == "no-store";
    };
    const auto access = member(tokens, "access_token"), refresh = member(tokens, "refresh_token");
    for (const registered_client* by : {&std::as_const(shop.app), &service})
        CHECK(ask(*by, access).body() ==
              R"({"active":true,"scope":"sitesmaker:read user:balance","client_id":")" + shop.app.client_id +
                  R"(","token_type":"bearer","exp":1700003600,"iat":1700000000,"sub":")" + std::to_string(ann.value()) +
                  R"(","iss":"https://shop.example"})");
    CHECK(ask(shop.app, refresh).body() ==
          R"({"active":true,"scope":"sitesmaker:read user:balance","client_id":")" + shop.app.client_id +
              R"(","exp":1702592000,"sub":")" + std::to_string(ann.value()) + R"(","iss":"https://shop.example"})");
    CHECK(is_inactive(ask(service, refresh)));
    for (const auto& what : {access, refresh}) CHECK(is_inactive(ask(other, what)));
    for (const auto& what : {std::string{"x"}, shop.app.client_secret, std::string(5000, 'x'), access.substr(1)})
        for (const registered_client* by : {&std::as_const(shop.app), &service}) CHECK(is_inactive(ask(*by, what)));
    check_error(ask(shop.app, ""), status::bad_request, "invalid_request");
    CHECK(shop.answer(sent{method::get, introspection}).status() == status::method_not_allowed);

    check_error(ask({device.id, device.client_id, ""}, access), status::unauthorized, "invalid_client");
    check_error(ask({other.id, other.client_id, shop.app.client_secret}, access), status::unauthorized, "invalid_client");
    CHECK(shop.post(introspection, {{"token", access}}).find("X-RateLimit-Remaining") == "57");

    shop.now += seconds{3600};
    CHECK(is_inactive(ask(service, access)));
    CHECK(member(ask(shop.app, refresh), "active") == "true");
    static_cast<void>(shop.store.revoke_grant(ann, shop.app.id));
    CHECK(is_inactive(ask(shop.app, refresh)));
    shop.store.faults.start(2);
    CHECK(ask(shop.app, refresh).status() == status::service_unavailable);
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
    const parameter_list wanted{{"client_id", shop.app.client_id},
                                {"client_secret", shop.app.client_secret},
                                {"grant_type", "client_credentials"},
                                {"scope", "user:balance,sitesmaker"}};
    check_error(shop.post(token, wanted), status::bad_request, "unauthorized_client");
    application_change changed{.name = "App", .website = "https://app.example/", .description = {}, .redirect_urls = {},
                               .acts_for_owner = true};
    REQUIRE(*shop.store.update_application(bob, shop.app.id, changed));
    const auto issued = shop.post(token, wanted);
    REQUIRE(issued.status() == status::ok);
    CHECK(member(issued, "scope") == "user:balance sitesmaker");
    CHECK(member(issued, "expires_in") == "3600");
    CHECK_FALSE(has_member(issued, "refresh_token"));
    const auto access = member(issued, "access_token");
    CHECK((*shop.store.rows.find_access_token(digest_of(access)))->user == bob);
    CHECK(shop.is_good(access));

    check_error(shop.post(token, with(wanted, {{"scope", ""}})), status::bad_request, "invalid_request");
    for (const char* scope : {"user:fortune", "user:balance,user:fortune", "\x01"})
        check_error(shop.post(token, with(wanted, {{"scope", scope}})), status::bad_request, "invalid_scope");
    check_error(shop.post(token, with(wanted, {{"client_secret", "x"}})), status::unauthorized, "invalid_client");

    changed.acts_for_owner = false;
    REQUIRE(*shop.store.update_application(bob, shop.app.id, changed));
    CHECK_FALSE(shop.is_good(access));
    check_error(shop.post(token, wanted), status::bad_request, "unauthorized_client");
}
