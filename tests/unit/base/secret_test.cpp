#include <tollgate/base/secret.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

constexpr auto all_kinds =
    std::array{secret_kind::personal_token,     secret_kind::access_token,  secret_kind::refresh_token,
               secret_kind::authorization_code, secret_kind::client_secret, secret_kind::session};

template <std::size_t Size>
std::array<std::byte, Size> filled(unsigned char value) {
    std::array<std::byte, Size> bytes;
    bytes.fill(std::byte{value});
    return bytes;
}

bool holds_only_word_characters(std::string_view text) {
    return text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") ==
           std::string_view::npos;
}

}  // namespace

TEST_CASE("a successor has the same kind and family, and needs both halves of its input") {
    std::array<std::byte, 32> bytes{};
    const auto first = make_secret(secret_kind::refresh_token, bytes);
    const auto next = make_successor(first, sha256("seed"));
    CHECK(is_well_formed(secret_kind::refresh_token, next));
    CHECK(family_of(next) == family_of(first));
    CHECK(family_of(first).size() == 25);
    CHECK(next.view() == make_successor(first, sha256("seed")).view());
    CHECK(next.view() != make_successor(first, sha256("other")).view());
    CHECK(next.view() != make_successor(next, sha256("seed")).view());
    bytes[31] = std::byte{1};
    const auto sibling = make_secret(secret_kind::refresh_token, bytes);
    CHECK(family_of(sibling) == family_of(first));
    CHECK(make_successor(sibling, sha256("seed")).view() != next.view());
}

TEST_CASE("a secret is its kind, its digits and their checksum") {
    // Literal, because issued secrets must stay well-formed in every later version.
    CHECK(make_secret(secret_kind::personal_token, filled<32>(0)).view() ==
          "tgp_0000000000000000000000000000000000000000000" "0UM3GK");
    CHECK(make_secret(secret_kind::access_token, filled<32>(0xff)).view() ==
          "tga_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1" "3FC6hE");
}

TEST_CASE("a secret is well-formed only as its own kind") {
    std::mt19937 random{1};
    for (int round = 0; round < 200; ++round) {
        auto bytes = filled<32>(0);
        for (auto& each : bytes) each = static_cast<std::byte>(random());
        for (const auto kind : all_kinds) {
            const auto secret = make_secret(kind, bytes);
            CAPTURE(secret.view());
            REQUIRE(secret.size() == secret_text_bytes);
            REQUIRE(holds_only_word_characters(secret));
            for (const auto other : all_kinds) REQUIRE(is_well_formed(other, secret) == (other == kind));
        }
    }
}

TEST_CASE("every changed character is detected") {
    auto bytes = filled<32>(0x5a);
    const std::string secret{make_secret(secret_kind::personal_token, bytes).view()};
    for (std::size_t i = 0; i < secret.size(); ++i)
        for (int c = 0; c < 256; ++c) {
            auto changed = secret;
            changed[i] = static_cast<char>(c);
            CAPTURE(i, c);
            REQUIRE(is_well_formed(secret_kind::personal_token, changed) == (changed == secret));
        }
    for (std::size_t i = 0; i + 1 < secret.size(); ++i) {
        auto swapped = secret;
        std::swap(swapped[i], swapped[i + 1]);
        REQUIRE(is_well_formed(secret_kind::personal_token, swapped) == (swapped == secret));
    }
}

TEST_CASE("text of another length is not a secret") {
    const std::string secret{make_secret(secret_kind::personal_token, filled<32>(7)).view()};
    for (const std::string& other :
         {std::string{}, std::string{"tgp_"}, secret.substr(0, secret.size() - 1), secret + "0", secret.substr(1),
          " " + secret, secret + " ", std::string(53, '\0'), std::string(1000, 'a')})
        CHECK_FALSE(is_well_formed(secret_kind::personal_token, other));
    CHECK_FALSE(is_well_formed(secret_kind::personal_token, std::string{"TGP_"} + secret.substr(4)));
}

TEST_CASE("different random bytes make a different secret") {
    std::set<std::string> seen;
    auto bytes = filled<32>(0);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            bytes.fill(std::byte{0});
            bytes[i] = static_cast<std::byte>(1 << bit);
            seen.insert(std::string{make_secret(secret_kind::client_secret, bytes).view()});
        }
    CHECK(seen.size() == 256);
}

TEST_CASE("the stored digest of a secret is its SHA-256") {
    const auto secret = make_secret(secret_kind::refresh_token, filled<32>(9));
    CHECK(digest_of(secret) == sha256(secret));
}

TEST_CASE("a public id is its kind and its digits") {
    CHECK(make_public_id(public_id_kind::username, filled<16>(0)).view() == "tgu_0000000000000000000000");
    CHECK(make_public_id(public_id_kind::client_id, filled<16>(0xff)).view() == "tgi_7n42DGM5Tflk9n8mt7Fhc7");
    CHECK(make_public_id(public_id_kind::message, filled<16>(1)).view().substr(0, 4) == "msg_");
    CHECK(holds_only_word_characters(make_public_id(public_id_kind::message, filled<16>(0xa5))));
    CHECK_FALSE(make_public_id(public_id_kind::client_id, filled<16>(1)) ==
                make_public_id(public_id_kind::client_id, filled<16>(2)));
}

TEST_CASE("wiped bytes are zero and wiped text is empty") {
    auto bytes = filled<32>(0xaa);
    secure_wipe(bytes);
    CHECK(bytes == filled<32>(0));
    std::string text = "a secret";
    const char* const where = text.data();
    secure_wipe(text);
    CHECK(text.empty());
    CHECK(where[3] == '\0');
}
