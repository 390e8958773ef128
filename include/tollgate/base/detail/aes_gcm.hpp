#pragma once
#ifndef TOLLGATE_BASE_DETAIL_AES_GCM_HPP
#define TOLLGATE_BASE_DETAIL_AES_GCM_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// AES-256-GCM (NIST SP 800-38D): encrypts text and detects any change to it.
namespace tollgate::inline v0::detail {

/// 96 bits. Never use the same nonce twice with one key.
using aes_gcm_nonce = std::array<std::byte, 12>;

/// Returns the nonce, the ciphertext and the tag, in this order. `context` is authenticated but not included;
/// decryption needs the same context. Empty if OpenSSL fails. Any thread.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> aes_gcm_encrypt(const digest& key, const aes_gcm_nonce& nonce,
                                                                       std::string_view text,
                                                                       std::string_view context = {});

/// The plain text; empty if the key or the context differs, or if anything was changed. Any thread.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> aes_gcm_decrypt(const digest& key, std::string_view encrypted,
                                                                       std::string_view context = {});

}  // namespace tollgate::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/detail/aes_gcm.ipp>
#endif

#endif  // TOLLGATE_BASE_DETAIL_AES_GCM_HPP
