#pragma once
#ifndef TOLLGATE_BASE_DIGEST_HPP
#define TOLLGATE_BASE_DIGEST_HPP

#include <tollgate/base/config.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// A SHA-256 digest (FIPS 180-4). Stores keep the digest of a secret and find the secret's row by it.
class digest {
public:
    /// The length of a SHA-256 digest (FIPS 180-4).
    static constexpr std::size_t size_bytes = 32;

    /// Constructs a digest of 32 zero bytes, which is not the digest of any known text.
    constexpr digest() noexcept = default;

    /// Returns the digest with these 32 bytes.
    static constexpr digest from_bytes(const std::array<std::uint8_t, size_bytes>& bytes) noexcept {
        digest value;
        value.bytes_ = bytes;
        return value;
    }
    /// Returns the digest with the 32 bytes that a store holds, or an empty optional for any other size.
    static std::optional<digest> from(std::string_view raw) noexcept {
        if (raw.size() != size_bytes) return std::nullopt;
        digest value;
        std::memcpy(value.bytes_.data(), raw.data(), size_bytes);
        return value;
    }

    /// Returns the 32 bytes in the order of FIPS 180-4.
    [[nodiscard]] constexpr const std::array<std::uint8_t, size_bytes>& bytes() const noexcept { return bytes_; }
    /// Returns the 32 bytes as text, for stores and encoders. The view is valid as long as this object.
    [[nodiscard]] std::string_view raw() const noexcept {
        return {reinterpret_cast<const char*>(bytes_.data()), size_bytes};
    }

    /// Compares in constant time, so that timing reveals nothing about a partly correct guess.
    friend bool operator==(const digest& a, const digest& b) noexcept {
        using words = std::array<std::uint64_t, size_bytes / sizeof(std::uint64_t)>;
        const auto x = std::bit_cast<words>(a.bytes_);
        const auto y = std::bit_cast<words>(b.bytes_);
        return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) == 0;
    }

private:
    std::array<std::uint8_t, size_bytes> bytes_{};
};

/// Returns the SHA-256 digest of `text`, which can have any length. Any thread may call it. It uses no heap memory.
///
/// Throws std::runtime_error when OpenSSL fails, because it has no memory or was configured without SHA-256. A substitute digest would
/// compare equal to another substitute, so the call cannot continue. `handle` catches the exception, like std::bad_alloc.
[[nodiscard]] TOLLGATE_DECL digest sha256(std::string_view text);

/// The arguments of an HMAC. They have names because both are bytes.
struct keyed_message {
    std::string_view key;
    std::string_view message;
};

/// Returns the HMAC (RFC 2104) with SHA-256. Throws as `sha256` does. Any thread may call it.
[[nodiscard]] TOLLGATE_DECL digest hmac_sha256(const keyed_message& input);

/// Compares signatures or form tokens. The time depends only on the sizes, which are not secret.
[[nodiscard]] TOLLGATE_DECL bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

}  // namespace tollgate

template <>
struct std::hash<tollgate::digest> {
    /// A digest is uniformly distributed, so its first bytes are a good hash.
    [[nodiscard]] std::size_t operator()(const tollgate::digest& value) const noexcept {
        std::size_t first = 0;
        std::memcpy(&first, value.bytes().data(), sizeof first);
        return first;
    }
};

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/digest.ipp>
#endif

#endif  // TOLLGATE_BASE_DIGEST_HPP
