#include <tollgate/web/detail/form.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

using namespace tollgate;
using namespace tollgate::web;

namespace {

const session ann{user_id{1}, "ann", "a secret"};
const session bob{user_id{2}, "bob", "another secret"};
const form_nonce nonce{std::byte{1}, std::byte{2}, std::byte{255}};
const form_binding seal{ann, "tokens", "a=1"};

}  // namespace

TEST_CASE("a form token is valid for its purpose and returns its nonce") {
    const auto token = make_form_token(seal, nonce);
    CHECK(check_form_token(seal, token) == nonce);
    CHECK(std::all_of(token.begin(), token.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_' ||
               c == '.';
    }));
}

TEST_CASE("a nonce contains its time and is unique") {
    struct sevens {
        bool fill(std::span<std::byte> bytes) const noexcept {
            std::fill(bytes.begin(), bytes.end(), std::byte{7});
            return true;
        }
    };
    struct nothing {
        bool fill(std::span<std::byte>) const noexcept { return false; }
    };
    for (const std::int64_t second : {0LL, 1LL, 1'700'000'000LL, 4'294'967'295LL}) {
        const auto created = new_form_nonce(sevens{}, from_unix_seconds(second) + milliseconds{999});
        REQUIRE(created);
        CHECK(made_at(*created) == from_unix_seconds(second));
        CHECK(std::count(created->begin(), created->begin() + 12, std::byte{7}) == 12);
        CHECK(parse_form_nonce(form_nonce_text(*created)) == created);
    }
    CHECK_FALSE(new_form_nonce(nothing{}, from_unix_seconds(1)));
    for (const auto* text : {"", "x", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAA=="})
        CHECK_FALSE(parse_form_nonce(text));
}

TEST_CASE("a form token is invalid for any other purpose") {
    const auto token = make_form_token(seal, nonce);
    CHECK_FALSE(check_form_token({bob, "tokens", "a=1"}, token));
    CHECK_FALSE(check_form_token({ann, "applications", "a=1"}, token));
    CHECK_FALSE(check_form_token({ann, "tokens", "a=2"}, token));
    CHECK_FALSE(check_form_token({ann, "tokens", ""}, token));
    CHECK_FALSE(check_form_token({ann, "tokensa=1", ""}, token));
    // The boundary between purpose and values cannot be moved.
    CHECK_FALSE(check_form_token({ann, "token", "sa=1"}, token));
}

TEST_CASE("other text is not a form token") {
    const auto token = make_form_token(seal, nonce);
    for (std::size_t i = 0; i < token.size(); ++i) {
        auto changed = token;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        CAPTURE(changed);
        CHECK_FALSE(check_form_token(seal, changed));
    }
    for (const std::string& each :
         {std::string{}, std::string{"."}, token + "A", "A" + token, token.substr(1), token.substr(0, token.size() - 1),
          token.substr(token.find('.')), token.substr(0, token.find('.')), token + "." + token,
          std::string(100'000, 'A'), std::string{"\0.\0", 3}})
        CHECK_FALSE(check_form_token(seal, each));
}

TEST_CASE("a form token tells whether another user has signed in since it was made") {
    struct row {
        const char* name;
        session now;
        bool is_other;
    };
    const auto token = make_form_token(seal, nonce);
    for (const row& each : {row{"the session", ann, false}, row{"the user's next session", {user_id{1}, "ann", "the next secret"}, false},
                            row{"the login in another case", {user_id{1}, "Ann", "the next secret"}, false},
                            row{"another user", bob, true}, row{"a longer login", {user_id{3}, "anna", "x"}, true},
                            row{"no login", {user_id{3}, "", "x"}, true}}) {
        CAPTURE(each.name);
        CHECK(is_for_other_user(each.now, token) == each.is_other);
    }
    // The nonce hides who it is, and other texts say nothing.
    form_nonce other_nonce = nonce;
    other_nonce[0] = std::byte{7};
    const auto other_token = make_form_token(seal, other_nonce);
    CHECK(token.substr(token.rfind('.')) != other_token.substr(other_token.rfind('.')));
    CHECK(token.find("ann") == std::string::npos);
    const auto of_browser = make_form_token({std::string_view{"a secret"}, "tokens", "a=1"}, nonce);
    for (const std::string& each : {std::string{}, std::string{"x"}, token + "A" + token, of_browser, token.substr(0, token.rfind('.')),
                                    token.substr(0, token.rfind('.') + 1), std::string(100'000, '.')})
        CHECK_FALSE(is_for_other_user(bob, each));
}

TEST_CASE("a session without a secret has no form tokens") {
    const session nobody{user_id{1}, "ann", ""};
    CHECK_FALSE(check_form_token({nobody, "tokens"}, make_form_token({nobody, "tokens"}, nonce)));
}
