#pragma once

#include <support/sockets.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tollgate_test {

/// A response as a client sees it.
struct received_response {
    int status = 0;
    std::string head;  ///< status line and fields
    std::string body;

    [[nodiscard]] bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

/// A client on a plain socket that writes exactly the given bytes and never waits longer than a minute.
class socket_client {
public:
    explicit socket_client(std::uint16_t port) : socket_client{owned_socket{}, port} {}
    /// Connects a socket.
    socket_client(owned_socket socket, std::uint16_t port) : socket_{std::move(socket)} {
        if (!connect_to(native(), port))
            throw std::system_error{tollgate::detail::last_socket_error(), std::system_category(), "cannot connect"};
    }
    socket_client(socket_client&&) noexcept = default;
    virtual ~socket_client() = default;

    [[nodiscard]] native_socket native() const noexcept { return socket_.native(); }

    /// False when the server no longer accepts data.
    virtual bool write(std::string_view bytes) { return send_all(native(), bytes); }
    void write_urgent(char byte) const { (void)!::send(native(), &byte, 1, MSG_OOB); }
    bool write_byte_by_byte(std::string_view bytes) {
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (!write(bytes.substr(i, 1))) return false;
        return true;
    }
    void end_writing() const { ::shutdown(native(), tollgate::detail::sending_direction); }
    /// Sets a small receive window, so that unread data soon remains at the server.
    void receive_little() const { set_socket_option(native(), SO_RCVBUF, 64 * 1024); }
    /// Makes closing reset the connection.
    void reset_on_close() const { tollgate_test::reset_on_close(native()); }

    /// The next response; its status is 0 if the connection ended before it was complete.
    received_response read_response(bool head_only = false) {
        received_response response;
        std::size_t end;
        while ((end = buffered_.find("\r\n\r\n")) == std::string::npos)
            if (!read_more()) return response;
        response.head = buffered_.substr(0, end + 2);
        std::size_t bytes = 0;
        if (const auto at = response.head.find("Content-Length: "); at != std::string::npos && !head_only)
            bytes = static_cast<std::size_t>(std::atoll(response.head.c_str() + at + 16));
        while (buffered_.size() < end + 4 + bytes)
            if (!read_more()) return response;
        response.body = buffered_.substr(end + 4, bytes);
        response.status = std::atoi(response.head.c_str() + 9);
        buffered_.erase(0, end + 4 + bytes);
        return response;
    }

    /// Receives until nothing more has arrived for a tenth of a second; at least once.
    void receive_what_is_sent() {
        while (read_more() && !silent_for(std::chrono::milliseconds{100})) {}
    }
    /// Everything until the server ends the connection.
    std::string read_to_end() {
        while (read_more()) {}
        return std::exchange(buffered_, {});
    }

    /// Whether the server has ended the connection without sending more data.
    bool ends_silently() { return read_to_end().empty(); }

    /// Whether nothing arrives, and the connection stays open, for this time.
    [[nodiscard]] bool silent_for(std::chrono::milliseconds time) const {
        pollfd one{native(), POLLIN, 0};
        return tollgate::detail::poll_sockets(&one, 1, static_cast<int>(time.count())) == 0;
    }

protected:
    virtual std::ptrdiff_t receive(char* to, std::size_t bytes) {
        wait_for_data();
        return tollgate::detail::receive_some(native(), to, bytes);
    }

    /// Throws if neither data nor the end arrives in 40 s: that fails the test, in any thread. Less than the server's default
    /// time limits, which would end the wait and hide that something else should have.
    void wait_for_data() const {
        if (silent_for(std::chrono::seconds{40})) throw std::runtime_error{"a client received neither data nor the end for 40 s"};
    }

private:
    bool read_more() {
        char bytes[16 * 1024];
        const auto count = receive(bytes, sizeof bytes);
        if (count <= 0) return false;
        buffered_.append(bytes, static_cast<std::size_t>(count));
        return true;
    }

    owned_socket socket_;
    std::string buffered_;
};

using tls_session = std::shared_ptr<SSL_SESSION>;

/// A BIO on this socket, which stays the caller's. OpenSSL's own one raises SIGPIPE when the server has closed. A read fails after 40 s.
inline BIO* new_socket_bio(native_socket socket) {
    static const auto socket_of = [](BIO* bio) { return static_cast<native_socket>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); };
    static const std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> method = [] {
        std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> made{BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket"), &BIO_meth_free};
        BIO_meth_set_read(made.get(), [](BIO* from, char* bytes, int count) {
            pollfd one{socket_of(from), POLLIN, 0};
            if (tollgate::detail::poll_sockets(&one, 1, 40'000) <= 0) return -1;
            return static_cast<int>(tollgate::detail::receive_some(socket_of(from), bytes, static_cast<std::size_t>(count)));
        });
        BIO_meth_set_write(made.get(), [](BIO* to, const char* bytes, int count) {
            return static_cast<int>(tollgate::detail::send_some(socket_of(to), bytes, static_cast<std::size_t>(count)));
        });
        BIO_meth_set_ctrl(made.get(), [](BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1L : 0L; });
        return made;
    }();
    BIO* const bio = BIO_new(method.get());
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
    BIO_set_init(bio, 1);
    return bio;
}

/// The same over TLS; the certificate is not verified.
class tls_client final : public socket_client {
public:
    explicit tls_client(std::uint16_t port, int version = 0, std::string_view alpn = {}, const char* ciphers = nullptr,
                        const tls_session& resumed = {})
        : socket_client{port}, context_{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free}, ssl_{nullptr, &SSL_free} {
        if (version != 0) {
            SSL_CTX_set_min_proto_version(context_.get(), version);
            SSL_CTX_set_max_proto_version(context_.get(), version);
        }
        if (ciphers != nullptr) SSL_CTX_set_cipher_list(context_.get(), ciphers);
        ssl_.reset(SSL_new(context_.get()));
        if (resumed) SSL_set_session(ssl_.get(), resumed.get());
        if (!alpn.empty())
            SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                                static_cast<unsigned>(alpn.size()));
        BIO* const wire = new_socket_bio(native());
        SSL_set_bio(ssl_.get(), wire, wire);
        connected_ = SSL_connect(ssl_.get()) == 1;
        ERR_clear_error();
    }

    [[nodiscard]] bool connected() const noexcept { return connected_; }
    [[nodiscard]] std::string version() const { return SSL_get_version(ssl_.get()); }
    [[nodiscard]] std::string cipher() const { return SSL_get_cipher_name(ssl_.get()); }
    [[nodiscard]] std::string alpn() const {
        const unsigned char* chosen = nullptr;
        unsigned bytes = 0;
        SSL_get0_alpn_selected(ssl_.get(), &chosen, &bytes);
        return {reinterpret_cast<const char*>(chosen), bytes};
    }
    [[nodiscard]] bool resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
    /// For resumption. TLS 1.3: it arrives with the first response.
    [[nodiscard]] tls_session session() const { return {SSL_get1_session(ssl_.get()), &SSL_SESSION_free}; }
    [[nodiscard]] bool received_close_notify() const { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }
    void close_notify() { SSL_shutdown(ssl_.get()); }
    /// TLS 1.3: a record without application data.
    bool update_key() {
        return SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 && SSL_do_handshake(ssl_.get()) == 1;
    }
    /// The records that `act` would send: `socket_client::write` can send them in parts, or at once.
    template <class Act>
    [[nodiscard]] std::string records_of(Act act) {
        BIO* const wire = SSL_get_wbio(ssl_.get());
        BIO_up_ref(wire);
        BIO* const memory = BIO_new(BIO_s_mem());
        SSL_set0_wbio(ssl_.get(), memory);
        act();
        char* data = nullptr;
        const auto size = BIO_get_mem_data(memory, &data);
        const std::string records(data, static_cast<std::size_t>(size));
        SSL_set0_wbio(ssl_.get(), wire);
        return records;
    }
    [[nodiscard]] std::string common_name() const {
        char name[256] = {};
        if (X509* const certificate = SSL_get1_peer_certificate(ssl_.get())) {
            X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
            X509_free(certificate);
        }
        return name;
    }

    bool write(std::string_view bytes) override {
        return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
    }

protected:
    std::ptrdiff_t receive(char* to, std::size_t bytes) override {
        if (SSL_pending(ssl_.get()) == 0) wait_for_data();
        const int count = SSL_read(ssl_.get(), to, static_cast<int>(bytes));
        if (count <= 0) ERR_clear_error();
        return count;
    }

private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
    bool connected_ = false;
};

}  // namespace tollgate_test
