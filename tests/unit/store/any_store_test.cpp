#include <tollgate/store/any_store.hpp>

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/api/sign_in.hpp>
#include <tollgate/store/memory.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

struct one_user {
    static constexpr bool blocking = false;
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

struct one_password {
    result<std::optional<user_id>> check_password(std::string_view login, std::string_view password) {
        return login == "ann" && password == "open sesame" ? std::optional{user_id{1}} : std::nullopt;
    }
};

/// A program whose store is chosen at run time, with everything as members.
struct program {
    explicit program(any_store chosen) : store{std::move(chosen)} {}

    any_store store;
    one_user users;
    one_password passwords;
    cookie_sessions<any_store, one_password> sessions{{.auth_url = "https://shop.example"}, store, passwords};
    account_service service{{.base_url = "https://shop.example/v1", .services = {{"shop", {"order.paid"}}}}, users, store, sessions};
    hook_dispatcher dispatcher{store, {}, service.policies()};
};

}  // namespace

/// A memory store with a clock of its own.
struct clocked_store : memory_store {
    struct clock_type {
        [[nodiscard]] instant now() const noexcept { return instant{std::chrono::hours{1}}; }
    };
    [[nodiscard]] clock_type clock() const noexcept { return {}; }
};

TEST_CASE("a store of any class has statistics and a clock if its class has", "[store][any_store]") {
    const tollgate_test::temporary_directory directory;
    const auto in_memory = any_store::of<memory_store>();
    CHECK_FALSE(in_memory.has_statistics());
    CHECK(in_memory.statistics().calls == 0);
    const auto before = system_clock{}.now();
    CHECK(in_memory.now() >= before);

    const auto in_file = any_store::of<sqlite_store>(directory.file("statistics.db"));
    REQUIRE(in_file.has_statistics());
    const auto calls = in_file.statistics().calls;
    CHECK(in_file.personal_tokens_of(user_id{1}));
    CHECK(in_file.statistics().calls > calls);

    const auto clocked = any_store::of<clocked_store>();
    CHECK(clocked.now() == instant{std::chrono::hours{1}});
    const auto policies = default_policies().with_clock(clocked);
    CHECK(policies.clock().now() == instant{std::chrono::hours{1}});
    const auto steady = policies.clock().steady_now();
    CHECK(steady <= any_store::steady_now());
}

TEST_CASE("a store is chosen at run time", "[store][any_store]") {
    const tollgate_test::temporary_directory directory;
    for (const bool in_file : {false, true}) {
        CAPTURE(in_file);
        program running{in_file ? sqlite_store::open_any(directory.file("any.db")).value() : memory_store::make_any()};
        CHECK(running.store.may_block() == in_file);
        const personal_token_request wanted{user_id{1}, "test", *scope_set::parse("user:balance")};
        const auto token = issue_personal_token(running.store, wanted, system_clock{}.now());
        REQUIRE(token);
        const auto copy = running.store;
        CHECK(copy.personal_tokens_of(user_id{1})->size() == 1);
        CHECK(running.store.find_session(digest_of("none")));
        CHECK(running.store.has_outbox());

        http::request request;
        request.target = http::target::from("/v1/user/balance");
        const auto credentials = token->authorization();
        request.fields.add("User-Agent", "test");
        request.fields.add("Authorization", credentials);
        CHECK(running.service.handle(request).status() == http::status::ok);
    }
}
