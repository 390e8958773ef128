#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_IPP

#include <tollgate/base/detail/client_socket.hpp>
#include <tollgate/webhooks/detail/connection.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <exception>

namespace tollgate::inline v0::webhooks {

TOLLGATE_DECL result<std::shared_ptr<asio::ssl::context>> make_client_tls(const std::string& authorities_file) {
    try {
        auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
        SSL_CTX* const native = context->native_handle();
        SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
        // Prevents a receiver from selecting HTTP/2.
        static constexpr unsigned char protocols[] = "\x08http/1.1";
        SSL_CTX_set_alpn_protos(native, protocols, sizeof protocols - 1);
        ERR_clear_error();
        if (!tollgate::detail::set_up_client_tls(native, authorities_file))
            return invalid("Webhooks: " + tollgate::detail::unusable_authorities(authorities_file) + ".");
        return context;
    } catch (const std::exception& failed) {
        return internal_error(std::string{"no TLS context: "} + failed.what());
    }
}

TOLLGATE_DECL asio::ip::tcp::endpoint to_endpoint(const ip_address& address, std::uint16_t port) {
    const auto& bytes = address.bytes();
    if (address.is_v4()) return {asio::ip::address_v4{{bytes[12], bytes[13], bytes[14], bytes[15]}}, port};
    asio::ip::address_v6::bytes_type all;
    std::copy(bytes.begin(), bytes.end(), all.begin());
    return {asio::ip::address_v6{all}, port};
}

TOLLGATE_DECL bool hook_connection::use_tls(asio::ssl::context& context, const http::url& host) {
    tls_ = std::make_unique<asio::ssl::stream<client_socket&>>(socket_, context);
    return tollgate::detail::expect_tls_peer(tls_->native_handle(), host.host, host.address.has_value());
}

TOLLGATE_DECL std::string hook_connection::tls_fault(const asio_error& failed) const {
    const long verified = tls_ ? SSL_get_verify_result(tls_->native_handle()) : X509_V_OK;
    return verified == X509_V_OK ? failed.message() : X509_verify_cert_error_string(verified);
}

TOLLGATE_DECL attempt_cause hook_connection::tls_cause() const noexcept {
    switch (tls_ ? SSL_get_verify_result(tls_->native_handle()) : X509_V_OK) {
        case X509_V_OK: return attempt_cause::none;
        case X509_V_ERR_CERT_HAS_EXPIRED: return attempt_cause::certificate_expired;
        case X509_V_ERR_CERT_NOT_YET_VALID: return attempt_cause::certificate_not_yet_valid;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH: return attempt_cause::certificate_for_other_host;
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_CERT_UNTRUSTED: return attempt_cause::certificate_not_trusted;
        default: return attempt_cause::certificate_invalid;
    }
}

TOLLGATE_DECL bool hook_connection::is_quiet() noexcept {
    return tollgate::detail::is_quiet(socket_.native_handle(), tls_ ? tls_->native_handle() : nullptr);
}

TOLLGATE_DECL void hook_connection::close() noexcept {
    asio_error ignored;
    socket_.close(ignored);
}

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_IPP
