#include <tollgate/oauth/detail/consent.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;

TEST_CASE("each form has its own code", "[oauth][consent]") {
    const web::form_nonce nonce{std::byte{1}, std::byte{2}};
    const web::form_nonce other_nonce{std::byte{1}, std::byte{3}};
    const oauth::code_derivation seed{.key = "key", .nonce = nonce, .user = user_id{1}, .signed_text = "scope=a"};
    const auto code = oauth::make_code(seed);
    CHECK(is_well_formed(secret_kind::authorization_code, code));
    CHECK(oauth::make_code(seed) == code);
    for (const auto& other : std::vector<oauth::code_derivation>{{"kez", nonce, user_id{1}, "scope=a"},
                                                           {"key", other_nonce, user_id{1}, "scope=a"},
                                                           {"key", nonce, user_id{2}, "scope=a"},
                                                           {"key", nonce, user_id{1}, "scope=b"},
                                                           {"key", nonce, user_id{1}, ""}})
        CHECK_FALSE(oauth::make_code(other) == code);
}
