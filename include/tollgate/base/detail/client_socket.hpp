#pragma once
#ifndef TOLLGATE_BASE_DETAIL_CLIENT_SOCKET_HPP
#define TOLLGATE_BASE_DETAIL_CLIENT_SOCKET_HPP

#include <tollgate/base/detail/openssl_error.hpp>
#include <tollgate/base/detail/system/sockets.hpp>

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/tls1.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <string>

namespace tollgate::inline v0::detail {

/// Settings of all clients: TLS 1.2 or later, and a certificate of the authorities in a PEM file, or of the system's if it is empty.
/// False if the authorities cannot be used; OpenSSL's error queue then has the reason.
[[nodiscard]] inline bool set_up_client_tls(SSL_CTX* context, const std::string& authorities_file) noexcept {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    return (authorities_file.empty() ? SSL_CTX_set_default_verify_paths(context)
                                     : SSL_CTX_load_verify_file(context, authorities_file.c_str())) == 1;
}

/// What an error says if `set_up_client_tls` fails.
[[nodiscard]] inline std::string unusable_authorities(const std::string& authorities_file) {
    return "the certificate authorities (" + (authorities_file.empty() ? "the system's" : authorities_file) +
           ") cannot be used: " + take_openssl_error();
}

/// Lets the handshake of a client succeed only if the certificate names `host`: an IP address, or a DNS name, which is sent as
/// SNI, too (RFC 6066 section 3: no SNI for addresses; RFC 9525: no partial wildcards, no common names).
///
/// False if OpenSSL is out of memory or `host` cannot be a name.
[[nodiscard]] inline bool expect_tls_peer(SSL* connection, const std::string& host, bool is_address) noexcept {
    X509_VERIFY_PARAM* const expected = SSL_get0_param(connection);
    if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1;
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    // What SSL_set_tlsext_host_name does, without its old-style cast in our code.
    return X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size()) == 1 &&
           SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host.c_str())) == 1;
}

/// Returns true if a connection that waits for its next request is open and has received nothing since the last response, neither in
/// `socket` nor in `tls`, which is null for a plain connection.
[[nodiscard]] inline bool is_quiet(native_socket socket, SSL* tls) noexcept {
    if (tls != nullptr && (SSL_pending(tls) != 0 || BIO_ctrl_pending(SSL_get_rbio(tls)) != 0)) return false;
    return is_silent(socket);
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_CLIENT_SOCKET_HPP
