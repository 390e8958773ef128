#pragma once
#ifndef TOLLGATE_SERVER_TLS_HPP
#define TOLLGATE_SERVER_TLS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/server/server_settings.hpp>

#include <string>

namespace tollgate::inline v0 {

/// A certificate chain (leaf first) and its key in PEM. Set either the files, which `server::reload_certificates` reads again, or the
/// texts, not both.
struct tls_settings {
    std::string certificate_file = {};
    std::string key_file = {};
    std::string certificate_pem = {};
    std::string key_pem = {};
    /// A file with the secrets of session tickets: at most 16 lines of 32 random bytes in base64. The first secret encrypts, and all
    /// decrypt. Blank lines and lines that start with `#` are ignored. Servers with the same file resume each other's sessions;
    /// `server::reload_certificates` reads the file again. Empty: a random secret, replaced every 2 hours.
    std::string ticket_key_file = {};
    /// The ciphers of TLS 1.2, as OpenSSL lists them. Empty: ECDHE with AES-GCM or ChaCha20-Poly1305 (RFC 9325 section 4.2),
    /// which all clients of the last ten years have. TLS 1.3 has no other ciphers.
    std::string tls12_ciphers = {};
};

/// Returns the value of `server_settings::tls`: TLS 1.2 and 1.3 by OpenSSL, without compression and renegotiation, with `http/1.1` and
/// `http/1.0` by ALPN and with stateless session tickets. Nothing is read before `server::start`, whose errors name the file and its fault.
[[nodiscard]] TOLLGATE_COLD tls_source tls_from(tls_settings settings);

/// Reads the certificate, key and ticket keys as `server::start` does, but changes nothing; without a certificate, reads only the ticket
/// keys. An error names the file and its fault.
[[nodiscard]] TOLLGATE_COLD result<void> check_tls(const tls_settings& settings);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/tls.ipp>
#endif

#endif  // TOLLGATE_SERVER_TLS_HPP
