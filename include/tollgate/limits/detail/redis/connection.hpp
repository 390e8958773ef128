#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct redisReader;
struct ssl_st;
struct ssl_ctx_st;

namespace tollgate::inline v0::redis {

using steady = std::chrono::steady_clock;

/// What one command was answered with: an error's text, or its whole numbers, one or several; nothing else is kept.
struct reply {
    std::string error{};
    std::array<std::int64_t, 4> numbers{};
    std::size_t count = 0;
};

/// A server's error as people may see it: one line, not too long, with nothing but what is visible.
[[nodiscard]] TOLLGATE_DECL std::string shown_error(std::string_view text);

/// One command as the server reads it: the words, and how many they are.
class command_writer {
public:
    explicit command_writer(std::string& out, std::size_t texts) : out_{out} { head('*', texts); }
    TOLLGATE_DECL command_writer& word(std::string_view text);
    TOLLGATE_DECL command_writer& number(std::int64_t value);

private:
    TOLLGATE_DECL void head(char kind, std::size_t size);
    std::string& out_;
};

/// What connections with TLS have in common: TLS 1.2 or later, and which authorities they believe.
class tls_authorities {
public:
    /// The system's, or those of a PEM file. Problem (invalid) when that cannot be read.
    [[nodiscard]] static TOLLGATE_DECL result<tls_authorities> load(const std::string& file);

    tls_authorities(tls_authorities&&) noexcept = default;
    tls_authorities& operator=(tls_authorities&&) noexcept = default;
    ~tls_authorities() = default;

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return native_.get(); }

private:
    struct free_context {
        TOLLGATE_DECL void operator()(ssl_ctx_st* context) const noexcept;
    };
    explicit tls_authorities(ssl_ctx_st* made) noexcept : native_{made} {}
    std::unique_ptr<ssl_ctx_st, free_context> native_;
};

/// One connection to a server, over TCP, with TLS if the address says so. hiredis reads the answers; the socket, its
/// deadlines and TLS are ours: hiredis counts a time-out anew with each call to the system, and of the versions that
/// are in use some know no TLS.
///
/// It never waits beyond a deadline, also where the other side hangs (but for the look-up of a host's name, which is
/// the system's; an address needs none).
///
/// Thread rule: one thread at a time. Blocking. Sends no SIGPIPE.
class connection {
public:
    /// Connected, TLS's names checked, AUTH and SELECT done. `authorities` is null without TLS.
    [[nodiscard]] static TOLLGATE_DECL result<std::unique_ptr<connection>> open(const server_address& server,
                                                                                const tls_authorities* authorities,
                                                                                steady::time_point end);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    TOLLGATE_DECL ~connection();

    /// Sends `commands` at once and waits for the answer of the last of `count`; the others' are read and dropped. An
    /// answer that says no is a reply with an error; a problem (unavailable) means that the connection is of no use.
    [[nodiscard]] TOLLGATE_DECL result<void> exchange(std::string_view commands, std::size_t count, reply& last,
                                                       steady::time_point end);

    /// Whether it can be used as far as can be seen without asking the server: nothing has come unasked, no end either.
    [[nodiscard]] TOLLGATE_DECL bool is_sound() noexcept;

private:
    struct free_reader {
        TOLLGATE_DECL void operator()(redisReader* reader) const noexcept;
    };
    struct free_tls {
        TOLLGATE_DECL void operator()(ssl_st* tls) const noexcept;
    };

    explicit connection(const server_address& server) : where_{server.to_text()} {}
    TOLLGATE_DECL result<void> connect(const server_address& server, steady::time_point end);
    TOLLGATE_DECL result<void> shake_hands(const server_address& server, const tls_authorities& authorities,
                                            steady::time_point end);
    TOLLGATE_DECL result<void> sign_in(const server_address& server, steady::time_point end);

    TOLLGATE_DECL result<void> send(std::string_view bytes, steady::time_point end);
    TOLLGATE_DECL result<void> send_raw(std::string_view bytes, steady::time_point end);
    TOLLGATE_DECL result<void> flush_tls(steady::time_point end);
    /// At least one byte, given to the reader.
    TOLLGATE_DECL result<void> receive(steady::time_point end);
    TOLLGATE_DECL result<std::size_t> receive_raw(char* into, std::size_t size, steady::time_point end);
    TOLLGATE_DECL result<void> wait(short events, steady::time_point end, const char* doing);
    [[nodiscard]] TOLLGATE_DECL error failure(const std::string& what) const;

    std::string where_;
    int socket_ = -1;
    std::unique_ptr<redisReader, free_reader> reader_;
    std::unique_ptr<ssl_st, free_tls> tls_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/connection.ipp>
#endif
