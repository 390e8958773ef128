#include <tollgate/web/detail/one_time.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::web;

namespace {

constexpr instant noon = from_unix_seconds(1'700'000'000);
const session ann{user_id{1}, "ann", "a secret"};
const session bob{user_id{2}, "bob", "another secret"};
const seal_nonce nonce{std::byte{1}, std::byte{2}};

}  // namespace

TEST_CASE("a sealed text is opened by its session only, for five minutes", "[one_time]") {
    for (const std::string& text : {std::string{}, std::string{"tgp_secret"}, std::string("a\0b", 3), std::string(4000, 'x')}) {
        const auto sealed = seal(ann, text, nonce, noon);
        REQUIRE(sealed);
        CHECK(sealed->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos);
        CHECK(open_sealed(ann, *sealed, noon) == text);
        CHECK(open_sealed(ann, *sealed, noon + seconds{299}) == text);
        CHECK_FALSE(open_sealed(ann, *sealed, noon + seconds{300}));
        CHECK(open_sealed(ann, *sealed, noon + seconds{119}, sealed_secret_lifetime) == text);
        CHECK_FALSE(open_sealed(ann, *sealed, noon + seconds{120}, sealed_secret_lifetime));
        CHECK(open_sealed(ann, *sealed, noon - seconds{60}) == text);  // another node's clock is behind
        CHECK_FALSE(open_sealed(ann, *sealed, noon - seconds{61}));
        CHECK_FALSE(open_sealed(bob, *sealed, noon));
    }
}

TEST_CASE("a modified sealed text is refused", "[one_time]") {
    const auto sealed = *seal(ann, "tgp_secret", nonce, noon);
    CHECK(sealed.find("tgp") == std::string::npos);
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        auto changed = sealed;
        changed[i] = changed[i] == 'A' ? 'E' : 'A';
        if (changed != sealed) CHECK_FALSE(open_sealed(ann, changed, noon));
        CHECK_FALSE(open_sealed(ann, sealed.substr(0, i), noon));
    }
    CHECK_FALSE(open_sealed(ann, sealed + "A", noon));
    const session open{user_id{1}, "ann", ""};
    CHECK_FALSE(seal(open, "x", nonce, noon));
    CHECK_FALSE(open_sealed(open, sealed, noon));
}
