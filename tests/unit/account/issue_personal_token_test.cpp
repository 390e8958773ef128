#include <tollgate/account/issue_personal_token.hpp>

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/policy/token_authenticators.hpp>
#include <tollgate/store/memory.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

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
    const auto credentials = tollgate::detail::base64_encode(std::string{username}.append(":").append(secret));
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
          "Basic " + tollgate::detail::base64_encode(std::string{token->username.view()}.append(":").append(token->secret.view())));

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
    for (const std::string_view text : {"", "d", "K\xc3\xa4se \xf0\x9f\xa7\x80"})
        CHECK(issue_personal_token(store, sample_request(std::string{text}), noon));
    const auto before = store.personal_tokens_of(user_id{7})->size();
    using namespace std::string_view_literals;
    for (const std::string_view text :
         {"\0"sv, "a\0b"sv, "two\nlines"sv, "a\r"sv, "\x7f"sv, "caf\xe9"sv, "\xc3"sv, "\xed\xa0\x80"sv,
          "\xe2\x80\xae"
          "a"sv,
          "  "sv}) {
        const auto token = issue_personal_token(store, sample_request(std::string{text}), noon);
        CAPTURE(text);
        REQUIRE_FALSE(token);
        CHECK(token.error().kind == error_kind::invalid);
        CHECK(token.error().message == "description must be a line of at most 255 bytes without control or invisible characters.");
    }
    CHECK_FALSE(issue_personal_token(store, sample_request(std::string(256, 'd')), noon));
    CHECK(store.personal_tokens_of(user_id{7})->size() == before);
}

TEST_CASE("a renewed token is valid for as long as before, and never longer than an instant can be") {
    struct row {
        instant expires_at;
        instant renewed_at;
        instant expected;
    };
    using std::chrono::hours;
    constexpr instant first = (instant::min)(), last = (instant::max)();
    const auto each = GENERATE_COPY(values<row>({
        {noon + hours{24}, noon + hours{1}, noon + hours{25}},
        {noon + hours{24}, noon, noon + hours{24}},
        {noon + hours{24}, noon - hours{1}, noon + hours{23}},
        {noon - hours{1}, noon + hours{2}, noon + hours{1}},
        {last, noon, last},
        {last, noon + hours{1}, last},
        {last - hours{1}, noon + hours{1}, last},
        {last - hours{1}, noon + hours{2}, last},
        {last - hours{2}, noon + hours{1}, last - hours{1}},
        {last, noon - hours{1}, last - hours{1}},
        {first, noon + hours{1}, first + hours{1}},
        {first, noon - hours{1}, first},
    }));
    memory_store store;
    auto request = sample_request();
    request.expires_at = each.expires_at;
    const auto token = *issue_personal_token(store, request, noon);
    REQUIRE(*renew_personal_token(store, user_id{7}, token.id, each.renewed_at));
    CHECK(store.personal_tokens_of(user_id{7})->front().expires_at == each.expected);
}

TEST_CASE("a token without an end has none after its renewal") {
    memory_store store;
    const auto token = *issue_personal_token(store, sample_request(), noon);
    REQUIRE(*renew_personal_token(store, user_id{7}, token.id, noon + std::chrono::hours{1}));
    CHECK_FALSE(store.personal_tokens_of(user_id{7})->front().expires_at);
}

TEST_CASE("a store error is returned to the caller") {
    memory_store store{memory_settings{.personal_tokens_max = 0, .access_tokens_max = 1, .hooks_max = 1}};
    const auto token = issue_personal_token(store, sample_request(), noon);
    REQUIRE_FALSE(token);
    CHECK(token.error().kind == error_kind::unavailable);
}
