#include <tollgate/model/grant.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>

using namespace tollgate;

namespace {

const instant noon = from_unix_seconds(1'700'000'000);

digest numbered(int number) { return sha256(std::to_string(number)); }

}  // namespace

TEST_CASE("a code is redeemed once, in time, with its redirect URL and its verifier") {
    struct row {
        stored_code code;
        std::optional<std::string> redirect;
        std::optional<std::string> challenge;
        redemption_result expected;
    };
    const stored_code plain{.expires_at = noon + seconds{1}, .redirect = "https://a.example/"};
    const auto with = [](stored_code code, auto change) {
        change(code);
        return code;
    };
    const auto spent = with(plain, [](stored_code& code) { code.redeemed_at = noon - seconds{30}; });
    const auto late = with(plain, [](stored_code& code) { code.expires_at = noon; });
    const auto bound = with(plain, [](stored_code& code) { code.code_challenge = "c"; });
    using enum redemption_result;
    for (const row& each : {row{plain, {}, {}, redeemed},
                            row{plain, "https://a.example/", {}, redeemed},
                            row{plain, "https://a.example", {}, redirect_mismatch},
                            row{plain, {}, "c", verifier_mismatch},
                            row{bound, {}, "c", redeemed},
                            row{bound, {}, "d", verifier_mismatch},
                            row{bound, {}, {}, verifier_mismatch},
                            row{late, {}, {}, expired},
                            row{late, "https://b.example/", "c", expired},
                            row{spent, {}, {}, reused},
                            row{with(spent, [](stored_code& code) { code.expires_at = noon; }), "https://b.example/", "c", reused}}) {
        code_redemption shown{.code_digest = numbered(1), .application = application_id{1}, .now = noon, .tokens = {}};
        shown.redirect_uri = each.redirect;
        shown.code_challenge = each.challenge;
        CHECK(judge_redemption(each.code, shown) == each.expected);
        shown.grace = seconds{30};
        CHECK(judge_redemption(each.code, shown) == each.expected);
        shown.grace = seconds{31};
        CHECK(judge_redemption(each.code, shown) == (each.expected == reused ? repeated : each.expected));
    }
}

TEST_CASE("a refresh token is used while it is current, and its predecessor for a short time") {
    const scope_set scopes = *scope_set::parse("a b");
    const digest current = numbered(1), previous = numbered(2), older = numbered(3);
    const auto refresh = [&](const digest& token, std::optional<token_rotation> rotation) {
        return token_refresh{.refresh_digest = token, .application = application_id{1}, .now = noon, .access_digest = numbered(9),
                             .access_expires_at = noon, .refresh_lifetime = seconds{60}, .rotation = rotation};
    };
    const token_rotation rotation{numbered(4), numbered(5), numbered(6), seconds{30}};
    const auto judge = [&](const digest& token, seconds age, std::optional<token_rotation> with) {
        return judge_refresh({.token = current, .replaced = &previous, .replaced_at = noon - age, .scopes = scopes},
                             refresh(token, with));
    };
    using enum refresh_result;
    CHECK(judge(current, seconds{999}, {}) == refreshed);
    CHECK(judge(current, seconds{999}, rotation) == refreshed);
    CHECK(judge(previous, seconds{29}, rotation) == refreshed);
    CHECK(judge(previous, seconds{30}, rotation) == reused);
    CHECK(judge(previous, seconds{29}, {}) == reused);
    CHECK(judge(older, seconds{0}, rotation) == reused);
    CHECK(judge_refresh({.token = current, .scopes = scopes}, refresh(previous, rotation)) == reused);

    auto narrowed = refresh(current, {});
    for (const auto& [text, expected] : {std::pair{"a", refreshed}, std::pair{"a b", refreshed}, std::pair{"a c", too_wide}}) {
        narrowed.covering = *scope_set::parse(text);
        CHECK(judge_refresh({.token = current, .scopes = scopes}, narrowed) == expected);
    }

    // After the grace, only a request for the successor that exists is the same request again.
    auto repeated = rotation;
    repeated.successor_digest = current;
    for (const bool has_access_token : {false, true}) {
        const stored_refresh_token stored{.token = current,
                                          .replaced = &previous,
                                          .replaced_at = noon - seconds{999},
                                          .scopes = scopes,
                                          .has_access_token = has_access_token};
        CHECK(judge_refresh(stored, refresh(previous, repeated)) == (has_access_token ? refreshed : reused));
        CHECK(judge_refresh(stored, refresh(older, repeated)) == reused);
        CHECK(judge_refresh(stored, refresh(previous, rotation)) == reused);
    }

    resource_set one, two;
    one.add({1});
    two.add({1});
    two.add({2});
    auto bound = refresh(current, {});
    for (const auto& [granted, requested, expected] :
         {std::tuple{resource_set{}, one, refreshed}, std::tuple{one, resource_set{}, refreshed}, std::tuple{two, one, refreshed},
          std::tuple{one, two, wrong_resource}}) {
        bound.resources = requested;
        CHECK(judge_refresh({.token = current, .scopes = scopes, .resources = granted}, bound) == expected);
    }
    CHECK(refresh(current, rotation).family_digest() == rotation.family_digest);
    CHECK_FALSE(refresh(current, {}).family_digest());
}

TEST_CASE("a code is replaced when too little of its time is left to send it again") {
    for (const auto& [lifetime, expected] : {std::pair{60, 30}, std::pair{600, 30}, std::pair{20, 10}, std::pair{1, 0}}) {
        const new_authorization_code code{.code_digest = numbered(1), .user = user_id{1}, .application = application_id{1}, .scopes = {},
                                          .redirect = {}, .code_challenge = {}, .created_at = noon,
                                          .expires_at = noon + seconds{lifetime}};
        CHECK(std::chrono::floor<seconds>(code.replaceable_until() - noon) == seconds{expected});
    }
}

TEST_CASE("a refresh token expires after its lifetime, and at its absolute end at the latest") {
    const token_refresh refresh{.refresh_digest = numbered(1), .application = application_id{1}, .now = noon, .access_digest = numbered(2),
                                .access_expires_at = noon, .refresh_lifetime = seconds{60}};
    for (const auto& [end, expected] : {std::pair{59, 59}, std::pair{60, 60}, std::pair{61, 60}}) {
        const instant absolute_end = noon + seconds{end};
        CHECK(refresh.refresh_token_end(absolute_end) == noon + seconds{expected});
        CHECK(issued_tokens{numbered(2), noon, numbered(3), noon + seconds{60}, absolute_end}.refresh_token_end() == noon + seconds{expected});
    }
}
