#include <tollgate/account/import.hpp>

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/policy/token_authenticators.hpp>
#include <tollgate/store/memory.hpp>

#include <tollgate/testing/detail/expect.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <string_view>

using namespace tollgate;
using tollgate::testing::expect_error;
using tollgate::testing::value_of;

namespace {

constexpr instant noon = from_unix_seconds(1'700'000'000);
constexpr std::string_view old_secret = "9f86d081884c7d659a2feaa0c55ad015";
constexpr std::string_view signing_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const account_ref anns_site{*service_name::from("sitesmaker"), account_id{1}};
const service_catalog services{{"sitesmaker", {"site.created"}}};

new_personal_token old_token() {
    return {.user = user_id{7},
            .username = *token_username::from("ann-backup"),
            .secret_digest = sha256(old_secret),
            .description = "nightly backup",
            .scopes = *scope_set::parse("user:balance"),
            .created_at = noon};
}

new_hook old_hook() {
    return {.account = anns_site,
            .event = "site.created",
            .target_url = "https://a.example/in",
            .secret = std::string{signing_secret},
            .created_at = noon};
}

template <class Authenticator>
std::optional<caller> authenticate(memory_store& store, std::string_view username, std::string_view secret) {
    const auto credentials = tollgate::detail::base64_encode(std::string{username}.append(":").append(secret));
    return value_of(Authenticator{}.identify(credentials, store, noon));
}

}  // namespace

TEST_CASE("the example of docs/importing.md") {
    memory_store store;
    // [import]
    const new_personal_token old{.user = user_id{7},
                                 .username = *token_username::from("ann-backup"),
                                 .secret_digest = digest_of("9f86d081884c7d659a2feaa0c55ad015"),
                                 .description = "nightly backup",
                                 .scopes = *scope_set::parse("user:balance"),
                                 .created_at = from_unix_seconds(1'549'166'706)};
    const auto outcome = import_personal_token(store, old);
    const auto policies = default_policies().with_authenticators(imported_basic_token{}, bearer_token{});
    // [/import]
    CHECK(value_of(outcome) == import_outcome::created);
    CHECK(policies.authenticators().size() == 2);
    CHECK(authenticate<imported_basic_token>(store, "ann-backup", old_secret));
}

TEST_CASE("an imported token works with its own username and secret, where the program accepts them") {
    memory_store store;
    CHECK(value_of(check_import(store, old_token())) == import_outcome::created);
    CHECK(value_of(store.personal_tokens_of(user_id{7})).empty());
    CHECK(value_of(import_personal_token(store, old_token())) == import_outcome::created);

    const auto known = authenticate<imported_basic_token>(store, "ann-backup", old_secret);
    REQUIRE(known);
    CHECK(known->user == user_id{7});
    CHECK(known->scopes.text() == "user:balance");
    CHECK_FALSE(authenticate<basic_token>(store, "ann-backup", old_secret));
    // Again, because what one authenticator has read must not change what another one accepts.
    CHECK(authenticate<imported_basic_token>(store, "ann-backup", old_secret));
    CHECK_FALSE(authenticate<basic_token>(store, "ann-backup", old_secret));

    for (const auto& wrong : {std::string{old_secret.substr(1)}, std::string{}, std::string(limits::imported_secret_bytes_max + 1, 'a')})
        CHECK_FALSE(authenticate<imported_basic_token>(store, "ann-backup", wrong));
    CHECK_FALSE(authenticate<imported_basic_token>(store, "ann-backup-2", old_secret));
}

TEST_CASE("secrets of up to 255 bytes are accepted, and generated ones, too") {
    memory_store store;
    for (const auto& secret : {std::string{"a"}, std::string{"a:b"}, std::string(limits::imported_secret_bytes_max, 'a'),
                               std::string{"tgp_000000000000000000000000000000000000000000000000x"}}) {
        auto token = old_token();
        token.username = *token_username::from("user" + std::to_string(secret.size()));
        token.secret_digest = sha256(secret);
        REQUIRE(import_personal_token(store, token));
        CHECK(authenticate<imported_basic_token>(store, token.username, secret));
    }
    const auto generated = value_of(issue_personal_token(store, {user_id{8}, "", {}}, noon));
    CHECK(authenticate<imported_basic_token>(store, generated.username, generated.secret));
}

TEST_CASE("a second import of a token changes nothing, and another token does not take its username") {
    memory_store store;
    REQUIRE(import_personal_token(store, old_token()));
    CHECK(value_of(import_personal_token(store, old_token(), 1)) == import_outcome::unchanged);
    CHECK(value_of(store.personal_tokens_of(user_id{7})).size() == 1);

    auto of_another_user = old_token();
    of_another_user.user = user_id{8};
    expect_error(import_personal_token(store, of_another_user), error_kind::conflict);
    auto with_another_secret = old_token();
    with_another_secret.secret_digest = sha256("renewed");
    expect_error(import_personal_token(store, with_another_secret), error_kind::conflict);
    CHECK(authenticate<imported_basic_token>(store, "ann-backup", old_secret));

    auto one_more = old_token();
    one_more.username = *token_username::from("ann-report");
    expect_error(import_personal_token(store, one_more, 1), error_kind::invalid);
    CHECK(value_of(import_personal_token(store, one_more, 2)) == import_outcome::created);
}

TEST_CASE("a token that could not be used or listed is not imported") {
    memory_store store;
    const auto refused = [&store](auto change, std::string_view field) {
        auto token = old_token();
        change(token);
        const auto outcome = import_personal_token(store, token);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == error_kind::invalid);
        CHECK(outcome.error().message.starts_with(field));
    };
    for (const auto* username : {"", "a:b", "a b", "a\n", "\xc3\xa4"})
        refused([&](auto& token) { token.username = *token_username::from(username); }, "username");
    refused([](auto& token) { token.description = "two\nlines"; }, "description");
    refused([](auto& token) { token.description = std::string(256, 'a'); }, "description");
    refused([](auto& token) { token.expires_at = token.created_at; }, "expires_at");
    CHECK(value_of(store.personal_tokens_of(user_id{7})).empty());

    auto expiring = old_token();
    expiring.description.clear();
    expiring.expires_at = noon + milliseconds{1};
    CHECK(value_of(import_personal_token(store, expiring)) == import_outcome::created);
}

TEST_CASE("an imported webhook keeps its secret, and a second import changes nothing") {
    memory_store store;
    CHECK(check_import(services, old_hook()));
    CHECK(value_of(store.hooks_of(anns_site)).empty());
    CHECK(value_of(import_hook(store, services, old_hook())) == import_outcome::created);
    const auto stored = value_of(store.hooks_of(anns_site));
    REQUIRE(stored.size() == 1);
    CHECK(stored[0].target_url == "https://a.example/in");
    CHECK(stored[0].secret_digest == digest_of(signing_secret));
    CHECK(stored[0].created_at == noon);

    // Its owner has changed it since then.
    REQUIRE(value_of(store.change_hook(anns_site, stored[0].id, hook_fields{"site.created", "https://b.example/in", 20})));
    CHECK(value_of(import_hook(store, services, old_hook())) == import_outcome::unchanged);
    CHECK(value_of(store.hooks_of(anns_site)).size() == 1);

    REQUIRE(value_of(store.change_hook(anns_site, stored[0].id, hook_fields{"site.created", "https://a.example/in", 20})));
    CHECK(value_of(import_hook(store, services, old_hook(), public_targets{}, 1)) == import_outcome::unchanged);

    auto another = old_hook();
    another.target_url = "https://c.example/in";
    expect_error(import_hook(store, services, another, public_targets{}, 1), error_kind::invalid);
    CHECK(value_of(import_hook(store, services, another)) == import_outcome::created);
}

TEST_CASE("a webhook that could not be delivered is not imported, and the message does not quote its secret") {
    memory_store store;
    const auto refused = [&store](auto change, std::string_view field) {
        auto hook = old_hook();
        change(hook);
        const auto outcome = import_hook(store, services, hook);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == error_kind::invalid);
        CHECK(outcome.error().message.starts_with(field));
        CHECK(outcome.error().message.find("hunter2") == std::string::npos);
    };
    refused([](auto& hook) { hook.account.service = *service_name::from("other"); }, "service");
    refused([](auto& hook) { hook.event = "site.renamed"; }, "event");
    refused([](auto& hook) { hook.target_url = "https://127.0.0.1/"; }, "target_url");
    for (const auto* secret : {"", "hunter2", "whsec_", "whsec_hunter2=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
        refused([&](auto& hook) { hook.secret = secret; }, "secret");
    CHECK(value_of(store.hooks_of(anns_site)).empty());

    auto inside = old_hook();
    inside.target_url = "https://127.0.0.1/";
    CHECK(import_hook(store, services, inside, public_targets{.private_allowed = true}));
}
