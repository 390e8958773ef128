#include <tollgate/oauth/consent.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;

TEST_CASE("one form makes one code, every other another", "[oauth][consent]") {
    const oauth::code_seed seed{.key = "key", .nonce = "nonce", .user = user_id{1}, .covered = "scope=a"};
    const auto code = oauth::make_code(seed);
    CHECK(is_well_formed(secret_kind::authorization_code, code));
    CHECK(oauth::make_code(seed) == code);
    for (const auto& other : std::vector<oauth::code_seed>{{"kez", "nonce", user_id{1}, "scope=a"},
                                                           {"key", "noncf", user_id{1}, "scope=a"},
                                                           {"key", "nonces", user_id{1}, "cope=a"},
                                                           {"key", "nonce", user_id{2}, "scope=a"},
                                                           {"key", "nonce", user_id{1}, "scope=b"},
                                                           {"key", "", user_id{1}, "noncescope=a"}})
        CHECK_FALSE(oauth::make_code(other) == code);
}
