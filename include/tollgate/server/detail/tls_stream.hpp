#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_TLS_STREAM_HPP
#define TOLLGATE_SERVER_DETAIL_TLS_STREAM_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/base/detail/system/page_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// What a connection needs of TLS. `tollgate/server/tls.hpp` implements it, for programs that use TLS.
namespace tollgate::inline v0::server_detail {

using tollgate::detail::page_buffer;

inline constexpr std::size_t tls_record_bytes_max = 16 * 1024;  // RFC 8446 section 5.1

/// Ciphertext between a socket and a `tls_stream`. Needed only while there is some.
struct tls_wire {
    static constexpr std::size_t input_bytes = tls_record_bytes_max + 4 * 1024;  // one record with its overhead

    /// Space for ciphertext from the socket. Precondition: all earlier input has been read.
    [[nodiscard]] std::span<char> input_space() {
        if (input.data() == nullptr) input = page_buffer{input_bytes};
        begin = end = 0;
        return {input.data(), input.size()};
    }
    [[nodiscard]] bool empty() const noexcept { return begin == end && output.empty(); }

    page_buffer input;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string output;
    std::size_t sent = 0;
};

enum class tls_step : std::uint8_t {
    done,
    wants_bytes,  ///< needs ciphertext from the client
    closed,       ///< the client has sent close_notify
    failed,       ///< the client violated TLS; the alert is in the output
    plain_http,   ///< the client sent HTTP without TLS
};

/// The TLS side of one connection, over bytes in memory, never over a socket. Used by one thread at a time.
class tls_stream {
public:
    tls_stream() = default;
    tls_stream(const tls_stream&) = delete;
    tls_stream& operator=(const tls_stream&) = delete;
    virtual ~tls_stream() = default;

    [[nodiscard]] bool handshake_done() const noexcept { return handshake_done_; }
    virtual tls_step handshake(tls_wire& wire) = 0;

    struct reading {
        tls_step step = tls_step::wants_bytes;
        std::size_t bytes = 0;
    };
    /// Decrypts into `into` as much as fits. `done` means that it is full or that a record ended.
    virtual reading read(tls_wire& wire, std::span<char> into) = 0;
    /// Returns true if `read` can return more without input from the socket.
    [[nodiscard]] virtual bool has_input(const tls_wire& wire) const noexcept = 0;

    /// Returns true if the client has sent close_notify: it may still wait for responses but sends nothing more.
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    /// Encrypts all of `plain` into the wire's output. False if the connection is broken.
    virtual bool write(tls_wire& wire, std::string_view plain) = 0;
    /// Frees the record buffers (33 KiB), which the next record allocates again; nothing while a part of a record is in them.
    virtual void release_buffers() noexcept = 0;

    /// Appends a close_notify.
    virtual void close_notify(tls_wire& wire) noexcept = 0;

protected:
    bool handshake_done_ = false;
    bool ended_ = false;
};

/// Shared by all TLS connections of one certificate. Thread-safe. Streams do not need it after they are made, so a reload affects only
/// new connections.
class tls_context {
public:
    tls_context() = default;
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;
    virtual ~tls_context() = default;

    /// Returns a stream for a new connection. Throws `std::bad_alloc`.
    [[nodiscard]] virtual std::unique_ptr<tls_stream> new_stream() const = 0;

    /// A context with the files as they are now, which resumes the sessions of this one. If the ticket keys cannot be read, those of
    /// this context remain in use, and `warning` says so.
    [[nodiscard]] virtual result<std::shared_ptr<const tls_context>> reload(std::string& warning) const = 0;
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_TLS_STREAM_HPP
