#include <tollgate/policy/detail/token_memo.hpp>

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/policy/token_authenticators.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace tollgate;

namespace {

constexpr tollgate::detail::keyed_hash fixed_hash{{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb}};

/// Parses every text that does not begin with `!` as a token whose digest is the text's digest, and counts its calls.
struct counting_reader {
    int calls = 0;
    bool operator()(std::string_view credentials, presented_token& into) {
        ++calls;
        if (credentials.starts_with('!')) return false;
        into.kind = credential_kind::personal_token;
        into.secret_digest = sha256(credentials);
        return true;
    }
};

bool read(tollgate::detail::token_memo& memo, std::string_view credentials, counting_reader& reader) {
    presented_token into;
    if (!memo.read(credential_kind::personal_token, credentials, into, reader)) return false;
    CHECK(into.secret_digest == sha256(credentials));
    return true;
}

struct issued {
    std::string secret;
    std::string basic;
};

issued make_token(std::string_view username, std::byte fill, secret_kind kind = secret_kind::personal_token) {
    std::array<std::byte, 32> random;
    random.fill(fill);
    std::string secret{make_secret(kind, random).view()};
    return {secret, tollgate::detail::base64_encode(std::string{username} + ":" + secret)};
}

}  // namespace

TEST_CASE("a memo returns the right token for every text, in any order") {
    tollgate::detail::token_memo memo{fixed_hash};
    counting_reader reader;
    // Far more texts than entries, so that they replace each other; their lengths are around those of machine words and of the bound.
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < 2000; ++i) CHECK(read(memo, std::to_string(i) + std::string(i % 140, 'x'), reader));
    CHECK(read(memo, "", reader));
    CHECK(read(memo, std::string(10'000, 'x'), reader));
}

TEST_CASE("credentials are parsed once, and each text separately") {
    const std::string original(108, 'a');
    struct variant {
        const char* difference;
        std::string text;
    };
    std::vector<variant> variants{{"one byte less", original.substr(1)}, {"one byte more", original + "a"},
                                  {"a space before", " " + original}, {"a space after", original + " "},
                                  {"padding", original + "="}};
    for (std::size_t i = 0; i < original.size(); ++i) {
        variants.push_back({"another byte", original});
        variants.back().text[i] = 'A';  // the other case
    }
    for (const auto& each : variants) {
        CAPTURE(each.difference, each.text);
        tollgate::detail::token_memo memo{fixed_hash};
        counting_reader reader;
        CHECK((read(memo, original, reader) && read(memo, original, reader) && reader.calls == 1));
        CHECK((read(memo, each.text, reader) && reader.calls == 2));
    }
}

TEST_CASE("a text that is not a token, is too long or is of another kind is parsed each time") {
    tollgate::detail::token_memo memo{fixed_hash};
    counting_reader reader;
    const std::string longest(tollgate::detail::token_memo::credentials_bytes_max, 'x');
    for (int i = 1; i <= 3; ++i) {
        CHECK_FALSE(read(memo, "!malformed", reader));
        CHECK(read(memo, longest + "x", reader));
        CHECK(reader.calls == 2 * i);
    }
    reader.calls = 0;
    CHECK((read(memo, longest, reader) && read(memo, longest, reader) && reader.calls == 1));
    presented_token into;
    const auto reads_nothing = [](std::string_view, presented_token&) { return false; };
    CHECK_FALSE(memo.read(credential_kind::access_token, longest, into, reads_nothing));
}

TEST_CASE("a text is wiped when another one replaces it, and at the end") {
    counting_reader reader;
    {
        tollgate::detail::token_memo memo{fixed_hash};
        const std::string secret = "a secret of forty bytes, and a long one.";
        CHECK(read(memo, secret, reader));
        CHECK(memo.contains(secret.substr(8)));
        // Shorter texts, which do not overwrite all of it.
        for (int i = 0; i < 10'000; ++i) CHECK(read(memo, std::to_string(i), reader));
        CHECK_FALSE(memo.contains(secret.substr(8)));
    }
    alignas(tollgate::detail::token_memo) static std::array<std::byte, sizeof(tollgate::detail::token_memo)> memory;
    auto* const memo = new (memory.data()) tollgate::detail::token_memo{fixed_hash};
    CHECK(read(*memo, "the last secret", reader));
    const std::string_view bytes{reinterpret_cast<const char*>(memory.data()), memory.size()};
    CHECK(bytes.find("the last secret") != std::string_view::npos);
    memo->~token_memo();
    CHECK(bytes.find("the last secret") == std::string_view::npos);
}

TEST_CASE("a Basic token is parsed from its credentials with the same result each time") {
    const auto token = make_token("tgu_one", std::byte{1});
    const auto other = make_token("tgu_one", std::byte{2});
    const basic_token authenticator;
    for (int i = 0; i < 3; ++i) {
        presented_token right, wrong;
        CHECK(authenticator.read(token.basic, right));
        CHECK((right.username == "tgu_one" && right.secret_digest == digest_of(token.secret)));
        CHECK(right.kind == credential_kind::personal_token);
        // The same user name, so the first bytes are the same.
        CHECK(authenticator.read(other.basic, wrong));
        CHECK((wrong.username == "tgu_one" && wrong.secret_digest == digest_of(other.secret)));

        presented_token none;
        for (const std::string& malformed :
             {std::string{}, " " + token.basic, token.basic + " ", token.basic.substr(1), token.basic.substr(0, 80),
              token.basic + "=", tollgate::detail::base64_encode("tgu_one" + token.secret),
              tollgate::detail::base64_encode("tgu_one:" + token.secret.substr(1))}) {
            CAPTURE(malformed);
            CHECK_FALSE(authenticator.read(malformed, none));
            none = {};
        }
        CHECK_FALSE(bearer_token{}.read(token.basic, none));
    }
}

TEST_CASE("a Bearer token is parsed from its credentials with the same result each time") {
    const auto token = make_token("", std::byte{3}, secret_kind::access_token);
    const auto personal = make_token("", std::byte{3});
    for (int i = 0; i < 3; ++i) {
        presented_token right, none;
        CHECK(bearer_token{}.read(token.secret, right));
        CHECK((right.kind == credential_kind::access_token && right.secret_digest == digest_of(token.secret)));
        for (const std::string& malformed : {personal.secret, token.secret + "0", " " + token.secret, token.secret.substr(1)}) {
            CAPTURE(malformed);
            CHECK_FALSE(bearer_token{}.read(malformed, none));
        }
        CHECK_FALSE(basic_token{}.read(token.secret, none));
    }
}

TEST_CASE("each thread has its own memo") {
    const auto token = make_token("tgu_two", std::byte{4});
    presented_token in_this_thread, in_other_thread;
    CHECK(basic_token{}.read(token.basic, in_this_thread));
    bool read_in_other_thread = false;
    std::thread{[&] { read_in_other_thread = basic_token{}.read(token.basic, in_other_thread); }}.join();
    CHECK(read_in_other_thread);
    CHECK(in_this_thread.secret_digest == in_other_thread.secret_digest);
}
