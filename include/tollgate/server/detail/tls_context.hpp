#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/server/server_settings.hpp>

#include <memory>

struct ssl_ctx_st;
struct bio_method_st;

namespace tollgate::inline v0::server_detail {

/// Shared by all TLS connections of one certificate: TLS 1.2 and 1.3, no compression, no renegotiation, `http/1.1` by
/// ALPN, stateless tickets. Connections keep their context alive, so a reload affects only new ones.
class tls_context {
public:
    /// Reads the certificate chain and the key. An error names the file and says what is wrong with it.
    static TOLLGATE_DECL result<std::shared_ptr<const tls_context>> make(const tls_settings& settings);

    TOLLGATE_DECL tls_context();
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;
    TOLLGATE_DECL ~tls_context();

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_; }
    /// The transport of a connection for OpenSSL; see `tls_stream`.
    [[nodiscard]] const bio_method_st* transport() const noexcept { return transport_; }

private:
    ssl_ctx_st* context_ = nullptr;
    bio_method_st* transport_ = nullptr;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/tls_context.ipp>
#endif
