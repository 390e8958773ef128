#include <tollgate/store/detail/postgres/credential_lookup.hpp>

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>
#include <tollgate/store/postgres_database.hpp>
#include <tollgate/store/postgres.hpp>

#include <support/postgres_server.hpp>
#include <support/tcp_proxy.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using tollgate_test::postgres_server;
using tollgate_test::tcp_proxy;

namespace {

constexpr const char* tables =
    "CREATE TABLE shop_users (id bigint PRIMARY KEY, balance text NOT NULL, requests bigint, seconds bigint);"
    "INSERT INTO shop_users VALUES (1, '12.50', NULL, NULL), (2, '0', 7, 60)";

/// With a trailing comment, as an operator may write it.
constexpr const char* owner_query =
    "SELECT requests, seconds, balance, 'EUR' FROM shop_users WHERE shop_users.id = owner.id -- theirs";
constexpr const char* quota_query = "SELECT requests, seconds, NULL, NULL FROM shop_users WHERE shop_users.id = owner.id";

constexpr user_id ann{1}, bob{2}, deleted{3};

/// The directory of an integrator whose users are in the same database. It counts its calls.
class shop_directory {
public:
    explicit shop_directory(const std::string& to) : users_{*postgres_database::open(to)} {}

    result<balance> balance_of(user_id user) {
        ++asked_for_balance;
        auto found = users_.query("SELECT balance FROM shop_users WHERE id = $1", user);
        if (!found) return std::move(found).error();
        const auto row = found->next<decimal>();
        if (!row) return row.error();
        if (!*row) return not_found();
        return balance{user, std::get<0>(**row), "EUR"};
    }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return std::vector<account>{}; }
    result<std::optional<quota>> quota_of(user_id user) {
        ++asked_for_quota;
        auto found = users_.query("SELECT requests, seconds FROM shop_users WHERE id = $1", user);
        if (!found) return std::move(found).error();
        const auto row = found->next<std::optional<std::int64_t>, std::optional<std::int64_t>>();
        if (!row) return row.error();
        if (!*row) return not_found();
        const auto [requests, window] = **row;
        if (!requests) return std::optional<quota>{};
        return std::optional{quota{static_cast<std::uint32_t>(*requests), seconds{*window}}};
    }

    int asked_for_quota = 0, asked_for_balance = 0;

private:
    postgres_database users_;
};

postgres_settings with_owner(std::string query = owner_query) {
    postgres_settings settings;
    settings.connections_max = 1;
    settings.owner_query = std::move(query);
    return settings;
}

account_service_settings shop_settings() {
    return {.base_url = "https://shop.example/v1",
            .auth_url = "https://shop.example",
            .services = {},
            .trusted_proxies = {}};
}

std::string schema_of(const std::string& connection_string) {
    return connection_string.substr(connection_string.find("options="));
}

instant now() { return postgres::server_clock::node_now(); }

std::string basic_of(postgres_store& store, user_id of) {
    const auto issued =
        issue_personal_token(store, {of, "Of a test", *scope_set::parse("user:balance")}, now());
    REQUIRE(issued);
    return "Basic " + tollgate::detail::base64_encode(std::string{issued->username.view()} + ":" + std::string{issued->secret.view()});
}

std::string bearer_of(postgres_store& store, user_id of) {
    const auto client_id = *client_id_text::from("tgc_" + std::to_string(of.value()));
    const auto app = store.create_application(
        {ann, client_id, digest_of("x"), "An app", "https://a.example", "", {}, now()}, 10);
    REQUIRE(app);
    std::array<std::byte, 32> bytes{static_cast<std::byte>(of.value())};
    const auto token = make_secret(secret_kind::access_token, bytes);
    REQUIRE(store.create_access_token({of, *app, digest_of(token.view()), *scope_set::parse("user:balance"), now(),
                                       now() + std::chrono::hours{1}}));
    return "Bearer " + std::string{token.view()};
}

template <class Api>
http::response balance_with(Api& api, const std::string& authorization) {
    http::request request;
    request.method = http::method::get;
    request.target = http::target::from("/v1/user/balance");
    request.fields.add("User-Agent", "test");
    request.fields.add("Authorization", authorization);
    return api.handle(request);
}

}  // namespace

TEST_CASE("a balance request takes one round trip, whatever the credential", "[postgres]") {
    struct row {
        const char* query;
        std::size_t turns;
        int asked_for_balance;
    };
    const auto each = GENERATE(row{owner_query, 1, 0}, row{quota_query, 2, 4});
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_server::run(schema, tables);
    tcp_proxy proxy{server.socket_path()};
    const auto through = proxy.connection_string(schema_of(schema));
    shop_directory users{through};
    postgres_store store{through, with_owner(each.query)};
    account_api api{shop_settings(), users, store, account_routes()};
    const bool over_basic = GENERATE(true, false);
    for (const auto& [user, limit] : {std::pair{ann, "1000"}, std::pair{bob, "7"}}) {
        const auto credential = over_basic ? basic_of(store, user) : bearer_of(store, user);
        CHECK(balance_with(api, credential).status() == http::status::ok);  // the first request records a use
        const auto before = proxy.round_trips();
        const auto response = balance_with(api, credential);
        CHECK(proxy.round_trips() - before == each.turns);
        CHECK(response.status() == http::status::ok);
        CHECK(response.find("X-RateLimit-Limit") == limit);
    }
    CHECK(users.asked_for_quota == 0);
    CHECK(users.asked_for_balance == each.asked_for_balance);

    // A change applies at once.
    const auto credential = basic_of(store, ann);
    CHECK_THAT(std::string{balance_with(api, credential).body()}, Catch::Contains("12.50"));
    postgres_server::run(schema, "UPDATE shop_users SET requests = 9, seconds = 60, balance = '-3'");
    const auto changed = balance_with(api, credential);
    CHECK(changed.find("X-RateLimit-Limit") == "9");
    CHECK_THAT(std::string{changed.body()}, Catch::Contains("\"balance\":-3,"));
}

TEST_CASE("nothing is returned for a deleted owner, and the directory reports it", "[postgres]") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_server::run(schema, tables);
    shop_directory users{schema};
    postgres_store store{schema, with_owner()};
    account_api api{shop_settings(), users, store, account_routes()};
    CHECK(balance_with(api, basic_of(store, deleted)).status() == http::status::unauthorized);
    CHECK(balance_with(api, bearer_of(store, deleted)).status() == http::status::unauthorized);
    CHECK(users.asked_for_quota == 2);
}

TEST_CASE("an owner is returned with the credential, or is unknown", "[postgres]") {
    struct row {
        const char* query;
        std::optional<known_user> owner;
    };
    const auto of_quota = [](std::uint32_t requests, int window) {
        return known_user{quota{requests, seconds{window}}, std::nullopt};
    };
    const auto each = GENERATE_COPY(
        row{"", {}}, row{"SELECT NULL::bigint, NULL::bigint, NULL::text, NULL::text", known_user{}},
        row{"SELECT NULL::integer, 86400, NULL, NULL", known_user{}}, row{"SELECT 5, 60, NULL, 'EUR'", of_quota(5, 60)},
        row{"SELECT 0::smallint, 1, NULL, NULL", of_quota(0, 1)}, row{"SELECT 5, 60, '1', 'EUR' WHERE owner.id > 1", {}},
        row{"SELECT 1, 1, NULL, NULL UNION ALL SELECT 1, 1, NULL, NULL", of_quota(1, 1)},
        row{"SELECT NULL::bigint, NULL::bigint, -12.50::numeric(10, 2), 'JPY'::char(3)",
            known_user{std::nullopt, balance{ann, "-12.50", "JPY"}}});
    auto& server = postgres_server::shared();
    postgres_store store{server.new_schema(), with_owner(each.query)};
    REQUIRE(store.create_personal_token(
        {ann, *token_username::from("tgu_a"), digest_of("a"), "", *scope_set::parse("user:balance"), now()}, 10));
    const auto found = store.find_credential(personal_token_key{"tgu_a"});
    REQUIRE(found);
    REQUIRE(*found);
    CHECK((*found)->owner == each.owner);
}

TEST_CASE("values that are not a quota or a balance fail the request of that user only", "[postgres]") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_server::run(schema, tables);
    postgres_server::run(schema, "UPDATE shop_users SET balance = 'NaN' WHERE id = 2");
    postgres_store store{schema, with_owner()};
    for (const auto& [user, name] : {std::pair{ann, "tgu_a"}, std::pair{bob, "tgu_b"}})
        REQUIRE(store.create_personal_token(
            {user, *token_username::from(name), digest_of(name), "", *scope_set::parse("user:balance"), now()}, 10));
    CHECK(store.find_credential(personal_token_key{"tgu_a"}));
    const auto failed = store.find_credential(personal_token_key{"tgu_b"});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == error_kind::internal);
    CHECK_THAT(failed.error().cause, Catch::Contains("not a balance"));
}

TEST_CASE("an invalid query is reported when the store is opened", "[postgres]") {
    auto& server = postgres_server::shared();
    const char* query = GENERATE("SELECT requests, seconds, NULL, NULL FROM nowhere WHERE id = owner.id", "SELECT 1, 1", "nonsense");
    const auto opened = postgres_store::open(server.new_schema(), with_owner(query));
    REQUIRE_FALSE(opened);
    CHECK(opened.error().kind == error_kind::internal);
}
