#include <tollgate/base/digest.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

using tollgate::digest;
using tollgate::equal_in_constant_time;
using tollgate::hmac_sha256;
using tollgate::sha256;

namespace {

std::string hex(const digest& value) {
    std::string text;
    for (const unsigned byte : value.bytes()) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

}  // namespace

TEST_CASE("SHA-256 gives the digests of FIPS 180-4") {
    struct row {
        std::string text;
        const char* expected;
    };
    const std::vector<row> cases = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqr"
         "stu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
        {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        {std::string(1, '\xbd'), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
        {std::string(55, '\0'), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
        {std::string(56, '\0'), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"},
        {std::string(64, '\0'), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
    };
    for (const auto& [text, expected] : cases) {
        CAPTURE(text.size());
        CHECK(hex(sha256(text)) == expected);
    }
}

TEST_CASE("a digest does not depend on earlier digests of the thread") {
    const auto alone = sha256("abc");
    (void)sha256(std::string(1000, 'x'));
    CHECK(sha256("abc") == alone);
    digest in_other_thread;
    std::thread{[&] { in_other_thread = sha256("abc"); }}.join();
    CHECK(in_other_thread == alone);
}

TEST_CASE("HMAC-SHA256 gives the codes of RFC 4231") {
    struct row {
        std::string key;
        std::string message;
        std::string expected;  // the fifth case of the RFC is truncated
    };
    std::string counting;
    for (char c = 1; c <= 25; ++c) counting += c;
    const std::vector<row> cases = {
        {std::string(20, '\x0b'), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {std::string(20, '\xaa'), std::string(50, '\xdd'),
         "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
        {counting, std::string(50, '\xcd'), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
        {std::string(20, '\x0c'), "Test With Truncation", "a3b6167473100ee06e0c796c2955552b"},
        {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        {std::string(131, '\xaa'),
         "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
         "hashed "
         "before being used by the HMAC algorithm.",
         "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
        {"", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
    };
    for (const auto& [key, message, expected] : cases) {
        CAPTURE(message);
        CHECK(hex(hmac_sha256({.key = key, .message = message})).substr(0, expected.size()) == expected);
    }
    // A key of exactly one block is used unchanged; a longer one is digested first.
    const std::string block(64, 'k');
    CHECK_FALSE(hmac_sha256({block, "m"}) == hmac_sha256({sha256(block).raw(), "m"}));
    CHECK(hmac_sha256({block + "k", "m"}) == hmac_sha256({sha256(block + "k").raw(), "m"}));
}

TEST_CASE("digests are equal if all bytes are") {
    const auto one = sha256("abc");
    CHECK(one == sha256("abc"));
    for (std::size_t i = 0; i < digest::size_bytes; ++i) {
        auto bytes = one.bytes();
        bytes[i] ^= 0x10;
        CAPTURE(i);
        CHECK_FALSE(one == digest::from_bytes(bytes));
    }
    CHECK_FALSE(digest{} == sha256(""));
}

TEST_CASE("a digest is read back from its 32 stored bytes") {
    const auto stored = sha256("abc");
    CHECK(digest::from(stored.raw()) == stored);
    CHECK_FALSE(digest::from(""));
    CHECK_FALSE(digest::from(stored.raw().substr(1)));
    CHECK_FALSE(digest::from(std::string{stored.raw()} + "x"));
    std::unordered_set<digest> known{stored, sha256("x"), stored};
    CHECK(known.size() == 2);
    CHECK(known.count(stored) == 1);
}

TEST_CASE("texts are compared to their end") {
    CHECK(equal_in_constant_time("", ""));
    CHECK(equal_in_constant_time("secret", "secret"));
    CHECK_FALSE(equal_in_constant_time("secret", "secreT"));
    CHECK_FALSE(equal_in_constant_time("secret", "Secret"));
    CHECK_FALSE(equal_in_constant_time("secret", "secre"));
    CHECK_FALSE(equal_in_constant_time("", "s"));
}
