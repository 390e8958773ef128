#pragma once

#include <tollgate/server/detail/tls_context.hpp>
#include <tollgate/server/detail/tls_stream.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <new>
#include <utility>

namespace tollgate::inline v0::server_detail {

namespace detail {

/// Before every call: clears earlier errors of other code on this thread, which would be attributed to this connection.
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

TOLLGATE_DECL tls_step tls_stream::handshake(tls_wire& wire) {
    detail::ready_openssl(ssl_, wire);
    const int returned = SSL_do_handshake(ssl_);
    if (returned != 1) return failure(returned);
    handshake_done_ = true;
    return tls_step::done;
}

TOLLGATE_DECL tls_stream::reading tls_stream::read(tls_wire& wire, std::span<char> into) {
    detail::ready_openssl(ssl_, wire);
    std::size_t bytes = 0;
    const int returned = SSL_read_ex(ssl_, into.data(), into.size(), &bytes);
    if (returned == 1) return {tls_step::done, bytes};
    return {failure(returned), 0};
}

TOLLGATE_DECL bool tls_stream::has_input(const tls_wire& wire) const noexcept {
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

TOLLGATE_DECL void tls_stream::release_buffers() noexcept {
    // Versions of OpenSSL before 3.0.14 free them while they are in use (CVE-2024-4741). RH: the next is the header of a record.
    if (SSL_pending(ssl_) == 0 && std::string_view{SSL_rstate_string(ssl_)} == "RH") SSL_free_buffers(ssl_);
}

TOLLGATE_DECL void tls_stream::close_notify(tls_wire& wire) noexcept {
    if (broken_ || !handshake_done_) return;
    detail::ready_openssl(ssl_, wire);
    if (SSL_shutdown(ssl_) < 0) ERR_clear_error();
}

}  // namespace tollgate::server_detail
