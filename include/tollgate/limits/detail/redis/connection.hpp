#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_CONNECTION_HPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_CONNECTION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/system/socket_handle.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;
struct ssl_st;
struct ssl_ctx_st;

namespace tollgate::inline v0::redis {

using steady = std::chrono::steady_clock;

/// The reply to one command: the text of an error, or one or more integers. Other types are discarded.
struct reply {
    std::string error{};
    std::vector<std::int64_t> numbers{};
};

/// A server's error text made safe for messages: one line, at most 160 bytes, visible ASCII only.
[[nodiscard]] TOLLGATE_DECL std::string printable_error(std::string_view text);

/// Encodes one command in the Redis protocol (RESP): the number of words, then the words.
class command_writer {
public:
    explicit command_writer(std::string& out, std::size_t texts) : out_{out} { head('*', texts); }
    TOLLGATE_DECL command_writer& word(std::string_view text);
    TOLLGATE_DECL command_writer& number(std::int64_t value);

private:
    TOLLGATE_DECL void head(char kind, std::size_t size);
    std::string& out_;
};

/// TLS settings shared by all connections: TLS 1.2 or later, and the trusted authorities.
class tls_authorities {
public:
    /// Loads the authorities of the system, or of a PEM file. Error (invalid) when the file cannot be read.
    [[nodiscard]] static TOLLGATE_DECL result<tls_authorities> load(const std::string& file);

    tls_authorities(tls_authorities&&) noexcept = default;
    tls_authorities& operator=(tls_authorities&&) noexcept = default;
    ~tls_authorities() = default;

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return native_.get(); }

private:
    struct free_context {
        TOLLGATE_DECL void operator()(ssl_ctx_st* context) const noexcept;
    };
    explicit tls_authorities(ssl_ctx_st* context) noexcept : native_{context} {}
    std::unique_ptr<ssl_ctx_st, free_context> native_;
};

/// One connection to a Redis server over TCP, with TLS if the address asks for it. hiredis parses the replies. The
/// socket, its deadlines and TLS are implemented here: hiredis restarts its timeout with each system call, and some
/// versions in use have no TLS.
///
/// No call exceeds its deadline, the lookup of the host name included.
///
/// Thread rule: one thread at a time. Blocking. Sends no SIGPIPE.
class connection {
public:
    /// Connects, verifies the TLS certificate, and sends AUTH and SELECT. `authorities` is null without TLS.
    [[nodiscard]] static TOLLGATE_DECL result<std::unique_ptr<connection>> open(const server_address& server,
                                                                                const tls_authorities* authorities,
                                                                                steady::time_point end);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    TOLLGATE_DECL ~connection();

    /// Sends `commands` in one write and reads their replies, one for each of `replies`. A refused command is a reply
    /// with an error. Error (unavailable) means that the connection is unusable.
    [[nodiscard]] TOLLGATE_DECL result<void> exchange(std::string_view commands, std::span<reply> replies, steady::time_point end);

    /// Returns true if the connection looks usable without a round trip: it is open and has no unexpected input.
    [[nodiscard]] TOLLGATE_DECL bool is_sound() noexcept;

private:
    struct free_reader {
        TOLLGATE_DECL void operator()(redisReader* reader) const noexcept;
    };
    struct free_tls {
        TOLLGATE_DECL void operator()(ssl_st* tls) const noexcept;
    };

    explicit connection(const server_address& server) : address_{server.to_text()} {}
    TOLLGATE_DECL result<void> connect(const server_address& server, steady::time_point end);
    TOLLGATE_DECL result<void> start_tls(const server_address& server, const tls_authorities& authorities, steady::time_point end);
    TOLLGATE_DECL result<void> sign_in(const server_address& server, steady::time_point end);

    TOLLGATE_DECL result<void> send(std::string_view bytes, steady::time_point end);
    TOLLGATE_DECL result<void> send_raw(std::string_view bytes, steady::time_point end);
    TOLLGATE_DECL result<void> flush_tls(steady::time_point end);
    /// Reads at least one byte into the parser. Returns how many.
    TOLLGATE_DECL result<std::size_t> receive(steady::time_point end);
    TOLLGATE_DECL result<std::size_t> receive_raw(char* into, std::size_t size, steady::time_point end);
    TOLLGATE_DECL result<void> wait(short events, steady::time_point end, const char* doing);
    [[nodiscard]] TOLLGATE_DECL error failure(const std::string& reason) const;

    std::string address_;
    tollgate::detail::native_socket socket_ = tollgate::detail::no_socket;
    std::unique_ptr<redisReader, free_reader> reader_;
    std::unique_ptr<ssl_st, free_tls> tls_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/connection.ipp>
#endif

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_CONNECTION_HPP
