#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/server/detail/page_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct ssl_st;

namespace tollgate::inline v0::server_detail {

class tls_context;

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
    wants_bytes,  ///< of ciphertext from the client
    closed,       ///< the client has sent close_notify
    failed,       ///< the client violated TLS; the alert is in the output
    plain_http,   ///< the client sent HTTP without TLS
};

/// The TLS side of one connection: OpenSSL over bytes in memory, never over a socket. Used by one thread at a time.
class tls_stream {
public:
    /// Throws `std::bad_alloc`.
    TOLLGATE_DECL explicit tls_stream(std::shared_ptr<const tls_context> context);
    tls_stream(const tls_stream&) = delete;
    tls_stream& operator=(const tls_stream&) = delete;
    TOLLGATE_DECL ~tls_stream();

    [[nodiscard]] bool handshake_done() const noexcept { return handshake_done_; }
    TOLLGATE_DECL tls_step handshake(tls_wire& wire);

    struct reading {
        tls_step step = tls_step::wants_bytes;
        std::size_t bytes = 0;
    };
    /// Decrypts into `into` as much as fits. `done` means that it is full or that a record ended.
    TOLLGATE_DECL reading read(tls_wire& wire, std::span<char> into);
    /// Whether `read` can return more without input from the socket.
    [[nodiscard]] TOLLGATE_DECL bool has_input(const tls_wire& wire) const noexcept;

    /// Whether the client has sent close_notify: it may still wait for responses but sends nothing more.
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    /// Encrypts all of `plain` into the wire's output. False if the connection is broken.
    TOLLGATE_DECL bool write(tls_wire& wire, std::string_view plain);
    /// Frees OpenSSL's record buffers (33 KiB), which the next record allocates again; nothing while a part of a record is in them.
    TOLLGATE_DECL void release_buffers() noexcept;

    /// Appends a close_notify.
    TOLLGATE_DECL void close_notify(tls_wire& wire) noexcept;

private:
    TOLLGATE_DECL tls_step failure(int returned) noexcept;

    std::shared_ptr<const tls_context> context_;
    ssl_st* ssl_ = nullptr;
    bool handshake_done_ = false;
    bool ended_ = false;
    bool broken_ = false;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/tls_stream.ipp>
#endif
