#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_CONNECTION_IPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_CONNECTION_IPP

#include <tollgate/base/detail/client_socket.hpp>
#include <tollgate/base/detail/host_lookup.hpp>
#include <tollgate/base/detail/openssl_error.hpp>
#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>

#include <hiredis/hiredis.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace tollgate::inline v0::redis {

namespace detail {

/// The code at the start of an error, such as `WRONGPASS`. The rest may quote the command, including a password
/// (`unknown command 'AUTH', with args beginning with: ...`).
inline std::string_view code_of(std::string_view error) noexcept {
    const auto is_of_code = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto end = std::find_if_not(error.begin(), error.end(), is_of_code);
    const bool is_code = end != error.begin() && (end == error.end() || *end == ' ');
    return is_code ? error.substr(0, static_cast<std::size_t>(end - error.begin())) : "refused";
}

}  // namespace detail

TOLLGATE_DECL std::string printable_error(std::string_view text) {
    constexpr std::size_t bytes_max = 160;
    std::string shown{text.substr(0, bytes_max)};
    std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return shown;
}

TOLLGATE_DECL void command_writer::head(char kind, std::size_t size) {
    char digits[24];
    const auto done = std::to_chars(digits, digits + sizeof digits, size);
    out_ += kind;
    out_.append(digits, done.ptr);
    out_ += "\r\n";
}

TOLLGATE_DECL command_writer& command_writer::word(std::string_view text) {
    head('$', text.size());
    out_ += text;
    out_ += "\r\n";
    return *this;
}

TOLLGATE_DECL command_writer& command_writer::number(std::int64_t value) {
    char digits[24];
    const auto done = std::to_chars(digits, digits + sizeof digits, value);
    return word({digits, static_cast<std::size_t>(done.ptr - digits)});
}

TOLLGATE_DECL void tls_authorities::free_context::operator()(ssl_ctx_st* context) const noexcept {
    SSL_CTX_free(context);
}

TOLLGATE_DECL result<tls_authorities> tls_authorities::load(const std::string& file) {
    ERR_clear_error();
    tls_authorities authorities{SSL_CTX_new(TLS_client_method())};
    if (authorities.native() == nullptr) return internal_error("Redis: no TLS context: " + tollgate::detail::take_openssl_error());
    if (!tollgate::detail::set_up_client_tls(authorities.native(), file))
        return invalid("Redis: " + tollgate::detail::unusable_authorities(file) + ".");
    return authorities;
}

TOLLGATE_DECL void connection::free_reader::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
TOLLGATE_DECL void connection::free_tls::operator()(ssl_st* tls) const noexcept { SSL_free(tls); }

TOLLGATE_DECL connection::~connection() {
    if (socket_ != tollgate::detail::no_socket) tollgate::detail::close_handle(socket_);
}

TOLLGATE_DECL error connection::failure(const std::string& reason) const {
    return unavailable("Redis at " + address_ + ": " + reason);
}

TOLLGATE_DECL result<std::unique_ptr<connection>> connection::open(const server_address& server, const tls_authorities* authorities,
                                                                   steady::time_point end) {
    std::unique_ptr<connection> opened{new connection{server}};
    opened->reader_.reset(redisReaderCreate());
    if (opened->reader_ == nullptr) return opened->failure("out of memory");
    if (auto connected = opened->connect(server, end); !connected) return std::move(connected).error();
    if (authorities != nullptr)
        if (auto secured = opened->start_tls(server, *authorities, end); !secured) return std::move(secured).error();
    if (auto known = opened->sign_in(server, end); !known) return std::move(known).error();
    return opened;
}

TOLLGATE_DECL result<void> connection::connect(const server_address& server, steady::time_point end) {
    const auto left_to_wait = std::chrono::ceil<milliseconds>(end - steady::now());
    const auto found = tollgate::detail::look_up_host(server.host, left_to_wait);
    if (!found) return failure(found.error().cause);

    std::size_t left = 0;
    for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) ++left;
    result<void> tried = failure("no address for this name");
    for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next, --left) {
        // Divide the remaining time among the addresses, so that one that does not answer cannot use all of it.
        const auto now = steady::now();
        const auto share = now + (end - now) / static_cast<int>(left);
        if (socket_ != tollgate::detail::no_socket) tollgate::detail::close_handle(socket_);
        socket_ = tollgate::detail::open_socket(each->ai_family);
        if (socket_ == tollgate::detail::no_socket) {
            const int error = tollgate::detail::last_socket_error();
            if (tollgate::detail::is_unknown_family(error)) continue;  // a kernel without IPv6
            return failure("cannot create a socket: " + tollgate::detail::socket_error_text(error));
        }
        (void)tollgate::detail::set_option(socket_, IPPROTO_TCP, TCP_NODELAY);
        (void)tollgate::detail::set_option(socket_, SOL_SOCKET, SO_KEEPALIVE);
        const tollgate::detail::host_address at{*each, server.port};
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&at.name), at.bytes) == 0) return {};
        if (const int error = tollgate::detail::last_socket_error(); !tollgate::detail::is_connecting(error)) {
            tried = failure("cannot connect: " + tollgate::detail::socket_error_text(error));
            continue;
        }
        tried = wait(POLLOUT, share, "connect");
        if (!tried) continue;
        int fault = 0;
        (void)tollgate::detail::get_option(socket_, SOL_SOCKET, SO_ERROR, fault);
        if (fault == 0) return {};
        tried = failure("cannot connect: " + tollgate::detail::socket_error_text(fault));
    }
    return tried;
}

TOLLGATE_DECL result<void> connection::start_tls(const server_address& server, const tls_authorities& authorities, steady::time_point end) {
    ERR_clear_error();
    tls_.reset(SSL_new(authorities.native()));
    if (tls_ == nullptr) return failure("no TLS: " + tollgate::detail::take_openssl_error());
    // Memory BIOs, because OpenSSL's socket BIOs raise SIGPIPE.
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    if (in == nullptr || out == nullptr) {
        BIO_free(in);
        BIO_free(out);
        return failure("out of memory");
    }
    SSL_set_bio(tls_.get(), in, out);
    const bool is_address = ip_address::parse(server.host).has_value();
    if (!tollgate::detail::expect_tls_peer(tls_.get(), server.host, is_address))
        return failure("no TLS: " + tollgate::detail::take_openssl_error());
    for (;;) {
        const int done = SSL_connect(tls_.get());
        const int tls_error = done == 1 ? SSL_ERROR_NONE : SSL_get_error(tls_.get(), done);
        if (auto sent = flush_tls(end); !sent) return sent;
        if (tls_error == SSL_ERROR_NONE) return {};
        if (tls_error != SSL_ERROR_WANT_READ) {
            const long verified = SSL_get_verify_result(tls_.get());
            const std::string reason = tollgate::detail::take_openssl_error();
            return failure("TLS: " + (verified == X509_V_OK ? reason : X509_verify_cert_error_string(verified)));
        }
        char bytes[4096];
        auto received = receive_raw(bytes, sizeof bytes, end);
        if (!received) return std::move(received).error();
        BIO_write(in, bytes, static_cast<int>(*received));
    }
}

TOLLGATE_DECL result<void> connection::sign_in(const server_address& server, steady::time_point end) {
    std::string commands;
    reply received;
    if (!server.password.empty()) {
        command_writer auth{commands, server.user.empty() ? std::size_t{2} : std::size_t{3}};
        auth.word("AUTH");
        if (!server.user.empty()) auth.word(server.user);
        auth.word(server.password);
        if (auto sent = exchange(commands, {&received, 1}, end); !sent) return sent;
        if (!received.error.empty()) return failure("AUTH: " + printable_error(detail::code_of(received.error)));
        commands.clear();
    }
    if (server.database == 0) return {};
    command_writer{commands, 2}.word("SELECT").number(server.database);
    if (auto sent = exchange(commands, {&received, 1}, end); !sent) return sent;
    if (!received.error.empty())
        return failure("SELECT " + std::to_string(server.database) + ": " + printable_error(received.error));
    return {};
}

TOLLGATE_DECL result<void> connection::exchange(std::string_view commands, std::span<reply> replies, steady::time_point end) {
    // About 200 bytes a request of a batch. It also bounds the time: a socket that is always readable never waits.
    constexpr std::size_t reply_bytes_max = 1024 * 1024;
    if (auto sent = send(commands, end); !sent) return sent;
    std::size_t reply_bytes = 0;
    for (std::size_t next = 0; next < replies.size();) {
        void* raw_reply = nullptr;
        if (redisReaderGetReply(reader_.get(), &raw_reply) != REDIS_OK)
            return failure("not the Redis protocol: " + printable_error(reader_->errstr));
        if (raw_reply == nullptr) {
            const auto received = receive(end);
            if (!received) return received.error();
            reply_bytes += *received;
            if (reply_bytes > reply_bytes_max) return failure("a reply of more than 1 MiB");
            continue;
        }
        const std::unique_ptr<redisReply, void (*)(redisReply*)> received{
            static_cast<redisReply*>(raw_reply), [](redisReply* gone) { freeReplyObject(gone); }};
        reply& last = replies[next++];
        last.error.clear();
        last.numbers.clear();
        if (received->type == REDIS_REPLY_ERROR) {
            last.error.assign(received->str, received->len);
            if (last.error.empty()) last.error = "an error without a message";
        }
        if (received->type == REDIS_REPLY_INTEGER) last.numbers.push_back(received->integer);
        if (received->type == REDIS_REPLY_ARRAY)
            for (std::size_t i = 0; i < received->elements; ++i)
                if (received->element[i]->type == REDIS_REPLY_INTEGER) last.numbers.push_back(received->element[i]->integer);
    }
    return {};
}

TOLLGATE_DECL bool connection::is_sound() noexcept {
    return reader_->pos == reader_->len && tollgate::detail::is_quiet(socket_, tls_.get());
}

TOLLGATE_DECL result<void> connection::send(std::string_view bytes, steady::time_point end) {
    if (tls_ == nullptr) return send_raw(bytes, end);
    ERR_clear_error();
    if (SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) <= 0)
        return failure("TLS: " + tollgate::detail::take_openssl_error());
    return flush_tls(end);
}

TOLLGATE_DECL result<void> connection::send_raw(std::string_view bytes, steady::time_point end) {
    while (!bytes.empty()) {
        const auto sent = tollgate::detail::send_some(socket_, bytes.data(), bytes.size());
        if (sent > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (const int error = tollgate::detail::last_socket_error(); tollgate::detail::would_block(error)) {
            if (auto waited = wait(POLLOUT, end, "receive the request"); !waited) return waited;
        } else if (!tollgate::detail::was_interrupted(error)) {
            return failure("the connection broke: " + tollgate::detail::socket_error_text(error));
        }
    }
    return {};
}

TOLLGATE_DECL result<void> connection::flush_tls(steady::time_point end) {
    BIO* const out = SSL_get_wbio(tls_.get());
    char bytes[4096];
    while (BIO_ctrl_pending(out) > 0) {
        const int size = BIO_read(out, bytes, sizeof bytes);
        if (size <= 0) break;
        if (auto sent = send_raw({bytes, static_cast<std::size_t>(size)}, end); !sent) return sent;
    }
    return {};
}

TOLLGATE_DECL result<std::size_t> connection::receive(steady::time_point end) {
    char bytes[4096];
    for (;;) {
        std::size_t size = 0;
        if (tls_ != nullptr) {
            ERR_clear_error();
            const int count = SSL_read(tls_.get(), bytes, sizeof bytes);
            if (count > 0) {
                size = static_cast<std::size_t>(count);
            } else if (SSL_get_error(tls_.get(), count) != SSL_ERROR_WANT_READ) {
                return failure("TLS: " + tollgate::detail::take_openssl_error());
            }
        }
        if (size == 0) {
            auto received = receive_raw(bytes, sizeof bytes, end);
            if (!received) return std::move(received).error();
            if (tls_ != nullptr) {
                BIO_write(SSL_get_rbio(tls_.get()), bytes, static_cast<int>(*received));
                continue;
            }
            size = *received;
        }
        if (redisReaderFeed(reader_.get(), bytes, size) != REDIS_OK)
            return failure("not the Redis protocol: " + printable_error(reader_->errstr));
        return size;
    }
}

TOLLGATE_DECL result<std::size_t> connection::receive_raw(char* into, std::size_t size, steady::time_point end) {
    for (;;) {
        if (auto waited = wait(POLLIN, end, "reply"); !waited) return std::move(waited).error();
        const auto count = tollgate::detail::receive_some(socket_, into, size);
        if (count > 0) return static_cast<std::size_t>(count);
        if (count == 0) return failure("the server closed the connection");
        const int error = tollgate::detail::last_socket_error();
        if (!tollgate::detail::would_block(error) && !tollgate::detail::was_interrupted(error))
            return failure("the connection broke: " + tollgate::detail::socket_error_text(error));
    }
}

TOLLGATE_DECL result<void> connection::wait(short events, steady::time_point end, const char* doing) {
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(end - steady::now());
        pollfd polled{socket_, events, 0};
        const int ready = tollgate::detail::poll_sockets(&polled, 1, static_cast<int>((std::max)(left, milliseconds{0}).count()));
        if (ready > 0) return {};
        if (ready == 0) return failure(std::string{"did not "} + doing + " in time");
        const int error = tollgate::detail::last_socket_error();
        if (!tollgate::detail::was_interrupted(error)) return failure("cannot wait: " + tollgate::detail::socket_error_text(error));
    }
}

}  // namespace tollgate::redis

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_CONNECTION_IPP
