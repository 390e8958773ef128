#include <tollgate/api/account_api.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

namespace {

std::string challenges(const http::response& response) {
    std::string all;
    response.for_each_field([&](std::string_view name, std::string_view value) {
        if (name == "WWW-Authenticate") all.append(value).append("\n");
    });
    return all;
}

}  // namespace

TEST_CASE("the scheme is case-insensitive, the token is not", "[api][identity]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    const auto access = shop.access_token(ann, "user:balance");
    const auto basic = tollgate::detail::base64_encode(token.username + ":" + token.secret);
    for (const char* scheme : {"Basic", "basic", "BASIC", "bAsIc"})
        CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.field("Authorization",
                                                                              std::string{scheme} + " " + basic))
                  .status() == status::ok);
    for (const char* scheme : {"Bearer", "bearer", "BEARER"})
        CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.field("Authorization",
                                                                              std::string{scheme} + "  " + access))
                  .status() == status::ok);

    auto other_case = access;
    for (char& c : other_case) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : tollgate::detail::ascii_lower(c);
    CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.bearer(other_case)).status() == status::unauthorized);
}

TEST_CASE("invalid credentials of any form are a 401", "[api][identity]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    const auto access = shop.access_token(ann, "user:balance");
    const auto basic = tollgate::detail::base64_encode(token.username + ":" + token.secret);
    const std::vector<std::string> values{
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "Bearer " + access + " ",
        "Bearer " + access + " x",
        "Bearer " + access + "=",
        "Bearer " + token.secret,
        "Basic",
        "Basic !!!",
        "Basic " + basic + "=",
        "Basic " + basic.substr(0, basic.size() - 1),
        "Basic " + tollgate::detail::base64_encode("no colon"),
        "Basic " + tollgate::detail::base64_encode("\xff\xfe:\xff"),
        "Basic " + tollgate::detail::base64_encode(token.username + ":" + token.secret + "x"),
        "Basic " + tollgate::detail::base64_encode(token.username + "::" + token.secret),
        "Basic " + tollgate::detail::base64_encode(":" + token.secret),
        "Basic " + tollgate::detail::base64_encode(token.username + ":"),
        "Basic " + tollgate::detail::base64_encode(token.username + ":" + access),
        "Basic " + tollgate::detail::base64_encode("x" + token.username + ":" + token.secret),
        "Basic " + std::string(100'000, 'A'),
        "Digest username=\"x\"",
        "Token abc",
        basic,
        "\xff\xfe"};
    int tried = 0;
    for (const auto& value : values) {
        INFO(value.substr(0, 80));
        // Each request has its own address, because bad credentials are counted against the address.
        const auto from = ip_address::v4(198, 51, 100, static_cast<std::uint8_t>(++tried));
        const auto response = shop.handle(test_request{method::get, "/v1/user/balance"}.from(from).field("Authorization", value));
        CHECK(response.status() == status::unauthorized);
        CHECK(challenges(response) == "Basic realm=\"api\", charset=\"UTF-8\"\nBearer realm=\"api\", error=\"invalid_token\"\n");
        // An open route also refuses an invalid token, so that a program notices it at once.
        CHECK(shop.handle(test_request{method::get, "/v1/testservice/get"}.from(from).field("Authorization", value)).status() ==
              status::unauthorized);
    }
}

TEST_CASE("missing credentials are not an error, but insufficient", "[api][identity]") {
    auto shop = make_shop();
    for (const char* target : {"/v1/user/balance", "/v1/testservice/auth", "/v1/sitesmaker/accounts"}) {
        const auto response = shop.handle(test_request{method::get, target});
        CHECK(response.status() == status::unauthorized);
        CHECK(challenges(response) == "Basic realm=\"api\", charset=\"UTF-8\"\nBearer realm=\"api\"\n");
    }
    CHECK(shop.handle(test_request{method::get, "/v1/user/balance?access_token=" + shop.access_token(ann, "user:balance")}).status() ==
          status::unauthorized);
}

TEST_CASE("an error of the kind `unauthorized` is a 401 with challenges, other errors have none", "[api][identity][failure]") {
    struct {
        error_kind kind;
        status expected;
        const char* challenges;
    } const rows[] = {
        {error_kind::unauthorized, status::unauthorized, "Basic realm=\"api\", charset=\"UTF-8\"\nBearer realm=\"api\"\n"},
        {error_kind::forbidden, status::forbidden, ""},
        {error_kind::unavailable, status::service_unavailable, ""},
    };
    instant now = from_unix_seconds(1'700'000'000);
    for (const auto& row : rows) {
        CAPTURE(row.expected);
        const error failure{row.kind, "No.", {}};
        auto shop = make_shop();
        const auto token = shop.personal_token(ann, "user:balance");
        shop.users.failure = failure;
        const auto of_directory = shop.handle(test_request{method::get, "/v1/user/balance"}.basic(token.username, token.secret));
        CHECK(of_directory.status() == row.expected);
        CHECK(challenges(of_directory) == row.challenges);

        account_api api{shop_settings(), shop.users, shop.store, default_policies().with_clock(fake_clock{&now}),
                        route_table{on_get<"/failing">(open_to_all, [&](api_call&) -> result<void> { return failure; })}};
        const auto of_endpoint = api.handle(test_request{method::get, "/v1/failing"}.view());
        CHECK(of_endpoint.status() == row.expected);
        CHECK(challenges(of_endpoint) == row.challenges);
    }
}

TEST_CASE("two Authorization fields are a 400", "[api][identity]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    test_request request{method::get, "/v1/user/balance"};
    request.basic(token.username, token.secret).basic(token.username, token.secret);
    const auto response = shop.handle(request);
    CHECK(response.status() == status::bad_request);
    CHECK(response.find("X-RateLimit-Limit") == "60");
}

TEST_CASE("an access token works until it expires or is revoked", "[api][identity]") {
    auto shop = make_shop();
    const auto access = shop.access_token(ann, "user:balance", seconds{3600});
    shop.now += seconds{3600} - milliseconds{1};
    CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.bearer(access)).status() == status::ok);
    shop.now += milliseconds{1};
    CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.bearer(access)).status() == status::unauthorized);

    const auto token = shop.personal_token(ann, "user:balance");
    CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.basic(token.username, token.secret)).status() == status::ok);
    REQUIRE(shop.store.revoke(personal_token_revocation{token.id}));
    CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.basic(token.username, token.secret)).status() == status::unauthorized);
}

TEST_CASE("tokens of deleted users are invalid", "[api][identity]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(bob, "user:balance");
    shop.users.people.erase(bob);
    CHECK(shop.handle(test_request{method::get, "/v1/user/balance"}.basic(token.username, token.secret)).status() == status::unauthorized);
}

TEST_CASE("an unavailable directory is a 503 without its cause", "[api][failure]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    shop.users.failure = unavailable("db-7.internal refused");
    const auto response = shop.handle(test_request{method::get, "/v1/user/balance"}.basic(token.username, token.secret));
    CHECK(response.status() == status::service_unavailable);
    CHECK(response.find("Retry-After") == "2");
    CHECK(response.find("X-RateLimit-Limit") == "60");
    CHECK(response.find("X-RateLimit-Remaining") == "60");
    CHECK(response.body().find("db-7") == std::string::npos);
    CHECK(response.body().find("documentation_url") != std::string::npos);
}

TEST_CASE("handle does not throw", "[api][failure]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    shop.users.throws = true;
    const auto response = shop.handle(test_request{method::get, "/v1/user/balance"}.basic(token.username, token.secret));
    CHECK(response.status() == status::internal_server_error);
    CHECK(response.find("X-RateLimit-Remaining") == "999");
    CHECK(response.body().find("secret") == std::string::npos);
    CHECK(response.find("Content-Type") == "application/json");
}

TEST_CASE("scopes are enforced", "[api][scopes]") {
    struct row {
        const char* granted;
        const char* target;
        status expected;
    };
    const auto each = GENERATE(values<row>({
        {"user:balance", "/v1/user/balance", status::ok},
        {"sitesmaker itemplatform", "/v1/user/balance", status::forbidden},
        {"user:balance", "/v1/sitesmaker/accounts", status::forbidden},
        {"sitesmaker:read", "/v1/sitesmaker/accounts", status::ok},
        {"sitesmaker", "/v1/sitesmaker/accounts", status::ok},
        {"sitesmaker", "/v1/itemplatform/accounts", status::forbidden},
        {"sitesmaker:read", "/v1/sitesmaker/1/hooks", status::ok},
        {"itemplatform:read", "/v1/sitesmaker/1/hooks", status::forbidden},
        {"", "/v1/sitesmaker/accounts", status::forbidden},
        {"", "/v1/testservice/auth", status::ok},
    }));
    CAPTURE(each.granted, each.target);
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, each.granted);
    const auto response = shop.handle(test_request{method::get, each.target}.basic(token.username, token.secret));
    CHECK(response.status() == each.expected);
    if (each.expected == status::forbidden) {
        CHECK(challenges(response).starts_with("Bearer realm=\"api\", error=\"insufficient_scope\", scope=\""));
        CHECK(response.body().find("/docs/scopes/") != std::string::npos);
    }
}

namespace {

template <const auto& Challenge>
struct one_caller {
    static constexpr std::string_view challenge{Challenge};
    static constexpr std::string_view scheme = challenge.substr(0, challenge.find(' '));
    result<std::optional<caller>> identify(std::string_view, auto&, instant) const {
        return std::optional{caller{ann, *scope_set::parse("itemplatform"), credential_kind::other, {}}};
    }
};
constexpr char own_bearer[] = "Bearer realm=\"shop\"", own_scheme[] = "Till realm=\"shop\"";

}  // namespace

TEST_CASE("an insufficient scope has the challenge of the Bearer authenticator, if there is one", "[api][scopes]") {
    auto shop = make_shop();
    const auto challenges_of = [&](auto authenticator, const char* credentials) {
        account_api api{shop_settings(), shop.users, shop.store, default_policies().with_authenticators(authenticator), account_routes()};
        http::response response;
        api.handle(test_request{method::get, "/v1/user/balance"}.field("Authorization", credentials).view(), response);
        CHECK(response.status() == status::forbidden);
        return challenges(response);
    };
    CHECK(challenges_of(one_caller<own_bearer>{}, "Bearer 1") ==
          "Bearer realm=\"shop\", error=\"insufficient_scope\", scope=\"user:balance\"\n");
    CHECK(challenges_of(one_caller<own_scheme>{}, "Till 1").empty());
}

namespace {

/// `X-Api-Key: <key>`
struct api_key {
    static constexpr std::string_view field = "X-Api-Key", scheme = "ApiKey", challenge = "ApiKey realm=\"api\"";
    result<std::optional<caller>> identify(std::string_view credentials, auto&, instant) const {
        if (credentials != "key of ann") return std::optional<caller>{};
        return std::optional{caller{ann, *scope_set::parse("user:balance"), credential_kind::other, {}}};
    }
};

struct slow_key : api_key {
    static constexpr bool blocking = true;
};

}  // namespace

TEST_CASE("an authenticator can read a field of its own", "[api][identity]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    account_api api{shop_settings(), shop.users, shop.store,
                    default_policies().with_authenticators(basic_token{}, api_key{}), account_routes()};
    const auto status_of = [&](const std::vector<std::pair<const char*, std::string>>& fields) {
        test_request request{method::get, "/v1/user/balance"};
        for (const auto& [name, value] : fields) request.field(name, value);
        return api.handle(request.view()).status();
    };
    const auto basic = "Basic " + tollgate::detail::base64_encode(token.username + ":" + token.secret);
    CHECK(status_of({{"X-Api-Key", "key of ann"}}) == status::ok);
    CHECK(status_of({{"x-api-key", "key of ann"}}) == status::ok);
    CHECK(status_of({{"X-Api-Key", "key of bob"}}) == status::unauthorized);
    CHECK(status_of({{"X-Api-Key", ""}}) == status::unauthorized);
    CHECK(status_of({{"Authorization", "ApiKey key of ann"}}) == status::unauthorized);
    CHECK(status_of({{"X-Api-Key", "key of ann"}, {"X-Api-Key", "key of ann"}}) == status::bad_request);
    CHECK(status_of({{"Authorization", basic}}) == status::ok);
    CHECK(status_of({{"Authorization", basic}, {"X-Api-Key", "key of ann"}}) == status::bad_request);
    CHECK(status_of({}) == status::unauthorized);
}

TEST_CASE("browsers may send an authenticator's own field from other origins", "[api][identity][cors]") {
    auto shop = make_shop();
    account_api with_key{shop_settings(), shop.users, shop.store,
                         default_policies().with_authenticators(basic_token{}, api_key{}), account_routes()};
    const auto allowed_by = [](auto& api, const char* request_method) {
        test_request request{request_method == nullptr ? method::get : method::options, "/v1/user/balance"};
        request.field("Origin", "https://app.example");
        if (request_method != nullptr) request.field("Access-Control-Request-Method", request_method);
        std::string all;
        api.handle(request.view()).for_each_field([&](std::string_view name, std::string_view value) {
            if (name == "Access-Control-Allow-Headers") all.append(value).append("\n");
        });
        return all;
    };
    const std::string standard = "Authorization, Content-Type, User-Agent, X-Requested-With, X-Request-Id, traceparent\n";
    CHECK(allowed_by(with_key, "GET") == standard + "X-Api-Key\n");
    CHECK(allowed_by(with_key, nullptr).empty());
    CHECK(allowed_by(shop.api, "GET") == standard);
}

TEST_CASE("a blocking authenticator runs on a worker, whatever else blocks", "[api][identity]") {
    auto shop = make_shop();
    account_api api{shop_settings(), shop.users, shop.store,
                    default_policies().with_authenticators(basic_token{}, slow_key{}), account_routes()};
    CHECK(api.may_block());
    CHECK_FALSE(shop.api.may_block());
    for (const auto* const field : {"X-Api-Key", "X-Another"}) {
        CAPTURE(field);
        test_request request{method::get, "/v1/testservice/get"};
        request.field(field, "key of ann");
        http::response response;
        http::handler_state state;
        const bool has_credentials = field == std::string_view{"X-Api-Key"};
        CHECK(api.advance(request.view(), response, state, http::thread_kind::io) ==
              (has_credentials ? http::handle_step::needs_worker : http::handle_step::done));
        if (has_credentials) CHECK(api.advance(request.view(), response, state, http::thread_kind::worker) == http::handle_step::done);
        CHECK(response.status() == status::ok);
    }
}

TEST_CASE("an endpoint that asks for the caller of an anonymous request is a reported 500", "[api][identity]") {
    auto shop = make_shop();
    struct recorder : no_observer {
        std::vector<std::string>* causes;
        void on_problem(const problem_record& record) const noexcept { causes->push_back(record.error.cause); }
    };
    std::vector<std::string> causes;
    const auto ask = [](api_call& call) -> result<void> {
        call.response().body() = std::to_string(call.caller().user.value());
        return {};
    };
    account_api api{shop_settings(), shop.users, shop.store, default_policies().with_observer(recorder{{}, &causes}),
                    route_table{on_get<"/open">(open_to_all, ask)}};
    CHECK(api.handle(test_request{method::get, "/v1/open"}.view()).status() == status::internal_server_error);
    REQUIRE(causes.size() == 1);
    CHECK(causes[0].find("has_caller()") != std::string::npos);
    const auto token = shop.personal_token(ann, "");
    CHECK(api.handle(test_request{method::get, "/v1/open"}.basic(token.username, token.secret).view()).status() == status::ok);
}
