#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/webhooks/detail/asio.hpp>
#include <tollgate/webhooks/detail/delivery_scheduler.hpp>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::webhooks {

using client_executor = asio::strand<asio::any_io_executor>;
using client_socket = asio::basic_stream_socket<asio::ip::tcp, client_executor>;

/// A context for TLS 1.2 and 1.3 that trusts the system's authorities, or those of a PEM file. Error if that cannot be
/// read.
[[nodiscard]] TOLLGATE_DECL result<std::shared_ptr<asio::ssl::context>> make_client_tls(
    const std::string& authorities_file);

[[nodiscard]] TOLLGATE_DECL asio::ip::tcp::endpoint to_endpoint(const ip_address& address, std::uint16_t port);

/// A connection to a host, with or without TLS. Belongs to the client's strand. Pending operations hold a reference,
/// so closing the connection releases it.
class hook_connection {
public:
    explicit hook_connection(const client_executor& executor) : socket_{executor} {}
    hook_connection(const hook_connection&) = delete;
    hook_connection& operator=(const hook_connection&) = delete;

    [[nodiscard]] client_socket& socket() noexcept { return socket_; }

    /// Prepares TLS for this host: its name is sent (SNI) and must match the certificate. False when out of memory.
    [[nodiscard]] TOLLGATE_DECL bool use_tls(asio::ssl::context& context, const http::url& host);
    /// Returns the reason why the certificate was not trusted, or OpenSSL's error text.
    [[nodiscard]] TOLLGATE_DECL std::string tls_fault(const asio_error& failed) const;
    /// Returns the fault of the certificate; `none` if the handshake failed for another reason.
    [[nodiscard]] TOLLGATE_DECL attempt_cause tls_cause() const noexcept;

    template <class Handler>
    void handshake(Handler&& handler) {
        tls_->async_handshake(asio::ssl::stream_base::client, std::forward<Handler>(handler));
    }
    template <class Handler>
    void write(std::string_view bytes, Handler&& handler) {
        const asio::const_buffer all{bytes.data(), bytes.size()};
        if (tls_) asio::async_write(*tls_, all, std::forward<Handler>(handler));
        else asio::async_write(socket_, all, std::forward<Handler>(handler));
    }
    template <class Handler>
    void read_some(asio::mutable_buffer into, Handler&& handler) {
        if (tls_) tls_->async_read_some(into, std::forward<Handler>(handler));
        else socket_.async_read_some(into, std::forward<Handler>(handler));
    }

    /// Returns true if nothing has arrived since the last response, neither bytes nor a close. Only then can it carry another
    /// request.
    [[nodiscard]] TOLLGATE_DECL bool is_quiet() noexcept;
    TOLLGATE_DECL void close() noexcept;

    ip_address peer{};
    std::chrono::steady_clock::time_point made_at{};
    std::chrono::steady_clock::time_point idle_since{};

private:
    client_socket socket_;
    std::unique_ptr<asio::ssl::stream<client_socket&>> tls_;
};

/// A request to send. `number` identifies it to its sender.
struct outgoing_request {
    std::uint64_t number = 0;
    http::url target;
    std::string fields;  ///< lines with their CRLF, without those that the client adds
    std::string body;
    /// The attempt is shortened, or not started, rather than ending later than this.
    std::chrono::steady_clock::time_point done_by = (std::chrono::steady_clock::time_point::max)();
    std::string_view method = "POST";  ///< POST, or GET without a body
};

/// The owner of a client. Called on the client's executor; after `hook_client::abort` has returned, calls continue
/// until the executor has run all pending operations.
class client_owner {
public:
    client_owner() = default;
    client_owner(const client_owner&) = delete;
    client_owner& operator=(const client_owner&) = delete;

    /// Returns true if a connection may be opened to this address.
    [[nodiscard]] virtual bool allows(const ip_address& address) noexcept = 0;
    virtual void on_ended(ended_attempts ended) noexcept = 0;

protected:
    ~client_owner() = default;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/connection.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_HPP
