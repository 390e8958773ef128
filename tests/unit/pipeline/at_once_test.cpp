#include <tollgate/pipeline/detail/at_once.hpp>

#include <tollgate/api/account_api.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace tollgate::test;
using http::method;

namespace {

/// A store that may wait, and says what it would not have to wait for; and whether it was asked all the same.
struct recalling_store : memory_store {
    static constexpr bool blocking = true;

    bool remembers = true;
    int asked = 0;
    int uses_recorded = 0;
    bool forgets_uses = false;

    result<std::optional<token_credential>> find_personal_token(std::string_view username) {
        ++asked;
        return memory_store::find_personal_token(username);
    }
    result<std::optional<token_credential>> find_access_token(const digest& token) {
        ++asked;
        return memory_store::find_access_token(token);
    }
    std::optional<std::optional<token_credential>> recall_personal_token(std::string_view username) const noexcept {
        if (!remembers) return std::nullopt;
        return *rows().find_personal_token(username);
    }
    std::optional<std::optional<token_credential>> recall_access_token(const digest& token) const noexcept {
        if (!remembers) return std::nullopt;
        return *rows().find_access_token(token);
    }
    result<void> record_personal_token_use(std::string_view username, instant now) {
        ++uses_recorded;
        if (forgets_uses) return result<void>{};
        return memory_store::record_personal_token_use(username, now);
    }
    result<void> record_access_token_use(const digest& token, instant now) {
        ++uses_recorded;
        return memory_store::record_access_token_use(token, now);
    }

    /// What it keeps, asked behind its back.
    memory_store& rows() const noexcept { return const_cast<recalling_store&>(*this); }
};
static_assert(credential_recaller<recalling_store> && use_recorder<recalling_store>);

struct recalling_directory : shop_directory {
    static constexpr bool blocking = true;
    bool remembers_them = true;
    [[nodiscard]] bool remembers(user_id) const noexcept { return remembers_them; }
};

/// Says that it need not wait, or that it must.
struct leasing_limiter : unlimited {
    static constexpr bool blocking = true;
    bool at_hand = true;
    [[nodiscard]] bool answers_at_once(const limit_key& key, const quota&) const noexcept {
        return at_hand && key.kind() == limit_kind::user;
    }
};

struct waiting_limiter : unlimited {
    static constexpr bool blocking = true;
};

struct waiting_directory : shop_directory {
    static constexpr bool blocking = true;
};

struct throwing_directory : recalling_directory {
    result<std::optional<quota>> quota_of(user_id) { throw std::runtime_error{"a directory's own trouble"}; }
};

struct guest_pass {
    static constexpr std::string_view scheme = "Guest";
    static constexpr std::string_view challenge = "Guest realm=\"api\"";
    result<std::optional<caller>> identify(std::string_view, recalling_store& store, instant) const {
        ++store.asked;
        return std::optional<caller>{};
    }
};

struct recalling_shop {
    instant now = from_unix_seconds(1'700'000'000);
    recalling_directory users;
    recalling_store store;
    leasing_limiter limiter;
    std::string username, secret;

    recalling_shop() {
        users.people.insert({ann, {{ann, *decimal::parse("1234.50"), *currency_code::from("EUR")}, {}, {}}});
        std::array<std::byte, 32> secret_bytes{};
        std::array<std::byte, 16> name_bytes{};
        const auto made = make_secret(secret_kind::personal_token, secret_bytes);
        const auto name = make_public_id(public_id_kind::username, name_bytes);
        REQUIRE(store.create_personal_token({ann, *token_username::from(name), digest_of(made), "for tests",
                                             *scope_set::parse("user:balance"), now},
                                            9));
        username = name.view();
        secret = made.view();
        balance_.basic(username, secret);
        REQUIRE(store.rows().record_personal_token_use(username, now));
    }

    auto make_api() {
        return account_api{shop_settings(), users, store,
                           default_policies().with_clock(fake_clock{&now}).with_limiter(std::ref(limiter))};
    }
    /// A good request for a balance.
    const http::request& balance() { return balance_.asked(); }

private:
    sent balance_{method::get, "/v1/user/balance"};
};

bool is_balance(const http::response& answer) {
    return answer.status() == http::status::ok && answer.body().find("1234.50") != std::string::npos;
}

}  // namespace

TEST_CASE("a balance is answered in place as long as all that it takes is remembered") {
    recalling_shop shop;
    auto api = shop.make_api();
    CHECK_FALSE(api.may_block(shop.balance()));
    CHECK_FALSE(api.may_block(sent{method::head, "/v1/user/balance"}.basic(shop.username, shop.secret).asked()));
    CHECK(shop.store.asked == 0);  // it looks, and asks nobody

    struct row {
        const char* missing;
        std::function<void(bool)> set;
    };
    for (const auto& [missing, set] : std::vector<row>{
             {"the credential", [&](bool there) { shop.store.remembers = there; }},
             {"the user", [&](bool there) { shop.users.remembers_them = there; }},
             {"room in the window", [&](bool there) { shop.limiter.at_hand = there; }},
         }) {
        CAPTURE(missing);
        set(false);
        CHECK(api.may_block(shop.balance()));
        CHECK(is_balance(api.handle(shop.balance())));  // which answers all the same
        set(true);
        CHECK_FALSE(api.may_block(shop.balance()));
    }
    CHECK(is_balance(api.handle(shop.balance())));
}

TEST_CASE("whatever else is asked may wait") {
    recalling_shop shop;
    auto api = shop.make_api();
    const auto may_block = [&](sent& request) { return api.may_block(request.asked()); };
    CHECK(may_block(sent{method::get, "/v1/user/balance"}.field("X", "y")));                             // nobody
    CHECK(may_block(sent{method::get, "/v1/user/balance"}.basic(shop.username, shop.secret + "x")));     // no secret
    CHECK(may_block(sent{method::get, "/v1/user/balance"}.basic("tgu_nobody", shop.secret)));            // no token
    CHECK(may_block(sent{method::get, "/v1/user/balance"}.basic(shop.username, shop.secret).bearer("x")));  // two
    CHECK(may_block(sent{method::get, "/v1/user/balance"}.basic(shop.username, shop.secret).without("User-Agent")));
    CHECK(may_block(sent{method::post, "/v1/user/balance"}.basic(shop.username, shop.secret)));
    CHECK(may_block(sent{method::options, "/v1/user/balance"}.basic(shop.username, shop.secret)));
    CHECK(may_block(sent{method::get, "/v1/sitesmaker/accounts"}.basic(shop.username, shop.secret)));
    CHECK(may_block(sent{method::get, "/v1/nowhere"}.basic(shop.username, shop.secret)));
    CHECK(may_block(sent{method::get, "/"}.basic(shop.username, shop.secret)));
    CHECK_FALSE(may_block(sent{method::get, "/v1/user/balance"}.basic(shop.username, shop.secret).field("X", "y")));
}

TEST_CASE("over a store that never waits, room in the window is all that may have to be waited for", "[pipeline]") {
    recalling_shop shop;
    account_api api{shop_settings(), static_cast<shop_directory&>(shop.users), shop.store.rows(),
                    default_policies().with_clock(fake_clock{&shop.now}).with_limiter(std::ref(shop.limiter))};
    CHECK_FALSE(api.may_block(shop.balance()));
    shop.limiter.at_hand = false;
    CHECK(api.may_block(shop.balance()));
    account_api counts_here{shop_settings(), static_cast<shop_directory&>(shop.users), shop.store.rows()};
    CHECK_FALSE(counts_here.may_block(shop.balance()));
    CHECK_FALSE(counts_here.may_block(sent{method::get, "/v1/nowhere"}.field("X", "y").asked()));
}

TEST_CASE("several that came together are for a worker, which need not look", "[pipeline]") {
    recalling_shop shop;
    auto api = shop.make_api();
    auto asked = shop.balance();
    CHECK_FALSE(api.may_block(asked));
    asked.is_followed = true;
    CHECK(api.may_block(asked));
    CHECK(is_balance(api.handle(asked)));
}

TEST_CASE("a use that is to be recorded is recorded by a thread that may wait") {
    recalling_shop shop;
    auto api = shop.make_api();
    CHECK_FALSE(api.may_block(shop.balance()));
    CHECK(shop.store.uses_recorded == 0);
    shop.now += std::chrono::hours{1};
    CHECK(api.may_block(shop.balance()));
    CHECK(is_balance(api.handle(shop.balance())));
    CHECK(shop.store.uses_recorded == 1);
    CHECK_FALSE(api.may_block(shop.balance()));

    // Looking is not recording, and who is not recorded for now need not wait.
    shop.now += std::chrono::hours{1};
    CHECK(api.may_block(shop.balance()));
    CHECK(api.may_block(shop.balance()));
    shop.store.forgets_uses = true;
    CHECK(is_balance(api.handle(shop.balance())));
    CHECK(shop.store.uses_recorded == 2);
    CHECK_FALSE(api.may_block(shop.balance()));
    shop.now += seconds{1};
    CHECK(api.may_block(shop.balance()));
}

TEST_CASE("an access token that is over waits for its refusal") {
    recalling_shop shop;
    auto api = shop.make_api();
    std::array<std::byte, 32> bytes{};
    const auto made = make_secret(secret_kind::access_token, bytes);
    REQUIRE(shop.store.create_access_token({ann, application_id{1}, digest_of(made),
                                            *scope_set::parse("user:balance"), shop.now, shop.now + seconds{60}}));
    REQUIRE(shop.store.rows().record_access_token_use(digest_of(made), shop.now));
    sent request{method::get, "/v1/user/balance"};
    request.bearer(made.view());
    CHECK_FALSE(api.may_block(request.asked()));
    CHECK(is_balance(api.handle(request.asked())));
    shop.now += seconds{60};
    CHECK(api.may_block(request.asked()));
    CHECK(api.handle(request.asked()).status() == http::status::unauthorized);
}

TEST_CASE("where a part cannot say, any request may wait") {
    recalling_shop shop;
    SECTION("a limiter that only ever waits") {
        account_api api{shop_settings(), shop.users, shop.store,
                        default_policies().with_clock(fake_clock{&shop.now}).with_limiter(waiting_limiter{})};
        CHECK(api.may_block(shop.balance()));
    }
    SECTION("a directory that only ever waits") {
        waiting_directory users;
        account_api api{shop_settings(), users, shop.store, default_policies().with_clock(fake_clock{&shop.now})};
        CHECK(api.may_block(shop.balance()));
    }
    SECTION("an authenticator of one's own") {
        account_api api{shop_settings(), shop.users, shop.store,
                        default_policies()
                            .with_clock(fake_clock{&shop.now})
                            .with_authenticators(basic_token{}, guest_pass{})};
        CHECK(api.may_block(shop.balance()));
    }
    SECTION("a directory that throws") {
        throwing_directory users;
        account_api api{shop_settings(), users, shop.store, default_policies().with_clock(fake_clock{&shop.now})};
        CHECK(api.may_block(shop.balance()));
    }
}
