#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tollgate::inline v0::redis {

struct pool_settings {
    /// Connections of one process. One carries some ten thousand questions a second.
    std::size_t connections_max = 8;
    /// How long connecting may take, TLS and password included.
    milliseconds connect_wait_max{200};
    /// How long a question may wait for a connection and then for its answer.
    milliseconds answer_wait_max{100};
    /// Told once when the server goes out of reach, and once when it is back. Must be quick, and ask no limiter.
    std::function<void(bool up, std::string_view why)> on_state{};
};

enum class ending : std::uint8_t {
    answered,
    key_is_taken,  ///< the key holds something that is not ours (WRONGTYPE)
    not_reached,   ///< the server is out of reach, or was too slow
};

/// The connections of one process to a server, opened as they are needed, and the knowledge whether it can be reached.
///
/// Once it cannot (no connection, no answer in time, or an answer such as READONLY, LOADING, OOM or NOAUTH), callers are
/// told so at once, with no lock and no wait. One of them at a time tries again, with its own question: after a tenth of
/// a second at first, after two at last.
///
/// Thread rule: any thread. Blocking. Nothing is thrown.
class pool {
public:
    TOLLGATE_DECL pool(server_address server, std::unique_ptr<tls_authorities> authorities, window_script script,
                       const pool_settings& settings);
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    TOLLGATE_DECL ~pool();

    /// One round trip. `before` goes with it, unless null: what it is answered with is of no interest.
    [[nodiscard]] TOLLGATE_DECL ending ask(const window_question* before, const window_question& asked,
                                           window_answer& answered) noexcept;

    /// Whether the last that was heard of the server was good. True at the start.
    [[nodiscard]] TOLLGATE_DECL bool is_up() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/pool.ipp>
#endif
