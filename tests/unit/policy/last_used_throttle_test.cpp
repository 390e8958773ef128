#include <tollgate/policy/detail/last_used_throttle.hpp>

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/policy/token_authenticators.hpp>
#include <tollgate/store/memory.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;

namespace {

constexpr instant noon = from_unix_seconds(1'700'000'000);
constexpr milliseconds moment{1};
constexpr std::chrono::hours hour{1};

/// A store that counts recorded uses, and fails in the chosen way.
struct counting_store {
    memory_store inner;
    int recorded = 0;
    bool fails = false;
    bool throws = false;

    result<std::optional<token_credential>> find_credential(const credential_key& key) { return inner.find_credential(key); }
    result<void> record_use(const credential_key& key, instant now, std::string_view from) {
        ++recorded;
        if (throws) throw std::runtime_error{"connection lost"};
        if (fails) return unavailable("the disk is full");
        return inner.record_use(key, now, from);
    }
};
static_assert(use_recorder<counting_store>);

/// A store without use_recorder.
struct plain_store {
    memory_store inner;

    result<std::optional<token_credential>> find_credential(const credential_key& key) { return inner.find_credential(key); }
};
static_assert(credential_source<plain_store> && !use_recorder<plain_store>);

struct personal {
    std::string good, bad;
};

personal issue(memory_store& store) {
    const auto token = *issue_personal_token(store, {user_id{7}, "for tests", {}}, noon);
    const std::string name{token.username.view()};
    return {
        tollgate::detail::base64_encode(name + ":" + std::string{token.secret.view()}),
        tollgate::detail::base64_encode(
            name + ":" + std::string{make_secret(secret_kind::personal_token, std::array<std::byte, 32>{}).view()})};
}

std::string issue_access(memory_store& store) {
    std::array<std::byte, 32> bytes{};
    bytes[0] = std::byte{1};
    const auto secret = make_secret(secret_kind::access_token, bytes);
    REQUIRE(store.create_access_token({user_id{7}, application_id{1}, digest_of(secret), {}, noon, noon + 24 * hour}));
    return std::string{secret.view()};
}

}  // namespace

TEST_CASE("a use is due one hour after the last one") {
    struct row {
        std::optional<instant> last;
        bool due;
    };
    const auto each = GENERATE(row{std::nullopt, true}, row{noon - hour, true}, row{noon - hour + moment, false},
                               row{noon, false}, row{noon + hour - moment, false}, row{noon + hour, true});
    tollgate::detail::last_used_throttle pace;
    CHECK(pace.is_due(each.last, noon) == each.due);
}

TEST_CASE("at most one use per second is due in total, whatever the clock does") {
    tollgate::detail::last_used_throttle pace;
    CHECK(pace.is_due({}, noon));
    CHECK_FALSE(pace.is_due({}, noon));
    CHECK_FALSE(pace.is_due({}, noon + seconds{1} - moment));
    CHECK_FALSE(pace.is_due({}, noon - seconds{1} + moment));
    CHECK(pace.is_due({}, noon + seconds{1}));
    CHECK(pace.is_due({}, noon - seconds{100}));  // reset
    const tollgate::detail::last_used_throttle copy = pace;
    tollgate::detail::last_used_throttle assigned;
    assigned = copy;
    CHECK_FALSE(assigned.is_due({}, noon - seconds{100}));
    CHECK(assigned.is_due({}, noon));
    CHECK(pace.is_due({}, noon));  // a separate throttle
}

TEST_CASE("of parallel uses one is due") {
    for (int round = 0; round < 20; ++round) {
        tollgate::detail::last_used_throttle pace;
        std::atomic<int> ready{0}, due{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                ++ready;
                while (ready < 4) std::this_thread::yield();
                if (pace.is_due({}, noon)) ++due;
            });
        for (auto& each : threads) each.join();
        CHECK(due == 1);
    }
}

TEST_CASE("the use of a personal token is recorded when it was accepted") {
    counting_store store;
    const auto token = issue(store.inner);
    const basic_token rule;
    CHECK_FALSE(*rule.identify(token.bad, store, noon));
    CHECK(store.recorded == 0);
    CHECK(*rule.identify(token.good, store, noon));
    CHECK(store.recorded == 1);
    CHECK((*store.inner.personal_tokens_of(user_id{7}))[0].last_used_at == noon);
    CHECK(*rule.identify(token.good, store, noon + seconds{10}));
    CHECK(store.recorded == 1);
    CHECK(*rule.identify(token.good, store, noon + hour));
    CHECK(store.recorded == 2);
}

TEST_CASE("the use of an access token is recorded when it was accepted") {
    counting_store store;
    const auto token = issue_access(store.inner);
    const bearer_token rule;
    CHECK_FALSE(*rule.identify(token, store, noon + 24 * hour));  // the token has expired
    CHECK(store.recorded == 0);
    CHECK(*rule.identify(token, store, noon));
    CHECK(store.recorded == 1);
    CHECK((*store.inner.find_credential(access_token_key{digest_of(token)}))->last_used_at == noon);
    CHECK(*rule.identify(token, store, noon + hour - moment));
    CHECK(store.recorded == 1);
    CHECK(*rule.identify(token, store, noon + hour));
    CHECK(store.recorded == 2);
}

TEST_CASE("a failure to record a use refuses no request and is retried later") {
    counting_store store;
    store.fails = GENERATE(false, true);
    store.throws = !store.fails;
    const auto token = issue(store.inner);
    const auto access = issue_access(store.inner);
    const basic_token basic;
    const bearer_token bearer;
    for (int i = 0; i < 3; ++i) {
        CHECK(*basic.identify(token.good, store, noon));
        CHECK(*bearer.identify(access, store, noon));
    }
    CHECK(store.recorded == 2);
    CHECK(*basic.identify(token.good, store, noon + seconds{1}));
    CHECK(*bearer.identify(access, store, noon + seconds{1}));
    CHECK(store.recorded == 4);
}

TEST_CASE("a store without use_recorder is accepted") {
    plain_store store;
    const auto token = issue(store.inner);
    const auto access = issue_access(store.inner);
    CHECK(*basic_token{}.identify(token.good, store, noon));
    CHECK(*bearer_token{}.identify(access, store, noon));
}
