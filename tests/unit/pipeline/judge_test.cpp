#include <tollgate/pipeline/judge.hpp>

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::body_state;
using http::handle_step;
using http::method;
using http::status;
using http::thread_kind;

namespace {

/// Counts the calls of each dependency, and those that block the wrong thread: an I/O thread, or a worker that may wait
/// for another kind of work only.
struct call_counts {
    bool on_io_thread = false;
    http::work_kind may_wait_for = http::work_kind::other;
    int blocked_io = 0;
    int cached_credentials = 0, found_credentials = 0, uses_recorded = 0;
    int found_users = 0;
    int limits_tried = 0, limits_taken = 0;
    int endpoints = 0;

    void wait(http::work_kind kind) noexcept { blocked_io += on_io_thread || may_wait_for != kind ? 1 : 0; }
};

/// A store that blocks and has a cache, which can be emptied.
struct caching_store : memory_store {
    [[nodiscard]] bool may_block() const noexcept { return true; }

    call_counts* counts = nullptr;
    bool is_cached = true;
    bool forgets_after_lookup = false;
    std::optional<known_user> owner;  // comes with each credential
    bool knows_users = true, knows_balances = true;
    const shop_directory* users = nullptr;  // in the same database
    bool loses_uses = false;
    bool is_down = false;

    result<std::optional<token_credential>> find_credential(const credential_key& key) {
        counts->wait(http::work_kind::credentials);
        ++counts->found_credentials;
        if (is_down) return unavailable("no connection");
        return with_owner(memory_store::find_credential(key));
    }
    lookup<token_credential> cached_credential(const credential_key& key) const noexcept {
        return cached(*with_owner(rows().memory_store::find_credential(key)));
    }
    result<void> record_use(const credential_key& key, instant now, std::string_view from) {
        counts->wait(http::work_kind::token_uses);
        ++counts->uses_recorded;
        if (loses_uses && std::holds_alternative<personal_token_key>(key)) return {};
        return memory_store::record_use(key, now, from);
    }

    /// The rows, without counting.
    memory_store& rows() const noexcept { return const_cast<caching_store&>(*this); }

private:
    result<std::optional<token_credential>> with_owner(result<std::optional<token_credential>> found) const {
        if (found && *found && knows_users && users->people.contains((*found)->user)) {
            (*found)->owner = owner;
            if (owner && !knows_balances) (*found)->owner->balance.reset();
        }
        return found;
    }
    lookup<token_credential> cached(const std::optional<token_credential>& row) const noexcept {
        ++counts->cached_credentials;
        if (!is_cached) return lookup<token_credential>::unknown();
        if (forgets_after_lookup) const_cast<caching_store&>(*this).is_cached = false;
        return row ? lookup<token_credential>::hit(*row) : lookup<token_credential>::miss();
    }
};
static_assert(credential_cache<caching_store> && use_recorder<caching_store>);

/// A store that blocks and has no cache.
struct blocking_store : memory_store {
    [[nodiscard]] bool may_block() const noexcept { return true; }
};
static_assert(!credential_cache<blocking_store>);

struct counting_directory : shop_directory {
    static constexpr bool blocking = true;
    call_counts* counts = nullptr;

    result<balance> balance_of(user_id user) {
        counts->wait(http::work_kind::users);
        ++counts->found_users;
        return shop_directory::balance_of(user);
    }
    result<std::optional<quota>> quota_of(user_id user) {
        counts->wait(http::work_kind::users);
        ++counts->found_users;
        return shop_directory::quota_of(user);
    }
};

struct directory_without_balances : shop_directory {
    result<balance> balance_of(user_id) { return unavailable("no balances today"); }
};

struct blocking_directory : shop_directory {
    static constexpr bool blocking = true;
};

/// May block, but can decide without waiting while `knows_decisions`.
struct knowing_limiter {
    static constexpr bool blocking = true;
    call_counts* counts = nullptr;
    bool knows_decisions = true;
    window_limiter windows{key_capacity{64, 64}};

    limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept {
        counts->wait(http::work_kind::limits);
        ++counts->limits_taken;
        return windows.take(key, allowed, now);
    }
    limit_decision peek(const limit_key& key, const quota& allowed, instant now) noexcept {
        counts->wait(http::work_kind::limits);
        return windows.peek(key, allowed, now);
    }
    std::optional<limit_decision> try_take(const limit_key& key, const quota& allowed, instant now) noexcept {
        ++counts->limits_tried;
        if (!knows_decisions) return std::nullopt;
        return windows.take(key, allowed, now);
    }
    std::optional<limit_decision> try_peek(const limit_key& key, const quota& allowed, instant now) noexcept {
        if (!knows_decisions) return std::nullopt;
        return windows.peek(key, allowed, now);
    }
};
static_assert(rate_limiter<knowing_limiter>);

struct waiting_limiter : unlimited {
    static constexpr bool blocking = true;
};

struct shared_password {
    static constexpr std::string_view scheme = "Shared";
    static constexpr std::string_view challenge = "Shared realm=\"api\"";
    call_counts* counts;
    result<std::optional<caller>> identify(std::string_view credentials, const credential_source_ref&, instant) const {
        counts->wait(http::work_kind::credentials);
        ++counts->found_credentials;
        if (credentials != "please") return std::optional<caller>{};
        return std::optional{caller{ann, *scope_set::parse("user:balance"), credential_kind::other, {}}};
    }
};

/// The result of handling one request as a server does: on the I/O thread first, then on a worker if needed.
struct handling {
    std::string steps;  // i: the I/O thread, w: a worker, which may be called several times, b: the body has arrived
    std::vector<http::work_kind> waits;  // for what, in turn
    http::response response;
};

template <class Api>
handling serve(Api& api, http::request request, call_counts& counts, std::string_view body = {}) {
    handling handled;
    http::handler_state state;
    auto thread = thread_kind::io;
    for (int calls = 0; calls < 9; ++calls) {
        counts.on_io_thread = thread == thread_kind::io;
        counts.may_wait_for = state.waits_for();
        if (counts.on_io_thread) handled.steps += 'i';
        else if (!handled.steps.ends_with('w')) handled.steps += 'w';
        const auto step = api.advance(request, handled.response, state, thread);
        counts.on_io_thread = false;
        if (step == handle_step::done) break;
        if (step == handle_step::needs_worker) {
            handled.waits.push_back(state.waits_for());
            thread = thread_kind::worker;
            continue;
        }
        handled.steps += 'b';
        request.body = body;
        request.body_state = body_state::complete;
        thread = thread_kind::io;
    }
    CHECK(counts.blocked_io == 0);
    return handled;
}

struct caching_shop {
    call_counts counts;
    instant now = from_unix_seconds(1'700'000'000);
    counting_directory users;
    caching_store store;
    knowing_limiter limiter;
    std::string username, secret;

    caching_shop() {
        users.counts = store.counts = limiter.counts = &counts;
        store.users = &users;
        store.owner = known_user{std::nullopt, tollgate::balance{ann, *decimal::parse("1234.50"), "EUR"}};
        users.people.insert({ann, {{ann, *decimal::parse("1234.50"), "EUR"},
                                   {{"sitesmaker", {{account_id{1}, "Ann's site", true}}}}, {}}});
        std::array<std::byte, 32> secret_bytes{};
        std::array<std::byte, 16> name_bytes{};
        const auto new_secret = make_secret(secret_kind::personal_token, secret_bytes);
        const auto name = make_public_id(public_id_kind::username, name_bytes);
        REQUIRE(store.create_personal_token({ann, *token_username::from(name), digest_of(new_secret), "for tests",
                                             *scope_set::parse("user:balance sitesmaker:read"), now},
                                            9));
        username = name.view();
        secret = new_secret.view();
        balance_.basic(username, secret);
        REQUIRE(store.rows().record_use(personal_token_key{username}, now, {}));
    }

    auto policies() { return default_policies().with_clock(fake_clock{&now}).with_limiter(std::ref(limiter)); }
    auto make_api() { return account_api{shop_settings(), users, store, policies(), account_routes()}; }
    /// A valid request for a balance.
    const http::request& balance() { return balance_.view(); }

private:
    test_request balance_{method::get, "/v1/user/balance"};
};

bool is_balance(const http::response& response) {
    return response.status() == status::ok && response.body().find("1234.50") != std::string::npos;
}

}  // namespace

TEST_CASE("a balance request is handled on the I/O thread if everything is cached", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    for (const auto m : {method::get, method::head}) {
        const auto handled = serve(api, test_request{m, "/v1/user/balance"}.basic(shop.username, shop.secret).view(), shop.counts);
        CHECK(handled.steps == "i");
        CHECK(is_balance(handled.response));
    }
    CHECK(shop.counts.cached_credentials == 2);
    CHECK(shop.counts.found_credentials == 0);
    CHECK(shop.counts.found_users == 0);
    CHECK(shop.counts.limits_tried == 2);
    CHECK(shop.counts.limits_taken == 0);

    struct row {
        const char* missing;
        std::function<void(bool)> set;
        int found_credentials, found_users, limits_taken;
        http::work_kind waits_for;
    };
    for (const auto& each : std::vector<row>{
             {"the credential", [&](bool available) { shop.store.is_cached = available; }, 1, 0, 0, http::work_kind::credentials},
             {"the user", [&](bool available) { shop.store.knows_users = available; }, 0, 2, 0, http::work_kind::users},
             {"a known decision", [&](bool available) { shop.limiter.knows_decisions = available; }, 0, 0, 1, http::work_kind::limits},
             {"the balance", [&](bool available) { shop.store.knows_balances = available; }, 0, 1, 0, http::work_kind::users},
         }) {
        CAPTURE(each.missing);
        each.set(false);
        shop.counts = {};
        const auto handled = serve(api, shop.balance(), shop.counts);
        CHECK(handled.steps == "iw");
        CHECK(handled.waits == std::vector{each.waits_for});
        CHECK(is_balance(handled.response));
        // Looked up once in the cache, queried once if that was unknown, and counted once.
        CHECK(shop.counts.cached_credentials == 1);
        CHECK(shop.counts.found_credentials == each.found_credentials);
        CHECK(shop.counts.found_users == each.found_users);
        CHECK(shop.counts.limits_taken == each.limits_taken);
        each.set(true);
        CHECK(serve(api, shop.balance(), shop.counts).steps == "i");
    }
    CHECK(is_balance(api.handle(shop.balance())));
}

TEST_CASE("the directory is not queried for data that came with the credential", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    const balance other{ann, *decimal::parse("77"), "JPY"};
    for (const bool is_cached : {true, false}) {
        CAPTURE(is_cached);
        shop.store.is_cached = is_cached;
        shop.store.owner = known_user{quota{5, seconds{60}}, other};
        shop.counts = {};
        const auto both = serve(api, shop.balance(), shop.counts);
        CHECK(both.steps == (is_cached ? "i" : "iw"));
        CHECK(both.response.body() == R"({"id":1,"balance":77,"currency":"JPY"})");
        CHECK(both.response.find("X-RateLimit-Limit") == "5");
        CHECK(shop.counts.found_users == 0);

        shop.store.owner->balance.reset();
        shop.counts = {};
        const auto quota_only = serve(api, shop.balance(), shop.counts);
        CHECK(quota_only.steps == "iw");
        CHECK(is_balance(quota_only.response));
        CHECK(shop.counts.found_users == 1);
        shop.limiter.windows = window_limiter{key_capacity{64, 64}};
    }
    CHECK(is_balance(api.handle(shop.balance())));
    shop.store.owner->balance = other;
    CHECK_FALSE(is_balance(api.handle(shop.balance())));
}

TEST_CASE("a directory that never waits is called on the I/O thread, whatever the store does", "[pipeline][judge]") {
    caching_shop shop;
    shop_directory users;
    users.people = shop.users.people;
    account_api api{shop_settings(), users, shop.store, shop.policies(), account_routes()};
    const auto handled = serve(api, shop.balance(), shop.counts);
    CHECK(handled.steps == "i");
    CHECK(is_balance(handled.response));
    const auto listed = serve(api, test_request{method::get, "/v1/sitesmaker/accounts"}.basic(shop.username, shop.secret).view(),
                              shop.counts);
    CHECK(listed.steps == "i");
    CHECK(listed.response.status() == status::ok);
    directory_without_balances other;
    other.people = shop.users.people;
    account_api failing{shop_settings(), other, shop.store, shop.policies(), account_routes()};
    shop.store.knows_balances = false;
    const auto failed = serve(failing, shop.balance(), shop.counts);
    CHECK(failed.steps == "i");
    CHECK(failed.response.status() == status::service_unavailable);
}

TEST_CASE("a request waits for one thing at a time and names it", "[pipeline][judge]") {
    using enum http::work_kind;
    caching_shop shop;
    auto api = shop.make_api();
    shop.store.is_cached = shop.store.knows_users = shop.store.knows_balances = shop.limiter.knows_decisions = false;
    const auto waits = [&](method verb, const char* path, std::string_view body = {}) {
        test_request request{verb, path};
        request.basic(shop.username, shop.secret);
        if (!body.empty()) request.body(std::string{body}, "application/json");
        return serve(api, request.view(), shop.counts).waits;
    };
    CHECK(waits(method::get, "/v1/user/balance") == std::vector{credentials, users, limits, users});
    CHECK(waits(method::get, "/v1/sitesmaker/accounts") == std::vector{credentials, users, limits, users});
    CHECK(waits(method::get, "/v1/sitesmaker/1/hooks") == std::vector{credentials, users, limits, store_reads});
    CHECK(waits(method::post, "/v1/sitesmaker/1/hooks", "{}") == std::vector{credentials, users, limits, store_writes});
    CHECK(waits(method::delete_, "/v1/sitesmaker/hooks/1") == std::vector{credentials, users, limits, store_writes});
    CHECK(waits(method::get, "/v1/nowhere") == std::vector{credentials, users, limits});
}

TEST_CASE("a request judged in one call queries the store once and is counted once", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    shop.counts.may_wait_for = http::work_kind::credentials;
    shop.store.is_cached = shop.limiter.knows_decisions = false;
    const auto response = api.handle(shop.balance());
    CHECK(is_balance(response));
    CHECK(shop.counts.found_credentials == 1);
    CHECK(shop.counts.limits_taken == 1);
    CHECK(response.find("X-RateLimit-Remaining") == "999");
    shop.store.knows_users = false;
    shop.counts.blocked_io = 0;  // `handle` may wait for anything
    CHECK(serve(api, shop.balance(), shop.counts).response.find("X-RateLimit-Remaining") == "998");
}

TEST_CASE("a cache that changes between two stages does not block the I/O thread", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    // `serve` checks that no call has blocked the I/O thread.
    SECTION("the credential is evicted after it was looked up") {
        shop.store.forgets_after_lookup = true;
        CHECK(serve(api, shop.balance(), shop.counts).steps == "i");
        CHECK(shop.counts.found_credentials == 0);
        CHECK(serve(api, shop.balance(), shop.counts).steps == "iw");
        CHECK(shop.counts.found_credentials == 1);
    }
    SECTION("the user is evicted after the quota was looked up") {
        shop.store.knows_balances = false;
        const auto handled = serve(api, shop.balance(), shop.counts);
        CHECK(handled.steps == "iw");
        CHECK(is_balance(handled.response));
        CHECK(shop.counts.found_credentials == 0);
        CHECK(handled.response.find("X-RateLimit-Remaining") == "999");
    }
    SECTION("no decision is known") {
        shop.limiter.knows_decisions = false;
        const auto handled = serve(api, shop.balance(), shop.counts);
        CHECK(handled.steps == "iw");
        CHECK(handled.response.find("X-RateLimit-Remaining") == "999");
    }
}

TEST_CASE("requests that need no store are handled without a worker", "[pipeline][judge]") {
    call_counts counts;
    instant now = from_unix_seconds(1'700'000'000);
    blocking_directory users;
    blocking_store store;
    window_limiter limiter{key_capacity{64, 64}};
    auto settings = shop_settings();
    settings.anonymous_quota.requests = 100;
    account_api api{settings, users, store, default_policies().with_clock(fake_clock{&now}).with_limiter(std::ref(limiter)),
                    account_routes()};

    const std::string some_token = "Bearer " + std::string{make_secret(secret_kind::access_token, std::array<std::byte, 32>{}).view()};
    const auto check = [&](const char* name, test_request&& request, status expected, const char* steps) {
        CAPTURE(name);
        const auto handled = serve(api, request.view(), counts);
        CHECK(handled.response.status() == expected);
        CHECK(handled.steps == steps);
        CHECK(handled.response.find("X-RateLimit-Limit") == "100");
        // A response to the head alone, before the body arrives.
        http::request head = request.view();
        head.body_state = body_state::pending;
        const bool needs_body = expected == status::ok;
        const auto from_head = serve(api, head, counts);
        CHECK((from_head.steps.find('b') != std::string::npos) == needs_body);
        CHECK(from_head.response.status() == expected);
    };
    check("no User-Agent",
          std::move(test_request{method::get, "/v1/user/balance"}.without("User-Agent").field("Authorization", some_token)),
          status::forbidden, "i");
    check("two Authorization fields",
          std::move(test_request{method::get, "/v1/user/balance"}.field("Authorization", some_token).field("Authorization", some_token)),
          status::bad_request, "i");
    check("an unknown path", test_request{method::get, "/v1/nowhere"}, status::not_found, "i");
    check("a path outside of the API", test_request{method::post, "/"}, status::not_found, "i");
    check("an unknown service", test_request{method::get, "/v1/nowhere/accounts"}, status::not_found, "i");
    check("another method", test_request{method::delete_, "/v1/user/balance"}, status::method_not_allowed, "i");
    check("OPTIONS", test_request{method::options, "/v1/user/balance"}, status::no_content, "i");
    check("no credentials", test_request{method::get, "/v1/user/balance"}, status::unauthorized, "i");
    for (const char* malformed : {"Bearer", "Bearer a b", "Basic !!!", "Basic bm8gY29sb24=", "Digest x", "nothing"})
        check(malformed, std::move(test_request{method::get, "/v1/user/balance"}.field("Authorization", malformed)), status::unauthorized,
              "i");
    check("an endpoint that asks nobody", test_request{method::get, "/v1/testservice/get"}, status::ok, "i");
    check("the description", test_request{method::get, "/v1/openapi.json"}, status::ok, "i");
    check("a body of another type",
          std::move(test_request{method::post, "/v1/testservice/post"}.body("x", "text/plain").field("Content-Length", "1")),
          status::unsupported_media_type, "i");
    CHECK(serve(api, test_request{method::post, "/v1/testservice/post"}.too_large().view(), counts).response.status() ==
          status::content_too_large);
    // The counterpart: requests that need a lookup.
    CHECK(serve(api, test_request{method::get, "/v1/user/balance"}.field("Authorization", some_token).view(), counts).steps == "iw");
    CHECK(serve(api, test_request{method::get, "/v1/nowhere"}.field("Authorization", some_token).view(), counts).steps == "iw");

    while (serve(api, test_request{method::get, "/v1/nowhere"}.view(), counts).response.status() != status::too_many_requests) {}
    for (const char* path : {"/v1/user/balance", "/v1/nowhere", "/v1/testservice/get"}) {
        test_request request{method::post, path};
        http::request head = request.view();
        head.body_state = body_state::pending;
        const auto refused = serve(api, head, counts);
        CHECK(refused.response.status() == status::too_many_requests);
        CHECK(refused.steps == "i");
    }
}

TEST_CASE("a request is rejected by its head, on a worker if a store must be called", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    shop.store.is_cached = false;
    const auto post = [&](const char* path, std::string_view secret, const char* type = "application/json") {
        test_request request{method::post, path};
        request.basic(shop.username, secret).field("Content-Length", "2").field("Content-Type", type);
        http::request head = request.view();
        head.body_state = body_state::pending;
        return serve(api, head, shop.counts, "{}");
    };
    const auto expect = [](const handling& handled, status expected, const char* steps) {
        CHECK(handled.response.status() == expected);
        CHECK(handled.steps == steps);
    };
    const std::string wrong = std::string{make_secret(secret_kind::personal_token, [] {
        std::array<std::byte, 32> bytes{};
        bytes[0] = std::byte{1};
        return bytes;
    }()).view()};
    expect(post("/v1/sitesmaker/1/hooks", wrong), status::unauthorized, "iw");
    expect(post("/v1/itemplatform/1/hooks", shop.secret), status::forbidden, "iw");
    expect(post("/v1/nowhere", shop.secret), status::not_found, "iw");
    expect(post("/v1/sitesmaker/1/hooks", shop.secret, "text/plain"), status::unsupported_media_type, "iw");
    // A request that is not rejected waits for its body, and for a worker for its endpoint; it is judged once.
    shop.counts = {};
    expect(post("/v1/sitesmaker/1/hooks", shop.secret), status::unprocessable_content, "iwbiw");
    CHECK(shop.counts.found_credentials == 1);
    CHECK(shop.counts.limits_tried + shop.counts.limits_taken == 1);
    // A path with an unknown service needs no worker for its endpoint.
    shop.store.is_cached = true;
    expect(post("/v1/sitesmaker/01/hooks", shop.secret), status::not_found, "ibi");
    expect(post("/v1/testservice/post", shop.secret), status::ok, "ibi");
}

TEST_CASE("cached data also rejects requests on the I/O thread", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    const auto check = [&](test_request& request, status expected, const char* steps = "i") {
        const auto handled = serve(api, request.view(), shop.counts);
        CHECK(handled.response.status() == expected);
        CHECK(handled.steps == steps);
    };
    const std::string unknown = "tgu_" + std::string(20, 'x');
    check(test_request{method::get, "/v1/user/balance"}.basic(shop.username, shop.secret + "x"), status::unauthorized);
    check(test_request{method::get, "/v1/user/balance"}.basic(unknown, shop.secret), status::unauthorized);
    check(test_request{method::post, "/v1/user/balance"}.basic(shop.username, shop.secret), status::method_not_allowed);
    check(test_request{method::options, "/v1/user/balance"}.basic(shop.username, shop.secret), status::no_content);
    check(test_request{method::get, "/v1/nowhere"}.basic(shop.username, shop.secret), status::not_found);
    check(test_request{method::get, "/v1/itemplatform/accounts"}.basic(shop.username, shop.secret), status::forbidden);
    check(test_request{method::get, "/v1/testservice/auth"}.basic(shop.username, shop.secret), status::ok);
    check(test_request{method::get, "/v1/sitesmaker/accounts"}.basic(shop.username, shop.secret), status::ok, "iw");
    CHECK(shop.counts.found_credentials == 0);
    CHECK(shop.counts.limits_taken == 0);

    shop.users.people.clear();  // the user was deleted
    shop.counts.found_users = 0;
    check(test_request{method::get, "/v1/user/balance"}.basic(shop.username, shop.secret), status::unauthorized, "iw");
    CHECK(shop.counts.found_users == 1);
}

TEST_CASE("with a non-blocking store only the limiter may need a worker", "[pipeline][judge]") {
    caching_shop shop;
    auto& users = static_cast<shop_directory&>(shop.users);
    account_api api{shop_settings(), users, shop.store.rows(), shop.policies(), account_routes()};
    CHECK(serve(api, shop.balance(), shop.counts).steps == "i");
    shop.limiter.knows_decisions = false;
    const auto handled = serve(api, shop.balance(), shop.counts);
    CHECK(handled.steps == "iw");
    CHECK(handled.response.find("X-RateLimit-Remaining") == "998");
    account_api counts_here{shop_settings(), users, shop.store.rows(), default_policies().with_clock(fake_clock{&shop.now}), account_routes()};
    CHECK_FALSE(counts_here.may_block());
    CHECK(serve(counts_here, shop.balance(), shop.counts).steps == "i");
    CHECK(serve(counts_here, test_request{method::get, "/v1/nowhere"}.field("X", "y").view(), shop.counts).steps == "i");
}

TEST_CASE("a preflight gets its response without its credentials and is not counted", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    const auto send = [&](bool is_preflight, std::string_view user_agent = "test") {
        test_request request{method::options, "/v1/user/balance"};
        request.field("Origin", "https://app.example").basic(shop.username, shop.secret).without("User-Agent");
        if (!user_agent.empty()) request.field("User-Agent", std::string{user_agent});
        if (is_preflight) request.field("Access-Control-Request-Method", "GET");
        shop.counts = {};
        return serve(api, request.view(), shop.counts).response;
    };
    for (int i = 0; i < 2; ++i) {
        const auto preflight = send(true);
        CHECK(preflight.status() == status::no_content);
        CHECK(preflight.find("Access-Control-Allow-Origin") == "*");
        CHECK(preflight.find("Access-Control-Allow-Methods") == preflight.find("Allow"));
        CHECK(preflight.find("X-RateLimit-Limit") == "60");  // an address's, whatever the credentials
        CHECK(preflight.find("X-RateLimit-Remaining") == "60");
        CHECK(shop.counts.cached_credentials + shop.counts.found_credentials == 0);
        CHECK(shop.counts.limits_tried + shop.counts.limits_taken == 0);
    }
    const auto other = send(false);
    CHECK(other.status() == status::no_content);
    CHECK(other.find("X-RateLimit-Remaining") == "999");
    CHECK(other.find("Access-Control-Allow-Methods").empty());
    const auto nameless = send(true, "");
    CHECK(nameless.status() == status::forbidden);
    CHECK(nameless.find("X-RateLimit-Remaining") == "59");
}

TEST_CASE("a due use is recorded once, on a worker", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    CHECK(serve(api, shop.balance(), shop.counts).steps == "i");
    CHECK(shop.counts.uses_recorded == 0);
    shop.now += std::chrono::hours{1};
    const auto recorded = serve(api, shop.balance(), shop.counts);
    CHECK(recorded.steps == "iw");
    CHECK(is_balance(recorded.response));
    CHECK(shop.counts.uses_recorded == 1);
    CHECK(shop.counts.found_credentials == 0);
    CHECK(serve(api, shop.balance(), shop.counts).steps == "i");

    // A use that the store lost is recorded again, but not within the same second.
    shop.now += std::chrono::hours{1};
    shop.store.loses_uses = true;
    CHECK(serve(api, shop.balance(), shop.counts).steps == "iw");
    CHECK(shop.counts.uses_recorded == 2);
    CHECK(serve(api, shop.balance(), shop.counts).steps == "i");
    shop.now += seconds{1};
    CHECK(serve(api, shop.balance(), shop.counts).steps == "iw");
    CHECK(shop.counts.uses_recorded == 3);
}

TEST_CASE("an expired access token is refused from the cache", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    std::array<std::byte, 32> bytes{};
    const auto token = make_secret(secret_kind::access_token, bytes);
    REQUIRE(shop.store.create_access_token({ann, application_id{1}, digest_of(token),
                                            *scope_set::parse("user:balance"), shop.now, shop.now + seconds{60}}));
    REQUIRE(shop.store.rows().record_use(access_token_key{digest_of(token)}, shop.now, {}));
    test_request request{method::get, "/v1/user/balance"};
    request.bearer(token.view());
    const auto valid = serve(api, request.view(), shop.counts);
    CHECK(valid.steps == "i");
    CHECK(is_balance(valid.response));
    shop.now += seconds{60};
    const auto expired = serve(api, request.view(), shop.counts);
    CHECK(expired.steps == "i");
    CHECK(expired.response.status() == status::unauthorized);
    CHECK(api.handle(request.view()).status() == status::unauthorized);
}

TEST_CASE("an unavailable store is detected on a worker, and the request is not counted", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    shop.store.is_cached = false;
    shop.store.is_down = true;
    const auto failed = serve(api, shop.balance(), shop.counts);
    CHECK(failed.steps == "iw");
    CHECK(failed.response.status() == status::service_unavailable);
    CHECK(failed.response.find("X-RateLimit-Remaining") == "60");
    CHECK(shop.counts.limits_tried + shop.counts.limits_taken == 0);
}

TEST_CASE("a dependency that may block needs a worker", "[pipeline][judge]") {
    caching_shop shop;
    const auto plain = [&] { return default_policies().with_clock(fake_clock{&shop.now}); };
    SECTION("a limiter that always waits") {
        account_api api{shop_settings(), shop.users, shop.store, plain().with_limiter(waiting_limiter{}), account_routes()};
        CHECK(serve(api, shop.balance(), shop.counts).steps == "iw");
    }
    SECTION("a directory, of a user whom the store does not know") {
        blocking_directory users;
        users.people = shop.users.people;
        shop.store.knows_users = false;
        account_api api{shop_settings(), users, shop.store, plain(), account_routes()};
        const auto handled = serve(api, shop.balance(), shop.counts);
        CHECK(handled.steps == "iw");
        CHECK(is_balance(handled.response));
    }
    SECTION("an authenticator without a lookup, but not for other tokens") {
        account_api api{shop_settings(), shop.users, shop.store,
                        plain().with_authenticators(basic_token{}, shared_password{&shop.counts}), account_routes()};
        CHECK(serve(api, shop.balance(), shop.counts).steps == "i");
        const auto shared = serve(api, test_request{method::get, "/v1/user/balance"}.field("Authorization", "Shared please").view(),
                                  shop.counts);
        CHECK(shared.steps == "iw");
        CHECK(is_balance(shared.response));
        CHECK(shop.counts.found_credentials == 1);
        CHECK(serve(api, test_request{method::get, "/v1/user/balance"}.field("Authorization", "Shared now").view(), shop.counts)
                  .response.status() == status::unauthorized);
    }
}

TEST_CASE("an exception on a worker is handled there", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    shop.store.knows_balances = false;
    shop.users.throws = true;
    const auto thrown = serve(api, shop.balance(), shop.counts);
    CHECK(thrown.steps == "iw");
    CHECK(thrown.response.status() == status::internal_server_error);
    CHECK(thrown.response.find("X-RateLimit-Remaining") == "999");
}

TEST_CASE("a request that waits for more than a second is judged again before it acts", "[pipeline][judge]") {
    struct row {
        const char* ended;
        std::function<void(caching_shop&)> end;
        status in_time, late;
    };
    for (const auto& each : std::vector<row>{
             {"nothing", [](caching_shop&) {}, status::unprocessable_content, status::unprocessable_content},
             {"the token", [](caching_shop& shop) { REQUIRE(shop.store.rows().revoke(personal_token_revocation{token_id{1}})); },
              status::unprocessable_content, status::unauthorized},
             {"the user", [](caching_shop& shop) { shop.users.people.clear(); }, status::not_found, status::unauthorized},
         }) {
        for (const bool waits_for_body : {true, false}) {
            for (const bool is_cached : {true, false}) {
                for (const auto& [wait, is_late] : {std::pair{milliseconds{1000}, false}, std::pair{milliseconds{1001}, true},
                                                    std::pair{milliseconds{-1}, true}}) {
                    CAPTURE(each.ended, waits_for_body, is_cached, wait.count());
                    caching_shop shop;
                    auto api = shop.make_api();
                    shop.store.is_cached = shop.store.knows_users = is_cached;
                    test_request request{method::post, "/v1/sitesmaker/1/hooks"};
                    request.basic(shop.username, shop.secret).field("Content-Type", "application/json").pending(2);
                    http::response response;
                    http::handler_state state;
                    auto thread = thread_kind::io;
                    const auto advance_until = [&](handle_step expected) {
                        for (;;) {
                            const auto step = api.advance(request.view(), response, state, thread);
                            const bool for_endpoint = step == handle_step::needs_worker && state.waits_for() == http::work_kind::store_writes;
                            if (step == expected && (step != handle_step::needs_worker || for_endpoint)) return;
                            REQUIRE(step == handle_step::needs_worker);
                            thread = thread_kind::worker;
                        }
                    };
                    advance_until(handle_step::needs_body);
                    const auto pass_time = [&, &wait = wait] {
                        each.end(shop);
                        shop.now += wait;
                    };
                    if (waits_for_body) pass_time();
                    request.arrived("{}");
                    thread = thread_kind::io;
                    if (!waits_for_body) {
                        advance_until(handle_step::needs_worker);
                        pass_time();
                        thread = thread_kind::worker;
                    }
                    shop.counts.limits_taken = shop.counts.limits_tried = 0;
                    advance_until(handle_step::done);
                    CHECK(response.status() == (is_late ? each.late : each.in_time));
                    CHECK(shop.counts.limits_taken + shop.counts.limits_tried == 0);
                }
            }
        }
    }
}

TEST_CASE("a request that always waits too long is refused", "[pipeline][judge]") {
    caching_shop shop;
    auto api = shop.make_api();
    shop.store.is_cached = shop.store.knows_users = shop.limiter.knows_decisions = false;
    test_request request{method::get, "/v1/sitesmaker/1/hooks"};
    request.basic(shop.username, shop.secret);
    http::response response;
    http::handler_state state;
    int calls = 0;
    auto thread = thread_kind::io;
    auto waited_for = http::work_kind::other;
    while (api.advance(request.view(), response, state, thread) != handle_step::done) {
        REQUIRE(++calls < 20);
        CHECK((thread == thread_kind::io || state.waits_for() != waited_for));  // a server would answer 500
        waited_for = state.waits_for();
        thread = thread_kind::worker;
        shop.now += seconds{2};
    }
    CHECK(response.status() == status::service_unavailable);
    CHECK_FALSE(response.find("Retry-After").empty());
    CHECK(shop.counts.found_credentials == 3);
    CHECK(shop.counts.limits_taken <= 1);
}
