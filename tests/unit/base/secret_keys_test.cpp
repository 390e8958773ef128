#include <tollgate/base/secret_keys.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tollgate;

TEST_CASE("a key file has one or two keys, a line each") {
    const std::string a(64, 'a'), b = "0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789";
    for (const std::string& each : {a, a + "\n", a + "\n" + b, "# made on Monday\n\n" + a + "\r\n  # the previous one\n\t" + b + " \n"}) {
        CAPTURE(each);
        const auto read = secret_keys::parse(each);
        REQUIRE(read);
        CHECK(read->prefix() == secret_keys::parse(a)->prefix());
    }
    struct refused {
        std::string file, message;
    };
    for (const auto& [file, message] : std::vector<refused>{
             {"", "it contains no key of 64 hexadecimal digits."},
             {"# nothing\n\n", "it contains no key of 64 hexadecimal digits."},
             {std::string(63, 'a'), "line 1 is not a key of 64 hexadecimal digits."},
             {std::string(62, 'a'), "line 1 is not a key of 64 hexadecimal digits."},
             {a + "a", "line 1 is not a key of 64 hexadecimal digits."},
             {a + a, "line 1 is not a key of 64 hexadecimal digits."},
             {a + " " + b, "line 1 is not a key of 64 hexadecimal digits."},
             {a + "\n" + std::string(64, 'g'), "line 2 is not a key of 64 hexadecimal digits."},
             {std::string(64, '\0'), "line 1 is not a key of 64 hexadecimal digits."},
             {a + "\n" + a, "line 2 is the same key again."},
             {a + "\n" + std::string(64, 'A'), "line 2 is the same key again."},
             {a + "\n" + b + "\n\n" + std::string(64, 'c'), "line 4 is a third key; a file may have one or two."}}) {
        CAPTURE(file);
        const auto read = secret_keys::parse(file);
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == error_kind::invalid);
        CHECK(read.error().message == message);
    }
}

TEST_CASE("an encrypted secret is decrypted with its key, in its context") {
    const auto keys = [](char first, char second = 0) {
        return *secret_keys::parse(std::string(64, first) + (second != 0 ? '\n' + std::string(64, second) : ""));
    };
    const auto one = keys('a');
    // Literal, because stored values must stay readable in every later version.
    CHECK(one.prefix() == "aes256gcm.fea6fe0f.");
    CHECK(*one.encrypt("whsec_secret", "webhook sitesmaker 42") == "aes256gcm.fea6fe0f.VcEI_999iwYrYsxaWHo0ydjpNFeigJNkeP77O0x-VV2ksG10t5U3_A");
    for (const std::string& secret : {std::string{}, std::string{"whsec_secret"}, std::string("a\0b", 3), std::string(4000, 'x')}) {
        const auto stored = *one.encrypt(secret, "ours");
        CHECK(stored.starts_with(one.prefix()));
        CHECK(stored.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos);
        for (const secret_keys& reader : {one, keys('a', 'b'), keys('b', 'a')}) CHECK(*reader.decrypt(stored, "ours") == secret);
        CHECK(*one.encrypt(secret, "ours") == stored);
        CHECK(*keys('b', 'a').encrypt(secret, "ours") != stored);
        // Other contexts have other nonces, whatever the boundary between text and context.
        CHECK(one.encrypt(secret, "theirs")->substr(18, 16) != stored.substr(18, 16));
        CHECK(one.encrypt("s" + secret, "our")->substr(18, 16) != stored.substr(18, 16));
        for (const char* context : {"", "our", "ours ", "theirs"}) {
            const auto moved = one.decrypt(stored, context);
            REQUIRE_FALSE(moved);
            CHECK(moved.error().kind == error_kind::internal);
        }
    }
    const auto stored = *one.encrypt("whsec_secret", "ours");
    for (std::size_t i = one.prefix().size(); i < stored.size(); ++i) {
        auto changed = stored;
        changed[i] = changed[i] == 'A' ? 'E' : 'A';
        for (const std::string& each : {changed, stored.substr(0, i)}) {
            const auto read = one.decrypt(each, "ours");
            REQUIRE_FALSE(read);
            CHECK(read.error().cause == "a secret that is encrypted with key fea6fe0f was damaged or moved: it cannot be decrypted");
        }
    }
}

TEST_CASE("without its key an encrypted secret names the missing key, and unencrypted secrets are returned unchanged") {
    const auto one = *secret_keys::parse(std::string(64, 'a')), other = *secret_keys::parse(std::string(64, 'b'));
    const auto stored = *one.encrypt("whsec_secret", "ours");
    for (const auto& [keys, reason] : {std::pair{secret_keys{}, ", and no key is given"}, std::pair{other, ", which is not among the keys given"}}) {
        const auto read = keys.decrypt(stored, "ours");
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == error_kind::unavailable);
        CHECK(read.error().cause == std::string{"a secret is encrypted with key fea6fe0f"} + reason);
        for (const char* plain : {"", "whsec_secret", "aes256gcm", "x aes256gcm.1.2"}) CHECK(*keys.decrypt(plain, "ours") == plain);
    }
    CHECK_FALSE(one.decrypt("aes256gcm.", "ours"));
    CHECK_FALSE(one.decrypt("aes256gcm.0123456789", "ours"));
    const secret_keys none;
    CHECK(none.prefix().empty());
    CHECK(*none.encrypt("whsec_secret", "ours") == "whsec_secret");
}
