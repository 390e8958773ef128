// Tollgate 0.1.0, the whole library in one header. Generated from include/tollgate by
// single_include/amalgamate.py: change it there.
//
// SPDX-License-Identifier: MIT
//
// MIT License
//
// Copyright (c) 2026 The Tollgate authors
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the "Software"), to deal
// in the Software without restriction, including without limitation the rights
// to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
// copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in all
// copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
// AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
// SOFTWARE.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <charconv>
#include <chrono>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

// <tollgate/base/ascii.hpp>

namespace tollgate {

/// ASCII only, whatever the locale: protocol text is not natural language.
[[nodiscard]] constexpr char ascii_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// What a hexadecimal digit of either case stands for; -1 for any other character.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
    if (is_digit(c)) return c - '0';
    const char lower = ascii_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Equal without regard to the case of ASCII letters (RFC 9110 section 5.1 for field names, 11.1 for auth-scheme).
[[nodiscard]] constexpr bool ascii_iequals(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
    return true;
}

/// `text` without optional whitespace (SP, HTAB) at both ends (RFC 9110 section 5.6.3).
[[nodiscard]] constexpr std::string_view trim_ows(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Which bytes are in a set, one load each. A table is a constant of its namespace, never a local: a local one is built
/// again on the stack with every call.
using byte_set = std::array<bool, 256>;

[[nodiscard]] constexpr byte_set make_byte_set(std::string_view members) noexcept {
    byte_set made{};
    for (char c : members) made[static_cast<unsigned char>(c)] = true;
    return made;
}

[[nodiscard]] constexpr bool holds(const byte_set& set, char c) noexcept { return set[static_cast<unsigned char>(c)]; }

namespace detail {
inline constexpr byte_set token_chars =
    make_byte_set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/// tchar of RFC 9110 section 5.6.2.
[[nodiscard]] constexpr bool is_token_char(char c) noexcept { return holds(detail::token_chars, c); }

}  // namespace tollgate

// <tollgate/base/byte_order.hpp>

namespace tollgate {

/// Written as compilers recognise it: one instruction where the machine has one.
[[nodiscard]] constexpr std::uint32_t swap_bytes(std::uint32_t value) noexcept {
    return value << 24 | (value << 8 & 0x00ff'0000U) | (value >> 8 & 0x0000'ff00U) | value >> 24;
}

/// The number whose least significant byte is the first of the four at `from`, whatever their alignment.
[[nodiscard]] inline std::uint32_t load_little_endian_32(const char* from) noexcept {
    std::uint32_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return std::endian::native == std::endian::little ? value : swap_bytes(value);
}

/// The number whose bytes in memory are those of `value`, the most significant one first.
[[nodiscard]] constexpr std::uint32_t in_big_endian_order(std::uint32_t value) noexcept {
    return std::endian::native == std::endian::big ? value : swap_bytes(value);
}

}  // namespace tollgate

// <tollgate/base/config.hpp>

/// What the whole library is compiled with.
///
/// Header-only is the default. Define `TOLLGATE_SEPARATE_COMPILATION` for every translation unit, and include
/// `<tollgate/impl/src.hpp>` in exactly one, to compile the bodies of everything that is no template once.

#define TOLLGATE_VERSION_MAJOR 0
#define TOLLGATE_VERSION_MINOR 1
#define TOLLGATE_VERSION_PATCH 0
#define TOLLGATE_VERSION "0.1.0"

#if defined(TOLLGATE_SEPARATE_COMPILATION)
#define TOLLGATE_DECL
#else
#define TOLLGATE_DECL inline
#endif

// <tollgate/base/crc32.hpp>

namespace tollgate {

/// The CRC-32 of zlib, PNG and Ethernet (reflected polynomial 0xedb88320): finds typing errors, stops no forger.
[[nodiscard]] inline std::uint32_t crc32(std::string_view text) noexcept;

namespace detail {

using crc32_table = std::array<std::uint32_t, 256>;

/// Table `n` moves one byte past `n` bytes that follow it, so that four bytes are taken in one step.
constexpr std::array<crc32_table, 4> make_crc32_tables() noexcept {
    std::array<crc32_table, 4> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
        tables[0][byte] = value;
    }
    for (std::size_t n = 1; n < tables.size(); ++n)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[n - 1][byte];
            tables[n][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    return tables;
}

inline constexpr auto crc32_tables = make_crc32_tables();

}  // namespace detail

inline std::uint32_t crc32(std::string_view text) noexcept {
    const auto& tables = detail::crc32_tables;
    const char* next = text.data();
    const char* const end = next + text.size();

    std::uint32_t value = 0xffffffffU;
    for (; end - next >= 4; next += 4) {
        value ^= load_little_endian_32(next);
        value = tables[3][value & 0xff] ^ tables[2][value >> 8 & 0xff] ^ tables[1][value >> 16 & 0xff] ^
                tables[0][value >> 24];
    }
    for (; next != end; ++next) value = (value >> 8) ^ tables[0][(value ^ static_cast<unsigned char>(*next)) & 0xff];
    return ~value;
}

}  // namespace tollgate

// <tollgate/base/inline_text.hpp>

namespace tollgate {

/// Text of at most `Capacity` bytes that lives where it is declared: copying one never allocates, which is what lets a
/// credential travel from a store to an endpoint without touching the heap.
template <std::size_t Capacity>
class inline_text {
    static_assert(Capacity <= UINT16_MAX);

public:
    static constexpr std::size_t bytes_max = Capacity;

    constexpr inline_text() noexcept { clear_unused(); }

    /// Empty when `text` is longer than `Capacity`.
    static constexpr std::optional<inline_text> from(std::string_view text) noexcept;

    constexpr inline_text(const inline_text& other) noexcept {
        clear_unused();
        assign(other.view());
    }
    constexpr inline_text& operator=(const inline_text& other) noexcept;

    [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes_.data(), size_}; }
    constexpr operator std::string_view() const noexcept { return view(); }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

    /// False, and unchanged, when the result would not fit.
    constexpr bool append(std::string_view text) noexcept;
    constexpr void clear() noexcept { size_ = 0; }

    friend constexpr bool operator==(const inline_text& a, const inline_text& b) noexcept { return a.view() == b.view(); }
    friend constexpr bool operator==(const inline_text& a, std::string_view b) noexcept { return a.view() == b; }
    friend constexpr auto operator<=>(const inline_text& a, const inline_text& b) noexcept { return a.view() <=> b.view(); }

private:
    constexpr void assign(std::string_view text) noexcept;

    /// A constant may hold no byte without a value; at run time nothing is done.
    constexpr void clear_unused() noexcept {
        if (std::is_constant_evaluated()) bytes_.fill('\0');
    }

    std::uint16_t size_ = 0;
    std::array<char, Capacity> bytes_;  // not initialised on purpose: only the first size_ bytes are ever read
};

template <std::size_t Capacity>
constexpr std::optional<inline_text<Capacity>> inline_text<Capacity>::from(std::string_view text) noexcept {
    if (text.size() > Capacity) return std::nullopt;
    std::optional<inline_text> made{std::in_place};
    made->assign(text);
    return made;
}

template <std::size_t Capacity>
constexpr inline_text<Capacity>& inline_text<Capacity>::operator=(const inline_text& other) noexcept {
    if (this != &other) assign(other.view());
    return *this;
}

template <std::size_t Capacity>
constexpr bool inline_text<Capacity>::append(std::string_view text) noexcept {
    if (text.size() > Capacity - size_) return false;
    for (std::size_t i = 0; i < text.size(); ++i) bytes_[size_ + i] = text[i];
    size_ = static_cast<std::uint16_t>(size_ + text.size());
    return true;
}

template <std::size_t Capacity>
constexpr void inline_text<Capacity>::assign(std::string_view text) noexcept {
    size_ = static_cast<std::uint16_t>(text.size());
    if (!text.empty()) std::char_traits<char>::copy(bytes_.data(), text.data(), text.size());
}

}  // namespace tollgate

// <tollgate/base/limits.hpp>

/// Every bound of the library that is not a setting, with its reason.
namespace tollgate::limits {

inline constexpr std::size_t target_bytes_max = 8 * 1024;        // RFC 9112 section 3 asks for 8000 at the least
inline constexpr std::size_t header_bytes_default = 16 * 1024;   // nginx, h11: 8-16 KiB for the whole header section
inline constexpr std::size_t field_count_max = 100;              // Apache's LimitRequestFields; browsers send about 20
inline constexpr std::size_t body_bytes_default = 64 * 1024;     // the largest legitimate body is a target_url of 2 KiB
inline constexpr std::size_t chunk_line_bytes_max = 256;         // a size of 16 hex digits and room for an extension
inline constexpr std::size_t chunk_overhead_bytes_max = 16 * 1024;  // chunk lines and trailers of one body: no endless framing

inline constexpr std::size_t json_depth_max = 64;                // Go's, Rails' and GitHub's order of magnitude
inline constexpr std::size_t json_members_max = 256;             // top-level members; our largest object has 9
inline constexpr std::size_t form_members_max = 64;              // a browser form of ours has under 20

inline constexpr std::size_t target_url_bytes_max = 2048;        // what browsers and proxies agree to carry
inline constexpr std::size_t event_name_bytes_max = 128;         // noun.verb; svix and Gitea stay under it
inline constexpr std::size_t event_data_bytes_max = 256 * 1024;  // svix' and Stripe's bound on a payload
inline constexpr std::size_t token_description_bytes_max = 255;  // a line that a person reads
inline constexpr std::size_t service_name_bytes_max = 32;        // a path segment
inline constexpr std::size_t scope_text_bytes_max = 1024;        // all scopes of one credential: 30 services, read and write
inline constexpr std::size_t secret_text_bytes_max = 55;         // one SHA-256 block with its padding
inline constexpr std::size_t token_username_bytes_max = 32;
inline constexpr std::size_t client_id_bytes_max = 64;           // our own have 26; an integrator may bring theirs along
inline constexpr std::size_t decimal_text_bytes_max = 40;        // 38 digits as in NUMERIC(38), a sign, a point
inline constexpr std::size_t path_parameters_max = 8;            // captures of one route
inline constexpr std::size_t hooks_per_event_max = 20;           // for one account and event: GitHub's bound

}  // namespace tollgate::limits

// <tollgate/base/decimal.hpp>

namespace tollgate {

/// Money as its digits: the text of a JSON number (RFC 8259 section 6) without an exponent. Nothing here calculates,
/// and nothing rounds: what a directory gives arrives at the client with exactly these digits, in a binary float never.
class decimal {
public:
    static constexpr std::size_t bytes_max = limits::decimal_text_bytes_max;

    /// `0`.
    constexpr decimal() noexcept { text_.append("0"); }

    /// A literal such as `"12.50"`, checked while compiling.
    consteval decimal(const char* literal) {
        if (!is_decimal(literal)) throw "a decimal is the text of a JSON number without an exponent";
        text_.append(literal);
    }

    /// Empty for text that is no JSON number (`+1`, `.5`, `1.`, `01`, ` 1`), has an exponent, or is longer than
    /// `bytes_max`. A negative zero is kept: it is a JSON number, and the digits are the directory's to choose.
    static constexpr std::optional<decimal> parse(std::string_view text) noexcept;

    /// `from_minor_units(-350, 2)` is -3.50: for those who count in cents. Precondition: digits <= 18.
    static constexpr decimal from_minor_units(std::int64_t amount, unsigned digits) noexcept;

    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_.view(); }

    /// The same digits: `0.1` and `0.10` differ.
    friend constexpr bool operator==(const decimal& a, const decimal& b) noexcept { return a.text() == b.text(); }

private:
    static constexpr bool is_decimal(std::string_view text) noexcept;

    inline_text<bytes_max> text_;
};

constexpr bool decimal::is_decimal(std::string_view text) noexcept {
    if (text.size() > bytes_max) return false;
    const auto skip_digits = [&text]() noexcept {
        std::size_t count = 0;
        while (count < text.size() && is_digit(text[count])) ++count;
        text.remove_prefix(count);
        return count;
    };
    if (!text.empty() && text.front() == '-') text.remove_prefix(1);
    const bool leading_zero = !text.empty() && text.front() == '0';
    const std::size_t whole = skip_digits();
    if (whole == 0 || (leading_zero && whole > 1)) return false;
    if (text.empty()) return true;
    if (text.front() != '.') return false;
    text.remove_prefix(1);
    return skip_digits() > 0 && text.empty();
}

constexpr std::optional<decimal> decimal::parse(std::string_view text) noexcept {
    if (!is_decimal(text)) return std::nullopt;
    decimal made;
    made.text_.clear();
    made.text_.append(text);
    return made;
}

constexpr decimal decimal::from_minor_units(std::int64_t amount, unsigned digits) noexcept {
    assert(digits <= 18);
    char reversed[bytes_max]{};
    std::size_t size = 0;
    // Negated as unsigned, because the smallest number has no positive twin.
    std::uint64_t left = amount < 0 ? 0 - static_cast<std::uint64_t>(amount) : static_cast<std::uint64_t>(amount);
    for (unsigned place = 0; place <= digits || left != 0; ++place, left /= 10) {
        if (place == digits && digits != 0) reversed[size++] = '.';
        reversed[size++] = static_cast<char>('0' + left % 10);
    }
    if (amount < 0) reversed[size++] = '-';

    decimal made;
    made.text_.clear();
    while (size > 0) made.text_.append({&reversed[--size], 1});
    return made;
}

}  // namespace tollgate

// <tollgate/base/digest.hpp>

namespace tollgate {

/// A SHA-256 digest (FIPS 180-4): what is kept of a secret, and what a secret is looked up by.
class digest {
public:
    static constexpr std::size_t size_bytes = 32;

    /// All zero, which is the digest of no text that anybody knows.
    constexpr digest() noexcept = default;

    static constexpr digest from_bytes(const std::array<std::uint8_t, size_bytes>& bytes) noexcept {
        digest made;
        made.bytes_ = bytes;
        return made;
    }
    /// From the 32 bytes a store keeps; empty for any other number of bytes.
    static inline std::optional<digest> from(std::string_view raw) noexcept;

    [[nodiscard]] constexpr const std::array<std::uint8_t, size_bytes>& bytes() const noexcept { return bytes_; }
    /// The same 32 bytes as stores and encoders take them. A view of this object.
    [[nodiscard]] std::string_view raw() const noexcept {
        return {reinterpret_cast<const char*>(bytes_.data()), size_bytes};
    }

    /// Takes as long whatever the bytes are, so that time tells nobody how much of a guess was right.
    friend inline bool operator==(const digest& a, const digest& b) noexcept;

private:
    std::array<std::uint8_t, size_bytes> bytes_{};
};

/// The digest of `text`, of any length. Any thread; no heap memory.
///
/// Throws std::runtime_error when OpenSSL fails: without memory, or set up without SHA-256. There is no digest to go on
/// with then, and a made-up one would compare; so it is met where std::bad_alloc is, at the edge of `handle`.
[[nodiscard]] TOLLGATE_DECL digest sha256(std::string_view text);

struct keyed_message {
    std::string_view key;
    std::string_view message;
};

/// RFC 2104 with SHA-256. Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL digest hmac_sha256(const keyed_message& input);

/// For text such as signatures and form tokens: its time depends on the sizes alone, which are no secret.
[[nodiscard]] TOLLGATE_DECL bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

inline std::optional<digest> digest::from(std::string_view raw) noexcept {
    if (raw.size() != size_bytes) return std::nullopt;
    digest made;
    std::memcpy(made.bytes_.data(), raw.data(), size_bytes);
    return made;
}

inline bool operator==(const digest& a, const digest& b) noexcept {
    using words = std::array<std::uint64_t, digest::size_bytes / sizeof(std::uint64_t)>;
    const auto x = std::bit_cast<words>(a.bytes_);
    const auto y = std::bit_cast<words>(b.bytes_);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) == 0;
}

}  // namespace tollgate

template <>
struct std::hash<tollgate::digest> {
    /// The bytes of a digest are spread evenly already, so the first few are as good a hash as any.
    [[nodiscard]] std::size_t operator()(const tollgate::digest& of) const noexcept {
        std::size_t first = 0;
        std::memcpy(&first, of.bytes().data(), sizeof first);
        return first;
    }
};

// <tollgate/base/siphash.hpp>

namespace tollgate {

/// 128 bits that nobody else knows.
struct siphash_key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

struct siphash_tag {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    /// Takes as long whatever the bits are.
    friend constexpr bool operator==(const siphash_tag& a, const siphash_tag& b) noexcept {
        return ((a.first ^ b.first) | (a.second ^ b.second)) == 0;
    }
};

/// SipHash (Aumasson and Bernstein, 2012) of eight bytes, the least significant first: for tables whose keys come from
/// strangers, who without `secret` cannot choose keys that meet in one place. 1-3 rounds, as in Rust's and Python's
/// tables; 2-4 is the variant of the published vectors.
template <int compression_rounds = 1, int finalization_rounds = 3>
[[nodiscard]] constexpr std::uint64_t siphash(const siphash_key& secret, std::uint64_t eight_bytes) noexcept;

/// SipHash-2-4 with 128 bits of output: a tag that nobody finds two texts for, or a text for, without `secret`.
[[nodiscard]] inline siphash_tag siphash128(const siphash_key& secret, std::string_view text) noexcept;

namespace detail {

struct siphash_state {
    std::uint64_t v0, v1, v2, v3;

    constexpr explicit siphash_state(const siphash_key& secret) noexcept
        : v0{secret.first ^ 0x736f6d6570736575U},
          v1{secret.second ^ 0x646f72616e646f6dU},
          v2{secret.first ^ 0x6c7967656e657261U},
          v3{secret.second ^ 0x7465646279746573U} {}

    constexpr void mix(int rounds) noexcept {
        for (int i = 0; i < rounds; ++i) {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32) + v3;
            v2 += v1;
            v1 = std::rotl(v1, 17) ^ v2;
            v3 = std::rotl(v3, 21) ^ v0;
            v2 = std::rotl(v2, 32);
        }
    }
    constexpr void compress(std::uint64_t word, int rounds) noexcept {
        v3 ^= word;
        mix(rounds);
        v0 ^= word;
    }
    [[nodiscard]] constexpr std::uint64_t folded() const noexcept { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace detail

template <int compression_rounds, int finalization_rounds>
constexpr std::uint64_t siphash(const siphash_key& secret, std::uint64_t eight_bytes) noexcept {
    detail::siphash_state state{secret};
    state.compress(eight_bytes, compression_rounds);
    state.compress(std::uint64_t{8} << 56, compression_rounds);  // the last word holds the length
    state.v2 ^= 0xff;
    state.mix(finalization_rounds);
    return state.folded();
}

inline siphash_tag siphash128(const siphash_key& secret, std::string_view text) noexcept {
    detail::siphash_state state{secret};
    state.v1 ^= 0xee;
    const std::uint64_t length = text.size();
    for (; text.size() >= 8; text.remove_prefix(8))
        state.compress(load_little_endian_32(text.data()) |
                           std::uint64_t{load_little_endian_32(text.data() + 4)} << 32,
                       2);
    std::uint64_t last = length << 56;
    for (std::size_t i = 0; i < text.size(); ++i)
        last |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    state.compress(last, 2);
    state.v2 ^= 0xee;
    state.mix(4);
    const auto first = state.folded();
    state.v1 ^= 0xdd;
    state.mix(4);
    return {first, state.folded()};
}

}  // namespace tollgate

// <tollgate/base/digest_memo.hpp>

namespace tollgate {

/// The digests of secrets seen lately, so that a token's hundredth request need not compute what its first did: without
/// SHA instructions (most servers before 2020, and every emulator) a digest costs as much as all else that is done to let
/// a caller in.
///
/// It changes no answer. An entry is found by a 128-bit keyed tag of the whole secret, compared in constant time, with a
/// key that is random and never leaves the object: to be taken for another text's digest, a guess has to be one in 2^128.
/// What it holds are digests, which stores hold too, and tags; never a secret. Nothing is decided here: who has revoked
/// what is still asked of the store each time.
///
/// Bounded, of a fixed size, no heap memory. Not for two threads at once.
class digest_memo {
public:
    static constexpr std::size_t entries_max = 256;  // 12 KiB: so many tokens are busy at one time on one thread

    explicit digest_memo(const siphash_key& secret) noexcept : key_{secret} {}

    /// The SHA-256 of `text`. Throws as `sha256` does.
    [[nodiscard]] digest of(std::string_view text) {
        const auto tag = siphash128(key_, text);
        entry& kept = entries_[tag.first % entries_max];
        if (!kept.used || !(kept.tag == tag)) kept = {tag, sha256(text), true};
        return kept.value;
    }

private:
    struct entry {
        siphash_tag tag;
        digest value;
        bool used = false;
    };

    siphash_key key_;
    std::array<entry, entries_max> entries_{};
};

/// The SHA-256 of a secret that a request carries, remembered by this thread. Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL digest recall_digest_of(std::string_view secret);

}  // namespace tollgate

// <tollgate/base/encoding.hpp>

namespace tollgate {

// Decoders are strict: of all texts that could stand for some bytes they take one. Those that write into the caller's
// memory return how many bytes they wrote; when they refuse, what they wrote means nothing.

/// RFC 4648 section 4, padded.
[[nodiscard]] TOLLGATE_DECL std::string base64_encode(std::string_view bytes);

/// Refuses missing or extra padding, blanks, line ends, and trailing bits that are not zero (RFC 4648 section 3.5).
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> base64_decode(std::string_view text);

/// Refuses, too, what may not fit: `out` needs room for base64_decoded_bytes_max(text.size()).
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> base64_decode_into(std::string_view text,
                                                                          std::span<char> out) noexcept;

[[nodiscard]] constexpr std::size_t base64_decoded_bytes_max(std::size_t text_bytes) noexcept {
    return text_bytes / 4 * 3 + 2;
}

/// RFC 4648 section 5, without padding, as PKCE (RFC 7636) and JOSE want it.
[[nodiscard]] TOLLGATE_DECL std::string base64url_encode(std::string_view bytes);
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> base64url_decode(std::string_view text);

/// Two lower-case digits a byte.
[[nodiscard]] TOLLGATE_DECL std::string hex_encode(std::string_view bytes);
/// Digits of either case.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> hex_decode(std::string_view text);

/// What a `+` is: itself in a path (RFC 3986), a space in a form or in a query made from one (WHATWG URL, section 5.1).
enum class plus_sign : std::uint8_t { literal, space };

/// Everything but unreserved characters as `%XX` (RFC 3986 section 2.3), so that it can stand anywhere in a URL.
[[nodiscard]] TOLLGATE_DECL std::string percent_encode(std::string_view bytes);

/// Refuses a `%` without two hexadecimal digits. The bytes it gives may be any: zero, and what is no UTF-8.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> percent_decode(std::string_view text,
                                                                      plus_sign plus = plus_sign::literal);

/// Refuses, too, text longer than `out`. It may decode onto itself: `out` may begin where `text` does.
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> percent_decode_into(
    std::string_view text, std::span<char> out, plus_sign plus = plus_sign::literal) noexcept;

}  // namespace tollgate

// <tollgate/base/ids.hpp>

namespace tollgate {

/// What names one stored thing: a number from 1 to 9223372036854775807. `Tag` keeps a hook's number from being taken
/// for an account's. There is no "no id" value; where an id may be missing, say `std::optional`.
template <class Tag>
class id {
public:
    /// Precondition: value > 0.
    explicit constexpr id(std::int64_t value) noexcept : value_{value} { assert(value > 0); }

    /// For numbers that come from elsewhere, such as a row of a table: empty when the number is not positive.
    static constexpr std::optional<id> from(std::int64_t value) noexcept {
        return value > 0 ? std::optional{id{value}} : std::nullopt;
    }

    /// Digits only, without sign, space or leading zero: one id has one spelling, so every other one is a 404.
    static constexpr std::optional<id> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

    friend constexpr auto operator<=>(const id&, const id&) noexcept = default;

private:
    std::int64_t value_;
};

using user_id = id<struct user_tag>;
using account_id = id<struct account_tag>;  ///< unique within its service
using hook_id = id<struct hook_tag>;
using token_id = id<struct token_tag>;  ///< a personal token
using application_id = id<struct application_tag>;
using grant_id = id<struct grant_tag>;  ///< what one user allowed one application
using event_id = id<struct event_tag>;
using delivery_id = id<struct delivery_tag>;  ///< one event on its way to one hook

template <class Tag>
constexpr std::optional<id<Tag>> id<Tag>::parse(std::string_view text) noexcept {
    constexpr std::uint64_t largest = (std::numeric_limits<std::int64_t>::max)();
    constexpr std::size_t digits_max = 19;  // as many as `largest` has: the sum below cannot overflow 64 bits
    if (text.empty() || text.size() > digits_max || text.front() == '0') return std::nullopt;
    std::uint64_t value = 0;
    for (char c : text) {
        if (!is_digit(c)) return std::nullopt;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    if (value > largest) return std::nullopt;
    return id{static_cast<std::int64_t>(value)};
}

}  // namespace tollgate

template <class Tag>
struct std::hash<tollgate::id<Tag>> {
    [[nodiscard]] std::size_t operator()(const tollgate::id<Tag>& named) const noexcept {
        return std::hash<std::int64_t>{}(named.value());
    }
};

// <tollgate/base/ip_address.hpp>

namespace tollgate {

/// An IPv4 or IPv6 address as 16 bytes in network order; an IPv4 address is kept as `::ffff:a.b.c.d` (RFC 4291 section
/// 2.5.5.2), so that the two spellings of one host are one address.
class ip_address {
public:
    /// `::`, which no peer has.
    constexpr ip_address() noexcept = default;

    static constexpr ip_address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) noexcept {
        ip_address made;
        made.bytes_ = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
        return made;
    }
    static constexpr ip_address from_bytes(const std::array<std::uint8_t, 16>& bytes) noexcept {
        ip_address made;
        made.bytes_ = bytes;
        return made;
    }

    /// Dotted decimal of four parts without leading zeros, or RFC 4291 text; no port, brackets or zone.
    static TOLLGATE_DECL std::optional<ip_address> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr bool is_v4() const noexcept {
        for (std::size_t i = 0; i < 10; ++i)
            if (bytes_[i] != 0) return false;
        return bytes_[10] == 0xff && bytes_[11] == 0xff;
    }
    [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }

    /// Canonical text: dotted decimal for IPv4, RFC 5952 for IPv6.
    [[nodiscard]] TOLLGATE_DECL std::string to_text() const;

    friend constexpr auto operator<=>(const ip_address&, const ip_address&) noexcept = default;

private:
    std::array<std::uint8_t, 16> bytes_{};
};

/// A CIDR block such as `10.0.0.0/8` or `2001:db8::/32`; a bare address is a block of one.
struct ip_network {
    ip_address first;
    unsigned prefix_bits = 128;  ///< of the 16-byte form: an IPv4 /8 is 104

    /// Empty for anything else, and for host bits that are set below the prefix (`10.0.0.1/8`): mostly a typing error.
    static TOLLGATE_DECL std::optional<ip_network> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr bool contains(const ip_address& address) const noexcept {
        for (unsigned bit = 0; bit < prefix_bits; bit += 8) {
            const unsigned left = prefix_bits - bit;
            const unsigned mask = left >= 8 ? 0xffU : (0xffU << (8 - left)) & 0xffU;
            if (((first.bytes()[bit / 8] ^ address.bytes()[bit / 8]) & mask) != 0) return false;
        }
        return true;
    }
};

}  // namespace tollgate

// <tollgate/base/problem.hpp>

namespace tollgate {

/// Whose fault it is, and what kind: the pipeline turns each into a status (4xx for the client's, 5xx for ours).
enum class problem_kind {
    malformed,     ///< the request's bytes break a rule: 400
    unauthorized,  ///< no credentials, or bad ones: 401
    forbidden,     ///< known, but not allowed: 403
    not_found,     ///< unknown, or somebody else's (the client cannot tell which): 404
    invalid,       ///< well-formed, but a member's value will not do: 422
    conflict,      ///< it would break a rule of what is stored already: 409
    unavailable,   ///< a part we rely on is down or too slow: 503, and worth a retry
    internal,      ///< a mistake of ours: 500
};

/// A failure in two voices: `message` is what the client reads, `cause` is for the operator alone (the observer gets it)
/// and may name files, statements or addresses. Neither ever holds a secret.
struct problem {
    problem_kind kind = problem_kind::internal;
    std::string message;
    std::string cause;
};

[[nodiscard]] inline problem unavailable(std::string cause) {
    return {problem_kind::unavailable, "The service is temporarily unavailable. Try again in a moment.", std::move(cause)};
}

[[nodiscard]] inline problem internal_error(std::string cause) {
    return {problem_kind::internal, "Something went wrong on our side.", std::move(cause)};
}

[[nodiscard]] inline problem invalid(std::string message) { return {problem_kind::invalid, std::move(message), {}}; }

[[nodiscard]] inline problem malformed(std::string message) { return {problem_kind::malformed, std::move(message), {}}; }

/// One text for everything that is not there or not the caller's: whoever asks cannot tell the two apart.
[[nodiscard]] inline problem not_found() { return {problem_kind::not_found, "Not Found", {}}; }

}  // namespace tollgate

// <tollgate/base/outcome.hpp>

namespace tollgate {

/// A value, or the problem that kept us from having it. What may fail returns one; nothing is thrown across a contract.
template <class T>
class [[nodiscard]] outcome {
public:
    using value_type = T;

    outcome(T value) : state_{std::in_place_index<0>, std::move(value)} {}
    outcome(problem why) : state_{std::in_place_index<1>, std::move(why)} {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Precondition: has_value().
    [[nodiscard]] T& operator*() & noexcept { return held(); }
    [[nodiscard]] const T& operator*() const& noexcept { return const_cast<outcome*>(this)->held(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(held()); }
    [[nodiscard]] T* operator->() noexcept { return &held(); }
    [[nodiscard]] const T* operator->() const noexcept { return &const_cast<outcome*>(this)->held(); }

    /// Precondition: !has_value().
    [[nodiscard]] problem& error() & noexcept { return why(); }
    [[nodiscard]] const problem& error() const& noexcept { return const_cast<outcome*>(this)->why(); }
    [[nodiscard]] problem&& error() && noexcept { return std::move(why()); }

private:
    T& held() noexcept {
        assert(has_value());
        return *std::get_if<0>(&state_);
    }
    problem& why() noexcept {
        assert(!has_value());
        return *std::get_if<1>(&state_);
    }

    std::variant<T, problem> state_;
};

/// Done, or the problem that kept it from being done.
template <>
class [[nodiscard]] outcome<void> {
public:
    using value_type = void;

    outcome() = default;
    outcome(problem why) : state_{std::in_place_index<1>, std::move(why)} {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Precondition: !has_value().
    [[nodiscard]] problem& error() & noexcept { return *std::get_if<1>(&state_); }
    [[nodiscard]] const problem& error() const& noexcept { return *std::get_if<1>(&state_); }
    [[nodiscard]] problem&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

private:
    std::variant<std::monostate, problem> state_;
};

}  // namespace tollgate

// <tollgate/base/secret.hpp>

namespace tollgate {

/// What a secret lets its holder do. Its prefix says so to people, and to scanners that look for leaked secrets.
enum class secret_kind : std::uint8_t {
    personal_token,      ///< `tgp_`
    access_token,        ///< `tga_`
    refresh_token,       ///< `tgr_`
    authorization_code,  ///< `tgc_`
    client_secret,       ///< `tgs_`
    session,             ///< `tgw_`, a cookie's
};

/// `prefix digits checksum`: 4 characters for the kind, 43 base-62 digits for 256 random bits, and 6 for their
/// CRC-32. `[A-Za-z0-9_]` only, so it needs no escaping in a URL, a form, a shell or a header, and is picked with a
/// double click.
using secret_text = inline_text<limits::secret_text_bytes_max>;
inline constexpr std::size_t secret_text_bytes = 53;
static_assert(secret_text_bytes <= secret_text::bytes_max);

/// The same bytes make the same secret, so they come from a random_source and are used once.
[[nodiscard]] TOLLGATE_DECL secret_text make_secret(secret_kind kind, std::span<const std::byte, 32> random) noexcept;

/// Whether `text` could be a secret of this kind: right prefix, characters and checksum. Quick, so that what somebody
/// mistyped or made up is refused without a digest and without asking a store.
[[nodiscard]] TOLLGATE_DECL bool is_well_formed(secret_kind kind, std::string_view text) noexcept;

/// What is kept of a secret. Throws as `sha256` does.
[[nodiscard]] inline digest digest_of(std::string_view secret) { return sha256(secret); }

/// What a public name names.
enum class public_id_kind : std::uint8_t {
    username,   ///< `tgu_`, the user name of a personal token
    client_id,  ///< `tgi_`, an OAuth application (RFC 6749 section 2.2)
    message,    ///< `msg_`, a webhook's `webhook-id`
};

/// A name that nobody else has and nobody guesses, but no secret: prefix and 22 base-62 digits for 128 random bits.
using public_id = inline_text<limits::token_username_bytes_max>;
[[nodiscard]] TOLLGATE_DECL public_id make_public_id(public_id_kind kind,
                                                     std::span<const std::byte, 16> random) noexcept;

/// Overwrites bytes in a way that no compiler leaves out, although nobody reads them again.
TOLLGATE_DECL void secure_wipe(std::span<std::byte> bytes) noexcept;
/// The same for text, which is empty afterwards.
TOLLGATE_DECL void secure_wipe(std::string& text) noexcept;

}  // namespace tollgate

// <tollgate/base/time.hpp>

namespace tollgate {

/// A moment in UTC, to the millisecond. Always an argument: nothing below the clock policy asks what time it is.
using instant = std::chrono::sys_time<std::chrono::milliseconds>;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Whole seconds since 1970 as stores keep them.
[[nodiscard]] constexpr std::int64_t to_unix_seconds(instant at) noexcept {
    return std::chrono::floor<seconds>(at).time_since_epoch().count();
}
[[nodiscard]] constexpr std::int64_t to_unix_milliseconds(instant at) noexcept { return at.time_since_epoch().count(); }
[[nodiscard]] constexpr instant from_unix_milliseconds(std::int64_t count) noexcept { return instant{milliseconds{count}}; }
[[nodiscard]] constexpr instant from_unix_seconds(std::int64_t count) noexcept { return instant{seconds{count}}; }

/// The next whole second at or after `at`: what a client may safely wait for.
[[nodiscard]] constexpr instant round_up_to_seconds(instant at) noexcept { return std::chrono::ceil<seconds>(at); }

/// `YYYY-MM-DDTHH:MM:SSZ` (ISO 8601, RFC 3339), 20 characters; fractions of a second are cut off.
/// Holds for years 0 to 9999; a moment outside is shown as the nearest one inside.
struct iso8601_text {
    std::array<char, 20> characters;
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters.data(), characters.size()}; }
};
[[nodiscard]] constexpr iso8601_text to_iso8601(instant at) noexcept;

/// `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 section 5.6.7), 29 characters.
struct http_date_text {
    std::array<char, 29> characters;
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters.data(), characters.size()}; }
};
[[nodiscard]] constexpr http_date_text to_http_date(instant at) noexcept;

namespace detail {

struct civil_time {
    int year, month, day, hour, minute, second, weekday;
};

constexpr civil_time to_civil(instant at) noexcept {
    using namespace std::chrono;
    constexpr instant first = sys_days{year{0} / January / 1};
    constexpr instant last = sys_days{year{9999} / December / 31} + hours{24} - milliseconds{1};
    const instant inside = at < first ? first : at > last ? last : at;
    const auto day_start = floor<days>(inside);
    const year_month_day date{day_start};
    const hh_mm_ss clock{floor<std::chrono::seconds>(inside - day_start)};
    return {static_cast<int>(date.year()),
            static_cast<int>(static_cast<unsigned>(date.month())),
            static_cast<int>(static_cast<unsigned>(date.day())),
            static_cast<int>(clock.hours().count()),
            static_cast<int>(clock.minutes().count()),
            static_cast<int>(clock.seconds().count()),
            static_cast<int>(weekday{day_start}.c_encoding())};
}

constexpr char* put_two(char* out, int value) noexcept {
    *out++ = static_cast<char>('0' + value / 10);
    *out++ = static_cast<char>('0' + value % 10);
    return out;
}

constexpr char* put_text(char* out, std::string_view text) noexcept {
    for (char c : text) *out++ = c;
    return out;
}

}  // namespace detail

constexpr iso8601_text to_iso8601(instant at) noexcept {
    const auto civil = detail::to_civil(at);
    iso8601_text made{};
    char* out = made.characters.data();
    out = detail::put_two(out, civil.year / 100);
    out = detail::put_two(out, civil.year % 100);
    *out++ = '-';
    out = detail::put_two(out, civil.month);
    *out++ = '-';
    out = detail::put_two(out, civil.day);
    *out++ = 'T';
    out = detail::put_two(out, civil.hour);
    *out++ = ':';
    out = detail::put_two(out, civil.minute);
    *out++ = ':';
    out = detail::put_two(out, civil.second);
    *out = 'Z';
    return made;
}

constexpr http_date_text to_http_date(instant at) noexcept {
    constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
    constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto civil = detail::to_civil(at);
    http_date_text made{};
    char* out = made.characters.data();
    out = detail::put_text(out, day_names.substr(static_cast<std::size_t>(civil.weekday) * 3, 3));
    out = detail::put_text(out, ", ");
    out = detail::put_two(out, civil.day);
    *out++ = ' ';
    out = detail::put_text(out, month_names.substr(static_cast<std::size_t>(civil.month - 1) * 3, 3));
    *out++ = ' ';
    out = detail::put_two(out, civil.year / 100);
    out = detail::put_two(out, civil.year % 100);
    *out++ = ' ';
    out = detail::put_two(out, civil.hour);
    *out++ = ':';
    out = detail::put_two(out, civil.minute);
    *out++ = ':';
    out = detail::put_two(out, civil.second);
    detail::put_text(out, " GMT");
    return made;
}

}  // namespace tollgate

// <tollgate/base/utf8.hpp>

namespace tollgate {

/// The bytes of the well-formed UTF-8 sequence that `text` begins with (Unicode 15 table 3-7): 1 to 4, or 0 if there is
/// none: no overlong form, no surrogate, nothing above U+10FFFF. Precondition: `text` is not empty.
[[nodiscard]] constexpr std::size_t utf8_sequence_bytes(std::string_view text) noexcept {
    const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto within = [](unsigned byte, unsigned first, unsigned last) { return byte >= first && byte <= last; };
    const auto continues = [&](std::size_t i) { return within(at(i), 0x80, 0xbf); };

    const unsigned lead = at(0);
    if (lead < 0x80) return 1;
    if (within(lead, 0xc2, 0xdf)) return continues(1) ? 2 : 0;
    if (within(lead, 0xe0, 0xef)) {
        const bool second = within(at(1), lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
        return second && continues(2) ? 3 : 0;
    }
    if (within(lead, 0xf0, 0xf4)) {
        const bool second = within(at(1), lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
        return second && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

namespace detail {

/// Most text is ASCII most of the time: eight characters of it are passed in one step.
constexpr bool begins_with_eight_ascii(std::string_view text) noexcept {
    if (text.size() < 8) return false;
    unsigned seen = 0;
    for (std::size_t i = 0; i < 8; ++i) seen |= static_cast<unsigned char>(text[i]);
    return seen < 0x80;
}

}  // namespace detail

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        if (detail::begins_with_eight_ascii(text)) {
            text.remove_prefix(8);
            continue;
        }
        const std::size_t bytes = utf8_sequence_bytes(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

}  // namespace tollgate

// <tollgate/http/authority.hpp>

namespace tollgate::http {

/// Whether `text` is `uri-host [":" port]` with a host that is not empty (RFC 9110 section 7.2, RFC 3986
/// section 3.2.2): a name, an IPv4 address, or an IPv6 address in brackets; a port of 0 to 65535, or none behind the
/// colon. No user information, path or blank; no comma either, though a name may have one: it is how two `Host` lines
/// look after a proxy has joined them.
[[nodiscard]] TOLLGATE_DECL bool is_authority(std::string_view text) noexcept;

}  // namespace tollgate::http

// <tollgate/http/fields.hpp>

namespace tollgate::http {

/// The request fields that some stage asks for on every request, found without comparing names again.
enum class field_id : std::uint8_t {
    other,
    host,
    user_agent,
    authorization,
    content_type,
    content_length,
    transfer_encoding,
    connection,
    expect,
    x_forwarded_for,
    forwarded,
    cookie,
    origin,
    referer,
    count_,  ///< how many there are; no field
};

[[nodiscard]] constexpr field_id to_field_id(std::string_view name) noexcept;

struct field {
    std::string_view name;   ///< a token, as sent
    std::string_view value;  ///< without whitespace at its ends, otherwise as sent
};

/// Field lines in the order they came: views of somebody else's bytes, a bounded number, nothing on the heap.
class field_lines {
public:
    static constexpr std::size_t size_max = limits::field_count_max;

    void clear() noexcept {
        size_ = 0;
        lookup_ = {};
    }

    /// False, and unchanged, when there are `size_max` already.
    bool add(std::string_view name, std::string_view value) noexcept { return add(to_field_id(name), name, value); }
    bool add(field_id id, std::string_view name, std::string_view value) noexcept;

    /// How many lines carry this name.
    [[nodiscard]] std::size_t count(field_id id) const noexcept { return lookup_[index(id)].lines; }

    /// The first line's value; empty when there is none (use `count` to tell that from an empty value).
    [[nodiscard]] std::string_view find(field_id id) const noexcept {
        const auto& known = lookup_[index(id)];
        return known.lines == 0 ? std::string_view{} : lines_[known.first].value;
    }
    /// The same by name, in any case; walks the lines.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept;

    /// The bytes that the lines are views of have moved: what was at address `from` is at `to` now.
    void relocate(std::uintptr_t from, const char* to) noexcept;

    [[nodiscard]] const field* begin() const noexcept { return lines_.data(); }
    [[nodiscard]] const field* end() const noexcept { return lines_.data() + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    struct known_line {
        std::uint8_t first = 0;
        std::uint8_t lines = 0;
    };
    static constexpr std::size_t index(field_id id) noexcept { return static_cast<std::size_t>(id); }

    std::array<field, size_max> lines_;  // only the first size_ are ever read
    std::size_t size_ = 0;
    std::array<known_line, static_cast<std::size_t>(field_id::count_)> lookup_{};
    static_assert(size_max <= UINT8_MAX);
};

namespace detail {

/// A lower-case name of 4 to 17 bytes as two words that may overlap, so that a field name on the wire is told in any
/// case by two comparisons: this runs for every field line of every request.
class known_name {
public:
    consteval known_name(const char* lower, field_id id) : text_{lower}, id_{id} {
        if (text_.size() < 4 || text_.size() > 17) throw "two words and one byte hold at the most 17";
        const std::size_t word_size = text_.size() < 8 ? 4 : 8;
        for (std::size_t i = 0; i < word_size; ++i) {
            set(head_, head_fold_, i, text_[i]);
            set(tail_, tail_fold_, i, text_[text_.size() - word_size + i]);
        }
    }

    /// `id` if `name`, which has as many bytes as the known one, is the same in any case; otherwise `other`.
    [[nodiscard]] constexpr field_id match(std::string_view name) const noexcept {
        if (std::is_constant_evaluated()) return ascii_iequals(name, text_) ? id_ : field_id::other;
        // Only where the known name has a letter is a case folded, so that no other byte can pass for one of the
        // name's.
        const bool same = text_.size() < 8 ? matches<std::uint32_t>(name.data()) : matches<std::uint64_t>(name.data());
        return same ? id_ : field_id::other;
    }

private:
    using word_bytes = std::array<char, 8>;

    static constexpr void set(word_bytes& word, word_bytes& fold, std::size_t i, char c) noexcept {
        word[i] = c;
        fold[i] = c >= 'a' && c <= 'z' ? 'a' - 'A' : '\0';
    }

    template <class Word>
    [[nodiscard]] bool matches(const char* name) const noexcept {
        const auto load = [](const char* at) {
            Word word;
            std::memcpy(&word, at, sizeof word);
            return word;
        };
        const std::size_t size = text_.size();
        const bool middle = size <= 16 || ascii_lower(name[8]) == text_[8];
        return (load(name) | load(head_fold_.data())) == load(head_.data()) &&
               (load(name + size - sizeof(Word)) | load(tail_fold_.data())) == load(tail_.data()) && middle;
    }

    std::string_view text_;
    field_id id_;
    word_bytes head_{}, head_fold_{}, tail_{}, tail_fold_{};
};

inline constexpr known_name host_name{"host", field_id::host};
inline constexpr known_name expect_name{"expect", field_id::expect};
inline constexpr known_name origin_name{"origin", field_id::origin};
inline constexpr known_name cookie_name{"cookie", field_id::cookie};
inline constexpr known_name referer_name{"referer", field_id::referer};
inline constexpr known_name forwarded_name{"forwarded", field_id::forwarded};
inline constexpr known_name user_agent_name{"user-agent", field_id::user_agent};
inline constexpr known_name connection_name{"connection", field_id::connection};
inline constexpr known_name content_type_name{"content-type", field_id::content_type};
inline constexpr known_name authorization_name{"authorization", field_id::authorization};
inline constexpr known_name content_length_name{"content-length", field_id::content_length};
inline constexpr known_name x_forwarded_for_name{"x-forwarded-for", field_id::x_forwarded_for};
inline constexpr known_name transfer_encoding_name{"transfer-encoding", field_id::transfer_encoding};

}  // namespace detail

constexpr field_id to_field_id(std::string_view name) noexcept {
    using namespace detail;
    switch (name.size()) {
        case 4: return host_name.match(name);
        case 6:
            if (const char initial = ascii_lower(name.front()); initial == 'e') return expect_name.match(name);
            else if (initial == 'o') return origin_name.match(name);
            return cookie_name.match(name);
        case 7: return referer_name.match(name);
        case 9: return forwarded_name.match(name);
        case 10:
            if (ascii_lower(name.front()) == 'u') return user_agent_name.match(name);
            return connection_name.match(name);
        case 12: return content_type_name.match(name);
        case 13: return authorization_name.match(name);
        case 14: return content_length_name.match(name);
        case 15: return x_forwarded_for_name.match(name);
        case 17: return transfer_encoding_name.match(name);
        default: return field_id::other;
    }
}

inline bool field_lines::add(field_id id, std::string_view name, std::string_view value) noexcept {
    if (size_ == size_max) return false;
    auto& known = lookup_[index(id)];
    if (known.lines++ == 0) known.first = static_cast<std::uint8_t>(size_);
    lines_[size_].name = name;
    lines_[size_].value = value;
    ++size_;
    return true;
}

/// `view` of the same bytes where they are now. Addresses as numbers: the old place may be gone, and a pointer into it
/// with it.
[[nodiscard]] inline std::string_view relocated(std::string_view view, std::uintptr_t from, const char* to) noexcept {
    if (view.data() == nullptr) return view;
    return {to + (reinterpret_cast<std::uintptr_t>(view.data()) - from), view.size()};
}

inline void field_lines::relocate(std::uintptr_t from, const char* to) noexcept {
    for (std::size_t i = 0; i < size_; ++i)
        lines_[i] = {relocated(lines_[i].name, from, to), relocated(lines_[i].value, from, to)};
}

inline std::string_view field_lines::find(std::string_view name) const noexcept {
    for (const field& line : *this)
        if (ascii_iequals(line.name, name)) return line.value;
    return {};
}

}  // namespace tollgate::http

// <tollgate/http/scan.hpp>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Finding the end of a piece of a message: 16 bytes at a time where the processor has SSE2 (every x86-64 has), 8 at a
/// time elsewhere. All of them return `end` when every byte belongs to the piece, and never read a byte outside [at,
/// end).
namespace tollgate::http::detail {

/// The first byte that no field value holds (RFC 9110 section 5.5): a control character other than HTAB. Bytes of 0x80
/// and above are obs-text, which is data.
[[nodiscard]] inline const char* find_value_end(const char* at, const char* end) noexcept;

/// The first byte that no request target holds: a control character, a blank, `#` (a fragment is never sent), DEL, or
/// any byte of 0x80 and above, which a URI writes percent-encoded.
[[nodiscard]] inline const char* find_target_end(const char* at, const char* end) noexcept;

/// The first byte that is no tchar (RFC 9110 section 5.6.2).
[[nodiscard]] inline const char* find_token_end(const char* at, const char* end) noexcept {
    while (at != end && is_token_char(*at)) ++at;
    return at;
}

/// The first colon, if it is among the next few bytes that can be looked at together; otherwise null, which says
/// nothing.
[[nodiscard]] inline const char* find_near_colon(const char* at, const char* end) noexcept;

inline constexpr byte_set value_ends = [] {
    byte_set made{};
    for (std::size_t byte = 0; byte < made.size(); ++byte) made[byte] = (byte < 0x20 && byte != '\t') || byte == 0x7f;
    return made;
}();

inline constexpr byte_set target_ends = [] {
    byte_set made{};
    for (std::size_t byte = 0; byte < made.size(); ++byte) made[byte] = byte <= 0x20 || byte >= 0x7f || byte == '#';
    return made;
}();

#if defined(__SSE2__)

/// One bit for each of the 16 bytes.
using block_marks = unsigned;
inline constexpr std::ptrdiff_t block_bytes = 16;

[[nodiscard]] inline __m128i load_block(const char* at) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

/// Marks tabs too: so rare in a value that it is cheaper to look closer than to tell them apart in every block.
[[nodiscard]] inline block_marks mark_value_end(const char* at) noexcept {
    const __m128i bytes = load_block(at);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    return static_cast<block_marks>(_mm_movemask_epi8(_mm_or_si128(control, del)));
}

[[nodiscard]] inline block_marks mark_target_end(const char* at) noexcept {
    const __m128i bytes = load_block(at);
    // Signed: a byte of 0x80 and above is negative, so not greater than a blank either.
    const __m128i visible = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x20));
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    const __m128i fragment = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#'));
    return static_cast<block_marks>(_mm_movemask_epi8(_mm_or_si128(fragment, del))) |
           (static_cast<block_marks>(_mm_movemask_epi8(visible)) ^ 0xffffU);
}

inline const char* find_near_colon(const char* at, const char* end) noexcept {
    if (end - at < block_bytes) return nullptr;
    const auto marks = static_cast<block_marks>(_mm_movemask_epi8(_mm_cmpeq_epi8(load_block(at), _mm_set1_epi8(':'))));
    return marks == 0 ? nullptr : at + std::countr_zero(marks);
}

/// The first marked byte that is in `Ends`; null if none.
template <const byte_set& Ends>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks marks) noexcept {
    for (; marks != 0; marks &= marks - 1)
        if (const char* found = at + std::countr_zero(marks); holds(Ends, *found)) [[likely]] return found;
    return nullptr;
}

#else

/// The high bit of each of the 8 bytes; a byte behind a marked one may be marked wrongly, so a mark says "look closer".
using block_marks = std::uint64_t;
inline constexpr std::ptrdiff_t block_bytes = 8;

[[nodiscard]] constexpr std::uint64_t all_bytes(unsigned char byte) noexcept { return 0x0101010101010101U * byte; }

[[nodiscard]] constexpr std::uint64_t mark_below(std::uint64_t word, unsigned char bound) noexcept {
    return (word - all_bytes(bound)) & ~word & all_bytes(0x80);
}
[[nodiscard]] constexpr std::uint64_t mark_equal(std::uint64_t word, unsigned char byte) noexcept {
    return mark_below(word ^ all_bytes(byte), 1);
}

[[nodiscard]] inline std::uint64_t load_block(const char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

[[nodiscard]] inline block_marks mark_value_end(const char* at) noexcept {
    const std::uint64_t word = load_block(at);
    return mark_below(word, 0x20) | mark_equal(word, 0x7f);
}

[[nodiscard]] inline block_marks mark_target_end(const char* at) noexcept {
    const std::uint64_t word = load_block(at);
    return mark_below(word, 0x21) | mark_equal(word, 0x7f) | mark_equal(word, '#') | (word & all_bytes(0x80));
}

inline const char* find_near_colon(const char*, const char*) noexcept { return nullptr; }

/// The first byte that is in `Ends`, in whatever order this processor keeps the bytes of a word; null if none.
template <const byte_set& Ends>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks) noexcept {
    for (std::ptrdiff_t i = 0; i < block_bytes; ++i)
        if (holds(Ends, at[i])) return at + i;
    return nullptr;
}

#endif

/// Whole blocks while there are some, then byte by byte.
template <block_marks (*Marks)(const char*) noexcept, const byte_set& Ends>
[[nodiscard]] inline const char* find_end(const char* at, const char* end) noexcept {
    if (end - at >= block_bytes) {
        const char* const last_block = end - block_bytes;
        do {
            if (const block_marks marks = Marks(at); marks != 0)
                if (const char* found = first_marked<Ends>(at, marks)) return found;
            at += block_bytes;
        } while (at <= last_block);
    }
    while (at != end && !holds(Ends, *at)) ++at;
    return at;
}

inline const char* find_value_end(const char* at, const char* end) noexcept {
    return find_end<mark_value_end, value_ends>(at, end);
}

inline const char* find_target_end(const char* at, const char* end) noexcept {
    return find_end<mark_target_end, target_ends>(at, end);
}

}  // namespace tollgate::http::detail

// <tollgate/http/field_line.hpp>

namespace tollgate::http::detail {

enum class line_result : std::uint8_t {
    unfinished,          ///< call again when there are more bytes
    field,               ///< one field line was read
    section_end,         ///< the empty line was read
    folded,              ///< begins with a blank: a folded line, or a blank before the first field
    blank_before_colon,
    no_name,             ///< empty, or a byte that no token holds
    bad_value,           ///< a control character
    bare_cr,
    bare_lf,
};

/// A sentence for the client, for each result that is a fault.
[[nodiscard]] constexpr std::string_view to_reason(line_result fault) noexcept {
    switch (fault) {
        case line_result::folded: return "A field line begins with a blank.";
        case line_result::blank_before_colon: return "There is a blank between a field name and its colon.";
        case line_result::no_name: return "A field line does not begin with a name and a colon.";
        case line_result::bad_value: return "A field value holds a control character.";
        case line_result::bare_cr: return "A CR is not followed by LF.";
        case line_result::bare_lf: return "A line ends in LF without CR.";
        case line_result::unfinished:
        case line_result::field:
        case line_result::section_end: break;
    }
    return {};
}

/// Field lines (RFC 9112 section 5), one a call, of a header section or a trailer section.
///
/// A line that is not all there yet is gone on with where the last call stopped: only offsets are kept.
class field_line_reader {
public:
    /// The next line begins at `offset`.
    void start(std::size_t offset) noexcept {
        begin_ = seen_ = offset;
        colon_ = 0;
    }

    /// Reads from `bytes` (all of them, from the message's first) not further than `bytes_end`.
    [[nodiscard]] line_result read(const char* bytes, std::size_t bytes_end, field_id& id, field& line) noexcept;

    [[nodiscard]] bool at_line_begin() const noexcept { return seen_ == begin_; }

    /// Behind the last line that was read.
    [[nodiscard]] std::size_t at() const noexcept { return begin_; }

private:
    [[nodiscard]] line_result read_other(const char* begin, const char* at, const char* end) noexcept;
    [[nodiscard]] line_result unfinished(std::size_t seen) noexcept {
        seen_ = seen;
        return line_result::unfinished;
    }

    std::size_t begin_ = 0;  // of the line
    std::size_t seen_ = 0;   // everything before it was looked at
    std::size_t colon_ = 0;  // behind the name, once it was found
};

inline line_result field_line_reader::read(const char* bytes, std::size_t bytes_end, field_id& id,
                                           field& line) noexcept {
    const char* const end = bytes + bytes_end;
    const char* const begin = bytes + begin_;
    const char* colon = bytes + colon_;
    const char* value_end = bytes + seen_;
    if (colon_ == 0) {
        colon = find_token_end(value_end, end);
        if (colon == end) return unfinished(bytes_end);
        if (*colon != ':' || colon == begin) return read_other(begin, colon, end);
        value_end = colon + 1;
    }

    value_end = find_value_end(value_end, end);
    if (end - value_end < 2 || value_end[0] != '\r' || value_end[1] != '\n') {
        if (value_end == end || (*value_end == '\r' && end - value_end < 2)) {
            colon_ = static_cast<std::size_t>(colon - bytes);
            return unfinished(static_cast<std::size_t>(value_end - bytes));
        }
        return *value_end == '\r'   ? line_result::bare_cr
               : *value_end == '\n' ? line_result::bare_lf
                                    : line_result::bad_value;
    }
    line.name = {begin, static_cast<std::size_t>(colon - begin)};
    line.value = trim_ows({colon + 1, static_cast<std::size_t>(value_end - (colon + 1))});
    id = to_field_id(line.name);
    start(static_cast<std::size_t>(value_end + 2 - bytes));
    return line_result::field;
}

/// A line that is no field: the empty one, or a fault at `at`, the first byte that no name has.
inline line_result field_line_reader::read_other(const char* begin, const char* at, const char* end) noexcept {
    const bool blank = *at == ' ' || *at == '\t';
    if (at != begin) return blank ? line_result::blank_before_colon : line_result::no_name;
    if (blank) return line_result::folded;
    if (*at == '\n') return line_result::bare_lf;
    if (*at != '\r') return line_result::no_name;
    if (end - at < 2) return unfinished(begin_);
    if (at[1] != '\n') return line_result::bare_cr;
    start(begin_ + 2);
    return line_result::section_end;
}

}  // namespace tollgate::http::detail

// <tollgate/http/status.hpp>

namespace tollgate::http {

/// The statuses that Tollgate sends (RFC 9110 section 15, RFC 6585).
enum class status : std::uint16_t {
    ok = 200,
    created = 201,
    no_content = 204,
    found = 302,
    see_other = 303,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    request_timeout = 408,
    conflict = 409,
    content_too_large = 413,
    uri_too_long = 414,
    unsupported_media_type = 415,
    expectation_failed = 417,
    unprocessable_content = 422,
    too_many_requests = 429,
    header_fields_too_large = 431,
    internal_server_error = 500,
    not_implemented = 501,
    service_unavailable = 503,
    version_not_supported = 505,
};

[[nodiscard]] constexpr unsigned to_number(status s) noexcept { return static_cast<unsigned>(s); }

/// The reason phrase of the registry; "Status" for a number that is not listed above.
[[nodiscard]] constexpr std::string_view to_reason(status s) noexcept {
    switch (s) {
        case status::ok: return "OK";
        case status::created: return "Created";
        case status::no_content: return "No Content";
        case status::found: return "Found";
        case status::see_other: return "See Other";
        case status::bad_request: return "Bad Request";
        case status::unauthorized: return "Unauthorized";
        case status::forbidden: return "Forbidden";
        case status::not_found: return "Not Found";
        case status::method_not_allowed: return "Method Not Allowed";
        case status::request_timeout: return "Request Timeout";
        case status::conflict: return "Conflict";
        case status::content_too_large: return "Content Too Large";
        case status::uri_too_long: return "URI Too Long";
        case status::unsupported_media_type: return "Unsupported Media Type";
        case status::expectation_failed: return "Expectation Failed";
        case status::unprocessable_content: return "Unprocessable Content";
        case status::too_many_requests: return "Too Many Requests";
        case status::header_fields_too_large: return "Request Header Fields Too Large";
        case status::internal_server_error: return "Internal Server Error";
        case status::not_implemented: return "Not Implemented";
        case status::service_unavailable: return "Service Unavailable";
        case status::version_not_supported: return "HTTP Version Not Supported";
    }
    return "Status";
}

}  // namespace tollgate::http

// <tollgate/http/chunked_body.hpp>

namespace tollgate::http::detail {

enum class chunk_step : std::uint8_t { needs_more, complete, too_large, refused };

/// The chunked coding (RFC 9112 section 7.1), decoded in place: the data of all chunks is moved together at the place
/// where the first chunk line began, which is always in front of what is still to be read. Keeps offsets, never a
/// pointer.
///
/// Chunk extensions and trailers are checked and dropped: nobody asked for them, and a trailer must not change a
/// request.
class chunked_body {
public:
    /// The first chunk line begins at `offset`.
    void start(std::size_t offset) noexcept;

    /// Goes on with `bytes`, all of the message so far. `too_large` as soon as the chunks announce more than
    /// `bytes_max`.
    [[nodiscard]] TOLLGATE_DECL chunk_step step(std::span<char> bytes, std::size_t bytes_max) noexcept;

    /// The data so far is at [begin(), begin() + size()).
    [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Behind everything that was read: after `complete`, where the next message begins.
    [[nodiscard]] std::size_t at() const noexcept { return at_; }

    [[nodiscard]] status refused_status() const noexcept { return refused_status_; }
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// What the next byte is read as.
    enum class state : std::uint8_t {
        size_first,         // a chunk line begins
        size_more,
        before_semicolon,   // blanks that only an extension may follow
        extension_begin,    // behind a semicolon: blanks, then a name
        extension_name,
        before_equals,      // blanks behind a name
        value_begin,        // behind an equals sign: blanks, then a value
        value_token,
        value_quoted,
        value_escaped,      // behind a backslash in a quoted value
        value_end,          // behind the closing quote
        line_lf,
        data,
        data_cr,
        data_lf,
        trailers,
    };

    [[nodiscard]] bool read_line_byte(char c) noexcept;
    [[nodiscard]] chunk_step read_trailers(std::span<char> bytes) noexcept;
    void take_data(std::span<char> bytes) noexcept;
    [[nodiscard]] chunk_step refuse(status with, std::string_view reason) noexcept;

    std::size_t begin_ = 0;
    std::size_t size_ = 0;
    std::size_t at_ = 0;
    std::size_t overhead_ = 0;        // bytes of chunk lines and line ends so far
    std::size_t line_bytes_ = 0;      // of the chunk line that is being read
    std::uint64_t chunk_bytes_ = 0;   // of the present chunk, still to come
    unsigned size_digits_ = 0;
    unsigned trailer_count_ = 0;
    field_line_reader trailers_;
    std::string_view refused_reason_;
    status refused_status_ = status::bad_request;
    state state_ = state::size_first;
};

inline void chunked_body::start(std::size_t offset) noexcept {
    *this = {};
    begin_ = at_ = offset;
}

}  // namespace tollgate::http::detail

// <tollgate/http/method.hpp>

namespace tollgate::http {

/// Methods of RFC 9110 section 9 and RFC 5789 (PATCH); any other token is `other`. Names are case-sensitive.
enum class method : std::uint8_t { get, head, post, put, delete_, patch, options, connect, trace, other };

[[nodiscard]] constexpr method to_method(std::string_view name) noexcept {
    switch (name.size()) {
        case 3: return name == "GET" ? method::get : name == "PUT" ? method::put : method::other;
        case 4: return name == "POST" ? method::post : name == "HEAD" ? method::head : method::other;
        case 5: return name == "PATCH" ? method::patch : name == "TRACE" ? method::trace : method::other;
        case 6: return name == "DELETE" ? method::delete_ : method::other;
        case 7: return name == "OPTIONS" ? method::options : name == "CONNECT" ? method::connect : method::other;
        default: return method::other;
    }
}

/// The name on the wire; empty for `other`.
[[nodiscard]] constexpr std::string_view to_text(method m) noexcept {
    switch (m) {
        case method::get: return "GET";
        case method::head: return "HEAD";
        case method::post: return "POST";
        case method::put: return "PUT";
        case method::delete_: return "DELETE";
        case method::patch: return "PATCH";
        case method::options: return "OPTIONS";
        case method::connect: return "CONNECT";
        case method::trace: return "TRACE";
        case method::other: break;
    }
    return {};
}

}  // namespace tollgate::http

// <tollgate/http/target.hpp>

namespace tollgate::http {

/// A request target (RFC 9112 section 3.2) as it was sent: nothing is decoded and no dot segment is removed, so that what
/// a router compares is what the client wrote.
struct target {
    std::string_view path;       ///< begins with `/`, or is `*` (OPTIONS); of an absolute-form target only its path
    std::string_view query;      ///< behind the `?`, without it
    bool has_query = false;      ///< tells `/a?` from `/a`
    std::string_view authority;  ///< of an absolute-form target, which then replaces `Host`; otherwise empty

    /// Origin-form and asterisk-form text cut at the first `?`.
    static constexpr target from(std::string_view text) noexcept {
        const auto mark = text.find('?');
        if (mark == std::string_view::npos) return {text, {}, false, {}};
        return {text.substr(0, mark), text.substr(mark + 1), true, {}};
    }
};

}  // namespace tollgate::http

// <tollgate/http/request.hpp>

namespace tollgate::http {

enum class version : std::uint8_t { http_1_0, http_1_1 };

/// What became of a request's body by the time a handler sees the request.
enum class body_state : std::uint8_t {
    complete,   ///< `body` holds all of it (it may be empty)
    too_large,  ///< over the host's bound: `body` is empty, and the host closes the connection after the response
};

/// One request, as views of its host's memory: valid during `handle`, never kept.
///
/// A host that is not Tollgate's own server fills it by hand: `method`, `target`, `fields`, `body`, `peer`, `secure`.
struct request {
    http::method method = http::method::get;
    std::string_view method_name;  ///< as sent; set for every method, needed only for `method::other`
    http::target target;
    http::version version = http::version::http_1_1;
    bool secure = false;           ///< came over TLS
    http::body_state body_state = http::body_state::complete;
    field_lines fields;
    std::string_view body;
    ip_address peer;               ///< the other end of the connection, whatever a field claims

    /// Whom the client means to ask: `host` or `host:port` (RFC 9112 section 3.3). Empty if it did not say (HTTP/1.0).
    [[nodiscard]] std::string_view authority() const noexcept {
        return target.authority.empty() ? fields.find(field_id::host) : target.authority;
    }

    /// The bytes that all of it is views of have moved: what was at address `from` is at `to` now.
    void relocate(std::uintptr_t from, const char* to) noexcept {
        for (std::string_view* view : {&method_name, &target.path, &target.query, &target.authority, &body})
            *view = relocated(*view, from, to);
        fields.relocate(from, to);
    }

    /// Ready for the next request on the same memory; `peer` and `secure` belong to the connection and stay.
    void clear() noexcept {
        method = http::method::get;
        method_name = {};
        target = {};
        version = http::version::http_1_1;
        body_state = http::body_state::complete;
        fields.clear();
        body = {};
    }
};

}  // namespace tollgate::http

// <tollgate/http/client_address.hpp>

namespace tollgate::http {

namespace detail {
[[nodiscard]] TOLLGATE_DECL ip_address forwarded_address(const request& asked, std::span<const ip_network> trusted) noexcept;
}  // namespace detail

/// Whose request this is: the peer's, unless the peer is a trusted proxy, which says for whom it asks in X-Forwarded-For or
/// Forwarded (RFC 7239). Read from the right, for every proxy appends what it saw itself: the first address that is no
/// trusted proxy's counts. What stands left of it is anybody's claim, and so is either field from any other peer.
///
/// Where an entry cannot be read (`unknown`, a hidden name, garbage), it is the trusted hop behind it. Where both fields are
/// sent and disagree it is the peer: which one the proxy wrote, and which one it passed on, is not known.
[[nodiscard]] inline ip_address client_address(const request& asked, std::span<const ip_network> trusted) noexcept {
    return trusted.empty() ? asked.peer : detail::forwarded_address(asked, trusted);
}

}  // namespace tollgate::http

// <tollgate/http/form_body.hpp>

namespace tollgate::http {

struct form_member {
    std::string name;
    std::string value;
};

/// The members of a form or a query string, decoded, in the order they came. Names may repeat: whoever reads one that
/// must not (RFC 6749 section 3.1) asks `count`.
class form_fields {
public:
    explicit form_fields(std::vector<form_member> members) noexcept : members_{std::move(members)} {}

    /// The first member of this name; null if there is none.
    [[nodiscard]] const form_member* find(std::string_view name) const noexcept {
        for (const form_member& member : members_)
            if (member.name == name) return &member;
        return nullptr;
    }

    /// The first value of this name; empty if there is none.
    [[nodiscard]] std::string_view value_of(std::string_view name) const noexcept {
        const form_member* found = find(name);
        return found == nullptr ? std::string_view{} : std::string_view{found->value};
    }

    [[nodiscard]] std::size_t count(std::string_view name) const noexcept {
        std::size_t lines = 0;
        for (const form_member& member : members_) lines += member.name == name ? 1 : 0;
        return lines;
    }

    [[nodiscard]] const form_member* begin() const noexcept { return members_.data(); }
    [[nodiscard]] const form_member* end() const noexcept { return members_.data() + members_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

private:
    std::vector<form_member> members_;
};

/// `application/x-www-form-urlencoded` (WHATWG URL section 5.1), of a body or of a query string: `name=value` pairs
/// between `&`, `+` for a space, `%XX` for any byte. An empty piece between two `&` is no member; a piece without `=`
/// has an empty value. `malformed` for a `%` without two hexadecimal digits, for bytes that are no UTF-8 once decoded,
/// for control bytes that were not encoded, and for more than `limits::form_members_max` members.
[[nodiscard]] TOLLGATE_DECL outcome<form_fields> parse_form(std::string_view bytes);

}  // namespace tollgate::http

// <tollgate/http/refusal.hpp>

namespace tollgate::http {

/// What a host refused before there was a request to handle: malformed bytes (400), too slow (408), too long (414), too
/// many fields (431), overload (503). A handler only words the answer; the host closes the connection after it.
struct refusal {
    http::status status = http::status::bad_request;
    std::string_view reason;  ///< one sentence for the client, of static storage; says which rule was broken
    ip_address peer;
    bool secure = false;
};

}  // namespace tollgate::http

// <tollgate/http/response.hpp>

namespace tollgate::http {

/// The name of a response field: a literal token, checked while compiling.
class field_name {
public:
    consteval field_name(const char* literal) : text_{literal} {
        if (text_.empty()) throw "a field name is not empty";
        for (char c : text_)
            if (!is_token_char(c)) throw "a field name is a token (RFC 9110 section 5.6.2)";
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// The value of a response field. There is no way to make one that holds a control character: a literal is checked while
/// compiling, other text by `from`. So no value that we set can end a line and begin another (response splitting).
class field_value {
public:
    consteval field_value(const char* literal) : text_{literal} {
        if (!is_safe(text_)) throw "a field value holds visible characters, spaces and tabs only (RFC 9110 section 5.5)";
    }

    /// Empty for text with a byte outside visible ASCII, space and tab. The text must outlive the value.
    static constexpr std::optional<field_value> from(std::string_view text) noexcept {
        if (!is_safe(text)) return std::nullopt;
        return field_value{unchecked{}, text};
    }

    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    struct unchecked {};
    constexpr field_value(unchecked, std::string_view text) noexcept : text_{text} {}

    static constexpr bool is_safe(std::string_view text) noexcept {
        for (char c : text)
            if ((c < ' ' && c != '\t') || c > '~') return false;
        return true;
    }

    std::string_view text_;
};

/// One response. The host owns it and uses it again for the next request: after the first few, none allocates.
///
/// Fields are kept as they go on the wire (`Name: value\r\n`). The host adds `Date`, `Content-Length` and `Connection`.
class response {
public:
    /// Empty, 200, and the memory kept, unless one large answer has made it unreasonable to keep.
    void clear() noexcept {
        status_ = http::status::ok;
        keep_reasonable(fields_);
        keep_reasonable(body_);
    }

    [[nodiscard]] http::status status() const noexcept { return status_; }
    void set_status(http::status s) noexcept { status_ = s; }

    void add(field_name name, field_value value) { add_line(name.view(), value.view()); }
    void add(field_name name, std::unsigned_integral auto number) {
        char digits[20];
        const auto done = std::to_chars(digits, digits + sizeof digits, number);
        add_line(name.view(), {digits, static_cast<std::size_t>(done.ptr - digits)});
    }
    void add(field_name name, instant at) { add_line(name.view(), to_iso8601(at).view()); }

    /// Lines that were checked already, ending in CRLF, such as a constant block of security fields.
    /// Precondition: every line is `token: value\r\n`.
    void add_prepared_lines(std::string_view lines) { fields_.append(lines); }

    /// All fields as they go on the wire, each ending in CRLF.
    [[nodiscard]] std::string_view field_block() const noexcept { return fields_; }

    /// Calls `visit(name, value)` for each field: for hosts with a response type of their own.
    template <std::invocable<std::string_view, std::string_view> Visit>
    void for_each_field(Visit&& visit) const;

    /// The first value of a field, in any case; empty when there is none.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept;

    /// What is sent after the fields: write into it.
    [[nodiscard]] std::string& body() noexcept { return body_; }
    [[nodiscard]] const std::string& body() const noexcept { return body_; }

private:
    static constexpr std::size_t capacity_kept_max = 64 * 1024;  // one odd response must not pin memory for ever

    static void keep_reasonable(std::string& text) noexcept {
        if (text.capacity() > capacity_kept_max) std::string{}.swap(text);
        else text.clear();
    }

    void add_line(std::string_view name, std::string_view value);

    http::status status_ = http::status::ok;
    std::string fields_;
    std::string body_;
};

inline void response::add_line(std::string_view name, std::string_view value) {
    fields_.append(name).append(": ", 2).append(value).append("\r\n", 2);
}

template <std::invocable<std::string_view, std::string_view> Visit>
void response::for_each_field(Visit&& visit) const {
    std::string_view left = fields_;
    while (!left.empty()) {
        const auto colon = left.find(':');
        const auto end = left.find("\r\n", colon);
        visit(left.substr(0, colon), trim_ows(left.substr(colon + 1, end - colon - 1)));
        left.remove_prefix(end + 2);
    }
}

inline std::string_view response::find(std::string_view name) const noexcept {
    std::string_view found;
    for_each_field([&](std::string_view n, std::string_view v) {
        if (found.data() == nullptr && ascii_iequals(n, name)) found = v;
    });
    return found;
}

}  // namespace tollgate::http

// <tollgate/http/handler.hpp>

namespace tollgate::http {

/// A function from request to response. `account_api`, `authorization_server`, `account_pages` and `site` are handlers;
/// our `server`, Boost.Beast, another framework and a unit test are hosts for one.
///
/// Exemplar:
///
///     struct hello {
///         void handle(const http::request&, http::response& out) noexcept { out.body() = "hello"; }
///         void handle(const http::refusal& why, http::response& out) noexcept { out.set_status(why.status); }
///     };
template <class H>
concept handler = requires(H& h, const request& asked, const refusal& refused, response& out) {
    // Answers one request into `out`, which comes cleared. Called from many threads at once. Nothing thrown leaves it.
    // It may block only if `H::blocking` is true (see `handler_blocks`); it keeps no view of `asked`.
    { h.handle(asked, out) } noexcept -> std::same_as<void>;
    // Words the answer to something the host refused by itself; sets `out`'s status to `refused.status`. Never blocks.
    { h.handle(refused, out) } noexcept -> std::same_as<void>;
};

/// Whether `handle(request)` may wait for a disk or another machine: `static constexpr bool blocking`, false if missing.
/// A host calls a blocking handler on threads that may wait, never on the thread that serves the sockets.
template <class H>
[[nodiscard]] constexpr bool handler_blocks() noexcept {
    if constexpr (requires { { H::blocking } -> std::convertible_to<bool>; }) return H::blocking;
    else return false;
}

/// A handler of any type behind one: what lets `server` be no template. A view; the handler must outlive it.
class handler_ref {
public:
    template <class H>
        requires(!std::same_as<std::remove_cvref_t<H>, handler_ref>) && handler<H>
    handler_ref(H& target) noexcept
        : target_{&target},
          handle_request_{[](void* to, const request& asked, response& out) noexcept { static_cast<H*>(to)->handle(asked, out); }},
          handle_refusal_{[](void* to, const refusal& refused, response& out) noexcept { static_cast<H*>(to)->handle(refused, out); }},
          blocking_{handler_blocks<H>()} {}

    void handle(const request& asked, response& out) const noexcept { handle_request_(target_, asked, out); }
    void handle(const refusal& refused, response& out) const noexcept { handle_refusal_(target_, refused, out); }
    [[nodiscard]] bool blocking() const noexcept { return blocking_; }

private:
    void* target_;
    void (*handle_request_)(void*, const request&, response&) noexcept;
    void (*handle_refusal_)(void*, const refusal&, response&) noexcept;
    bool blocking_;
};

static_assert(handler<handler_ref>);

}  // namespace tollgate::http

// <tollgate/http/html_writer.hpp>

namespace tollgate::http {

/// Markup with a `{}` for each text that goes into it: a literal, so that no text from elsewhere can ever be markup. That
/// there are as many places as texts is checked while compiling.
template <class... Texts>
class html_template {
public:
    consteval html_template(const char* literal) : text_{literal} {
        std::size_t places = 0;
        for (auto at = text_.find("{}"); at != std::string_view::npos; at = text_.find("{}", at + 2)) ++places;
        if (places != sizeof...(Texts)) throw "a template has one {} for each text";
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// Writes HTML behind what `out` holds, which must outlive it. Texts are escaped for element content and for quoted
/// attribute values; they must not stand in a script, a style sheet or an unquoted attribute.
///
///     html_writer page{out};
///     page.add("<h1 id=\"{}\">{}</h1>", anchor, title);
class html_writer {
public:
    explicit html_writer(std::string& out) noexcept : out_{&out} {}

    template <class... Texts>
    html_writer& add(std::type_identity_t<html_template<Texts...>> markup, const Texts&... texts) {
        std::string_view left = markup.view();
        (put(left, texts), ...);
        out_->append(left);
        return *this;
    }

private:
    template <class Text>
    void put(std::string_view& markup, const Text& text);
    void escape(std::string_view text);

    std::string* out_;
};

template <class Text>
void html_writer::put(std::string_view& markup, const Text& text) {
    const auto place = markup.find("{}");
    out_->append(markup.substr(0, place));
    markup.remove_prefix(place + 2);
    if constexpr (std::integral<Text>) {
        char digits[20];  // of 2^64 - 1, and of -2^63 with its sign
        const auto done = std::to_chars(digits, digits + sizeof digits, text);
        out_->append(digits, done.ptr);
    } else {
        escape(text);
    }
}

inline void html_writer::escape(std::string_view text) {
    for (char c : text) {
        switch (c) {
            case '&': out_->append("&amp;"); break;
            case '<': out_->append("&lt;"); break;
            case '>': out_->append("&gt;"); break;
            case '"': out_->append("&quot;"); break;
            case '\'': out_->append("&#39;"); break;
            default: out_->push_back(c);
        }
    }
}

}  // namespace tollgate::http

// <tollgate/http/json_body.hpp>

namespace tollgate::http {

enum class json_kind : std::uint8_t { null, boolean, integer, number, text, object, array };

struct json_member {
    std::string name;   ///< unescaped
    json_kind kind = json_kind::null;
    /// Text: unescaped, valid UTF-8, may hold NUL (from `\u0000`). An integer (no fraction or exponent; fits 64 bits,
    /// signed or unsigned): its digits. Any other number: as sent. `true` or `false`. Of null, an object and an array:
    /// empty.
    std::string value;
};

/// The members of a JSON object, in the order they came; no name comes twice.
class json_object {
public:
    explicit json_object(std::vector<json_member> members) noexcept : members_{std::move(members)} {}

    /// Null if there is none of this name.
    [[nodiscard]] const json_member* find(std::string_view name) const noexcept {
        for (const json_member& member : members_)
            if (member.name == name) return &member;
        return nullptr;
    }

    [[nodiscard]] const json_member* begin() const noexcept { return members_.data(); }
    [[nodiscard]] const json_member* end() const noexcept { return members_.data() + members_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

private:
    std::vector<json_member> members_;
};

/// One JSON object (RFC 8259), as strictly as a body should be read that is to mean the same to everyone: `malformed`
/// for anything else than JSON, bytes behind it, a top level that is no object, a name twice in one object at any
/// depth, nesting deeper than `limits::json_depth_max`, more than `limits::json_members_max` members in one object,
/// bytes that are no UTF-8. Blanks around it are JSON's; a byte order mark and a bare NUL are not. Nested values are
/// checked and dropped.
[[nodiscard]] TOLLGATE_DECL outcome<json_object> parse_json_object(std::string_view bytes);

/// Whether `bytes` are one JSON value of any kind under the same rules.
[[nodiscard]] TOLLGATE_DECL outcome<void> check_json(std::string_view bytes);

}  // namespace tollgate::http

// <tollgate/http/json_writer.hpp>

namespace tollgate::http {

/// The name of a member that we write: a literal, checked while compiling to need no escape.
class json_name {
public:
    static constexpr std::size_t bytes_max = 60;  // ours have under 30; a bound lets one be put together on the stack

    consteval json_name(const char* literal) : text_{literal} {
        if (text_.size() > bytes_max) throw "a member's name is at most 60 bytes";
        for (char c : text_)
            if (c < ' ' || c > '~' || c == '"' || c == '\\')
                throw "a member's name is printable ASCII without quote and backslash";
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// Writes JSON (RFC 8259) behind what `out` holds, which must outlive it; nothing else is written to `out` meanwhile.
/// Commas come by themselves. What would be no JSON (a value without a name in an object, an end without a begin) is a
/// mistake of ours and asserted. Text may be any bytes: what is no UTF-8 arrives as U+FFFD, so the result always is.
///
/// Exemplar:
///
///     json_writer json{out};
///     json.begin_object();
///     json.member("id").integer(7);
///     json.member("names").begin_array().string("a").string("b").end_array();
///     json.end_object();
class json_writer {
public:
    static constexpr unsigned depth_max = 64;  // one bit a level, for the assertions; our deepest document has 8

    explicit json_writer(std::string& out) noexcept : out_{&out}, begin_{out.size()} {}

    json_writer& begin_object() { return open('{', true); }
    json_writer& end_object() { return close('}', true); }
    json_writer& begin_array() { return open('[', false); }
    json_writer& end_array() { return close(']', false); }

    /// The name of the next value, in an object.
    json_writer& member(json_name name);
    /// The same for a name that is no literal, such as a path; escaped as text is.
    json_writer& member_named(std::string_view name);

    json_writer& string(std::string_view value);
    json_writer& integer(std::integral auto value)
        requires(!std::same_as<decltype(value), bool> && !std::same_as<decltype(value), char>);
    json_writer& boolean(bool value) { return raw(value ? "true" : "false"); }
    json_writer& null() { return raw("null"); }

    /// A number as these characters, which must be one: how money keeps its digits. There is no way to write a float.
    json_writer& number(std::string_view digits) { return raw(digits); }

    /// A whole value that is JSON already, checked by `check_json`.
    json_writer& value(std::string_view json) { return raw(json); }

private:
    json_writer& open(char bracket, bool object);
    json_writer& close(char bracket, bool object);
    json_writer& raw(std::string_view token);
    [[nodiscard]] bool needs_comma() const noexcept;
    void separate();
    void escape(std::string_view value);

    [[nodiscard]] bool in_object() const noexcept { return depth_ != 0 && (objects_ >> (depth_ - 1) & 1) != 0; }

    std::string* out_;
    std::size_t begin_;            // where the document begins in `out_`
    std::uint64_t objects_ = 0;    // a bit a level: object or array
    unsigned depth_ = 0;
    bool named_ = false;           // a name waits for its value
};

namespace detail {

/// Whether a byte stands for itself in a JSON string; bytes of 0x80 and above are looked at as UTF-8 first.
[[nodiscard]] constexpr bool is_plain_json(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

}  // namespace detail

/// Whether there is a value in front. The last character tells: text ends in a quote, so a bracket or colon at the end
/// is never a value's.
inline bool json_writer::needs_comma() const noexcept {
    if (out_->size() == begin_) return false;
    const char last = out_->back();
    return last != '{' && last != '[' && last != ':';
}

inline void json_writer::separate() {
    if (needs_comma()) out_->push_back(',');
}

inline json_writer& json_writer::open(char bracket, bool object) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    assert(depth_ < depth_max);
    separate();
    out_->push_back(bracket);
    objects_ = (objects_ & ~(std::uint64_t{1} << depth_)) | std::uint64_t{object} << depth_;
    ++depth_;
    named_ = false;
    return *this;
}

inline json_writer& json_writer::close(char bracket, [[maybe_unused]] bool object) {
    assert(depth_ != 0 && in_object() == object && !named_ && "every end has its begin");
    --depth_;
    out_->push_back(bracket);
    return *this;
}

inline json_writer& json_writer::member(json_name name) {
    assert(in_object() && !named_ && "only an object's members have names");
    char piece[json_name::bytes_max + 4];  // comma, name in quotes and colon: one append costs a third of four
    char* end = piece;
    *end = ',';
    end += needs_comma();
    *end++ = '"';
    std::memcpy(end, name.view().data(), name.view().size());
    end += name.view().size();
    *end++ = '"';
    *end++ = ':';
    out_->append(piece, static_cast<std::size_t>(end - piece));
    named_ = true;
    return *this;
}

inline json_writer& json_writer::member_named(std::string_view name) {
    assert(in_object() && !named_ && "only an object's members have names");
    separate();
    out_->push_back('"');
    escape(name);
    out_->append("\":", 2);
    named_ = true;
    return *this;
}

inline json_writer& json_writer::raw(std::string_view token) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    assert(!token.empty());
    separate();
    out_->append(token);
    named_ = false;
    return *this;
}

inline json_writer& json_writer::integer(std::integral auto value)
    requires(!std::same_as<decltype(value), bool> && !std::same_as<decltype(value), char>)
{
    char digits[20];  // of 2^64 - 1, and of -2^63 with its sign
    const auto done = std::to_chars(digits, digits + sizeof digits, value);
    return raw({digits, static_cast<std::size_t>(done.ptr - digits)});
}

inline json_writer& json_writer::string(std::string_view value) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    separate();
    out_->push_back('"');
    std::size_t plain = 0;
    while (plain < value.size() && detail::is_plain_json(value[plain])) ++plain;
    out_->append(value.substr(0, plain));
    if (plain != value.size()) [[unlikely]] escape(value.substr(plain));
    out_->push_back('"');
    named_ = false;
    return *this;
}

inline void json_writer::escape(std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    while (!value.empty()) {
        const char c = value.front();
        std::size_t taken = utf8_sequence_bytes(value);
        if (taken == 0) {
            out_->append("\xef\xbf\xbd");  // U+FFFD for each byte that begins no character
            taken = 1;
        } else if (taken > 1 || detail::is_plain_json(c)) {
            out_->append(value.substr(0, taken));
        } else {
            switch (c) {
                case '"': out_->append("\\\""); break;
                case '\\': out_->append("\\\\"); break;
                case '\n': out_->append("\\n"); break;
                case '\r': out_->append("\\r"); break;
                case '\t': out_->append("\\t"); break;
                default:
                    out_->append("\\u00");
                    out_->push_back(hex[static_cast<unsigned char>(c) >> 4]);
                    out_->push_back(hex[static_cast<unsigned char>(c) & 15]);
            }
        }
        value.remove_prefix(taken);
    }
}

}  // namespace tollgate::http

// <tollgate/http/request_parser.hpp>

namespace tollgate::http {

/// Bounds of one request; what is beyond one of them is answered at once, not after a time-out.
struct parser_settings {
    /// A larger bound is taken for this one, so that no sum of bounds and offsets can wrap around.
    static constexpr std::size_t bytes_max = 1024 * 1024 * 1024;

    std::size_t target_bytes_max = limits::target_bytes_max;      ///< more: 414
    std::size_t header_bytes_max = limits::header_bytes_default;  ///< all field lines and the empty one; more: 431
    std::size_t field_count_max = limits::field_count_max;        ///< more: 431; at most `field_lines::size_max`
    std::size_t body_bytes_max = limits::body_bytes_default;      ///< more: `body_state::too_large`, no refusal

    /// The longest message that is ever waited for: how large a host's buffer may have to grow.
    [[nodiscard]] constexpr std::size_t message_bytes_max() const noexcept;
};

/// Where a message stands after the bytes that came so far.
enum class parse_step : std::uint8_t {
    needs_more,     ///< call again when there are more bytes
    head_complete,  ///< the same, but said once, when the head is known and (part of) the body is still to come
    complete,       ///< the request is filled; `consumed()` says where the next message begins
    refused,        ///< answer with `refused_status()` and close: what follows cannot be told from a request
};

/// One HTTP/1.1 or HTTP/1.0 request out of bytes (RFC 9112). No input or output, no clock, no allocation.
///
/// The rules between a parser and its host:
///
/// 1. The host owns the bytes. Each `step` gets all of them from the first byte of the message on, those already seen
///    included, and bytes of later messages may follow. The buffer may have moved since the last call (it grew); the
///    bytes in it may not have changed, but for those that the parser itself rewrote.
/// 2. The parser writes into the buffer: a chunked body is decoded in place, in front of what is still undecoded.
/// 3. The request holds views of the buffer. They are good after `complete`, until the host touches the buffer. Between
///    steps nobody else looks at the request, and the same request is passed to every step of one message.
/// 4. A byte is looked at twice at the most, however the message was cut into steps, and the outcome does not depend on
///    the cuts.
/// 5. Every refusal is the client's fault and final: no later step says anything else until `start`.
/// 6. A body over its bound is no refusal, so that the handler can still say who was asking: the request is complete at
///    once, with `body_state::too_large` and no body. `keep_alive()` is false then.
/// 7. What two parties could read in two ways is refused, never repaired: doubled or odd lengths, bare CR or LF, folded
///    lines, blanks around names, any coding but one `chunked`.
///
/// An idle connection needs no parser: take one (and a request) out of a pool with the first byte of a message.
class request_parser {
public:
    request_parser() noexcept = default;
    TOLLGATE_DECL explicit request_parser(const parser_settings& settings) noexcept;

    /// Ready for the first byte of a message.
    TOLLGATE_DECL void start() noexcept;

    /// Goes on with the message that begins at `bytes[0]`. Fills `into`, which it clears with the first step.
    [[nodiscard]] TOLLGATE_DECL parse_step step(std::span<char> bytes, request& into) noexcept;

    /// After `complete`: how many bytes the message took.
    [[nodiscard]] std::size_t consumed() const noexcept { return at_; }

    /// After `head_complete`, if the length was declared: how many bytes the whole message has, so that the host can
    /// make room once; otherwise 0.
    [[nodiscard]] std::size_t message_bytes() const noexcept { return message_bytes_; }

    /// After `head_complete` or `complete`: whether another message may follow on this connection (RFC 9112
    /// section 9.3).
    [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }

    /// After `head_complete`: whether the client waits for `100 Continue` before it sends the body (RFC 9110
    /// section 10.1.1) and has not begun to send it anyway.
    [[nodiscard]] bool expects_continue() const noexcept { return expects_continue_; }

    /// After `refused`: what to answer with, and a sentence for the client, of static storage.
    [[nodiscard]] status refused_status() const noexcept { return refused_status_; }
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// The piece of the message that the next byte belongs to.
    enum class stage : std::uint8_t {
        nothing, method, target, version, fields, known_length, chunked, complete, refused,
    };

    // Each reads its piece and moves on to the next stage; `needs_more` is its word for "not all there yet".
    [[nodiscard]] parse_step begin(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_method(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_target(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_version(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_fields(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_known_length(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_chunked(std::span<char> bytes, request& into) noexcept;

    [[nodiscard]] std::size_t read_usual_fields(std::string_view bytes, std::size_t at,
                                                field_lines& into) const noexcept;

    [[nodiscard]] parse_step judge_target(std::string_view text, request& into) noexcept;
    [[nodiscard]] parse_step judge_absolute_target(std::string_view text, request& into) noexcept;
    [[nodiscard]] parse_step judge_head(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] bool names_good_host(const request& into) noexcept;
    [[nodiscard]] parse_step judge_transfer_encoding(const request& into) noexcept;
    [[nodiscard]] parse_step judge_content_length(const request& into) noexcept;
    [[nodiscard]] parse_step judge_expectation(const request& into) noexcept;
    void judge_connection(const request& into) noexcept;

    [[nodiscard]] parse_step go_on(stage next, std::size_t at) noexcept;
    [[nodiscard]] parse_step finish_too_large(request& into) noexcept;
    [[nodiscard]] parse_step refuse(std::string_view reason, status with = status::bad_request) noexcept;

    parser_settings settings_;
    std::uintptr_t base_ = 0;        // where the message's first byte was in the last step
    std::size_t at_ = 0;             // where the piece that is being read begins
    std::size_t seen_ = 0;           // everything of it before this offset was looked at
    std::size_t section_begin_ = 0;  // of the field lines
    std::size_t message_bytes_ = 0;
    detail::field_line_reader lines_;
    detail::chunked_body chunks_;
    inline_text<64> good_host_;      // the last valid one, if it fits; empty before the first
    std::string_view refused_reason_;
    status refused_status_ = status::bad_request;
    stage stage_ = stage::nothing;
    bool keep_alive_ = false;
    bool expects_continue_ = false;
};

constexpr std::size_t parser_settings::message_bytes_max() const noexcept {
    constexpr std::size_t request_line_rest = 64;  // an empty line before it, the method, two spaces, the version, CRLF
    return request_line_rest + (std::min)(target_bytes_max, bytes_max) + (std::min)(header_bytes_max, bytes_max) +
           (std::min)(body_bytes_max, bytes_max) + limits::chunk_overhead_bytes_max;
}

}  // namespace tollgate::http

// <tollgate/http/response_writer.hpp>

namespace tollgate::http {

/// What a response needs to know of its connection and of the request that it answers.
struct framing {
    std::string_view date;                            ///< IMF-fixdate, 29 bytes; the host makes one a second
    http::version version = http::version::http_1_1;  ///< of the request
    bool keep_alive = true;                           ///< false: says that the host closes after this response
    bool head_only = false;                           ///< answers HEAD: all of GET's fields, no body
};

/// Appends one response as it goes on the wire (RFC 9112 section 4): status line, `Date`, the response's own fields,
/// `Content-Length` (not for 204 and 304), `Connection` where the version's default does not say it, body.
/// The response must not hold `Date`, `Content-Length`, `Connection` or `Transfer-Encoding` itself.
/// Nothing is appended when memory runs out; that is thrown as `std::bad_alloc`.
inline void append_response(const response& sent, const framing& how, std::string& out);

/// Appends the interim response that asks a client for the body it holds back (RFC 9110 section 10.1.1).
inline void append_continue(std::string& out) { out.append("HTTP/1.1 100 Continue\r\n\r\n"); }

namespace detail {

/// Status line and the name of the field behind it, of every status that we send: most responses begin with one copy.
inline constexpr std::size_t status_head_bytes_max = 64;
inline constexpr std::size_t date_bytes_max = 32;  // an IMF-fixdate has 29
struct status_head {
    std::array<char, status_head_bytes_max> characters{};
    std::size_t size = 0;

    constexpr void append(std::string_view text) noexcept {
        for (char c : text) characters[size++] = c;
    }
};

constexpr status_head make_status_head(unsigned code) noexcept {
    status_head made;
    made.append("HTTP/1.1 ");
    const char digits[3] = {static_cast<char>('0' + code / 100 % 10), static_cast<char>('0' + code / 10 % 10),
                            static_cast<char>('0' + code % 10)};
    made.append({digits, sizeof digits});
    made.append(" ");
    made.append(to_reason(static_cast<status>(code)));
    made.append("\r\nDate: ");
    return made;
}

/// The lines for 200 to 204 stand ready: what a healthy service sends nearly always.
inline constexpr std::array<status_head, 5> successful_heads = {make_status_head(200), make_status_head(201),
                                                                make_status_head(202), make_status_head(203),
                                                                make_status_head(204)};

inline char* put(char* to, std::string_view text) noexcept {
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

}  // namespace detail

inline void append_response(const response& sent, const framing& how, std::string& out) {
    using namespace std::string_view_literals;
    const unsigned code = to_number(sent.status());
    assert(code >= 200 && code <= 999);

    detail::status_head made;
    const detail::status_head* head = &made;
    if (code - 200 < detail::successful_heads.size()) head = &detail::successful_heads[code - 200];
    else made = detail::make_status_head(code);

    const bool lengthless = code == 204 || code == 304;  // RFC 9110 section 8.6
    const std::string_view fields = sent.field_block();
    const std::string_view body = lengthless || how.head_only ? std::string_view{} : std::string_view{sent.body()};
    const std::string_view connection = !how.keep_alive                       ? "Connection: close\r\n"sv
                                        : how.version == version::http_1_0 ? "Connection: keep-alive\r\n"sv
                                                                            : std::string_view{};
    // All but the fields and the body is put together here: a few copies of known size, where each `append` is a call.
    char front[detail::status_head_bytes_max + detail::date_bytes_max + 2];
    char* front_end = front + head->size;
    std::memcpy(front, head->characters.data(), head->characters.size());
    front_end = detail::put(front_end, how.date.substr(0, detail::date_bytes_max));
    front_end = detail::put(front_end, "\r\n"sv);

    char back[96];
    char* back_end = back;
    if (!lengthless) {
        back_end = detail::put(back_end, "Content-Length: "sv);
        back_end = std::to_chars(back_end, back_end + 20, sent.body().size()).ptr;
        back_end = detail::put(back_end, "\r\n"sv);
    }
    back_end = detail::put(back_end, connection);
    back_end = detail::put(back_end, "\r\n"sv);

    const auto front_bytes = static_cast<std::size_t>(front_end - front);
    const auto back_bytes = static_cast<std::size_t>(back_end - back);
    const std::size_t bytes = front_bytes + fields.size() + back_bytes + body.size();
    if (out.capacity() - out.size() < bytes) out.reserve((std::max)(out.size() + bytes, out.capacity() * 2));
    out.append(front, front_bytes).append(fields).append(back, back_bytes).append(body);
}

}  // namespace tollgate::http

// <tollgate/http/site.hpp>

namespace tollgate::http {

/// A handler and the part of a site that it answers for. The handler must outlive the site.
template <handler H>
struct mount {
    std::string prefix;  ///< `/v1` means `/v1` and all below it, not `/v10`; empty means everything
    std::string host;    ///< whom the client names, without a port; empty means any
    H& target;
};

/// `mounted("/v1", api)`: at this path, on any host.
template <handler H>
[[nodiscard]] mount<H> mounted(std::string prefix, H& target) {
    return {std::move(prefix), {}, target};
}

/// `mounted(place{.host = "api.example.com", .prefix = "/v1"}, api)`: at this path, on this host.
struct place {
    std::string host;
    std::string prefix;
};
template <handler H>
[[nodiscard]] mount<H> mounted(place where, H& target) {
    return {std::move(where.prefix), std::move(where.host), target};
}

/// Several handlers on one listener. The first mount that fits answers; the last one also answers for what none fits and
/// words what the host refuses.
///
///     http::site site{http::mounted("/docs", documentation), http::mounted("", api)};
template <handler... H>
    requires(sizeof...(H) > 0)
class site {
public:
    static constexpr bool blocking = (handler_blocks<H>() || ...);

    explicit site(mount<H>... mounts) : mounts_{std::move(mounts)...} {}

    void handle(const request& asked, response& out) noexcept {
        const auto try_one = [&](auto& each) {
            if (!fits(each.prefix, each.host, asked)) return false;
            each.target.handle(asked, out);
            return true;
        };
        if (!std::apply([&](auto&... each) { return (try_one(each) || ...); }, mounts_)) last().target.handle(asked, out);
    }

    void handle(const refusal& refused, response& out) noexcept { last().target.handle(refused, out); }

private:
    auto& last() noexcept { return std::get<sizeof...(H) - 1>(mounts_); }

    static bool fits(std::string_view prefix, std::string_view host, const request& asked) noexcept {
        const auto path = asked.target.path;
        if (!path.starts_with(prefix)) return false;
        if (!prefix.empty() && path.size() > prefix.size() && path[prefix.size()] != '/') return false;
        if (host.empty()) return true;
        const auto named = asked.authority();
        const auto port = named.rfind(':');
        const bool has_port = port != std::string_view::npos && named.find(']', port) == std::string_view::npos;
        return ascii_iequals(has_port ? named.substr(0, port) : named, host);
    }

    std::tuple<mount<H>...> mounts_;
};

}  // namespace tollgate::http

// <tollgate/http/url.hpp>

namespace tollgate::http {

enum class url_scheme : std::uint8_t { http, https };

/// An absolute `http` or `https` URL, taken apart: where a webhook goes, or where a browser is sent back to.
///
/// A host that any client could take for an IPv4 address is one here too: the rules are the WHATWG URL Standard's
/// ("host parsing"), which browsers, curl and most libraries follow for `127.1`, `0x7f000001`, `2130706433` or
/// `%31%32%37.1`.
struct url {
    url_scheme scheme = url_scheme::https;
    std::string host;                   ///< decoded, in lower case, without brackets or a final dot; an address canonical
    std::optional<ip_address> address;  ///< set exactly when the host is one
    std::uint16_t port = 0;             ///< as given, or the scheme's own
    std::string path;                   ///< as sent, no dot segment removed; `/` when there was none
    std::string query;                  ///< behind the `?`, without it, as sent
    bool has_query = false;             ///< tells `/a?` from `/a`
    bool has_user_info = false;         ///< `user:password@`, or just `@`
    bool has_fragment = false;          ///< `#`, perhaps with nothing behind it

    /// Empty for everything else. What a browser would repair is refused, because whoever reads the text next may
    /// repair it differently: backslashes, blanks, control characters, bytes over 0x7e (a name is sent in punycode),
    /// less or more than two slashes, a stray `%`, an empty port, and more than limits::target_url_bytes_max bytes. So
    /// are IPv6 zones, names that DNS could not hold, and hosts that end in a number without being an IPv4 address.
    static TOLLGATE_DECL std::optional<url> parse(std::string_view text);

    [[nodiscard]] constexpr std::uint16_t default_port() const noexcept {
        return scheme == url_scheme::http ? 80 : 443;
    }

    /// `host[:port]` as the `Host` field carries it: an IPv6 address in brackets, the scheme's own port left out.
    [[nodiscard]] TOLLGATE_DECL std::string authority() const;

    /// Scheme, host and port, such as `https://example.com` (RFC 6454 section 6.2).
    [[nodiscard]] TOLLGATE_DECL std::string origin() const;

    /// `path[?query]`, what a request line carries (RFC 9112 section 3.2.1).
    [[nodiscard]] TOLLGATE_DECL std::string request_target() const;
};

}  // namespace tollgate::http

// <tollgate/domain/account.hpp>

namespace tollgate {

/// The path segment that names a product, such as `sitesmaker`.
using service_name = inline_text<limits::service_name_bytes_max>;

/// One user's account at one service.
struct account {
    account_id id;
    std::string name;
    bool admin = false;
};

/// An account id means something only together with its service: each may count its own.
struct account_ref {
    service_name service;
    account_id account;

    friend bool operator==(const account_ref&, const account_ref&) noexcept = default;
    friend auto operator<=>(const account_ref&, const account_ref&) noexcept = default;
};

}  // namespace tollgate

// <tollgate/domain/application.hpp>

namespace tollgate {

/// Names an OAuth client to everybody (RFC 6749 section 2.2).
using client_id_text = inline_text<limits::client_id_bytes_max>;

/// A program of somebody else's that asks users to be let into their accounts: an OAuth 2.0 client.
struct application {
    application_id id;
    user_id owner;
    client_id_text client_id;
    digest secret_digest;  ///< SHA-256 of the client secret
    std::string name;
    std::string website;
    std::string description;                  ///< empty when none was given
    std::optional<std::string> redirect_url;  ///< compared byte for byte
    instant created_at;
};

struct new_application {
    user_id owner;
    client_id_text client_id;  ///< unique; a second one of the same name is a conflict
    digest secret_digest;
    std::string name;
    std::string website;
    std::string description;
    std::optional<std::string> redirect_url;
    instant created_at;
};

}  // namespace tollgate

// <tollgate/domain/balance.hpp>

namespace tollgate {

/// Three capital letters of ISO 4217.
using currency_code = inline_text<3>;

/// What a user has, in the currency of their settings.
struct balance {
    user_id user;
    decimal amount;  ///< its digits, never a binary float
    currency_code currency;
};

}  // namespace tollgate

// <tollgate/domain/scope.hpp>

namespace tollgate {

/// scope-token of RFC 6749 section 3.3: visible ASCII without `"` and `\`. Commas separate scopes here, so none holds one.
[[nodiscard]] constexpr bool is_scope_token(std::string_view text) noexcept {
    if (text.empty()) return false;
    for (char c : text)
        if (c <= ' ' || c > '~' || c == '"' || c == '\\' || c == ',') return false;
    return true;
}

/// What a credential may do: scopes in the order they were asked for, each once, kept as one text with single spaces,
/// which is how it is stored and shown. A value without heap memory.
class scope_set {
public:
    constexpr scope_set() noexcept = default;

    /// From a list separated by commas, spaces or both; duplicates are folded. Empty for a byte that no scope has and for
    /// more than `limits::scope_text_bytes_max` bytes. An empty list is an empty set.
    static constexpr std::optional<scope_set> parse(std::string_view list) noexcept;

    /// False, and unchanged, when there is no room. Adding what is there already is true.
    constexpr bool add(std::string_view scope) noexcept;

    [[nodiscard]] constexpr bool contains(std::string_view scope) const noexcept;
    [[nodiscard]] constexpr bool empty() const noexcept { return text_.empty(); }
    /// Separated by single spaces (RFC 6749 section 5.1).
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_.view(); }

    /// Calls `visit(scope)` for each until it returns false; false when it did.
    template <class Visit>
    constexpr bool for_each(Visit&& visit) const;

    friend constexpr bool operator==(const scope_set&, const scope_set&) noexcept = default;

private:
    inline_text<limits::scope_text_bytes_max> text_;
};

template <class Visit>
constexpr bool scope_set::for_each(Visit&& visit) const {
    std::string_view left = text_.view();
    while (!left.empty()) {
        const auto space = left.find(' ');
        if (!visit(left.substr(0, space))) return false;
        left = space == std::string_view::npos ? std::string_view{} : left.substr(space + 1);
    }
    return true;
}

constexpr bool scope_set::contains(std::string_view scope) const noexcept {
    return !for_each([scope](std::string_view held) { return held != scope; });
}

constexpr bool scope_set::add(std::string_view scope) noexcept {
    if (contains(scope)) return true;
    auto grown = text_;
    if (!grown.empty() && !grown.append(" ")) return false;
    if (!grown.append(scope)) return false;
    text_ = grown;
    return true;
}

constexpr std::optional<scope_set> scope_set::parse(std::string_view list) noexcept {
    std::optional<scope_set> made{std::in_place};
    while (!list.empty()) {
        const auto end = list.find_first_of(", ");
        const auto scope = list.substr(0, end);
        if (!scope.empty() && (!is_scope_token(scope) || !made->add(scope))) return std::nullopt;
        list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
    }
    return made;
}

}  // namespace tollgate

// <tollgate/domain/caller.hpp>

namespace tollgate {

/// What let a caller in.
enum class credential_kind : std::uint8_t {
    personal_token,  ///< their own, over Basic
    access_token,    ///< an application's, over Bearer
    other,           ///< an integrator's own authenticator
};

/// Who is calling, and what they may do.
struct caller {
    user_id user;
    scope_set scopes;
    credential_kind credential = credential_kind::other;
    std::optional<application_id> application;  ///< the one that acts for the user, with an access token
};

}  // namespace tollgate

// <tollgate/domain/grant.hpp>

namespace tollgate {

/// What one user has let one application do, as that user's settings list it.
struct grant {
    grant_id id;
    user_id user;
    application_id application;
    std::string application_name;
    std::string application_website;
    scope_set scopes;
    instant created_at;
    std::optional<instant> last_used_at;  ///< recorded at a bounded rate, so it may lag
};

/// An authorization code on its way (RFC 6749 section 4.1.2). The code itself is in the redirect alone.
struct new_authorization_code {
    digest code_digest;
    user_id user;
    application_id application;
    scope_set scopes;
    std::optional<std::string> redirect_uri;    ///< what the request sent, if it sent one: the exchange must say the same
    std::optional<std::string> code_challenge;  ///< S256, base64url (RFC 7636 section 4.2)
    instant created_at;
    instant expires_at;
};

/// What came of keeping a code. A form that was sent twice asks for the same code twice.
enum class code_result : std::uint8_t {
    created,
    waiting,  ///< it is there already, and was not redeemed yet
    spent,    ///< it is there already, and was redeemed
};

/// A pair of tokens that is about to be handed out, as the store keeps it.
struct issued_tokens {
    digest access_digest;
    instant access_expires_at;
    digest refresh_digest;
    instant refresh_expires_at;   ///< moves on with each use ...
    instant refresh_ends_at;      ///< ... but never beyond this
};

/// What an application shows to redeem a code (RFC 6749 section 4.1.3).
struct code_redemption {
    digest code_digest;
    application_id application;
    std::optional<std::string> redirect_uri;    ///< as sent with the exchange
    std::optional<std::string> code_challenge;  ///< S256 of the verifier that was sent
    instant now;
    issued_tokens tokens;                       ///< kept exactly if the code is redeemed
};

/// What came of it. Everything but `redeemed` is `invalid_grant` to the client.
enum class redemption_result : std::uint8_t {
    redeemed,
    unknown,   ///< no such code, an expired one, or another application's: nothing changed
    mismatch,  ///< another redirect_uri or verifier: nothing changed, the code is still good
    reused,    ///< a code that was redeemed before: the tokens made from it are revoked by now
};

struct redeemed_code {
    redemption_result result = redemption_result::unknown;
    std::optional<user_id> user;  ///< set exactly if redeemed
    scope_set scopes;             ///< what was granted, if redeemed
};

/// What an application shows to get a new access token (RFC 6749 section 6).
struct token_refresh {
    digest refresh_digest;
    application_id application;
    std::optional<scope_set> narrowed;  ///< fewer scopes for this access token; none: as many as were granted
    instant now;
    digest access_digest;
    instant access_expires_at;
    seconds refresh_lifetime;           ///< from `now`, at most until the token's own end
};

enum class refresh_result : std::uint8_t {
    refreshed,
    unknown,    ///< no such token, an expired or revoked one, or another application's
    too_wide,   ///< a scope that the refresh token does not have
};

struct refreshed_token {
    refresh_result result = refresh_result::unknown;
    scope_set scopes;  ///< the new access token's, if refreshed
};

}  // namespace tollgate

// <tollgate/domain/hook.hpp>

namespace tollgate {

/// How a hook came to be.
enum class hook_source { api, manual };

[[nodiscard]] constexpr std::string_view to_text(hook_source source) noexcept {
    return source == hook_source::api ? "api" : "manual";
}

/// Where the payloads of one event of one account go.
struct hook {
    hook_id id;
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type;        ///< the payload format's name
    std::string target_url;  ///< byte for byte as it was given
    instant created_at;
};

/// What is needed to make one. `secret` signs deliveries, so it is kept as it is; it is shown once and never listed.
struct new_hook {
    account_ref account;
    std::string event;
    hook_source source = hook_source::api;
    std::string type;
    std::string target_url;
    std::string secret;
    instant created_at;
};

}  // namespace tollgate

// <tollgate/domain/hook_secret.hpp>

namespace tollgate {

inline constexpr std::size_t hook_secret_random_bytes = 32;  // the Standard Webhooks specification: 24 to 64

/// What signs a hook's deliveries, in the text form of the Standard Webhooks specification: `whsec_` and base64.
[[nodiscard]] inline std::string make_hook_secret(std::span<const std::byte, hook_secret_random_bytes> random) {
    return "whsec_" + base64_encode({reinterpret_cast<const char*>(random.data()), random.size()});
}

}  // namespace tollgate

// <tollgate/domain/personal_token.hpp>

namespace tollgate {

using token_username = inline_text<limits::token_username_bytes_max>;

/// What a personal token is shown as in its owner's settings. Its secret is known to nobody but whoever was shown it.
struct personal_token {
    token_id id;
    user_id user;
    token_username username;
    std::string description;
    scope_set scopes;
    instant created_at;
    std::optional<instant> last_used_at;
};

struct new_personal_token {
    user_id user;
    token_username username;  ///< unique; a second one of the same name is a conflict
    digest secret_digest;     ///< SHA-256 of the secret
    std::string description;  ///< at most limits::token_description_bytes_max
    scope_set scopes;
    instant created_at;
};

/// An access token that an application got for a user (RFC 6749 section 1.4).
struct new_access_token {
    user_id user;
    application_id application;
    digest token_digest;  ///< SHA-256 of the token; unique
    scope_set scopes;
    instant created_at;
    instant expires_at;
};

/// What the pipeline needs to let a caller in, and nothing more: read on every request, so it holds no heap memory.
struct token_credential {
    user_id user;
    digest secret_digest;
    scope_set scopes;
    std::optional<instant> expires_at;  ///< no longer valid from this moment on; none: until it is revoked
    std::optional<application_id> application;
};

}  // namespace tollgate

// <tollgate/domain/quota.hpp>

namespace tollgate {

/// How much one key may ask for: `requests` within a window of this length.
struct quota {
    std::uint32_t requests = 0;
    seconds window{0};

    friend constexpr bool operator==(const quota&, const quota&) noexcept = default;
};

enum class limit_kind : std::uint8_t { user, address };

/// Whom a request is counted against: a user, whatever token they use, or a client's address.
///
/// An IPv6 address counts by its /64, which is what one household or one rented machine has to itself. An IPv4 address
/// is packed into the place of such a prefix: it takes one out of 0000::/8 (RFC 4291 section 2.4), where no client is.
class limit_key {
public:
    static constexpr limit_key of(user_id user) noexcept {
        return {limit_kind::user, static_cast<std::uint64_t>(user.value())};
    }
    static constexpr limit_key of(const ip_address& client) noexcept;

    [[nodiscard]] constexpr limit_kind kind() const noexcept { return kind_; }
    /// Tells apart two keys of one kind.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

    friend constexpr bool operator==(const limit_key&, const limit_key&) noexcept = default;

private:
    constexpr limit_key(limit_kind kind, std::uint64_t value) noexcept : kind_{kind}, value_{value} {}

    limit_kind kind_;
    std::uint64_t value_;
};

/// What a limiter says of one request, and what the client reads in `X-RateLimit-*`.
struct verdict {
    bool admitted = false;
    std::uint32_t limit = 0;      ///< requests in a whole window
    std::uint32_t remaining = 0;  ///< what is left of them after this request
    instant resets_at{};          ///< when the window ends; for a key without one, when it would end if it began now
};

constexpr limit_key limit_key::of(const ip_address& client) noexcept {
    const auto& bytes = client.bytes();
    const auto big_endian = [&bytes](std::size_t first, std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t i = first; i < first + count; ++i) value = value << 8 | bytes[i];
        return value;
    };
    constexpr std::uint64_t ipv4_prefix = 0x0000'ffff'0000'0000;
    return {limit_kind::address, client.is_v4() ? ipv4_prefix | big_endian(12, 4) : big_endian(0, 8)};
}

}  // namespace tollgate

template <>
struct std::hash<tollgate::limit_key> {
    [[nodiscard]] std::size_t operator()(const tollgate::limit_key& key) const noexcept {
        return std::hash<std::uint64_t>{}(key.value()) ^ (key.kind() == tollgate::limit_kind::user ? 0 : 0x9e3779b9U);
    }
};

// <tollgate/domain/service_catalog.hpp>

namespace tollgate {

/// One product whose accounts the API serves.
struct service {
    service_name name;
    std::string read_scope;           ///< `{name}:read`
    std::string write_scope;          ///< `{name}`, which covers reading
    std::vector<std::string> events;  ///< what a hook may ask for

    [[nodiscard]] TOLLGATE_DECL bool has_event(std::string_view event) const noexcept;
};

/// All services, and with them all scopes. Built once, then read from any thread.
///
///     service_catalog services;
///     services.add("sitesmaker", {"site.created", "site.published"});
class service_catalog {
public:
    /// Refuses (problem_kind::invalid) a name that is no path segment of `[a-z0-9-]{1,32}`, one that the API uses itself
    /// (`user`, `testservice`), a second one of the same name, and an event that is not `[A-Za-z0-9._-]{1,128}`.
    TOLLGATE_DECL outcome<void> add(std::string_view name, std::vector<std::string> events);

    /// Null when there is none. The pointer is good until the next `add`.
    [[nodiscard]] const service* find(std::string_view name) const noexcept {
        for (const service& each : services_)
            if (each.name == name) return &each;
        return nullptr;
    }

    /// Whether any credential can have this scope: a service's two, or `user:balance`.
    [[nodiscard]] TOLLGATE_DECL bool has_scope(std::string_view scope) const noexcept;

    /// Every scope, in the order a person would want to see them.
    [[nodiscard]] TOLLGATE_DECL std::vector<std::string> scopes() const;

    [[nodiscard]] const std::vector<service>& services() const noexcept { return services_; }

private:
    std::vector<service> services_;
};

/// The scope of the balance endpoint, which belongs to no service.
inline constexpr std::string_view balance_scope = "user:balance";

}  // namespace tollgate

// <tollgate/domain/session.hpp>

namespace tollgate {

/// A person who is signed in, as pages see them.
struct session {
    user_id user;
    std::string login;   ///< what to call them on a page
    std::string secret;  ///< known to this session alone; form tokens are made from it, it is never shown
};

/// A session as a store keeps it: found by the SHA-256 of what the cookie holds.
struct stored_session {
    digest cookie_digest;
    user_id user;
    std::string login;
    instant created_at;
    instant last_seen_at;
};

}  // namespace tollgate

// <tollgate/contract/agent_rule.hpp>

namespace tollgate {

/// Decides whether a User-Agent will do. Operators want to know whom to write to before they block a program.
///
/// Exemplar:
///
///     struct any_agent {
///         bool accepts(std::string_view) const noexcept { return true; }
///     };
template <class A>
concept agent_rule = requires(const A& a, std::string_view user_agent) {
    // The field's value as sent, empty when there was none; false is a 403. Called from many threads at once.
    { a.accepts(user_agent) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

// <tollgate/contract/authenticator.hpp>

namespace tollgate {

/// Tells who is calling from the Authorization field of one scheme (RFC 9110 section 11). An API has several, one a scheme.
///
/// `Store` is whatever the integrator gave the API; an authenticator that needs none of it takes it as `auto&`.
///
/// Exemplar:
///
///     struct guest_pass {
///         static constexpr std::string_view scheme = "Guest";
///         static constexpr std::string_view challenge = "Guest realm=\"api\"";
///         outcome<std::optional<caller>> identify(std::string_view credentials, auto&, instant) const {
///             if (credentials != "please") return std::optional<caller>{};
///             return std::optional{caller{user_id{1}, *scope_set::parse("user:balance"), credential_kind::other, {}}};
///         }
///     };
template <class A, class Store>
concept authenticator_over = requires(const A& a, std::string_view credentials, Store& store, instant now) {
    // The auth-scheme, compared without regard to case.
    { A::scheme } -> std::convertible_to<std::string_view>;
    // What `WWW-Authenticate` offers for it: visible ASCII, scheme first. A constant.
    { A::challenge } -> std::convertible_to<std::string_view>;
    // Who it is; none for credentials that let nobody in, of whatever form (a 401, never a 5xx). A `problem` only when it
    // could not be found out, such as a store that is down. `credentials` is what follows the scheme and one or more
    // spaces. Called from many threads at once; compares secrets in constant time.
    { a.identify(credentials, store, now) } -> std::same_as<outcome<std::optional<caller>>>;
};

}  // namespace tollgate

// <tollgate/contract/clock.hpp>

namespace tollgate {

/// Tells the time. The only place from which a handler learns it, so that a test can be the clock.
///
/// Exemplar:
///
///     struct stopped_clock {
///         instant now() const noexcept { return instant{}; }
///     };
template <class C>
concept clock = requires(const C& c) {
    // UTC. Called at the start of each request, from many threads at once; it may go backwards, as real clocks do.
    { c.now() } noexcept -> std::same_as<instant>;
};

}  // namespace tollgate

// <tollgate/contract/hook_store.hpp>

namespace tollgate {

/// Keeps webhooks. Every verb is one atomic intent, and durable (as far as the store is) when it returns.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: a `problem`; nothing is thrown.
///
/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/store/suite.hpp`.
template <class S>
concept hook_store = requires(S& s, const new_hook& made, const account_ref& account, const service_name& service, hook_id id,
                              std::size_t hooks_per_event_max) {
    // A hook with a new id; ids are never used again. problem_kind::invalid when the account has `hooks_per_event_max`
    // hooks for this event already: counted and created in one step, so that parallel calls cannot pass the bound.
    { s.create_hook(made, hooks_per_event_max) } -> std::same_as<outcome<hook_id>>;
    // The account's hooks, oldest first.
    { s.hooks_of(account) } -> std::same_as<outcome<std::vector<hook>>>;
    // Which account of this service a hook belongs to, which never changes; none when there is no such hook.
    { s.account_of_hook(service, id) } -> std::same_as<outcome<std::optional<account_ref>>>;
    // Whether the account had such a hook; it is gone when this returns.
    { s.delete_hook(account, id) } -> std::same_as<outcome<bool>>;
};

}  // namespace tollgate

// <tollgate/contract/oauth_store.hpp>

namespace tollgate {

/// Keeps OAuth applications.
///
/// Thread rule, here and below: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: a `problem`; nothing is thrown. Every verb is one atomic intent, and
/// durable (as far as the store is) when it returns.
template <class S>
concept application_store = requires(S& s, const new_application& made, std::string_view client_id, user_id owner,
                                     application_id id, const digest& secret, std::size_t applications_per_user_max) {
    // problem_kind::conflict when the client_id is taken, invalid when the owner has `applications_per_user_max` already.
    { s.create_application(made, applications_per_user_max) } -> std::same_as<outcome<application_id>>;
    // None when there is none of this client_id.
    { s.find_application(client_id) } -> std::same_as<outcome<std::optional<application>>>;
    // The owner's, oldest first.
    { s.applications_of(owner) } -> std::same_as<outcome<std::vector<application>>>;
    // Whether the owner has such an application; the old secret is worth nothing from the moment this returns.
    { s.replace_client_secret(owner, id, secret) } -> std::same_as<outcome<bool>>;
    // Whether the owner had such an application. Its codes, grants, access and refresh tokens go with it.
    { s.delete_application(owner, id) } -> std::same_as<outcome<bool>>;
};

/// Keeps what users let applications do, and the codes and tokens made of it.
template <class S>
concept grant_store = requires(S& s, const new_authorization_code& code, const code_redemption& redemption,
                               const token_refresh& refresh, const digest& token, user_id user, application_id application,
                               const scope_set& scopes, instant now, std::size_t rows_max) {
    // What this user granted this application before; none when nothing, or when it was revoked.
    { s.granted_scopes(user, application) } -> std::same_as<outcome<std::optional<scope_set>>>;
    // Keeps the code, and adds its scopes to what the user has granted the application: one step. Nothing changes for a
    // digest that is there already.
    { s.create_code(code) } -> std::same_as<outcome<code_result>>;
    // Redeems a code once: of N calls at the same time, from any number of threads and processes, exactly one is `redeemed`,
    // and its tokens exist when it returns. A failure leaves the code as it was. A code is remembered after its redemption
    // at least until it would have expired, so that reuse is seen; reuse revokes the tokens made from it.
    { s.redeem_code(redemption) } -> std::same_as<outcome<redeemed_code>>;
    // A new access token out of a refresh token, which stays good: in parallel, too.
    { s.refresh_access_token(refresh) } -> std::same_as<outcome<refreshed_token>>;
    // RFC 7009: an access or refresh token of this application. A refresh token takes the access tokens of its grant along.
    // Whether there was such a token is nobody's business.
    { s.revoke_oauth_token(application, token) } -> std::same_as<outcome<void>>;
    // What a user let applications do, oldest first.
    { s.grants_of(user) } -> std::same_as<outcome<std::vector<grant>>>;
    // Whether there was such a grant. Codes, access and refresh tokens of this user and application go with it.
    { s.revoke_grant(user, application) } -> std::same_as<outcome<bool>>;
    // Forgets what expired before `now`, at most `rows_max` rows; how many they were.
    { s.sweep_expired(now, rows_max) } -> std::same_as<outcome<std::size_t>>;
};

/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/store/suite.hpp`.
template <class S>
concept oauth_store = application_store<S> && grant_store<S>;

}  // namespace tollgate

// <tollgate/contract/observer.hpp>

namespace tollgate {

/// One answered request, for logs and metrics. Views: valid during the call. The request's Authorization field and query
/// may hold secrets; what is logged of them is the observer's responsibility.
struct request_record {
    const http::request& asked;
    const http::response& answered;
    const caller* who;  ///< null for nobody in particular
    ip_address client;  ///< behind trusted proxies, the one they name
    instant now;        ///< when the request was taken up
};

/// Watches. It changes nothing, and a failure of its own is its own.
///
/// Exemplar:
///
///     struct counting_observer {
///         std::atomic<std::uint64_t>* answered;
///         void on_request(const request_record&) const noexcept { ++*answered; }
///         void on_refusal(const http::refusal&) const noexcept { ++*answered; }
///         void on_problem(const problem&) const noexcept {}
///     };
template <class O>
concept observer = requires(const O& o, const request_record& record, const http::refusal& refused, const problem& why) {
    // After each answer, on the thread that made it: be quick. Called from many threads at once.
    { o.on_request(record) } noexcept;
    // After a host's own refusal was worded: malformed bytes, a time-out, overload.
    { o.on_refusal(refused) } noexcept;
    // Before a 5xx is answered: `why.cause` is what the client is not told.
    { o.on_problem(why) } noexcept;
};

}  // namespace tollgate

// <tollgate/contract/password_source.hpp>

namespace tollgate {

/// Checks a login and its password. Only the sign-in page needs one; an integrator with a sign-in of their own has none.
///
/// Thread rule: callable from many threads at once. Blocking: yes in all likelihood; `static constexpr bool blocking = true`.
/// Errors: a `problem` when it could not be found out (unavailable also when too many checks run already); nothing is thrown.
template <class P>
concept password_source = requires(P& p, std::string_view login, std::string_view password) {
    // Whose they are; none when they are nobody's. Takes as long for a login that does not exist as for a wrong password.
    { p.check_password(login, password) } -> std::same_as<outcome<std::optional<user_id>>>;
};

}  // namespace tollgate

// <tollgate/contract/random_source.hpp>

namespace tollgate {

/// Gives random bytes that nobody can guess: what every secret is made of.
///
/// Exemplar:
///
///     struct only_for_tests {
///         bool fill(std::span<std::byte> bytes) const noexcept {
///             for (std::byte& each : bytes) each = std::byte{7};
///             return true;
///         }
///     };
template <class R>
concept random_source = requires(const R& r, std::span<std::byte> bytes) {
    // Fills all of `bytes`, or returns false: then the request fails with 500, and no weak secret is made. Called from many
    // threads at once.
    { r.fill(bytes) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

// <tollgate/contract/rate_limiter.hpp>

namespace tollgate {

/// Counts requests and says when there were too many.
///
/// Thread rule: both functions may be called from many threads at once, and of requests that arrive together exactly as
/// many are admitted as there is room for. Blocking: never, unless it declares `static constexpr bool blocking = true`.
/// Nothing is thrown: a limiter that cannot count, because what it counts in is down, decides for itself whether to
/// admit.
///
/// Exemplar (`days` and `hours` are std::chrono's):
///
///     struct night_limiter {
///         window_limiter counted;
///         verdict take(const limit_key& key, quota allowed, instant now) noexcept {
///             return counted.take(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
///         }
///         verdict peek(const limit_key& key, quota allowed, instant now) noexcept {
///             return counted.peek(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
///         }
///         static bool at_night(instant now) noexcept { return now.time_since_epoch() % days{1} < hours{6}; }
///     };
template <class L>
concept rate_limiter = requires(L& l, const limit_key& key, const quota& allowed, instant now) {
    // Counts one request against `key` if `allowed` has room for it; a refused request is not counted. `allowed` is
    // what holds at this moment: a quota that was raised since the last call counts at once. `now` may go backwards.
    { l.take(key, allowed, now) } noexcept -> std::same_as<verdict>;
    // What `take` would say of the next request, and how much remains now; counts nothing.
    { l.peek(key, allowed, now) } noexcept -> std::same_as<verdict>;
};

}  // namespace tollgate

// <tollgate/contract/router.hpp>

namespace tollgate {

/// One line of a route table: `/{service}/{account}/hooks` has a literal segment and two parameters. Of static storage.
struct route_pattern {
    http::method method;
    std::string_view path;  ///< begins with `/`; below the base URL's path
};

/// A few methods, as `Allow` lists them.
class method_set {
public:
    constexpr void add(http::method m) noexcept { bits_ |= bit(m); }
    [[nodiscard]] constexpr bool contains(http::method m) const noexcept { return (bits_ & bit(m)) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

private:
    static constexpr std::uint16_t bit(http::method m) noexcept {
        return static_cast<std::uint16_t>(1U << static_cast<unsigned>(m));
    }
    std::uint16_t bits_ = 0;
};

/// What a router says of one path.
struct route_match {
    enum class kind : std::uint8_t { unknown_path, other_method, found };

    kind result = kind::unknown_path;
    std::uint16_t route = 0;      ///< found: which line of the table; other_method: one of those that the path fits
    std::uint8_t captured = 0;    ///< how many parameters that line has
    method_set allowed;           ///< other_method: what the path does answer to
    std::array<std::string_view, limits::path_parameters_max> captures;  ///< that line's: views of the path, left to right
};

/// Finds the route for a method and a path.
///
/// Exemplar: `segment_router`.
template <class R>
concept router = requires(R& building, const R& built, std::span<const route_pattern> patterns, http::method m,
                          std::string_view path) {
    // Called once, before any `find`, with the whole table. A literal segment goes before a parameter.
    building.build(patterns);
    // `path` is below the base URL's path, as sent, nothing decoded. An empty segment, a percent sign or a dot segment
    // never matches. HEAD is asked for as GET. Called from many threads at once.
    { built.find(m, path) } noexcept -> std::same_as<route_match>;
};

}  // namespace tollgate

// <tollgate/contract/scope_checker.hpp>

namespace tollgate {

/// Decides whether what a credential was granted covers what a route asks for.
///
/// Exemplar:
///
///     struct exact_scopes {
///         bool covers(const scope_set& granted, std::string_view required) const noexcept {
///             return granted.contains(required);
///         }
///     };
template <class C>
concept scope_checker = requires(const C& c, const scope_set& granted, std::string_view required) {
    // `required` is one scope. Called from many threads at once.
    { c.covers(granted, required) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

// <tollgate/contract/session_source.hpp>

namespace tollgate {

/// Tells which person a browser belongs to. An integrator whose site has sessions already answers from those;
/// `cookie_sessions` keeps its own.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if it declares `static constexpr bool blocking = true`.
/// Errors: a `problem`; nothing is thrown.
///
/// Exemplar:
///
///     struct site_sessions {
///         outcome<std::optional<session>> session_of(const http::request& asked, instant) {
///             const auto cookie = asked.fields.find(http::field_id::cookie);
///             if (cookie != "site=ann-is-here") return std::optional<session>{};
///             return std::optional{session{user_id{1}, "ann", std::string{cookie}}};
///         }
///         std::string sign_in_url(std::string_view return_to) const {
///             return "/login?next=" + percent_encode(return_to);
///         }
///     };
template <class S>
concept session_source = requires(S& s, const http::request& asked, instant now, std::string_view return_to) {
    // Who is signed in; none for nobody.
    { s.session_of(asked, now) } -> std::same_as<outcome<std::optional<session>>>;
    // Where to send a person who is not, so that they come back to `return_to`, a path and query of this site. Visible ASCII.
    { s.sign_in_url(return_to) } -> std::same_as<std::string>;
};

}  // namespace tollgate

// <tollgate/contract/session_store.hpp>

namespace tollgate {

/// Keeps who is signed in. Only `cookie_sessions` needs one; an integrator with sessions of their own has none.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: a `problem`; nothing is thrown.
template <class S>
concept session_store = requires(S& s, const stored_session& made, const digest& cookie, user_id user, instant now,
                                 instant created_before, instant seen_before, std::size_t rows_max) {
    // problem_kind::conflict when the digest is there already.
    { s.create_session(made) } -> std::same_as<outcome<void>>;
    // As it stands; none when there is none.
    { s.find_session(cookie) } -> std::same_as<outcome<std::optional<stored_session>>>;
    // Says that the session was used now. No problem when it is gone.
    { s.touch_session(cookie, now) } -> std::same_as<outcome<void>>;
    // Whether there was one; it lets nobody in from the moment this returns.
    { s.end_session(cookie) } -> std::same_as<outcome<bool>>;
    // All of one user's: for a new password.
    { s.end_sessions_of(user) } -> std::same_as<outcome<void>>;
    // Forgets sessions that began before one moment or were last used before another, at most `rows_max`; how many.
    { s.sweep_sessions(created_before, seen_before, rows_max) } -> std::same_as<outcome<std::size_t>>;
};

}  // namespace tollgate

// <tollgate/contract/target_rule.hpp>

namespace tollgate {

/// Says where webhooks may go: an API that posts to any URL is a way into the network it stands in.
///
/// Thread rule: both functions may be called from many threads at once. Neither blocks: names are not looked up here.
///
/// Exemplar:
///
///     struct partners_only {
///         outcome<void> check(const http::url& target) const {
///             if (target.host == "hooks.partner.example") return {};
///             return invalid("target_url must be at hooks.partner.example.");
///         }
///         bool allows(const ip_address&) const noexcept { return true; }
///     };
template <class R>
concept target_rule = requires(const R& r, const http::url& target, const ip_address& address) {
    // Judges a URL when a hook is made, by its text alone. A refusal is problem_kind::invalid, and its message names
    // `target_url`.
    { r.check(target) } -> std::same_as<outcome<void>>;
    // Judges an address before each connection to it, after the name was looked up: a name that was harmless when the
    // hook was made may point inside now.
    { r.allows(address) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

// <tollgate/contract/token_store.hpp>

namespace tollgate {

/// Reads the credentials that requests carry: all that identification needs of a store.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: a `problem` (unavailable, internal); nothing is thrown.
template <class S>
concept credential_source = requires(S& s, std::string_view username, const digest& token) {
    // The personal token of this username, as it stands now; none when there is none or it was revoked.
    { s.find_personal_token(username) } -> std::same_as<outcome<std::optional<token_credential>>>;
    // The access token of this digest, expired or not; none when there is none or it was revoked.
    { s.find_access_token(token) } -> std::same_as<outcome<std::optional<token_credential>>>;
};

/// Keeps personal tokens and access tokens. Every verb is one atomic intent, and durable (as far as the store is) when it
/// returns.
///
/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/store/suite.hpp`.
template <class S>
concept token_store = credential_source<S> && requires(S& s, const new_personal_token& personal, const new_access_token& access,
                                                       user_id user, token_id id, const digest& token) {
    // problem_kind::conflict when the username is taken.
    { s.create_personal_token(personal) } -> std::same_as<outcome<token_id>>;
    // The user's tokens, oldest first.
    { s.personal_tokens_of(user) } -> std::same_as<outcome<std::vector<personal_token>>>;
    // Whether there was such a token; it lets nobody in from the moment this returns.
    { s.revoke_personal_token(id) } -> std::same_as<outcome<bool>>;
    // problem_kind::conflict when the digest is there already.
    { s.create_access_token(access) } -> std::same_as<outcome<void>>;
    // Whether there was such a token.
    { s.revoke_access_token(token) } -> std::same_as<outcome<bool>>;
};

}  // namespace tollgate

// <tollgate/contract/user_directory.hpp>

namespace tollgate {

/// The integrator's users: what the process that Tollgate is a guest of knows about them already.
///
/// Thread rule: every function may be called from many threads at once. Blocking: allowed if the directory declares
/// `static constexpr bool blocking = true`. Errors: a `problem`; `problem_kind::not_found` for a user who is gone, whose
/// credentials then no longer let anyone in. Nothing is thrown.
///
/// Exemplar:
///
///     struct shop_directory {
///         outcome<balance> balance_of(user_id user);
///         outcome<std::vector<account>> accounts_of(user_id user, std::string_view service);
///         outcome<std::optional<quota>> quota_of(user_id user);
///     };
///
/// A directory may also have `outcome<bool> has_account(user_id, const account_ref&)`, where asking for one account is
/// cheaper than listing them all.
template <class D>
concept user_directory = requires(D& d, user_id user, std::string_view service) {
    // What the user has, in the currency of their settings.
    { d.balance_of(user) } -> std::same_as<outcome<balance>>;
    // The user's accounts at one service, in a stable order; empty when there are none or the service is not known.
    { d.accounts_of(user, service) } -> std::same_as<outcome<std::vector<account>>>;
    // The user's own rate limit; none for the default. Asked on every request, so it should be quick and without heap
    // memory; what it says counts at once.
    { d.quota_of(user) } -> std::same_as<outcome<std::optional<quota>>>;
};

/// Whether the account is one of the user's.
template <user_directory D>
[[nodiscard]] outcome<bool> has_account(D& directory, user_id user, const account_ref& wanted) {
    if constexpr (requires { { directory.has_account(user, wanted) } -> std::same_as<outcome<bool>>; }) {
        return directory.has_account(user, wanted);
    } else {
        auto accounts = directory.accounts_of(user, wanted.service.view());
        if (!accounts) return std::move(accounts).error();
        for (const account& each : *accounts)
            if (each.id == wanted.account) return true;
        return false;
    }
}

}  // namespace tollgate

// <tollgate/policy/basic_token.hpp>

namespace tollgate {

/// `Authorization: Basic` with a personal token: its username, and its secret as the password (RFC 7617).
struct basic_token {
    static constexpr std::string_view scheme = "Basic";
    static constexpr std::string_view challenge = "Basic realm=\"api\", charset=\"UTF-8\"";

    template <credential_source Store>
    [[nodiscard]] outcome<std::optional<caller>> identify(std::string_view credentials, Store& store, instant now) const;

private:
    // Longer credentials name no token of ours; the last few bytes are the decoder's, which thinks in groups of three.
    static constexpr std::size_t decoded_bytes_max = limits::token_username_bytes_max + 1 + limits::secret_text_bytes_max + 4;
};

template <credential_source Store>
outcome<std::optional<caller>> basic_token::identify(std::string_view credentials, Store& store, instant now) const {
    std::array<char, decoded_bytes_max> buffer;
    const auto decoded_bytes = base64_decode_into(credentials, buffer);
    if (!decoded_bytes) return std::optional<caller>{};
    const std::string_view decoded{buffer.data(), *decoded_bytes};
    const auto colon = decoded.find(':');  // the first one: a username has none, a password may (RFC 7617 section 2)
    if (colon == std::string_view::npos) return std::optional<caller>{};
    const auto username = decoded.substr(0, colon);
    const auto secret = decoded.substr(colon + 1);
    if (!is_well_formed(secret_kind::personal_token, secret)) return std::optional<caller>{};

    auto found = store.find_personal_token(username);
    if (!found) return std::move(found).error();
    if (!*found || (*found)->secret_digest != recall_digest_of(secret)) return std::optional<caller>{};
    if ((*found)->expires_at && *(*found)->expires_at <= now) return std::optional<caller>{};
    // In place: a caller put together elsewhere and moved here costs GCC a kilobyte of zeros first.
    return outcome<std::optional<caller>>{
        std::optional<caller>{std::in_place, (*found)->user, (*found)->scopes, credential_kind::personal_token, std::nullopt}};
}

}  // namespace tollgate

// <tollgate/policy/bearer_token.hpp>

namespace tollgate {

/// `Authorization: Bearer` with an OAuth 2.0 access token (RFC 6750 section 2.1).
struct bearer_token {
    static constexpr std::string_view scheme = "Bearer";
    static constexpr std::string_view challenge = "Bearer realm=\"api\"";

    template <credential_source Store>
    [[nodiscard]] outcome<std::optional<caller>> identify(std::string_view credentials, Store& store, instant now) const;
};

template <credential_source Store>
outcome<std::optional<caller>> bearer_token::identify(std::string_view credentials, Store& store, instant now) const {
    if (!is_well_formed(secret_kind::access_token, credentials)) return std::optional<caller>{};
    auto found = store.find_access_token(recall_digest_of(credentials));
    if (!found) return std::move(found).error();
    if (!*found || ((*found)->expires_at && *(*found)->expires_at <= now)) return std::optional<caller>{};
    return outcome<std::optional<caller>>{
        std::optional<caller>{std::in_place, (*found)->user, (*found)->scopes, credential_kind::access_token, (*found)->application}};
}

}  // namespace tollgate

// <tollgate/policy/no_observer.hpp>

namespace tollgate {

/// Nobody watches.
struct no_observer {
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const http::refusal&) const noexcept {}
    void on_problem(const problem&) const noexcept {}
};

static_assert(observer<no_observer>);

}  // namespace tollgate

// <tollgate/policy/policy_set.hpp>

namespace tollgate {

// A slot a policy: a class of its own each, so that a set of policies can be put together by naming one and keeping the rest.
template <class T> struct router_slot { T router; };
template <class T> struct authenticators_slot { T authenticators; };
template <class T> struct scope_checker_slot { T scope_checker; };
template <class T> struct limiter_slot { T limiter; };
template <class T> struct agent_rule_slot { T agent_rule; };
template <class T> struct target_rule_slot { T target_rule; };
template <class T> struct clock_slot { T clock; };
template <class T> struct random_slot { T random; };
template <class T> struct observer_slot { T observer; };

/// A policy as it is used: a set holds it by value, or behind `std::ref` where several handlers share one.
template <class T>
[[nodiscard]] constexpr T& policy(T& held) noexcept { return held; }
template <class T>
[[nodiscard]] constexpr const T& policy(const T& held) noexcept { return held; }
template <class T>
[[nodiscard]] constexpr T& policy(std::reference_wrapper<T>& held) noexcept { return held.get(); }
template <class T>
[[nodiscard]] constexpr T& policy(const std::reference_wrapper<T>& held) noexcept { return held.get(); }

template <class T>
using policy_type = std::remove_cvref_t<std::unwrap_reference_t<T>>;

/// One policy in each slot. `default_policies()` makes the first; each `with_x` moves it into a set that has another x:
///
///     auto policies = tollgate::default_policies().with_limiter(night_limiter{}).with_observer(std::ref(log));
///
/// A policy that does not keep its slot's contract stops the compiler at one message, which names the header to read.
template <class... Slots>
class policy_set : public Slots... {
public:
    constexpr explicit policy_set(Slots... slots) : Slots(std::move(slots))... {}

    template <class T>
    constexpr auto with_router(T replacement) && {
        constexpr bool fits = tollgate::router<policy_type<T>>;
        static_assert(fits, "tollgate: this is no router; read tollgate/contract/router.hpp");
        return std::move(*this).template replace<router_slot, fits>(std::move(replacement));
    }

    /// All schemes that the API knows, one authenticator each. Which store they need is checked where the API is made.
    template <class... Ts>
    constexpr auto with_authenticators(Ts... replacements) && {
        return std::move(*this).template replace<authenticators_slot, true>(std::tuple<Ts...>{std::move(replacements)...});
    }

    template <class T>
    constexpr auto with_scope_checker(T replacement) && {
        constexpr bool fits = tollgate::scope_checker<policy_type<T>>;
        static_assert(fits, "tollgate: this is no scope_checker; read tollgate/contract/scope_checker.hpp");
        return std::move(*this).template replace<scope_checker_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_limiter(T replacement) && {
        constexpr bool fits = tollgate::rate_limiter<policy_type<T>>;
        static_assert(fits, "tollgate: this is no rate_limiter; read tollgate/contract/rate_limiter.hpp");
        return std::move(*this).template replace<limiter_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_agent_rule(T replacement) && {
        constexpr bool fits = tollgate::agent_rule<policy_type<T>>;
        static_assert(fits, "tollgate: this is no agent_rule; read tollgate/contract/agent_rule.hpp");
        return std::move(*this).template replace<agent_rule_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_target_rule(T replacement) && {
        constexpr bool fits = tollgate::target_rule<policy_type<T>>;
        static_assert(fits, "tollgate: this is no target_rule; read tollgate/contract/target_rule.hpp");
        return std::move(*this).template replace<target_rule_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_clock(T replacement) && {
        constexpr bool fits = tollgate::clock<policy_type<T>>;
        static_assert(fits, "tollgate: this is no clock; read tollgate/contract/clock.hpp");
        return std::move(*this).template replace<clock_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_random(T replacement) && {
        constexpr bool fits = tollgate::random_source<policy_type<T>>;
        static_assert(fits, "tollgate: this is no random_source; read tollgate/contract/random_source.hpp");
        return std::move(*this).template replace<random_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_observer(T replacement) && {
        constexpr bool fits = tollgate::observer<policy_type<T>>;
        static_assert(fits, "tollgate: this is no observer; read tollgate/contract/observer.hpp");
        return std::move(*this).template replace<observer_slot, fits>(std::move(replacement));
    }

private:
    template <template <class> class Slot, class Held>
    struct is_slot : std::false_type {};
    template <template <class> class Slot, class T>
    struct is_slot<Slot, Slot<T>> : std::true_type {};

    // A misfit was reported already: leaving the slot as it was keeps the compiler from reporting its consequences too.
    template <template <class> class Slot, bool Fits, class T>
    constexpr auto replace([[maybe_unused]] T replacement) && {
        if constexpr (!Fits) {
            return std::move(*this);
        } else {
            const auto choose = [&]<class Held>(Held& held) {
                if constexpr (is_slot<Slot, Held>::value) return Slot<T>{std::move(replacement)};
                else return std::move(held);
            };
            return policy_set<decltype(choose(static_cast<Slots&>(*this)))...>(choose(static_cast<Slots&>(*this))...);
        }
    }
};

}  // namespace tollgate

// <tollgate/policy/prefix_scopes.hpp>

namespace tollgate {

/// A scope covers itself and everything that it is the part before a colon of: `sitesmaker` covers `sitesmaker:read`,
/// never the other way round, and never a scope of another service.
struct prefix_scopes {
    [[nodiscard]] constexpr bool covers(const scope_set& granted, std::string_view required) const noexcept {
        return !granted.for_each([required](std::string_view held) {
            return !(required.starts_with(held) && (required.size() == held.size() || required[held.size()] == ':'));
        });
    }
};

static_assert(scope_checker<prefix_scopes>);

}  // namespace tollgate

// <tollgate/policy/public_targets.hpp>

namespace tollgate {

/// The default target rule: webhooks go to the public internet and nowhere else.
///
/// Refuses user information, fragments, names that only a local network knows (a single label, `localhost`, `.local`,
/// `.localdomain`, `.internal`, `.home.arpa`), and every address that is not globally reachable (IANA's special-purpose
/// registries, RFC 6890), in whatever wrapping: IPv4 inside IPv6, NAT64, 6to4, Teredo and ISATAP. What clouds answer at
/// with credentials is among them: 169.254.169.254, fd00:ec2::254, 100.100.100.200, 168.63.129.16.
struct public_targets {
    /// Lets webhooks go to any host and address; user information and fragments are refused all the same. For
    /// development, and for a service whose users are all inside.
    bool private_allowed = false;

    [[nodiscard]] TOLLGATE_DECL outcome<void> check(const http::url& target) const;
    [[nodiscard]] TOLLGATE_DECL bool allows(const ip_address& address) const noexcept;
};

static_assert(target_rule<public_targets>);

}  // namespace tollgate

// <tollgate/policy/require_agent.hpp>

namespace tollgate {

/// Any User-Agent that is not blank.
struct require_agent {
    [[nodiscard]] constexpr bool accepts(std::string_view user_agent) const noexcept { return !trim_ows(user_agent).empty(); }
};

static_assert(agent_rule<require_agent>);

}  // namespace tollgate

// <tollgate/policy/segment_router.hpp>

namespace tollgate {

/// Compares segment by segment. A table of routes is short, so a walk over those with as many segments as the path, the
/// more literal ones first, is quicker than any tree and easier to read.
class segment_router {
public:
    TOLLGATE_DECL void build(std::span<const route_pattern> patterns);
    [[nodiscard]] TOLLGATE_DECL route_match find(http::method m, std::string_view path) const noexcept;

private:
    static constexpr std::size_t segments_max = 12;  // deeper than any API's paths: more is an unknown path

    struct segment {
        std::string_view literal;  // empty for a parameter
    };
    // A path without parameters is found by one comparison: no pattern with a parameter could go before it.
    struct literal_path {
        http::method method;
        std::uint16_t route;
        std::string_view path;
    };
    struct line {
        http::method method;
        std::uint16_t route;
        std::uint16_t literals;  // how many of its segments are literal: the order within one length
        std::vector<segment> segments;
    };

    std::vector<literal_path> literal_paths_;
    std::vector<line> lines_;  // by number of segments, the more literal first
    std::array<std::uint16_t, segments_max + 2> first_line_{};  // of each number of segments: where its lines begin
};

static_assert(router<segment_router>);

}  // namespace tollgate

// <tollgate/policy/system_clock.hpp>

namespace tollgate {

/// The machine's own clock.
struct system_clock {
    [[nodiscard]] instant now() const noexcept {
        return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
    }
};

static_assert(clock<system_clock>);

}  // namespace tollgate

// <tollgate/policy/system_random.hpp>

namespace tollgate {

/// OpenSSL's generator for secrets, seeded by the operating system.
struct system_random {
    [[nodiscard]] TOLLGATE_DECL bool fill(std::span<std::byte> bytes) const noexcept;
};

static_assert(random_source<system_random>);

}  // namespace tollgate

// <tollgate/policy/window_limiter.hpp>

namespace tollgate {

/// How many keys a window_limiter counts at a time; each number is rounded up to a power of two. 24 bytes a key, set
/// aside at the start and touched when they are needed: 6 MiB for each of the defaults, which is room for 73 new
/// addresses every second with a window of an hour.
struct key_capacity {
    std::size_t users = std::size_t{1} << 18;
    std::size_t addresses = std::size_t{1} << 18;
};

/// The default limiter: an exact fixed window that starts with a key's first request.
///
/// **Memory** is bounded and never grows. Users and addresses have a table each, so that a flood of addresses costs no
/// user their window. A table is made of sets of eight keys, and a secret hash says which set a key belongs to. Where a
/// ninth comes, it takes the place of one whose window is over, else of the one with the fewest requests counted, of
/// equals the oldest: whoever is forgotten had used the least, and begins anew. So overflow admits too much, never too
/// little, and who is close to the limit stays counted.
///
/// **Time** may go backwards: a window then ends one length after the present at the latest, and keeps its count. A new
/// quota, its window's length too, counts from the next call on.
///
/// **Threads**: any number. A call holds one of many small locks for some dozen instructions, and allocates nothing.
class window_limiter {
public:
    /// The default capacity, and a seed that OpenSSL gives. Throws std::runtime_error when it gives none.
    TOLLGATE_DECL window_limiter();
    TOLLGATE_DECL explicit window_limiter(const key_capacity& capacity);
    /// `seed` is what strangers must not know; a fixed one is for tests.
    TOLLGATE_DECL window_limiter(const key_capacity& capacity, const siphash_key& seed);

    /// Whoever was moved from may only be destroyed or assigned to.
    TOLLGATE_DECL window_limiter(window_limiter&&) noexcept;
    TOLLGATE_DECL window_limiter& operator=(window_limiter&&) noexcept;
    TOLLGATE_DECL ~window_limiter();

    [[nodiscard]] TOLLGATE_DECL verdict take(const limit_key& key, const quota& allowed, instant now) noexcept;
    [[nodiscard]] TOLLGATE_DECL verdict peek(const limit_key& key, const quota& allowed, instant now) const noexcept;

    /// All the memory that it will ever use.
    [[nodiscard]] TOLLGATE_DECL std::size_t memory_bytes() const noexcept;

private:
    class table;

    std::unique_ptr<table> users_;
    std::unique_ptr<table> addresses_;
};

static_assert(rate_limiter<window_limiter>);

}  // namespace tollgate

// <tollgate/policy/default_policies.hpp>

namespace tollgate {

/// What the API does when it is not told otherwise. Change a slot with `with_x`.
[[nodiscard]] inline auto default_policies() {
    return policy_set{router_slot<segment_router>{},
                      authenticators_slot<std::tuple<basic_token, bearer_token>>{},
                      scope_checker_slot<prefix_scopes>{},
                      limiter_slot<window_limiter>{},
                      agent_rule_slot<require_agent>{},
                      target_rule_slot<public_targets>{},
                      clock_slot<system_clock>{},
                      random_slot<system_random>{},
                      observer_slot<no_observer>{}};
}

}  // namespace tollgate

// <tollgate/policy/issue_personal_token.hpp>

namespace tollgate {

/// What a person chooses when they make a token.
struct personal_token_request {
    user_id user;
    std::string description;
    scope_set scopes;
};

/// A personal token as its owner is shown it, this once: of the secret nothing but its digest is kept.
struct issued_personal_token {
    token_id id;
    public_id username;
    secret_text secret;
};

/// Makes a token that `basic_token` lets in from now on. Invalid for a description longer than
/// `limits::token_description_bytes_max`; whether the scopes exist is the caller's to know.
template <token_store Store, random_source Random>
[[nodiscard]] outcome<issued_personal_token> issue_personal_token(Store& store, const Random& random, personal_token_request wanted,
                                                                  instant now) {
    if (wanted.description.size() > limits::token_description_bytes_max) return invalid("description is longer than 255 bytes.");
    std::array<std::byte, 16> name_bytes;
    std::array<std::byte, 32> secret_bytes;
    if (!random.fill(name_bytes) || !random.fill(secret_bytes)) return internal_error("the random source gave nothing");
    const auto username = make_public_id(public_id_kind::username, name_bytes);
    const auto secret = make_secret(secret_kind::personal_token, secret_bytes);
    secure_wipe(secret_bytes);

    const auto id = store.create_personal_token({.user = wanted.user,
                                                 .username = username,
                                                 .secret_digest = digest_of(secret),
                                                 .description = std::move(wanted.description),
                                                 .scopes = wanted.scopes,
                                                 .created_at = now});
    if (!id) return id.error();
    return issued_personal_token{*id, username, secret};
}

}  // namespace tollgate

// <tollgate/policy/unlimited.hpp>

namespace tollgate {

/// Admits everything: for an API behind a gateway that counts already. The fields say that the whole window remains.
struct unlimited {
    [[nodiscard]] constexpr verdict take(const limit_key& key, const quota& allowed, instant now) const noexcept {
        return peek(key, allowed, now);
    }
    [[nodiscard]] constexpr verdict peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        return {true, allowed.requests, allowed.requests, now + allowed.window};
    }
};

static_assert(rate_limiter<unlimited>);

}  // namespace tollgate

// <tollgate/pipeline/judgement.hpp>

namespace tollgate::pipeline {

/// How a request presented itself.
enum class standing : std::uint8_t {
    anonymous,        ///< no credentials
    known,            ///< good ones: there is a caller
    bad_credentials,  ///< some that let nobody in
    ambiguous,        ///< more than one Authorization field: nobody can say which one counts
    undecided,        ///< a store or directory could not be asked
};

/// What the stages have found out about one request so far. Each stage reads what those before it wrote.
struct judgement {
    instant now;
    ip_address client;
    bool agent_accepted = false;
    pipeline::standing standing = standing::anonymous;
    std::optional<caller> who;       ///< set exactly when `standing` is known
    std::optional<quota> own_quota;  ///< the caller's, where it is not the default
    std::optional<problem> failure;  ///< set exactly when `standing` is undecided
    verdict window{};                ///< the client's or the caller's, whichever this request is counted against
    route_match route;
    const service* of_service = nullptr;  ///< which `{service}` the path names, if the route has one
};

}  // namespace tollgate::pipeline

// <tollgate/pipeline/refused.hpp>

namespace tollgate::pipeline {

/// A page of the documentation: `{auth_url}/docs/{slug}/`. Every Error object leads to one of these.
struct topic {
    std::string_view slug;
};

inline constexpr topic about_requests{"requests"};
inline constexpr topic about_authentication{"authentication"};
inline constexpr topic about_scopes{"scopes"};
inline constexpr topic about_rate_limits{"rate-limits"};
inline constexpr topic about_errors{"errors"};

/// Why a stage stops a request, in the client's words.
struct refused {
    http::status status;
    std::string_view message;  ///< of static storage
    topic documentation = about_errors;
};

[[nodiscard]] constexpr http::status to_status(problem_kind kind) noexcept {
    switch (kind) {
        case problem_kind::malformed: return http::status::bad_request;
        case problem_kind::unauthorized: return http::status::unauthorized;
        case problem_kind::forbidden: return http::status::forbidden;
        case problem_kind::not_found: return http::status::not_found;
        case problem_kind::invalid: return http::status::unprocessable_content;
        case problem_kind::conflict: return http::status::conflict;
        case problem_kind::unavailable: return http::status::service_unavailable;
        case problem_kind::internal: break;
    }
    return http::status::internal_server_error;
}

[[nodiscard]] constexpr topic to_topic(http::status status) noexcept {
    switch (status) {
        case http::status::unauthorized: return about_authentication;
        case http::status::forbidden: return about_scopes;
        case http::status::too_many_requests: return about_rate_limits;
        case http::status::bad_request:
        case http::status::request_timeout:
        case http::status::content_too_large:
        case http::status::uri_too_long:
        case http::status::unsupported_media_type:
        case http::status::expectation_failed:
        case http::status::header_fields_too_large: return about_requests;
        default: return about_errors;
    }
}

}  // namespace tollgate::pipeline

// <tollgate/pipeline/path_pattern.hpp>

namespace tollgate {

/// Text as a template argument.
template <std::size_t Size>
struct fixed_text {
    char characters[Size]{};

    consteval fixed_text(const char (&literal)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) characters[i] = literal[i];
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters, Size - 1}; }
};

namespace pipeline {

/// The parameters of a path pattern, left to right: `/{service}/{account}/hooks` has `service` and `account`.
struct pattern_parameters {
    std::array<std::string_view, limits::path_parameters_max> names{};
    std::size_t count = 0;
};

/// Reads a pattern: it begins with `/`, has no empty segment and so no `/` at its end, a parameter is a whole segment, and
/// there are at most `limits::path_parameters_max`. Empty for text that is no pattern.
[[nodiscard]] constexpr std::optional<pattern_parameters> read_pattern(std::string_view pattern) noexcept {
    // By hand, character by character: GCC takes string_view's searches for no constants when UBSan is on.
    const auto is_special = [](char c) { return c == '{' || c == '}' || c == '%'; };
    pattern_parameters found;
    if (pattern.empty() || pattern.front() != '/') return std::nullopt;
    for (std::size_t begin = 1, end = 1; begin <= pattern.size(); begin = ++end) {
        std::size_t specials = 0;
        for (; end < pattern.size() && pattern[end] != '/'; ++end) specials += is_special(pattern[end]) ? 1U : 0U;
        const auto segment = pattern.substr(begin, end - begin);
        if (segment.empty()) return std::nullopt;
        if (specials == 0) continue;
        const bool is_parameter = specials == 2 && segment.size() >= 3 && segment.front() == '{' && segment.back() == '}';
        if (!is_parameter || found.count == found.names.size()) return std::nullopt;
        found.names[found.count++] = segment.substr(1, segment.size() - 2);
    }
    return found;
}

template <fixed_text Pattern>
inline constexpr bool is_path_pattern = read_pattern(Pattern.view()).has_value();

/// None for what is no pattern: the compiler has stopped at that already.
template <fixed_text Pattern>
consteval pattern_parameters parameters_of() {
    return read_pattern(Pattern.view()).value_or(pattern_parameters{});
}

}  // namespace pipeline
}  // namespace tollgate

// <tollgate/pipeline/path_parameter.hpp>

namespace tollgate {

/// What kind of value a name in braces stands for. Text that is no such value is a 404, as if nothing were there.
///
/// A name without a specialization of its own is text. For a type of one's own:
///
///     template <>
///     struct tollgate::path_parameter<"invoice"> {
///         using type = invoice_id;
///         static std::optional<invoice_id> parse(std::string_view text);
///     };
template <fixed_text Name>
struct path_parameter {
    using type = std::string_view;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return text; }
};

template <>
struct path_parameter<"account"> {
    using type = account_id;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return account_id::parse(text); }
};

template <>
struct path_parameter<"hook"> {
    using type = hook_id;
    static constexpr std::optional<type> parse(std::string_view text) noexcept { return hook_id::parse(text); }
};

}  // namespace tollgate

// <tollgate/pipeline/route_table.hpp>

namespace tollgate {

/// Who may call a route. Every route says one of these; there is no default.
struct access_rule {
    enum class kind : std::uint8_t {
        open,           ///< anybody
        any_caller,     ///< anybody with good credentials
        scope,          ///< whoever was granted `scope`
        service_read,   ///< whoever was granted the read scope of the path's `{service}`
        service_write,  ///< whoever was granted the write scope of the path's `{service}`
    };
    kind who;
    std::string_view scope{};  ///< of static storage
};

/// A rule that takes its scope from the path: for routes with a `{service}`.
struct service_access_rule {
    access_rule::kind who;
    constexpr operator access_rule() const noexcept { return {who}; }
};

inline constexpr access_rule open_to_all{access_rule::kind::open};
inline constexpr access_rule any_caller{access_rule::kind::any_caller};
inline constexpr service_access_rule read_of_service{access_rule::kind::service_read};
inline constexpr service_access_rule write_of_service{access_rule::kind::service_write};
[[nodiscard]] constexpr access_rule needs_scope(std::string_view scope) noexcept { return {access_rule::kind::scope, scope}; }

/// What a JSON body looks like: its JSON Schema (2020-12), and an example. Empty: there is no body. In the example `{event}`
/// stands for an event that the API knows.
struct json_shape {
    std::string_view schema{};
    std::string_view example{};

    [[nodiscard]] constexpr bool empty() const noexcept { return schema.empty(); }
};

/// What OpenAPI and the documentation say of a route. All of it is of static storage.
struct route_notes {
    std::string_view operation{};      ///< operationId, such as `listHooks`
    std::string_view summary{};        ///< one line
    unsigned success_status = 200;
    json_shape success_body{};
    std::string_view success_field{};  ///< a header field that only this answer has, such as `X-Hook-Secret`
    json_shape request_body{};
};

/// One line of the table.
template <fixed_text Pattern, class Endpoint>
struct route {
    static constexpr std::string_view path = Pattern.view();
    static constexpr pipeline::pattern_parameters parameters = pipeline::parameters_of<Pattern>();

    http::method method;
    access_rule access;
    Endpoint endpoint;
    route_notes notes;
};

namespace pipeline {

// Stands where an endpoint was forgotten, so that the compiler stops at one message.
struct no_endpoint {};

template <fixed_text Pattern>
consteval bool has_service_parameter() {
    constexpr auto parameters = parameters_of<Pattern>();
    for (std::size_t i = 0; i < parameters.count; ++i)
        if (parameters.names[i] == "service") return true;
    return false;
}

template <fixed_text Pattern, class Access, class Endpoint>
[[nodiscard]] constexpr auto make_route(http::method m, Access access, Endpoint endpoint, route_notes notes) {
    constexpr bool has_rule = std::is_convertible_v<Access, access_rule>;
    constexpr bool has_service = !std::is_same_v<Access, service_access_rule> || has_service_parameter<Pattern>();
    static_assert(is_path_pattern<Pattern>,
                  "tollgate: a path pattern begins with '/' and does not end in one, has no empty segment, and each parameter is a "
                  "whole segment, {name}; read tollgate/pipeline/path_pattern.hpp");
    static_assert(has_rule,
                  "tollgate: a route names who may call it, before its endpoint: open_to_all, any_caller, needs_scope(...), "
                  "read_of_service or write_of_service; read tollgate/pipeline/route_table.hpp");
    static_assert(!is_path_pattern<Pattern> || has_service,
                  "tollgate: read_of_service and write_of_service are for paths with a {service}; "
                  "read tollgate/pipeline/route_table.hpp");
    if constexpr (is_path_pattern<Pattern> && has_rule && has_service)
        return route<Pattern, Endpoint>{m, access, std::move(endpoint), notes};
    else
        return route<"/refused", no_endpoint>{m, open_to_all, {}, notes};
}

}  // namespace pipeline

/// `on_get<"/{service}/{account}/hooks">(read_of_service, endpoint, {.summary = "..."})`
///
/// The endpoint is called as `endpoint(call, parameters...)` with one argument for each name in braces, and returns
/// `outcome<void>`: done, or the problem to answer with. HEAD and OPTIONS need no routes of their own.
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_get(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::get, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_post(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::post, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_put(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::put, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_patch(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::patch, access, std::move(endpoint), notes);
}
template <fixed_text Pattern, class Access, class Endpoint = pipeline::no_endpoint>
[[nodiscard]] constexpr auto on_delete(Access access, Endpoint endpoint = {}, route_notes notes = {}) {
    return pipeline::make_route<Pattern>(http::method::delete_, access, std::move(endpoint), notes);
}

/// Routes in the order they were written. Add one's own to the account API's:
///
///     account_routes() + route_table{on_get<"/itemplatform/{account}/items">(read_of_service, list_items)}
template <class... Routes>
struct route_table {
    std::tuple<Routes...> routes;

    constexpr explicit route_table(Routes... each) : routes{std::move(each)...} {}
    constexpr explicit route_table(std::tuple<Routes...> all) : routes{std::move(all)} {}

    static constexpr std::size_t size = sizeof...(Routes);

    template <class Visit>
    constexpr void for_each(Visit&& visit) const {
        std::apply([&](const Routes&... each) { (visit(each), ...); }, routes);
    }
};

template <class... A, class... B>
[[nodiscard]] constexpr route_table<A..., B...> operator+(route_table<A...> first, route_table<B...> second) {
    return route_table<A..., B...>{std::tuple_cat(std::move(first.routes), std::move(second.routes))};
}

namespace pipeline {

inline constexpr std::size_t no_capture = limits::path_parameters_max;

/// What the pipeline needs of a route without knowing its type.
struct route_line {
    access_rule access;
    std::size_t service_capture = no_capture;  ///< which capture is `{service}`
    bool reads_body = false;                   ///< its method has a body that means something
};

template <fixed_text Pattern, class Endpoint>
[[nodiscard]] constexpr route_line to_line(const route<Pattern, Endpoint>& from) noexcept {
    route_line made{from.access, no_capture,
                    from.method == http::method::post || from.method == http::method::put || from.method == http::method::patch};
    for (std::size_t i = 0; i < from.parameters.count; ++i)
        if (from.parameters.names[i] == "service") made.service_capture = i;
    return made;
}

template <std::string_view const& Name>
consteval auto to_fixed_text() {
    char characters[Name.size() + 1]{};
    for (std::size_t i = 0; i < Name.size(); ++i) characters[i] = Name[i];
    return fixed_text<Name.size() + 1>{characters};
}

template <class Route, std::size_t Index>
struct parameter_of {
    static constexpr std::string_view name = Route::parameters.names[Index];
    static constexpr bool is_service = name == "service";
    using reader = path_parameter<to_fixed_text<name>()>;
    using type = std::conditional_t<is_service, const service&, typename reader::type>;
};

/// Whether a route's endpoint takes what its path captures, and returns what an endpoint returns.
template <class Route, class Call>
inline constexpr bool endpoint_fits = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::is_invocable_r_v<outcome<void>, const decltype(Route::endpoint)&, Call&, typename parameter_of<Route, I>::type...>;
}(std::make_index_sequence<Route::parameters.count>{});

/// Calls a route's endpoint with what its path captured. A capture that is no such value is a 404.
template <class Route, class Call, std::size_t... I>
[[nodiscard]] outcome<void> call_endpoint(const Route& to, Call& call, const route_match& match, const service* of_service,
                                          std::index_sequence<I...>) {
    if constexpr (endpoint_fits<Route, Call>) {
        const auto read = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
            if constexpr (parameter_of<Route, At>::is_service) return of_service;
            else return parameter_of<Route, At>::reader::parse(match.captures[At]);
        };
        [[maybe_unused]] const std::tuple values{read(std::integral_constant<std::size_t, I>{})...};
        if (!(static_cast<bool>(std::get<I>(values)) && ...)) return not_found();
        return to.endpoint(call, *std::get<I>(values)...);
    } else {
        return {};
    }
}

}  // namespace pipeline
}  // namespace tollgate

// <tollgate/pipeline/access.hpp>

namespace tollgate::pipeline {

/// The scope that a route asks for; empty when it asks for none.
[[nodiscard]] inline std::string_view required_scope(const access_rule& rule, const judgement& found) noexcept {
    switch (rule.who) {
        case access_rule::kind::open:
        case access_rule::kind::any_caller: break;
        case access_rule::kind::scope: return rule.scope;
        case access_rule::kind::service_read: return found.of_service->read_scope;
        case access_rule::kind::service_write: return found.of_service->write_scope;
    }
    return {};
}

/// 401 for credentials that let nobody in, on an open route too: a program with a dead token learns it at once. 401 where
/// some are needed and there are none, 403 where they do not reach.
template <scope_checker Checker>
[[nodiscard]] std::optional<refused> check_access(const Checker& checker, const access_rule& rule, const judgement& found) {
    if (found.standing == standing::bad_credentials)
        return refused{http::status::unauthorized, "Bad credentials.", about_authentication};
    if (rule.who == access_rule::kind::open) return std::nullopt;
    if (found.standing != standing::known)
        return refused{http::status::unauthorized, "This needs credentials: a personal API token or an OAuth access token.",
                       about_authentication};
    const auto scope = required_scope(rule, found);
    if (scope.empty() || checker.covers(found.who->scopes, scope)) return std::nullopt;
    return refused{http::status::forbidden, "The token's scopes do not cover this; see the WWW-Authenticate header.", about_scopes};
}

}  // namespace tollgate::pipeline

// <tollgate/pipeline/agent.hpp>

namespace tollgate::pipeline {

/// Whether the request says what program sends it.
template <agent_rule Rule>
void look_at_agent(const Rule& rule, const http::request& asked, judgement& found) noexcept {
    found.agent_accepted = asked.fields.count(http::field_id::user_agent) <= 1 &&
                           rule.accepts(asked.fields.find(http::field_id::user_agent));
}

/// 403 for a request that does not. It is judged behind the rate limit, because it counts against the client's address.
[[nodiscard]] inline std::optional<refused> require_agent_of(const judgement& found) noexcept {
    if (found.agent_accepted) return std::nullopt;
    return refused{http::status::forbidden, "Send a User-Agent header that names your program.", about_requests};
}

}  // namespace tollgate::pipeline

// <tollgate/pipeline/answer.hpp>

namespace tollgate::pipeline {

/// What every JSON answer says of itself: account data is for its caller alone, and is what it says it is.
inline constexpr std::string_view json_field_lines =
    "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";

/// The rate limit fields. `X-RateLimit-Reset` is there exactly when nothing remains.
inline void add_window(http::response& out, const verdict& window) {
    // Every response has these two: put together here, they are one append instead of ten.
    std::array<char, 96> lines;
    char* end = lines.data();
    const auto put = [&](std::string_view text) { end = std::copy_n(text.data(), text.size(), end); };
    constexpr std::size_t digits_max = 10;  // of 32 bits
    const auto put_number = [&](std::uint32_t number) { end = std::to_chars(end, end + digits_max, number).ptr; };
    put("X-RateLimit-Limit: ");
    put_number(window.limit);
    put("\r\nX-RateLimit-Remaining: ");
    put_number(window.remaining);
    put("\r\n");
    out.add_prepared_lines({lines.data(), static_cast<std::size_t>(end - lines.data())});
    if (window.remaining == 0) out.add("X-RateLimit-Reset", round_up_to_seconds(window.resets_at));
}

/// Seconds until a window opens again, for `Retry-After`: whole, rounded up, at least one.
[[nodiscard]] inline std::uint64_t seconds_until(instant later, instant now) noexcept {
    return static_cast<std::uint64_t>((std::max)(std::int64_t{1}, std::chrono::ceil<seconds>(later - now).count()));
}

/// The Error object.
inline void write_error(http::response& out, http::status status, std::string_view message, std::string_view docs_url, topic about) {
    out.set_status(status);
    out.add_prepared_lines(json_field_lines);
    http::json_writer body{out.body()};
    body.begin_object();
    body.member("message").string(message);
    body.member("documentation_url").string(std::string{docs_url}.append(about.slug).append("/"));
    body.end_object();
}

/// `Allow` for a path that answers to these methods: HEAD where there is GET, and OPTIONS always (RFC 9110 section 10.2.1).
inline void add_allow(http::response& out, method_set allowed) {
    std::string list;
    for (const auto each : {http::method::get, http::method::head, http::method::post, http::method::put, http::method::patch,
                            http::method::delete_, http::method::options}) {
        const bool is_there = each == http::method::head ? allowed.contains(http::method::get)
                                                         : each == http::method::options || allowed.contains(each);
        if (!is_there) continue;
        if (!list.empty()) list.append(", ");
        list.append(to_text(each));
    }
    if (const auto value = http::field_value::from(list)) out.add("Allow", *value);
}

/// `WWW-Authenticate` of a 401: a line for each scheme. Only credentials that were sent and bad have an error code
/// (RFC 6750 section 3.1).
template <class Authenticators>
void add_challenges(http::response& out, const Authenticators& authenticators, const judgement& found) {
    const auto add_one = [&](const auto& held) {
        const auto& authenticator = policy(held);
        std::string challenge{authenticator.challenge};
        if (found.standing == standing::bad_credentials && ascii_iequals(authenticator.scheme, "Bearer"))
            challenge.append(", error=\"invalid_token\"");
        if (const auto value = http::field_value::from(challenge)) out.add("WWW-Authenticate", *value);
    };
    std::apply([&](const auto&... each) { (add_one(each), ...); }, authenticators);
}

/// `WWW-Authenticate` of a 403 for want of a scope (RFC 6750 section 3.1).
inline void add_insufficient_scope(http::response& out, std::string_view scope) {
    const auto challenge = std::string{"Bearer realm=\"api\", error=\"insufficient_scope\", scope=\""}.append(scope).append("\"");
    if (const auto value = http::field_value::from(challenge)) out.add("WWW-Authenticate", *value);
}

/// How long a client waits before it asks again after a 503 of ours: long enough for a database to fail over, short enough
/// for a person not to give up.
inline constexpr std::uint64_t retry_after_unavailable_seconds = 2;

}  // namespace tollgate::pipeline

// <tollgate/pipeline/call.hpp>

namespace tollgate {

/// What an endpoint is called with: one request that has passed every stage, and where its answer goes. Lives for the call.
template <class Api>
class api_call {
public:
    api_call(Api& api, const http::request& asked, http::response& out, const caller* who, instant now) noexcept
        : api_{api}, asked_{asked}, out_{out}, who_{who}, now_{now} {}

    /// The integrator's own.
    [[nodiscard]] auto& users() const noexcept { return api_.users(); }
    [[nodiscard]] auto& store() const noexcept { return api_.store(); }
    [[nodiscard]] const auto& settings() const noexcept { return api_.settings(); }
    [[nodiscard]] const auto& target_rule() const noexcept { return policy(api_.policies().target_rule); }
    [[nodiscard]] const auto& random() const noexcept { return policy(api_.policies().random); }

    /// What `{base_url}/openapi.json` answers with.
    [[nodiscard]] const auto& openapi() const noexcept { return api_.openapi(); }

    [[nodiscard]] const http::request& asked() const noexcept { return asked_; }
    [[nodiscard]] instant now() const noexcept { return now_; }

    /// Whether there is a caller; on a route that is not open there always is.
    [[nodiscard]] bool has_caller() const noexcept { return who_ != nullptr; }
    /// Precondition: has_caller().
    [[nodiscard]] const caller& who() const noexcept {
        assert(who_ != nullptr);
        return *who_;
    }

    /// The body's members; a problem (400) for one that is no JSON object. An empty body is none.
    [[nodiscard]] outcome<http::json_object> body() const { return http::parse_json_object(asked_.body); }

    /// The answer: 200 with a JSON body, unless the endpoint says otherwise.
    [[nodiscard]] http::response& answer() const noexcept { return out_; }
    [[nodiscard]] http::json_writer json() const noexcept { return http::json_writer{out_.body()}; }

private:
    Api& api_;
    const http::request& asked_;
    http::response& out_;
    const caller* who_;
    instant now_;
};

}  // namespace tollgate

// <tollgate/pipeline/find_route.hpp>

namespace tollgate::pipeline {

/// One text for what is not there and what is not the caller's.
inline constexpr refused nothing_there{http::status::not_found, "Not Found", about_errors};

/// The path below the API's root; empty when it is not below it.
[[nodiscard]] constexpr std::string_view below(std::string_view root, std::string_view path) noexcept {
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    return path.starts_with('/') ? path : std::string_view{};
}

/// Finds the route, and the service that its path names. 404 for a path that no route has, 405 for another method on one
/// that some route has. OPTIONS matches every known path: the caller answers it from `found.route.allowed`.
template <router Router>
[[nodiscard]] std::optional<refused> find_route(const Router& router, std::span<const route_line> lines,
                                                const service_catalog& services, std::string_view root,
                                                const http::request& asked, judgement& found) {
    const auto method = asked.method == http::method::head ? http::method::get : asked.method;
    found.route = router.find(method, below(root, asked.target.path));
    if (found.route.result == route_match::kind::unknown_path) return nothing_there;
    if (const auto capture = lines[found.route.route].service_capture; capture != no_capture) {
        found.of_service = services.find(found.route.captures[capture]);
        if (found.of_service == nullptr) return nothing_there;
    }
    if (found.route.result == route_match::kind::found || method == http::method::options) return std::nullopt;
    return refused{http::status::method_not_allowed, "This path does not answer to this method; see the Allow header.", about_requests};
}

}  // namespace tollgate::pipeline

// <tollgate/pipeline/identify.hpp>

namespace tollgate::pipeline {

/// `auth-scheme 1*SP credentials` (RFC 9110 section 11.4), cut in two.
struct authorization {
    std::string_view scheme;
    std::string_view credentials;
};

[[nodiscard]] constexpr authorization split_authorization(std::string_view value) noexcept {
    const auto end = value.find(' ');
    if (end == std::string_view::npos) return {value, {}};
    auto credentials = value.substr(end);
    while (!credentials.empty() && credentials.front() == ' ') credentials.remove_prefix(1);
    return {value.substr(0, end), credentials};
}

/// Finds out who is calling. A request whose agent was not accepted is nobody's: it is counted against the address.
template <class Authenticators, class Store, user_directory Users>
void identify(const Authenticators& authenticators, Store& store, Users& users, const http::request& asked, judgement& found) {
    const auto lines = asked.fields.count(http::field_id::authorization);
    if (lines == 0 || !found.agent_accepted) return;
    if (lines > 1) {
        found.standing = standing::ambiguous;
        return;
    }

    const auto sent = split_authorization(asked.fields.find(http::field_id::authorization));
    found.standing = standing::bad_credentials;
    const auto try_one = [&](const auto& held) {
        const auto& authenticator = policy(held);
        if (!ascii_iequals(sent.scheme, authenticator.scheme)) return false;
        auto who = authenticator.identify(sent.credentials, store, found.now);
        if (!who) {
            found.standing = standing::undecided;
            found.failure = std::move(who).error();
        } else if (*who) {
            found.standing = standing::known;
            found.who = **who;
        }
        return true;
    };
    std::apply([&](const auto&... each) { static_cast<void>((try_one(each) || ...)); }, authenticators);
    if (found.standing != standing::known) return;

    // A user who is gone takes their credentials along; any other failure is ours, not the caller's.
    auto own = users.quota_of(found.who->user);
    if (own) {
        found.own_quota = *own;
    } else if (own.error().kind == problem_kind::not_found) {
        found.standing = standing::bad_credentials;
        found.who.reset();
    } else {
        found.standing = standing::undecided;
        found.who.reset();
        found.failure = std::move(own).error();
    }
}

/// 400 for two Authorization fields: which of them counts is not ours to choose.
[[nodiscard]] inline std::optional<refused> require_one_authorization(const judgement& found) noexcept {
    if (found.standing != standing::ambiguous) return std::nullopt;
    return refused{http::status::bad_request, "Send one Authorization header only.", about_authentication};
}

}  // namespace tollgate::pipeline

// <tollgate/pipeline/limit.hpp>

namespace tollgate::pipeline {

/// What requests are counted against when their caller has no quota of their own.
struct default_quotas {
    quota anonymous;
    quota user;
};

/// Counts the request: against the caller, whichever of their credentials it carries, else against the client's address.
/// One that was not judged for a fault of ours is not counted.
template <rate_limiter Limiter>
void count(Limiter& limiter, const default_quotas& defaults, judgement& found) {
    if (found.standing == standing::known)
        found.window = limiter.take(limit_key::of(found.who->user), found.own_quota.value_or(defaults.user), found.now);
    else if (found.standing == standing::undecided)
        found.window = limiter.peek(limit_key::of(found.client), defaults.anonymous, found.now);
    else
        found.window = limiter.take(limit_key::of(found.client), defaults.anonymous, found.now);
}

/// 429 for one that its window has no room for.
[[nodiscard]] inline std::optional<refused> require_room(const judgement& found) noexcept {
    if (found.window.admitted || found.standing == standing::undecided) return std::nullopt;
    return refused{http::status::too_many_requests, "API rate limit exceeded. Wait until the time in X-RateLimit-Reset.",
                   about_rate_limits};
}

}  // namespace tollgate::pipeline

// <tollgate/pipeline/read_body.hpp>

namespace tollgate::pipeline {

/// `application/json`, with no parameter but a charset of UTF-8 (RFC 8259 section 8.1 leaves no other).
[[nodiscard]] constexpr bool is_json_media_type(std::string_view content_type) noexcept {
    const auto end = content_type.find(';');
    if (!ascii_iequals(trim_ows(content_type.substr(0, end)), "application/json")) return false;
    if (end == std::string_view::npos) return true;
    const auto parameter = trim_ows(content_type.substr(end + 1));
    return parameter.empty() || ascii_iequals(parameter, "charset=utf-8") || ascii_iequals(parameter, "charset=\"utf-8\"");
}

/// 413 and 415: what can be said of a body without reading it. A body where none is expected is not looked at.
[[nodiscard]] inline std::optional<refused> check_body(const http::request& asked, bool reads_body) noexcept {
    if (asked.body_state == http::body_state::too_large)
        return refused{http::status::content_too_large, "The request's body is too large.", about_requests};
    if (!reads_body || asked.body.empty()) return std::nullopt;
    if (asked.fields.count(http::field_id::content_type) != 1 || !is_json_media_type(asked.fields.find(http::field_id::content_type)))
        return refused{http::status::unsupported_media_type, "Send the body with Content-Type: application/json.", about_requests};
    return std::nullopt;
}

}  // namespace tollgate::pipeline

// <tollgate/pipeline/run.hpp>

namespace tollgate::pipeline {

/// THE ORDER in which a request is judged, the cheapest refusal first; no other file knows more than one stage.
///
/// What is malformed never comes this far. The agent is looked at first, since a request without one is nobody's and so
/// counts against its address; the refusal itself comes behind the rate limit, so that an empty window says 429 to all.
template <class Api>
[[nodiscard]] std::optional<refused> judge(Api& api, const http::request& asked, judgement& found) {
    auto& policies = api.policies();
    const auto& settings = api.settings();

    found.now = policy(policies.clock).now();
    found.client = http::client_address(asked, settings.trusted_proxies);
    look_at_agent(policy(policies.agent_rule), asked, found);
    identify(policies.authenticators, api.store(), api.users(), asked, found);
    count(policy(policies.limiter), {settings.anonymous_quota, settings.user_quota}, found);

    if (auto no = require_room(found)) return no;
    if (auto no = require_agent_of(found)) return no;
    if (auto no = require_one_authorization(found)) return no;
    if (found.failure) return std::nullopt;
    if (auto no = find_route(policy(policies.router), api.lines(), settings.services, api.root(), asked, found)) return no;
    if (found.route.result != route_match::kind::found) return std::nullopt;
    const route_line& line = api.lines()[found.route.route];
    if (auto no = check_access(policy(policies.scope_checker), line.access, found)) return no;
    return check_body(asked, line.reads_body);
}

/// Answers a problem of an endpoint, a store or a directory: the message to the client, the cause to the observer.
template <class Api>
void answer_problem(Api& api, const problem& why, http::response& out) {
    const auto status = to_status(why.kind);
    if (to_number(status) >= 500) policy(api.policies().observer).on_problem(why);
    out.clear();
    if (status == http::status::service_unavailable) out.add("Retry-After", retry_after_unavailable_seconds);
    write_error(out, status, why.message, api.docs_url(), to_topic(status));
}

/// Answers what a stage stopped.
template <class Api>
void answer_refused(Api& api, const refused& no, const judgement& found, http::response& out) {
    switch (no.status) {
        case http::status::unauthorized: add_challenges(out, api.policies().authenticators, found); break;
        case http::status::forbidden:
            if (found.route.result == route_match::kind::found)
                add_insufficient_scope(out, required_scope(api.lines()[found.route.route].access, found));
            break;
        case http::status::method_not_allowed: add_allow(out, found.route.allowed); break;
        case http::status::too_many_requests:
            out.add("Retry-After", seconds_until(found.window.resets_at, found.now));
            break;
        default: break;
    }
    write_error(out, no.status, no.message, api.docs_url(), no.documentation);
}

/// Calls the endpoint and completes what it wrote.
template <class Api>
void answer_endpoint(Api& api, const http::request& asked, const judgement& found, http::response& out) {
    api_call<Api> call{api, asked, out, found.who ? &*found.who : nullptr, found.now};
    if (auto done = api.call_route(call, found.route, found.of_service); !done) return answer_problem(api, done.error(), out);
    const bool says_its_type = !out.field_block().empty() && !out.find("Content-Type").empty();
    if (!out.body().empty() && !says_its_type) out.add_prepared_lines(json_field_lines);
}

/// One request, from start to finish. May throw what an integrator's code or the heap throws: `account_api` catches it, and
/// answers with what was found out until then.
template <class Api>
void run(Api& api, const http::request& asked, judgement& found, http::response& out) {
    if (const auto no = judge(api, asked, found)) {
        answer_refused(api, *no, found, out);
    } else if (found.failure) {
        answer_problem(api, *found.failure, out);
    } else if (found.route.result == route_match::kind::other_method) {
        out.set_status(http::status::no_content);
        add_allow(out, found.route.allowed);
    } else {
        answer_endpoint(api, asked, found, out);
    }
    add_window(out, found.window);
    policy(api.policies().observer).on_request({asked, out, found.who ? &*found.who : nullptr, found.client, found.now});
}

/// What is left to say when something was thrown.
template <class Api>
void answer_thrown(Api& api, std::string_view what, const http::request& asked, judgement& found, http::response& out) {
    auto& policies = api.policies();
    answer_problem(api, internal_error(std::string{"thrown: "}.append(what)), out);
    if (found.window.limit == 0)
        found.window = policy(policies.limiter).peek(limit_key::of(asked.peer), api.settings().anonymous_quota, found.now);
    add_window(out, found.window);
    policy(policies.observer).on_request({asked, out, nullptr, found.client, found.now});
}

/// What a host refused by itself: worded as every other error, and not counted, for nobody knows what it was.
template <class Api>
void run(Api& api, const http::refusal& refusal, http::response& out) {
    auto& policies = api.policies();
    const auto now = policy(policies.clock).now();
    const auto window = policy(policies.limiter).peek(limit_key::of(refusal.peer), api.settings().anonymous_quota, now);
    if (refusal.status == http::status::service_unavailable) out.add("Retry-After", retry_after_unavailable_seconds);
    write_error(out, refusal.status, refusal.reason, api.docs_url(), to_topic(refusal.status));
    add_window(out, window);
    policy(policies.observer).on_refusal(refusal);
}

}  // namespace tollgate::pipeline

// <tollgate/api/route_description.hpp>

namespace tollgate {

/// A line of the table without its endpoint's type: what OpenAPI and the documentation tell of it. Of static storage.
struct route_description {
    enum class value_kind : std::uint8_t { service, id, text };

    struct parameter {
        std::string_view name;
        value_kind kind = value_kind::text;
    };

    http::method method = http::method::get;
    std::string_view path;
    access_rule access{};
    route_notes notes;
    std::vector<parameter> parameters;  ///< left to right
};

namespace detail {

template <class T>
inline constexpr bool is_id = false;
template <class Tag>
inline constexpr bool is_id<id<Tag>> = true;

template <class Route, std::size_t Index>
[[nodiscard]] constexpr route_description::parameter describe_parameter() noexcept {
    using parameter = pipeline::parameter_of<Route, Index>;
    using kind = route_description::value_kind;
    if (parameter::is_service) return {parameter::name, kind::service};
    return {parameter::name, is_id<typename parameter::type> ? kind::id : kind::text};
}

}  // namespace detail

/// All lines of a table, in its order.
template <class Table>
[[nodiscard]] std::vector<route_description> describe_routes(const Table& table) {
    std::vector<route_description> described;
    table.for_each([&]<class Route>(const Route& each) {
        route_description made{each.method, each.path, each.access, each.notes, {}};
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (made.parameters.push_back(detail::describe_parameter<Route, I>()), ...);
        }(std::make_index_sequence<Route::parameters.count>{});
        described.push_back(std::move(made));
    });
    return described;
}

/// A shape's example with an event that the API knows.
[[nodiscard]] inline std::string fill_example(const json_shape& shape, const service_catalog& services) {
    constexpr std::string_view place = "{event}";
    std::string filled{shape.example};
    const auto at = filled.find(place);
    if (at == std::string::npos) return filled;
    std::string_view event = "noun.verb";
    for (const service& each : services.services()) {
        if (each.events.empty()) continue;
        event = each.events.front();
        break;
    }
    return filled.replace(at, place.size(), event);
}

}  // namespace tollgate

// <tollgate/api/settings.hpp>

namespace tollgate {

/// What an account API has to be told.
struct api_settings {
    /// The API's root as its clients write it, its path ending in the version: `https://api.example.com/v1`.
    std::string base_url = {};
    /// Where people go, without a slash at its end: `https://example.com`; documentation is below it.
    std::string auth_url = {};
    /// The products, their events and so their scopes.
    service_catalog services = {};

    quota anonymous_quota{60, std::chrono::hours{1}};  ///< for one client address
    quota user_quota{1000, std::chrono::hours{24}};    ///< for one user, unless the directory knows of another

    /// Peers whose X-Forwarded-For and Forwarded fields are believed; from all others they are ignored.
    std::vector<ip_network> trusted_proxies = {};

    std::size_t hooks_per_event_max = limits::hooks_per_event_max;
};

/// The path of a URL such as `https://api.example.com/v1`, without a slash at its end.
[[nodiscard]] inline std::string path_of(std::string_view url) {
    const auto authority = url.find("://");
    const auto path = authority == std::string_view::npos ? authority : url.find('/', authority + 3);
    if (path == std::string_view::npos) return {};
    url.remove_prefix(path);
    while (url.ends_with('/')) url.remove_suffix(1);
    return std::string{url};
}

}  // namespace tollgate

// <tollgate/api/openapi.hpp>

namespace tollgate {

/// The API's description in OpenAPI 3.1, as JSON: every route with its parameters, bodies, required scopes, rate limit
/// fields and refusals. Made from the table, so that it cannot say anything else than what is served.
[[nodiscard]] TOLLGATE_DECL std::string make_openapi(const api_settings& settings, std::span<const route_description> routes);

template <class Table>
[[nodiscard]] std::string make_openapi(const api_settings& settings, const Table& table) {
    return make_openapi(settings, std::span<const route_description>{describe_routes(table)});
}

}  // namespace tollgate

// <tollgate/api/accounts_endpoint.hpp>

namespace tollgate {

/// The user's accounts at one service: a bare array.
template <user_directory Users>
[[nodiscard]] outcome<void> list_accounts(Users& users, user_id user, const service& at, http::json_writer out) {
    const auto found = users.accounts_of(user, at.name);
    if (!found) return found.error();
    out.begin_array();
    for (const account& each : *found) {
        out.begin_object();
        out.member("id").integer(each.id.value());
        out.member("name").string(each.name);
        out.member("admin").boolean(each.admin);
        out.end_object();
    }
    out.end_array();
    return {};
}

}  // namespace tollgate

// <tollgate/api/balance_endpoint.hpp>

namespace tollgate {

/// What the user has: the balance object.
template <user_directory Users>
[[nodiscard]] outcome<void> show_balance(Users& users, user_id user, http::json_writer out) {
    const auto found = users.balance_of(user);
    if (!found) return found.error();
    out.begin_object();
    out.member("id").integer(found->user.value());
    out.member("balance").number(found->amount.text());
    out.member("currency").string(found->currency);
    out.end_object();
    return {};
}

}  // namespace tollgate

// <tollgate/api/demonstration_endpoint.hpp>

namespace tollgate {

/// An array of strings, for programs that want to see whether they reach the API at all.
[[nodiscard]] inline outcome<void> show_strings(std::initializer_list<std::string_view> strings, http::json_writer out) {
    out.begin_array();
    for (const auto each : strings) out.string(each);
    out.end_array();
    return {};
}

}  // namespace tollgate

// <tollgate/api/hook_endpoints.hpp>

namespace tollgate {

/// The payload format of hooks that were made through the API.
inline constexpr std::string_view default_hook_type = "webhook";

/// Done exactly if the account is one of the user's; a 404 otherwise, the same for one that is not there at all.
template <user_directory Users>
[[nodiscard]] outcome<void> require_account(Users& users, user_id user, const account_ref& wanted) {
    const auto is_theirs = has_account(users, user, wanted);
    if (!is_theirs) return is_theirs.error();
    if (!*is_theirs) return not_found();
    return {};
}

/// The account's hooks: a bare array.
template <user_directory Users, hook_store Hooks>
[[nodiscard]] outcome<void> list_hooks(Users& users, Hooks& hooks, user_id user, const account_ref& of, http::json_writer out) {
    if (auto theirs = require_account(users, user, of); !theirs) return theirs;
    const auto found = hooks.hooks_of(of);
    if (!found) return found.error();
    out.begin_array();
    for (const hook& each : *found) {
        out.begin_object();
        out.member("id").integer(each.id.value());
        out.member("event").string(each.event);
        out.member("source").string(to_text(each.source));
        out.member("type").string(each.type);
        out.member("url").string(each.target_url);
        out.member("date_created").string(to_iso8601(each.created_at).view());
        out.end_object();
    }
    out.end_array();
    return {};
}

/// What a client asks for when it creates a hook.
struct hook_request {
    std::string event;
    std::string target_url;

    /// 422 for a member that is missing, no string, or no value that the service and the rule accept: the message names it.
    template <target_rule Rule>
    [[nodiscard]] static outcome<hook_request> read(const http::json_object& body, const service& at, const Rule& rule);
};

/// A member that has to be a string.
[[nodiscard]] inline outcome<std::string_view> required_text(const http::json_object& body, std::string_view name) {
    const auto* member = body.find(name);
    if (member == nullptr) return invalid(std::string{name} + " is missing.");
    if (member->kind != http::json_kind::text) return invalid(std::string{name} + " must be a string.");
    return std::string_view{member->value};
}

template <target_rule Rule>
outcome<hook_request> hook_request::read(const http::json_object& body, const service& at, const Rule& rule) {
    const auto event = required_text(body, "event");
    if (!event) return event.error();
    if (!at.has_event(*event)) return invalid("event is none of this service's events.");
    const auto target_url = required_text(body, "target_url");
    if (!target_url) return target_url.error();
    if (target_url->size() > limits::target_url_bytes_max) return invalid("target_url is longer than 2048 bytes.");
    const auto url = http::url::parse(*target_url);
    if (!url) return invalid("target_url is not an absolute http or https URL.");
    if (auto allowed = rule.check(*url); !allowed) return std::move(allowed).error();
    return hook_request{std::string{*event}, std::string{*target_url}};
}

/// A new hook of the account. Its secret is in `X-Hook-Secret` of this answer and in no other.
template <user_directory Users, hook_store Hooks, target_rule Rule, random_source Random>
[[nodiscard]] outcome<void> create_hook(Users& users, Hooks& hooks, const Rule& rule, const Random& random, user_id user,
                                        const service& at, account_id of, const outcome<http::json_object>& body, instant now,
                                        std::size_t hooks_per_event_max, http::response& out) {
    const account_ref account{at.name, of};
    if (!body) return body.error();
    if (auto theirs = require_account(users, user, account); !theirs) return theirs;
    auto wanted = hook_request::read(*body, at, rule);
    if (!wanted) return std::move(wanted).error();

    std::array<std::byte, hook_secret_random_bytes> entropy;
    if (!random.fill(entropy)) return internal_error("the random source gave nothing");
    const auto secret = make_hook_secret(entropy);
    const auto made = hooks.create_hook({.account = account,
                                         .event = std::move(wanted->event),
                                         .source = hook_source::api,
                                         .type = std::string{default_hook_type},
                                         .target_url = std::move(wanted->target_url),
                                         .secret = secret,
                                         .created_at = now},
                                        hooks_per_event_max);
    if (!made) return made.error();

    out.set_status(http::status::created);
    if (const auto value = http::field_value::from(secret)) out.add("X-Hook-Secret", *value);
    http::json_writer json{out.body()};
    json.begin_object();
    json.member("id").integer(made->value());
    json.end_object();
    return {};
}

/// Removes a hook of one of the user's accounts at this service. Any other is a 404, and lives on.
template <user_directory Users, hook_store Hooks>
[[nodiscard]] outcome<void> delete_hook(Users& users, Hooks& hooks, user_id user, const service& at, hook_id which,
                                        http::response& out) {
    const auto owner = hooks.account_of_hook(at.name, which);
    if (!owner) return owner.error();
    if (!*owner) return not_found();
    if (auto theirs = require_account(users, user, **owner); !theirs) return theirs;
    const auto deleted = hooks.delete_hook(**owner, which);
    if (!deleted) return deleted.error();
    if (!*deleted) return not_found();
    out.set_status(http::status::no_content);
    return {};
}

}  // namespace tollgate

// <tollgate/api/shapes.hpp>

/// What the account API sends and takes.
namespace tollgate::shapes {

inline constexpr json_shape balance{
    R"({"type":"object","required":["id","balance","currency"],"properties":{)"
    R"("id":{"type":"integer","format":"int64","description":"The user's id."},)"
    R"("balance":{"type":"number","description":"What the user has; read it as a decimal, not as a binary float."},)"
    R"("currency":{"type":"string","pattern":"^[A-Z]{3}$","description":"ISO 4217."}}})",
    R"({"id": 7, "balance": 1234.50, "currency": "EUR"})"};

inline constexpr json_shape accounts{
    R"({"type":"array","items":{"type":"object","required":["id","name","admin"],"properties":{)"
    R"("id":{"type":"integer","format":"int64"},"name":{"type":"string"},"admin":{"type":"boolean"}}}})",
    R"([{"id": 1, "name": "Corner shop", "admin": true}])"};

inline constexpr json_shape hooks{
    R"({"type":"array","items":{"type":"object","required":["id","event","source","type","url","date_created"],"properties":{)"
    R"("id":{"type":"integer","format":"int64"},"event":{"type":"string"},)"
    R"("source":{"type":"string","enum":["api","manual"],"description":"Made through the API, or on the settings page."},)"
    R"("type":{"type":"string","description":"The payload format."},)"
    R"("url":{"type":"string","description":"The target_url, byte for byte as it was given."},)"
    R"("date_created":{"type":"string","format":"date-time"}}}})",
    R"([
  {
    "id": 5,
    "event": "{event}",
    "source": "api",
    "type": "webhook",
    "url": "https://example.com/hook",
    "date_created": "2026-11-21T09:30:00Z"
  }
])"};

inline constexpr json_shape new_hook{
    R"({"type":"object","required":["event","target_url"],"properties":{)"
    R"("event":{"type":"string","description":"One of the service's events."},)"
    R"("target_url":{"type":"string","format":"uri","maxLength":2048,"description":"An http or https URL."}}})",
    R"({"event": "{event}", "target_url": "https://example.com/hook"})"};

inline constexpr json_shape created_hook{
    R"({"type":"object","required":["id"],"properties":{)"
    R"("id":{"type":"integer","format":"int64","description":"The new hook's id."}}})",
    R"({"id": 5})"};

inline constexpr json_shape strings{R"({"type":"array","items":{"type":"string"}})", R"(["hello", "from", "get"])"};

inline constexpr json_shape any_object{R"({"type":"object"})"};

}  // namespace tollgate::shapes

// <tollgate/api/routes.hpp>

namespace tollgate {

/// THE TABLE: method, path, who may call it, and what is called. Each endpoint gets only what it needs of the call.
[[nodiscard]] inline auto account_routes() {
    return route_table{
        on_get<"/user/balance">(
            needs_scope(balance_scope),
            [](auto& call) { return show_balance(call.users(), call.who().user, call.json()); },
            {.operation = "getBalance", .summary = "What the authenticated user has.", .success_body = shapes::balance}),

        on_get<"/{service}/accounts">(
            read_of_service,
            [](auto& call, const service& at) { return list_accounts(call.users(), call.who().user, at, call.json()); },
            {.operation = "listAccounts", .summary = "The user's accounts at a service.", .success_body = shapes::accounts}),

        on_get<"/{service}/{account}/hooks">(
            read_of_service,
            [](auto& call, const service& at, account_id of) {
                return list_hooks(call.users(), call.store(), call.who().user, {at.name, of}, call.json());
            },
            {.operation = "listHooks", .summary = "The webhooks of an account.", .success_body = shapes::hooks}),

        on_post<"/{service}/{account}/hooks">(
            read_of_service,
            [](auto& call, const service& at, account_id of) {
                return create_hook(call.users(), call.store(), call.target_rule(), call.random(), call.who().user, at, of,
                                   call.body(), call.now(), call.settings().hooks_per_event_max, call.answer());
            },
            {.operation = "createHook",
             .summary = "A new webhook; its signing secret comes in the X-Hook-Secret header.",
             .success_status = 201,
             .success_body = shapes::created_hook,
             .success_field = "X-Hook-Secret",
             .request_body = shapes::new_hook}),

        on_delete<"/{service}/hooks/{hook}">(
            read_of_service,
            [](auto& call, const service& at, hook_id which) {
                return delete_hook(call.users(), call.store(), call.who().user, at, which, call.answer());
            },
            {.operation = "deleteHook", .summary = "Removes a webhook.", .success_status = 204}),

        on_get<"/testservice/get">(
            open_to_all,
            [](auto& call) { return show_strings({"hello", "from", "get"}, call.json()); },
            {.operation = "tryGet", .summary = "Answers anybody.", .success_body = shapes::strings}),

        on_get<"/testservice/auth">(
            any_caller,
            [](auto& call) { return show_strings({"hello", "authenticated", "caller"}, call.json()); },
            {.operation = "tryAuthentication", .summary = "Answers whoever has good credentials.", .success_body = shapes::strings}),

        on_post<"/testservice/post">(
            open_to_all,
            [](auto& call) -> outcome<void> {
                if (!call.asked().body.empty())
                    if (const auto body = call.body(); !body) return body.error();
                return show_strings({"hello", "from", "post"}, call.json());
            },
            {.operation = "tryPost",
             .summary = "Answers anybody; a body is read, and ignored.",
             .success_body = shapes::strings,
             .request_body = shapes::any_object}),

        on_get<"/openapi.json">(
            open_to_all,
            [](auto& call) -> outcome<void> {
                call.answer().body() = call.openapi();
                return {};
            },
            {.operation = "getOpenApi", .summary = "This description, in OpenAPI 3.1.", .success_body = shapes::any_object}),
    };
}

}  // namespace tollgate

// <tollgate/api/account_api.hpp>

namespace tollgate {

namespace pipeline {

template <class Authenticators, class Store>
inline constexpr bool all_authenticate_over = false;
template <class... A, class Store>
inline constexpr bool all_authenticate_over<std::tuple<A...>, Store> = (authenticator_over<policy_type<A>, Store> && ...);

}  // namespace pipeline

/// Everything under `{base_url}`: a handler, to be hosted by `server` or by any other HTTP server.
///
///     account_api api{settings, users, store};
///     account_api api{settings, users, store, default_policies().with_limiter(night_limiter{})};
///     account_api api{settings, users, store, default_policies(), account_routes() + my_routes};
///
/// Users and store are the integrator's and must outlive it. Thread rule: `handle` may be called from many threads at once.
/// Blocking: exactly if the users, the store or the limiter block.
template <class Users, class Store, class Policies = decltype(default_policies()), class Table = decltype(account_routes())>
class account_api {
    static constexpr bool users_fit = user_directory<Users>;
    static constexpr bool store_fits = token_store<Store> && hook_store<Store>;
    static constexpr bool authenticators_fit =
        pipeline::all_authenticate_over<decltype(Policies::authenticators), Store>;
    static_assert(users_fit, "tollgate: this is no user_directory; read tollgate/contract/user_directory.hpp");
    static_assert(store_fits, "tollgate: this is no token_store and hook_store; read tollgate/contract/token_store.hpp and "
                              "tollgate/contract/hook_store.hpp");
    static_assert(!store_fits || authenticators_fit,
                  "tollgate: one of these is no authenticator over this store; read tollgate/contract/authenticator.hpp");
    static constexpr bool fits = users_fit && store_fits && authenticators_fit;

public:
    static constexpr bool blocking =
        http::handler_blocks<Users>() || http::handler_blocks<Store>() || http::handler_blocks<policy_type<decltype(Policies::limiter)>>();

    /// Throws std::invalid_argument for a base_url or auth_url that is no absolute URL.
    account_api(api_settings settings, Users& users, Store& store, Policies policies = default_policies(),
                Table table = account_routes());

    // Routes and endpoints point into it.
    account_api(const account_api&) = delete;
    account_api& operator=(const account_api&) = delete;

    void handle(const http::request& asked, http::response& out) noexcept;
    void handle(const http::refusal& refused, http::response& out) noexcept;

    /// For tests, and for hosts that have no response to use again.
    [[nodiscard]] http::response handle(const http::request& asked) noexcept {
        http::response out;
        handle(asked, out);
        return out;
    }

    /// The API's OpenAPI 3.1 description: what `{base_url}/openapi.json` answers with.
    [[nodiscard]] const std::string& openapi() const noexcept { return openapi_; }

    // What the pipeline and the endpoints read.
    [[nodiscard]] const api_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] Users& users() const noexcept { return users_; }
    [[nodiscard]] Store& store() const noexcept { return store_; }
    [[nodiscard]] Policies& policies() noexcept { return policies_; }
    [[nodiscard]] const Table& table() const noexcept { return table_; }
    [[nodiscard]] std::span<const pipeline::route_line> lines() const noexcept { return lines_; }
    [[nodiscard]] std::string_view root() const noexcept { return root_; }
    [[nodiscard]] std::string_view docs_url() const noexcept { return docs_url_; }

    /// Calls the endpoint that a router found.
    [[nodiscard]] outcome<void> call_route(api_call<account_api>& call, const route_match& match, const service* of_service) const;

private:
    void answer_thrown(std::string_view what, const http::request& asked, pipeline::judgement& found, http::response& out) noexcept;

    api_settings settings_;
    Users& users_;
    Store& store_;
    Policies policies_;
    Table table_;
    std::array<pipeline::route_line, Table::size> lines_;
    std::vector<route_pattern> patterns_;
    std::string root_;
    std::string docs_url_;
    std::string openapi_;
};

template <class Users, class Store, class Policies, class Table>
account_api<Users, Store, Policies, Table>::account_api(api_settings settings, Users& users, Store& store, Policies policies, Table table)
    : settings_{std::move(settings)},
      users_{users},
      store_{store},
      policies_{std::move(policies)},
      table_{std::move(table)},
      root_{path_of(settings_.base_url)},
      docs_url_{settings_.auth_url + "/docs/"} {
    for (const auto* url : {&settings_.base_url, &settings_.auth_url})
        if (!url->starts_with("https://") && !url->starts_with("http://"))
            throw std::invalid_argument{"tollgate: '" + *url + "' is no absolute http or https URL"};
    std::size_t next = 0;
    table_.for_each([&]<class Route>(const Route& each) {
        static_assert(pipeline::endpoint_fits<Route, api_call<account_api>> ||
                          std::is_same_v<decltype(Route::endpoint), pipeline::no_endpoint>,
                      "tollgate: an endpoint takes `auto& call` and one parameter for each name in braces of its path, and returns "
                      "outcome<void>; read tollgate/pipeline/route_table.hpp");
        lines_[next++] = pipeline::to_line(each);
        patterns_.push_back({each.method, each.path});
    });
    policy(policies_.router).build(patterns_);
    openapi_ = make_openapi(settings_, table_);
}

template <class Users, class Store, class Policies, class Table>
outcome<void> account_api<Users, Store, Policies, Table>::call_route(api_call<account_api>& call, const route_match& match,
                                                                      const service* of_service) const {
    using endpoint_call = outcome<void> (*)(const Table&, api_call<account_api>&, const route_match&, const service*);
    // One function a line of the table, found by its number.
    static constexpr auto calls = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<endpoint_call, sizeof...(I)>{
            [](const Table& table, api_call<account_api>& to, const route_match& found, const service* named) {
                const auto& each = std::get<I>(table.routes);
                using route_type = std::remove_cvref_t<decltype(each)>;
                return pipeline::call_endpoint(each, to, found, named,
                                               std::make_index_sequence<route_type::parameters.count>{});
            }...};
    }(std::make_index_sequence<Table::size>{});
    return calls[match.route](table_, call, match, of_service);
}

template <class Users, class Store, class Policies, class Table>
void account_api<Users, Store, Policies, Table>::handle(const http::request& asked, http::response& out) noexcept {
    if constexpr (fits) {
        pipeline::judgement found;
        try {
            pipeline::run(*this, asked, found, out);
        } catch (const std::exception& thrown) {
            answer_thrown(thrown.what(), asked, found, out);
        } catch (...) {
            answer_thrown("something that is no std::exception", asked, found, out);
        }
    }
}

template <class Users, class Store, class Policies, class Table>
void account_api<Users, Store, Policies, Table>::handle(const http::refusal& refused, http::response& out) noexcept {
    if constexpr (fits) {
        try {
            pipeline::run(*this, refused, out);
        } catch (...) {
            // Only the heap throws here: without it there is a status, and nothing to say it with.
            out.clear();
            out.set_status(refused.status);
        }
    }
}

template <class Users, class Store, class Policies, class Table>
void account_api<Users, Store, Policies, Table>::answer_thrown(std::string_view what, const http::request& asked,
                                                               pipeline::judgement& found, http::response& out) noexcept {
    try {
        pipeline::answer_thrown(*this, what, asked, found, out);
    } catch (...) {
        out.clear();
        out.set_status(http::status::internal_server_error);
    }
}

}  // namespace tollgate

// <tollgate/api/documentation.hpp>

namespace tollgate {

/// The API's documentation for people, under `{auth_url}/docs/`: a handler of its own, and where every Error object leads.
///
///     api_documentation documentation{api.settings(), api.table()};
///     http::site site{http::mounted(documentation.root(), documentation), http::mounted("", api)};
///
/// What it says of services, scopes, limits and routes is read from what the API runs with. Pages are rendered once, when
/// it is made; after that nothing changes, so `handle` may be called from many threads at once. No page has a script.
class api_documentation {
public:
    TOLLGATE_DECL api_documentation(const api_settings& settings, std::span<const route_description> routes);

    template <class Table>
    api_documentation(const api_settings& settings, const Table& table)
        : api_documentation{settings, std::span<const route_description>{describe_routes(table)}} {}

    TOLLGATE_DECL void handle(const http::request& asked, http::response& out) const noexcept;
    TOLLGATE_DECL void handle(const http::refusal& refused, http::response& out) const noexcept;

    /// Where it is mounted: the path of `auth_url`, and `/docs`.
    [[nodiscard]] const std::string& root() const noexcept { return root_; }

private:
    struct page {
        std::string path;
        std::string_view field_lines;
        std::string body;
    };

    TOLLGATE_DECL void answer(const http::request& asked, http::response& out) const;

    std::string root_;
    std::vector<page> pages_;
    std::string not_found_;
    std::string method_not_allowed_;
};

static_assert(http::handler<api_documentation>);

}  // namespace tollgate

// <tollgate/api/documentation_pages.hpp>

namespace tollgate::documentation {

class page_writer;

/// One page: where it is, what it is called, and how the overview leads to it.
struct page_entry {
    std::string_view slug;  ///< `{auth_url}/docs/{slug}/`; empty for the overview
    std::string_view title;
    std::string_view summary;
    void (page_writer::*write)();
};

/// Renders whole pages. Every text that is no literal is escaped, for settings and tables are the integrator's.
class page_writer {
public:
    page_writer(const api_settings& settings, std::span<const route_description> routes, std::string_view root)
        : settings_{settings}, routes_{routes}, root_{root} {}

    [[nodiscard]] TOLLGATE_DECL std::string write(const page_entry& page);
    [[nodiscard]] TOLLGATE_DECL std::string write_error(std::string_view title, std::string_view explanation);

    TOLLGATE_DECL void write_overview();
    TOLLGATE_DECL void write_requests();
    TOLLGATE_DECL void write_authentication();
    TOLLGATE_DECL void write_scopes();
    TOLLGATE_DECL void write_rate_limits();
    TOLLGATE_DECL void write_errors();
    TOLLGATE_DECL void write_webhooks();
    TOLLGATE_DECL void write_endpoints();

private:
    TOLLGATE_DECL void begin_page(std::string_view slug, std::string_view title);
    TOLLGATE_DECL void end_page();
    TOLLGATE_DECL void begin_table(std::initializer_list<std::string_view> columns);
    TOLLGATE_DECL void end_table();
    TOLLGATE_DECL void write_operation(const route_description& of);
    TOLLGATE_DECL void write_access(const access_rule& access);
    TOLLGATE_DECL void write_parameters(const route_description& of);
    TOLLGATE_DECL void write_curl(const route_description& of);
    TOLLGATE_DECL void write_example(const json_shape& shape);

    /// The first line of the table that `wanted` is true of; null when there is none.
    template <class Wanted>
    [[nodiscard]] const route_description* find_route(Wanted&& wanted) const {
        for (const auto& each : routes_)
            if (wanted(each)) return &each;
        return nullptr;
    }

    const api_settings& settings_;
    std::span<const route_description> routes_;
    std::string_view root_;
    std::string out_;
    http::html_writer html_{out_};
};

/// All pages in the order of the navigation. The slugs are those of `pipeline::topic`, and a few more.
inline constexpr std::array page_entries = {
    page_entry{"", "Overview", "What the API is, and a first request.", &page_writer::write_overview},
    page_entry{"requests", "Requests", "Addresses, header fields, bodies and formats.", &page_writer::write_requests},
    page_entry{"authentication", "Authentication", "Personal API tokens and OAuth access tokens.", &page_writer::write_authentication},
    page_entry{"scopes", "Scopes", "What a token may do.", &page_writer::write_scopes},
    page_entry{"rate-limits", "Rate limits", "How much may be asked, and how to keep count.", &page_writer::write_rate_limits},
    page_entry{"errors", "Errors", "Every status, and what to do about it.", &page_writer::write_errors},
    page_entry{"webhooks", "Webhooks", "Creating, listing and deleting them.", &page_writer::write_webhooks},
    page_entry{"endpoints", "Endpoints", "Every path with its parameters and examples.", &page_writer::write_endpoints},
};

}  // namespace tollgate::documentation

// <tollgate/api/documentation_style.hpp>

namespace tollgate::documentation {

/// One sheet for all pages: light and dark as the reader's system is, every text with a contrast of 4.5 to 1 or more.
inline constexpr std::string_view style_sheet = R"(:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f5f7fa; --line: #dbe1e8; --ink: #17202a; --quiet: #56626f; --accent: #0a5a9c;
  --get: #0b6b46; --post: #0a5a9c; --delete: #a61b29; --change: #805300;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11161c; --panel: #1a212a; --line: #2f3944; --ink: #e4e9ef; --quiet: #a0acb9; --accent: #7fbdf5;
    --get: #6fd3a5; --post: #7fbdf5; --delete: #ff9aa2; --change: #e8bd6b;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.65 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper); z-index: 1; }

body > header { border-bottom: 1px solid var(--line); background: var(--panel); }
body > header > div, .columns { max-width: 74rem; margin: 0 auto; padding: 0 1.5rem; }
body > header > div { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; padding-block: .9rem; }
.name { color: var(--ink); font-weight: 650; text-decoration: none; letter-spacing: -.01em; }
.address { color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: .15rem; list-style: none; margin: 0 -.7rem; padding: 1rem 0 0; }
nav li { margin: 0; }
nav a { display: block; padding: .3rem .7rem; border-radius: .4rem; color: var(--ink); text-decoration: none; }
nav a:hover { background: var(--panel); }
nav a[aria-current] { background: var(--panel); color: var(--accent); font-weight: 600; }
main { min-width: 0; padding: 1rem 0 3rem; }
body > footer { border-top: 1px solid var(--line); color: var(--quiet); font-size: .875rem; }
body > footer p { max-width: 74rem; margin: 0 auto; padding: 1.25rem 1.5rem; }
@media (min-width: 56rem) {
  .columns { display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: 3.5rem; }
  nav ul { flex-direction: column; position: sticky; top: 0; padding-top: 2.6rem; margin-right: 0; }
  main { padding-top: 1.6rem; }
}

h1, h2, h3 { line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; }
h1 { font-size: 2rem; margin: .6rem 0 .8rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .7rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul, ol, dl { margin: 0 0 1rem; max-width: 44rem; }
li { margin: .25rem 0; }
.lead { font-size: 1.15rem; color: var(--quiet); }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
code { background: var(--panel); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1rem; margin: 0 0 1.2rem;
  overflow-x: auto; line-height: 1.55; }
pre code { background: none; padding: 0; font-size: inherit; overflow-wrap: normal; }
pre.answer { background: none; }
pre + pre.answer { margin-top: -.5rem; }

.table { overflow-x: auto; margin: 0 0 1.4rem; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-weight: 600; font-size: .85rem; }
tbody th { font-weight: 600; }
td > code { white-space: nowrap; }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .4rem 1.5rem; }
dl.facts dt { color: var(--quiet); }
dl.facts dd { margin: 0; }
ul.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .9rem; max-width: none; padding: 0;
  list-style: none; }
ul.cards a { display: block; height: 100%; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .6rem;
  color: var(--ink); text-decoration: none; }
ul.cards a:hover { border-color: var(--accent); }
ul.cards strong { display: block; color: var(--accent); }
ul.cards span { color: var(--quiet); font-size: .925rem; }

.operation { border-top: 1px solid var(--line); margin-top: 2.4rem; }
.operation h2 { margin: 1.6rem 0 .5rem; font-size: 1.1rem; font-weight: 600; display: flex; flex-wrap: wrap; gap: .6rem;
                align-items: baseline; }
.operation h2 code { background: none; padding: 0; font-size: 1em; }
.method { font: 700 .75rem/1.6 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; border: 1px solid; border-radius: .3rem;
  padding: 0 .4rem; letter-spacing: .03em; }
.method.get { color: var(--get); }
.method.post { color: var(--post); }
.method.delete { color: var(--delete); }
.method.put, .method.patch { color: var(--change); }
@media print {
  nav, .skip { display: none; }
  pre { white-space: pre-wrap; }
}
)";

}  // namespace tollgate::documentation

// <tollgate/api/documentation_text.hpp>

/// Values as people read them.
namespace tollgate::documentation {

/// `1,000`: as people write it.
[[nodiscard]] inline std::string with_separators(std::uint64_t number) {
    auto digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

[[nodiscard]] inline std::string describe_window(seconds window) {
    switch (window.count()) {
        case 1: return "second";
        case 60: return "minute";
        case 60 * 60: return "hour";
        case 24 * 60 * 60: return "day";
        default: return with_separators(static_cast<std::uint64_t>(window.count())) + " seconds";
    }
}

[[nodiscard]] inline std::string describe(const quota& of) {
    return with_separators(of.requests) + (of.requests == 1 ? " request per " : " requests per ") + describe_window(of.window);
}

/// A path that can be asked for as it stands: real services, and numbers where ids go.
[[nodiscard]] inline std::string sample_path(const route_description& of, const service_catalog& services) {
    std::string path{of.path};
    for (const auto& each : of.parameters) {
        const auto place = std::string{"{"}.append(each.name).append("}");
        std::string_view value = "name";
        if (each.kind == route_description::value_kind::id) value = "1";
        if (each.kind == route_description::value_kind::service && !services.services().empty())
            value = services.services().front().name;
        path.replace(path.find(place), place.size(), value);
    }
    return path;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) c = ascii_lower(c);
    return lower;
}

/// What a link to a route names: no two lines of a table have the same method and path.
[[nodiscard]] inline std::string anchor_of(const route_description& route) {
    if (!route.notes.operation.empty()) return std::string{route.notes.operation};
    return lower_case(http::to_text(route.method)).append(route.path);
}

}  // namespace tollgate::documentation

// <tollgate/oauth/failure.hpp>

namespace tollgate::oauth {

/// The error codes of RFC 6749 (sections 4.1.2.1 and 5.2).
enum class error : std::uint8_t {
    invalid_request,
    invalid_client,
    invalid_grant,
    invalid_scope,
    unauthorized_client,
    unsupported_grant_type,
    unsupported_response_type,
    access_denied,
    server_error,
    temporarily_unavailable,
};

[[nodiscard]] constexpr std::string_view to_text(error code) noexcept {
    switch (code) {
        case error::invalid_request: return "invalid_request";
        case error::invalid_client: return "invalid_client";
        case error::invalid_grant: return "invalid_grant";
        case error::invalid_scope: return "invalid_scope";
        case error::unauthorized_client: return "unauthorized_client";
        case error::unsupported_grant_type: return "unsupported_grant_type";
        case error::unsupported_response_type: return "unsupported_response_type";
        case error::access_denied: return "access_denied";
        case error::server_error: return "server_error";
        case error::temporarily_unavailable: return "temporarily_unavailable";
    }
    return "server_error";
}

/// Why a step stops: the code for the program, a sentence for the person who writes it. Without quote and backslash, which
/// error_description must not hold.
struct failure {
    error code = error::server_error;
    std::string description;
};

}  // namespace tollgate::oauth

// <tollgate/oauth/parameters.hpp>

namespace tollgate::oauth {

/// The parameters of an OAuth request, from a query, a form or a JSON object. One sent without a value counts as not sent
/// (RFC 6749 section 3.1).
class parameters {
public:
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_query(const http::request& asked);

    /// A form or a JSON object, as the Content-Type says; in JSON a value is a string or a number. Everything else, and
    /// bytes that are neither, is an invalid_request.
    [[nodiscard]] static TOLLGATE_DECL std::variant<parameters, failure> from_body(const http::request& asked);

    /// None when it was not sent. Of one that was sent twice, the first: ask `repeated` before trusting it.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string> find(std::string_view name) const;

    /// A name that was sent more than once, which no request may do (RFC 6749 section 3.1); empty if there is none.
    [[nodiscard]] TOLLGATE_DECL std::string_view repeated() const noexcept;
    [[nodiscard]] TOLLGATE_DECL bool is_repeated(std::string_view name) const noexcept;

private:
    explicit parameters(std::vector<http::form_member> sent) noexcept : sent_{std::move(sent)} {}

    static TOLLGATE_DECL std::variant<parameters, failure> from_form(std::string_view bytes);

    std::vector<http::form_member> sent_;
};

}  // namespace tollgate::oauth

// <tollgate/oauth/pkce.hpp>

namespace tollgate::oauth {

/// Proof Key for Code Exchange (RFC 7636), with S256 alone: `plain` protects from nobody who saw the request.
inline constexpr std::string_view challenge_method = "S256";

/// A code_challenge of S256 is the base64url of 32 bytes: 43 characters (section 4.2).
[[nodiscard]] inline bool is_code_challenge(std::string_view text) {
    const auto decoded = base64url_decode(text);
    return decoded && decoded->size() == digest::size_bytes;
}

/// 43 to 128 unreserved characters (section 4.1).
[[nodiscard]] constexpr bool is_code_verifier(std::string_view text) noexcept {
    if (text.size() < 43 || text.size() > 128) return false;
    for (char c : text)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~'))
            return false;
    return true;
}

[[nodiscard]] inline std::string challenge_of(std::string_view verifier) { return base64url_encode(sha256(verifier).raw()); }

}  // namespace tollgate::oauth

// <tollgate/oauth/redirect.hpp>

namespace tollgate::oauth {

/// Whether `redirect_uri` is the registered one: byte for byte (RFC 6749 section 3.1.2.3, RFC 9700 section 2.1), except that
/// the port of an `http` loopback address may be any (RFC 8252 section 7.3): a program on a person's machine takes the one
/// that is free.
[[nodiscard]] TOLLGATE_DECL bool matches_registered(std::string_view registered, std::string_view redirect_uri);

/// Whether `redirect_uri` may be used by an application that registered none: an absolute URL without fragment or user info,
/// with the origin of the application's website.
[[nodiscard]] TOLLGATE_DECL bool matches_website(std::string_view website, std::string_view redirect_uri);

/// Where the browser goes back to, if that can be told safely: what the request asks for where the application allows it, or
/// the registered URL where the request asks for nothing. None: the person is shown a page, and not sent anywhere.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> choose_redirect(const application& client,
                                                                       const std::optional<std::string>& redirect_uri);

/// `url` with these parameters behind its own query, percent-encoded, in this order.
[[nodiscard]] TOLLGATE_DECL std::string with_parameters(
    std::string_view url, const std::vector<std::pair<std::string_view, std::string_view>>& parameters);

}  // namespace tollgate::oauth

// <tollgate/oauth/authorization_request.hpp>

namespace tollgate::oauth {

/// An authorization request that may be shown to the person it is about (RFC 6749 section 4.1.1).
struct authorization_request {
    application client;
    std::string redirect;                     ///< where the browser goes back to
    std::optional<std::string> redirect_uri;  ///< as sent; the exchange has to say the same
    scope_set scopes;
    std::optional<std::string> state;
    std::optional<std::string> code_challenge;
};

/// A request that cannot be answered by a redirect, because where to is just what is wrong: a page says so (section 4.1.2.1).
struct page_failure {
    std::string message;
};

/// A request that is answered by a redirect with an error.
struct redirect_failure {
    std::string redirect;
    failure why;
    std::optional<std::string> state;
};

using judged_request = std::variant<authorization_request, page_failure, redirect_failure>;

/// Reads and judges an authorization request: the client and the redirect first, for only they say where errors go.
template <application_store Applications>
[[nodiscard]] outcome<judged_request> judge_request(const parameters& sent, Applications& applications, const service_catalog& services);

namespace detail {

/// What a request asks for, once it is known where its answer goes.
[[nodiscard]] inline std::variant<authorization_request, failure> read_wishes(const parameters& sent, application client,
                                                                              std::string redirect, const service_catalog& services) {
    if (const auto name = sent.repeated(); !name.empty())
        return failure{error::invalid_request, std::string{name} + " was sent more than once."};
    const auto response_type = sent.find("response_type");
    if (!response_type) return failure{error::invalid_request, "response_type is missing."};
    if (*response_type != "code") return failure{error::unsupported_response_type, "response_type must be code."};

    const auto scope = sent.find("scope");
    if (!scope) return failure{error::invalid_request, "scope is missing."};
    const auto scopes = scope_set::parse(*scope);
    if (!scopes || scopes->empty() || !scopes->for_each([&](std::string_view each) { return services.has_scope(each); }))
        return failure{error::invalid_scope, "scope names one that there is not."};

    const auto challenge = sent.find("code_challenge");
    const auto method = sent.find("code_challenge_method");
    if (challenge ? method != challenge_method || !is_code_challenge(*challenge) : method.has_value())
        return failure{error::invalid_request, "code_challenge must be a base64url SHA-256, with code_challenge_method S256."};

    return authorization_request{std::move(client), std::move(redirect), sent.find("redirect_uri"), *scopes, sent.find("state"), challenge};
}

}  // namespace detail

template <application_store Applications>
outcome<judged_request> judge_request(const parameters& sent, Applications& applications, const service_catalog& services) {
    const auto client_id = sent.find("client_id");
    if (!client_id || sent.is_repeated("client_id"))
        return judged_request{page_failure{"The request does not say which application sent it."}};
    auto client = applications.find_application(*client_id);
    if (!client) return std::move(client).error();
    if (!*client) return judged_request{page_failure{"There is no such application."}};

    auto redirect = sent.is_repeated("redirect_uri") ? std::nullopt : choose_redirect(**client, sent.find("redirect_uri"));
    if (!redirect) return judged_request{page_failure{"The application asks to send you to an address that it did not register."}};

    auto state = sent.is_repeated("state") ? std::nullopt : sent.find("state");
    auto read = detail::read_wishes(sent, std::move(**client), *redirect, services);
    if (auto* why = std::get_if<failure>(&read))
        return judged_request{redirect_failure{std::move(*redirect), std::move(*why), std::move(state)}};
    return judged_request{std::get<authorization_request>(std::move(read))};
}

}  // namespace tollgate::oauth

// <tollgate/oauth/client_authentication.hpp>

namespace tollgate::oauth {

/// What a client shows to prove who it is (RFC 6749 section 2.3.1).
struct client_credentials {
    std::string client_id;
    std::string client_secret;
    bool over_basic = false;  ///< came in the Authorization field: a failure is answered with a challenge

    friend bool operator==(const client_credentials&, const client_credentials&) = default;
};

/// Takes the credentials from the Authorization field, where both parts are form-encoded, or from the body. Both at once
/// are fine if they say the same.
[[nodiscard]] TOLLGATE_DECL std::variant<client_credentials, failure> read_credentials(const http::request& asked,
                                                                                        const parameters& sent);

/// The application that these are the credentials of; none if they are nobody's. A secret that is no secret of ours is
/// refused without asking the store.
template <application_store Applications>
[[nodiscard]] outcome<std::optional<application>> authenticate_client(const client_credentials& shown, Applications& applications) {
    if (!is_well_formed(secret_kind::client_secret, shown.client_secret)) return std::optional<application>{};
    auto found = applications.find_application(shown.client_id);
    if (!found) return found;
    if (*found && (*found)->secret_digest != digest_of(shown.client_secret)) return std::optional<application>{};
    return found;
}

}  // namespace tollgate::oauth

// <tollgate/oauth/settings.hpp>

namespace tollgate {

/// What an authorization server has to be told.
struct oauth_settings {
    std::string auth_url;      ///< without a slash at its end; also the issuer (RFC 8414, RFC 9207): `https://example.com`
    service_catalog services;  ///< whose scopes can be asked for

    seconds code_lifetime{60};                                ///< RFC 6749 asks for ten minutes at most; a redirect takes one
    seconds access_token_lifetime{3600};
    seconds refresh_token_lifetime{std::chrono::days{30}};    ///< from its last use on
    seconds refresh_token_end{std::chrono::days{365}};        ///< from its making on, however often it is used

    /// Failed client authentications from one address: the API's anonymous window, which they share.
    quota anonymous_quota{60, std::chrono::hours{1}};
    std::vector<ip_network> trusted_proxies;
};

}  // namespace tollgate

// <tollgate/oauth/token_endpoint.hpp>

namespace tollgate::oauth {

/// What a client gets (RFC 6749 section 5.1). The only place where these texts ever are.
struct token_response {
    secret_text access_token;
    seconds expires_in{};
    scope_set scopes;
    std::optional<secret_text> refresh_token;  ///< of a code exchange only

    void write(http::json_writer out) const;
};

using judged_exchange = std::variant<token_response, failure>;

/// A new secret; none without random bytes.
template <random_source Random>
[[nodiscard]] std::optional<secret_text> new_secret(secret_kind kind, const Random& random) {
    std::array<std::byte, 32> bytes;
    if (!random.fill(bytes)) return std::nullopt;
    const auto made = make_secret(kind, bytes);
    secure_wipe(bytes);
    return made;
}

[[nodiscard]] inline problem no_random_bytes() { return internal_error("the random source gave nothing"); }

/// grant_type=authorization_code (RFC 6749 section 4.1.3): a code for a pair of tokens, in one verb of the store.
template <grant_store Grants, random_source Random>
[[nodiscard]] outcome<judged_exchange> exchange_code(const parameters& sent, const application& client, Grants& grants,
                                                     const Random& random, const oauth_settings& settings, instant now) {
    const auto code = sent.find("code");
    if (!code) return judged_exchange{failure{error::invalid_request, "code is missing."}};
    const auto verifier = sent.find("code_verifier");
    if (verifier && !is_code_verifier(*verifier))
        return judged_exchange{failure{error::invalid_grant, "code_verifier is no verifier of RFC 7636."}};
    if (!is_well_formed(secret_kind::authorization_code, *code))
        return judged_exchange{failure{error::invalid_grant, "The code is not good, not any more, or not for this."}};

    const auto access = new_secret(secret_kind::access_token, random);
    const auto refresh = new_secret(secret_kind::refresh_token, random);
    if (!access || !refresh) return no_random_bytes();
    const auto redeemed = grants.redeem_code({
        .code_digest = digest_of(*code),
        .application = client.id,
        .redirect_uri = sent.find("redirect_uri"),
        .code_challenge = verifier ? std::optional{challenge_of(*verifier)} : std::nullopt,
        .now = now,
        .tokens = {.access_digest = digest_of(*access),
                   .access_expires_at = now + settings.access_token_lifetime,
                   .refresh_digest = digest_of(*refresh),
                   .refresh_expires_at = now + settings.refresh_token_lifetime,
                   .refresh_ends_at = now + settings.refresh_token_end},
    });
    if (!redeemed) return redeemed.error();
    // One answer to all of it: which one it was is of use to nobody but whoever stole a code.
    if (redeemed->result != redemption_result::redeemed)
        return judged_exchange{failure{error::invalid_grant, "The code is not good, not any more, or not for this."}};
    return judged_exchange{token_response{*access, settings.access_token_lifetime, redeemed->scopes, *refresh}};
}

/// grant_type=refresh_token (RFC 6749 section 6): a new access token; the refresh token stays as it is.
template <grant_store Grants, random_source Random>
[[nodiscard]] outcome<judged_exchange> refresh_tokens(const parameters& sent, const application& client, Grants& grants,
                                                      const Random& random, const oauth_settings& settings, instant now) {
    const auto token = sent.find("refresh_token");
    if (!token) return judged_exchange{failure{error::invalid_request, "refresh_token is missing."}};
    std::optional<scope_set> narrowed;
    if (const auto scope = sent.find("scope")) {
        narrowed = scope_set::parse(*scope);
        if (!narrowed || narrowed->empty()) return judged_exchange{failure{error::invalid_scope, "scope names one that there is not."}};
    }
    constexpr auto not_good = "The refresh token is not good, or not any more.";
    if (!is_well_formed(secret_kind::refresh_token, *token)) return judged_exchange{failure{error::invalid_grant, not_good}};

    const auto access = new_secret(secret_kind::access_token, random);
    if (!access) return no_random_bytes();
    const auto refreshed = grants.refresh_access_token({.refresh_digest = digest_of(*token),
                                                        .application = client.id,
                                                        .narrowed = narrowed,
                                                        .now = now,
                                                        .access_digest = digest_of(*access),
                                                        .access_expires_at = now + settings.access_token_lifetime,
                                                        .refresh_lifetime = settings.refresh_token_lifetime});
    if (!refreshed) return refreshed.error();
    switch (refreshed->result) {
        case refresh_result::refreshed: break;
        case refresh_result::unknown: return judged_exchange{failure{error::invalid_grant, not_good}};
        case refresh_result::too_wide: return judged_exchange{failure{error::invalid_scope, "scope asks for more than was granted."}};
    }
    return judged_exchange{token_response{*access, settings.access_token_lifetime, refreshed->scopes, std::nullopt}};
}

/// Whatever grant_type says (RFC 6749 section 3.2).
template <grant_store Grants, random_source Random>
[[nodiscard]] outcome<judged_exchange> issue_tokens(const parameters& sent, const application& client, Grants& grants,
                                                    const Random& random, const oauth_settings& settings, instant now) {
    const auto grant_type = sent.find("grant_type");
    if (!grant_type) return judged_exchange{failure{error::invalid_request, "grant_type is missing."}};
    if (*grant_type == "authorization_code") return exchange_code(sent, client, grants, random, settings, now);
    if (*grant_type == "refresh_token") return refresh_tokens(sent, client, grants, random, settings, now);
    return judged_exchange{failure{error::unsupported_grant_type, "grant_type must be authorization_code or refresh_token."}};
}

inline void token_response::write(http::json_writer out) const {
    out.begin_object();
    out.member("access_token").string(access_token);
    out.member("expires_in").integer(expires_in.count());
    out.member("token_type").string("bearer");
    out.member("scope").string(scopes.text());
    if (refresh_token) out.member("refresh_token").string(*refresh_token);
    out.end_object();
}

}  // namespace tollgate::oauth

// <tollgate/store/contained.hpp>

namespace tollgate::detail {

/// Runs a verb of a store, which throws nothing: what the standard library throws inside, memory that is not to be had
/// above all, becomes a problem (unavailable). Verbs are written so that nothing is half done then.
template <class Verb>
[[nodiscard]] std::invoke_result_t<Verb&> contained(Verb&& verb) noexcept {
    try {
        return verb();
    } catch (...) {
        problem why{problem_kind::unavailable, {}, {}};
        try {
            why = unavailable("out of memory, or of another resource of the process");
        } catch (...) {  // not even for the text: the kind says enough
        }
        return why;
    }
}

}  // namespace tollgate::detail

// <tollgate/store/keyed_hash.hpp>

namespace tollgate {

/// A hash whose values nobody outside can foresee, because each table draws its own key: names that a client chooses
/// cannot be made to share one bucket. The construction is wyhash's: multiply 64 by 64 bits, fold the halves.
class keyed_hash {
public:
    /// Draws a key from the system; throws what std::random_device does when there is no randomness.
    TOLLGATE_DECL keyed_hash();

    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        std::uint64_t state = keys_[0];
        const char* next = text.data();
        std::size_t left = text.size();
        for (; left > block_bytes; next += block_bytes, left -= block_bytes) state = absorb(state, next);
        char last[block_bytes]{};
        if (left != 0) std::memcpy(last, next, left);
        return finish(absorb(state, last), text.size());
    }

    template <class Tag>
    [[nodiscard]] std::size_t operator()(id<Tag> named) const noexcept {
        const auto value = static_cast<std::uint64_t>(named.value());
        return finish(fold(value ^ keys_[1], keys_[0]), sizeof value);
    }

    /// Nobody chooses the bits of a SHA-256.
    [[nodiscard]] std::size_t operator()(const digest& of) const noexcept { return std::hash<digest>{}(of); }

private:
    static constexpr std::size_t block_bytes = 16;

    [[nodiscard]] std::uint64_t absorb(std::uint64_t state, const char* block) const noexcept {
        std::uint64_t words[2];
        std::memcpy(words, block, sizeof words);
        return fold(words[0] ^ keys_[1], words[1] ^ state);
    }

    /// The size comes in here, out of reach of the text: zeros that fill up a block are not zeros of the text.
    [[nodiscard]] std::size_t finish(std::uint64_t state, std::size_t size_bytes) const noexcept {
        return static_cast<std::size_t>(fold(state ^ keys_[2], keys_[1] ^ size_bytes));
    }

    [[nodiscard]] static std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__SIZEOF_INT128__)
        __extension__ using wide = unsigned __int128;
        const wide product = static_cast<wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
        constexpr std::uint64_t low_half = 0xffff'ffff;
        const std::uint64_t low = (a & low_half) * (b & low_half), high = (a >> 32) * (b >> 32);
        const std::uint64_t cross = (a >> 32) * (b & low_half), other = (a & low_half) * (b >> 32);
        const std::uint64_t middle = (low >> 32) + (cross & low_half) + (other & low_half);
        return ((low & low_half) | (middle << 32)) ^ (high + (cross >> 32) + (other >> 32) + (middle >> 32));
#endif
    }

    std::uint64_t keys_[3];
};

}  // namespace tollgate

// <tollgate/store/memory/sharded_table.hpp>

namespace tollgate {

/// A table that is read from many threads at once: cut into shards that each have a lock of their own, held only while
/// one row is looked at. A look-up allocates nothing.
///
/// `Key`: anything `keyed_hash` takes; a look-up may use another such type that compares with it.
/// Thread rule: any thread; what is called with a row must not come back to the table.
template <class Key, class Row>
class sharded_table {
public:
    /// What `use(const Row*)` gives; null when there is no such row. The row stays as it is until `use` returns.
    template <class LookUp, class Use>
    auto with(const LookUp& key, Use&& use) const {
        const probe<LookUp> sought{key, hash_(key)};
        const shard& in = shards_[index(sought.hash)];
        const std::scoped_lock lock{in.mutex};
        const auto found = in.rows.find(sought);
        return use(found == in.rows.end() ? nullptr : &found->second);
    }

    /// False, and unchanged, when there is such a row already.
    bool insert(const Key& key, Row row) {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        return in.rows.try_emplace(hashed_key{key, hash}, std::move(row)).second;
    }

    /// Whether there was one.
    bool erase(const Key& key) noexcept {
        const probe<Key> sought{key, hash_(key)};
        shard& in = shards_[index(sought.hash)];
        const std::scoped_lock lock{in.mutex};
        const auto found = in.rows.find(sought);
        if (found == in.rows.end()) return false;
        in.rows.erase(found);
        return true;
    }

private:
    // 64: with as many threads as a large machine has cores, two seldom meet in one shard.
    static constexpr std::size_t shard_bits = 6;

    /// Kept with its hash, and sought with it, so that each is computed once.
    struct hashed_key {
        Key key;
        std::size_t hash;
    };
    template <class LookUp>
    struct probe {
        const LookUp& key;
        std::size_t hash;
    };
    struct hash_of {
        using is_transparent = void;
        std::size_t operator()(const auto& of) const noexcept { return of.hash; }
    };
    struct same_key {
        using is_transparent = void;
        bool operator()(const auto& a, const auto& b) const noexcept { return a.hash == b.hash && a.key == b.key; }
    };

    struct alignas(64) shard {
        mutable std::mutex mutex;
        std::unordered_map<hashed_key, Row, hash_of, same_key> rows;
    };

    /// By the upper bits; the lower ones choose the bucket.
    static std::size_t index(std::size_t hash) noexcept { return hash >> (sizeof hash * 8 - shard_bits); }

    keyed_hash hash_;
    std::array<shard, std::size_t{1} << shard_bits> shards_;
};

}  // namespace tollgate

// <tollgate/store/memory/access_tokens.hpp>

namespace tollgate::memory {

/// The access-token verbs of `token_store`, in memory.
class access_tokens {
public:
    explicit access_tokens(std::size_t tokens_max) : tokens_max_{tokens_max} {}

    [[nodiscard]] outcome<std::optional<token_credential>> find(const digest& token) const {
        using found = outcome<std::optional<token_credential>>;
        return by_digest_.with(token, [](const token_credential* kept) -> found {
            return kept == nullptr ? std::nullopt : std::optional{*kept};
        });
    }
    TOLLGATE_DECL outcome<void> create(const new_access_token& made);
    TOLLGATE_DECL outcome<bool> revoke(const digest& token);

private:
    const std::size_t tokens_max_;
    std::atomic<std::size_t> count_ = 0;  // those that are being created included
    sharded_table<digest, token_credential> by_digest_;
};

}  // namespace tollgate::memory

// <tollgate/store/memory/hooks.hpp>

namespace tollgate::memory {

/// The verbs of `hook_store`, in memory.
class hooks {
public:
    explicit hooks(std::size_t hooks_max) : hooks_max_{hooks_max} {}

    TOLLGATE_DECL outcome<hook_id> create(const new_hook& made, std::size_t hooks_per_event_max);
    [[nodiscard]] TOLLGATE_DECL outcome<std::vector<hook>> of(const account_ref& account) const;
    [[nodiscard]] TOLLGATE_DECL outcome<std::optional<account_ref>> account_of(const service_name& service,
                                                                               hook_id id) const;
    TOLLGATE_DECL outcome<bool> remove(const account_ref& account, hook_id id);

private:
    const std::size_t hooks_max_;

    mutable std::mutex mutex_;
    std::int64_t last_id_ = 0;
    std::unordered_map<hook_id, new_hook> hooks_;
    std::map<account_ref, std::vector<hook_id>> of_account_;  // oldest first
};

}  // namespace tollgate::memory

// <tollgate/store/memory/personal_tokens.hpp>

namespace tollgate::memory {

/// The personal-token verbs of `token_store`, in memory.
class personal_tokens {
public:
    explicit personal_tokens(std::size_t tokens_max) : tokens_max_{tokens_max} {}

    [[nodiscard]] outcome<std::optional<token_credential>> find(std::string_view username) const {
        using found = outcome<std::optional<token_credential>>;
        return by_username_.with(username, [](const row* kept) -> found {
            return kept == nullptr ? std::nullopt : std::optional{kept->credential};
        });
    }
    TOLLGATE_DECL outcome<token_id> create(const new_personal_token& made);
    [[nodiscard]] TOLLGATE_DECL outcome<std::vector<personal_token>> of(user_id user) const;
    TOLLGATE_DECL outcome<bool> revoke(token_id id);

private:
    /// The credential as it is given out: a copy touches its used bytes, putting one together touches all.
    struct row {
        token_id id;
        token_credential credential;
        std::string description;
        instant created_at;
    };

    const std::size_t tokens_max_;

    sharded_table<token_username, row> by_username_;  // the tokens; those below only say where to find them

    mutable std::mutex mutex_;  // whoever changes or lists; taken before a shard's
    std::int64_t last_id_ = 0;
    std::unordered_map<token_id, token_username> usernames_;
    std::unordered_map<user_id, std::vector<token_id>> of_user_;  // oldest first
};

}  // namespace tollgate::memory

// <tollgate/store/memory.hpp>

namespace tollgate {

/// How much a `memory_store` takes before it refuses more with a problem (unavailable): no stranger fills the memory of
/// the process it lives in. A row is about 1 to 4 kB.
struct memory_settings {
    std::size_t personal_tokens_max = 100'000;
    std::size_t access_tokens_max = 100'000;
    std::size_t hooks_max = 100'000;
};

/// The store in memory, for tests, for demonstrations, and for those who keep the truth elsewhere; also the reference
/// for what a verb does. Nothing outlives the process.
///
/// Thread rule: any thread. Non-blocking: locks are held for the time of a copy. `find_...` allocate nothing.
class memory_store {
public:
    static constexpr bool blocking = false;

    explicit memory_store(const memory_settings& settings = {})
        : personal_{settings.personal_tokens_max}, access_{settings.access_tokens_max}, hooks_{settings.hooks_max} {}

    outcome<std::optional<token_credential>> find_personal_token(std::string_view username) noexcept {
        return personal_.find(username);
    }
    outcome<token_id> create_personal_token(const new_personal_token& made) noexcept {
        return detail::contained([&] { return personal_.create(made); });
    }
    outcome<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept {
        return detail::contained([&] { return personal_.of(user); });
    }
    outcome<bool> revoke_personal_token(token_id id) noexcept {
        return detail::contained([&] { return personal_.revoke(id); });
    }

    outcome<std::optional<token_credential>> find_access_token(const digest& token) noexcept {
        return access_.find(token);
    }
    outcome<void> create_access_token(const new_access_token& made) noexcept {
        return detail::contained([&] { return access_.create(made); });
    }
    outcome<bool> revoke_access_token(const digest& token) noexcept {
        return detail::contained([&] { return access_.revoke(token); });
    }

    outcome<hook_id> create_hook(const new_hook& made, std::size_t hooks_per_event_max) noexcept {
        return detail::contained([&] { return hooks_.create(made, hooks_per_event_max); });
    }
    outcome<std::vector<hook>> hooks_of(const account_ref& account) noexcept {
        return detail::contained([&] { return hooks_.of(account); });
    }
    outcome<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept {
        return detail::contained([&] { return hooks_.account_of(service, id); });
    }
    outcome<bool> delete_hook(const account_ref& account, hook_id id) noexcept {
        return detail::contained([&] { return hooks_.remove(account, id); });
    }

private:
    memory::personal_tokens personal_;
    memory::access_tokens access_;
    memory::hooks hooks_;
};

static_assert(token_store<memory_store>);
static_assert(hook_store<memory_store>);

}  // namespace tollgate

// <tollgate/store/too_many_hooks.hpp>

namespace tollgate {

/// What every store says to one hook more than there may be.
[[nodiscard]] inline problem too_many_hooks(std::size_t hooks_per_event_max) {
    return invalid("This account has " + std::to_string(hooks_per_event_max) +
                   " webhooks for this event, as many as it may.");
}

}  // namespace tollgate

// <tollgate/server/admission.hpp>

namespace tollgate::hosting {

/// Counts connections against their bounds, in all and by address (an IPv6 address by its /64, which one household or
/// one attacker has whole). May be used by several threads at the same time.
class admission {
public:
    enum class verdict : std::uint8_t {
        welcome,
        refused,  ///< over a bound: answer 503 and close
        dropped,  ///< over a bound, and too many are being told so already: close at once
    };

    admission(std::size_t connections_max, std::size_t per_address_max) noexcept
        : connections_max_{connections_max}, per_address_max_{per_address_max} {}

    /// Each verdict but `dropped` is given back with `leave` when the connection ends. Never throws: without memory to
    /// count with, the verdict is `dropped`.
    [[nodiscard]] TOLLGATE_DECL verdict enter(const ip_address& from) noexcept;
    TOLLGATE_DECL void leave(const ip_address& from, verdict given) noexcept;

private:
    static constexpr std::size_t refused_max = 256;  // a courtesy to clients in good faith, not to a flood

    using key = std::array<std::uint8_t, 16>;
    struct key_hash {
        [[nodiscard]] TOLLGATE_DECL std::size_t operator()(const key& one) const noexcept;
    };
    static TOLLGATE_DECL key key_of(const ip_address& from) noexcept;

    const std::size_t connections_max_;
    const std::size_t per_address_max_;  // 0: not counted
    std::mutex mutex_;
    std::size_t connections_ = 0;
    std::size_t refused_ = 0;
    std::unordered_map<key, std::size_t, key_hash> by_address_;  // at most connections_max_ entries
};

}  // namespace tollgate::hosting

// <tollgate/server/deadline_wheel.hpp>

namespace tollgate::hosting {

/// Deadlines of many connections on one timer: a wheel of slots, one a tick.
///
/// Nearly every deadline is moved before it is due, so moving one to a later tick is one store: the entry stays where it
/// is, and the wheel puts it in its place when it comes past. Only an earlier deadline is linked anew.
class deadline_wheel {
public:
    class entry {
    public:
        entry() noexcept = default;
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

        /// Called by `advance` when the deadline is over. The entry is no longer armed and may arm itself again.
        virtual void on_deadline() noexcept = 0;

    protected:
        ~entry() = default;

    private:
        friend deadline_wheel;
        entry* previous_ = nullptr;
        entry* next_ = nullptr;
        std::uint64_t due_ = 0;   // the tick of the deadline
        std::uint64_t seen_ = 0;  // the tick at which the wheel looks at the entry; never later than due_
    };

    deadline_wheel() noexcept {
        for (slot& head : slots_) head.previous_ = head.next_ = &head;
    }
    deadline_wheel(const deadline_wheel&) = delete;
    deadline_wheel& operator=(const deadline_wheel&) = delete;

    /// Due `ticks` ticks from now, at the least one, whatever was said before.
    void arm(entry& one, std::uint64_t ticks) noexcept {
        one.due_ = now_ + (ticks == 0 ? 1 : ticks);
        if (one.next_ == nullptr || one.due_ < one.seen_) place(one);
    }

    /// The same, unless it is due earlier anyway.
    void arm_no_later(entry& one, std::uint64_t ticks) noexcept {
        if (one.next_ == nullptr || now_ + ticks < one.due_) arm(one, ticks);
    }

    void disarm(entry& one) noexcept {
        if (one.next_ == nullptr) return;
        unlink(one);
        --armed_;
    }

    /// One tick goes by: calls `on_deadline` of every entry that is due.
    void advance() noexcept;

    [[nodiscard]] bool empty() const noexcept { return armed_ == 0; }

private:
    struct slot final : entry {
        void on_deadline() noexcept override {}
    };
    static constexpr std::size_t slot_count = 256;  // at 250 ms a tick more than the longest default, 60 s

    void place(entry& one) noexcept;
    static void unlink(entry& one) noexcept {
        one.previous_->next_ = one.next_;
        one.next_->previous_ = one.previous_;
        one.previous_ = one.next_ = nullptr;
    }

    std::uint64_t now_ = 0;
    std::size_t armed_ = 0;
    std::array<slot, slot_count> slots_;
};

inline void deadline_wheel::place(entry& one) noexcept {
    if (one.next_ != nullptr) unlink(one);
    else ++armed_;
    const std::uint64_t horizon = now_ + slot_count - 1;
    one.seen_ = one.due_ < horizon ? one.due_ : horizon;
    slot& head = slots_[one.seen_ % slot_count];
    one.previous_ = head.previous_;
    one.next_ = &head;
    head.previous_->next_ = &one;
    head.previous_ = &one;
}

inline void deadline_wheel::advance() noexcept {
    ++now_;
    slot& head = slots_[now_ % slot_count];
    // What is placed meanwhile goes to other slots, so this ends; an entry may take others out of the list as it is called.
    while (head.next_ != &head) {
        entry& one = *head.next_;
        if (one.due_ > now_) {
            place(one);
            continue;
        }
        unlink(one);
        --armed_;
        one.on_deadline();
    }
}

}  // namespace tollgate::hosting

// <tollgate/server/settings.hpp>

namespace tollgate {

/// Where to accept connections: an IPv4 or IPv6 address in text and a port; port 0 is any free one.
struct listen_address {
    std::string address;
    std::uint16_t port = 0;
};

/// A certificate chain (leaf first) and its key, PEM: as files, which `server::reload_certificates` reads again, or as
/// text. All empty: no TLS.
struct tls_settings {
    std::string certificate_file = {};
    std::string key_file = {};
    std::string certificate_pem = {};
    std::string key_pem = {};

    [[nodiscard]] bool enabled() const noexcept {
        return !certificate_file.empty() || !key_file.empty() || !certificate_pem.empty() || !key_pem.empty();
    }
};

/// Everything that a server asks of its integrator. Each default stands with its reason; every bound is per server.
struct server_settings {
    std::string address = "127.0.0.1";  ///< the world gets in only where somebody said so
    std::uint16_t port = 8080;
    std::vector<listen_address> more_addresses = {};
    tls_settings tls = {};

    unsigned threads = 0;                  ///< that serve sockets; 0: one a core
    unsigned worker_threads = 8;           ///< for blocking handlers: they wait more than they compute
    std::size_t worker_queue_max = 1024;   ///< requests waiting for a worker, then 503: at 1 ms each a wait of 0.13 s
    int backlog = 4096;                    ///< connections the kernel holds for us; it cuts this to its own bound

    std::size_t header_bytes_max = limits::header_bytes_default;
    std::size_t body_bytes_max = limits::body_bytes_default;

    std::size_t connections_max = 10'000;          ///< then 503; with a request under way in each about 0.3 GB
    std::size_t connections_per_address_max = 0;   ///< 0: no bound of its own, for behind a proxy all share one address

    milliseconds header_timeout = seconds{10};     ///< from a message's first byte (or the connection's start) to its head's end
    milliseconds body_timeout = seconds{30};       ///< for the whole body: 64 KiB at 17 kbit/s
    milliseconds idle_timeout = seconds{60};       ///< between messages: nginx keeps 75 s, most clients less
    milliseconds write_timeout = seconds{30};      ///< for a client to take one batch of responses
    milliseconds handshake_timeout = seconds{10};  ///< for all of a TLS handshake: a few round trips
    milliseconds linger_timeout = seconds{5};      ///< how long a refused client may go on talking before it is cut off
};

}  // namespace tollgate

// <tollgate/server/tls_context.hpp>

struct ssl_ctx_st;
struct bio_method_st;

namespace tollgate::hosting {

/// What all TLS connections of one certificate share: TLS 1.2 and 1.3, no compression, no renegotiation, `http/1.1` by
/// ALPN, stateless tickets. Connections keep theirs alive, so a reload swaps it for new ones alone.
class tls_context {
public:
    /// Reads the certificate chain and the key. A problem names the file and says what is wrong with it.
    static TOLLGATE_DECL outcome<std::shared_ptr<const tls_context>> make(const tls_settings& settings);

    TOLLGATE_DECL tls_context();
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;
    TOLLGATE_DECL ~tls_context();

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_; }
    /// How OpenSSL reads and writes a connection's bytes; see `tls_stream`.
    [[nodiscard]] const bio_method_st* transport() const noexcept { return transport_; }

private:
    ssl_ctx_st* context_ = nullptr;
    bio_method_st* transport_ = nullptr;
};

}  // namespace tollgate::hosting

// <tollgate/server/worker_pool.hpp>

namespace tollgate::hosting {

/// Where work comes back to.
class work_home {
public:
    /// Something was given back: see to it. Called by worker threads.
    virtual void wake() noexcept = 0;

protected:
    ~work_home() = default;
};

/// Something to be done by a thread that may wait.
class work_item {
public:
    work_item() noexcept = default;
    work_item(const work_item&) = delete;
    work_item& operator=(const work_item&) = delete;

    /// Called by a worker thread.
    virtual void work() noexcept = 0;
    /// Called after it by the same thread, which looks at the item no more. The home is woken a little later.
    virtual work_home& give_back() noexcept = 0;

protected:
    ~work_item() = default;

private:
    friend class work_queue;
    work_item* next_ = nullptr;
};

/// First in, first out; linked through the items, so that nothing is allocated.
class work_queue {
public:
    void push(work_item& one) noexcept {
        one.next_ = nullptr;
        (last_ == nullptr ? first_ : last_->next_) = &one;
        last_ = &one;
        ++size_;
    }
    [[nodiscard]] work_item* pop() noexcept {
        work_item* const one = first_;
        if (one == nullptr) return nullptr;
        first_ = one->next_;
        if (first_ == nullptr) last_ = nullptr;
        --size_;
        return one;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    work_item* first_ = nullptr;
    work_item* last_ = nullptr;
    std::size_t size_ = 0;
};

/// Threads for handlers that wait, and a bounded queue before them.
///
/// Waking a thread costs as much as a small request. So at most one worker is being woken at a time; one that finds more
/// to do than its own item wakes the next. And a home is woken once for several items given back in a row, unless one of
/// them took long.
class worker_pool {
public:
    explicit worker_pool(std::size_t queue_max) noexcept : queue_max_{queue_max} {}
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool() { stop(); }

    /// Throws `std::system_error` when there is no thread to be had.
    TOLLGATE_DECL void start(unsigned threads);

    /// False, and nothing is queued, when the queue is full.
    [[nodiscard]] TOLLGATE_DECL bool submit(work_item& one) noexcept;

    /// Does what is queued and ends the threads. Not to be called by a worker.
    TOLLGATE_DECL void stop() noexcept;

private:
    TOLLGATE_DECL void run() noexcept;

    const std::size_t queue_max_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable work_came_;
    work_queue queue_;
    std::size_t idle_ = 0;
    bool waking_ = false;  // one idle worker has been told, and is not up yet
    bool stopping_ = false;
};

}  // namespace tollgate::hosting

// <tollgate/server/host.hpp>

namespace tollgate::hosting {

/// What all lanes of one server share. May be used by several threads at the same time.
class host {
public:
    host(http::handler_ref answers, server_settings how)
        : handler{answers},
          settings{std::move(how)},
          doors{settings.connections_max, settings.connections_per_address_max},
          workers{settings.worker_queue_max} {}

    const http::handler_ref handler;
    const server_settings settings;
    admission doors;
    worker_pool workers;
    std::atomic<bool> stopping = false;

    [[nodiscard]] http::parser_settings parsing() const noexcept {
        http::parser_settings made;
        made.header_bytes_max = settings.header_bytes_max;
        made.body_bytes_max = settings.body_bytes_max;
        return made;
    }

    /// Of new connections; empty without TLS.
    [[nodiscard]] std::shared_ptr<const tls_context> tls() const {
        const std::lock_guard hold{tls_mutex_};
        return tls_;
    }
    void set_tls(std::shared_ptr<const tls_context> context) {
        const std::lock_guard hold{tls_mutex_};
        tls_ = std::move(context);
    }

private:
    mutable std::mutex tls_mutex_;
    std::shared_ptr<const tls_context> tls_;
};

/// Says which server the calling thread is serving, so that `stop` does not wait for the thread that calls it.
class serving_scope {
public:
    explicit serving_scope(const host& of) noexcept : before_{std::exchange(current(), &of)} {}
    serving_scope(const serving_scope&) = delete;
    serving_scope& operator=(const serving_scope&) = delete;
    ~serving_scope() { current() = before_; }

    [[nodiscard]] static bool inside(const host& of) noexcept { return current() == &of; }

private:
    static const host*& current() noexcept {
        static thread_local const host* one = nullptr;
        return one;
    }

    const host* before_;
};

}  // namespace tollgate::hosting

// <tollgate/server/socket_calls.hpp>

/// The system calls of sockets, none of which waits or raises a signal: what is read and written, and when, is decided by
/// a connection; Asio is asked only when a socket is ready.
namespace tollgate::hosting {

using socket_handle = int;
inline constexpr socket_handle no_socket = -1;

enum class io_state : std::uint8_t { done, would_block, closed };

struct io_result {
    io_state state = io_state::closed;
    std::size_t bytes = 0;
};

/// `closed` for the end of the stream too. Precondition: `into` is not empty.
TOLLGATE_DECL io_result receive(socket_handle from, std::span<char> into) noexcept;
TOLLGATE_DECL io_result send(socket_handle to, std::string_view bytes) noexcept;

/// Says that nothing more is sent, and goes on receiving.
TOLLGATE_DECL void end_sending(socket_handle on) noexcept;
/// Whether the other side has yet to take something of what was sent. False where the system cannot tell.
[[nodiscard]] TOLLGATE_DECL bool is_sending(socket_handle on) noexcept;
TOLLGATE_DECL void close_socket(socket_handle one) noexcept;

enum class accept_state : std::uint8_t {
    accepted,
    none,       ///< nobody is waiting
    exhausted,  ///< no descriptor or memory is left: try again later, for trying at once would spin
};

struct accept_result {
    accept_state state = accept_state::none;
    socket_handle socket = no_socket;
    ip_address peer;
};

/// The new socket does not block, and sends without delay: batches are made by us, and Nagle's algorithm together with
/// delayed acknowledgements would hold each of them back for 40 ms.
TOLLGATE_DECL accept_result accept_one(socket_handle listening) noexcept;

/// A listening socket, and the address with the port it really has.
struct listening_socket {
    socket_handle socket = no_socket;
    listen_address at;
    bool ipv6 = false;
};
TOLLGATE_DECL outcome<listening_socket> listen_at(const listen_address& where, int backlog);

}  // namespace tollgate::hosting

// <tollgate/server/page_block.hpp>

namespace tollgate::hosting {

/// Memory in whole pages, straight from the system and back to it. A heap would keep what thousands of connections once
/// needed at the same time, because small things that live longer lie between their buffers.
class page_block {
public:
    page_block() noexcept = default;
    /// At least `bytes`; throws `std::bad_alloc`.
    explicit page_block(std::size_t bytes) : data_{static_cast<char*>(take(bytes))}, bytes_{rounded(bytes)} {}
    page_block(page_block&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
    page_block& operator=(page_block&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~page_block() {
        if (data_ != nullptr) give(data_, bytes_);
    }

    [[nodiscard]] char* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

    static TOLLGATE_DECL void* take(std::size_t bytes);
    static TOLLGATE_DECL void give(void* data, std::size_t bytes) noexcept;

private:
    static constexpr std::size_t page_bytes = 4096;  // larger pages only waste what lies behind the last byte
    static constexpr std::size_t rounded(std::size_t bytes) noexcept {
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    }

    char* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace tollgate::hosting

// <tollgate/server/exchange.hpp>

namespace tollgate::hosting {

/// What an answer needs besides the request.
struct answering {
    http::handler_ref handler;
    std::string_view date;               ///< IMF-fixdate of now
    const std::atomic<bool>& last_ones;  ///< true: the server is stopping, every response says `Connection: close`
};

/// One connection's conversation while it is not idle: bytes in, bytes out, and the handler between. No socket, no clock.
///
/// Used by one thread at a time.
class exchange {
public:
    /// What the conversation stands at.
    enum class turn : std::uint8_t {
        idle,     ///< nothing of a message is here
        in_head,  ///< a part of a message's head
        in_body,  ///< a head, and a part of its body
        request,  ///< a request is ready for `answer`
        held,     ///< there is more to answer, once the output has been taken
        over,     ///< no further request is read: send the output, then close
    };

    explicit exchange(const http::parser_settings& settings) : settings_{settings}, parser_{settings} {}

    /// Ready for a connection's next message.
    TOLLGATE_DECL void begin(const ip_address& peer, bool secure) noexcept;

    /// Where the next bytes go; never empty. Throws `std::bad_alloc`.
    [[nodiscard]] TOLLGATE_DECL std::span<char> room();
    void received(std::size_t bytes) noexcept { end_ += bytes; }

    /// Looks at what came, up to the next request. Malformed bytes are answered here and end the conversation.
    TOLLGATE_DECL turn look(const answering& with);

    /// Hands the request to the handler and writes its answer. Precondition: `look` returned `request`.
    TOLLGATE_DECL void answer(const answering& with);

    /// Both, as long as there are requests and room for their answers.
    TOLLGATE_DECL turn serve(const answering& with);

    /// Answers with a refusal of the host's own and ends the conversation.
    TOLLGATE_DECL void refuse(http::status status, std::string_view reason, const answering& with);

    /// What is to be sent, and how much of it has been.
    [[nodiscard]] std::string_view output() const noexcept { return std::string_view{output_}.substr(sent_); }
    TOLLGATE_DECL void sent(std::size_t bytes) noexcept;

    [[nodiscard]] bool over() const noexcept { return over_; }
    /// Whether the other side may still be sending: closing at once would then destroy the answer on its way.
    [[nodiscard]] bool lingers() const noexcept { return lingers_ || begin_ != end_; }
    /// Nothing of a message, nothing to send: may go back to its pool.
    [[nodiscard]] bool blank() const noexcept { return begin_ == end_ && output_.empty(); }
    /// Counts the messages that were answered: tells one message's deadline from the next one's.
    [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }

    /// Lets go of what one large message needed; before the exchange goes back to its pool.
    TOLLGATE_DECL void shrink() noexcept;

private:
    static constexpr std::size_t input_bytes_initial = 8 * 1024;  // several usual requests, so that pipelined ones come as one
    static constexpr std::size_t input_bytes_kept_max = 16 * 1024;
    static constexpr std::size_t room_bytes_min = 1024;           // less is not worth a system call
    static constexpr std::size_t input_slack_bytes = 32 * 1024;   // the longest message and one more reading fit together
    static constexpr std::size_t output_bytes_max = 64 * 1024;    // then nothing more is answered until the client reads
    static constexpr std::size_t output_bytes_kept_max = 64 * 1024;

    http::parser_settings settings_;
    http::request_parser parser_;
    std::size_t begin_ = 0;  // of the message that is being read, in input_
    std::size_t end_ = 0;    // of what was received
    page_block input_;
    std::string output_;
    std::size_t sent_ = 0;
    std::uint64_t answered_ = 0;
    bool in_body_ = false;
    bool over_ = false;
    bool lingers_ = false;
    http::response response_;
    http::request request_;
};

}  // namespace tollgate::hosting

// <tollgate/server/tls_stream.hpp>

struct ssl_st;

namespace tollgate::hosting {

/// Ciphertext on its way between a socket and a `tls_stream`. Needed only while something is on its way.
struct tls_wire {
    static constexpr std::size_t input_bytes = 20 * 1024;  // more than one record of 16 KiB with all its overhead

    /// Where ciphertext from the socket goes. Precondition: all that came before has been read.
    [[nodiscard]] std::span<char> room() {
        if (input.data() == nullptr) input = page_block{input_bytes};
        begin = end = 0;
        return {input.data(), input.size()};
    }
    [[nodiscard]] bool blank() const noexcept { return begin == end && output.empty(); }

    page_block input;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string output;
    std::size_t sent = 0;
};

enum class tls_step : std::uint8_t {
    done,
    wants_bytes,  ///< of ciphertext from the other side
    closed,       ///< the other side said goodbye
    failed,       ///< a broken rule of TLS; the alert that says so is in the output
    plain_http,   ///< the other side speaks HTTP without TLS
};

/// The TLS side of one connection: OpenSSL over bytes in memory, never over a socket. Used by one thread at a time.
class tls_stream {
public:
    /// Throws `std::bad_alloc`.
    TOLLGATE_DECL explicit tls_stream(std::shared_ptr<const tls_context> context);
    tls_stream(const tls_stream&) = delete;
    tls_stream& operator=(const tls_stream&) = delete;
    TOLLGATE_DECL ~tls_stream();

    [[nodiscard]] bool shaken_hands() const noexcept { return shaken_hands_; }
    TOLLGATE_DECL tls_step shake_hands(tls_wire& wire);

    struct reading {
        tls_step step = tls_step::wants_bytes;
        std::size_t bytes = 0;
    };
    /// Decrypts into `into` as much as fits. `done` means that it is full or that a record ended.
    TOLLGATE_DECL reading read(tls_wire& wire, std::span<char> into);
    /// Whether `read` has more to give without more bytes from the socket.
    [[nodiscard]] TOLLGATE_DECL bool holds(const tls_wire& wire) const noexcept;

    /// Whether the other side has said goodbye: it may still wait for answers, but nothing more comes from it.
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    /// Encrypts all of `plain` into the wire's output. False if the connection is broken.
    TOLLGATE_DECL bool write(tls_wire& wire, std::string_view plain);
    /// Appends the goodbye.
    TOLLGATE_DECL void say_goodbye(tls_wire& wire) noexcept;

private:
    TOLLGATE_DECL tls_step failure(int returned) noexcept;

    std::shared_ptr<const tls_context> context_;
    ssl_st* ssl_ = nullptr;
    bool shaken_hands_ = false;
    bool ended_ = false;
    bool broken_ = false;
};

}  // namespace tollgate::hosting

// <tollgate/server/workspace.hpp>

namespace tollgate::hosting {

/// What a connection needs while a message or its answer is under way: a few pages. An idle connection has none, so that
/// thousands of them cost little, and a busy thread uses the same few again and again, still warm in its cache.
struct workspace {
    explicit workspace(const http::parser_settings& settings) : talk{settings} {}

    exchange talk;
    tls_wire wire;
    http_date_text date;  ///< taken along to a worker, which may not look at the lane's

    [[nodiscard]] bool blank() const noexcept { return talk.blank() && wire.blank(); }

    static void* operator new(std::size_t bytes) { return page_block::take(bytes); }
    static void operator delete(void* data, std::size_t bytes) noexcept { page_block::give(data, bytes); }
};

/// The workspaces of one lane that nobody uses. Used by one thread at a time.
class workspace_pool {
public:
    explicit workspace_pool(const http::parser_settings& settings) : settings_{settings} {}

    /// Throws `std::bad_alloc`.
    [[nodiscard]] std::unique_ptr<workspace> take() {
        if (kept_ == 0) return std::make_unique<workspace>(settings_);
        auto one = std::move(spare_[--kept_]);
        fewest_ = (std::min)(fewest_, kept_);
        return one;
    }

    /// Gives back an eighth of what nobody has needed since the last call: a burst is forgotten within seconds, and a
    /// steady load loses nothing.
    void trim() noexcept {
        for (std::size_t i = (fewest_ + 7) / 8; i > 0; --i) spare_[--kept_].reset();
        fewest_ = kept_;
    }

    void give(std::unique_ptr<workspace> one) noexcept {
        if (kept_ == spare_.size()) return;  // beyond what is kept, pages go back to the system
        one->talk.shrink();
        if (one->wire.output.capacity() > output_bytes_kept_max) std::string{}.swap(one->wire.output);
        one->wire.output.clear();
        one->wire.begin = one->wire.end = one->wire.sent = 0;
        spare_[kept_++] = std::move(one);
    }

private:
    static constexpr std::size_t kept_max = 256;  // as many as a busy lane has at workers; some 4 MiB
    static constexpr std::size_t output_bytes_kept_max = 64 * 1024;

    http::parser_settings settings_;
    std::array<std::unique_ptr<workspace>, kept_max> spare_;
    std::size_t kept_ = 0;
    std::size_t fewest_ = 0;  // that were spare at any time since the last trim
};

}  // namespace tollgate::hosting

// <tollgate/server/lane.hpp>

namespace tollgate::hosting {

class connection;

/// What a connection waits for, each with a time of its own.
enum class deadline : std::uint8_t { none, handshake, head, body, idle, write, linger, count_ };

/// Why a wait was cancelled; a later one of these is stronger.
enum class interruption : std::uint8_t {
    none,
    stopping,   ///< the server takes no further requests
    timed_out,  ///< the connection's deadline is over
    cut_off,    ///< the server's own deadline is over
};

/// The connections of a lane, linked through themselves.
class connection_list {
public:
    TOLLGATE_DECL void add(connection& one) noexcept;
    TOLLGATE_DECL void remove(connection& one) noexcept;
    TOLLGATE_DECL void interrupt_all(interruption why) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

private:
    connection* first_ = nullptr;
};

/// A part of a server's connections and all that they share without locks: one thread serves it, or, as a guest of an
/// executor that has several, one thread at a time (see `asio_lane`).
class lane : public work_home {
public:
    TOLLGATE_DECL explicit lane(std::shared_ptr<host> of);
    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;
    TOLLGATE_DECL virtual ~lane();

    [[nodiscard]] host& shared() const noexcept { return *host_; }

    /// An accepted connection, from the thread of another lane. False if there is no memory to remember it.
    [[nodiscard]] TOLLGATE_DECL bool hand_over(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept;

    // For its connections and listeners, on its own thread:

    [[nodiscard]] answering answering_now() const noexcept { return {host_->handler, date_.view(), host_->stopping}; }
    [[nodiscard]] const http_date_text& date() const noexcept { return date_; }
    [[nodiscard]] workspace_pool& workspaces() noexcept { return workspaces_; }
    void arm(deadline_wheel::entry& one, deadline what) noexcept {
        if (!ticking_) begin_ticking();
        wheel_.arm(one, ticks_[static_cast<std::size_t>(what)]);
    }
    TOLLGATE_DECL void arm(deadline_wheel::entry& one, milliseconds from_now) noexcept;
    void disarm(deadline_wheel::entry& one) noexcept { wheel_.disarm(one); }

    TOLLGATE_DECL void enter(connection& one) noexcept;
    TOLLGATE_DECL void leave(connection& one) noexcept;
    /// From a worker's thread.
    TOLLGATE_DECL void give_back(connection& one) noexcept;
    TOLLGATE_DECL void wake() noexcept override;

    // For the server, on the lane's own thread:

    /// Takes nothing new, closes what is idle, and at the deadline everything. Of several deadlines the earliest counts.
    TOLLGATE_DECL void drain(milliseconds deadline) noexcept;
    TOLLGATE_DECL void cut_off() noexcept;
    [[nodiscard]] bool drained() const noexcept { return draining_ && connections_.empty(); }

protected:
    /// What was handed over or given back is to be fetched by `fetch`, on the lane's own thread.
    virtual void post_fetch() noexcept = 0;
    /// `tick` is to be called every `tick_length` until it returns false.
    virtual void start_ticking() noexcept = 0;
    /// Makes a connection of an accepted socket and begins it; closes the socket if that fails.
    virtual void adopt(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept = 0;
    /// The last connection of a draining lane is gone.
    virtual void on_drained() noexcept = 0;

    [[nodiscard]] milliseconds tick_length() const noexcept { return tick_length_; }
    TOLLGATE_DECL bool tick(std::uint64_t ticks) noexcept;
    TOLLGATE_DECL void fetch() noexcept;

private:
    struct arrival {
        socket_handle socket;
        ip_address peer;
        admission::verdict given;
    };
    class drain_end final : public deadline_wheel::entry {
    public:
        explicit drain_end(lane& of) noexcept : lane_{of} {}
        void on_deadline() noexcept override { lane_.cut_off(); }

    private:
        lane& lane_;
    };

    [[nodiscard]] TOLLGATE_DECL std::uint64_t to_ticks(milliseconds time) const noexcept;
    TOLLGATE_DECL void begin_ticking() noexcept;
    TOLLGATE_DECL void tell_time() noexcept;

    const std::shared_ptr<host> host_;
    milliseconds tick_length_{};
    std::array<std::uint64_t, static_cast<std::size_t>(deadline::count_)> ticks_{};
    http_date_text date_{};
    deadline_wheel wheel_;
    workspace_pool workspaces_;
    connection_list connections_;
    drain_end drain_end_{*this};
    bool ticking_ = false;
    bool draining_ = false;

    std::mutex inbox_mutex_;
    work_queue given_back_;
    std::vector<arrival> arrivals_;
    bool fetch_posted_ = false;
};

}  // namespace tollgate::hosting

// <tollgate/server/connection.hpp>

namespace tollgate::hosting {

/// One client's connection: reads when its socket is ready, answers all that came, sends the answers as one batch.
///
/// It waits for one thing at a time: for its socket (then the pending wait owns it), or for a worker (then that does).
/// While it waits for a next message it holds no buffer at all. Whatever ends a wait early only says why and cancels it,
/// so that everything happens in one place, `go_on`. It is used by its lane's thread, but for `work`.
class connection : public deadline_wheel::entry, public work_item {
public:
    TOLLGATE_DECL connection(lane& home, socket_handle socket, const ip_address& peer, admission::verdict given) noexcept;
    TOLLGATE_DECL virtual ~connection();

    /// Begins to serve. May end, and then destroys, the connection. So may the next two.
    TOLLGATE_DECL void begin() noexcept;
    /// The wait is over: the socket is ready, or broken, or the wait was cancelled.
    TOLLGATE_DECL void on_ready() noexcept;
    /// A worker is done with it.
    TOLLGATE_DECL void on_given_back() noexcept;

    TOLLGATE_DECL void interrupt(interruption why) noexcept;

    TOLLGATE_DECL void on_deadline() noexcept override;
    TOLLGATE_DECL void work() noexcept override;
    TOLLGATE_DECL work_home& give_back() noexcept override;

    [[nodiscard]] lane& home() const noexcept { return lane_; }

protected:
    /// The three things that are asked of Asio. A wait calls `on_ready` later, never at once, and owns the connection
    /// until then; there is only one at a time.
    virtual void wait_readable() noexcept = 0;
    virtual void wait_writable() noexcept = 0;
    virtual void cancel() noexcept = 0;

private:
    friend class connection_list;

    enum class phase : std::uint8_t { reading, writing, working, lingering };
    enum class next : std::uint8_t { again, wait_readable, wait_writable, work, end };

    template <class Step>
    TOLLGATE_DECL void go_on(Step step) noexcept;
    TOLLGATE_DECL next first_step();
    TOLLGATE_DECL next resume();
    TOLLGATE_DECL next read();
    TOLLGATE_DECL next read_ciphertext();
    TOLLGATE_DECL next decrypt();
    TOLLGATE_DECL next converse();
    TOLLGATE_DECL next settle(exchange::turn turn, io_state sent);
    TOLLGATE_DECL next refuse(http::status status, std::string_view reason);
    TOLLGATE_DECL next turn_away();
    TOLLGATE_DECL next await_bytes(exchange::turn turn);
    TOLLGATE_DECL next finish();
    TOLLGATE_DECL next linger();

    TOLLGATE_DECL io_state transmit();
    TOLLGATE_DECL void open_workspace();
    TOLLGATE_DECL void close_workspace() noexcept;
    TOLLGATE_DECL void expect(deadline what) noexcept;
    TOLLGATE_DECL void expect_end() noexcept;
    TOLLGATE_DECL bool lingers_on() noexcept;

    /// A round trip around the world: whoever asks a server to stop is waiting.
    static constexpr milliseconds linger_while_stopping{250};

    lane& lane_;
    connection* previous_ = nullptr;  // in the lane's list
    connection* next_ = nullptr;
    std::unique_ptr<workspace> workspace_;
    std::unique_ptr<tls_stream> tls_;
    ip_address peer_;
    socket_handle socket_;
    std::uint32_t lingered_bytes_ = 0;
    std::uint32_t lingered_times_ = 0;
    std::uint64_t expected_since_ = 0;  // how many messages the workspace had answered when deadline_ was armed
    phase phase_ = phase::reading;
    deadline deadline_ = deadline::none;
    interruption interruption_ = interruption::none;
    admission::verdict given_;
    bool waiting_ = false;
    bool greeted_ = false;  // something was answered: from now on waiting is being idle
    exchange::turn turn_ = exchange::turn::idle;  // what is to be done when the output is sent
    io_state sent_ = io_state::done;              // what became of the output a worker sent
};

}  // namespace tollgate::hosting

// <tollgate/server/epoll_lane.hpp>

#if defined(__linux__)

/// The lanes of a server with threads of its own, straight on Linux' epoll.
///
/// A socket stays registered for reading as long as it lives, so that a connection between two requests costs no system
/// call but `recv` and `send`. Asio, which `guest_lane` asks, has to make one more for every wait.
namespace tollgate::hosting {

class epoll_lane;

/// Something that epoll reports about.
class epoll_source {
public:
    explicit epoll_source(epoll_lane& home) noexcept : home_{home} {}
    epoll_source(const epoll_source&) = delete;
    epoll_source& operator=(const epoll_source&) = delete;

    virtual void on_event() noexcept = 0;

protected:
    enum class interest : std::uint8_t { unregistered, nothing, readable, writable };

    ~epoll_source() = default;

    /// Says what to report, until told otherwise. Nothing happens, and nothing costs, if that is what is reported already.
    void watch(socket_handle socket, interest what) noexcept {
        if (what != watched_) change(socket, what);
    }
    [[nodiscard]] epoll_lane& epoll_home() const noexcept { return home_; }

private:
    TOLLGATE_DECL void change(socket_handle socket, interest what) noexcept;

    epoll_lane& home_;
    interest watched_ = interest::unregistered;
};

class epoll_connection final : public connection, private epoll_source {
public:
    TOLLGATE_DECL epoll_connection(epoll_lane& home, socket_handle socket, const ip_address& peer,
                                   admission::verdict given) noexcept;
    TOLLGATE_DECL ~epoll_connection() override;

    /// The wait was cancelled.
    void on_cancelled() noexcept { end_wait(); }

private:
    TOLLGATE_DECL void on_event() noexcept override;
    TOLLGATE_DECL void wait_readable() noexcept override;
    TOLLGATE_DECL void wait_writable() noexcept override;
    TOLLGATE_DECL void cancel() noexcept override;
    TOLLGATE_DECL void end_wait() noexcept;

    const socket_handle own_socket_;
    bool awaited_ = false;
    bool cancelled_ = false;
};

/// Accepts connections at one address and deals them out to lanes in turn.
class epoll_listener final : private deadline_wheel::entry, private epoll_source {
public:
    TOLLGATE_DECL epoll_listener(epoll_lane& home, const std::vector<std::unique_ptr<epoll_lane>>& lanes,
                                 socket_handle socket) noexcept;
    TOLLGATE_DECL ~epoll_listener();

    void wait() noexcept { watch(socket_, interest::readable); }

private:
    TOLLGATE_DECL void on_event() noexcept override;
    void on_deadline() noexcept override { wait(); }
    TOLLGATE_DECL void deal(const accept_result& got) noexcept;

    const std::vector<std::unique_ptr<epoll_lane>>& lanes_;
    const socket_handle socket_;
    std::size_t next_lane_ = 0;
};

/// A lane that one thread serves by calling `run`.
class epoll_lane final : public lane {
public:
    /// Throws `std::system_error`. `on_drained` is called once, on the lane's thread.
    TOLLGATE_DECL epoll_lane(std::shared_ptr<host> of, std::function<void()> on_drained);
    TOLLGATE_DECL ~epoll_lane() override;

    /// Before `run`: accepts connections of this socket, which belongs to the lane from here on.
    TOLLGATE_DECL void listen(const std::vector<std::unique_ptr<epoll_lane>>& lanes, socket_handle socket);

    TOLLGATE_DECL void run() noexcept;

    /// From any thread: closes the listeners, then drains. `run` returns when that is done and `let_go` was called.
    TOLLGATE_DECL void ask_to_drain(milliseconds deadline) noexcept;
    TOLLGATE_DECL void let_go() noexcept;

private:
    friend epoll_source;
    friend epoll_connection;
    friend epoll_listener;

    using clock = std::chrono::steady_clock;

    TOLLGATE_DECL void post_fetch() noexcept override;
    TOLLGATE_DECL void start_ticking() noexcept override;
    TOLLGATE_DECL void adopt(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept override;
    void on_drained() noexcept override { on_drained_(); }

    TOLLGATE_DECL void ring() noexcept;
    TOLLGATE_DECL void answer_the_bell() noexcept;
    TOLLGATE_DECL void tick_if_due() noexcept;
    TOLLGATE_DECL void end_cancelled() noexcept;
    [[nodiscard]] TOLLGATE_DECL int patience_milliseconds() const noexcept;

    int epoll_ = -1;
    int bell_ = -1;  // an eventfd that other threads ring
    bool ticks_ = false;
    clock::time_point next_tick_{};
    work_queue cancelled_;
    std::vector<std::unique_ptr<epoll_listener>> listeners_;
    const std::function<void()> on_drained_;

    std::mutex asked_mutex_;
    bool fetch_asked_ = false;
    bool drain_asked_ = false;
    std::atomic<bool> let_go_ = false;
    milliseconds drain_deadline_{};
};

}  // namespace tollgate::hosting

#endif  // __linux__

// <tollgate/server/lane_group.hpp>

namespace tollgate::hosting {

/// Lets threads wait until every lane of a server has drained. Lives as long as the last of them.
class drain_count {
public:
    explicit drain_count(std::size_t lanes) noexcept : left_{lanes} {}

    void one_drained() {
        const std::lock_guard hold{mutex_};
        if (--left_ == 0) all_drained_.notify_all();
    }
    void wait() {
        std::unique_lock hold{mutex_};
        all_drained_.wait(hold, [this] { return left_ == 0; });
    }
    void wait_at_most(milliseconds time) {
        std::unique_lock hold{mutex_};
        all_drained_.wait_for(hold, time, [this] { return left_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable all_drained_;
    std::size_t left_;
};

/// All lanes of a server, whatever they run on.
class lane_group {
public:
    virtual ~lane_group() = default;

    /// Begins to accept. Throws `std::system_error`; the sockets belong to the group from here on.
    virtual void listen(const std::vector<listening_socket>& from) = 0;
    /// Begins to drain every lane.
    virtual void drain(milliseconds deadline) = 0;
    /// Waits until they have.
    virtual void wait() = 0;
    /// The same, but no longer than can be expected after `drain(deadline)`.
    virtual void wait(milliseconds deadline) = 0;
    /// Whether the calling thread is one that has to go on for `wait` to end.
    [[nodiscard]] virtual bool needs_this_thread() const noexcept = 0;
    /// Ends everything now. No lane calls the handler after it.
    virtual void close() noexcept = 0;
};

}  // namespace tollgate::hosting

// <tollgate/server/own_lanes.hpp>

namespace tollgate::hosting {

#if defined(__linux__)

/// Lanes with a thread each.
class own_lanes final : public lane_group {
public:
    own_lanes(const std::shared_ptr<host>& of, std::size_t lanes) : host_{of}, drained_{std::make_shared<drain_count>(lanes)} {
        while (lanes_.size() < lanes)
            lanes_.push_back(std::make_unique<epoll_lane>(of, [count = drained_] { count->one_drained(); }));
    }
    ~own_lanes() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        for (std::size_t i = 0; i < from.size(); ++i) lanes_[i % lanes_.size()]->listen(lanes_, from[i].socket);
        threads_.reserve(lanes_.size());
        for (const auto& one : lanes_)
            threads_.emplace_back([this, &lane = *one] {
                const serving_scope mark{*host_};
                lane.run();
            });
    }

    void drain(milliseconds deadline) override {
        for (const auto& one : lanes_) one->ask_to_drain(deadline);
    }

    void wait() override { drained_->wait(); }
    void wait(milliseconds) override { drained_->wait(); }
    [[nodiscard]] bool needs_this_thread() const noexcept override { return serving_scope::inside(*host_); }

    void close() noexcept override {
        for (std::size_t i = 0; i < threads_.size(); ++i) lanes_[i]->ask_to_drain(milliseconds{0});
        if (threads_.size() == lanes_.size()) drained_->wait();
        for (std::size_t i = 0; i < threads_.size(); ++i) lanes_[i]->let_go();
        for (std::thread& one : threads_) one.join();
        threads_.clear();
    }

private:
    const std::shared_ptr<host> host_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::unique_ptr<epoll_lane>> lanes_;
    std::vector<std::thread> threads_;
};

#endif  // __linux__

}  // namespace tollgate::hosting

// <tollgate/server/server.hpp>

namespace asio {
class any_io_executor;
}

namespace tollgate {

namespace hosting {
class host;
class lane_group;

/// Makes what a server runs on: threads of its own, or a guest's executor.
using lane_maker = std::function<std::unique_ptr<lane_group>(const std::shared_ptr<host>& of, std::size_t lanes)>;
}  // namespace hosting

/// Serves a handler over HTTP/1.1, with or without TLS 1.2 and 1.3.
///
///     tollgate::server server{api, {.port = 8443, .tls = {"cert.pem", "key.pem"}}};
///     server.run();
///
/// It has threads of its own, or is a guest on an Asio executor; it installs no signal handlers, and a process may have
/// several. The handler must outlive it. A handler that blocks is called on worker threads, never on one that serves
/// sockets. Everything but construction and destruction may be called from any thread at any time; a server may also be
/// stopped, but not destroyed, from within its own handler. A server runs once: make another one to start again.
class server {
public:
    /// A server with `settings.threads` threads of its own, which needs Linux. Nothing is opened before `start`.
    TOLLGATE_DECL server(http::handler_ref handler, server_settings settings = {});

    /// A guest on `executor`, which may be run by several threads: connections are divided among `settings.threads` parts,
    /// each of which is used by one thread at a time. The executor's context must outlive the server.
    /// Include `<tollgate/server/guest.hpp>` for this one; everybody else is spared the compilation of Asio.
    TOLLGATE_DECL server(const asio::any_io_executor& executor, http::handler_ref handler, server_settings settings = {});

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Stops without waiting for requests, but for blocking calls of the handler that are under way.
    TOLLGATE_DECL ~server();

    /// Returns when connections are accepted. A problem says which setting, address or certificate will not do; nothing
    /// is left open then. A server that was stopped before does not start: that too is a problem.
    TOLLGATE_DECL outcome<void> start();

    /// `start`, then `wait`. Returns at once, without a problem, if the server was stopped before.
    TOLLGATE_DECL outcome<void> run();

    /// Waits until the server has stopped. Not for handlers, nor for threads that a guest needs.
    TOLLGATE_DECL void wait();

    /// Accepts nothing more and closes idle connections at once; lets requests that are under way end, each answered with
    /// `Connection: close`, and after `deadline` closes what is left. Returns when all is over and the port is free. Only
    /// a blocking handler that does not return can hold it up longer.
    ///
    /// From within a handler, and for a guest on a thread of its `io_context`, it begins all this and returns at once;
    /// for a guest whose executor does not run it gives up at the deadline. To stop again, with an earlier deadline for
    /// instance, does no harm.
    TOLLGATE_DECL void stop(milliseconds deadline = seconds{10});

    /// Reads certificate and key again, for connections made from now on. With a problem the old ones stay in use.
    TOLLGATE_DECL outcome<void> reload_certificates();

    /// Where it accepts connections, with the ports it really has. Empty before `start`.
    [[nodiscard]] TOLLGATE_DECL std::vector<listen_address> endpoints() const;
    /// The first one's port; 0 before `start`.
    [[nodiscard]] TOLLGATE_DECL std::uint16_t port() const;

private:
    class core;

    TOLLGATE_DECL server(http::handler_ref handler, server_settings settings, hosting::lane_maker make_lanes);

    std::unique_ptr<core> core_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION) || defined(TOLLGATE_SOURCE)

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <new>
#include <random>
#include <system_error>

// <tollgate/base/digest.ipp>

namespace tollgate {
namespace detail {

[[noreturn]] inline void fail_digest() { throw std::runtime_error{"OpenSSL cannot compute SHA-256"}; }

#if !defined(OPENSSL_NO_DEPRECATED_3_0) && OPENSSL_VERSION_MAJOR < 4

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

// Every request has a secret to digest. EVP makes and frees a context on the heap for each (OpenSSL 3.0 to 3.5), which
// costs more than the digest itself; these older functions, which OpenSSL 3 deprecates and keeps, work where they are
// put.
inline bool openssl_sha256(std::string_view text, std::uint8_t* out) noexcept {
    SHA256_CTX context;
    return SHA256_Init(&context) == 1 && SHA256_Update(&context, text.data(), text.size()) == 1 &&
           SHA256_Final(out, &context) == 1;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#else

inline bool openssl_sha256(std::string_view text, std::uint8_t* out) noexcept {
    return EVP_Digest(text.data(), text.size(), out, nullptr, EVP_sha256(), nullptr) == 1;
}

#endif

}  // namespace detail

TOLLGATE_DECL digest sha256(std::string_view text) {
    std::array<std::uint8_t, digest::size_bytes> bytes;
    if (!detail::openssl_sha256(text, bytes.data())) detail::fail_digest();
    return digest::from_bytes(bytes);
}

TOLLGATE_DECL digest hmac_sha256(const keyed_message& input) {
    std::array<std::uint8_t, digest::size_bytes> bytes;
    if (input.key.size() > INT_MAX) detail::fail_digest();
    const auto* message = reinterpret_cast<const unsigned char*>(input.message.data());
    // An empty key is a key too, but not to OpenSSL when it comes as a null pointer.
    const void* key = input.key.empty() ? "" : input.key.data();
    if (HMAC(EVP_sha256(), key, static_cast<int>(input.key.size()), message, input.message.size(), bytes.data(),
             nullptr) == nullptr)
        detail::fail_digest();
    return digest::from_bytes(bytes);
}

TOLLGATE_DECL bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace tollgate

// <tollgate/base/digest_memo.ipp>

namespace tollgate {

namespace detail {

/// Null when there are no random bytes for a key: then nothing is remembered.
inline std::unique_ptr<digest_memo> make_digest_memo() {
    siphash_key key;
    const bool has_key = RAND_priv_bytes(reinterpret_cast<unsigned char*>(&key), sizeof key) == 1;
    return has_key ? std::make_unique<digest_memo>(key) : nullptr;
}

}  // namespace detail

TOLLGATE_DECL digest recall_digest_of(std::string_view secret) {
    // On the heap, so that threads that never see a secret carry a pointer and not a table.
    thread_local const std::unique_ptr<digest_memo> memo = detail::make_digest_memo();
    return memo ? memo->of(secret) : sha256(secret);
}

}  // namespace tollgate

// <tollgate/base/encoding.ipp>

namespace tollgate {
namespace detail {

struct base64_alphabet {
    static constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
};
struct base64url_alphabet {
    static constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
};

/// A group of four characters is a number of three bytes and one more, which is not zero when a character is none of
/// the alphabet's. It is kept in the order of memory: storing it whole writes the three bytes where they belong.
using base64_group = std::uint32_t;
inline constexpr base64_group base64_error = in_big_endian_order(std::uint32_t{0xff});

/// For each of the four places in a group, what a character adds to it: a group is four look-ups and three ORs.
template <class Alphabet>
inline constexpr auto base64_places = [] {
    std::array<std::array<base64_group, 256>, 4> places{};
    for (std::size_t place = 0; place < places.size(); ++place) {
        places[place].fill(base64_error);
        for (std::uint32_t value = 0; value < 64; ++value)
            places[place][static_cast<unsigned char>(Alphabet::characters[value])] =
                in_big_endian_order(value << (26 - 6 * place));
    }
    return places;
}();

template <class Alphabet>
inline base64_group read_base64_group(const char* four) noexcept {
    const auto& places = base64_places<Alphabet>;
    const auto at = [four](std::size_t i) { return static_cast<unsigned char>(four[i]); };
    return places[0][at(0)] | places[1][at(1)] | places[2][at(2)] | places[3][at(3)];
}

/// Text without its padding.
template <class Alphabet>
inline std::optional<std::size_t> base64_decode_unpadded(std::string_view text, std::span<char> out) noexcept {
    const std::size_t groups = text.size() / 4;
    const std::size_t tail = text.size() % 4;
    const std::size_t size = groups * 3 + (tail == 0 ? 0 : tail - 1);
    if (tail == 1 || size > out.size()) return std::nullopt;

    const char* next = text.data();
    char* written = out.data();
    base64_group seen = 0;

    // Two groups at a time, each stored with its fourth byte, which the next group overwrites and the last has room for.
    const std::size_t groups_with_room = out.empty() ? 0 : (std::min)(groups, (out.size() - 1) / 3);
    for (const char* const end = next + groups_with_room / 2 * 8; next != end; next += 8, written += 6) {
        const base64_group first = read_base64_group<Alphabet>(next);
        const base64_group second = read_base64_group<Alphabet>(next + 4);
        seen |= first;
        seen |= second;
        std::memcpy(written, &first, sizeof first);
        std::memcpy(written + 3, &second, sizeof second);
    }
    for (const char* const end = text.data() + groups * 4; next != end; next += 4, written += 3) {
        const base64_group group = read_base64_group<Alphabet>(next);
        seen |= group;
        std::memcpy(written, &group, 3);
    }
    if (tail != 0) {
        constexpr char zero = Alphabet::characters.front();
        const char filled_up[4] = {next[0], next[1], tail == 3 ? next[2] : zero, zero};
        const base64_group group = read_base64_group<Alphabet>(filled_up);
        seen |= group;
        char bytes[sizeof group];
        std::memcpy(bytes, &group, sizeof group);
        if (bytes[tail - 1] != '\0') return std::nullopt;
        std::memcpy(written, bytes, tail - 1);
    }
    if ((seen & base64_error) != 0) return std::nullopt;
    return size;
}

template <class Alphabet>
inline std::string base64_encode_unpadded(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    unsigned bit_count = 0;
    for (char byte : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(byte);
        for (bit_count += 8; bit_count >= 6; bit_count -= 6) text += Alphabet::characters[bits >> (bit_count - 6) & 63];
    }
    if (bit_count > 0) text += Alphabet::characters[bits << (6 - bit_count) & 63];
    return text;
}

template <class Decode>
inline std::optional<std::string> decode_to_string(std::size_t bytes_max, Decode decode) {
    std::string made(bytes_max, '\0');
    const auto size = decode(std::span<char>{made});
    if (!size) return std::nullopt;
    made.resize(*size);
    return made;
}

}  // namespace detail

TOLLGATE_DECL std::string base64_encode(std::string_view bytes) {
    std::string text = detail::base64_encode_unpadded<detail::base64_alphabet>(bytes);
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

TOLLGATE_DECL std::optional<std::size_t> base64_decode_into(std::string_view text, std::span<char> out) noexcept {
    if (text.size() % 4 != 0) return std::nullopt;
    if (!text.empty() && text.back() == '=') text.remove_suffix(text[text.size() - 2] == '=' ? 2 : 1);
    return detail::base64_decode_unpadded<detail::base64_alphabet>(text, out);
}

TOLLGATE_DECL std::optional<std::string> base64_decode(std::string_view text) {
    return detail::decode_to_string(base64_decoded_bytes_max(text.size()),
                                    [text](std::span<char> out) { return base64_decode_into(text, out); });
}

TOLLGATE_DECL std::string base64url_encode(std::string_view bytes) {
    return detail::base64_encode_unpadded<detail::base64url_alphabet>(bytes);
}

TOLLGATE_DECL std::optional<std::string> base64url_decode(std::string_view text) {
    return detail::decode_to_string(base64_decoded_bytes_max(text.size()), [text](std::span<char> out) {
        return detail::base64_decode_unpadded<detail::base64url_alphabet>(text, out);
    });
}

TOLLGATE_DECL std::string hex_encode(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    for (char byte : bytes) {
        text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 0xf];
    }
    return text;
}

TOLLGATE_DECL std::optional<std::string> hex_decode(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_value(text[i]);
        const int low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

TOLLGATE_DECL std::string percent_encode(std::string_view bytes) {
    constexpr std::string_view unreserved_marks = "-._~";
    std::string text;
    text.reserve(bytes.size());
    for (char byte : bytes) {
        const char lower = ascii_lower(byte);
        if (is_digit(byte) || (lower >= 'a' && lower <= 'z') || unreserved_marks.find(byte) != std::string_view::npos) {
            text += byte;
            continue;
        }
        text += '%';
        text += "0123456789ABCDEF"[static_cast<unsigned char>(byte) >> 4];
        text += "0123456789ABCDEF"[static_cast<unsigned char>(byte) & 0xf];
    }
    return text;
}

TOLLGATE_DECL std::optional<std::size_t> percent_decode_into(std::string_view text, std::span<char> out,
                                                             plus_sign plus) noexcept {
    if (text.size() > out.size()) return std::nullopt;
    std::size_t written = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char byte = text[i];
        if (byte == '%') {
            const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            byte = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (byte == '+' && plus == plus_sign::space) {
            byte = ' ';
        }
        out[written++] = byte;
    }
    return written;
}

TOLLGATE_DECL std::optional<std::string> percent_decode(std::string_view text, plus_sign plus) {
    return detail::decode_to_string(text.size(),
                                    [text, plus](std::span<char> out) { return percent_decode_into(text, out, plus); });
}

}  // namespace tollgate

// <tollgate/base/ip_address.ipp>

namespace tollgate {
namespace detail {

/// A decimal number without sign, leading zero or more digits than `largest` has; -1 for anything else.
constexpr int parse_small_number(std::string_view text, int largest) noexcept {
    if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0')) return -1;
    int value = 0;
    for (char c : text) {
        if (!is_digit(c)) return -1;
        value = value * 10 + (c - '0');
    }
    return value <= largest ? value : -1;
}

/// Four decimal parts, written to `out[0..3]`. A leading zero is refused because others read it as octal.
constexpr bool parse_dotted_decimal(std::string_view text, std::uint8_t* out) noexcept {
    for (int part = 0; part < 4; ++part) {
        const auto end = part < 3 ? text.find('.') : text.size();
        if (end == std::string_view::npos) return false;
        const int value = parse_small_number(text.substr(0, end), 255);
        if (value < 0) return false;
        out[part] = static_cast<std::uint8_t>(value);
        text.remove_prefix(part < 3 ? end + 1 : end);
    }
    return true;
}

/// One to four hexadecimal digits; -1 for anything else.
constexpr int parse_hex_group(std::string_view text) noexcept {
    if (text.empty() || text.size() > 4) return -1;
    int value = 0;
    for (char c : text) {
        const int digit = hex_value(c);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/// RFC 4291 section 2.2: groups, at most one `::` that stands for at least one group, and perhaps a dotted decimal end.
constexpr std::optional<std::array<std::uint8_t, 16>> parse_ipv6(std::string_view text) noexcept {
    constexpr std::size_t no_gap = 17;
    std::array<std::uint8_t, 16> bytes{};
    std::size_t filled = 0;
    std::size_t gap = no_gap;

    if (text.substr(0, 2) == "::") {
        gap = 0;
        text.remove_prefix(2);
    }
    while (!text.empty()) {
        if (filled > bytes.size() - 2) return std::nullopt;
        const auto end = text.find(':');
        const std::string_view group = text.substr(0, end);
        if (end == std::string_view::npos && group.find('.') != std::string_view::npos) {
            if (filled > 12 || !parse_dotted_decimal(group, bytes.data() + filled)) return std::nullopt;
            filled += 4;
            break;
        }
        const int value = parse_hex_group(group);
        if (value < 0) return std::nullopt;
        bytes[filled++] = static_cast<std::uint8_t>(value >> 8);
        bytes[filled++] = static_cast<std::uint8_t>(value & 0xff);
        if (end == std::string_view::npos) break;

        text.remove_prefix(end + 1);
        if (text.empty()) return std::nullopt;  // a single colon ends nothing
        if (text.front() == ':') {
            if (gap != no_gap) return std::nullopt;
            gap = filled;
            text.remove_prefix(1);
        }
    }
    if (gap == no_gap) return filled == bytes.size() ? std::optional{bytes} : std::nullopt;
    if (filled >= bytes.size()) return std::nullopt;

    // What came before the gap goes to the front, what came behind it to the end.
    std::array<std::uint8_t, 16> spread{};
    std::copy_n(bytes.begin(), gap, spread.begin());
    std::copy_n(bytes.rbegin() + static_cast<std::ptrdiff_t>(bytes.size() - filled), filled - gap, spread.rbegin());
    return spread;
}

struct group_run {
    unsigned first = 8;
    unsigned length = 0;
};

/// The groups that `::` replaces by RFC 5952 section 4.2: the longest run of two or more zeros, the first of equals.
constexpr group_run longest_zero_run(const std::array<unsigned, 8>& groups) noexcept {
    group_run longest;
    for (unsigned first = 0; first < groups.size();) {
        unsigned end = first;
        while (end < groups.size() && groups[end] == 0) ++end;
        if (end - first >= 2 && end - first > longest.length) longest = {first, end - first};
        first = end + 1;
    }
    return longest;
}

inline std::string ipv4_text(const std::uint8_t* bytes) {
    std::string text = std::to_string(bytes[0]);
    for (int part = 1; part < 4; ++part) text.append(1, '.').append(std::to_string(bytes[part]));
    return text;
}

inline void append_hex_group(std::string& text, unsigned group) {
    bool leading = true;
    for (int shift = 12; shift >= 0; shift -= 4) {
        const unsigned digit = (group >> shift) & 0xf;
        leading = leading && digit == 0 && shift != 0;
        if (!leading) text += "0123456789abcdef"[digit];
    }
}

}  // namespace detail

TOLLGATE_DECL std::optional<ip_address> ip_address::parse(std::string_view text) noexcept {
    if (text.find(':') != std::string_view::npos) {
        const auto bytes = detail::parse_ipv6(text);
        return bytes ? std::optional{from_bytes(*bytes)} : std::nullopt;
    }
    std::uint8_t parts[4];
    if (!detail::parse_dotted_decimal(text, parts)) return std::nullopt;
    return v4(parts[0], parts[1], parts[2], parts[3]);
}

TOLLGATE_DECL std::string ip_address::to_text() const {
    if (is_v4()) return detail::ipv4_text(bytes_.data() + 12);

    std::array<unsigned, 8> groups{};
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = bytes_[2 * i] * 256U + bytes_[2 * i + 1];
    const auto zeros = detail::longest_zero_run(groups);

    std::string text;
    for (unsigned i = 0; i < groups.size(); ++i) {
        if (i == zeros.first) {
            text += "::";
            i += zeros.length - 1;
            continue;
        }
        if (!text.empty() && text.back() != ':') text += ':';
        detail::append_hex_group(text, groups[i]);
    }
    return text;
}

TOLLGATE_DECL std::optional<ip_network> ip_network::parse(std::string_view text) noexcept {
    const auto slash = text.find('/');
    const std::string_view address_text = text.substr(0, slash);
    const auto first = ip_address::parse(address_text);
    if (!first) return std::nullopt;
    if (slash == std::string_view::npos) return ip_network{*first, 128};

    const bool dotted = address_text.find(':') == std::string_view::npos;
    const int prefix = detail::parse_small_number(text.substr(slash + 1), dotted ? 32 : 128);
    if (prefix < 0) return std::nullopt;

    const unsigned prefix_bits = static_cast<unsigned>(prefix) + (dotted ? 96 : 0);
    for (unsigned bit = prefix_bits; bit < 128; ++bit)
        if ((first->bytes()[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
    return ip_network{*first, prefix_bits};
}

}  // namespace tollgate

// <tollgate/base/secret.ipp>

namespace tollgate {
namespace detail {

inline constexpr std::size_t kind_prefix_bytes = 4;
inline constexpr std::size_t checksum_digits = 6;         // 62^6 > 2^32
inline constexpr std::size_t secret_digits = 43;          // 62^43 > 2^256
inline constexpr std::size_t public_id_digits = 22;       // 62^22 > 2^128
static_assert(kind_prefix_bytes + secret_digits + checksum_digits == secret_text_bytes);

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 6> secret_prefixes{"tgp_", "tga_", "tgr_", "tgc_", "tgs_", "tgw_"};
inline constexpr std::array<std::string_view, 3> public_id_prefixes{"tgu_", "tgi_", "msg_"};

constexpr std::string_view prefix_of(secret_kind kind) noexcept {
    return {secret_prefixes[static_cast<std::size_t>(kind)].data(), kind_prefix_bytes};
}
constexpr std::string_view prefix_of(public_id_kind kind) noexcept {
    return {public_id_prefixes[static_cast<std::size_t>(kind)].data(), kind_prefix_bytes};
}

inline constexpr std::string_view base62_digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

template <std::size_t Digits>
constexpr std::array<char, Digits> to_base62(std::uint32_t number) noexcept {
    std::array<char, Digits> digits{};
    for (std::size_t i = Digits; i-- > 0; number /= 62) digits[i] = base62_digits[number % 62];
    return digits;
}

inline constexpr auto base62_values = [] {
    std::array<std::uint8_t, 256> made{};
    for (std::size_t i = 0; i < base62_digits.size(); ++i)
        made[static_cast<unsigned char>(base62_digits[i])] = static_cast<std::uint8_t>(i);
    return made;
}();

/// Precondition: at most 10 letters and digits. The sum has more bits than a checksum, so one checksum has one
/// spelling.
constexpr std::uint64_t from_base62(std::string_view digits) noexcept {
    std::uint64_t number = 0;
    for (char c : digits) number = number * 62 + base62_values[static_cast<unsigned char>(c)];
    return number;
}

/// A large number, most significant word first, as `Digits` base-62 digits. Always that many, so that all secrets of a
/// kind are of one length.
template <std::size_t Digits, std::size_t Words>
constexpr std::array<char, Digits> to_base62(std::array<std::uint32_t, Words> number) noexcept {
    std::array<char, Digits> digits{};
    for (std::size_t i = Digits; i-- > 0;) {
        std::uint64_t remainder = 0;
        for (std::uint32_t& word : number) {
            const std::uint64_t with_carry = remainder << 32 | word;
            word = static_cast<std::uint32_t>(with_carry / 62);
            remainder = with_carry % 62;
        }
        digits[i] = base62_digits[remainder];
    }
    return digits;
}

template <std::size_t Bytes>
constexpr std::array<std::uint32_t, Bytes / 4> to_words(std::span<const std::byte, Bytes> bytes) noexcept {
    std::array<std::uint32_t, Bytes / 4> words{};
    for (std::size_t i = 0; i < Bytes; ++i) words[i / 4] = words[i / 4] << 8 | std::to_integer<std::uint32_t>(bytes[i]);
    return words;
}

template <std::size_t Digits>
constexpr std::string_view view_of(const std::array<char, Digits>& digits) noexcept { return {digits.data(), Digits}; }

constexpr bool is_alphanumeric(char c) noexcept {
    const char lower = ascii_lower(c);
    return is_digit(c) || (lower >= 'a' && lower <= 'z');
}

/// How many of `Size` characters are no ASCII letters or digits. Arithmetic on bytes without an exit in a loop of known
/// length, which compilers turn into a handful of vector instructions when the length is a multiple of 16.
template <std::size_t Size>
constexpr unsigned count_others(const char* text) noexcept {
    static_assert(Size % 16 == 0 && Size < 256);
    unsigned char others = 0;
    for (std::size_t i = 0; i < Size; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const auto letter = static_cast<unsigned char>((c | 0x20) - 'a');
        const auto digit = static_cast<unsigned char>(c - '0');
        others = static_cast<unsigned char>(others + ((letter > 25) & (digit > 9)));
    }
    return others;
}

/// The CRC-32 of the digits and the `_` before them, which makes a whole number of the steps that a CRC-32 is taken in.
inline std::uint32_t checksum_of(std::string_view secret) noexcept {
    constexpr std::size_t checked_bytes = 1 + secret_digits;
    static_assert(checked_bytes % 4 == 0);
    return crc32({secret.data() + kind_prefix_bytes - 1, checked_bytes});
}

}  // namespace detail

TOLLGATE_DECL secret_text make_secret(secret_kind kind, std::span<const std::byte, 32> random) noexcept {
    secret_text made;
    made.append(detail::prefix_of(kind));
    made.append(detail::view_of(detail::to_base62<detail::secret_digits>(detail::to_words(random))));
    made.append(detail::view_of(detail::to_base62<detail::checksum_digits>(detail::checksum_of(made))));
    return made;
}

TOLLGATE_DECL bool is_well_formed(secret_kind kind, std::string_view text) noexcept {
    if (text.size() != secret_text_bytes || text.substr(0, detail::kind_prefix_bytes) != detail::prefix_of(kind))
        return false;

    // All but the prefix and the character behind it, so that the rest is a whole number of vectors.
    constexpr std::size_t first = detail::kind_prefix_bytes;
    if (!detail::is_alphanumeric(text[first]) ||
        detail::count_others<secret_text_bytes - first - 1>(&text[first + 1]) != 0)
        return false;

    return detail::from_base62(text.substr(secret_text_bytes - detail::checksum_digits)) == detail::checksum_of(text);
}

TOLLGATE_DECL public_id make_public_id(public_id_kind kind, std::span<const std::byte, 16> random) noexcept {
    public_id made;
    made.append(detail::prefix_of(kind));
    made.append(detail::view_of(detail::to_base62<detail::public_id_digits>(detail::to_words(random))));
    return made;
}

TOLLGATE_DECL void secure_wipe(std::span<std::byte> bytes) noexcept { OPENSSL_cleanse(bytes.data(), bytes.size()); }

TOLLGATE_DECL void secure_wipe(std::string& text) noexcept {
    OPENSSL_cleanse(text.data(), text.size());
    text.clear();
}

}  // namespace tollgate

// <tollgate/http/authority.ipp>

namespace tollgate::http {

namespace detail {

/// unreserved and sub-delims of RFC 3986 section 2, without the comma.
inline constexpr byte_set host_chars =
    make_byte_set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+;=");

/// What stands behind the host: nothing, or a colon and a port, which may be empty (RFC 3986 section 3.2.3).
[[nodiscard]] constexpr bool is_port_part(std::string_view text) noexcept {
    constexpr std::size_t digits_max = 5;
    if (text.empty()) return true;
    if (text.front() != ':' || text.size() > 1 + digits_max) return false;
    unsigned port = 0;
    for (char c : text.substr(1)) {
        if (!is_digit(c)) return false;
        port = port * 10 + static_cast<unsigned>(c - '0');
    }
    return port <= 65535;
}

/// How many bytes of a name or an IPv4 address `text` begins with, percent-encoded ones included.
[[nodiscard]] constexpr std::size_t host_bytes(std::string_view text) noexcept {
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        while (at != end && holds(host_chars, *at)) ++at;
        if (end - at < 3 || at[0] != '%' || hex_value(at[1]) < 0 || hex_value(at[2]) < 0) break;
        at += 3;
    }
    return static_cast<std::size_t>(at - text.data());
}

[[nodiscard]] TOLLGATE_DECL bool is_bracketed_authority(std::string_view text) noexcept {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return false;
    const std::string_view address = text.substr(1, close - 1);
    return address.find(':') != std::string_view::npos && ip_address::parse(address).has_value() &&
           is_port_part(text.substr(close + 1));
}

}  // namespace detail

TOLLGATE_DECL bool is_authority(std::string_view text) noexcept {
    if (text.starts_with('[')) return detail::is_bracketed_authority(text);
    const std::size_t size = detail::host_bytes(text);
    return size != 0 && detail::is_port_part(text.substr(size));
}

}  // namespace tollgate::http

// <tollgate/http/chunked_body.ipp>

namespace tollgate::http::detail {

TOLLGATE_DECL chunk_step chunked_body::step(std::span<char> bytes, std::size_t bytes_max) noexcept {
    while (at_ < bytes.size() && state_ != state::trailers) {
        if (state_ == state::data) {
            take_data(bytes);
            continue;
        }
        if (++overhead_ > limits::chunk_overhead_bytes_max)
            return refuse(status::bad_request, "The chunks of the body have too much framing for their data.");
        const char c = bytes[at_++];
        switch (state_) {
            case state::data_cr:
                if (c != '\r') return refuse(status::bad_request, "A chunk is not followed by CRLF.");
                state_ = state::data_lf;
                break;
            case state::data_lf:
                if (c != '\n') return refuse(status::bad_request, "A chunk is not followed by CRLF.");
                state_ = state::size_first;
                break;
            case state::line_lf:
                if (c != '\n') return refuse(status::bad_request, "A chunk line does not end in CRLF.");
                if (chunk_bytes_ > bytes_max - size_) return chunk_step::too_large;
                line_bytes_ = 0;
                size_digits_ = 0;
                state_ = chunk_bytes_ == 0 ? state::trailers : state::data;
                if (state_ == state::trailers) trailers_.start(at_);
                break;
            default:
                if (++line_bytes_ > limits::chunk_line_bytes_max)
                    return refuse(status::bad_request, "A chunk line is too long.");
                if (!read_line_byte(c))
                    return refuse(status::bad_request, "A chunk line is not a hexadecimal size and extensions.");
        }
    }
    return state_ == state::trailers ? read_trailers(bytes) : chunk_step::needs_more;
}

/// One byte of a chunk line before its LF:
/// `chunk-size *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ) CR` (RFC 9112 section 7.1.1).
TOLLGATE_DECL bool chunked_body::read_line_byte(char c) noexcept {
    constexpr unsigned size_digits_max = 16;  // 64 bits
    const bool blank = c == ' ' || c == '\t';
    const auto go = [this](state next) {
        state_ = next;
        return true;
    };
    switch (state_) {
        case state::size_first:
        case state::size_more:
            if (const int digit = hex_value(c); digit >= 0) {
                if (++size_digits_ > size_digits_max) return false;
                chunk_bytes_ = chunk_bytes_ << 4 | static_cast<unsigned>(digit);
                return go(state::size_more);
            }
            if (state_ == state::size_first) return false;
            return c == '\r'  ? go(state::line_lf)
                   : c == ';' ? go(state::extension_begin)
                              : blank && go(state::before_semicolon);
        case state::before_semicolon: return c == ';' ? go(state::extension_begin) : blank;
        case state::extension_begin: return blank || (is_token_char(c) && go(state::extension_name));
        case state::extension_name:
            if (is_token_char(c)) return true;
            if (blank) return go(state::before_equals);
            return c == '='   ? go(state::value_begin)
                   : c == ';' ? go(state::extension_begin)
                              : c == '\r' && go(state::line_lf);
        case state::before_equals:
            return blank || (c == '=' ? go(state::value_begin) : c == ';' && go(state::extension_begin));
        case state::value_begin:
            return blank || (c == '"' ? go(state::value_quoted) : is_token_char(c) && go(state::value_token));
        case state::value_token:
            if (is_token_char(c)) return true;
            [[fallthrough]];
        case state::value_end:
            return c == '\r'  ? go(state::line_lf)
                   : c == ';' ? go(state::extension_begin)
                              : blank && go(state::before_semicolon);
        case state::value_quoted:
            return c == '"' ? go(state::value_end) : c == '\\' ? go(state::value_escaped) : !holds(value_ends, c);
        case state::value_escaped: return !holds(value_ends, c) && go(state::value_quoted);
        default: return false;
    }
}

TOLLGATE_DECL void chunked_body::take_data(std::span<char> bytes) noexcept {
    const auto there = static_cast<std::size_t>((std::min)(chunk_bytes_, std::uint64_t{bytes.size() - at_}));
    std::memmove(bytes.data() + begin_ + size_, bytes.data() + at_, there);
    size_ += there;
    at_ += there;
    chunk_bytes_ -= there;
    if (chunk_bytes_ == 0) state_ = state::data_cr;
}

TOLLGATE_DECL chunk_step chunked_body::read_trailers(std::span<char> bytes) noexcept {
    const std::size_t bound = at_ + (limits::chunk_overhead_bytes_max - overhead_);
    for (;;) {
        field_id id;
        field line;
        const line_result result = trailers_.read(bytes.data(), (std::min)(bytes.size(), bound), id, line);
        switch (result) {
            case line_result::field:
                if (++trailer_count_ <= limits::field_count_max) break;
                return refuse(status::header_fields_too_large, "There are too many trailer fields.");
            case line_result::section_end: at_ = trailers_.at(); return chunk_step::complete;
            case line_result::unfinished:
                if (bytes.size() < bound) return chunk_step::needs_more;
                return refuse(status::header_fields_too_large, "The trailer fields are too large.");
            default: return refuse(status::bad_request, to_reason(result));
        }
    }
}

TOLLGATE_DECL chunk_step chunked_body::refuse(status with, std::string_view reason) noexcept {
    refused_status_ = with;
    refused_reason_ = reason;
    return chunk_step::refused;
}

}  // namespace tollgate::http::detail

// <tollgate/http/client_address.ipp>

namespace tollgate::http::detail {

/// The hops of all lines of one field, left to right: the last `hops_max` of them.
class forwarded_hops {
public:
    static constexpr std::size_t hops_max = 32;  // no request passes that many proxies of one operator

    void add(std::string_view node) noexcept { nodes_[size_++ % hops_max] = node; }

    [[nodiscard]] std::size_t size() const noexcept { return size_ < hops_max ? size_ : hops_max; }
    /// 0 is the right-most.
    [[nodiscard]] std::string_view from_right(std::size_t at) const noexcept { return nodes_[(size_ - 1 - at) % hops_max]; }

private:
    std::array<std::string_view, hops_max> nodes_;
    std::size_t size_ = 0;
};

/// `address`, `address:port`, `[address]` or `[address]:port`; an IPv6 address may stand without brackets if it has no port.
inline std::optional<ip_address> parse_node(std::string_view node) noexcept {
    const auto is_port = [](std::string_view text) {
        constexpr std::size_t digits_max = 5;
        for (char c : text)
            if (!is_digit(c)) return false;
        return !text.empty() && text.size() <= digits_max;
    };
    if (node.starts_with('[')) {
        const auto end = node.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        const auto behind = node.substr(end + 1);
        if (!behind.empty() && (behind.front() != ':' || !is_port(behind.substr(1)))) return std::nullopt;
        return ip_address::parse(node.substr(1, end - 1));
    }
    const auto colon = node.find(':');
    if (colon == std::string_view::npos || node.find(':', colon + 1) != std::string_view::npos) return ip_address::parse(node);
    return is_port(node.substr(colon + 1)) ? ip_address::parse(node.substr(0, colon)) : std::nullopt;
}

/// Where a quoted-string that may begin at `at` ends, or `at` itself if none does; npos if it never ends.
inline std::size_t skip_quoted(std::string_view text, std::size_t at) noexcept {
    if (at >= text.size() || text[at] != '"') return at;
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\') ++at;
        else if (text[at] == '"') return at + 1;
    }
    return std::string_view::npos;
}

/// The elements of a Forwarded line (RFC 7239 section 4). One without a readable `for`, or with two, is a hop all the same,
/// an unknown one.
inline void add_forwarded_line(std::string_view line, forwarded_hops& hops) noexcept {
    std::string_view node;
    std::size_t nodes = 0;
    std::size_t at = 0;
    const auto add_hop = [&] { hops.add(nodes == 1 ? node : std::string_view{}); };
    const auto skip_blanks = [&] {
        while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    };
    for (;;) {
        skip_blanks();
        const auto name_begin = at;
        while (at < line.size() && is_token_char(line[at])) ++at;
        const auto name = line.substr(name_begin, at - name_begin);
        std::string_view value;
        if (at < line.size() && line[at] == '=') {
            const auto value_begin = ++at;
            const auto quoted_end = skip_quoted(line, at);
            if (quoted_end == std::string_view::npos) return hops.add({});  // never ends: nothing behind it can be told apart
            if (quoted_end != at) {
                value = line.substr(value_begin + 1, quoted_end - value_begin - 2);
                at = quoted_end;
            } else {
                while (at < line.size() && is_token_char(line[at])) ++at;
                value = line.substr(value_begin, at - value_begin);
            }
        }
        if (ascii_iequals(name, "for")) {
            node = value;
            ++nodes;
        }
        skip_blanks();
        if (at == line.size()) return add_hop();
        if (line[at] == ',') {
            add_hop();
            nodes = 0;
        } else if (line[at] != ';') {
            return hops.add({});  // no element of RFC 7239
        }
        ++at;
    }
}

inline void add_x_forwarded_for_line(std::string_view line, forwarded_hops& hops) noexcept {
    for (;;) {
        const auto comma = line.find(',');
        const auto node = trim_ows(line.substr(0, comma));
        if (!node.empty()) hops.add(node);  // empty elements of a list are none (RFC 9110 section 5.6.1)
        if (comma == std::string_view::npos) return;
        line.remove_prefix(comma + 1);
    }
}

inline bool is_trusted(const ip_address& hop, std::span<const ip_network> trusted) noexcept {
    for (const ip_network& each : trusted)
        if (each.contains(hop)) return true;
    return false;
}

inline ip_address right_most_untrusted(const forwarded_hops& hops, ip_address hop, std::span<const ip_network> trusted) noexcept {
    for (std::size_t i = 0; i < hops.size(); ++i) {
        const auto next = parse_node(hops.from_right(i));
        if (!next) return hop;
        hop = *next;
        if (!is_trusted(hop, trusted)) return hop;
    }
    return hop;
}

TOLLGATE_DECL ip_address forwarded_address(const request& asked, std::span<const ip_network> trusted) noexcept {
    if (!is_trusted(asked.peer, trusted)) return asked.peer;
    const bool has_forwarded = asked.fields.count(field_id::forwarded) != 0;
    const bool has_x_forwarded_for = asked.fields.count(field_id::x_forwarded_for) != 0;
    if (!has_forwarded && !has_x_forwarded_for) return asked.peer;

    forwarded_hops forwarded;
    forwarded_hops x_forwarded_for;
    for (const field& line : asked.fields) {
        if (ascii_iequals(line.name, "forwarded")) add_forwarded_line(line.value, forwarded);
        else if (ascii_iequals(line.name, "x-forwarded-for")) add_x_forwarded_for_line(line.value, x_forwarded_for);
    }
    const auto by_forwarded = right_most_untrusted(forwarded, asked.peer, trusted);
    const auto by_x_forwarded_for = right_most_untrusted(x_forwarded_for, asked.peer, trusted);
    if (!has_forwarded) return by_x_forwarded_for;
    if (!has_x_forwarded_for || by_forwarded == by_x_forwarded_for) return by_forwarded;
    return asked.peer;
}

}  // namespace tollgate::http::detail

// <tollgate/http/form_body.ipp>

namespace tollgate::http {

namespace detail {

/// Empty for a broken percent-encoding, a bare control byte, or bytes that are no UTF-8 once decoded.
[[nodiscard]] inline std::optional<std::string> decode_form_text(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
        if (c != '%') {
            decoded.push_back(c == '+' ? ' ' : c);
            continue;
        }
        if (text.size() - i < 3) return std::nullopt;
        const int high = hex_value(text[i + 1]);
        const int low = hex_value(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        decoded.push_back(static_cast<char>(high << 4 | low));
        i += 2;
    }
    if (!is_utf8(decoded)) return std::nullopt;
    return decoded;
}

}  // namespace detail

TOLLGATE_DECL outcome<form_fields> parse_form(std::string_view bytes) {
    std::vector<form_member> members;
    while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, bytes.find('&'));
        bytes.remove_prefix((std::min)(piece.size() + 1, bytes.size()));
        if (piece.empty()) continue;
        if (members.size() == limits::form_members_max) return malformed("There are too many parameters.");

        const auto equals = (std::min)(piece.find('='), piece.size());
        auto name = detail::decode_form_text(piece.substr(0, equals));
        auto value = detail::decode_form_text(piece.substr((std::min)(equals + 1, piece.size())));
        if (!name || !value) return malformed("The parameters are not valid application/x-www-form-urlencoded UTF-8.");
        members.push_back({std::move(*name), std::move(*value)});
    }
    return form_fields{std::move(members)};
}

}  // namespace tollgate::http

// <tollgate/http/json_body.ipp>

namespace tollgate::http {

namespace detail {

/// Takes nlohmann's events, keeps the top level's members and judges the rest. The parser behind it keeps its own stack
/// on the heap and does not recurse; `false` stops it, so a bomb is cut off at the bound and not after it has been
/// read.
class json_judge {
public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    explicit json_judge(bool object_only) noexcept : object_only_{object_only} {}

    bool null() { return value(json_kind::null, {}); }
    bool boolean(bool yes) { return value(json_kind::boolean, yes ? "true" : "false"); }
    bool number_integer(number_integer_t number) { return value(json_kind::integer, std::to_string(number)); }
    bool number_unsigned(number_unsigned_t number) { return value(json_kind::integer, std::to_string(number)); }
    bool number_float(number_float_t, const string_t& digits) { return value(json_kind::number, digits); }
    bool string(string_t& text) { return value(json_kind::text, std::move(text)); }
    bool binary(binary_t&) { return refuse("The body is not valid JSON."); }

    bool start_object(std::size_t) { return value(json_kind::object, {}) && open(); }
    bool start_array(std::size_t) { return value(json_kind::array, {}) && open(); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(string_t& name);

    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& why) {
        constexpr int number_out_of_range = 406;
        return refuse(why.id == number_out_of_range ? "A number in the JSON is out of range."
                                                    : "The body is not valid JSON in UTF-8.");
    }

    bool refuse(const char* message);

    [[nodiscard]] problem why() && { return malformed(std::move(why_)); }
    [[nodiscard]] json_object members() && { return json_object{std::move(members_)}; }

private:
    bool value(json_kind kind, std::string text);
    bool open();
    bool close();

    bool object_only_;
    std::string why_;
    std::vector<json_member> members_;
    std::vector<std::vector<std::string>> names_;  // of each open object or array, sorted; reused from level to level
    std::size_t depth_ = 0;
};

inline bool json_judge::value(json_kind kind, std::string text) {
    if (depth_ == 0 && object_only_ && kind != json_kind::object) return refuse("The body is not a JSON object.");
    if (depth_ == 1 && object_only_) {
        members_.back().kind = kind;
        members_.back().value = std::move(text);
    }
    return true;
}

inline bool json_judge::open() {
    if (depth_ == limits::json_depth_max) return refuse("The JSON is nested too deeply.");
    if (names_.size() == depth_) names_.emplace_back();
    names_[depth_++].clear();
    return true;
}

inline bool json_judge::close() {
    --depth_;
    return true;
}

inline bool json_judge::key(string_t& name) {
    auto& names = names_[depth_ - 1];
    if (names.size() == limits::json_members_max) return refuse("A JSON object has too many members.");
    const auto place = std::lower_bound(names.begin(), names.end(), name);
    if (place != names.end() && *place == name) return refuse("A JSON object has two members of the same name.");
    names.insert(place, name);
    if (depth_ == 1 && object_only_) members_.push_back({std::move(name), json_kind::null, {}});
    return true;
}

inline bool json_judge::refuse(const char* message) {
    why_ = message;
    return false;
}

inline bool read_json(std::string_view bytes, json_judge& judge) {
    if (bytes.empty()) return judge.refuse("The body is missing.");
    // The parser would skip a byte order mark, which RFC 8259 section 8.1 forbids to send.
    if (bytes.starts_with("\xef\xbb\xbf")) return judge.refuse("The body begins with a byte order mark.");
    // It would also take a NUL behind the document for its end.
    if (bytes.find('\0') != std::string_view::npos) return judge.refuse("The body holds a NUL byte.");
    return nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &judge);
}

}  // namespace detail

TOLLGATE_DECL outcome<json_object> parse_json_object(std::string_view bytes) {
    detail::json_judge judge{true};
    if (!detail::read_json(bytes, judge)) return std::move(judge).why();
    return std::move(judge).members();
}

TOLLGATE_DECL outcome<void> check_json(std::string_view bytes) {
    detail::json_judge judge{false};
    if (!detail::read_json(bytes, judge)) return std::move(judge).why();
    return {};
}

}  // namespace tollgate::http

// <tollgate/http/request_parser.ipp>

namespace tollgate::http {

namespace detail {

inline constexpr std::size_t method_bytes_max = 32;  // the longest registered one has 17; longer cannot be one of ours

/// Whether `text` stands at this offset. In pieces of known size, which compilers turn into comparisons of words: one
/// of ten bytes would be a call.
template <std::size_t Size>
[[nodiscard]] bool begins_with(std::string_view bytes, std::size_t offset, const char (&text)[Size]) noexcept {
    constexpr std::size_t text_bytes = Size - 1;
    constexpr std::size_t tail_bytes = text_bytes % 8;
    if (bytes.size() - offset < text_bytes) return false;
    const char* const at = bytes.data() + offset;
    for (std::size_t i = 0; i + 8 <= text_bytes; i += 8)
        if (std::memcmp(at + i, text + i, 8) != 0) return false;
    return std::memcmp(at + text_bytes - tail_bytes, text + text_bytes - tail_bytes, tail_bytes) == 0;
}

/// Whether a comma-separated field value holds this member, in any case (RFC 9110 section 5.6.1).
[[nodiscard]] constexpr bool list_holds(std::string_view list, std::string_view member) noexcept {
    for (;;) {
        const auto comma = list.find(',');
        if (ascii_iequals(trim_ows(list.substr(0, comma)), member)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

/// Whether a tab is among the blanks that were trimmed from this value of a field line, which a colon and a CR enclose.
[[nodiscard]] constexpr bool has_tab_around(std::string_view value) noexcept {
    const char* before = value.data() - 1;
    while (*before == ' ') --before;
    const char* behind = value.data() + value.size();
    while (*behind == ' ') ++behind;
    return *before == '\t' || *behind == '\t';
}

/// Whether any line of a field that may come several times holds this member.
[[nodiscard]] inline bool lines_hold(const field_lines& lines, field_id id, std::string_view member) noexcept {
    if (lines.count(id) == 1) return list_holds(lines.find(id), member);
    for (const field& line : lines)
        if (to_field_id(line.name) == id && list_holds(line.value, member)) return true;
    return false;
}

}  // namespace detail

TOLLGATE_DECL request_parser::request_parser(const parser_settings& settings) noexcept : settings_{settings} {
    for (std::size_t* bound : {&settings_.target_bytes_max, &settings_.header_bytes_max, &settings_.body_bytes_max})
        *bound = (std::min)(*bound, parser_settings::bytes_max);
}

TOLLGATE_DECL void request_parser::start() noexcept {
    stage_ = stage::nothing;
    at_ = seen_ = 0;
    message_bytes_ = 0;
    keep_alive_ = false;
    expects_continue_ = false;
}

TOLLGATE_DECL parse_step request_parser::step(std::span<char> bytes, request& into) noexcept {
    const std::string_view text{bytes.data(), bytes.size()};
    const auto base = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (base != base_ && stage_ != stage::nothing) into.relocate(base_, bytes.data());
    base_ = base;

    // Each case falls into the next one when its piece is complete, so that a message which came whole is read in one
    // go.
    parse_step result = parse_step::complete;
    switch (stage_) {
        case stage::nothing:
            if (result = begin(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::method:
            if (result = read_method(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::target:
            if (result = read_target(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::version:
            if (result = read_version(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::fields:
            if (result = read_fields(text, into); result != parse_step::complete) return result;
            if (stage_ == stage::complete) return result;
            result = stage_ == stage::chunked ? read_chunked(bytes, into) : read_known_length(text, into);
            return result == parse_step::needs_more ? parse_step::head_complete : result;
        case stage::known_length: return read_known_length(text, into);
        case stage::chunked: return read_chunked(bytes, into);
        case stage::complete: return parse_step::complete;
        case stage::refused: break;
    }
    return parse_step::refused;
}

/// One empty line before a request is tolerated (RFC 9112 section 2.2): old clients send one behind a body.
TOLLGATE_DECL parse_step request_parser::begin(std::string_view bytes, request& into) noexcept {
    if (bytes.empty()) return parse_step::needs_more;
    into.clear();
    std::size_t first = 0;
    if (bytes[0] == '\r') [[unlikely]] {
        if (bytes.size() < 2) return parse_step::needs_more;
        if (bytes[1] != '\n') return refuse(detail::to_reason(detail::line_result::bare_cr));
        first = 2;
    }
    return go_on(stage::method, first);
}

TOLLGATE_DECL parse_step request_parser::read_method(std::string_view bytes, request& into) noexcept {
    if (seen_ == at_ && detail::begins_with(bytes, at_, "GET ")) [[likely]] {
        into.method_name = bytes.substr(at_, 3);
        return go_on(stage::target, at_ + 4);
    }
    const std::size_t bound = at_ + detail::method_bytes_max + 1;
    const char* const end =
        detail::find_token_end(bytes.data() + seen_, bytes.data() + (std::min)(bytes.size(), bound));
    seen_ = static_cast<std::size_t>(end - bytes.data());
    if (seen_ == bound) return refuse("The request method is not one that this server knows.", status::not_implemented);
    if (seen_ == bytes.size()) return parse_step::needs_more;
    if (*end != ' ' || seen_ == at_) [[unlikely]] {
        if (*end == '\x16' && seen_ == 0) return refuse("A TLS handshake came to a port that speaks plain HTTP.");
        return refuse("The request line does not begin with a method and one space.");
    }
    into.method_name = bytes.substr(at_, seen_ - at_);
    into.method = to_method(into.method_name);
    return go_on(stage::target, seen_ + 1);
}

TOLLGATE_DECL parse_step request_parser::read_target(std::string_view bytes, request& into) noexcept {
    const std::size_t bound = at_ + settings_.target_bytes_max + 1;
    const char* const end =
        detail::find_target_end(bytes.data() + seen_, bytes.data() + (std::min)(bytes.size(), bound));
    seen_ = static_cast<std::size_t>(end - bytes.data());
    if (seen_ == bound) return refuse("The request target is too long.", status::uri_too_long);
    if (seen_ == bytes.size()) return parse_step::needs_more;
    if (*end != ' ') [[unlikely]] {
        if (*end == '#') return refuse("The request target holds a fragment.");
        if (*end == '\r' || *end == '\n') return refuse("The request line has no HTTP version.");
        return refuse("The request target holds a byte that must be percent-encoded.");
    }
    const std::string_view text = bytes.substr(at_, seen_ - at_);
    if (text.starts_with('/') && into.method != method::connect) [[likely]] into.target = target::from(text);
    else if (const auto judged = judge_target(text, into); judged != parse_step::complete) return judged;
    return go_on(stage::version, seen_ + 1);
}

/// The forms of RFC 9112 section 3.2 other than origin-form. CONNECT and its authority-form are for proxies.
TOLLGATE_DECL parse_step request_parser::judge_target(std::string_view text, request& into) noexcept {
    if (into.method == method::connect) return refuse("This server is no proxy: CONNECT is not served.");
    if (text.empty()) return refuse("There is more than one space between the method and the request target.");
    if (text == "*") {
        if (into.method != method::options) return refuse("The request target * goes with OPTIONS alone.");
        into.target = target::from(text);
        return parse_step::complete;
    }
    return judge_absolute_target(text, into);
}

TOLLGATE_DECL parse_step request_parser::judge_absolute_target(std::string_view text, request& into) noexcept {
    constexpr std::string_view reason = "The request target is neither a path nor an absolute http or https URL.";
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || text.substr(colon, 3) != "://") return refuse(reason);
    const std::string_view scheme = text.substr(0, colon);
    if (!ascii_iequals(scheme, "http") && !ascii_iequals(scheme, "https")) return refuse(reason);

    const std::string_view rest = text.substr(colon + 3);
    const auto authority_bytes = (std::min)(rest.find_first_of("/?"), rest.size());
    if (!is_authority(rest.substr(0, authority_bytes))) return refuse("The request target does not name a valid host.");
    into.target = target::from(rest.substr(authority_bytes));
    into.target.authority = rest.substr(0, authority_bytes);
    // An empty path is `/` (RFC 9112 section 3.2.1): the one in front of the authority, for it is a view of the buffer
    // too.
    if (into.target.path.empty()) into.target.path = text.substr(colon + 2, 1);
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::read_version(std::string_view bytes, request& into) noexcept {
    static constexpr char newer[] = "HTTP/1.1\r\n";
    static constexpr char older[] = "HTTP/1.0\r\n";
    if (detail::begins_with(bytes, at_, newer)) [[likely]] {
        into.version = version::http_1_1;
    } else if (detail::begins_with(bytes, at_, older)) {
        into.version = version::http_1_0;
    } else {
        const std::string_view rest = bytes.substr(at_);
        if (std::string_view{newer}.starts_with(rest) || std::string_view{older}.starts_with(rest))
            return parse_step::needs_more;
        return refuse("The request line does not end in HTTP/1.1 or HTTP/1.0 and CRLF.");
    }
    section_begin_ = at_ + (sizeof newer - 1);
    lines_.start(section_begin_);
    return go_on(stage::fields, section_begin_);
}

TOLLGATE_DECL parse_step request_parser::read_fields(std::string_view bytes, request& into) noexcept {
    const std::size_t bound = section_begin_ + settings_.header_bytes_max;
    const std::size_t bytes_end = (std::min)(bytes.size(), bound);
    if (lines_.at_line_begin()) [[likely]] {
        const std::size_t at = read_usual_fields(bytes.substr(0, bytes_end), lines_.at(), into.fields);
        if (bytes_end - at >= 2 && detail::begins_with(bytes, at, "\r\n")) [[likely]] {
            at_ = at + 2;
            return judge_head(bytes, into);
        }
        lines_.start(at);
    }
    for (;;) {
        field_id id;
        field line;
        const auto result = lines_.read(bytes.data(), bytes_end, id, line);
        if (result == detail::line_result::field) {
            if (into.fields.size() < settings_.field_count_max && into.fields.add(id, line.name, line.value)) continue;
            return refuse("There are too many header fields.", status::header_fields_too_large);
        }
        if (result == detail::line_result::section_end) break;
        if (result != detail::line_result::unfinished) return refuse(detail::to_reason(result));
        if (bytes.size() < bound) return parse_step::needs_more;
        return refuse("The header fields are too large.", status::header_fields_too_large);
    }
    at_ = lines_.at();
    return judge_head(bytes, into);
}

/// The fast lane for lines that came whole and have nothing odd, which are nearly all. Returns where the first other
/// line begins: the reader, which has the last word on every byte, starts there.
TOLLGATE_DECL std::size_t request_parser::read_usual_fields(std::string_view bytes, std::size_t at,
                                                            field_lines& into) const noexcept {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    const char* const end = bytes.data() + bytes.size();
    const char* begin = bytes.data() + at;
    while (into.size() < settings_.field_count_max) {
        const char* const colon = detail::find_near_colon(begin, end);
        if (colon == nullptr) break;
        const std::string_view name{begin, static_cast<std::size_t>(colon - begin)};
        const field_id id = to_field_id(name);
        if (id == field_id::other && (name.empty() || detail::find_token_end(begin, colon) != colon)) break;

        const char* value = colon + 1;
        const char* const line_end = detail::find_value_end(value, end);
        if (end - line_end < 2 || std::memcmp(line_end, "\r\n", 2) != 0) break;
        while (is_blank(*value)) ++value;  // the CR stops it
        const char* value_end = line_end;
        while (value_end > value && is_blank(value_end[-1])) --value_end;
        if (!into.add(id, name, {value, static_cast<std::size_t>(value_end - value)})) break;
        begin = line_end + 2;
    }
    return static_cast<std::size_t>(begin - bytes.data());
}

/// What the fields say together: for whom it is, where it ends, what becomes of the connection.
TOLLGATE_DECL parse_step request_parser::judge_head(std::string_view bytes, request& into) noexcept {
    const std::size_t hosts = into.fields.count(field_id::host);
    if (hosts > 1) return refuse("There is more than one Host field.");
    if (hosts == 0 && into.version == version::http_1_1) return refuse("There is no Host field.");
    if (hosts == 1 && !names_good_host(into)) return refuse("The Host field is not a host and an optional port.");

    keep_alive_ = into.version == version::http_1_1;
    if (into.fields.count(field_id::connection) != 0) judge_connection(into);

    stage_ = stage::complete;
    if (into.fields.count(field_id::transfer_encoding) != 0) {
        if (const auto judged = judge_transfer_encoding(into); judged != parse_step::complete) return judged;
    } else if (into.fields.count(field_id::content_length) != 0) {
        if (const auto judged = judge_content_length(into); judged != parse_step::complete) return judged;
    }
    if (into.fields.count(field_id::expect) != 0) {
        if (const auto judged = judge_expectation(into); judged != parse_step::complete) return judged;
        expects_continue_ = into.version == version::http_1_1 && stage_ != stage::complete && bytes.size() == at_;
    }
    if (stage_ == stage::known_length && message_bytes_ - at_ > settings_.body_bytes_max) return finish_too_large(into);
    return parse_step::complete;
}

/// Nearly all clients of a server name the same host, so the last good one is not judged again.
TOLLGATE_DECL bool request_parser::names_good_host(const request& into) noexcept {
    const std::string_view host = into.fields.find(field_id::host);
    if (!good_host_.empty() && host == good_host_.view()) return true;
    if (!is_authority(host)) return false;
    good_host_.clear();
    good_host_.append(host);
    return true;
}

/// Exactly one `chunked`, nothing else, and no Content-Length beside it: RFC 9112 section 6.1 lets a server refuse the
/// combination, and every parser that tried to repair it has been smuggled through. No tab around it either, though it
/// is whitespace to RFC 9110: to some parsers in front of us it is a part of the name, and then of no known coding.
TOLLGATE_DECL parse_step request_parser::judge_transfer_encoding(const request& into) noexcept {
    if (into.version == version::http_1_0) return refuse("HTTP/1.0 has no Transfer-Encoding.");
    if (into.fields.count(field_id::content_length) != 0)
        return refuse("There are both Transfer-Encoding and Content-Length.");
    if (into.fields.count(field_id::transfer_encoding) != 1 ||
        !ascii_iequals(into.fields.find(field_id::transfer_encoding), "chunked") ||
        detail::has_tab_around(into.fields.find(field_id::transfer_encoding)))
        return refuse("The Transfer-Encoding is not exactly one chunked.");
    chunks_.start(at_);
    stage_ = stage::chunked;
    return parse_step::complete;
}

/// One line of plain decimal digits. Lists of equal lengths and leading zeros are legal or harmless to some and a
/// different number to others, so they are refused (RFC 9112 section 6.3).
TOLLGATE_DECL parse_step request_parser::judge_content_length(const request& into) noexcept {
    if (into.fields.count(field_id::content_length) != 1) return refuse("There is more than one Content-Length field.");
    const std::string_view text = into.fields.find(field_id::content_length);
    std::uint64_t length = 0;
    const bool digits_only = !text.empty() && is_digit(text.front()) && (text.front() != '0' || text.size() == 1);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
    if (!digits_only || read.ec != std::errc{} || read.ptr != text.data() + text.size())
        return refuse("The Content-Length is not a plain decimal number.");
    if (length == 0) return parse_step::complete;
    // A length near the top of 64 bits must not wrap around; any that is over the bound is as good as another.
    message_bytes_ = at_ + static_cast<std::size_t>((std::min)(length, std::uint64_t{settings_.body_bytes_max} + 1));
    stage_ = stage::known_length;
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::judge_expectation(const request& into) noexcept {
    if (into.fields.count(field_id::expect) == 1 && ascii_iequals(into.fields.find(field_id::expect), "100-continue"))
        return parse_step::complete;
    return refuse("The only expectation that this server meets is 100-continue.", status::expectation_failed);
}

TOLLGATE_DECL void request_parser::judge_connection(const request& into) noexcept {
    if (detail::lines_hold(into.fields, field_id::connection, "close")) keep_alive_ = false;
    else if (!keep_alive_) keep_alive_ = detail::lines_hold(into.fields, field_id::connection, "keep-alive");
}

TOLLGATE_DECL parse_step request_parser::read_known_length(std::string_view bytes, request& into) noexcept {
    if (bytes.size() < message_bytes_) return parse_step::needs_more;
    into.body = bytes.substr(at_, message_bytes_ - at_);
    at_ = message_bytes_;
    stage_ = stage::complete;
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::read_chunked(std::span<char> bytes, request& into) noexcept {
    switch (chunks_.step(bytes, settings_.body_bytes_max)) {
        case detail::chunk_step::needs_more: return parse_step::needs_more;
        case detail::chunk_step::refused: return refuse(chunks_.refused_reason(), chunks_.refused_status());
        case detail::chunk_step::too_large: at_ = chunks_.at(); return finish_too_large(into);
        case detail::chunk_step::complete: break;
    }
    into.body = {bytes.data() + chunks_.begin(), chunks_.size()};
    at_ = chunks_.at();
    stage_ = stage::complete;
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::go_on(stage next, std::size_t at) noexcept {
    stage_ = next;
    at_ = seen_ = at;
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::finish_too_large(request& into) noexcept {
    into.body_state = body_state::too_large;
    keep_alive_ = false;
    stage_ = stage::complete;
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::refuse(std::string_view reason, status with) noexcept {
    refused_reason_ = reason;
    refused_status_ = with;
    keep_alive_ = false;
    stage_ = stage::refused;
    return parse_step::refused;
}

}  // namespace tollgate::http

// <tollgate/http/url.ipp>

namespace tollgate::http {
namespace detail {

inline constexpr std::size_t name_bytes_max = 253;  // RFC 1035 section 2.3.4, as text and without the root's dot
inline constexpr std::size_t label_bytes_max = 63;

/// Visible ASCII without what RFC 3986 keeps out of every URL and some software repairs, each `%` with its two digits.
inline bool is_url_text(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c <= ' ' || c > '~') return false;
        if (std::string_view{"\"<>\\^`{}"}.find(c) != std::string_view::npos) return false;
        if (c == '%' && (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0))
            return false;
    }
    return true;
}

/// A part of an IPv4 address as WHATWG's "IPv4 number parser" reads it: `0x` is hexadecimal, a leading zero octal.
/// Empty for what is no number. One that is too large for any place is given as a number that is, too.
inline std::optional<std::uint64_t> parse_ipv4_part(std::string_view text) noexcept {
    constexpr std::uint64_t too_large = std::uint64_t{1} << 40;
    if (text.empty()) return std::nullopt;
    int base = 10;
    if (text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text.remove_prefix(2);
    } else if (text.size() >= 2 && text[0] == '0') {
        base = 8;
        text.remove_prefix(1);
    }
    std::uint64_t value = 0;
    for (char c : text) {
        const int digit = hex_value(c);
        if (digit < 0 || digit >= base) return std::nullopt;
        value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
        if (value > too_large) value = too_large;
    }
    return value;
}

/// WHATWG's "ends in a number checker": whether the host is an IPv4 address, or else nothing.
inline bool ends_in_number(std::string_view host) noexcept {
    const std::string_view last = host.substr(host.rfind('.') + 1);
    const bool digits_only = !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
    return digits_only || parse_ipv4_part(last).has_value();
}

/// WHATWG's "IPv4 parser": one to four parts, of which the last fills all places that are left.
inline std::optional<ip_address> parse_loose_ipv4(std::string_view host) noexcept {
    std::uint64_t address = 0;
    for (unsigned part = 0; part < 4; ++part) {
        const auto end = host.find('.');
        const auto value = parse_ipv4_part(host.substr(0, end));
        if (!value) return std::nullopt;
        if (end == std::string_view::npos) {
            const unsigned bits_left = 32 - 8 * part;
            if (*value >> bits_left != 0) return std::nullopt;
            address |= *value;
            const auto byte = [address](unsigned shift) { return static_cast<std::uint8_t>(address >> shift & 0xff); };
            return ip_address::v4(byte(24), byte(16), byte(8), byte(0));
        }
        if (*value > 255) return std::nullopt;
        address |= *value << (24 - 8 * part);
        host.remove_prefix(end + 1);
    }
    return std::nullopt;
}

/// A name that DNS can hold: labels of letters, digits, `-` and `_`.
inline bool is_name(std::string_view host) noexcept {
    if (host.empty() || host.size() > name_bytes_max) return false;
    std::size_t label_bytes = 0;
    for (char c : host) {
        const bool in_label = is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
        if (!in_label && (c != '.' || label_bytes == 0)) return false;
        label_bytes = in_label ? label_bytes + 1 : 0;
        if (label_bytes > label_bytes_max) return false;
    }
    return label_bytes != 0;
}

inline bool set_host(url& made, std::string_view text) {
    if (!text.empty() && text.front() == '[') {
        if (text.back() != ']' || text.find(':') == std::string_view::npos) return false;
        made.address = ip_address::parse(text.substr(1, text.size() - 2));
        if (!made.address) return false;
        made.host = made.address->to_text();
        return true;
    }
    auto decoded = percent_decode(text);
    if (!decoded) return false;
    made.host = *std::move(decoded);
    for (char& c : made.host) c = ascii_lower(c);
    if (!made.host.empty() && made.host.back() == '.') made.host.pop_back();
    if (!is_name(made.host)) return false;
    if (!ends_in_number(made.host)) return true;

    made.address = parse_loose_ipv4(made.host);
    if (!made.address) return false;
    made.host = made.address->to_text();
    return true;
}

/// 1 to 65535 without leading zeros.
inline bool set_port(url& made, std::string_view text) noexcept {
    if (text.empty() || text.size() > 5 || text.front() == '0') return false;
    unsigned port = 0;
    for (char c : text) {
        if (!is_digit(c)) return false;
        port = port * 10 + static_cast<unsigned>(c - '0');
    }
    made.port = static_cast<std::uint16_t>(port);
    return port <= 65535;
}

/// `[user information@]host[:port]` (RFC 3986 section 3.2).
inline bool set_authority(url& made, std::string_view text) {
    const auto at = text.rfind('@');
    made.has_user_info = at != std::string_view::npos;
    if (made.has_user_info) text.remove_prefix(at + 1);

    const auto bracket = text.rfind(']');
    const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon != std::string_view::npos && !set_port(made, text.substr(colon + 1))) return false;
    return set_host(made, text.substr(0, colon));
}

/// Cuts `http://` or `https://`, in any case, off the front of `text`.
inline bool take_scheme(url& made, std::string_view& text) noexcept {
    for (const auto scheme : {url_scheme::http, url_scheme::https}) {
        const std::string_view prefix = scheme == url_scheme::http ? "http://" : "https://";
        if (!ascii_iequals(text.substr(0, prefix.size()), prefix)) continue;
        made.scheme = scheme;
        text.remove_prefix(prefix.size());
        return true;
    }
    return false;
}

}  // namespace detail

TOLLGATE_DECL std::optional<url> url::parse(std::string_view text) {
    url made;
    if (text.size() > limits::target_url_bytes_max || !detail::is_url_text(text) || !detail::take_scheme(made, text))
        return std::nullopt;
    made.port = made.default_port();

    const auto fragment = text.find('#');
    made.has_fragment = fragment != std::string_view::npos;
    text = text.substr(0, fragment);

    const auto authority_end = text.find_first_of("/?");
    if (!detail::set_authority(made, text.substr(0, authority_end))) return std::nullopt;
    text.remove_prefix(authority_end == std::string_view::npos ? text.size() : authority_end);

    const auto mark = text.find('?');
    made.has_query = mark != std::string_view::npos;
    if (made.has_query) made.query = text.substr(mark + 1);
    made.path = text.substr(0, mark);
    if (made.path.empty()) made.path = "/";
    return made;
}

TOLLGATE_DECL std::string url::authority() const {
    std::string text = address && !address->is_v4() ? "[" + host + "]" : host;
    if (port != default_port()) text.append(":").append(std::to_string(port));
    return text;
}

TOLLGATE_DECL std::string url::origin() const {
    return (scheme == url_scheme::http ? "http://" : "https://") + authority();
}

TOLLGATE_DECL std::string url::request_target() const { return has_query ? path + "?" + query : path; }

}  // namespace tollgate::http

// <tollgate/domain/service_catalog.ipp>

namespace tollgate {

namespace detail {

inline bool is_service_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= limits::service_name_bytes_max &&
           std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

inline bool is_event_name(std::string_view event) noexcept {
    return !event.empty() && event.size() <= limits::event_name_bytes_max &&
           std::all_of(event.begin(), event.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
           });
}

}  // namespace detail

TOLLGATE_DECL bool service::has_event(std::string_view event) const noexcept {
    return std::find(events.begin(), events.end(), event) != events.end();
}

TOLLGATE_DECL outcome<void> service_catalog::add(std::string_view name, std::vector<std::string> events) {
    if (!detail::is_service_name(name))
        return invalid("The service name '" + std::string{name} + "' is not 1 to 32 of a-z, 0-9 and '-'.");
    if (name == "user" || name == "testservice")
        return invalid("The service name '" + std::string{name} + "' is taken by the API itself.");
    if (find(name) != nullptr) return invalid("The service '" + std::string{name} + "' is there already.");
    for (const std::string& event : events)
        if (!detail::is_event_name(event))
            return invalid("The event name '" + event + "' is not 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'.");
    services_.push_back({*service_name::from(name), std::string{name} + ":read", std::string{name}, std::move(events)});
    return {};
}

TOLLGATE_DECL bool service_catalog::has_scope(std::string_view scope) const noexcept {
    return scope == balance_scope || std::any_of(services_.begin(), services_.end(), [scope](const service& each) {
               return scope == each.read_scope || scope == each.write_scope;
           });
}

TOLLGATE_DECL std::vector<std::string> service_catalog::scopes() const {
    std::vector<std::string> all{std::string{balance_scope}};
    for (const service& each : services_) {
        all.push_back(each.read_scope);
        all.push_back(each.write_scope);
    }
    return all;
}

}  // namespace tollgate

// <tollgate/policy/public_targets.ipp>

namespace tollgate {
namespace detail {

constexpr ip_network ipv4_block(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                                unsigned bits) noexcept {
    return {ip_address::v4(a, b, c, d), 96 + bits};
}

/// A block whose first two groups are `first` and `second`, and the others zero.
constexpr ip_network ipv6_block(unsigned first, unsigned second, unsigned bits) noexcept {
    std::array<std::uint8_t, 16> bytes{};
    bytes[0] = static_cast<std::uint8_t>(first >> 8);
    bytes[1] = static_cast<std::uint8_t>(first & 0xff);
    bytes[2] = static_cast<std::uint8_t>(second >> 8);
    bytes[3] = static_cast<std::uint8_t>(second & 0xff);
    return {ip_address::from_bytes(bytes), bits};
}

/// IANA's IPv4 special-purpose registry, as far as it is not globally reachable, and what else is nobody's web server.
inline constexpr std::array reserved_ipv4{
    ipv4_block(0, 0, 0, 0, 8),         // this network; 0.0.0.0 reaches the machine itself
    ipv4_block(10, 0, 0, 0, 8),        // private (RFC 1918)
    ipv4_block(100, 64, 0, 0, 10),     // carrier-grade NAT (RFC 6598)
    ipv4_block(127, 0, 0, 0, 8),       // loopback
    ipv4_block(168, 63, 129, 16, 32),  // Azure's platform services, in every virtual network
    ipv4_block(169, 254, 0, 0, 16),    // link-local, and the metadata services of most clouds
    ipv4_block(172, 16, 0, 0, 12),     // private
    ipv4_block(192, 0, 0, 0, 24),      // protocol assignments
    ipv4_block(192, 0, 2, 0, 24),      // documentation (RFC 5737)
    ipv4_block(192, 88, 99, 0, 24),    // 6to4 relays (RFC 7526)
    ipv4_block(192, 168, 0, 0, 16),    // private
    ipv4_block(198, 18, 0, 0, 15),     // benchmarks (RFC 2544)
    ipv4_block(198, 51, 100, 0, 24),   // documentation
    ipv4_block(203, 0, 113, 0, 24),    // documentation
    ipv4_block(224, 0, 0, 0, 4),       // multicast
    ipv4_block(240, 0, 0, 0, 4),       // reserved, and broadcast
};

/// Global unicast (RFC 4291 section 2.4): loopback, unique local, link-local, site-local, multicast, IPv4-compatible
/// and NAT64 addresses are all outside.
inline constexpr ip_network global_ipv6 = ipv6_block(0x2000, 0, 3);

/// What is inside of it and still not globally reachable, or leads to an IPv4 address that the sender chooses.
inline constexpr std::array reserved_ipv6{
    ipv6_block(0x2001, 0, 23),       // protocol assignments: Teredo, ORCHID, benchmarks
    ipv6_block(0x2001, 0x0db8, 32),  // documentation
    ipv6_block(0x2002, 0, 16),       // 6to4
    ipv6_block(0x3fff, 0, 20),       // documentation (RFC 9637)
};

template <std::size_t Size>
constexpr bool is_in_any(const std::array<ip_network, Size>& blocks, const ip_address& address) noexcept {
    for (const ip_network& block : blocks)
        if (block.contains(address)) return true;
    return false;
}

/// `::0:5efe:a.b.c.d` or `::200:5efe:a.b.c.d` behind any prefix (RFC 5214 section 6.1): a router may unwrap it.
constexpr bool is_isatap(const ip_address& address) noexcept {
    const auto& bytes = address.bytes();
    return (bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
}

constexpr bool is_public(const ip_address& address) noexcept {
    if (address.is_v4()) return !is_in_any(reserved_ipv4, address);
    return global_ipv6.contains(address) && !is_in_any(reserved_ipv6, address) && !is_isatap(address);
}

/// Whether only a local network can know the name. A URL's host is in lower case and without a final dot.
inline bool is_local_name(std::string_view name) noexcept {
    if (name.find('.') == std::string_view::npos) return true;  // `localhost`, or completed by a search list
    for (const std::string_view local : {".localhost", ".local", ".localdomain", ".internal", ".home.arpa"})
        if (name.ends_with(local)) return true;
    return name == "home.arpa";
}

}  // namespace detail

TOLLGATE_DECL outcome<void> public_targets::check(const http::url& target) const {
    if (target.has_user_info) return invalid("target_url must not have a user name or password.");
    if (target.has_fragment) return invalid("target_url must not have a fragment.");
    if (private_allowed) return {};
    const bool reachable = target.address ? detail::is_public(*target.address) : !detail::is_local_name(target.host);
    if (!reachable) return invalid("target_url must lead to a public address.");
    return {};
}

TOLLGATE_DECL bool public_targets::allows(const ip_address& address) const noexcept {
    return private_allowed || detail::is_public(address);
}

}  // namespace tollgate

// <tollgate/policy/segment_router.ipp>

namespace tollgate {

TOLLGATE_DECL void segment_router::build(std::span<const route_pattern> patterns) {
    literal_paths_.clear();
    lines_.clear();
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        line made{patterns[i].method, static_cast<std::uint16_t>(i), 0, {}};
        std::string_view left = patterns[i].path;
        while (!left.empty()) {
            left.remove_prefix(1);
            const auto text = left.substr(0, left.find('/'));
            left.remove_prefix(text.size());
            const bool is_parameter = text.starts_with('{');
            made.segments.push_back({is_parameter ? std::string_view{} : text});
            if (!is_parameter) ++made.literals;
        }
        assert(made.segments.size() <= segments_max);
        if (made.literals == made.segments.size()) literal_paths_.push_back({made.method, made.route, patterns[i].path});
        lines_.push_back(std::move(made));
    }
    std::sort(lines_.begin(), lines_.end(), [](const line& a, const line& b) {
        if (a.segments.size() != b.segments.size()) return a.segments.size() < b.segments.size();
        return a.literals != b.literals ? a.literals > b.literals : a.route < b.route;
    });
    for (std::size_t count = 0; count < first_line_.size(); ++count)
        first_line_[count] = static_cast<std::uint16_t>(
            std::count_if(lines_.begin(), lines_.end(), [count](const line& each) { return each.segments.size() < count; }));
}

TOLLGATE_DECL route_match segment_router::find(http::method m, std::string_view path) const noexcept {
    route_match match;
    for (const literal_path& each : literal_paths_) {
        if (each.path != path || each.method != m) continue;
        match.result = route_match::kind::found;
        match.route = each.route;
        return match;
    }

    std::array<std::string_view, segments_max> segments;
    std::size_t count = 0;
    if (path.empty() || path.front() != '/') return match;
    for (std::size_t begin = 1, at = 1;; ++at) {
        if (at < path.size() && path[at] != '/') {
            if (path[at] == '%') return match;
            continue;
        }
        const auto text = path.substr(begin, at - begin);
        // An empty segment is `//` or a slash at the end; dot segments are another path's spelling.
        if (text.empty() || text == "." || text == ".." || count == segments_max) return match;
        segments[count++] = text;
        if (at >= path.size()) break;
        begin = at + 1;
    }

    for (std::size_t i = first_line_[count]; i < first_line_[count + 1]; ++i) {
        const line& candidate = lines_[i];
        bool fits = true;
        for (std::size_t s = 0; fits && s < count; ++s)
            fits = candidate.segments[s].literal.empty() || candidate.segments[s].literal == segments[s];
        if (!fits) continue;
        match.route = candidate.route;
        match.captured = 0;
        for (std::size_t s = 0; s < count; ++s)
            if (candidate.segments[s].literal.empty()) match.captures[match.captured++] = segments[s];
        if (candidate.method == m) {
            match.result = route_match::kind::found;
            return match;
        }
        match.result = route_match::kind::other_method;
        match.allowed.add(candidate.method);
    }
    return match;
}

}  // namespace tollgate

// <tollgate/policy/system_random.ipp>

namespace tollgate {

TOLLGATE_DECL bool system_random::fill(std::span<std::byte> bytes) const noexcept {
    if (bytes.size() > INT_MAX) return false;
    return RAND_priv_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) == 1;
}

}  // namespace tollgate

// <tollgate/policy/window_limiter.ipp>

namespace tollgate {
namespace detail {

/// What is counted for one key.
struct counted_window {
    std::int64_t began_at_milliseconds;
    std::uint32_t requests;  ///< 0 for a place that is free
    std::uint32_t length_seconds;

    /// One that begins after `now`, because the clock went back, is taken to begin now: nobody waits longer than that.
    [[nodiscard]] std::int64_t began_by(std::int64_t now) const noexcept {
        return (std::min)(began_at_milliseconds, now);
    }

    [[nodiscard]] bool is_open(std::int64_t now, std::uint32_t seconds) const noexcept {
        return requests != 0 && now < began_by(now) + std::int64_t{seconds} * 1000;
    }

    /// What would be lost by forgetting it.
    [[nodiscard]] std::uint32_t worth(std::int64_t now) const noexcept {
        return is_open(now, length_seconds) ? requests : 0;
    }
};

/// Three cache lines, of which the first holds all keys: finding one touches two.
struct alignas(64) window_set {
    static constexpr std::size_t ways = 8;
    std::uint64_t keys[ways];
    counted_window windows[ways];

    /// The key's own place; `ways` if it has none.
    [[nodiscard]] std::size_t find(std::uint64_t key) const noexcept {
        std::size_t place = 0;
        while (place < ways && (keys[place] != key || windows[place].requests == 0)) ++place;
        return place;
    }

    /// The place whose loss matters least: free or over, else fewest requests, of equals the oldest.
    [[nodiscard]] std::size_t least_worth(std::int64_t now) const noexcept {
        std::size_t least = 0;
        for (std::size_t place = 1; place < ways; ++place) {
            const auto worth = windows[place].worth(now);
            const auto least_so_far = windows[least].worth(now);
            if (worth < least_so_far || (worth == least_so_far &&
                                         windows[place].began_at_milliseconds < windows[least].began_at_milliseconds))
                least = place;
        }
        return least;
    }
};
static_assert(sizeof(window_set) == 192);

/// A quota in numbers that cannot overflow a moment: a window of more than a century is one of a century.
struct bounded_quota {
    std::uint32_t requests;
    std::uint32_t window_seconds;

    explicit bounded_quota(const quota& allowed) noexcept
        : requests{allowed.requests},
          window_seconds{
              static_cast<std::uint32_t>(std::clamp<std::int64_t>(allowed.window.count(), 0, 36525LL * 86400))} {}

    [[nodiscard]] verdict judge(bool admitted, std::uint32_t counted, std::int64_t began_at) const noexcept {
        return {admitted, requests, counted < requests ? requests - counted : 0,
                from_unix_milliseconds(began_at + std::int64_t{window_seconds} * 1000)};
    }
};

}  // namespace detail

class window_limiter::table {
public:
    table(std::size_t keys_max, const siphash_key& seed)
        : seed_{seed},
          set_count_{
              std::bit_ceil((std::clamp<std::size_t>(keys_max, 1, keys_bound) - 1) / detail::window_set::ways + 1)},
          lock_count_{(std::min)(set_count_, lock_count_max)},
          memory_{std::calloc(set_count_ + 1, sizeof(detail::window_set))},
          locks_{std::make_unique<padded_lock[]>(lock_count_)} {
        if (memory_ == nullptr) throw std::bad_alloc{};
        void* aligned = memory_.get();
        std::size_t room = memory_bytes();
        sets_ = static_cast<detail::window_set*>(
            std::align(alignof(detail::window_set), set_count_ * sizeof(detail::window_set), aligned, room));
    }

    [[nodiscard]] verdict take(std::uint64_t key, const quota& allowed, instant now) noexcept {
        const detail::bounded_quota bound{allowed};
        const std::int64_t at = to_unix_milliseconds(now);
        const std::size_t index = set_of(key);
        const std::scoped_lock held{lock_of(index)};

        auto& set = sets_[index];
        std::size_t place = set.find(key);
        if (place == detail::window_set::ways || !set.windows[place].is_open(at, bound.window_seconds)) {
            if (bound.requests == 0) return bound.judge(false, 0, at);
            if (place == detail::window_set::ways) place = set.least_worth(at);
            set.keys[place] = key;
            set.windows[place] = {at, 1, bound.window_seconds};
            return bound.judge(true, 1, at);
        }
        auto& window = set.windows[place];
        window.began_at_milliseconds = window.began_by(at);
        window.length_seconds = bound.window_seconds;
        const bool admitted = window.requests < bound.requests;
        if (admitted) ++window.requests;
        return bound.judge(admitted, window.requests, window.began_at_milliseconds);
    }

    [[nodiscard]] verdict peek(std::uint64_t key, const quota& allowed, instant now) const noexcept {
        const detail::bounded_quota bound{allowed};
        const std::int64_t at = to_unix_milliseconds(now);
        const std::size_t index = set_of(key);
        const std::scoped_lock held{lock_of(index)};

        const auto& set = sets_[index];
        const std::size_t place = set.find(key);
        if (place == detail::window_set::ways || !set.windows[place].is_open(at, bound.window_seconds))
            return bound.judge(bound.requests > 0, 0, at);
        const auto& window = set.windows[place];
        return bound.judge(window.requests < bound.requests, window.requests, window.began_by(at));
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept { return (set_count_ + 1) * sizeof(detail::window_set); }

private:
    static constexpr std::size_t keys_bound = std::size_t{1} << 31;  // 48 GiB: a larger number is a mistake
    // Two threads meet at one of so many in less than one call of a hundred, on any machine of today.
    static constexpr std::size_t lock_count_max = 256;
    struct alignas(64) padded_lock {  // a cache line each, so that neighbours do not slow each other down
        std::mutex mutex;
    };
    struct free_memory {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };

    [[nodiscard]] std::size_t set_of(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>(siphash(seed_, key)) & (set_count_ - 1);
    }
    [[nodiscard]] std::mutex& lock_of(std::size_t set) const noexcept { return locks_[set & (lock_count_ - 1)].mutex; }

    siphash_key seed_;
    std::size_t set_count_;   // powers of two, both
    std::size_t lock_count_;
    // From calloc, because the pages of a large block take no memory until they are written to.
    std::unique_ptr<void, free_memory> memory_;
    detail::window_set* sets_;  // in memory_, aligned
    std::unique_ptr<padded_lock[]> locks_;
};

namespace detail {

inline siphash_key random_siphash_key() {
    std::array<std::byte, sizeof(siphash_key)> bytes;
    if (!system_random{}.fill(bytes)) throw std::runtime_error{"OpenSSL gives no random bytes"};
    return std::bit_cast<siphash_key>(bytes);
}

}  // namespace detail

TOLLGATE_DECL window_limiter::window_limiter() : window_limiter{key_capacity{}} {}

TOLLGATE_DECL window_limiter::window_limiter(const key_capacity& capacity)
    : window_limiter{capacity, detail::random_siphash_key()} {}

TOLLGATE_DECL window_limiter::window_limiter(const key_capacity& capacity, const siphash_key& seed)
    : users_{std::make_unique<table>(capacity.users, seed)},
      addresses_{std::make_unique<table>(capacity.addresses, seed)} {}

TOLLGATE_DECL window_limiter::window_limiter(window_limiter&&) noexcept = default;
TOLLGATE_DECL window_limiter& window_limiter::operator=(window_limiter&&) noexcept = default;
TOLLGATE_DECL window_limiter::~window_limiter() = default;

TOLLGATE_DECL verdict window_limiter::take(const limit_key& key, const quota& allowed, instant now) noexcept {
    return (key.kind() == limit_kind::user ? users_ : addresses_)->take(key.value(), allowed, now);
}

TOLLGATE_DECL verdict window_limiter::peek(const limit_key& key, const quota& allowed, instant now) const noexcept {
    return (key.kind() == limit_kind::user ? users_ : addresses_)->peek(key.value(), allowed, now);
}

TOLLGATE_DECL std::size_t window_limiter::memory_bytes() const noexcept {
    return users_->memory_bytes() + addresses_->memory_bytes();
}

}  // namespace tollgate

// <tollgate/api/openapi.ipp>

namespace tollgate {
namespace openapi {

inline constexpr std::string_view version = "3.1.0";

/// A refusal that operations share: described once among the components, and told of by its name.
struct shared_refusal {
    std::string_view status;  ///< as OpenAPI writes it
    std::string_view name;
    std::string_view description;
    std::string_view field{};  ///< that it has besides the rate limit's
};

inline constexpr std::array refusals = {
    shared_refusal{"400", "BadRequest", "Malformed HTTP or JSON, or more than one Authorization field."},
    shared_refusal{"401", "Unauthorized", "No credentials where some are needed, or some that let nobody in.", "WWW-Authenticate"},
    shared_refusal{"403", "Forbidden", "No User-Agent field, or scopes that do not cover this.", "WWW-Authenticate"},
    shared_refusal{"404", "NotFound", "Not there, or not the caller's: the two cannot be told apart."},
    shared_refusal{"405", "MethodNotAllowed", "The path does not answer to this method.", "Allow"},
    shared_refusal{"413", "ContentTooLarge", "The body is too large."},
    shared_refusal{"415", "UnsupportedMediaType", "The body is not application/json."},
    shared_refusal{"422", "UnprocessableContent", "A member of the body is missing or will not do; the message names it."},
    shared_refusal{"429", "TooManyRequests", "The rate limit is exceeded.", "Retry-After"},
    shared_refusal{"503", "ServiceUnavailable", "Temporarily out of order.", "Retry-After"},
    shared_refusal{"default", "OtherError", "Any other refusal."},
};

inline constexpr std::string_view error_schema =
    R"({"type":"object","required":["message","documentation_url"],"properties":{)"
    R"("message":{"type":"string"},"documentation_url":{"type":"string","format":"uri"}}})";

/// A header field as components describe it.
struct shared_field {
    std::string_view name;
    std::string_view description;
    std::string_view schema;
};

inline constexpr std::string_view text_schema = R"({"type":"string"})";

inline constexpr std::array rate_limit_fields = {
    shared_field{"X-RateLimit-Limit", "Requests permitted in the current window.", R"({"type":"integer"})"},
    shared_field{"X-RateLimit-Remaining", "Requests left in the current window.", R"({"type":"integer"})"},
    shared_field{"X-RateLimit-Reset", "When the window resets; sent only when none is left.",
                 R"({"type":"string","format":"date-time"})"},
};
inline constexpr std::array other_fields = {
    shared_field{"Retry-After", "Seconds to wait.", R"({"type":"integer","minimum":1})"},
    shared_field{"WWW-Authenticate", "The schemes that are offered, or the scope that is missing.", text_schema},
    shared_field{"Allow", "The methods that the path answers to.", text_schema},
};

/// The parts of one document, written from the outside in.
class document {
public:
    document(const api_settings& settings, std::string& out) : settings_{settings}, json_{out} {}

    void write(std::span<const route_description> routes);

private:
    void write_info();
    void write_paths(std::span<const route_description> routes);
    void write_operation(const route_description& of);
    void write_parameters(const route_description& of);
    void write_request_body(const route_description& of);
    void write_responses(const route_description& of);
    void write_security(const access_rule& access);
    void write_alternative(std::string_view scope);
    void write_components();
    void write_security_schemes();

    void write_rate_limit_fields();
    void write_json_content(const json_shape& shape);
    void write_reference(std::string_view kind, std::string_view name);

    const api_settings& settings_;
    http::json_writer json_;
};

/// `v1` of `https://api.example.com/v1`.
[[nodiscard]] inline std::string_view version_of(std::string_view base_url) noexcept {
    while (base_url.ends_with('/')) base_url.remove_suffix(1);
    return base_url.substr(base_url.rfind('/') + 1);
}

/// In words, because the scope of a service's route depends on the path that is asked for.
[[nodiscard]] inline std::string describe_access(const access_rule& access) {
    switch (access.who) {
        case access_rule::kind::open: return "Needs no credentials.";
        case access_rule::kind::any_caller: return "Needs any valid credentials.";
        case access_rule::kind::scope: return "Needs the scope `" + std::string{access.scope} + "`.";
        case access_rule::kind::service_read: return "Needs the scope `{service}:read` of the service in the path.";
        case access_rule::kind::service_write: return "Needs the scope `{service}` of the service in the path.";
    }
    return {};
}

[[nodiscard]] inline bool applies(const shared_refusal& refusal, const route_description& to) noexcept {
    if (refusal.status == "404") return !to.parameters.empty();
    if (refusal.status == "415" || refusal.status == "422") return !to.notes.request_body.empty();
    return true;
}

/// The key of an operation in a path item: its method in lower case.
[[nodiscard]] inline std::string operation_key(http::method method) {
    std::string key{http::to_text(method)};
    for (char& c : key) c = ascii_lower(c);
    return key;
}

inline void document::write(std::span<const route_description> routes) {
    json_.begin_object();
    json_.member("openapi").string(version);
    write_info();
    json_.member("servers").begin_array().begin_object();
    json_.member("url").string(settings_.base_url);
    json_.end_object().end_array();
    json_.member("externalDocs").begin_object();
    json_.member("url").string(settings_.auth_url + "/docs/");
    json_.end_object();
    write_paths(routes);
    write_components();
    json_.end_object();
}

inline void document::write_info() {
    json_.member("info").begin_object();
    json_.member("title").string("Account API");
    json_.member("version").string(version_of(settings_.base_url));
    json_.member("description").string("Every request carries a User-Agent field that names the program. Every answer carries the "
                                       "rate limit fields, and every one of 400 and above the Error object.");
    json_.end_object();
}

inline void document::write_paths(std::span<const route_description> routes) {
    json_.member("paths").begin_object();
    for (auto each = routes.begin(); each != routes.end(); ++each) {
        const auto same_path = [each](const route_description& other) { return other.path == each->path; };
        if (std::any_of(routes.begin(), each, same_path)) continue;  // written with its first line
        json_.member_named(each->path).begin_object();
        for (auto other = each; other != routes.end(); ++other)
            if (same_path(*other)) write_operation(*other);
        json_.end_object();
    }
    json_.end_object();
}

inline void document::write_operation(const route_description& of) {
    json_.member_named(operation_key(of.method)).begin_object();
    if (!of.notes.operation.empty()) json_.member("operationId").string(of.notes.operation);
    if (!of.notes.summary.empty()) json_.member("summary").string(of.notes.summary);
    json_.member("description").string(describe_access(of.access));
    write_parameters(of);
    write_request_body(of);
    write_responses(of);
    write_security(of.access);
    json_.end_object();
}

inline void document::write_parameters(const route_description& of) {
    if (of.parameters.empty()) return;
    json_.member("parameters").begin_array();
    for (const auto& each : of.parameters) {
        json_.begin_object();
        json_.member("name").string(each.name);
        json_.member("in").string("path");
        json_.member("required").boolean(true);
        json_.member("schema").begin_object();
        switch (each.kind) {
            case route_description::value_kind::service:
                json_.member("type").string("string");
                // A schema's enum is never empty, and an API may have been given no service.
                if (settings_.services.services().empty()) break;
                json_.member("enum").begin_array();
                for (const service& known : settings_.services.services()) json_.string(known.name);
                json_.end_array();
                break;
            case route_description::value_kind::id:
                json_.member("type").string("integer");
                json_.member("format").string("int64");
                json_.member("minimum").integer(1);
                break;
            case route_description::value_kind::text: json_.member("type").string("string"); break;
        }
        json_.end_object().end_object();
    }
    json_.end_array();
}

inline void document::write_request_body(const route_description& of) {
    if (of.notes.request_body.empty()) return;
    json_.member("requestBody").begin_object();
    write_json_content(of.notes.request_body);
    json_.end_object();
}

inline void document::write_responses(const route_description& of) {
    json_.member("responses").begin_object();
    json_.member_named(std::to_string(of.notes.success_status)).begin_object();
    json_.member("description").string(http::to_reason(static_cast<http::status>(of.notes.success_status)));
    json_.member("headers").begin_object();
    write_rate_limit_fields();
    if (!of.notes.success_field.empty()) {
        json_.member_named(of.notes.success_field).begin_object();
        json_.member("schema").value(text_schema);
        json_.end_object();
    }
    json_.end_object();
    if (!of.notes.success_body.empty()) write_json_content(of.notes.success_body);
    json_.end_object();

    for (const auto& each : refusals) {
        if (!applies(each, of)) continue;
        json_.member_named(each.status).begin_object();
        write_reference("responses", each.name);
        json_.end_object();
    }
    json_.end_object();
}

inline void document::write_security(const access_rule& access) {
    json_.member("security").begin_array();
    switch (access.who) {
        case access_rule::kind::open: json_.begin_object().end_object(); [[fallthrough]];
        case access_rule::kind::any_caller: write_alternative({}); break;
        case access_rule::kind::scope: write_alternative(access.scope); break;
        // One alternative a service: OpenAPI has no scope that depends on a path parameter.
        case access_rule::kind::service_read:
            for (const service& each : settings_.services.services()) write_alternative(each.read_scope);
            break;
        case access_rule::kind::service_write:
            for (const service& each : settings_.services.services()) write_alternative(each.write_scope);
            break;
    }
    json_.end_array();
}

inline void document::write_alternative(std::string_view scope) {
    const auto write_one = [&](std::string_view scheme) {
        json_.begin_object();
        json_.member_named(scheme).begin_array();
        if (!scope.empty()) json_.string(scope);
        json_.end_array().end_object();
    };
    write_one("personalToken");
    write_one("oauth");
}

inline void document::write_components() {
    json_.member("components").begin_object();

    json_.member("schemas").begin_object();
    json_.member("Error").value(error_schema);
    json_.end_object();

    json_.member("headers").begin_object();
    const auto write_field = [&](const shared_field& field) {
        json_.member_named(field.name).begin_object();
        json_.member("description").string(field.description);
        json_.member("schema").value(field.schema);
        json_.end_object();
    };
    for (const auto& each : rate_limit_fields) write_field(each);
    for (const auto& each : other_fields) write_field(each);
    json_.end_object();

    json_.member("responses").begin_object();
    for (const auto& each : refusals) {
        json_.member_named(each.name).begin_object();
        json_.member("description").string(each.description);
        json_.member("headers").begin_object();
        write_rate_limit_fields();
        if (!each.field.empty()) {
            json_.member_named(each.field).begin_object();
            write_reference("headers", each.field);
            json_.end_object();
        }
        json_.end_object();
        write_json_content({R"({"$ref":"#/components/schemas/Error"})"});
        json_.end_object();
    }
    json_.end_object();

    write_security_schemes();
    json_.end_object();
}

inline void document::write_security_schemes() {
    json_.member("securitySchemes").begin_object();

    json_.member("personalToken").begin_object();
    json_.member("type").string("http");
    json_.member("scheme").string("basic");
    json_.member("description").string("A personal API token: its username, and its secret as the password.");
    json_.end_object();

    json_.member("oauth").begin_object();
    json_.member("type").string("oauth2");
    json_.member("description").string("An OAuth 2.0 access token, sent as Bearer.");
    json_.member("flows").begin_object().member("authorizationCode").begin_object();
    json_.member("authorizationUrl").string(settings_.auth_url + "/en/user/oauth/");
    json_.member("tokenUrl").string(settings_.auth_url + "/user/oauth_token/");
    json_.member("refreshUrl").string(settings_.auth_url + "/user/oauth_token/");
    json_.member("scopes").begin_object();
    const auto write_scope = [&](std::string_view scope, std::string_view grants) { json_.member_named(scope).string(grants); };
    write_scope(balance_scope, "Read the user's balance.");
    for (const service& each : settings_.services.services()) {
        const std::string name{each.name.view()};
        write_scope(each.read_scope, "Read the user's " + name + " accounts.");
        write_scope(each.write_scope, "Read and change the user's " + name + " accounts.");
    }
    json_.end_object().end_object().end_object().end_object();

    json_.end_object();
}

inline void document::write_rate_limit_fields() {
    for (const auto& each : rate_limit_fields) {
        json_.member_named(each.name).begin_object();
        write_reference("headers", each.name);
        json_.end_object();
    }
}

inline void document::write_json_content(const json_shape& shape) {
    json_.member("content").begin_object().member("application/json").begin_object();
    json_.member("schema").value(shape.schema);
    if (!shape.example.empty()) json_.member("example").value(fill_example(shape, settings_.services));
    json_.end_object().end_object();
}

inline void document::write_reference(std::string_view kind, std::string_view name) {
    json_.member("$ref").string(std::string{"#/components/"}.append(kind).append("/").append(name));
}

}  // namespace openapi

TOLLGATE_DECL std::string make_openapi(const api_settings& settings, std::span<const route_description> routes) {
    std::string made;
    openapi::document{settings, made}.write(routes);
    return made;
}

}  // namespace tollgate

// <tollgate/api/documentation.ipp>

namespace tollgate {

namespace documentation {

// The pages are the same for everybody, so anyone may keep them for a while; nothing but our own sheet is ever loaded.
inline constexpr std::string_view page_field_lines =
    "Content-Type: text/html; charset=utf-8\r\n"
    "Cache-Control: public, max-age=300\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

inline constexpr std::string_view style_field_lines =
    "Content-Type: text/css; charset=utf-8\r\n"
    "Cache-Control: public, max-age=300\r\n"
    "X-Content-Type-Options: nosniff\r\n";

inline constexpr std::string_view plain_field_lines =
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n";

}  // namespace documentation

TOLLGATE_DECL api_documentation::api_documentation(const api_settings& settings, std::span<const route_description> routes)
    : root_{path_of(settings.auth_url) + "/docs"} {
    documentation::page_writer writer{settings, routes, root_};
    for (const auto& each : documentation::page_entries) {
        auto path = root_ + "/";
        if (!each.slug.empty()) path.append(each.slug).append("/");
        pages_.push_back({std::move(path), documentation::page_field_lines, writer.write(each)});
    }
    pages_.push_back({root_ + "/style.css", documentation::style_field_lines, std::string{documentation::style_sheet}});
    not_found_ = writer.write_error("Not found", "There is no such page. The list beside this text leads to those there are.");
    method_not_allowed_ = writer.write_error("Method not allowed", "These pages can only be read: with GET, or with HEAD.");
}

TOLLGATE_DECL void api_documentation::handle(const http::request& asked, http::response& out) const noexcept {
    try {
        answer(asked, out);
    } catch (...) {
        // Only the heap throws here: without it there is a status, and nothing to say it with.
        out.clear();
        out.set_status(http::status::internal_server_error);
    }
}

TOLLGATE_DECL void api_documentation::handle(const http::refusal& refused, http::response& out) const noexcept {
    try {
        out.set_status(refused.status);
        out.add_prepared_lines(documentation::plain_field_lines);
        out.body().append(refused.reason).append("\n");
    } catch (...) {
        out.clear();
        out.set_status(refused.status);
    }
}

TOLLGATE_DECL void api_documentation::answer(const http::request& asked, http::response& out) const {
    if (asked.method == http::method::options) {
        out.set_status(http::status::no_content);
        out.add("Allow", "GET, HEAD, OPTIONS");
        return;
    }
    if (asked.method != http::method::get && asked.method != http::method::head) {
        out.set_status(http::status::method_not_allowed);
        out.add("Allow", "GET, HEAD, OPTIONS");
        out.add_prepared_lines(documentation::page_field_lines);
        out.body() = method_not_allowed_;
        return;
    }

    const std::string_view path = asked.target.path;
    for (const page& each : pages_) {
        if (each.path == path) {
            out.add_prepared_lines(each.field_lines);
            out.body() = each.body;
            return;
        }
        // A page's name without its last slash: only a page that exists is redirected to.
        if (each.path.ends_with('/') && std::string_view{each.path}.substr(0, each.path.size() - 1) == path) {
            if (const auto location = http::field_value::from(each.path)) out.add("Location", *location);
            out.set_status(http::status::found);
            return;
        }
    }
    out.set_status(http::status::not_found);
    out.add_prepared_lines(documentation::page_field_lines);
    out.body() = not_found_;
}

}  // namespace tollgate

// <tollgate/api/documentation_pages.ipp>

namespace tollgate::documentation {

TOLLGATE_DECL std::string page_writer::write(const page_entry& page) {
    begin_page(page.slug, page.title);
    (this->*page.write)();
    end_page();
    return std::exchange(out_, {});
}

TOLLGATE_DECL std::string page_writer::write_error(std::string_view title, std::string_view explanation) {
    begin_page("-", title);
    html_.add("<h1>{}</h1><p class=\"lead\">{}</p>", title, explanation);
    end_page();
    return std::exchange(out_, {});
}

TOLLGATE_DECL void page_writer::begin_page(std::string_view slug, std::string_view title) {
    html_.add(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{} - Account API</title>
<link rel="stylesheet" href="{}/style.css">
</head>
<body> <a class="skip" href="#content">Skip to the content</a>
)",
              title, root_);
    html_.add(R"(<header><div><a class="name" href="{}/">Account API</a> <span class="address">{}</span></div></header>
<div class="columns">
<nav aria-label="Documentation"><ul>
)",
              root_, settings_.base_url);
    for (const auto& each : page_entries) {
        html_.add(R"(<li><a href="{}/{}{}")", root_, each.slug, each.slug.empty() ? "" : "/");
        if (each.slug == slug) html_.add(R"( aria-current="page")");
        html_.add(">{}</a></li>\n", each.title);
    }
    html_.add("</ul></nav>\n<main id=\"content\">\n");
}

TOLLGATE_DECL void page_writer::end_page() {
    html_.add(R"(</main>
</div>
<footer><p>Made from the API's own settings and routes.</p></footer>
</body>
</html>
)");
}

// It can be scrolled sideways on a narrow screen, and so has to be reached by keyboard.
TOLLGATE_DECL void page_writer::begin_table(std::initializer_list<std::string_view> columns) {
    html_.add(R"(<div class="table" tabindex="0"><table>
<thead><tr>)");
    for (const auto each : columns) html_.add(R"(<th scope="col">{}</th>)", each);
    html_.add("</tr></thead>\n<tbody>\n");
}

TOLLGATE_DECL void page_writer::end_table() { html_.add("</tbody>\n</table></div>\n"); }

TOLLGATE_DECL void page_writer::write_overview() {
    html_.add(R"(<h1>Account API</h1>
<p class="lead">An HTTP API in JSON that gives programs access to the accounts that people have at several products.
Each product is called a service.</p>
<dl class="facts">
<dt>Address</dt><dd><code>{}</code></dd>
<dt>Services</dt><dd>)",
              settings_.base_url);
    for (const service& each : settings_.services.services()) html_.add("<code>{}</code> ", each.name.view());
    html_.add(R"(</dd>
<dt>Without credentials</dt><dd>{}, for a client's address</dd>
<dt>With credentials</dt><dd>{}, for a user</dd>
)",
              describe(settings_.anonymous_quota), describe(settings_.user_quota));
    const auto is_description = [](const route_description& each) { return each.path == "/openapi.json"; };
    if (find_route(is_description) != nullptr)
        html_.add(R"(<dt>For machines</dt><dd><a href="{}/openapi.json">OpenAPI 3.1</a></dd>
)",
                  settings_.base_url);
    html_.add("</dl>\n");

    const auto is_plain = [&](const route_description& each, access_rule::kind who) {
        return each.access.who == who && each.method == http::method::get && each.parameters.empty() &&
               !is_description(each);
    };
    if (const auto* open = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::open); })) {
        html_.add("<h2>A first request</h2>\n<p>This one needs no credentials:</p>\n");
        write_curl(*open);
        write_example(open->notes.success_body);
    }
    if (const auto* own = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::scope); })) {
        html_.add(R"(<p>This one needs a <a href="{}/authentication/">personal API token</a>:</p>
)",
                  root_);
        write_curl(*own);
        write_example(own->notes.success_body);
    }

    html_.add("<h2>Read on</h2>\n<ul class=\"cards\">\n");
    for (const auto& each : page_entries)
        if (!each.slug.empty())
            html_.add(R"(<li><a href="{}/{}/"><strong>{}</strong><span>{}</span></a></li>
)",
                      root_, each.slug, each.title, each.summary);
    html_.add("</ul>\n");
}

TOLLGATE_DECL void page_writer::write_requests() {
    html_.add(R"(<h1>Requests</h1>
<p class="lead">JSON both ways, over HTTP/1.1.</p>
<h2 id="address">Address</h2>
<p>Every path begins with <code>{}</code>. Its last part is the version, which grows only by additions: ignore members
that you do not know.</p>
<p>Paths are exact. A slash at the end, an empty segment or a percent-encoded character make another path, and that is
a <strong>404</strong>.</p>
<h2 id="user-agent">User-Agent</h2>
<p>Every request carries a <code>User-Agent</code> field that names the program, best with a way to reach whoever runs
it. Without one, or with an empty one, the answer is <strong>403</strong>.</p>
<pre tabindex="0"><code>User-Agent: inventory-sync/2.1 (ops@example.com)</code></pre>
)",
              settings_.base_url);
    html_.add(R"(<h2 id="bodies">Bodies</h2>
<p>What is no part of the path goes into the query of a GET request, and into the body of any other: one JSON object,
with <code>Content-Type: application/json</code>.</p>
<ul>
<li>Another media type is a <strong>415</strong>. A body over the server's bound, usually {} KiB, is a
<strong>413</strong>.</li>
<li>What is no JSON object in UTF-8 is a <strong>400</strong>. So are a member that comes twice, bytes behind the
object, and nesting deeper than {}.</li>
<li>A member that is missing, null, of another type or of a value that will not do is a <strong>422</strong>; its
message names the member. Members that the API does not know are ignored.</li>
</ul>
)",
              limits::body_bytes_default / 1024, limits::json_depth_max);
    html_.add("<h2 id=\"formats\">Formats</h2>\n");
    begin_table({"What", "How"});
    html_.add(R"(<tr><th scope="row">Moments</th><td>ISO 8601 in UTC, to the second:
<code>2026-11-21T09:30:00Z</code></td></tr>
<tr><th scope="row">Money</th><td>A JSON number with exactly the digits that are meant. Read it as a decimal: a binary
float rounds it.</td></tr>
<tr><th scope="row">Currencies</th><td>Three letters of ISO 4217</td></tr>
<tr><th scope="row">Ids</th><td>Integers from 1 to 9223372036854775807</td></tr>
<tr><th scope="row">Lists</th><td>Whole, as a bare array; <code>[]</code> when there is nothing</td></tr>
)");
    end_table();
    html_.add(R"(<h2 id="methods">Methods</h2>
<p>HEAD gets what GET gets, without the body. OPTIONS gets 204 and an <code>Allow</code> field. A known path with any
other method is a <strong>405</strong>, with the same field.</p>
)");
}

TOLLGATE_DECL void page_writer::write_authentication() {
    html_.add(R"(<h1>Authentication</h1>
<p class="lead">A request says who is calling in one <code>Authorization</code> field.</p>
)");
    begin_table({"Credentials", "Reach", "Sent as"});
    html_.add(R"(<tr><th scope="row">Personal API token</th><td>Its owner's accounts</td><td>HTTP Basic: the token
username, and the token secret as the password</td></tr>
<tr><th scope="row">OAuth access token</th><td>The accounts of the user who let the application in</td>
<td><code>Authorization: Bearer</code> and the token</td></tr>
)");
    end_table();
    html_.add(R"(<p>Without credentials, open paths still answer, within a <a href="{}/rate-limits/">lower
limit</a>.</p>
)",
              root_);

    const auto* own = find_route([](const route_description& each) {
        return each.access.who != access_rule::kind::open && each.method == http::method::get &&
               each.parameters.empty();
    });
    const auto address = settings_.base_url + (own == nullptr ? std::string{} : std::string{own->path});
    html_.add(R"(<h2 id="personal-tokens">Personal API tokens</h2>
<p>A token has a username and a secret. The secret is shown once, when the token is made. It works like a password:
keep it out of source code and logs.</p>
<pre tabindex="0"><code>curl -u "$TOKEN_USERNAME:$TOKEN_SECRET" {}</code></pre>
<h2 id="access-tokens">OAuth access tokens</h2>
<p>An access token works until its <code>expires_in</code> seconds are over, or until the user takes it back.</p>
<pre tabindex="0"><code>curl -H "Authorization: Bearer $ACCESS_TOKEN" {}</code></pre>
<h2 id="refusals">When nobody is let in</h2>
<p>Missing credentials where some are needed, and bad ones on any path, are a <strong>401</strong>. Its
<code>WWW-Authenticate</code> fields name the schemes; <code>error="invalid_token"</code> says that credentials were
sent, and are unknown, revoked or expired.</p>
<ul>
<li>The scheme is read in any case, the credentials exactly.</li>
<li>A personal token as Bearer, or an access token as Basic, lets nobody in.</li>
<li>Two <code>Authorization</code> fields are a <strong>400</strong>. Credentials in the address are ignored.</li>
</ul>
)",
              address, address);
}

TOLLGATE_DECL void page_writer::write_scopes() {
    html_.add(R"(<h1>Scopes</h1>
<p class="lead">Scopes say what a token may do, whichever kind of token it is.</p>
)");
    begin_table({"Scope", "Grants"});
    const auto write_row = [this](std::string_view scope, const std::string& grants) {
        html_.add("<tr><td><code>{}</code></td><td>{}</td></tr>\n", scope, grants);
    };
    write_row(balance_scope, "Reading the user's balance");
    for (const service& each : settings_.services.services()) {
        const std::string name{each.name.view()};
        write_row(each.read_scope, "Reading the user's " + name + " accounts");
        write_row(each.write_scope, "Reading and changing the user's " + name + " accounts");
    }
    end_table();
    html_.add(R"(<p>A service's scope covers its read scope. No scope covers anything of another service, and
<code>{}</code> is covered by itself alone.</p>
<h2 id="needed">What needs which</h2>
)",
              balance_scope);
    begin_table({"Endpoint", "Needs"});
    for (const auto& each : routes_) {
        html_.add("<tr><td><code>{} {}</code></td><td>", http::to_text(each.method), each.path);
        write_access(each.access);
        html_.add("</td></tr>\n");
    }
    end_table();
    html_.add(R"(<h2 id="refusals">When scopes do not reach</h2>
<p>The answer is a <strong>403</strong>; its <code>WWW-Authenticate</code> field names what is missing:
<code>error="insufficient_scope", scope="..."</code>. A 403 without that field is about the
<a href="{}/requests/#user-agent">User-Agent</a>.</p>
)",
              root_);
}

TOLLGATE_DECL void page_writer::write_rate_limits() {
    html_.add(R"(<h1>Rate limits</h1>
<p class="lead">Every answer tells how much is left. A program that reads it never has to guess.</p>
)");
    begin_table({"Requests", "Limit", "Counted for"});
    html_.add(R"(<tr><th scope="row">With credentials</th><td>{}</td><td>The user, whichever of their tokens is
used</td></tr>
<tr><th scope="row">Without, or with bad ones</th><td>{}</td><td>The client's address; an IPv6 address by its
/64</td></tr>
)",
              describe(settings_.user_quota), describe(settings_.anonymous_quota));
    end_table();
    html_.add(R"(<p>The operator can give a user a higher limit; it counts at once.</p>
<h2 id="windows">Windows</h2>
<p>A window begins with the first request that is counted, and ends after its length: then the whole limit is there
again. A request that is refused for the limit is not counted. Every other one is, also when it is refused for
something else.</p>
<h2 id="fields">Fields</h2>
)");
    begin_table({"Field", "Meaning"});
    html_.add(R"(<tr><td><code>X-RateLimit-Limit</code></td><td>Requests permitted in the window</td></tr>
<tr><td><code>X-RateLimit-Remaining</code></td><td>Requests left in it</td></tr>
<tr><td><code>X-RateLimit-Reset</code></td><td>When it ends; sent exactly when none is left, so with the last answer,
too</td></tr>
<tr><td><code>Retry-After</code></td><td>Seconds to wait, with a 429</td></tr>
)");
    end_table();
    html_.add(R"(<h2 id="exceeded">When none is left</h2>
<pre tabindex="0"><code>HTTP/1.1 429 Too Many Requests
X-RateLimit-Limit: {}
X-RateLimit-Remaining: 0
X-RateLimit-Reset: 2026-11-21T10:00:00Z
Retry-After: 1740</code></pre>
<p>Wait until then. Asking sooner gets the same answer.</p>
)",
              settings_.anonymous_quota.requests);
}

TOLLGATE_DECL void page_writer::write_errors() {
    html_.add(R"(<h1>Errors</h1>
<p class="lead">Every answer of 400 and above carries one object.</p>
<pre tabindex="0"><code>&#123;
  "message": "Not Found",
  "documentation_url": "{}/docs/errors/"
&#125;</code></pre>
<p>The message is for people, and may be worded better tomorrow; let programs go by the status. The address leads to
the page that explains the matter.</p>
<h2 id="statuses">Statuses</h2>
)",
              settings_.auth_url);

    struct row {
        http::status status;
        std::string_view meaning;
    };
    constexpr row rows[] = {
        {http::status::bad_request, "HTTP or JSON that breaks a rule, or two Authorization fields. Mend the program."},
        {http::status::unauthorized, "No credentials where some are needed, or some that let nobody in."},
        {http::status::forbidden, "No User-Agent, or a token whose scopes do not reach; see WWW-Authenticate."},
        {http::status::not_found, "Not there, or not the caller's. The two look the same on purpose."},
        {http::status::method_not_allowed, "The path is known, and does not answer to this method; see Allow."},
        {http::status::request_timeout, "The request did not arrive in time."},
        {http::status::content_too_large, "The body is too large."},
        {http::status::uri_too_long, "The address is too long."},
        {http::status::unsupported_media_type, "The body is not application/json."},
        {http::status::unprocessable_content, "A member of the body will not do; the message names it."},
        {http::status::too_many_requests, "The rate limit is exceeded; wait as long as Retry-After says."},
        {http::status::header_fields_too_large, "The header fields are too many or too long."},
        {http::status::internal_server_error, "A mistake on our side. Whether it had an effect is not certain."},
        {http::status::service_unavailable, "Overloaded, or a part is down; try again after Retry-After."},
    };
    begin_table({"Status", "Meaning"});
    for (const row& each : rows) {
        const auto number = http::to_number(each.status);
        html_.add(R"(<tr id="status-{}"><th scope="row">{} {}</th><td>{}</td></tr>
)",
                  number, number, http::to_reason(each.status), each.meaning);
    }
    end_table();
}

TOLLGATE_DECL void page_writer::write_webhooks() {
    html_.add(R"(<h1>Webhooks</h1>
<p class="lead">A webhook ties one event of an account to an address of yours.</p>
<h2 id="events">Events</h2>
)");
    begin_table({"Service", "Events"});
    for (const service& each : settings_.services.services()) {
        html_.add(R"(<tr><th scope="row">{}</th><td>)", each.name.view());
        for (const auto& event : each.events) html_.add("<code>{}</code> ", event);
        html_.add("</td></tr>\n");
    }
    end_table();

    html_.add("<h2 id=\"requests\">Requests</h2>\n");
    for (const auto& each : routes_) {
        if (each.path.find("/hooks") == std::string_view::npos) continue;
        html_.add("<p>{}</p>\n", each.notes.summary);
        write_curl(each);
        write_example(each.notes.success_body);
    }

    html_.add(R"(<h2 id="secret">The secret</h2>
<p>The answer that creates a webhook carries its signing secret in <code>X-Hook-Secret</code>. No other answer does:
keep it.</p>
<h2 id="rules">Rules</h2>
<ul>
<li>An account has at most {} webhooks for one event. The same event and address may be used twice.</li>
<li>The address is an absolute http or https URL of at most {} bytes, without user name, password and fragment.</li>
<li>An address inside a private network is refused, however it is spelled, unless the operator allows it.</li>
<li>It is listed byte for byte as it was given.</li>
<li><code>source</code> is <code>api</code> for a webhook made through the API, and <code>manual</code> for one made by
hand.</li>
</ul>
)",
              settings_.hooks_per_event_max, limits::target_url_bytes_max);
}

TOLLGATE_DECL void page_writer::write_endpoints() {
    html_.add("<h1>Endpoints</h1>\n<p class=\"lead\">All paths are below <code>{}</code>.</p>\n", settings_.base_url);
    begin_table({"Endpoint", "What it does"});
    for (const auto& each : routes_)
        html_.add(R"(<tr><td><a href="#{}"><code>{} {}</code></a></td><td>{}</td></tr>
)",
                  anchor_of(each), http::to_text(each.method), each.path, each.notes.summary);
    end_table();
    for (const auto& each : routes_) write_operation(each);
}

TOLLGATE_DECL void page_writer::write_operation(const route_description& of) {
    const auto method = http::to_text(of.method);
    html_.add(R"(<section class="operation">
<h2 id="{}"><span class="method {}">{}</span> <code>{}</code></h2>
<p>{}</p>
<dl class="facts"><dt>Needs</dt><dd>)",
              anchor_of(of), lower_case(method), method, of.path, of.notes.summary);
    write_access(of.access);
    html_.add("</dd><dt>Answers</dt><dd>{} {}", of.notes.success_status,
              http::to_reason(static_cast<http::status>(of.notes.success_status)));
    if (!of.notes.success_field.empty()) html_.add(", with <code>{}</code>", of.notes.success_field);
    html_.add("</dd></dl>\n");
    write_parameters(of);
    write_curl(of);
    write_example(of.notes.success_body);
    html_.add("</section>\n");
}

TOLLGATE_DECL void page_writer::write_access(const access_rule& access) {
    switch (access.who) {
        case access_rule::kind::open: html_.add("nothing"); break;
        case access_rule::kind::any_caller: html_.add("any valid credentials"); break;
        case access_rule::kind::scope: html_.add("<code>{}</code>", access.scope); break;
        case access_rule::kind::service_read: html_.add("<code>{}</code>", "{service}:read"); break;
        case access_rule::kind::service_write: html_.add("<code>{}</code>", "{service}"); break;
    }
}

TOLLGATE_DECL void page_writer::write_parameters(const route_description& of) {
    if (of.parameters.empty()) return;
    begin_table({"In the path", "Value"});
    for (const auto& each : of.parameters) {
        html_.add("<tr><td><code>{}</code></td><td>", each.name);
        switch (each.kind) {
            case route_description::value_kind::service:
                for (const service& known : settings_.services.services())
                    html_.add("<code>{}</code> ", known.name.view());
                break;
            case route_description::value_kind::id: html_.add("the {}'s id, an integer", each.name); break;
            case route_description::value_kind::text: html_.add("text"); break;
        }
        html_.add("</td></tr>\n");
    }
    end_table();
}

TOLLGATE_DECL void page_writer::write_curl(const route_description& of) {
    html_.add(R"(<pre tabindex="0"><code>curl)");
    if (of.method != http::method::get) html_.add(" -X {}", http::to_text(of.method));
    if (of.access.who != access_rule::kind::open) html_.add(R"( -u "$TOKEN_USERNAME:$TOKEN_SECRET")");
    html_.add(" {}{}", settings_.base_url, sample_path(of, settings_.services));
    const auto& body = of.notes.request_body;
    if (!body.example.empty())
        html_.add(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{}'", fill_example(body, settings_.services));
    html_.add("</code></pre>\n");
}

TOLLGATE_DECL void page_writer::write_example(const json_shape& shape) {
    if (shape.example.empty()) return;
    html_.add(R"(<pre class="answer" tabindex="0"><code>{}</code></pre>
)",
              fill_example(shape, settings_.services));
}

}  // namespace tollgate::documentation

// <tollgate/oauth/parameters.ipp>

namespace tollgate::oauth {

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_form(std::string_view bytes) {
    const auto form = http::parse_form(bytes);
    if (!form) return failure{error::invalid_request, "The parameters are no form: " + form.error().message};
    return parameters{{form->begin(), form->end()}};
}

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_query(const http::request& asked) {
    return from_form(asked.target.query);
}

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_body(const http::request& asked) {
    const auto content_type = asked.fields.find(http::field_id::content_type);
    const auto media_type = trim_ows(content_type.substr(0, content_type.find(';')));
    if (asked.body_state == http::body_state::too_large) return failure{error::invalid_request, "The request's body is too large."};
    if (ascii_iequals(media_type, "application/x-www-form-urlencoded")) return from_form(asked.body);
    if (!ascii_iequals(media_type, "application/json"))
        return failure{error::invalid_request,
                       "Send the parameters as application/x-www-form-urlencoded or as application/json."};

    const auto object = http::parse_json_object(asked.body);
    if (!object) return failure{error::invalid_request, "The body is no JSON object: " + object.error().message};
    std::vector<http::form_member> sent;
    for (const http::json_member& member : *object) {
        if (member.kind == http::json_kind::null) continue;
        if (member.kind != http::json_kind::text && member.kind != http::json_kind::integer)
            return failure{error::invalid_request, "A parameter's value is a string."};
        sent.push_back({member.name, member.value});
    }
    return parameters{std::move(sent)};
}

TOLLGATE_DECL std::optional<std::string> parameters::find(std::string_view name) const {
    for (const http::form_member& each : sent_)
        if (each.name == name && !each.value.empty()) return each.value;
    return std::nullopt;
}

TOLLGATE_DECL bool parameters::is_repeated(std::string_view name) const noexcept {
    std::size_t times = 0;
    for (const http::form_member& each : sent_) times += each.name == name ? 1 : 0;
    return times > 1;
}

TOLLGATE_DECL std::string_view parameters::repeated() const noexcept {
    for (const http::form_member& each : sent_)
        if (is_repeated(each.name)) return each.name;
    return {};
}

}  // namespace tollgate::oauth

// <tollgate/oauth/redirect.ipp>

namespace tollgate::oauth {

namespace detail {

/// 127.0.0.0/8 and ::1. Not the name `localhost`, which somebody may make point elsewhere (RFC 8252 section 8.3).
inline bool is_loopback(const http::url& at) noexcept {
    if (!at.address) return false;
    const auto& bytes = at.address->bytes();
    return at.address->is_v4() ? bytes[12] == 127 : *at.address == *ip_address::parse("::1");
}

}  // namespace detail

TOLLGATE_DECL bool matches_registered(std::string_view registered, std::string_view redirect_uri) {
    if (registered == redirect_uri) return true;
    const auto known = http::url::parse(registered);
    const auto sent = http::url::parse(redirect_uri);
    if (!known || !sent) return false;
    return known->scheme == http::url_scheme::http && sent->scheme == http::url_scheme::http && detail::is_loopback(*known) &&
           known->address == sent->address && known->request_target() == sent->request_target() && !sent->has_user_info &&
           !sent->has_fragment && !known->has_fragment;
}

TOLLGATE_DECL bool matches_website(std::string_view website, std::string_view redirect_uri) {
    const auto home = http::url::parse(website);
    const auto sent = http::url::parse(redirect_uri);
    return home && sent && home->origin() == sent->origin() && !sent->has_user_info && !sent->has_fragment;
}

TOLLGATE_DECL std::optional<std::string> choose_redirect(const application& client, const std::optional<std::string>& redirect_uri) {
    if (client.redirect_url) {
        if (!redirect_uri) return client.redirect_url;
        return matches_registered(*client.redirect_url, *redirect_uri) ? redirect_uri : std::nullopt;
    }
    return redirect_uri && matches_website(client.website, *redirect_uri) ? redirect_uri : std::nullopt;
}

TOLLGATE_DECL std::string with_parameters(std::string_view url,
                                          const std::vector<std::pair<std::string_view, std::string_view>>& parameters) {
    std::string made{url};
    const auto mark = made.find('?');
    char before = mark == std::string::npos ? '?' : '&';
    if (mark != std::string::npos && (mark + 1 == made.size() || made.back() == '&')) before = '\0';
    for (const auto& [name, value] : parameters) {
        if (before != '\0') made.push_back(before);
        made.append(percent_encode(name)).append("=").append(percent_encode(value));
        before = '&';
    }
    return made;
}

}  // namespace tollgate::oauth

// <tollgate/oauth/client_authentication.ipp>

namespace tollgate::oauth {

namespace detail {

/// `Basic` with both parts form-encoded before they are joined (RFC 6749 section 2.3.1).
inline std::optional<client_credentials> read_basic(std::string_view authorization) {
    constexpr std::string_view scheme = "Basic ";
    if (authorization.size() < scheme.size() || !ascii_iequals(authorization.substr(0, scheme.size()), scheme)) return std::nullopt;
    authorization.remove_prefix(scheme.size());
    while (authorization.starts_with(' ')) authorization.remove_prefix(1);
    const auto decoded = base64_decode(authorization);
    if (!decoded) return std::nullopt;
    const auto colon = decoded->find(':');
    if (colon == std::string::npos) return std::nullopt;
    auto client_id = percent_decode(std::string_view{*decoded}.substr(0, colon), plus_sign::space);
    auto client_secret = percent_decode(std::string_view{*decoded}.substr(colon + 1), plus_sign::space);
    if (!client_id || !client_secret) return std::nullopt;
    return client_credentials{std::move(*client_id), std::move(*client_secret), true};
}

}  // namespace detail

TOLLGATE_DECL std::variant<client_credentials, failure> read_credentials(const http::request& asked, const parameters& sent) {
    const auto client_id = sent.find("client_id");
    const auto client_secret = sent.find("client_secret");
    const auto lines = asked.fields.count(http::field_id::authorization);
    if (lines > 1) return failure{error::invalid_request, "Send one Authorization header only."};
    if (lines == 0) return client_credentials{client_id.value_or(""), client_secret.value_or(""), false};

    auto basic = detail::read_basic(asked.fields.find(http::field_id::authorization));
    if (!basic) return client_credentials{"", "", true};
    if ((client_id && *client_id != basic->client_id) || (client_secret && *client_secret != basic->client_secret))
        return failure{error::invalid_request, "The Authorization header and the body name different credentials."};
    return std::move(*basic);
}

}  // namespace tollgate::oauth

// <tollgate/store/keyed_hash.ipp>

namespace tollgate {

TOLLGATE_DECL keyed_hash::keyed_hash() {
    std::random_device system;
    for (std::uint64_t& key : keys_) key = std::uint64_t{system()} << 32 | system();
}

}  // namespace tollgate

// <tollgate/store/memory/access_tokens.ipp>

namespace tollgate::memory {

TOLLGATE_DECL outcome<void> access_tokens::create(const new_access_token& made) {
    // Counted first and given back after, whichever way this ends, so that parallel calls cannot pass the bound.
    struct place {
        std::atomic<std::size_t>& count;
        const bool free;
        bool taken = false;

        place(std::atomic<std::size_t>& count_, std::size_t max) : count{count_}, free{count_.fetch_add(1) < max} {}
        ~place() {
            if (!taken) count.fetch_sub(1);
        }
    } here{count_, tokens_max_};

    if (!here.free)
        return unavailable("The memory store holds " + std::to_string(tokens_max_) +
                           " access tokens, as many as it may (memory_settings::access_tokens_max).");
    here.taken = by_digest_.insert(
        made.token_digest, {made.user, made.token_digest, made.scopes, made.expires_at, made.application});
    if (!here.taken) return problem{problem_kind::conflict, "This access token exists already.", {}};
    return {};
}

TOLLGATE_DECL outcome<bool> access_tokens::revoke(const digest& token) {
    const bool was_there = by_digest_.erase(token);
    if (was_there) count_.fetch_sub(1);
    return was_there;
}

}  // namespace tollgate::memory

// <tollgate/store/memory/hooks.ipp>

namespace tollgate::memory {

TOLLGATE_DECL outcome<hook_id> hooks::create(const new_hook& made, std::size_t hooks_per_event_max) {
    const std::scoped_lock lock{mutex_};
    if (hooks_.size() >= hooks_max_)
        return unavailable("The memory store holds " + std::to_string(hooks_max_) +
                           " hooks, as many as it may (memory_settings::hooks_max).");
    auto& siblings = of_account_[made.account];
    const auto same_event = std::count_if(siblings.begin(), siblings.end(),
                                          [&](hook_id each) { return hooks_.at(each).event == made.event; });
    if (static_cast<std::size_t>(same_event) >= hooks_per_event_max) return too_many_hooks(hooks_per_event_max);

    // The hook comes after all that may throw.
    if (siblings.size() == siblings.capacity()) siblings.reserve((std::max)(siblings.size() * 2, std::size_t{4}));
    const hook_id id{++last_id_};
    hooks_.emplace(id, made);
    siblings.push_back(id);
    return id;
}

TOLLGATE_DECL outcome<std::vector<hook>> hooks::of(const account_ref& account) const {
    const std::scoped_lock lock{mutex_};
    std::vector<hook> found;
    const auto owned = of_account_.find(account);
    if (owned == of_account_.end()) return found;
    found.reserve(owned->second.size());
    for (const hook_id id : owned->second) {
        const new_hook& kept = hooks_.at(id);
        found.push_back({id, kept.account, kept.event, kept.source, kept.type, kept.target_url, kept.created_at});
    }
    return found;
}

TOLLGATE_DECL outcome<std::optional<account_ref>> hooks::account_of(const service_name& service, hook_id id) const {
    const std::scoped_lock lock{mutex_};
    const auto kept = hooks_.find(id);
    if (kept == hooks_.end() || kept->second.account.service != service) return std::optional<account_ref>{};
    return std::optional{kept->second.account};
}

TOLLGATE_DECL outcome<bool> hooks::remove(const account_ref& account, hook_id id) {
    const std::scoped_lock lock{mutex_};
    const auto kept = hooks_.find(id);
    if (kept == hooks_.end() || kept->second.account != account) return false;
    hooks_.erase(kept);
    const auto owned = of_account_.find(account);
    std::erase(owned->second, id);
    if (owned->second.empty()) of_account_.erase(owned);
    return true;
}

}  // namespace tollgate::memory

// <tollgate/store/memory/personal_tokens.ipp>

namespace tollgate::memory {

TOLLGATE_DECL outcome<token_id> personal_tokens::create(const new_personal_token& made) {
    const std::scoped_lock lock{mutex_};
    if (by_username_.with(made.username, [](const row* kept) { return kept != nullptr; }))
        return problem{problem_kind::conflict, "A personal token of this username exists already.", {}};
    if (usernames_.size() >= tokens_max_)
        return unavailable("The memory store holds " + std::to_string(tokens_max_) +
                           " personal tokens, as many as it may (memory_settings::personal_tokens_max).");

    // The row comes last: without memory on the way, nobody ever sees the token. Nothing after it throws.
    const token_id id{++last_id_};
    auto& siblings = of_user_[made.user];
    if (siblings.size() == siblings.capacity()) siblings.reserve((std::max)(siblings.size() * 2, std::size_t{4}));
    usernames_.emplace(id, made.username);
    try {
        by_username_.insert(made.username, row{id,
                                               {made.user, made.secret_digest, made.scopes, std::nullopt, std::nullopt},
                                               made.description,
                                               made.created_at});
    } catch (...) {
        usernames_.erase(id);
        throw;
    }
    siblings.push_back(id);
    return id;
}

TOLLGATE_DECL outcome<std::vector<personal_token>> personal_tokens::of(user_id user) const {
    const std::scoped_lock lock{mutex_};
    std::vector<personal_token> found;
    const auto owned = of_user_.find(user);
    if (owned == of_user_.end()) return found;
    found.reserve(owned->second.size());
    for (const token_id id : owned->second) {
        const token_username& username = usernames_.at(id);
        by_username_.with(username, [&](const row* kept) {
            found.push_back(
                {id, user, username, kept->description, kept->credential.scopes, kept->created_at, std::nullopt});
        });
    }
    return found;
}

TOLLGATE_DECL outcome<bool> personal_tokens::revoke(token_id id) {
    const std::scoped_lock lock{mutex_};
    const auto named = usernames_.find(id);
    if (named == usernames_.end()) return false;
    const user_id owner = by_username_.with(named->second, [](const row* kept) { return kept->credential.user; });
    by_username_.erase(named->second);
    usernames_.erase(named);
    const auto owned = of_user_.find(owner);
    std::erase(owned->second, id);
    if (owned->second.empty()) of_user_.erase(owned);
    return true;
}

}  // namespace tollgate::memory

// <tollgate/server/admission.ipp>

namespace tollgate::hosting {

TOLLGATE_DECL admission::key admission::key_of(const ip_address& from) noexcept {
    key made = from.bytes();
    if (!from.is_v4())
        for (std::size_t i = 8; i < made.size(); ++i) made[i] = 0;
    return made;
}

TOLLGATE_DECL std::size_t admission::key_hash::operator()(const key& one) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(one.data()), one.size()});
}

TOLLGATE_DECL admission::verdict admission::enter(const ip_address& from) noexcept {
    const std::lock_guard hold{mutex_};
    bool over = connections_ >= connections_max_;
    if (!over && per_address_max_ != 0) {
        try {
            std::size_t& theirs = by_address_[key_of(from)];
            over = theirs >= per_address_max_;
            if (!over) ++theirs;
        } catch (const std::bad_alloc&) {
            return verdict::dropped;
        }
    }
    if (over) {
        if (refused_ >= refused_max) return verdict::dropped;
        ++refused_;
        return verdict::refused;
    }
    ++connections_;
    return verdict::welcome;
}

TOLLGATE_DECL void admission::leave(const ip_address& from, verdict given) noexcept {
    const std::lock_guard hold{mutex_};
    if (given == verdict::refused) {
        --refused_;
        return;
    }
    --connections_;
    if (per_address_max_ == 0) return;
    const auto theirs = by_address_.find(key_of(from));
    if (theirs != by_address_.end() && --theirs->second == 0) by_address_.erase(theirs);
}

}  // namespace tollgate::hosting

// <tollgate/server/tls_context.ipp>

namespace tollgate::hosting {

namespace detail {

/// A BIO over a `tls_wire`, which whoever calls OpenSSL sets as its data for as long as the call takes.
struct wire_bio {
    static int read(BIO* bio, char* to, int bytes_max) noexcept {
        BIO_clear_retry_flags(bio);
        auto& wire = *static_cast<tls_wire*>(BIO_get_data(bio));
        const std::size_t bytes = (std::min)(static_cast<std::size_t>(bytes_max), wire.end - wire.begin);
        if (bytes == 0) {
            BIO_set_retry_read(bio);
            return -1;
        }
        std::memcpy(to, wire.input.data() + wire.begin, bytes);
        wire.begin += bytes;
        return static_cast<int>(bytes);
    }

    static int write(BIO* bio, const char* from, int bytes) noexcept {
        BIO_clear_retry_flags(bio);
        auto& wire = *static_cast<tls_wire*>(BIO_get_data(bio));
        try {
            wire.output.append(from, static_cast<std::size_t>(bytes));
        } catch (const std::bad_alloc&) {
            return -1;  // without a wish to retry: OpenSSL takes it for a broken connection, and so do we
        }
        return bytes;
    }

    static long control(BIO*, int command, long, void*) noexcept { return command == BIO_CTRL_FLUSH ? 1 : 0; }

    static int create(BIO* bio) noexcept {
        BIO_set_init(bio, 1);
        return 1;
    }
};

/// RFC 7301 section 3.2: a client that names protocols, and not ours, is told so instead of being misunderstood.
inline int select_http_1_1(SSL*, const unsigned char** out, unsigned char* out_bytes, const unsigned char* offered,
                           unsigned offered_bytes, void*) noexcept {
    constexpr std::string_view ours = "http/1.1";
    for (unsigned at = 0; at < offered_bytes; at += 1U + offered[at]) {
        const std::string_view name{reinterpret_cast<const char*>(offered) + at + 1, offered[at]};
        if (name != ours) continue;
        *out = offered + at + 1;
        *out_bytes = offered[at];
        return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// OpenSSL's own words for what went wrong first; leaves its queue empty.
inline std::string take_openssl_error() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (ERR_GET_LIB(code) == ERR_LIB_SYS) return std::generic_category().message(ERR_GET_REASON(code));
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "unknown error" : reason;
}

struct pem_source {
    explicit pem_source(std::string_view text) : bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))} {}
    explicit pem_source(const std::string& file) : bio{BIO_new_file(file.c_str(), "r")} {}
    pem_source(const pem_source&) = delete;
    pem_source& operator=(const pem_source&) = delete;
    ~pem_source() { BIO_free(bio); }
    BIO* bio;
};

/// A pass phrase cannot be asked for here; the empty one fails with a clear error instead of a prompt on a terminal.
inline int no_pass_phrase(char*, int, int, void*) noexcept { return 0; }

/// The first certificate is the leaf; those behind it lead to an authority.
inline bool use_chain(SSL_CTX* context, BIO* from) {
    X509* const leaf = PEM_read_bio_X509_AUX(from, nullptr, &no_pass_phrase, nullptr);
    if (leaf == nullptr) return false;
    const bool used = SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    if (!used) return false;
    while (X509* const issuer = PEM_read_bio_X509(from, nullptr, &no_pass_phrase, nullptr)) {
        if (SSL_CTX_add0_chain_cert(context, issuer) == 1) continue;
        X509_free(issuer);
        return false;
    }
    const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (at_end) ERR_clear_error();
    return at_end;
}

inline bool use_key(SSL_CTX* context, BIO* from) {
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(from, nullptr, &no_pass_phrase, nullptr);
    if (key == nullptr) return false;
    const bool used = SSL_CTX_use_PrivateKey(context, key) == 1;
    EVP_PKEY_free(key);
    return used;
}

}  // namespace detail

TOLLGATE_DECL tls_context::tls_context() : context_{SSL_CTX_new(TLS_server_method())} {
    transport_ = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tollgate wire");
    if (context_ == nullptr || transport_ == nullptr) throw std::bad_alloc{};
    BIO_meth_set_read(transport_, &detail::wire_bio::read);
    BIO_meth_set_write(transport_, &detail::wire_bio::write);
    BIO_meth_set_ctrl(transport_, &detail::wire_bio::control);
    BIO_meth_set_create(transport_, &detail::wire_bio::create);

    SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
    SSL_CTX_set_options(context_, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                      SSL_OP_PRIORITIZE_CHACHA);
    // Idle connections are many: record buffers (33 KiB) live only as long as a record. The write buffer may move, since
    // a batch is encrypted to its end before anybody else writes.
    SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                   SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // Sessions are resumed by tickets, which the clients keep; a cache of ours would grow with their number. One ticket
    // is enough, for a client opens few connections at once.
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context_, 1);
    SSL_CTX_set_timeout(context_, 2 * 60 * 60);  // seconds that a ticket is good for
    SSL_CTX_set_dh_auto(context_, 1);
    SSL_CTX_set_alpn_select_cb(context_, &detail::select_http_1_1, nullptr);
}

TOLLGATE_DECL tls_context::~tls_context() {
    SSL_CTX_free(context_);
    BIO_meth_free(transport_);
}

TOLLGATE_DECL outcome<std::shared_ptr<const tls_context>> tls_context::make(const tls_settings& settings) {
    const auto wrong = [](std::string_view what, const std::string& file) {
        const std::string place = file.empty() ? "given as text" : file;
        return invalid("The TLS " + std::string{what} + " (" + place + ") cannot be used: " + detail::take_openssl_error() + ".");
    };
    try {
        ERR_clear_error();
        auto made = std::make_shared<tls_context>();
        {
            const detail::pem_source source = settings.certificate_file.empty()
                                                  ? detail::pem_source{std::string_view{settings.certificate_pem}}
                                                  : detail::pem_source{settings.certificate_file};
            if (source.bio == nullptr || !detail::use_chain(made->context_, source.bio))
                return wrong("certificate", settings.certificate_file);
        }
        {
            const detail::pem_source source = settings.key_file.empty()
                                                  ? detail::pem_source{std::string_view{settings.key_pem}}
                                                  : detail::pem_source{settings.key_file};
            if (source.bio == nullptr || !detail::use_key(made->context_, source.bio)) return wrong("key", settings.key_file);
        }
        if (SSL_CTX_check_private_key(made->context_) != 1) return wrong("key", settings.key_file);
        return std::shared_ptr<const tls_context>{std::move(made)};
    } catch (const std::bad_alloc&) {
        return internal_error("no memory for a TLS context");
    }
}

}  // namespace tollgate::hosting

// <tollgate/server/worker_pool.ipp>

namespace tollgate::hosting {

namespace detail {

/// The homes that a worker still has to wake.
class pending_wakes {
public:
    ~pending_wakes() { flush(); }

    void add(work_home& home) noexcept {
        ++items_;
        const auto end = homes_.begin() + size_;
        if (std::find(homes_.begin(), end, &home) != end) return;
        if (size_ == homes_.size()) flush();
        homes_[size_++] = &home;
    }
    [[nodiscard]] std::size_t items() const noexcept { return items_; }

    void flush() noexcept {
        for (std::size_t i = 0; i < size_; ++i) homes_[i]->wake();
        size_ = items_ = 0;
    }

private:
    std::array<work_home*, 16> homes_;  // only the first size_ are ever read
    std::size_t size_ = 0;
    std::size_t items_ = 0;
};

}  // namespace detail

TOLLGATE_DECL void worker_pool::start(unsigned threads) {
    threads_.reserve(threads);
    while (threads_.size() < threads) threads_.emplace_back([this] { run(); });
}

TOLLGATE_DECL bool worker_pool::submit(work_item& one) noexcept {
    {
        const std::lock_guard hold{mutex_};
        if (stopping_ || queue_.size() >= queue_max_) return false;
        queue_.push(one);
        if (idle_ == 0 || waking_) return true;
        waking_ = true;
    }
    work_came_.notify_one();
    return true;
}

TOLLGATE_DECL void worker_pool::run() noexcept {
    using clock = std::chrono::steady_clock;
    constexpr auto long_time = std::chrono::microseconds{100};  // some ten small requests
    constexpr std::size_t items_max = 16;                       // nobody waits for more than these

    detail::pending_wakes wakes;
    std::unique_lock hold{mutex_};
    for (;;) {
        work_item* one = queue_.pop();
        if (one == nullptr) {
            hold.unlock();
            wakes.flush();
            hold.lock();
            one = queue_.pop();
        }
        while (one == nullptr) {
            if (stopping_) return;
            ++idle_;
            work_came_.wait(hold);
            --idle_;
            waking_ = false;
            one = queue_.pop();
        }
        const bool tell_another = queue_.size() > 0 && idle_ > 0 && !waking_;
        if (tell_another) waking_ = true;
        hold.unlock();
        if (tell_another) work_came_.notify_one();

        const auto begun = clock::now();
        one->work();
        const bool took_long = clock::now() - begun > long_time;
        wakes.add(one->give_back());
        if (took_long || wakes.items() >= items_max) wakes.flush();
        hold.lock();
    }
}

TOLLGATE_DECL void worker_pool::stop() noexcept {
    {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
    }
    work_came_.notify_all();
    for (std::thread& one : threads_) one.join();
    threads_.clear();
}

}  // namespace tollgate::hosting

// <tollgate/server/socket_calls.ipp>

#if defined(__linux__)
#include <linux/sockios.h>
#include <sys/ioctl.h>
#endif

namespace tollgate::hosting {

namespace detail {

/// Both families behind one type, as the socket calls want them.
union socket_address {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

inline ip_address to_ip_address(const socket_address& from) noexcept {
    std::array<std::uint8_t, 16> bytes{};
    if (from.any.sa_family == AF_INET6) {
        std::memcpy(bytes.data(), &from.v6.sin6_addr, bytes.size());
    } else {
        bytes[10] = bytes[11] = 0xff;
        std::memcpy(bytes.data() + 12, &from.v4.sin_addr, 4);
    }
    return ip_address::from_bytes(bytes);
}

inline socklen_t to_socket_address(const ip_address& from, std::uint16_t port, socket_address& to) noexcept {
    to = {};
    if (from.is_v4()) {
        to.v4.sin_family = AF_INET;
        to.v4.sin_port = htons(port);
        std::memcpy(&to.v4.sin_addr, from.bytes().data() + 12, 4);
        return sizeof to.v4;
    }
    to.v6.sin6_family = AF_INET6;
    to.v6.sin6_port = htons(port);
    std::memcpy(&to.v6.sin6_addr, from.bytes().data(), 16);
    return sizeof to.v6;
}

inline bool make_non_blocking(int socket) noexcept {
    const int flags = ::fcntl(socket, F_GETFL, 0);
    return flags >= 0 && ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 && ::fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

inline void set_option(int socket, int level, int name) noexcept {
    const int on = 1;
    (void)::setsockopt(socket, level, name, &on, sizeof on);  // a socket that lacks one of them still works
}

#if defined(MSG_NOSIGNAL)
inline constexpr int send_flags = MSG_NOSIGNAL;
#else
inline constexpr int send_flags = 0;  // there accept_one sets SO_NOSIGPIPE
#endif

inline io_result to_io_result(ssize_t bytes) noexcept {
    if (bytes > 0) return {io_state::done, static_cast<std::size_t>(bytes)};
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return {io_state::would_block, 0};
    return {io_state::closed, 0};
}

}  // namespace detail

TOLLGATE_DECL io_result receive(socket_handle from, std::span<char> into) noexcept {
    return detail::to_io_result(::recv(from, into.data(), into.size(), 0));
}

TOLLGATE_DECL io_result send(socket_handle to, std::string_view bytes) noexcept {
    return detail::to_io_result(::send(to, bytes.data(), bytes.size(), detail::send_flags));
}

TOLLGATE_DECL void end_sending(socket_handle on) noexcept { ::shutdown(on, SHUT_WR); }

TOLLGATE_DECL bool is_sending(socket_handle on) noexcept {
#if defined(__linux__)
    int bytes = 0;
    return ::ioctl(on, SIOCOUTQ, &bytes) == 0 && bytes > 0;
#else
    (void)on;
    return false;
#endif
}

TOLLGATE_DECL void close_socket(socket_handle one) noexcept { ::close(one); }

TOLLGATE_DECL accept_result accept_one(socket_handle listening) noexcept {
    for (;;) {
        detail::socket_address from{};
        socklen_t bytes = sizeof from;
#if defined(__linux__)
        const int made = ::accept4(listening, &from.any, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        const int made = ::accept(listening, &from.any, &bytes);
#endif
        if (made < 0) {
            switch (errno) {
                case EINTR:
                case ECONNABORTED: continue;  // that one is gone; the next may be there
                case EMFILE:
                case ENFILE:
                case ENOBUFS:
                case ENOMEM: return {accept_state::exhausted, no_socket, {}};
                default: return {accept_state::none, no_socket, {}};
            }
        }
#if !defined(__linux__)
        if (!detail::make_non_blocking(made)) {
            ::close(made);
            continue;
        }
#endif
#if defined(SO_NOSIGPIPE)
        detail::set_option(made, SOL_SOCKET, SO_NOSIGPIPE);
#endif
        detail::set_option(made, IPPROTO_TCP, TCP_NODELAY);
        return {accept_state::accepted, made, detail::to_ip_address(from)};
    }
}

TOLLGATE_DECL outcome<listening_socket> listen_at(const listen_address& where, int backlog) {
    const std::string place = where.address + " port " + std::to_string(where.port);
    const auto address = ip_address::parse(where.address);
    if (!address) return invalid("The listen address " + where.address + " is no IPv4 or IPv6 address.");

    detail::socket_address name{};
    const socklen_t name_bytes = detail::to_socket_address(*address, where.port, name);
    const auto failed = [&](std::string_view call) {
        return problem{problem_kind::unavailable, "Cannot listen at " + place + ": " + std::strerror(errno) + ".",
                       std::string{call} + " failed"};
    };

    const int made = ::socket(name.any.sa_family, SOCK_STREAM, 0);
    if (made < 0) return failed("socket");
    const auto give_up = [&](std::string_view call) {
        problem why = failed(call);
        ::close(made);
        return why;
    };
    if (!detail::make_non_blocking(made)) return give_up("fcntl");
    detail::set_option(made, SOL_SOCKET, SO_REUSEADDR);  // a restart need not wait for old connections to be forgotten
    if (name.any.sa_family == AF_INET6) detail::set_option(made, IPPROTO_IPV6, IPV6_V6ONLY);
    if (::bind(made, &name.any, name_bytes) != 0) return give_up("bind");
    if (::listen(made, backlog) != 0) return give_up("listen");

    socklen_t bytes = sizeof name;
    if (::getsockname(made, &name.any, &bytes) != 0) return give_up("getsockname");
    const bool ipv6 = name.any.sa_family == AF_INET6;
    return listening_socket{made, {where.address, ntohs(ipv6 ? name.v6.sin6_port : name.v4.sin_port)}, ipv6};
}

}  // namespace tollgate::hosting

// <tollgate/server/page_block.ipp>

namespace tollgate::hosting {

TOLLGATE_DECL void* page_block::take(std::size_t bytes) {
    void* const data = ::mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc{};
    return data;
}

TOLLGATE_DECL void page_block::give(void* data, std::size_t bytes) noexcept { ::munmap(data, rounded(bytes)); }

}  // namespace tollgate::hosting

// <tollgate/server/exchange.ipp>

namespace tollgate::hosting {

TOLLGATE_DECL void exchange::begin(const ip_address& peer, bool secure) noexcept {
    begin_ = end_ = sent_ = 0;
    answered_ = 0;
    in_body_ = over_ = lingers_ = false;
    output_.clear();
    response_.clear();
    request_.peer = peer;
    request_.secure = secure;
    parser_.start();
}

TOLLGATE_DECL std::span<char> exchange::room() {
    if (input_.data() == nullptr) input_ = page_block{input_bytes_initial};
    if (input_.size() - end_ < room_bytes_min && begin_ > 0) {
        std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (input_.size() - end_ < room_bytes_min) {
        const std::size_t bytes = (std::min)(input_.size() * 2, settings_.message_bytes_max() + input_slack_bytes);
        if (bytes > input_.size()) {
            page_block larger{bytes};
            std::memcpy(larger.data(), input_.data(), end_);
            input_ = std::move(larger);
        }
    }
    return {input_.data() + end_, input_.size() - end_};
}

TOLLGATE_DECL exchange::turn exchange::look(const answering& with) {
    if (over_) return turn::over;
    if (begin_ == end_) {
        begin_ = end_ = 0;
        return turn::idle;
    }
    switch (parser_.step({input_.data() + begin_, end_ - begin_}, request_)) {
        case http::parse_step::needs_more: break;
        case http::parse_step::head_complete:
            in_body_ = true;
            if (parser_.expects_continue()) http::append_continue(output_);
            break;
        case http::parse_step::complete: return turn::request;
        case http::parse_step::refused:
            refuse(parser_.refused_status(), parser_.refused_reason(), with);
            return turn::over;
    }
    return in_body_ ? turn::in_body : turn::in_head;
}

TOLLGATE_DECL void exchange::answer(const answering& with) {
    with.handler.handle(request_, response_);
    const bool keep_alive = parser_.keep_alive() && !with.last_ones.load(std::memory_order_relaxed);
    http::append_response(response_,
                          {.date = with.date,
                           .version = request_.version,
                           .keep_alive = keep_alive,
                           .head_only = request_.method == http::method::head},
                          output_);
    response_.clear();
    ++answered_;
    begin_ += parser_.consumed();
    in_body_ = false;
    if (keep_alive) {
        parser_.start();
        return;
    }
    over_ = true;
    // A body that nobody wants may be on its way all the same, and so may the next request, if it is we who end it.
    lingers_ = request_.body_state == http::body_state::too_large || parser_.keep_alive();
}

TOLLGATE_DECL exchange::turn exchange::serve(const answering& with) {
    for (;;) {
        if (output_.size() - sent_ >= output_bytes_max) return turn::held;
        const turn now = look(with);
        if (now != turn::request) return now;
        answer(with);
    }
}

TOLLGATE_DECL void exchange::refuse(http::status status, std::string_view reason, const answering& with) {
    response_.clear();
    response_.set_status(status);
    with.handler.handle(http::refusal{status, reason, request_.peer, request_.secure}, response_);
    if (status == http::status::service_unavailable && response_.find("Retry-After").empty())
        response_.add("Retry-After", 1U);
    http::append_response(response_, {.date = with.date, .keep_alive = false}, output_);
    response_.clear();
    ++answered_;
    over_ = lingers_ = true;
}

TOLLGATE_DECL void exchange::sent(std::size_t bytes) noexcept {
    sent_ += bytes;
    if (sent_ < output_.size()) return;
    sent_ = 0;
    output_.clear();
}

TOLLGATE_DECL void exchange::shrink() noexcept {
    if (input_.size() > input_bytes_kept_max) input_ = page_block{};
    if (output_.capacity() > output_bytes_kept_max) std::string{}.swap(output_);
}

}  // namespace tollgate::hosting

// <tollgate/server/tls_stream.ipp>

namespace tollgate::hosting {

namespace detail {

/// Before every call: a mistake of somebody else's on this thread must not be taken for the connection's.
inline void ready_openssl(ssl_st* ssl, tls_wire& wire) noexcept {
    BIO_set_data(SSL_get_rbio(ssl), &wire);
    if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace detail

TOLLGATE_DECL tls_stream::tls_stream(std::shared_ptr<const tls_context> context)
    : context_{std::move(context)}, ssl_{SSL_new(context_->native())} {
    BIO* const transport = ssl_ == nullptr ? nullptr : BIO_new(context_->transport());
    if (transport == nullptr) {
        SSL_free(ssl_);
        throw std::bad_alloc{};
    }
    SSL_set_bio(ssl_, transport, transport);
    SSL_set_accept_state(ssl_);
}

TOLLGATE_DECL tls_stream::~tls_stream() { SSL_free(ssl_); }

TOLLGATE_DECL tls_step tls_stream::failure(int returned) noexcept {
    switch (SSL_get_error(ssl_, returned)) {
        case SSL_ERROR_WANT_READ: return tls_step::wants_bytes;
        case SSL_ERROR_ZERO_RETURN: ended_ = true; return tls_step::closed;
        default: break;
    }
    const bool plain_http = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
    ERR_clear_error();
    broken_ = true;
    return plain_http ? tls_step::plain_http : tls_step::failed;
}

TOLLGATE_DECL tls_step tls_stream::shake_hands(tls_wire& wire) {
    detail::ready_openssl(ssl_, wire);
    const int returned = SSL_do_handshake(ssl_);
    if (returned != 1) return failure(returned);
    shaken_hands_ = true;
    return tls_step::done;
}

TOLLGATE_DECL tls_stream::reading tls_stream::read(tls_wire& wire, std::span<char> into) {
    detail::ready_openssl(ssl_, wire);
    std::size_t bytes = 0;
    const int returned = SSL_read_ex(ssl_, into.data(), into.size(), &bytes);
    if (returned == 1) return {tls_step::done, bytes};
    return {failure(returned), 0};
}

TOLLGATE_DECL bool tls_stream::holds(const tls_wire& wire) const noexcept {
    return wire.begin != wire.end || SSL_pending(ssl_) > 0;
}

TOLLGATE_DECL bool tls_stream::write(tls_wire& wire, std::string_view plain) {
    if (broken_) return false;
    detail::ready_openssl(ssl_, wire);
    while (!plain.empty()) {
        std::size_t bytes = 0;
        const int returned = SSL_write_ex(ssl_, plain.data(), plain.size(), &bytes);
        if (returned != 1) {
            (void)failure(returned);
            broken_ = true;
            return false;
        }
        plain.remove_prefix(bytes);
    }
    return true;
}

TOLLGATE_DECL void tls_stream::say_goodbye(tls_wire& wire) noexcept {
    if (broken_ || !shaken_hands_) return;
    detail::ready_openssl(ssl_, wire);
    if (SSL_shutdown(ssl_) < 0) ERR_clear_error();
}

}  // namespace tollgate::hosting

// <tollgate/server/connection.ipp>

namespace tollgate::hosting {

TOLLGATE_DECL connection::connection(lane& home, socket_handle socket, const ip_address& peer,
                                     admission::verdict given) noexcept
    : lane_{home}, peer_{peer}, socket_{socket}, given_{given} {
    lane_.enter(*this);
}

TOLLGATE_DECL connection::~connection() {
    if (workspace_) close_workspace();
    lane_.shared().doors.leave(peer_, given_);
    lane_.leave(*this);
}

TOLLGATE_DECL void connection::begin() noexcept {
    go_on([this] { return first_step(); });
}

TOLLGATE_DECL void connection::on_ready() noexcept {
    waiting_ = false;
    go_on([this] { return resume(); });
}

TOLLGATE_DECL void connection::on_given_back() noexcept {
    go_on([this] {
        phase_ = phase::reading;
        if (interruption_ == interruption::cut_off) return next::end;
        interruption_ = interruption::none;
        const next then = settle(turn_, sent_);
        return then == next::again ? converse() : then;
    });
}

TOLLGATE_DECL void connection::interrupt(interruption why) noexcept {
    if (why <= interruption_) return;
    interruption_ = why;
    if (waiting_) cancel();
}

TOLLGATE_DECL void connection::on_deadline() noexcept {
    // A worker takes the time that the handler needs; ends of that are the handler's own business.
    if (phase_ != phase::working) interrupt(interruption::timed_out);
}

template <class Step>
TOLLGATE_DECL void connection::go_on(Step step) noexcept {
    const auto guarded = [](auto&& one) noexcept {
        try {
            return one();
        } catch (...) {
            return next::end;  // out of memory: this connection is lost, the others go on
        }
    };
    next then = guarded(step);
    while (then == next::work) {
        phase_ = phase::working;
        if (lane_.shared().workers.submit(*this)) return;
        phase_ = phase::reading;
        then = guarded([this] { return refuse(http::status::service_unavailable, "The server is busy. Try again in a moment."); });
    }
    switch (then) {
        case next::wait_readable:
            waiting_ = true;
            return wait_readable();
        case next::wait_writable:
            waiting_ = true;
            return wait_writable();
        case next::again:
        case next::work:
        case next::end: delete this;
    }
}

TOLLGATE_DECL connection::next connection::first_step() {
    if (const auto context = lane_.shared().tls()) tls_ = std::make_unique<tls_stream>(context);
    // A TLS client can read what we say only after a handshake.
    else if (given_ == admission::verdict::refused) return turn_away();
    expect(tls_ ? deadline::handshake : deadline::head);
    return next::wait_readable;
}

TOLLGATE_DECL connection::next connection::resume() {
    switch (std::exchange(interruption_, interruption::none)) {
        case interruption::none: break;
        case interruption::stopping:
            // A request may have come at the last moment; if not, `await_bytes` ends the connection.
            if (phase_ == phase::lingering) expect_end();
            break;
        case interruption::cut_off: return next::end;
        case interruption::timed_out:
            if (phase_ == phase::lingering && lingers_on()) break;
            if (phase_ == phase::reading && (deadline_ == deadline::head || deadline_ == deadline::body) && workspace_)
                return refuse(http::status::request_timeout, "The request took too long to arrive.");
            return next::end;
    }
    switch (phase_) {
        case phase::lingering: return linger();
        case phase::writing: {
            const next then = settle(turn_, transmit());
            return then == next::again ? converse() : then;
        }
        case phase::reading:
        case phase::working: break;
    }
    return read();
}

TOLLGATE_DECL connection::next connection::read() {
    if (!workspace_) open_workspace();
    if (tls_) return read_ciphertext();
    const std::span<char> room = workspace_->talk.room();
    if (room.empty()) return next::end;
    const io_result got = receive(socket_, room);
    if (got.state == io_state::closed) return next::end;
    workspace_->talk.received(got.bytes);
    return converse();
}

TOLLGATE_DECL connection::next connection::read_ciphertext() {
    tls_wire& wire = workspace_->wire;
    const io_result got = receive(socket_, wire.room());
    if (got.state == io_state::closed) return next::end;
    wire.end = got.bytes;

    if (!tls_->shaken_hands()) {
        switch (tls_->shake_hands(wire)) {
            case tls_step::done: break;
            case tls_step::wants_bytes: return settle(exchange::turn::idle, transmit());
            case tls_step::plain_http:
                tls_.reset();
                workspace_->wire.begin = workspace_->wire.end = 0;
                workspace_->talk.begin(peer_, false);
                return refuse(http::status::bad_request, "This port speaks TLS: use https.");
            case tls_step::closed:
            case tls_step::failed:
                (void)transmit();  // the alert
                return next::end;
        }
        if (given_ == admission::verdict::refused) return turn_away();
        expect(deadline::head);
    }
    return decrypt();
}

TOLLGATE_DECL connection::next connection::decrypt() {
    // All of the wire's bytes at once, so that all their requests are answered in one batch.
    do {
        const std::span<char> room = workspace_->talk.room();
        if (room.empty()) return next::end;
        const auto got = tls_->read(workspace_->wire, room);
        if (got.step == tls_step::wants_bytes) break;
        if (got.step == tls_step::closed) break;  // what came before the goodbye still wants its answer
        if (got.step != tls_step::done) {
            (void)transmit();
            return next::end;
        }
        workspace_->talk.received(got.bytes);
    } while (tls_->holds(workspace_->wire));
    return converse();
}

TOLLGATE_DECL connection::next connection::converse() {
    const bool blocking = lane_.shared().handler.blocking();
    for (;;) {
        const answering with = lane_.answering_now();
        exchange::turn now;
        if (blocking) {
            now = workspace_->talk.look(with);
            if (now == exchange::turn::request) {
                workspace_->date = lane_.date();
                return next::work;
            }
        } else {
            now = workspace_->talk.serve(with);
        }
        const next then = settle(now, transmit());
        if (then != next::again) return then;
    }
}

TOLLGATE_DECL void connection::work() noexcept {
    const host& of = lane_.shared();
    const serving_scope mark{of};
    const answering with{of.handler, workspace_->date.view(), of.stopping};
    try {
        workspace_->talk.answer(with);
        turn_ = workspace_->talk.serve(with);
        sent_ = transmit();
    } catch (...) {
        sent_ = io_state::closed;
    }
}

TOLLGATE_DECL work_home& connection::give_back() noexcept {
    lane& home = lane_;
    home.give_back(*this);
    return home;
}

TOLLGATE_DECL connection::next connection::settle(exchange::turn turn, io_state sent) {
    switch (sent) {
        case io_state::closed: return next::end;
        case io_state::would_block:
            // Nothing is read as long as the client does not take what it asked for.
            turn_ = turn;
            if (phase_ != phase::writing) expect(deadline::write);
            phase_ = phase::writing;
            return next::wait_writable;
        case io_state::done: break;
    }
    phase_ = phase::reading;
    if (turn == exchange::turn::over) return finish();
    if (turn == exchange::turn::held) return next::again;
    return await_bytes(turn);
}

TOLLGATE_DECL connection::next connection::refuse(http::status status, std::string_view reason) {
    if (!workspace_) open_workspace();
    workspace_->talk.refuse(status, reason, lane_.answering_now());
    return settle(exchange::turn::over, transmit());
}

TOLLGATE_DECL connection::next connection::turn_away() {
    return refuse(http::status::service_unavailable, "The server has too many connections. Try again in a moment.");
}

TOLLGATE_DECL connection::next connection::await_bytes(exchange::turn turn) {
    const bool answered = workspace_->talk.answered() > 0;
    greeted_ = greeted_ || answered;
    if (tls_ && tls_->ended()) return finish();
    if (workspace_->blank()) {
        close_workspace();
        if (lane_.shared().stopping.load(std::memory_order_relaxed)) return finish();
        // Only an answer begins a new rest: bytes that came to nothing, as parts of TLS records may, buy no time.
        if (greeted_ && (deadline_ != deadline::idle || answered)) expect(deadline::idle);
    } else {
        // Absolute for one message: the trickle of a byte now and then buys no time.
        const deadline what = turn == exchange::turn::in_body ? deadline::body : deadline::head;
        const std::uint64_t count = workspace_->talk.answered();
        if (deadline_ != what || expected_since_ != count) expect(what);
        expected_since_ = count;
    }
    return next::wait_readable;
}

TOLLGATE_DECL connection::next connection::finish() {
    const bool lingers = workspace_ && workspace_->talk.lingers();
    if (tls_) {
        if (!workspace_) open_workspace();
        tls_->say_goodbye(workspace_->wire);
        (void)transmit();
    }
    if (!lingers) return next::end;
    // Closing now would make the kernel answer what the client still sends with a reset, which destroys our answer.
    end_sending(socket_);
    close_workspace();
    phase_ = phase::lingering;
    expect_end();
    return linger();
}

TOLLGATE_DECL connection::next connection::linger() {
    constexpr std::size_t reads_max = 16;                           // then other connections have their turn
    constexpr std::uint32_t lingered_bytes_max = 16 * 1024 * 1024;  // more is not a client on its way to our answer
    std::array<char, 16 * 1024> ignored;
    for (std::size_t i = 0; i < reads_max; ++i) {
        const io_result got = receive(socket_, ignored);
        if (got.state == io_state::closed) return next::end;
        if (got.state == io_state::would_block) break;
        lingered_bytes_ += static_cast<std::uint32_t>(got.bytes);
        if (lingered_bytes_ > lingered_bytes_max) return next::end;
    }
    return next::wait_readable;
}

TOLLGATE_DECL io_state connection::transmit() {
    exchange& talk = workspace_->talk;
    if (!tls_) {
        const std::string_view output = talk.output();
        if (output.empty()) return io_state::done;
        const io_result went = send(socket_, output);
        if (went.state != io_state::done) return went.state;
        talk.sent(went.bytes);
        return went.bytes == output.size() ? io_state::done : io_state::would_block;
    }
    tls_wire& wire = workspace_->wire;
    if (const std::string_view plain = talk.output(); !plain.empty()) {
        if (!tls_->write(wire, plain)) return io_state::closed;
        talk.sent(plain.size());
    }
    const std::string_view output = std::string_view{wire.output}.substr(wire.sent);
    if (output.empty()) return io_state::done;
    const io_result went = send(socket_, output);
    if (went.state != io_state::done) return went.state;
    wire.sent += went.bytes;
    if (wire.sent < wire.output.size()) return io_state::would_block;
    wire.sent = 0;
    wire.output.clear();
    return io_state::done;
}

TOLLGATE_DECL void connection::open_workspace() {
    workspace_ = lane_.workspaces().take();
    workspace_->talk.begin(peer_, tls_ != nullptr);
}

TOLLGATE_DECL void connection::close_workspace() noexcept { lane_.workspaces().give(std::move(workspace_)); }

TOLLGATE_DECL void connection::expect_end() noexcept {
    deadline_ = deadline::linger;
    const milliseconds patience = lane_.shared().settings.linger_timeout;
    lane_.arm(*this, lane_.shared().stopping ? (std::min)(patience, linger_while_stopping) : patience);
}

/// Whether a client that is still taking its last answers gets more time; patience is short only in a server that stops.
TOLLGATE_DECL bool connection::lingers_on() noexcept {
    const milliseconds had = ++lingered_times_ * linger_while_stopping;
    if (!lane_.shared().stopping || had >= lane_.shared().settings.linger_timeout || !is_sending(socket_)) return false;
    expect_end();
    return true;
}

TOLLGATE_DECL void connection::expect(deadline what) noexcept {
    deadline_ = what;
    expected_since_ = 0;
    lane_.arm(*this, what);
}

}  // namespace tollgate::hosting

// <tollgate/server/lane.ipp>

namespace tollgate::hosting {

TOLLGATE_DECL void connection_list::add(connection& one) noexcept {
    one.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &one;
    first_ = &one;
}

TOLLGATE_DECL void connection_list::remove(connection& one) noexcept {
    (one.previous_ == nullptr ? first_ : one.previous_->next_) = one.next_;
    if (one.next_ != nullptr) one.next_->previous_ = one.previous_;
}

TOLLGATE_DECL void connection_list::interrupt_all(interruption why) const noexcept {
    for (connection* one = first_; one != nullptr; one = one->next_) one->interrupt(why);
}

TOLLGATE_DECL lane::lane(std::shared_ptr<host> of) : host_{std::move(of)}, workspaces_{host_->parsing()} {
    const server_settings& how = host_->settings;
    const std::pair<deadline, milliseconds> times[] = {
        {deadline::handshake, how.handshake_timeout}, {deadline::head, how.header_timeout},
        {deadline::body, how.body_timeout},           {deadline::idle, how.idle_timeout},
        {deadline::write, how.write_timeout},         {deadline::linger, how.linger_timeout}};
    milliseconds shortest = seconds{2};
    for (const auto& [what, time] : times) shortest = (std::min)(shortest, time);
    // An eighth of the shortest time is precise enough; four ticks a second are no load, and date a response well enough.
    tick_length_ = (std::clamp)(shortest / 8, milliseconds{5}, milliseconds{250});
    for (const auto& [what, time] : times)
        ticks_[static_cast<std::size_t>(what)] = to_ticks(time);
}

TOLLGATE_DECL lane::~lane() {
    for (const arrival& one : arrivals_) {
        close_socket(one.socket);
        host_->doors.leave(one.peer, one.given);
    }
}

TOLLGATE_DECL bool lane::hand_over(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept {
    {
        const std::lock_guard hold{inbox_mutex_};
        try {
            arrivals_.push_back({socket, peer, given});
        } catch (const std::bad_alloc&) {
            return false;
        }
        if (std::exchange(fetch_posted_, true)) return true;
    }
    post_fetch();
    return true;
}

TOLLGATE_DECL void lane::give_back(connection& one) noexcept {
    const std::lock_guard hold{inbox_mutex_};
    given_back_.push(one);
}

TOLLGATE_DECL void lane::wake() noexcept {
    {
        const std::lock_guard hold{inbox_mutex_};
        if (fetch_posted_ || given_back_.size() == 0) return;
        fetch_posted_ = true;
    }
    post_fetch();
}

TOLLGATE_DECL void lane::fetch() noexcept {
    std::vector<arrival> arrivals;
    work_queue given_back;
    {
        const std::lock_guard hold{inbox_mutex_};
        arrivals.swap(arrivals_);
        given_back = std::exchange(given_back_, work_queue{});
        fetch_posted_ = false;
    }
    for (const arrival& one : arrivals) {
        if (!draining_) {
            adopt(one.socket, one.peer, one.given);
        } else {
            close_socket(one.socket);
            host_->doors.leave(one.peer, one.given);
        }
    }
    while (work_item* const one = given_back.pop()) static_cast<connection&>(*one).on_given_back();
}

TOLLGATE_DECL void lane::arm(deadline_wheel::entry& one, milliseconds from_now) noexcept {
    if (!ticking_) begin_ticking();
    wheel_.arm(one, to_ticks(from_now));
}

TOLLGATE_DECL std::uint64_t lane::to_ticks(milliseconds time) const noexcept {
    return static_cast<std::uint64_t>((std::max)(time, milliseconds{0}) / tick_length_) + 1;
}

TOLLGATE_DECL void lane::begin_ticking() noexcept {
    ticking_ = true;
    tell_time();
    start_ticking();
}

TOLLGATE_DECL void lane::tell_time() noexcept {
    date_ = to_http_date(std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()));
}

TOLLGATE_DECL bool lane::tick(std::uint64_t ticks) noexcept {
    tell_time();
    workspaces_.trim();
    fetch();  // a worker may have given back something before it began with what takes it long
    while (ticks-- > 0 && !wheel_.empty()) wheel_.advance();
    ticking_ = !wheel_.empty() || !connections_.empty();
    return ticking_;
}

TOLLGATE_DECL void lane::enter(connection& one) noexcept {
    connections_.add(one);
    if (!ticking_) begin_ticking();
}

TOLLGATE_DECL void lane::leave(connection& one) noexcept {
    connections_.remove(one);
    wheel_.disarm(one);
    if (drained()) {
        wheel_.disarm(drain_end_);
        on_drained();
    }
}

TOLLGATE_DECL void lane::drain(milliseconds deadline) noexcept {
    const bool first = !std::exchange(draining_, true);
    if (connections_.empty()) {
        if (first) on_drained();
        return;
    }
    if (!ticking_) begin_ticking();
    wheel_.arm_no_later(drain_end_, to_ticks(deadline));
    connections_.interrupt_all(interruption::stopping);
}

TOLLGATE_DECL void lane::cut_off() noexcept { connections_.interrupt_all(interruption::cut_off); }

}  // namespace tollgate::hosting

// <tollgate/server/epoll_lane.ipp>

#if defined(__linux__)

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace tollgate::hosting {

TOLLGATE_DECL void epoll_source::change(socket_handle socket, interest what) noexcept {
    epoll_event event{};
    event.events = what == interest::readable ? EPOLLIN : what == interest::writable ? EPOLLOUT : 0U;
    event.data.ptr = this;
    // An error or a hang-up is reported whether or not one asks: who wants nothing is taken out.
    const int command = watched_ == interest::unregistered ? EPOLL_CTL_ADD
                        : what == interest::unregistered   ? EPOLL_CTL_DEL
                                                           : EPOLL_CTL_MOD;
    watched_ = ::epoll_ctl(home_.epoll_, command, socket, &event) == 0 ? what : interest::unregistered;
}

TOLLGATE_DECL epoll_connection::epoll_connection(epoll_lane& home, socket_handle socket, const ip_address& peer,
                                                 admission::verdict given) noexcept
    : connection{home, socket, peer, given}, epoll_source{home}, own_socket_{socket} {}

TOLLGATE_DECL epoll_connection::~epoll_connection() { close_socket(own_socket_); }

TOLLGATE_DECL void epoll_connection::on_event() noexcept {
    if (awaited_) return end_wait();
    // It belongs to a worker, or waits for its cancelled wait to end: what is there now is still there afterwards.
    watch(own_socket_, interest::unregistered);
}

TOLLGATE_DECL void epoll_connection::wait_readable() noexcept {
    awaited_ = true;
    watch(own_socket_, interest::readable);
}

TOLLGATE_DECL void epoll_connection::wait_writable() noexcept {
    awaited_ = true;
    watch(own_socket_, interest::writable);
}

TOLLGATE_DECL void epoll_connection::cancel() noexcept {
    if (!std::exchange(cancelled_, true)) epoll_home().cancelled_.push(*this);
}

TOLLGATE_DECL void epoll_connection::end_wait() noexcept {
    awaited_ = cancelled_ = false;
    on_ready();
}

TOLLGATE_DECL epoll_listener::epoll_listener(epoll_lane& home, const std::vector<std::unique_ptr<epoll_lane>>& lanes,
                                             socket_handle socket) noexcept
    : epoll_source{home}, lanes_{lanes}, socket_{socket} {}

TOLLGATE_DECL epoll_listener::~epoll_listener() {
    epoll_home().disarm(*this);
    close_socket(socket_);
}

TOLLGATE_DECL void epoll_listener::on_event() noexcept {
    constexpr int batch_max = 64;  // then the connections that are here have their turn
    constexpr milliseconds pause_when_exhausted{100};
    for (int i = 0; i < batch_max; ++i) {
        const accept_result got = accept_one(socket_);
        if (got.state == accept_state::none) return;
        if (got.state == accept_state::exhausted) {
            watch(socket_, interest::unregistered);  // trying again at once would spin
            return epoll_home().arm(*this, pause_when_exhausted);
        }
        deal(got);
    }
}

TOLLGATE_DECL void epoll_listener::deal(const accept_result& got) noexcept {
    admission& doors = epoll_home().shared().doors;
    const auto given = doors.enter(got.peer);
    if (given == admission::verdict::dropped) return close_socket(got.socket);
    next_lane_ = (next_lane_ + 1) % lanes_.size();
    epoll_lane& to = *lanes_[next_lane_];
    if (&to == &epoll_home()) return to.adopt(got.socket, got.peer, given);
    if (to.hand_over(got.socket, got.peer, given)) return;
    close_socket(got.socket);
    doors.leave(got.peer, given);
}

TOLLGATE_DECL epoll_lane::epoll_lane(std::shared_ptr<host> of, std::function<void()> on_drained)
    : lane{std::move(of)}, epoll_{::epoll_create1(EPOLL_CLOEXEC)}, bell_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      on_drained_{std::move(on_drained)} {
    epoll_event event{};
    event.events = EPOLLIN;  // data.ptr stays null: the bell is told from sources by it
    if (epoll_ >= 0 && bell_ >= 0 && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell_, &event) == 0) return;
    const std::error_code why{errno, std::system_category()};
    if (epoll_ >= 0) ::close(epoll_);
    if (bell_ >= 0) ::close(bell_);
    throw std::system_error{why, "epoll"};
}

TOLLGATE_DECL epoll_lane::~epoll_lane() {
    listeners_.clear();
    ::close(epoll_);
    ::close(bell_);
}

TOLLGATE_DECL void epoll_lane::listen(const std::vector<std::unique_ptr<epoll_lane>>& lanes, socket_handle socket) {
    listeners_.push_back(std::make_unique<epoll_listener>(*this, lanes, socket));
    listeners_.back()->wait();
}

TOLLGATE_DECL void epoll_lane::run() noexcept {
    std::array<epoll_event, 256> events;
    for (;;) {
        const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), patience_milliseconds());
        bool rung = false;
        for (int i = 0; i < count; ++i) {
            void* const source = events[static_cast<std::size_t>(i)].data.ptr;
            if (source == nullptr) rung = true;
            else static_cast<epoll_source*>(source)->on_event();
        }
        // All that may end a connection other than the one it is about comes after the events, which name connections.
        tick_if_due();
        if (rung) answer_the_bell();
        end_cancelled();
        if (let_go_ && drained()) return;
    }
}

TOLLGATE_DECL int epoll_lane::patience_milliseconds() const noexcept {
    if (!ticks_) return -1;
    const auto left = std::chrono::ceil<milliseconds>(next_tick_ - clock::now()).count();
    return left <= 0 ? 0 : static_cast<int>(left);
}

TOLLGATE_DECL void epoll_lane::tick_if_due() noexcept {
    if (!ticks_) return;
    std::uint64_t ticks = 0;
    for (const auto now = clock::now(); next_tick_ <= now; ++ticks) next_tick_ += tick_length();
    if (ticks > 0) ticks_ = tick(ticks);
}

TOLLGATE_DECL void epoll_lane::start_ticking() noexcept {
    next_tick_ = clock::now() + tick_length();
    ticks_ = true;
}

TOLLGATE_DECL void epoll_lane::end_cancelled() noexcept {
    while (work_item* const one = cancelled_.pop()) static_cast<epoll_connection&>(*one).on_cancelled();
}

TOLLGATE_DECL void epoll_lane::ring() noexcept {
    const std::uint64_t once = 1;
    (void)!::write(bell_, &once, sizeof once);  // it fails only when it has been rung 2^64 times
}

TOLLGATE_DECL void epoll_lane::post_fetch() noexcept {
    {
        const std::lock_guard hold{asked_mutex_};
        fetch_asked_ = true;
    }
    ring();
}

TOLLGATE_DECL void epoll_lane::ask_to_drain(milliseconds deadline) noexcept {
    {
        const std::lock_guard hold{asked_mutex_};
        drain_deadline_ = drain_asked_ ? (std::min)(drain_deadline_, deadline) : deadline;
        drain_asked_ = true;
    }
    ring();
}

TOLLGATE_DECL void epoll_lane::let_go() noexcept {
    let_go_ = true;
    ring();
}

TOLLGATE_DECL void epoll_lane::answer_the_bell() noexcept {
    std::uint64_t rings = 0;
    (void)!::read(bell_, &rings, sizeof rings);
    bool fetch_now;
    bool drain_now;
    milliseconds deadline;
    {
        const std::lock_guard hold{asked_mutex_};
        fetch_now = std::exchange(fetch_asked_, false);
        drain_now = std::exchange(drain_asked_, false);
        deadline = drain_deadline_;
    }
    if (drain_now) {
        listeners_.clear();
        drain(deadline);
    }
    if (fetch_now) fetch();
}

TOLLGATE_DECL void epoll_lane::adopt(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept {
    if (connection* const made = new (std::nothrow) epoll_connection{*this, socket, peer, given}) return made->begin();
    close_socket(socket);
    shared().doors.leave(peer, given);
}

}  // namespace tollgate::hosting

#endif  // __linux__

// <tollgate/server/server.ipp>

namespace tollgate {

class server::core {
public:
    core(http::handler_ref handler, server_settings settings, hosting::lane_maker make_lanes)
        : host_{std::make_shared<hosting::host>(handler, std::move(settings))}, make_lanes_{std::move(make_lanes)} {}
    TOLLGATE_DECL ~core();

    TOLLGATE_DECL outcome<void> start();
    TOLLGATE_DECL outcome<void> run();
    TOLLGATE_DECL void wait();
    TOLLGATE_DECL void stop(milliseconds deadline);
    TOLLGATE_DECL outcome<void> reload_certificates();
    TOLLGATE_DECL std::vector<listen_address> endpoints() const;

private:
    enum class state { fresh, starting, running, stopping, stopped };

    TOLLGATE_DECL outcome<void> open();
    TOLLGATE_DECL outcome<void> check_settings() const;
    TOLLGATE_DECL void drain(milliseconds deadline);
    /// Ends workers and threads. Precondition: not on one of them.
    TOLLGATE_DECL void close();

    const std::shared_ptr<hosting::host> host_;
    const hosting::lane_maker make_lanes_;

    // Never held while a lane or a handler is waited for: a handler may call us.
    mutable std::mutex mutex_;
    std::condition_variable state_changed_;
    state state_ = state::fresh;
    bool stopped_before_start_ = false;
    std::optional<milliseconds> stop_when_started_;
    std::vector<listen_address> endpoints_;

    std::mutex close_mutex_;                     // of several threads that wait for the end, one brings it about
    std::unique_ptr<hosting::lane_group> lanes_;  // stays the same from `running` on
};

TOLLGATE_DECL server::server(http::handler_ref handler, server_settings settings, hosting::lane_maker make_lanes)
    : core_{std::make_unique<core>(handler, std::move(settings), std::move(make_lanes))} {}

#if defined(__linux__)
TOLLGATE_DECL server::server(http::handler_ref handler, server_settings settings)
    : server{handler, std::move(settings), [](const auto& of, std::size_t lanes) {
                 return std::make_unique<hosting::own_lanes>(of, lanes);
             }} {}
#endif

TOLLGATE_DECL server::~server() = default;

TOLLGATE_DECL outcome<void> server::start() { return core_->start(); }
TOLLGATE_DECL outcome<void> server::run() { return core_->run(); }
TOLLGATE_DECL void server::wait() { core_->wait(); }
TOLLGATE_DECL void server::stop(milliseconds deadline) { core_->stop(deadline); }
TOLLGATE_DECL outcome<void> server::reload_certificates() { return core_->reload_certificates(); }
TOLLGATE_DECL std::vector<listen_address> server::endpoints() const { return core_->endpoints(); }

TOLLGATE_DECL std::uint16_t server::port() const {
    const auto all = core_->endpoints();
    return all.empty() ? std::uint16_t{0} : all.front().port;
}

TOLLGATE_DECL outcome<void> server::core::start() {
    {
        const std::lock_guard hold{mutex_};
        if (state_ != state::fresh) return unavailable("a server starts once, and not after it was stopped");
        state_ = state::starting;
    }
    outcome<void> opened;
    try {
        opened = open();
    } catch (const std::exception& failed) {
        opened = internal_error(std::string{"the server could not start: "} + failed.what());
    }
    if (!opened) {
        host_->workers.stop();  // first: a worker may still have to wake a lane
        lanes_.reset();
    }

    std::optional<milliseconds> stop_now;
    {
        const std::lock_guard hold{mutex_};
        stop_now = opened ? stop_when_started_ : std::nullopt;
        state_ = !opened ? state::stopped : stop_now ? state::stopping : state::running;
        state_changed_.notify_all();
    }
    if (stop_now) drain(*stop_now);
    return opened;
}

TOLLGATE_DECL outcome<void> server::core::open() {
    using namespace hosting;
    if (auto checked = check_settings(); !checked) return checked;
    const server_settings& how = host_->settings;
    if (how.tls.enabled()) {
        auto made = tls_context::make(how.tls);
        if (!made) return std::move(made).error();
        host_->set_tls(*std::move(made));
    }

    std::vector<listen_address> wanted = how.more_addresses;
    wanted.insert(wanted.begin(), {how.address, how.port});
    std::vector<listening_socket> sockets;
    const auto give_up = [&] {
        for (const listening_socket& one : sockets) close_socket(one.socket);
    };
    for (const listen_address& one : wanted) {
        auto made = listen_at(one, how.backlog);
        if (!made) {
            give_up();
            return std::move(made).error();
        }
        sockets.push_back(*std::move(made));
    }

    try {
        lanes_ = make_lanes_(host_, how.threads != 0 ? how.threads : (std::max)(1U, std::thread::hardware_concurrency()));
        if (host_->handler.blocking()) host_->workers.start(how.worker_threads);
    } catch (...) {
        give_up();
        throw;
    }
    {
        const std::lock_guard hold{mutex_};
        for (const listening_socket& one : sockets) endpoints_.push_back(one.at);
    }
    lanes_->listen(sockets);
    return {};
}

TOLLGATE_DECL outcome<void> server::core::check_settings() const {
    const server_settings& how = host_->settings;
    const std::pair<const char*, milliseconds> times[] = {
        {"header_timeout", how.header_timeout}, {"body_timeout", how.body_timeout},
        {"idle_timeout", how.idle_timeout},     {"write_timeout", how.write_timeout},
        {"handshake_timeout", how.handshake_timeout}, {"linger_timeout", how.linger_timeout}};
    for (const auto& [name, time] : times)
        if (time <= milliseconds{0}) return invalid(std::string{"The server setting "} + name + " must be above zero.");
    const std::pair<const char*, std::size_t> counts[] = {
        {"header_bytes_max", how.header_bytes_max}, {"connections_max", how.connections_max},
        {"worker_threads", how.worker_threads},     {"worker_queue_max", how.worker_queue_max}};
    for (const auto& [name, count] : counts)
        if (count == 0) return invalid(std::string{"The server setting "} + name + " must be above zero.");
    return {};
}

TOLLGATE_DECL outcome<void> server::core::run() {
    auto started = start();
    if (started) wait();
    const std::lock_guard hold{mutex_};
    return started || stopped_before_start_ ? outcome<void>{} : started;
}

TOLLGATE_DECL void server::core::wait() {
    {
        std::unique_lock hold{mutex_};
        state_changed_.wait(hold, [this] { return state_ == state::stopping || state_ == state::stopped; });
        if (state_ == state::stopped) return;
    }
    lanes_->wait();
    close();
}

TOLLGATE_DECL void server::core::stop(milliseconds deadline) {
    constexpr milliseconds for_ever = std::chrono::hours{24 * 365};  // and yet short enough to be added to
    deadline = (std::clamp)(deadline, milliseconds{0}, for_ever);
    {
        std::unique_lock hold{mutex_};
        if (state_ == state::fresh) {
            stopped_before_start_ = true;
            state_ = state::stopped;
            state_changed_.notify_all();
        }
        if (state_ == state::starting) {
            host_->stopping = true;
            stop_when_started_ = deadline;
            if (hosting::serving_scope::inside(*host_)) return;
            state_changed_.wait(hold, [this] { return state_ != state::starting; });
        }
        if (state_ == state::stopped) return;
        state_ = state::stopping;
        state_changed_.notify_all();
    }
    drain(deadline);
    if (lanes_->needs_this_thread()) return;
    lanes_->wait(deadline);
    close();
}

TOLLGATE_DECL void server::core::drain(milliseconds deadline) {
    host_->stopping = true;
    lanes_->drain(deadline);
}

TOLLGATE_DECL void server::core::close() {
    const std::lock_guard one_at_a_time{close_mutex_};
    lanes_->close();
    host_->workers.stop();
    const std::lock_guard hold{mutex_};
    state_ = state::stopped;
    state_changed_.notify_all();
}

TOLLGATE_DECL server::core::~core() {
    if (!lanes_) return;
    host_->stopping = true;
    close();
}

TOLLGATE_DECL outcome<void> server::core::reload_certificates() {
    auto made = hosting::tls_context::make(host_->settings.tls);
    if (!made) return std::move(made).error();
    host_->set_tls(*std::move(made));
    return {};
}

TOLLGATE_DECL std::vector<listen_address> server::core::endpoints() const {
    const std::lock_guard hold{mutex_};
    return endpoints_;
}

}  // namespace tollgate

#endif  // bodies

#if defined(TOLLGATE_WITH_ASIO)

#include <asio/any_io_executor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <sys/socket.h>
#include <new>
#include <system_error>

// <tollgate/server/guest.hpp>

/// For a server that is a guest on an Asio executor: brings the constructor that takes one.

// <tollgate/server/guest_lane.hpp>

/// The lanes of a server that is a guest on an Asio executor, and all that it asks of Asio: when a socket is ready, when a
/// tick is over, and to run something later.
namespace tollgate::hosting {

/// Memory of one wait, inside what waits: waiting for the next request allocates nothing.
class wait_memory {
public:
    [[nodiscard]] void* take(std::size_t bytes) {
        if (taken_ || bytes > sizeof bytes_) return ::operator new(bytes);
        taken_ = true;
        return bytes_;
    }
    void give(void* data) noexcept {
        if (data == bytes_) taken_ = false;
        else ::operator delete(data);
    }

private:
    alignas(std::max_align_t) std::byte bytes_[128];
    bool taken_ = false;
};

template <class T>
struct wait_allocator {
    using value_type = T;

    explicit wait_allocator(wait_memory& from) noexcept : memory{&from} {}
    template <class U>
    wait_allocator(const wait_allocator<U>& other) noexcept : memory{other.memory} {}

    [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(memory->take(count * sizeof(T))); }
    void deallocate(T* data, std::size_t) noexcept { memory->give(data); }

    template <class U>
    bool operator==(const wait_allocator<U>& other) const noexcept {
        return memory == other.memory;
    }

    wait_memory* memory;
};

template <class Executor>
class guest_lane;

template <class Executor>
using guest_socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;

/// A connection on an Asio socket. The wait that is pending owns it.
template <class Executor>
class guest_connection final : public connection {
public:
    guest_connection(std::shared_ptr<guest_lane<Executor>> home, guest_socket<Executor> socket, const ip_address& peer,
                    admission::verdict given) noexcept
        : connection{*home, socket.native_handle(), peer, given}, home_{std::move(home)}, socket_{std::move(socket)} {}

private:
    struct on_wait_over {
        using allocator_type = wait_allocator<std::byte>;

        explicit on_wait_over(guest_connection& of) noexcept : waiting{&of} {}
        on_wait_over(on_wait_over&& other) noexcept : waiting{std::exchange(other.waiting, nullptr)} {}
        ~on_wait_over() {
            if (waiting != nullptr) waiting->abandon();
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type{waiting->memory_}; }
        void operator()(const std::error_code&) { std::exchange(waiting, nullptr)->wait_over(); }

        guest_connection* waiting;
    };

    void wait_readable() noexcept override { socket_.async_wait(asio::socket_base::wait_read, on_wait_over{*this}); }
    void wait_writable() noexcept override { socket_.async_wait(asio::socket_base::wait_write, on_wait_over{*this}); }
    void cancel() noexcept override {
        std::error_code ignored;
        socket_.cancel(ignored);
    }

    void wait_over() noexcept {
        const auto inside = home_->enter();
        on_ready();
    }

    /// The executor is gone, and with it the wait: nobody will call again.
    void abandon() noexcept {
        const auto inside = home_->enter();
        delete this;
    }

    const std::shared_ptr<guest_lane<Executor>> home_;  // a guest's executor may end its waits after the server is gone
    guest_socket<Executor> socket_;
    wait_memory memory_;
};

/// Accepts connections at one address and deals them out to lanes in turn. Belongs to its lane's thread.
template <class Executor>
class guest_listener final : private deadline_wheel::entry {
public:
    using lanes = std::vector<std::shared_ptr<guest_lane<Executor>>>;

    guest_listener(guest_lane<Executor>& home, const lanes& all, const listening_socket& from)
        : home_{home}, lanes_{all.begin(), all.end()}, socket_{home.executor()} {
        socket_.assign(asio::generic::stream_protocol{from.ipv6 ? AF_INET6 : AF_INET, 0}, from.socket);
    }
    ~guest_listener() { home_.disarm(*this); }

    void wait() {
        socket_.async_wait(asio::socket_base::wait_read, [this, home = home_.shared_from_this()](const std::error_code& failed) {
            const auto inside = home->enter();
            if (!failed && socket_.is_open()) accept();
        });
    }

    /// The port is free when this returns.
    void close() noexcept {
        std::error_code ignored;
        socket_.close(ignored);
        home_.disarm(*this);
    }

private:
    static constexpr int batch_max = 64;                       // then the connections that are here have their turn
    static constexpr milliseconds pause_when_exhausted{100};   // long enough not to spin, short enough not to be noticed

    void accept();
    void deal(const accept_result& got);
    void on_deadline() noexcept override {
        if (socket_.is_open()) wait();
    }

    guest_lane<Executor>& home_;
    std::vector<std::weak_ptr<guest_lane<Executor>>> lanes_;  // weak: one of them owns this
    guest_socket<Executor> socket_;
    std::size_t next_lane_ = 0;
};

/// A lane on an executor that somebody else runs, perhaps on several threads: so it has a mutex. Unlike a strand that lets
/// a destructor shut the lane at once, whether or not the executor is still running.
template <class Executor>
class guest_lane final : public lane, public std::enable_shared_from_this<guest_lane<Executor>> {
public:
    /// `on_drained` is called once, on the lane's thread, when the lane is draining and its last connection is gone.
    guest_lane(std::shared_ptr<host> of, const Executor& executor, std::function<void()> on_drained)
        : lane{std::move(of)}, executor_{executor}, timer_{executor}, on_drained_{std::move(on_drained)} {}

    [[nodiscard]] const Executor& executor() const noexcept { return executor_; }

    /// Being on the lane's thread, for as long as this lives.
    class [[nodiscard]] presence {
    public:
        explicit presence(guest_lane& one) : home_{one.shared_from_this()}, hold_{one.mutex_}, mark_{one.shared()} {}

    private:
        const std::shared_ptr<guest_lane> home_;  // what happens meanwhile may end its last connection
        const std::unique_lock<std::recursive_mutex> hold_;
        const serving_scope mark_;
    };
    presence enter() { return presence{*this}; }
    using lane::enter;

    void listen(const typename guest_listener<Executor>::lanes& all, const listening_socket& from) {
        listeners_.push_back(std::make_unique<guest_listener<Executor>>(*this, all, from));
        listeners_.back()->wait();
    }
    void close_listeners() noexcept {
        for (const auto& one : listeners_) one->close();
    }

    /// Runs `task` on the lane's thread.
    template <class Task>
    void post(Task task) {
        asio::post(executor_, [self = this->shared_from_this(), task = std::move(task)] {
            const auto inside = self->enter();
            task(*self);
        });
    }

    /// Runs `task` now if the lane is free, otherwise later: who comes from within one lane must not wait for another one,
    /// whose thread may be waiting for his.
    template <class Task>
    void run_or_post(Task task) {
        const std::unique_lock free{mutex_, std::try_to_lock};
        if (!free) return post(std::move(task));
        const auto inside = enter();
        task(*this);
    }

    /// Ends everything now, from any thread, even if the executor never runs again. The handler is not called any more,
    /// but for calls that workers have under way; `reclaim` takes back what these had, after they have ended.
    void shut() noexcept {
        const auto inside = enter();
        close_listeners();
        this->drain(milliseconds{0});
        this->cut_off();
        shut_ = true;
        timer_.cancel();
    }
    void reclaim() noexcept {
        const auto inside = enter();
        this->fetch();
    }

private:
    friend guest_listener<Executor>;

    void post_fetch() noexcept override {
        post([](guest_lane& self) { self.fetch(); });
    }

    void start_ticking() noexcept override {
        next_tick_ = clock::now() + this->tick_length();
        wait_for_tick();
    }

    void wait_for_tick() {
        timer_.expires_at(next_tick_);
        timer_.async_wait([self = this->shared_from_this()](const std::error_code& cancelled) {
            const auto inside = self->enter();
            if (cancelled || self->shut_) return;
            std::uint64_t ticks = 0;
            for (const auto now = clock::now(); self->next_tick_ <= now; ++ticks) self->next_tick_ += self->tick_length();
            if (self->tick(ticks)) self->wait_for_tick();
        });
    }

    void adopt(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept override;
    void on_drained() noexcept override {
        timer_.cancel();  // or a stop would take as long as a tick
        on_drained_();
    }

    using clock = std::chrono::steady_clock;

    const Executor executor_;
    asio::basic_waitable_timer<clock, asio::wait_traits<clock>, Executor> timer_;
    clock::time_point next_tick_{};
    std::vector<std::unique_ptr<guest_listener<Executor>>> listeners_;
    std::recursive_mutex mutex_;  // recursive: a handler may stop its own server
    bool shut_ = false;
    const std::function<void()> on_drained_;
};

template <class Executor>
void guest_listener<Executor>::accept() {
    for (int i = 0; i < batch_max; ++i) {
        const accept_result got = accept_one(socket_.native_handle());
        if (got.state == accept_state::exhausted) return home_.arm(*this, pause_when_exhausted);
        if (got.state == accept_state::none) break;
        deal(got);
    }
    wait();
}

template <class Executor>
void guest_listener<Executor>::deal(const accept_result& got) {
    admission& doors = home_.shared().doors;
    const auto given = doors.enter(got.peer);
    if (given == admission::verdict::dropped) return close_socket(got.socket);
    next_lane_ = (next_lane_ + 1) % lanes_.size();
    const auto to = lanes_[next_lane_].lock();
    if (to.get() == &home_) return home_.adopt(got.socket, got.peer, given);
    if (to && to->hand_over(got.socket, got.peer, given)) return;
    close_socket(got.socket);
    doors.leave(got.peer, given);
}

template <class Executor>
void guest_lane<Executor>::adopt(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept {
    connection* made = nullptr;
    guest_socket<Executor> own{executor_};
    std::error_code failed;
    own.assign(asio::generic::stream_protocol{peer.is_v4() ? AF_INET : AF_INET6, 0}, socket, failed);
    if (failed) close_socket(socket);
    else made = new (std::nothrow) guest_connection<Executor>{this->shared_from_this(), std::move(own), peer, given};
    if (made != nullptr) made->begin();
    else this->shared().doors.leave(peer, given);
}

}  // namespace tollgate::hosting

// <tollgate/server/guest_lanes.hpp>

namespace tollgate::hosting {

/// Lanes on an executor that somebody else runs.
template <class Executor>
class guest_lanes final : public lane_group {
    using lane_type = guest_lane<Executor>;

public:
    guest_lanes(const std::shared_ptr<host>& of, std::size_t lanes, const Executor& executor)
        : host_{of}, executor_{executor}, drained_{std::make_shared<drain_count>(lanes)} {
        while (lanes_.size() < lanes)
            lanes_.push_back(std::make_shared<lane_type>(of, executor, [count = drained_] { count->one_drained(); }));
    }
    ~guest_lanes() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        for (std::size_t i = 0; i < from.size(); ++i) {
            const auto& one = lanes_[i % lanes_.size()];
            const auto inside = one->enter();
            one->listen(lanes_, from[i]);
        }
    }

    void drain(milliseconds deadline) override {
        for (const auto& one : lanes_)
            one->run_or_post([deadline](lane_type& self) {
                self.close_listeners();
                self.drain(deadline);
            });
    }

    void wait() override { drained_->wait(); }
    void wait(milliseconds deadline) override { drained_->wait_at_most(deadline + grace); }

    [[nodiscard]] bool needs_this_thread() const noexcept override {
        if (serving_scope::inside(*host_)) return true;
        if constexpr (requires { { executor_.running_in_this_thread() } -> std::same_as<bool>; })
            return executor_.running_in_this_thread();
        else return false;
    }

    void close() noexcept override {
        if (std::exchange(closed_, true)) return;
        for (const auto& one : lanes_) one->shut();
        host_->workers.stop();
        for (const auto& one : lanes_) one->reclaim();
    }

private:
    static constexpr milliseconds grace = seconds{1};  // for the executor to close what the deadline has cut off

    const std::shared_ptr<host> host_;
    const Executor executor_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::shared_ptr<lane_type>> lanes_;  // stays the same: somebody may stop us again meanwhile
    bool closed_ = false;
};

}  // namespace tollgate::hosting

#if !defined(TOLLGATE_SEPARATE_COMPILATION) || defined(TOLLGATE_SOURCE)

// <tollgate/server/guest.ipp>

namespace tollgate {

TOLLGATE_DECL server::server(const asio::any_io_executor& executor, http::handler_ref handler, server_settings settings)
    : server{handler, std::move(settings), [executor](const auto& of, std::size_t lanes) {
                 using namespace hosting;
                 using io_executor = asio::io_context::executor_type;
                 // Nearly every guest has an io_context: its own executor spares each wait the way through a type-erased one.
                 const auto* const plain = executor.template target<io_executor>();
                 return plain != nullptr
                            ? std::unique_ptr<lane_group>{std::make_unique<guest_lanes<io_executor>>(of, lanes, *plain)}
                            : std::make_unique<guest_lanes<asio::any_io_executor>>(of, lanes, executor);
             }} {}

}  // namespace tollgate

#endif  // bodies

#endif  // TOLLGATE_WITH_ASIO

#if defined(TOLLGATE_WITH_SQLITE)

#include <new>

// <tollgate/store/sqlite/statement.hpp>

struct sqlite3_stmt;

namespace tollgate::sqlite {

/// One statement of SQL, known while compiling: values reach a database as parameters alone, so there is nothing to
/// inject into.
class sql {
public:
    consteval sql(const char* literal)
        : text_{literal} {}  // the size of an array says nothing of a text that has a NUL
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// One column of the row that a statement stands at. Each function is none when the column holds something else.
class cell {
public:
    cell(sqlite3_stmt* row, int column) noexcept : row_{row}, column_{column} {}

    [[nodiscard]] TOLLGATE_DECL bool is_null() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<std::int64_t> integer() const noexcept;
    /// Valid until the statement's next step.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> text() const noexcept;
    /// Valid until the statement's next step.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::span<const std::byte>> blob() const noexcept;

private:
    sqlite3_stmt* row_;
    int column_;
};

/// One `?` of a statement. Text and blobs are copied, so that no value must outlive the call that binds it.
class parameter {
public:
    parameter(sqlite3_stmt* statement, int index, int& code) noexcept
        : statement_{statement}, index_{index}, code_{code} {}

    TOLLGATE_DECL void null() noexcept;
    TOLLGATE_DECL void integer(std::int64_t value) noexcept;
    TOLLGATE_DECL void text(std::string_view value) noexcept;
    TOLLGATE_DECL void blob(std::span<const std::byte> value) noexcept;

private:
    TOLLGATE_DECL void note(int code) noexcept;

    sqlite3_stmt* statement_;
    int index_;
    int& code_;
};

/// How a `T` is kept in one column; `read` is none when the column holds no `T`. Specialise it for types of your own.
///
///     template <>
///     struct column<colour> {
///         static std::optional<colour> read(const cell& from);
///         static void write(parameter to, const colour& value);
///     };
template <class T>
struct column;

/// A prepared statement with its parameters bound, on loan from its `database` until it goes out of scope. A value that
/// could not be bound is told by the first step. One thread at a time, that which has the database.
///
///     auto rows = database.prepare("SELECT id, name FROM accounts WHERE user = ?", user);
///     for (;;) {
///         auto row = rows.next<account_id, std::string>();
///         if (!row) return std::move(row).error();
///         if (!*row) break;
///         auto& [id, name] = **row;
///     }
class statement {
public:
    /// A statement that fails at its first step.
    explicit statement(problem why) : trouble_{std::move(why)} {}
    /// `lent`: set to false when the statement is given back; null: the statement is finalised instead.
    statement(sqlite3_stmt* prepared, bool* lent) noexcept : prepared_{prepared}, lent_{lent} {}

    statement(statement&& other) noexcept
        : prepared_{std::exchange(other.prepared_, nullptr)},
          lent_{std::exchange(other.lent_, nullptr)},
          bind_code_{other.bind_code_},
          trouble_{std::move(other.trouble_)} {}
    statement& operator=(statement&&) = delete;
    ~statement() { give_back(); }

    template <class... Values>
    void bind(const Values&... values) noexcept {
        int index = 0;
        if (prepared_ != nullptr) (column<Values>::write(parameter{prepared_, ++index, bind_code_}, values), ...);
    }

    /// The next row, decoded; none when there is no further one. A column that does not hold what it should is an
    /// internal problem: somebody else wrote to the file.
    template <class... Columns>
    [[nodiscard]] outcome<std::optional<std::tuple<Columns...>>> next();

    /// Runs to the end, past whatever rows there are.
    TOLLGATE_DECL outcome<void> finish();

private:
    /// Whether there is a row.
    TOLLGATE_DECL outcome<bool> step();
    TOLLGATE_DECL problem misread(std::size_t column) const;
    TOLLGATE_DECL void give_back() noexcept;

    sqlite3_stmt* prepared_ = nullptr;
    bool* lent_ = nullptr;
    int bind_code_ = 0;
    std::optional<problem> trouble_;
};

template <class... Columns>
outcome<std::optional<std::tuple<Columns...>>> statement::next() {
    using row = std::tuple<Columns...>;
    auto stepped = step();
    if (!stepped) return std::move(stepped).error();
    if (!*stepped) return std::optional<row>{};
    return [this]<std::size_t... I>(std::index_sequence<I...>) -> outcome<std::optional<row>> {
        std::tuple<std::optional<Columns>...> read{column<Columns>::read(cell{prepared_, static_cast<int>(I)})...};
        std::size_t bad = sizeof...(Columns);
        ((std::get<I>(read) ? void() : void(bad = I)), ...);
        if (bad != sizeof...(Columns)) return misread(bad);
        return std::optional<row>{std::in_place, *std::move(std::get<I>(read))...};
    }(std::index_sequence_for<Columns...>{});
}

template <>
struct column<std::int64_t> {
    static std::optional<std::int64_t> read(const cell& from) noexcept { return from.integer(); }
    static void write(parameter to, std::int64_t value) noexcept { to.integer(value); }
};

template <>
struct column<bool> {
    static std::optional<bool> read(const cell& from) noexcept {
        const auto value = from.integer();
        return value ? std::optional{*value != 0} : std::nullopt;
    }
    static void write(parameter to, bool value) noexcept { to.integer(value ? 1 : 0); }
};

template <>
struct column<std::string> {
    static std::optional<std::string> read(const cell& from) {
        const auto text = from.text();
        return text ? std::optional<std::string>{std::in_place, *text} : std::nullopt;
    }
    static void write(parameter to, std::string_view value) noexcept { to.text(value); }
};

/// To bind; a row is read into a type that owns its text.
template <>
struct column<std::string_view> {
    static void write(parameter to, std::string_view value) noexcept { to.text(value); }
};

template <std::size_t Capacity>
struct column<inline_text<Capacity>> {
    static std::optional<inline_text<Capacity>> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? inline_text<Capacity>::from(*text) : std::nullopt;
    }
    static void write(parameter to, const inline_text<Capacity>& value) noexcept { to.text(value.view()); }
};

template <class Tag>
struct column<id<Tag>> {
    static std::optional<id<Tag>> read(const cell& from) noexcept {
        const auto value = from.integer();
        return value ? id<Tag>::from(*value) : std::nullopt;
    }
    static void write(parameter to, id<Tag> value) noexcept { to.integer(value.value()); }
};

/// Milliseconds since 1970.
template <>
struct column<instant> {
    static std::optional<instant> read(const cell& from) noexcept {
        const auto count = from.integer();
        return count ? std::optional{from_unix_milliseconds(*count)} : std::nullopt;
    }
    static void write(parameter to, instant value) noexcept { to.integer(to_unix_milliseconds(value)); }
};

/// NULL is the empty one.
template <class T>
struct column<std::optional<T>> {
    static std::optional<std::optional<T>> read(const cell& from) {
        if (from.is_null()) return std::optional<std::optional<T>>{std::in_place};
        auto value = column<T>::read(from);
        if (!value) return std::nullopt;
        return std::optional<std::optional<T>>{std::in_place, std::move(value)};
    }
    static void write(parameter to, const std::optional<T>& value) noexcept {
        if (value)
            column<T>::write(to, *value);
        else
            to.null();
    }
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/database.hpp>

struct sqlite3;

namespace tollgate::sqlite {

struct database_settings {
    /// How long a call waits for another connection or process that writes, before it is a problem (unavailable).
    milliseconds busy_wait_max{5000};
    /// Refuses to change anything.
    bool read_only = false;
    /// The virtual file system to use; empty for the system's own.
    std::string vfs{};
};

/// One connection to a database file: write-ahead log, a commit is on disk when it returns (synchronous=FULL), foreign
/// keys are enforced, and every statement is prepared once.
///
/// Thread rule: one thread at a time. Blocking. Errors: unavailable for what may pass (busy beyond the bound, disk
/// full, no permission), conflict for a broken constraint, internal for a damaged file or a wrong statement.
class database {
public:
    /// Makes the file, readable and writable by its owner alone, when there is none. In-memory databases are refused:
    /// each connection would have its own.
    static TOLLGATE_DECL outcome<database> open(const std::string& path, const database_settings& settings = {});

    /// Binds `values` to the `?`s from left to right.
    template <class... Values>
    [[nodiscard]] statement prepare(sql text, const Values&... values) {
        statement made = prepare_unbound(text);
        made.bind(values...);
        return made;
    }

    /// Prepares, binds and runs to the end.
    template <class... Values>
    outcome<void> run(sql text, const Values&... values) {
        return prepare(text, values...).finish();
    }

    /// Several statements, separated by semicolons, without parameters: for schemas.
    TOLLGATE_DECL outcome<void> run_script(sql text);

    /// Of the last row that this connection inserted.
    [[nodiscard]] TOLLGATE_DECL std::int64_t last_insert_id() const noexcept;
    /// How many rows the last INSERT, UPDATE or DELETE touched.
    [[nodiscard]] TOLLGATE_DECL std::int64_t changes() const noexcept;

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }

private:
    struct closer {
        TOLLGATE_DECL void operator()(sqlite3* open) const noexcept;
    };
    struct finaliser {
        TOLLGATE_DECL void operator()(sqlite3_stmt* prepared) const noexcept;
    };
    /// On the heap by itself, because `lent` is pointed at by the statement that has it.
    struct kept_statement {
        std::string_view text;
        std::unique_ptr<sqlite3_stmt, finaliser> prepared;
        bool lent = false;
    };

    /// What SQLite's busy handler works with; it keeps its address when the database moves.
    struct patience {
        milliseconds wait_max{};
        std::chrono::steady_clock::time_point since{};

        static TOLLGATE_DECL int wait(void* self, int waits_before) noexcept;
    };

    database() = default;
    TOLLGATE_DECL outcome<void> connect(const std::string& path, const database_settings& settings);
    TOLLGATE_DECL outcome<void> use_write_ahead_log(const std::string& path);
    TOLLGATE_DECL statement prepare_unbound(sql text);

    // In this order: statements are finalised first, and the handler's state outlives the connection that calls it.
    std::unique_ptr<patience> patience_ = std::make_unique<patience>();
    std::unique_ptr<sqlite3, closer> handle_;
    std::vector<std::unique_ptr<kept_statement>> kept_;  // as many as the program has literals
};

/// Takes the write lock at once (BEGIN IMMEDIATE), so that what is read inside cannot have changed by the time it is
/// written upon, and rolls back unless `commit` succeeded.
///
///     auto change = transaction::begin(database);
///     if (!change) return std::move(change).error();
///     ...
///     return change->commit();
class transaction {
public:
    static TOLLGATE_DECL outcome<transaction> begin(database& on);

    transaction(transaction&& other) noexcept : on_{std::exchange(other.on_, nullptr)} {}
    transaction& operator=(transaction&&) = delete;
    TOLLGATE_DECL ~transaction();

    /// Durable when it returns without a problem; with one, nothing of the transaction happened.
    TOLLGATE_DECL outcome<void> commit();

private:
    explicit transaction(database& on) noexcept : on_{&on} {}

    database* on_;  // null when there is nothing left to roll back
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/change_stamp.hpp>

namespace tollgate::sqlite {

/// What a database holds, as a number that no other content has: equal marks, equal content.
struct change_mark {
    std::uint64_t counter;   ///< of commits, with the page size and that the index is complete
    std::uint64_t log_end;   ///< the last frame of the log, and how large the database is
    std::uint64_t checksum;  ///< over the log up to there
    std::uint64_t salts;     ///< drawn anew each time the log starts over

    friend bool operator==(const change_mark&, const change_mark&) noexcept = default;
};

/// Says in a few nanoseconds, without a system call, whether anything was committed to a database file since the last
/// time one asked, by any connection of any process.
///
/// It reads what SQLite itself reads to find out: the header of the write-ahead log's index, 48 bytes of shared memory
/// that every commit rewrites with a new change counter, the new end of the log, a checksum over the whole log and the
/// log's salts (https://www.sqlite.org/walformat.html section 2.1). A commit shows here when it shows to a SELECT.
///
/// The rule for whoever keeps what they read: ask for the mark BEFORE the query, and use the answer again only while
/// the mark is equal, as `row_cache` does. A commit in between then makes a good answer look old, never the reverse.
///
/// Thread rule: `read` from any thread. Movable; addresses of the mapping stay.
class change_stamp {
public:
    /// Takes a connection of its own, and keeps it: SQLite unmaps the header with the last connection of the process.
    /// One that may write makes an empty commit where the log is new, so that there is a mark from the start.
    static TOLLGATE_DECL outcome<change_stamp> watch(database connection);

    /// None when it cannot be known now: a commit is being published, the log has never been written to, or the file
    /// system has no shared memory. Ask the database then.
    [[nodiscard]] std::optional<change_mark> read() const noexcept {
        if (header_ == nullptr) return std::nullopt;
        // Two copies; a writer stores the second first, so that two equal ones are whole (SQLite's walIndexTryHdr).
        const change_mark first = copy(0);
        if (first != copy(words_per_copy) || !names_content(first)) return std::nullopt;
        return first;
    }

private:
    /// The header is struct WalIndexHdr: iVersion, unused, iChange, isInit, bigEndCksum, szPage, mxFrame, nPage,
    /// aFrameCksum[2], aSalt[2], aCksum[2]; 32-bit numbers but for two bytes and a 16-bit number after iChange.
    static constexpr std::size_t words_per_copy = 6;
    static constexpr std::size_t is_init_offset_bytes = 4;  // within the word of iChange

    change_stamp(database connection, std::uint64_t* header) noexcept
        : connection_{std::move(connection)}, header_{header} {}

    /// Word by word and in order: another process may be writing.
    [[nodiscard]] change_mark copy(std::size_t from) const noexcept {
        const auto load = [this, from](std::size_t word) noexcept {
            return std::atomic_ref{header_[from + word]}.load(std::memory_order_acquire);
        };
        return {.counter = load(1), .log_end = load(2), .checksum = load(3), .salts = load(4)};
    }

    /// Salts are zero only while the log is empty and its index new. After a crash at the wrong moment that can be
    /// twice with commits in between, so it names no content.
    [[nodiscard]] static bool names_content(const change_mark& mark) noexcept {
        char bytes[sizeof mark.counter];
        std::memcpy(bytes, &mark.counter, sizeof bytes);
        return bytes[is_init_offset_bytes] != 0 && mark.salts != 0;
    }

    database connection_;
    std::uint64_t*
        header_;  // null: no shared memory, so no mark; never written, but an atomic_ref takes no const before C++26
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/pool.hpp>

namespace tollgate::sqlite {

struct pool_settings {
    /// Connections that read at the same time, opened as they are needed. A read takes microseconds: more than there
    /// are cores gain nothing, and each costs two file descriptors and up to 2 MB of page cache.
    std::size_t readers_max = 8;
    /// How long a call waits for a connection, and for other processes that write.
    milliseconds busy_wait_max{5000};
    /// The virtual file system to use; empty for the system's own.
    std::string vfs{};
};

/// The connections of one process to one database file: several that read, and one that writes, because SQLite has one
/// writer at a time anyway and here it waits in memory instead of polling a file lock.
///
/// Thread rule: any thread. Blocking. Movable; nothing may be on loan while it moves or dies.
class pool {
public:
    /// A connection on loan; given back at the end of the scope.
    class lease {
    public:
        lease(lease&& other) noexcept
            : from_{std::exchange(other.from_, nullptr)}, lent_{std::exchange(other.lent_, nullptr)} {}
        lease& operator=(lease&&) = delete;
        TOLLGATE_DECL ~lease();

        [[nodiscard]] database& operator*() const noexcept { return *lent_; }
        [[nodiscard]] database* operator->() const noexcept { return lent_; }

    private:
        friend class pool;
        struct shelf;
        lease(shelf& from, database& lent) noexcept : from_{&from}, lent_{&lent} {}

        shelf* from_;
        database* lent_;
    };

    static TOLLGATE_DECL outcome<pool> open(const std::string& path, const pool_settings& settings = {});

    TOLLGATE_DECL pool(pool&&) noexcept;
    TOLLGATE_DECL pool& operator=(pool&&) noexcept;
    TOLLGATE_DECL ~pool();

    /// Problem (unavailable) when none came free in time.
    [[nodiscard]] TOLLGATE_DECL outcome<lease> reader();
    [[nodiscard]] TOLLGATE_DECL outcome<lease> writer();

    /// Tells whether anything was committed, by this process or another. Stays where it is when the pool moves.
    [[nodiscard]] TOLLGATE_DECL const change_stamp& changes() const noexcept;

private:
    struct state;
    explicit pool(std::unique_ptr<state> made) noexcept;

    std::unique_ptr<state> state_;
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/row_cache.hpp>

namespace tollgate::sqlite {

/// Remembers rows that were read, and gives each out again exactly as long as nobody has committed anything to the
/// database since, so that a hit says the same as the query would. It also remembers that there was no row.
///
/// Bounded: `entries_max` in all, in sets of four, and memory for an entry is taken at its first use. Only one of a
/// set's four may say "no row", so that keys somebody made up never push out a row that is there.
///
/// `Key`: anything `keyed_hash` takes, with `==`. `Value`: copies without throwing.
/// Thread rule: any thread.
template <class Key, class Value>
class row_cache {
    static_assert(std::is_nothrow_copy_constructible_v<Key> && std::is_nothrow_copy_assignable_v<Key>);
    static_assert(std::is_nothrow_copy_constructible_v<Value> && std::is_nothrow_copy_assignable_v<Value>);

public:
    using answer = outcome<std::optional<Value>>;

    /// `entries_max` is rounded up to four times a power of two; 0: every call queries.
    row_cache(const change_stamp& changes, std::size_t entries_max)
        : changes_{&changes},
          sets_(entries_max == 0 ? 0 : std::bit_ceil((entries_max + slots_per_set - 1) / slots_per_set)) {}

    /// What `query()` (an `answer`) says, or said while the database was the same. Problems are not remembered.
    template <class Query>
    [[nodiscard]] answer find(const Key& key, Query&& query);

private:
    static constexpr std::size_t slots_per_set = 4;
    static constexpr std::size_t none_slot = slots_per_set - 1;
    static constexpr std::size_t guard_count = 64;  // a power of two, more than there are cores to meet in one

    struct entry {
        change_mark mark;
        Key key;
        std::optional<Value> value;
    };
    struct slot {
        std::size_t hash = 0;
        std::unique_ptr<entry> held;
    };
    struct set {
        std::array<slot, slots_per_set> slots;  // one cache line: a miss touches nothing else
    };
    /// Guards every 64th set.
    struct alignas(64) guard {
        std::mutex mutex;
        std::size_t evictions = 0;  // says whose turn it is to go
    };

    [[nodiscard]] set& set_of(std::size_t hash) noexcept { return sets_[hash & (sets_.size() - 1)]; }
    [[nodiscard]] guard& guard_of(std::size_t hash) noexcept {
        return guards_[hash & (sets_.size() - 1) & (guard_count - 1)];
    }

    void keep(std::size_t hash, const change_mark& mark, const Key& key, const std::optional<Value>& value) noexcept;
    /// Where to keep it. Precondition: the set's guard is held.
    [[nodiscard]] slot& slot_for(std::size_t hash, const change_mark& mark, bool is_row) noexcept;

    const change_stamp* changes_;
    keyed_hash hash_;
    std::vector<set> sets_;  // a power of two of them, or none
    std::array<guard, guard_count> guards_;
};

template <class Key, class Value>
template <class Query>
auto row_cache<Key, Value>::find(const Key& key, Query&& query) -> answer {
    if (sets_.empty()) return query();
    // Before the query: a commit in between then makes a good answer look old, never an old one look good.
    const auto mark = changes_->read();
    if (!mark) return query();

    const std::size_t hash = hash_(key);
    {
        const std::scoped_lock lock{guard_of(hash).mutex};
        for (const slot& each : set_of(hash).slots)
            if (each.held != nullptr && each.hash == hash && each.held->mark == *mark && each.held->key == key)
                return each.held->value;
    }
    answer asked = query();
    if (asked) keep(hash, *mark, key, *asked);
    return asked;
}

template <class Key, class Value>
void row_cache<Key, Value>::keep(std::size_t hash, const change_mark& mark, const Key& key,
                                 const std::optional<Value>& value) noexcept {
    const std::scoped_lock lock{guard_of(hash).mutex};
    slot& chosen = slot_for(hash, mark, value.has_value());
    if (chosen.held != nullptr) {
        chosen.held->mark = mark;
        chosen.held->key = key;
        chosen.held->value = value;
    } else {
        chosen.held.reset(new (std::nothrow) entry{mark, key, value});  // without memory: asked again next time
    }
    chosen.hash = hash;
}

template <class Key, class Value>
auto row_cache<Key, Value>::slot_for(std::size_t hash, const change_mark& mark, bool is_row) noexcept -> slot& {
    auto& slots = set_of(hash).slots;
    if (!is_row) return slots[none_slot];
    // They fill from the left, so that a slot of this key is met before an empty one.
    for (std::size_t i = 0; i < none_slot; ++i)
        if (slots[i].held == nullptr || slots[i].hash == hash) return slots[i];
    for (std::size_t i = 0; i < none_slot; ++i)
        if (slots[i].held->mark != mark) return slots[i];
    return slots[guard_of(hash).evictions++ % none_slot];
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/access_tokens.hpp>

namespace tollgate::sqlite {

/// The access-token verbs of `token_store`, on SQLite.
class access_tokens {
public:
    access_tokens(pool& connections, std::size_t cached_max)
        : connections_{connections}, credentials_{connections.changes(), cached_max} {}

    TOLLGATE_DECL outcome<std::optional<token_credential>> find(const digest& token);
    TOLLGATE_DECL outcome<void> create(const new_access_token& made);
    TOLLGATE_DECL outcome<bool> revoke(const digest& token);

private:
    TOLLGATE_DECL outcome<std::optional<token_credential>> read(const digest& token);

    pool& connections_;
    row_cache<digest, token_credential> credentials_;
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/columns.hpp>

namespace tollgate::sqlite {

/// A blob of 32 bytes.
template <>
struct column<digest> {
    static std::optional<digest> read(const cell& from) noexcept {
        const auto bytes = from.blob();
        if (!bytes) return std::nullopt;
        return digest::from({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    }
    static void write(parameter to, const digest& value) noexcept {
        to.blob(std::as_bytes(std::span{value.bytes()}));
    }
};

/// Text, separated by single spaces.
template <>
struct column<scope_set> {
    static std::optional<scope_set> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? scope_set::parse(*text) : std::nullopt;
    }
    static void write(parameter to, const scope_set& value) noexcept { to.text(value.text()); }
};

/// Text: no number of SQLite's keeps all digits.
template <>
struct column<decimal> {
    static std::optional<decimal> read(const cell& from) noexcept {
        const auto text = from.text();
        return text ? decimal::parse(*text) : std::nullopt;
    }
    static void write(parameter to, const decimal& value) noexcept { to.text(value.text()); }
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/failure.hpp>

struct sqlite3;

namespace tollgate::sqlite {

/// What SQLite's result `code` means to a caller: unavailable for what may pass by itself or by an operator's hand
/// (busy, disk full, no permission), conflict for a broken constraint, internal for the rest. `doing` goes into the
/// cause: a statement or a file's name, never a value. `connection` may be null.
[[nodiscard]] TOLLGATE_DECL problem failure(sqlite3* connection, int code, std::string_view doing);

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/hooks.hpp>

namespace tollgate::sqlite {

/// The verbs of `hook_store`, on SQLite.
class hooks {
public:
    explicit hooks(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL outcome<hook_id> create(const new_hook& made, std::size_t hooks_per_event_max);
    TOLLGATE_DECL outcome<std::vector<hook>> of(const account_ref& account);
    TOLLGATE_DECL outcome<std::optional<account_ref>> account_of(const service_name& service, hook_id id);
    TOLLGATE_DECL outcome<bool> remove(const account_ref& account, hook_id id);

private:
    pool& connections_;
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/migrations.hpp>

namespace tollgate::sqlite {

/// Brings the tables of one `component` up to date: runs those of `steps` that its file has not seen yet, in order, all
/// or none. A file is at version n when n steps were done; a released step is never changed, only followed.
///
/// Safe when several processes open one file at once: one does the work, the others wait and find it done. A file of a
/// later version than `steps` know is a problem (internal) that says so, and is left alone.
///
/// Versions are kept in a table and by component, not in PRAGMA user_version: the file may be an integrator's own, with
/// tables and a version of theirs, so that their rows and ours commit together.
TOLLGATE_DECL outcome<void> migrate(database& on, std::string_view component, std::span<const sql> steps);

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/personal_tokens.hpp>

namespace tollgate::sqlite {

/// The personal-token verbs of `token_store`, on SQLite.
class personal_tokens {
public:
    personal_tokens(pool& connections, std::size_t cached_max)
        : connections_{connections}, credentials_{connections.changes(), cached_max} {}

    TOLLGATE_DECL outcome<std::optional<token_credential>> find(std::string_view username);
    TOLLGATE_DECL outcome<token_id> create(const new_personal_token& made);
    TOLLGATE_DECL outcome<std::vector<personal_token>> of(user_id user);
    TOLLGATE_DECL outcome<bool> revoke(token_id id);

private:
    TOLLGATE_DECL outcome<std::optional<token_credential>> read(const token_username& username);

    pool& connections_;
    row_cache<token_username, token_credential> credentials_;
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/schema.hpp>

namespace tollgate::sqlite {

/// The name of the store's tables among the components of a file.
inline constexpr std::string_view store_component = "store";

/// The store's tables, step by step. Times are milliseconds since 1970. AUTOINCREMENT: an id is never used again.
inline constexpr std::array store_steps{
    // 1: personal tokens, access tokens, hooks.
    sql{R"(
        CREATE TABLE tollgate_personal_tokens (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            user INTEGER NOT NULL CHECK (user > 0),
            username TEXT NOT NULL UNIQUE,
            secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
            description TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER
        ) STRICT;
        CREATE INDEX tollgate_personal_tokens_by_user ON tollgate_personal_tokens (user);

        CREATE TABLE tollgate_access_tokens (
            token_digest BLOB PRIMARY KEY CHECK (length(token_digest) = 32),
            user INTEGER NOT NULL CHECK (user > 0),
            application INTEGER NOT NULL CHECK (application > 0),
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE tollgate_hooks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service TEXT NOT NULL,
            account INTEGER NOT NULL CHECK (account > 0),
            event TEXT NOT NULL,
            source TEXT NOT NULL CHECK (source IN ('api', 'manual')),
            type TEXT NOT NULL,
            target_url TEXT NOT NULL,
            secret TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_hooks_by_account ON tollgate_hooks (service, account, event);
    )"},
};

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite.hpp>

namespace tollgate {

struct sqlite_settings {
    /// Connections that read at the same time; one more writes. A read takes microseconds: more than there are cores
    /// gain nothing.
    std::size_t readers_max = 8;
    /// How long a verb waits for a connection and for other processes that write, before it is a problem (unavailable).
    milliseconds busy_wait_max{5000};
    /// Credentials of each kind that are remembered, valid exactly until the next commit of anybody; 0: none. One takes
    /// 1.2 kB, when it is first used.
    std::size_t cached_credentials_max = 4096;
    /// The virtual file system that SQLite uses; empty for the system's own.
    std::string vfs{};
};

/// A store could not be opened; `what()` is for the operator, and names the file.
class store_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The store on SQLite: one file (and its log beside it), durable when a verb returns, kill -9 and loss of power
/// included. Any number of processes may use the file at the same time, and see each other's changes at once.
///
/// A new file is readable and writable by its owner alone. Tables are named `tollgate_...` and brought up to date when
/// the file is opened; they may live beside an integrator's own.
///
/// Thread rule: any thread. Blocking. Movable; a store that was moved from can only be destroyed or assigned to.
/// Errors: nothing is thrown except by the constructor; unavailable for what may pass (busy beyond the bound, disk
/// full), internal for a damaged file.
class sqlite_store {
public:
    static constexpr bool blocking = true;

    /// Throws store_error.
    explicit TOLLGATE_DECL sqlite_store(const std::string& path, const sqlite_settings& settings = {});
    /// The same without exceptions.
    [[nodiscard]] static TOLLGATE_DECL outcome<sqlite_store> open(const std::string& path,
                                                                  const sqlite_settings& settings = {}) noexcept;

    TOLLGATE_DECL sqlite_store(sqlite_store&&) noexcept;
    TOLLGATE_DECL sqlite_store& operator=(sqlite_store&&) noexcept;
    TOLLGATE_DECL ~sqlite_store();

    TOLLGATE_DECL outcome<std::optional<token_credential>> find_personal_token(std::string_view username) noexcept;
    TOLLGATE_DECL outcome<token_id> create_personal_token(const new_personal_token& made) noexcept;
    TOLLGATE_DECL outcome<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept;
    TOLLGATE_DECL outcome<bool> revoke_personal_token(token_id id) noexcept;

    TOLLGATE_DECL outcome<std::optional<token_credential>> find_access_token(const digest& token) noexcept;
    TOLLGATE_DECL outcome<void> create_access_token(const new_access_token& made) noexcept;
    TOLLGATE_DECL outcome<bool> revoke_access_token(const digest& token) noexcept;

    TOLLGATE_DECL outcome<hook_id> create_hook(const new_hook& made, std::size_t hooks_per_event_max) noexcept;
    TOLLGATE_DECL outcome<std::vector<hook>> hooks_of(const account_ref& account) noexcept;
    TOLLGATE_DECL outcome<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept;
    TOLLGATE_DECL outcome<bool> delete_hook(const account_ref& account, hook_id id) noexcept;

private:
    struct rooms;
    explicit sqlite_store(std::unique_ptr<rooms> opened) noexcept;
    static TOLLGATE_DECL outcome<std::unique_ptr<rooms>> open_rooms(const std::string& path,
                                                                    const sqlite_settings& settings);

    std::unique_ptr<rooms> rooms_;
};

static_assert(token_store<sqlite_store>);
static_assert(hook_store<sqlite_store>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION) || defined(TOLLGATE_SOURCE)

#include <sqlite3.h>

// <tollgate/store/sqlite/statement.ipp>

namespace tollgate::sqlite {

TOLLGATE_DECL bool cell::is_null() const noexcept { return sqlite3_column_type(row_, column_) == SQLITE_NULL; }

TOLLGATE_DECL std::optional<std::int64_t> cell::integer() const noexcept {
    if (sqlite3_column_type(row_, column_) != SQLITE_INTEGER) return std::nullopt;
    return sqlite3_column_int64(row_, column_);
}

TOLLGATE_DECL std::optional<std::string_view> cell::text() const noexcept {
    if (sqlite3_column_type(row_, column_) != SQLITE_TEXT) return std::nullopt;
    const unsigned char* characters = sqlite3_column_text(row_, column_);
    if (characters == nullptr) return std::nullopt;  // out of memory
    return std::string_view{reinterpret_cast<const char*>(characters),
                            static_cast<std::size_t>(sqlite3_column_bytes(row_, column_))};
}

TOLLGATE_DECL std::optional<std::span<const std::byte>> cell::blob() const noexcept {
    if (sqlite3_column_type(row_, column_) != SQLITE_BLOB) return std::nullopt;
    const void* bytes = sqlite3_column_blob(row_, column_);  // null for an empty one
    const int size = sqlite3_column_bytes(row_, column_);
    if (bytes == nullptr && size != 0) return std::nullopt;
    return std::span{static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)};
}

TOLLGATE_DECL void parameter::note(int code) noexcept {
    if (code_ == SQLITE_OK) code_ = code;
}

TOLLGATE_DECL void parameter::null() noexcept { note(sqlite3_bind_null(statement_, index_)); }

TOLLGATE_DECL void parameter::integer(std::int64_t value) noexcept {
    note(sqlite3_bind_int64(statement_, index_, value));
}

TOLLGATE_DECL void parameter::text(std::string_view value) noexcept {
    // A null pointer would bind NULL, and an empty view may hold one.
    const char* characters = value.empty() ? "" : value.data();
    note(sqlite3_bind_text64(statement_, index_, characters, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

TOLLGATE_DECL void parameter::blob(std::span<const std::byte> value) noexcept {
    const void* bytes = value.empty() ? "" : static_cast<const void*>(value.data());
    note(sqlite3_bind_blob64(statement_, index_, bytes, value.size(), SQLITE_TRANSIENT));
}

TOLLGATE_DECL outcome<bool> statement::step() {
    if (trouble_) return *trouble_;
    const char* text = sqlite3_sql(prepared_);
    sqlite3* connection = sqlite3_db_handle(prepared_);
    if (bind_code_ != SQLITE_OK) return failure(connection, bind_code_, text);
    const int code = sqlite3_step(prepared_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    auto why = failure(connection, code, text);
    sqlite3_reset(prepared_);  // lets go of the locks now, not when the statement goes out of scope
    return why;
}

TOLLGATE_DECL outcome<void> statement::finish() {
    for (;;) {
        auto stepped = step();
        if (!stepped) return std::move(stepped).error();
        if (!*stepped) return {};
    }
}

TOLLGATE_DECL problem statement::misread(std::size_t column) const {
    return internal_error("SQLite: column " + std::to_string(column) + " does not hold what it should: " +
                          sqlite3_sql(prepared_));
}

TOLLGATE_DECL void statement::give_back() noexcept {
    if (prepared_ == nullptr) return;
    if (lent_ == nullptr) {
        sqlite3_finalize(prepared_);
        return;
    }
    sqlite3_reset(prepared_);
    sqlite3_clear_bindings(prepared_);
    *lent_ = false;
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/database.ipp>

#if !defined(_WIN32)
#include <stdlib.h>
#include <unistd.h>
#endif

namespace tollgate::sqlite {

namespace detail {

/// An empty file is an empty database. SQLite would make one that everybody may read (0644), so it is made here, under
/// another name first: it must not be open in our hands once SQLite may have it, because closing it would drop SQLite's
/// locks (https://www.sqlite.org/howtocorrupt.html section 2.2). Where this fails, SQLite will say why.
inline void make_private_file([[maybe_unused]] const std::string& path) {
#if !defined(_WIN32)
    if (::access(path.c_str(), F_OK) == 0) return;
    std::string unfinished = path + ".new-XXXXXX";
    const int descriptor = ::mkstemp(unfinished.data());  // 0600
    if (descriptor < 0) return;
    ::close(descriptor);
    // Fails when another process was quicker, and then its file is the one. A file system without hard links has none
    // of our permissions to keep either.
    [[maybe_unused]] const int linked = ::link(unfinished.c_str(), path.c_str());
    ::unlink(unfinished.c_str());
#endif
}

}  // namespace detail

TOLLGATE_DECL void database::closer::operator()(sqlite3* open) const noexcept { sqlite3_close_v2(open); }

TOLLGATE_DECL void database::finaliser::operator()(sqlite3_stmt* prepared) const noexcept {
    sqlite3_finalize(prepared);
}

TOLLGATE_DECL int database::patience::wait(void* self, int waits_before) noexcept {
    auto& patience = *static_cast<database::patience*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (waits_before == 0) patience.since = now;
    if (now - patience.since >= patience.wait_max) return 0;
    // A commit takes the time of one fsync, about a millisecond: quick at first, then out of the way of others.
    std::this_thread::sleep_for(std::chrono::microseconds{200} * (std::min)(1 << (std::min)(waits_before, 6), 50));
    return 1;
}

TOLLGATE_DECL outcome<database> database::open(const std::string& path, const database_settings& settings) {
    if (path.empty() || path == ":memory:" || path.starts_with("file:") || path.find('\0') != std::string::npos)
        return invalid("A database is named by the path of a file, not by \"" + path + "\".");
    if (sqlite3_threadsafe() == 0) return internal_error("SQLite was built for one thread only.");
    if (!settings.read_only) detail::make_private_file(path);
    database made;
    if (auto done = made.connect(path, settings); !done) return std::move(done).error();
    return made;
}

TOLLGATE_DECL outcome<void> database::connect(const std::string& path, const database_settings& settings) {
    sqlite3* opened = nullptr;
    // No mutex: one thread at a time is the rule here, and pool keeps it.
    const int flags = SQLITE_OPEN_READWRITE | (settings.read_only ? 0 : SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_EXRESCODE;
    const int code =
        sqlite3_open_v2(path.c_str(), &opened, flags, settings.vfs.empty() ? nullptr : settings.vfs.c_str());
    handle_.reset(opened);  // even when it failed: it holds the reason
    if (code != SQLITE_OK) return failure(opened, code, path);

    patience_->wait_max = settings.busy_wait_max;
    sqlite3_busy_handler(opened, &patience::wait, patience_.get());

    // The file's content is data: it calls no function with side effects, corrupts nothing by writing to SQLite's own
    // tables, and "text" in double quotes is never taken for a string.
    for (const auto& [option, on] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_DQS_DML, 0}, {SQLITE_DBCONFIG_DQS_DDL, 0}})
        sqlite3_db_config(opened, option, on, static_cast<int*>(nullptr));

    if (auto done = use_write_ahead_log(path); !done) return done;
    // FULL syncs the log at each commit: what was acknowledged survives a loss of power. The log shrinks to 64 MiB
    // after a burst.
    if (auto done =
            run_script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864;");
        !done)
        return done;
    if (settings.read_only) return run_script("PRAGMA query_only = ON;");
    return {};
}

TOLLGATE_DECL outcome<void> database::use_write_ahead_log(const std::string& path) {
    // SQLite does not call the busy handler where waiting could be a deadlock, as in this change of a new file's mode
    // when several processes open it at once.
    for (int waits = 0;; ++waits) {
        auto mode = [this] {
            auto rows = prepare("PRAGMA journal_mode = WAL");
            return rows.next<std::string>();
        }();
        if (mode && *mode && std::get<0>(**mode) == "wal") return {};
        if (mode)
            return unavailable("SQLite: no write-ahead log is possible here, as on a network file system: " + path);
        const bool busy = (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_BUSY;
        if (!busy || patience::wait(patience_.get(), waits) == 0) {
            mode.error().cause += ": " + path;
            return std::move(mode).error();
        }
    }
}

TOLLGATE_DECL statement database::prepare_unbound(sql text) {
    for (const auto& each : kept_) {
        if (each->lent || each->text != text.text()) continue;
        each->lent = true;
        return statement{each->prepared.get(), &each->lent};
    }
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), text.text().data(), static_cast<int>(text.text().size()),
                                        SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    if (code != SQLITE_OK) return statement{failure(handle_.get(), code, text.text())};
    std::unique_ptr<sqlite3_stmt, finaliser> owned{prepared};
    auto kept = std::make_unique<kept_statement>(kept_statement{text.text(), std::move(owned), true});
    kept_.push_back(std::move(kept));
    return statement{prepared, &kept_.back()->lent};
}

TOLLGATE_DECL outcome<void> database::run_script(sql text) {
    const int code = sqlite3_exec(handle_.get(), text.text().data(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failure(handle_.get(), code, text.text());
    return {};
}

TOLLGATE_DECL std::int64_t database::last_insert_id() const noexcept {
    return sqlite3_last_insert_rowid(handle_.get());
}

TOLLGATE_DECL std::int64_t database::changes() const noexcept { return sqlite3_changes64(handle_.get()); }

TOLLGATE_DECL outcome<transaction> transaction::begin(database& on) {
    if (auto begun = on.run("BEGIN IMMEDIATE"); !begun) return std::move(begun).error();
    return transaction{on};
}

TOLLGATE_DECL transaction::~transaction() {
    // A failure that matters, such as a full disk, has rolled back already, and then there is nothing to do.
    if (on_ != nullptr && sqlite3_get_autocommit(on_->handle()) == 0)
        sqlite3_exec(on_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

TOLLGATE_DECL outcome<void> transaction::commit() {
    auto done = on_->run("COMMIT");
    if (done) on_ = nullptr;
    return done;
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/change_stamp.ipp>

namespace tollgate::sqlite {

namespace detail {

/// Writes a number over itself, which is a commit like any other.
inline outcome<void> commit_nothing(database& connection) {
    auto change = transaction::begin(connection);
    if (!change) return std::move(change).error();
    auto version = connection.prepare("PRAGMA user_version").next<std::int64_t>();
    if (!version) return std::move(version).error();
    if (!*version) return {};
    const std::string same = "PRAGMA user_version = " + std::to_string(std::get<0>(**version));
    const int code = sqlite3_exec(connection.handle(), same.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failure(connection.handle(), code, same);
    return change->commit();
}

}  // namespace detail

TOLLGATE_DECL outcome<change_stamp> change_stamp::watch(database connection) {
    // The first read makes SQLite map the index and, when nobody else has it open, build it.
    if (auto read = connection.run("SELECT count(*) FROM sqlite_schema"); !read) return std::move(read).error();

    sqlite3_file* file = nullptr;
    constexpr int page_bytes = 32 * 1024;  // WALINDEX_PGSZ: the unit in which every process maps the index
    constexpr std::uint32_t known_version = 3'007'000;
    volatile void* mapped = nullptr;
    if (sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
        file != nullptr && file->pMethods != nullptr && file->pMethods->iVersion >= 2 &&
        file->pMethods->xShmMap != nullptr)
        // Not extended (0): it is there already, or it is not to be had.
        if (file->pMethods->xShmMap(file, 0, page_bytes, 0, &mapped) != SQLITE_OK) mapped = nullptr;

    auto* header = static_cast<std::uint64_t*>(const_cast<void*>(mapped));
    if (header != nullptr) {
        std::uint32_t version = 0;
        std::memcpy(&version, header, sizeof version);
        if (version != known_version) header = nullptr;  // laid out in a way that we know nothing of
    }
    change_stamp made{std::move(connection), header};
    // Where this is not possible (read-only, a full disk) there are no marks until somebody else commits.
    if (header != nullptr && !made.read()) static_cast<void>(detail::commit_nothing(made.connection_));
    return made;
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/pool.ipp>

namespace tollgate::sqlite {

/// Connections of one kind, opened as they are needed, the one used last lent first: its page cache is warm.
struct pool::lease::shelf {
    shelf(std::string path_, database_settings settings_, std::size_t connections_max_)
        : path{std::move(path_)}, settings{std::move(settings_)}, connections_max{connections_max_} {
        // So that nothing throws when a connection comes back.
        connections.reserve(connections_max);
        idle.reserve(connections_max);
    }

    outcome<lease> take();
    void put(database& returned) noexcept;

    const std::string path;
    const database_settings settings;
    const std::size_t connections_max;

    std::mutex mutex;
    std::condition_variable came_free;
    std::size_t opened = 0;  // those that are being opened included
    std::vector<std::unique_ptr<database>> connections;
    std::vector<database*> idle;
};

inline outcome<pool::lease> pool::lease::shelf::take() {
    std::unique_lock lock{mutex};
    if (!came_free.wait_for(lock, settings.busy_wait_max, [this] { return !idle.empty() || opened < connections_max; }))
        return unavailable("SQLite: no connection came free in time: " + path);
    if (!idle.empty()) {
        database& chosen = *idle.back();
        idle.pop_back();
        return lease{*this, chosen};
    }
    ++opened;
    lock.unlock();
    auto made = database::open(path, settings);
    auto owned = made ? std::make_unique<database>(*std::move(made)) : nullptr;
    lock.lock();
    if (owned == nullptr) {
        --opened;
        came_free.notify_one();
        return std::move(made).error();
    }
    connections.push_back(std::move(owned));
    return lease{*this, *connections.back()};
}

inline void pool::lease::shelf::put(database& returned) noexcept {
    {
        const std::scoped_lock lock{mutex};
        idle.push_back(&returned);
    }
    came_free.notify_one();
}

struct pool::state {
    state(const std::string& path, const database_settings& writing, const database_settings& reading,
          std::size_t readers_max, change_stamp watched)
        : readers{path, reading, readers_max}, writers{path, writing, 1}, changes{std::move(watched)} {}

    lease::shelf readers;
    lease::shelf writers;
    change_stamp changes;
};

TOLLGATE_DECL pool::lease::~lease() {
    if (from_ != nullptr) from_->put(*lent_);
}

TOLLGATE_DECL pool::pool(std::unique_ptr<state> made) noexcept : state_{std::move(made)} {}
TOLLGATE_DECL pool::pool(pool&&) noexcept = default;
TOLLGATE_DECL pool& pool::operator=(pool&&) noexcept = default;
TOLLGATE_DECL pool::~pool() = default;

TOLLGATE_DECL outcome<pool> pool::open(const std::string& path, const pool_settings& settings) {
    if (settings.readers_max == 0) return invalid("A pool needs at least one connection that reads.");
    const database_settings writing{settings.busy_wait_max, false, settings.vfs};
    const database_settings reading{settings.busy_wait_max, true, settings.vfs};
    auto first = database::open(path, writing);
    if (!first) return std::move(first).error();
    auto watched = change_stamp::watch(*std::move(first));
    if (!watched) return std::move(watched).error();
    return pool{std::make_unique<state>(path, writing, reading, settings.readers_max, *std::move(watched))};
}

TOLLGATE_DECL outcome<pool::lease> pool::reader() { return state_->readers.take(); }

TOLLGATE_DECL outcome<pool::lease> pool::writer() { return state_->writers.take(); }

TOLLGATE_DECL const change_stamp& pool::changes() const noexcept { return state_->changes; }

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/access_tokens.ipp>

namespace tollgate::sqlite {

TOLLGATE_DECL outcome<std::optional<token_credential>> access_tokens::find(const digest& token) {
    return credentials_.find(token, [&] { return read(token); });
}

TOLLGATE_DECL outcome<std::optional<token_credential>> access_tokens::read(const digest& token) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row = (*connection)
                   ->prepare("SELECT user, application, scopes, expires_at FROM tollgate_access_tokens "
                             "WHERE token_digest = ?",
                             token)
                   .next<user_id, application_id, scope_set, instant>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, application, scopes, expires_at] = **row;
    return std::optional{token_credential{user, token, scopes, expires_at, application}};
}

TOLLGATE_DECL outcome<void> access_tokens::create(const new_access_token& made) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto done = (*connection)
                    ->run(
                        "INSERT INTO tollgate_access_tokens "
                        "(token_digest, user, application, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                        made.token_digest, made.user, made.application, made.scopes, made.created_at, made.expires_at);
    if (!done && done.error().kind == problem_kind::conflict)
        done.error().message = "This access token exists already.";
    return done;
}

TOLLGATE_DECL outcome<bool> access_tokens::revoke(const digest& token) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)->run("DELETE FROM tollgate_access_tokens WHERE token_digest = ?", token); !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/failure.ipp>

namespace tollgate::sqlite {

namespace detail {

/// A statement as one line, and of a long one (a migration) its beginning, which says which it is.
inline std::string to_line(std::string_view doing) {
    constexpr std::size_t bytes_max = 200;
    std::string line;
    for (std::size_t at = doing.find_first_not_of(" \n"); at < doing.size();) {
        const auto end = doing.find('\n', at);
        line += doing.substr(at, end == std::string_view::npos ? end : end - at);
        at = doing.find_first_not_of(" \n", end);
        if (line.size() > bytes_max) return line.substr(0, bytes_max) + "...";
        if (at != std::string_view::npos) line += ' ';
    }
    return line;
}

}  // namespace detail

TOLLGATE_DECL problem failure(sqlite3* connection, int code, std::string_view doing) {
    std::string cause = "SQLite: ";
    const bool has_text = connection != nullptr && sqlite3_extended_errcode(connection) == code;
    cause += has_text ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
    cause += " (result code " + std::to_string(code);
    const int system_code = connection != nullptr ? sqlite3_system_errno(connection) : 0;
    const int primary = code & 0xff;
    if (system_code != 0 && (primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR || primary == SQLITE_FULL))
        cause += ", " + std::generic_category().message(system_code);
    cause += "): ";
    cause += detail::to_line(doing);

    switch (primary) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_FULL:
        case SQLITE_IOERR:
        case SQLITE_NOMEM:
        case SQLITE_CANTOPEN:
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_PROTOCOL:
        case SQLITE_INTERRUPT:
            return unavailable(std::move(cause));
        case SQLITE_CONSTRAINT:
            return {problem_kind::conflict, "That is there already, or in use.", std::move(cause)};
        default:
            return internal_error(std::move(cause));
    }
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/hooks.ipp>

namespace tollgate::sqlite {

template <>
struct column<hook_source> {
    static std::optional<hook_source> read(const cell& from) noexcept {
        const auto text = from.text();
        for (const hook_source each : {hook_source::api, hook_source::manual})
            if (text == to_text(each)) return each;
        return std::nullopt;
    }
    static void write(parameter to, hook_source value) noexcept { to.text(to_text(value)); }
};

TOLLGATE_DECL outcome<hook_id> hooks::create(const new_hook& made, std::size_t hooks_per_event_max) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    // One statement is one transaction, and it holds the write lock from its start: nobody else can count in between.
    auto done =
        (*connection)
            ->run("INSERT INTO tollgate_hooks (service, account, event, source, type, target_url, secret, created_at) "
                  "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE ?9 > (SELECT count(*) FROM tollgate_hooks "
                  "WHERE service = ?1 AND account = ?2 AND event = ?3)",
                  made.account.service, made.account.account, made.event, made.source, made.type, made.target_url,
                  made.secret, made.created_at,
                  static_cast<std::int64_t>((std::min)(
                      hooks_per_event_max, static_cast<std::size_t>((std::numeric_limits<std::int64_t>::max)()))));
    if (!done) return std::move(done).error();
    if ((*connection)->changes() == 0) return too_many_hooks(hooks_per_event_max);
    return hook_id{(*connection)->last_insert_id()};
}

TOLLGATE_DECL outcome<std::vector<hook>> hooks::of(const account_ref& account) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto rows = (*connection)
                    ->prepare("SELECT id, event, source, type, target_url, created_at FROM tollgate_hooks "
                              "WHERE service = ? AND account = ? ORDER BY id",
                              account.service, account.account);
    std::vector<hook> found;
    for (;;) {
        auto row = rows.next<hook_id, std::string, hook_source, std::string, std::string, instant>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, event, source, type, target_url, created_at] = **row;
        found.push_back({id, account, std::move(event), source, std::move(type), std::move(target_url), created_at});
    }
}

TOLLGATE_DECL outcome<std::optional<account_ref>> hooks::account_of(const service_name& service, hook_id id) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row = (*connection)
                   ->prepare("SELECT account FROM tollgate_hooks WHERE id = ? AND service = ?", id, service)
                   .next<account_id>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<account_ref>{};
    return std::optional{account_ref{service, std::get<0>(**row)}};
}

TOLLGATE_DECL outcome<bool> hooks::remove(const account_ref& account, hook_id id) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)
                        ->run("DELETE FROM tollgate_hooks WHERE id = ? AND service = ? AND account = ?", id,
                              account.service, account.account);
        !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/migrations.ipp>

namespace tollgate::sqlite {

namespace detail {

/// How many steps were done; none for a component, or a file, that has seen no step.
inline outcome<std::int64_t> schema_version(database& of, std::string_view component) {
    using number = std::int64_t;
    auto table = of.prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'tollgate_schema'")
                     .next<number>();
    if (!table) return std::move(table).error();
    if (std::get<0>(table->value()) == 0) return number{0};
    auto version = of.prepare("SELECT version FROM tollgate_schema WHERE component = ?", component).next<number>();
    if (!version) return std::move(version).error();
    return *version ? std::get<0>(**version) : number{0};
}

}  // namespace detail

TOLLGATE_DECL outcome<void> migrate(database& on, std::string_view component, std::span<const sql> steps) {
    const auto newest = static_cast<std::int64_t>(steps.size());
    const auto judge = [&](std::int64_t version) -> outcome<void> {
        if (version <= newest) return {};
        return internal_error(
            "The tables of \"" + std::string{component} + "\" are of version " + std::to_string(version) +
            ", made by a later release; this one knows them up to version " + std::to_string(newest) + ".");
    };

    // Without the write lock first: nearly every start finds everything done.
    auto before = detail::schema_version(on, component);
    if (!before) return std::move(before).error();
    if (*before >= newest) return judge(*before);

    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    auto version = detail::schema_version(on, component);
    if (!version) return std::move(version).error();
    if (*version >= newest) return judge(*version);  // another process was quicker

    if (auto done = on.run_script("CREATE TABLE IF NOT EXISTS tollgate_schema ("
                                  "component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID");
        !done)
        return done;
    for (const sql& step : steps.subspan(static_cast<std::size_t>(*version)))
        if (auto done = on.run_script(step); !done) return done;
    if (auto done = on.run("INSERT INTO tollgate_schema VALUES (?1, ?2) "
                           "ON CONFLICT (component) DO UPDATE SET version = ?2",
                           component, newest);
        !done)
        return done;
    return change->commit();
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite/personal_tokens.ipp>

namespace tollgate::sqlite {

TOLLGATE_DECL outcome<std::optional<token_credential>> personal_tokens::find(std::string_view username) {
    const auto name = token_username::from(username);
    if (!name) return std::optional<token_credential>{};  // longer than any that there is
    return credentials_.find(*name, [&] { return read(*name); });
}

TOLLGATE_DECL outcome<std::optional<token_credential>> personal_tokens::read(const token_username& username) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row =
        (*connection)
            ->prepare("SELECT user, secret_digest, scopes FROM tollgate_personal_tokens WHERE username = ?", username)
            .next<user_id, digest, scope_set>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, secret_digest, scopes] = **row;
    return std::optional{token_credential{user, secret_digest, scopes, std::nullopt, std::nullopt}};
}

TOLLGATE_DECL outcome<token_id> personal_tokens::create(const new_personal_token& made) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto done = (*connection)
                    ->run("INSERT INTO tollgate_personal_tokens "
                          "(user, username, secret_digest, description, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                          made.user, made.username, made.secret_digest, made.description, made.scopes, made.created_at);
    if (!done) {
        auto why = std::move(done).error();
        if (why.kind == problem_kind::conflict) why.message = "A personal token of this username exists already.";
        return why;
    }
    return token_id{(*connection)->last_insert_id()};
}

TOLLGATE_DECL outcome<std::vector<personal_token>> personal_tokens::of(user_id user) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto rows = (*connection)
                    ->prepare("SELECT id, username, description, scopes, created_at, last_used_at "
                              "FROM tollgate_personal_tokens WHERE user = ? ORDER BY id",
                              user);
    std::vector<personal_token> found;
    for (;;) {
        auto row = rows.next<token_id, token_username, std::string, scope_set, instant, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, username, description, scopes, created_at, last_used_at] = **row;
        found.push_back({id, user, username, std::move(description), scopes, created_at, last_used_at});
    }
}

TOLLGATE_DECL outcome<bool> personal_tokens::revoke(token_id id) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)->run("DELETE FROM tollgate_personal_tokens WHERE id = ?", id); !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

}  // namespace tollgate::sqlite

// <tollgate/store/sqlite.ipp>

namespace tollgate {

/// One room for each family of verbs, all on the same connections.
struct sqlite_store::rooms {
    rooms(sqlite::pool opened, const sqlite_settings& settings)
        : connections{std::move(opened)},
          personal{connections, settings.cached_credentials_max},
          access{connections, settings.cached_credentials_max},
          hooks{connections} {}

    sqlite::pool connections;
    sqlite::personal_tokens personal;
    sqlite::access_tokens access;
    sqlite::hooks hooks;
};

TOLLGATE_DECL outcome<std::unique_ptr<sqlite_store::rooms>> sqlite_store::open_rooms(const std::string& path,
                                                                                     const sqlite_settings& settings) {
    auto connections = sqlite::pool::open(path, {settings.readers_max, settings.busy_wait_max, settings.vfs});
    if (!connections) return std::move(connections).error();
    {
        auto connection = connections->writer();
        if (!connection) return std::move(connection).error();
        if (auto done = sqlite::migrate(**connection, sqlite::store_component, sqlite::store_steps); !done) {
            auto why = std::move(done).error();
            why.cause += ": " + path;
            return why;
        }
    }
    return std::make_unique<rooms>(*std::move(connections), settings);
}

TOLLGATE_DECL sqlite_store::sqlite_store(const std::string& path, const sqlite_settings& settings) {
    auto opened = open_rooms(path, settings);
    if (!opened) throw store_error{opened.error().cause.empty() ? opened.error().message : opened.error().cause};
    rooms_ = *std::move(opened);
}

TOLLGATE_DECL outcome<sqlite_store> sqlite_store::open(const std::string& path,
                                                       const sqlite_settings& settings) noexcept {
    return detail::contained([&]() -> outcome<sqlite_store> {
        auto opened = open_rooms(path, settings);
        if (!opened) return std::move(opened).error();
        return sqlite_store{*std::move(opened)};
    });
}

TOLLGATE_DECL sqlite_store::sqlite_store(std::unique_ptr<rooms> opened) noexcept : rooms_{std::move(opened)} {}
TOLLGATE_DECL sqlite_store::sqlite_store(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store& sqlite_store::operator=(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store::~sqlite_store() = default;

TOLLGATE_DECL outcome<std::optional<token_credential>> sqlite_store::find_personal_token(
    std::string_view username) noexcept {
    return detail::contained([&] { return rooms_->personal.find(username); });
}
TOLLGATE_DECL outcome<token_id> sqlite_store::create_personal_token(const new_personal_token& made) noexcept {
    return detail::contained([&] { return rooms_->personal.create(made); });
}
TOLLGATE_DECL outcome<std::vector<personal_token>> sqlite_store::personal_tokens_of(user_id user) noexcept {
    return detail::contained([&] { return rooms_->personal.of(user); });
}
TOLLGATE_DECL outcome<bool> sqlite_store::revoke_personal_token(token_id id) noexcept {
    return detail::contained([&] { return rooms_->personal.revoke(id); });
}

TOLLGATE_DECL outcome<std::optional<token_credential>> sqlite_store::find_access_token(const digest& token) noexcept {
    return detail::contained([&] { return rooms_->access.find(token); });
}
TOLLGATE_DECL outcome<void> sqlite_store::create_access_token(const new_access_token& made) noexcept {
    return detail::contained([&] { return rooms_->access.create(made); });
}
TOLLGATE_DECL outcome<bool> sqlite_store::revoke_access_token(const digest& token) noexcept {
    return detail::contained([&] { return rooms_->access.revoke(token); });
}

TOLLGATE_DECL outcome<hook_id> sqlite_store::create_hook(const new_hook& made,
                                                         std::size_t hooks_per_event_max) noexcept {
    return detail::contained([&] { return rooms_->hooks.create(made, hooks_per_event_max); });
}
TOLLGATE_DECL outcome<std::vector<hook>> sqlite_store::hooks_of(const account_ref& account) noexcept {
    return detail::contained([&] { return rooms_->hooks.of(account); });
}
TOLLGATE_DECL outcome<std::optional<account_ref>> sqlite_store::account_of_hook(const service_name& service,
                                                                                hook_id id) noexcept {
    return detail::contained([&] { return rooms_->hooks.account_of(service, id); });
}
TOLLGATE_DECL outcome<bool> sqlite_store::delete_hook(const account_ref& account, hook_id id) noexcept {
    return detail::contained([&] { return rooms_->hooks.remove(account, id); });
}

}  // namespace tollgate

#endif  // bodies

#endif  // TOLLGATE_WITH_SQLITE
