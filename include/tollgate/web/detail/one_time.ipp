#pragma once

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/web/detail/one_time.hpp>

#include <openssl/evp.h>

#include <cstdint>
#include <cstring>
#include <memory>

namespace tollgate::inline v0::web {

namespace detail {

inline constexpr std::size_t seal_tag_bytes = 16;
inline constexpr std::size_t seal_time_bytes = 8;

struct cipher_context_free {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using cipher_context = std::unique_ptr<EVP_CIPHER_CTX, cipher_context_free>;

[[nodiscard]] inline digest seal_key(const session& who) {
    return hmac_sha256({.key = who.secret, .message = "sealed text"});
}

[[nodiscard]] inline const unsigned char* to_bytes(const void* data) noexcept {
    return static_cast<const unsigned char*>(data);
}

}  // namespace detail

TOLLGATE_DECL std::optional<std::string> seal(const session& who, std::string_view text, const seal_nonce& nonce,
                                              instant now) {
    if (who.secret.empty()) return std::nullopt;
    const auto key = detail::seal_key(who);
    std::string plain(detail::seal_time_bytes, '\0');
    const std::int64_t time = to_unix_milliseconds(now);
    std::memcpy(plain.data(), &time, sizeof time);
    plain.append(text);

    std::string sealed(reinterpret_cast<const char*>(nonce.data()), nonce.size());
    sealed.resize(nonce.size() + plain.size() + detail::seal_tag_bytes);
    auto* const out = reinterpret_cast<unsigned char*>(sealed.data()) + nonce.size();
    const detail::cipher_context context{EVP_CIPHER_CTX_new()};
    int written = 0;
    if (!context ||
        EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, detail::to_bytes(key.bytes().data()),
                           detail::to_bytes(nonce.data())) != 1 ||
        EVP_EncryptUpdate(context.get(), out, &written, detail::to_bytes(plain.data()),
                          static_cast<int>(plain.size())) != 1 ||
        EVP_EncryptFinal_ex(context.get(), out + written, &written) != 1 ||
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, detail::seal_tag_bytes, out + plain.size()) != 1)
        return std::nullopt;
    return base64url_encode(sealed);
}

TOLLGATE_DECL std::optional<std::string> open_sealed(const session& who, std::string_view sealed, instant now) {
    constexpr std::size_t nonce_bytes = std::tuple_size_v<seal_nonce>;
    auto bytes = base64url_decode(sealed);
    if (who.secret.empty() || !bytes || bytes->size() < nonce_bytes + detail::seal_time_bytes + detail::seal_tag_bytes)
        return std::nullopt;
    const auto key = detail::seal_key(who);
    const std::size_t size = bytes->size() - nonce_bytes - detail::seal_tag_bytes;
    std::string plain(size, '\0');
    const detail::cipher_context context{EVP_CIPHER_CTX_new()};
    int written = 0;
    if (!context ||
        EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, detail::to_bytes(key.bytes().data()),
                           detail::to_bytes(bytes->data())) != 1 ||
        EVP_DecryptUpdate(context.get(), reinterpret_cast<unsigned char*>(plain.data()), &written,
                          detail::to_bytes(bytes->data() + nonce_bytes), static_cast<int>(size)) != 1 ||
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, detail::seal_tag_bytes,
                            bytes->data() + nonce_bytes + size) != 1 ||
        EVP_DecryptFinal_ex(context.get(), reinterpret_cast<unsigned char*>(plain.data()) + written, &written) != 1)
        return std::nullopt;
    std::int64_t time = 0;
    std::memcpy(&time, plain.data(), sizeof time);
    const instant made = from_unix_milliseconds(time);
    if (now < made || now >= made + sealed_text_lifetime) return std::nullopt;
    return plain.substr(detail::seal_time_bytes);
}

}  // namespace tollgate::web
