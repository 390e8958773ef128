#include <tollgate/http/detail/scan.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>

using namespace tollgate::http::detail;

namespace {

/// The result of `find` for these bytes only, in memory that ends with them.
template <class Find>
std::size_t found_at(Find find, const std::string& text) {
    const auto exact = std::make_unique<char[]>(text.size());
    text.copy(exact.get(), text.size());
    return static_cast<std::size_t>(find(exact.get(), exact.get() + text.size()) - exact.get());
}

template <class Find, class Ends>
void check_every_byte_at_every_place(Find find, Ends ends) {
    for (std::size_t size = 1; size <= 40; ++size) {
        for (std::size_t place = 0; place < size; ++place) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string text(size, 'a');
                text[place] = static_cast<char>(byte);
                const std::size_t expected = ends(byte) ? place : size;
                if (found_at(find, text) != expected) FAIL("byte " << byte << " at " << place << " of " << size);
            }
        }
    }
    SUCCEED();
}

}  // namespace

TEST_CASE("a value ends at a control character other than a tab") {
    check_every_byte_at_every_place([](auto at, auto end) { return find_value_end(at, end); },
                                    [](int byte) { return (byte < 0x20 && byte != '\t') || byte == 0x7f; });
    CHECK(found_at([](auto at, auto end) { return find_value_end(at, end); }, std::string(40, '\t') + "\r\n") == 40);
    CHECK(found_at([](auto at, auto end) { return find_value_end(at, end); }, "") == 0);
}

TEST_CASE("a usual value has neither control characters nor tabs nor bytes outside ASCII") {
    // Where a block begins before the value, matches before the value are ignored.
    const auto find = [](const char* at, const char* end) {
        const std::string text = std::string(block_bytes, '\t') + std::string(at, end);
        return at + found_at([](auto begin, auto stop) { return find_unusual_in_value(begin + block_bytes, stop) - block_bytes; }, text);
    };
    check_every_byte_at_every_place(find, [](int byte) { return byte < 0x20 || byte >= 0x7f; });
    CHECK(found_at(find, "") == 0);
}

TEST_CASE("a target ends at a byte that neither a path nor a query holds") {
    const std::string allowed = "AZaz09-._~%!$&'()*+,;=:@/?";
    const auto is_allowed = [&](int byte) {
        const char c = static_cast<char>(byte);
        return allowed.find(c) != std::string::npos || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    check_every_byte_at_every_place([](auto at, auto end) { return find_target_end(at, end); },
                                    [&](int byte) { return !is_allowed(byte); });
    // Bytes that are checked one by one do not hide the bytes after them.
    for (std::size_t size = 1; size < 40; ++size) {
        const auto find = [](auto at, auto end) { return find_target_end(at, end); };
        CHECK(found_at(find, std::string(size, '_') + "<") == size);
        CHECK(found_at(find, std::string(size, '~') + "`") == size);
        CHECK(found_at(find, std::string(size, '!') + "\xff") == size);
    }
}

TEST_CASE("a token ends where RFC 9110 says") {
    const std::string token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    check_every_byte_at_every_place([](auto at, auto end) { return find_token_end(at, end); },
                                    [&](int byte) { return token.find(static_cast<char>(byte)) == std::string::npos; });
}

TEST_CASE("find_near_colon finds the first colon or returns null") {
    for (std::size_t size = 0; size < 40; ++size) {
        for (std::size_t place = 0; place < size; ++place) {
            std::string text(size, 'a');
            text[place] = ':';
            if (place + 3 < size) text[place + 3] = ':';
            const char* found = find_near_colon(text.data(), text.data() + text.size());
            if (found != nullptr && found != text.data() + place) FAIL("colon at " << place << " of " << size);
        }
    }
    SUCCEED();
}
