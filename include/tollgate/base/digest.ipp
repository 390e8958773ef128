#pragma once

#include <tollgate/base/digest.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <stdexcept>

namespace tollgate {
namespace detail {

/// A SHA-256 of OpenSSL, set up once a thread: looking the algorithm up by its name, as the one-call functions do, costs
/// as much again as the digest of a secret.
class openssl_sha256 {
public:
    openssl_sha256() {
        EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
        context_ = algorithm != nullptr ? EVP_MD_CTX_new() : nullptr;
        const bool ready = context_ != nullptr && EVP_DigestInit_ex2(context_, algorithm, nullptr) == 1;
        EVP_MD_free(algorithm);  // the context holds it now
        if (ready) return;
        EVP_MD_CTX_free(context_);
        fail();
    }
    openssl_sha256(const openssl_sha256&) = delete;
    openssl_sha256& operator=(const openssl_sha256&) = delete;
    ~openssl_sha256() { EVP_MD_CTX_free(context_); }

    digest of(std::string_view first, std::string_view second = {}) {
        std::array<std::uint8_t, digest::size_bytes> bytes;
        // Without an algorithm, the initialisation starts the one of the constructor over.
        if (EVP_DigestInit_ex2(context_, nullptr, nullptr) != 1 || !add(first) || !add(second) ||
            EVP_DigestFinal_ex(context_, bytes.data(), nullptr) != 1)
            fail();
        return digest::from_bytes(bytes);
    }

    static openssl_sha256& of_this_thread() {
        thread_local openssl_sha256 made;
        return made;
    }

private:
    bool add(std::string_view text) {
        return text.empty() || EVP_DigestUpdate(context_, text.data(), text.size()) == 1;
    }
    [[noreturn]] static void fail() { throw std::runtime_error{"OpenSSL cannot compute SHA-256"}; }

    EVP_MD_CTX* context_;
};

}  // namespace detail

TOLLGATE_DECL digest sha256(std::string_view text) { return detail::openssl_sha256::of_this_thread().of(text); }

TOLLGATE_DECL digest hmac_sha256(const keyed_message& input) {
    constexpr std::size_t block_bytes = 64;
    auto& algorithm = detail::openssl_sha256::of_this_thread();

    const digest shortened = input.key.size() > block_bytes ? algorithm.of(input.key) : digest{};
    const std::string_view key = input.key.size() > block_bytes ? shortened.raw() : input.key;

    std::array<char, block_bytes> inner;
    std::array<char, block_bytes> outer;
    for (std::size_t i = 0; i < block_bytes; ++i) {
        const auto byte = static_cast<unsigned char>(i < key.size() ? key[i] : '\0');
        inner[i] = static_cast<char>(byte ^ 0x36);
        outer[i] = static_cast<char>(byte ^ 0x5c);
    }
    const digest first = algorithm.of({inner.data(), inner.size()}, input.message);
    const digest made = algorithm.of({outer.data(), outer.size()}, first.raw());
    OPENSSL_cleanse(inner.data(), inner.size());
    OPENSSL_cleanse(outer.data(), outer.size());
    return made;
}

TOLLGATE_DECL bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace tollgate
