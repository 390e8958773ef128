#include <tollgate/account/issue_personal_token.hpp>

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/policy/token_authenticators.hpp>
#include <tollgate/store/memory.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;

namespace {

constexpr instant noon = from_unix_seconds(1'700'000'000);

struct empty_source {
    bool fill(std::span<std::byte>) const noexcept { return false; }
};

personal_token_request sample_request(std::string description = "for the backup script") {
    return {user_id{7}, std::move(description), *scope_set::parse("user:balance sitesmaker:read")};
}

std::optional<caller> authenticate(memory_store& store, std::string_view username, std::string_view secret) {
    const auto credentials = base64_encode(std::string{username}.append(":").append(secret));
    return *basic_token{}.identify(credentials, store, noon);
}

}  // namespace

TEST_CASE("an issued token is accepted, with its scopes, and is listed") {
    memory_store store;
    const auto token = issue_personal_token(store, sample_request(), noon);
    REQUIRE(token);
    const auto known = authenticate(store, token->username, token->secret);
    REQUIRE(known);
    CHECK(known->user == user_id{7});
    CHECK(known->scopes.text() == "user:balance sitesmaker:read");
    CHECK(token->authorization() ==
          "Basic " + base64_encode(std::string{token->username.view()}.append(":").append(token->secret.view())));

    const auto listed = *store.personal_tokens_of(user_id{7});
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].id == token->id);
    CHECK(listed[0].description == "for the backup script");
    CHECK(listed[0].created_at == noon);
}

TEST_CASE("two issued tokens differ in every part") {
    memory_store store;
    const auto first = issue_personal_token(store, sample_request(), noon);
    const auto second = issue_personal_token(store, sample_request(), noon);
    REQUIRE((first && second));
    CHECK(first->username.view() != second->username.view());
    CHECK(first->secret.view() != second->secret.view());
    CHECK_FALSE(authenticate(store, first->username, second->secret));
}

TEST_CASE("without random bytes no token is created") {
    memory_store store;
    const auto token = issue_personal_token(store, sample_request(), noon, empty_source{});
    REQUIRE_FALSE(token);
    CHECK(token.error().kind == error_kind::internal);
    CHECK((*store.personal_tokens_of(user_id{7})).empty());
}

TEST_CASE("a token's description is one line") {
    memory_store store;
    CHECK(issue_personal_token(store, sample_request(std::string(255, 'd')), noon));
    const auto token = issue_personal_token(store, sample_request(std::string(256, 'd')), noon);
    REQUIRE_FALSE(token);
    CHECK(token.error().kind == error_kind::invalid);
}

TEST_CASE("a store error is returned to the caller") {
    memory_store store{memory_settings{.personal_tokens_max = 0, .access_tokens_max = 1, .hooks_max = 1}};
    const auto token = issue_personal_token(store, sample_request(), noon);
    REQUIRE_FALSE(token);
    CHECK(token.error().kind == error_kind::unavailable);
}
