#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/server/detail/ticket_keys.hpp>
#include <tollgate/server/server_settings.hpp>

#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct bio_method_st;

namespace tollgate::inline v0::server_detail {

/// Shared by all TLS connections of one certificate: TLS 1.2 and 1.3, no compression, no renegotiation, `http/1.1` or
/// `http/1.0` by ALPN, stateless tickets. Connections keep their context alive, so a reload affects only new ones.
class tls_context {
public:
    /// Forward secrecy and authenticated encryption (RFC 9325 section 4.2).
    static constexpr std::string_view default_tls12_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

    /// Reads the certificate chain, the key and the ticket keys. An error names the file and says what is wrong with it.
    /// `own_tickets` are used without a file of ticket keys; contexts that share them resume each other's sessions.
    static TOLLGATE_DECL result<std::shared_ptr<const tls_context>> make(const tls_settings& settings,
                                                                         std::shared_ptr<ticket_keys> own_tickets);

    TOLLGATE_DECL explicit tls_context(std::shared_ptr<ticket_keys> tickets);
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;
    TOLLGATE_DECL ~tls_context();

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_; }
    [[nodiscard]] const std::shared_ptr<ticket_keys>& tickets() const noexcept { return tickets_; }
    /// The transport of a connection for OpenSSL; see `tls_stream`. The first call throws `std::bad_alloc` if there is no memory;
    /// `make` makes it.
    [[nodiscard]] static TOLLGATE_DECL const bio_method_st* transport();

    /// An error names the file and says what is wrong with it.
    static TOLLGATE_DECL result<std::shared_ptr<ticket_keys>> read_ticket_keys(const std::string& file);

private:
    std::shared_ptr<ticket_keys> tickets_;
    ssl_ctx_st* context_ = nullptr;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/tls_context.ipp>
#endif
