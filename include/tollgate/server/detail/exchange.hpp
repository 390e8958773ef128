#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/server/detail/page_block.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::server_detail {

/// What an answer needs besides the request.
struct answering {
    http::handler_ref handler;
    std::string_view date;               ///< IMF-fixdate of now
    const std::atomic<bool>& last_ones;  ///< true: the server is stopping, every response says `Connection: close`
};

/// One connection's conversation while it is not idle: bytes in, bytes out, and the handler between. No socket, no clock.
///
/// Used by one thread at a time.
class exchange {
public:
    /// What the conversation stands at.
    enum class turn : std::uint8_t {
        idle,     ///< nothing of a message is here
        in_head,  ///< a part of a message's head
        in_body,  ///< a head, and a part of its body
        request,  ///< a request is ready for `answer`
        held,     ///< there is more to answer, once the output has been taken
        over,     ///< no further request is read: send the output, then close
    };

    /// Whether the calling thread may wait for a handler.
    enum class waiting : std::uint8_t { allowed, forbidden };

    explicit exchange(const http::parser_settings& settings) : settings_{settings}, parser_{settings} {}

    /// Ready for a connection's next message.
    TOLLGATE_DECL void begin(const ip_address& peer, bool secure) noexcept;

    /// Where the next bytes go; never empty. Throws `std::bad_alloc`.
    [[nodiscard]] TOLLGATE_DECL std::span<char> room();
    void received(std::size_t bytes) noexcept { end_ += bytes; }

    /// Looks at what came, up to the next request. Malformed bytes are answered here and end the conversation.
    TOLLGATE_DECL turn look(const answering& with);

    /// Hands the request to the handler and writes its answer. Precondition: `look` returned `request`.
    TOLLGATE_DECL void answer(const answering& with);

    /// Both, as long as there are requests and room for their answers. On a thread that must not wait it stops with
    /// `request` before one whose answer may block.
    TOLLGATE_DECL turn serve(const answering& with, waiting allowed);

    /// Answers with a refusal of the host's own and ends the conversation.
    TOLLGATE_DECL void refuse(http::status status, std::string_view reason, const answering& with);

    /// What is to be sent, and how much of it has been.
    [[nodiscard]] std::string_view output() const noexcept { return std::string_view{output_}.substr(sent_); }
    TOLLGATE_DECL void sent(std::size_t bytes) noexcept;

    [[nodiscard]] bool over() const noexcept { return over_; }
    /// Whether the other side may still be sending: closing at once would then destroy the answer on its way.
    [[nodiscard]] bool lingers() const noexcept { return lingers_ || begin_ != end_; }
    /// Nothing of a message, nothing to send: may go back to its pool.
    [[nodiscard]] bool blank() const noexcept { return begin_ == end_ && output_.empty(); }
    /// Counts the messages that were answered: tells one message's deadline from the next one's.
    [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }

    /// Lets go of what one large message needed; before the exchange goes back to its pool.
    TOLLGATE_DECL void shrink() noexcept;

private:
    static constexpr std::size_t input_bytes_initial = 8 * 1024;  // several usual requests, so that pipelined ones come as one
    static constexpr std::size_t input_bytes_kept_max = 16 * 1024;
    static constexpr std::size_t room_bytes_min = 1024;           // less is not worth a system call
    static constexpr std::size_t input_slack_bytes = 32 * 1024;   // the longest message and one more reading fit together
    static constexpr std::size_t output_bytes_max = 64 * 1024;    // then nothing more is answered until the client reads
    static constexpr std::size_t output_bytes_kept_max = 64 * 1024;

    http::parser_settings settings_;
    http::request_parser parser_;
    std::size_t begin_ = 0;  // of the message that is being read, in input_
    std::size_t end_ = 0;    // of what was received
    page_block input_;
    std::string output_;
    std::size_t sent_ = 0;
    std::uint64_t answered_ = 0;
    bool in_body_ = false;
    bool over_ = false;
    bool lingers_ = false;
    http::response response_;
    http::request request_;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/exchange.ipp>
#endif
