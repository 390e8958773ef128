#include <tollgate/base/detail/digest_memo.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <thread>

using namespace tollgate;

TEST_CASE("a memo returns the right digest for every text, in any order") {
    digest_memo memo{{1, 2}};
    const auto text = [](int i) { return "secret " + std::to_string(i); };
    // Far more texts than entries, so that they put each other out.
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < 2000; ++i) CHECK(memo.of(text(i)) == sha256(text(i)));
    CHECK(memo.of("") == sha256(""));
    CHECK(memo.of(std::string(10'000, 'x')) == sha256(std::string(10'000, 'x')));
}

TEST_CASE("a text that differs in one bit has another digest") {
    digest_memo memo{{1, 2}};
    const std::string text(53, 'a');
    const auto right = memo.of(text);
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto other = text;
        other[i] = static_cast<char>(other[i] ^ 1);
        CHECK(memo.of(other) == sha256(other));
        CHECK_FALSE(memo.of(other) == right);
    }
}

TEST_CASE("each thread has its own cache") {
    const auto here = cached_digest_of("one");
    digest there;
    std::thread{[&] { there = cached_digest_of("one"); }}.join();
    CHECK(here == there);
    CHECK(here == sha256("one"));
}
