#pragma once
#ifndef TOLLGATE_BASE_DETAIL_AES_GCM_IPP
#define TOLLGATE_BASE_DETAIL_AES_GCM_IPP

#include <tollgate/base/detail/aes_gcm.hpp>

#include <openssl/evp.h>

#include <memory>

namespace tollgate::inline v0::detail {

inline constexpr std::size_t aes_gcm_tag_bytes = 16;

struct cipher_context_free {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using cipher_context = std::unique_ptr<EVP_CIPHER_CTX, cipher_context_free>;

[[nodiscard]] inline const unsigned char* to_bytes(const void* data) noexcept {
    return static_cast<const unsigned char*>(data);
}

TOLLGATE_DECL std::optional<std::string> aes_gcm_encrypt(const digest& key, const aes_gcm_nonce& nonce,
                                                         std::string_view text, std::string_view context) {
    std::string encrypted(reinterpret_cast<const char*>(nonce.data()), nonce.size());
    encrypted.resize(nonce.size() + text.size() + aes_gcm_tag_bytes);
    auto* const out = reinterpret_cast<unsigned char*>(encrypted.data()) + nonce.size();
    const cipher_context cipher{EVP_CIPHER_CTX_new()};
    int written = 0;
    if (!cipher ||
        EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.bytes().data(),
                           to_bytes(nonce.data())) != 1 ||
        EVP_EncryptUpdate(cipher.get(), nullptr, &written, to_bytes(context.data()),
                          static_cast<int>(context.size())) != 1 ||
        EVP_EncryptUpdate(cipher.get(), out, &written, to_bytes(text.data()), static_cast<int>(text.size())) != 1 ||
        EVP_EncryptFinal_ex(cipher.get(), out + written, &written) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, aes_gcm_tag_bytes, out + text.size()) != 1)
        return std::nullopt;
    return encrypted;
}

TOLLGATE_DECL std::optional<std::string> aes_gcm_decrypt(const digest& key, std::string_view encrypted,
                                                         std::string_view context) {
    constexpr std::size_t nonce_bytes = std::tuple_size_v<aes_gcm_nonce>;
    if (encrypted.size() < nonce_bytes + aes_gcm_tag_bytes) return std::nullopt;
    std::string text(encrypted.size() - nonce_bytes - aes_gcm_tag_bytes, '\0');
    std::string tag{encrypted.substr(nonce_bytes + text.size())};  // OpenSSL's parameter is not const
    auto* const out = reinterpret_cast<unsigned char*>(text.data());
    const cipher_context cipher{EVP_CIPHER_CTX_new()};
    int written = 0;
    if (!cipher ||
        EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.bytes().data(),
                           to_bytes(encrypted.data())) != 1 ||
        EVP_DecryptUpdate(cipher.get(), nullptr, &written, to_bytes(context.data()),
                          static_cast<int>(context.size())) != 1 ||
        EVP_DecryptUpdate(cipher.get(), out, &written, to_bytes(encrypted.data() + nonce_bytes),
                          static_cast<int>(text.size())) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, aes_gcm_tag_bytes, tag.data()) != 1 ||
        EVP_DecryptFinal_ex(cipher.get(), out + written, &written) != 1)
        return std::nullopt;
    return text;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_AES_GCM_IPP
