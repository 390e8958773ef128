#pragma once
#ifndef TOLLGATE_BASE_DIGEST_IPP
#define TOLLGATE_BASE_DIGEST_IPP

#include <tollgate/base/digest.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>
#include <climits>
#include <cstdint>
#include <stdexcept>

namespace tollgate::inline v0 {
namespace detail {

[[noreturn]] inline void fail_digest() { throw std::runtime_error{"OpenSSL cannot compute SHA-256"}; }

#if !defined(OPENSSL_NO_DEPRECATED_3_0) && OPENSSL_VERSION_MAJOR < 4

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

// EVP allocates a context for each digest (OpenSSL 3.0 to 3.5), which costs more than hashing a token. These older
// functions, deprecated in OpenSSL 3 but still available, need no allocation.
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
    // OpenSSL rejects a null pointer, although an empty key is valid.
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

#endif  // TOLLGATE_BASE_DIGEST_IPP
