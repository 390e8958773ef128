#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_CONNECTION_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_CONNECTION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>
#include <tollgate/store/detail/postgres/failure.hpp>
#include <tollgate/store/detail/postgres/server_clock.hpp>
#include <tollgate/store/detail/postgres/server_list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;

namespace tollgate::inline v0::postgres {

struct connection_settings {
    // Each is above zero and at most an hour.
    /// Time limit for connecting to one server, including the lookup of its name, TLS and authentication.
    milliseconds connect_wait_max{3000};
    /// Time limit for the results of one batch. The server cancels a statement after three quarters of it
    /// (statement_timeout), so that it reports the timeout itself; a connection without any response is closed. Together
    /// with the 2 s that a request may wait for a worker, it is the 5 s that most clients wait. The few verbs of two round trips may
    /// take 3 s longer, if the server hangs between these.
    milliseconds response_wait_max{3000};
    /// How long a statement waits for a lock (lock_timeout). Transactions take milliseconds, so a lock that is held for
    /// longer belongs to an operator who alters or locks a table.
    milliseconds lock_wait_max{1000};
};

/// A notification (NOTIFY).
struct notification {
    std::string channel;
    std::string payload;
};

/// The outcome of a batch: its results, or the run_failure.
struct run_result {
    postgres::results results{};
    std::optional<run_failure> failed{};
};

/// A connection to a server. No call waits longer than its settings allow, even if the peer hangs: the socket is
/// non-blocking, and every wait is a poll with a time limit.
///
/// Each statement is prepared on first use, in the same round trip. Sessions are READ COMMITTED and wait for the disk
/// at each commit, even if the server's default is synchronous_commit=off.
///
/// Thread rule: one thread at a time. Blocking.
class connection {
public:
    using steady = std::chrono::steady_clock;

    /// `timeouts` counts those of all connections of a pool, and outlives them. After another connection has timed out, a batch
    /// that has waited for more than 100 ms is given up, too. Null: each connection waits for its own timeout.
    static TOLLGATE_DECL result<connection> open(const server_parameters& server, const connection_settings& settings,
                                                 server_clock& clock, std::atomic<unsigned>* timeouts = nullptr);

    /// Sends a batch and waits until the server confirms the commit. After `failure_kind::lost` the connection is closed.
    [[nodiscard]] TOLLGATE_DECL run_result run(const batch& request);

    /// Runs several statements separated by semicolons, without parameters, in their own transaction: for schemas. A COPY from or to the
    /// client is an error, after which the connection is closed.
    [[nodiscard]] TOLLGATE_DECL result<void> run_script(std::string_view text);

    /// Returns true if the connection looks usable without a round trip: the peer has not closed it.
    [[nodiscard]] TOLLGATE_DECL bool is_sound() noexcept;
    /// From now on, it is also unsound once its server has become read-only and a connection to one that accepts writes was opened:
    /// what this server returns may be outdated. Until then, it is used for reads. PostgreSQL 14 and newer report the change, with the
    /// response to the next statement. Counts this connection as one to a server that accepts writes.
    TOLLGATE_DECL void replace_when_read_only(std::shared_ptr<known_servers> known) noexcept;
    /// Sets the time limit for results from now on, to any time; the server's limit stays.
    void set_response_wait_max(milliseconds wait_max) noexcept {
        settings_.response_wait_max = tollgate::detail::bounded_wait(wait_max);
    }

    /// Waits for input from the server: a notification or a close. False if the connection is unusable.
    [[nodiscard]] TOLLGATE_DECL bool wait_for_notification(milliseconds wait_max, int wake_descriptor);
    /// The next notification received, also those that came with results; empty if there are no more.
    [[nodiscard]] TOLLGATE_DECL std::optional<notification> take_notification();

private:
    struct closer {
        TOLLGATE_DECL void operator()(pg_conn* open) const noexcept;
        tollgate::detail::owning_process process;
    };
    enum class command_kind { reads_clock, prepares, executes, ends_transaction };
    struct command {
        command_kind kind;
        statement_text text;
    };
    struct prepared_statement {
        std::string_view text;
        std::size_t number;
    };
    enum class waited { ready, timed_out, given_up, failed };  // given_up: because another connection timed out
    struct reception;

    connection() = default;
    TOLLGATE_DECL result<void> connect(const server_parameters& server);
    TOLLGATE_DECL result<void> set_up();
    /// Returns true if the server has become read-only, and another one was found since.
    TOLLGATE_DECL bool is_outdated() noexcept;
    /// May throw std::bad_alloc at any point.
    TOLLGATE_DECL run_result exchange(const batch& request);
    TOLLGATE_DECL bool send(const batch& request, std::vector<command>& commands);
    TOLLGATE_DECL bool send_statement(const batch& request, std::size_t index, std::vector<command>& commands);
    /// Reads one result; true if it was the last one.
    TOLLGATE_DECL bool take_result(reception& into);
    TOLLGATE_DECL bool take_end_of_command(reception& into);
    TOLLGATE_DECL void take_error(reception& into, const pg_result* result);
    TOLLGATE_DECL void forget_prepared(std::string_view text);
    TOLLGATE_DECL waited wait(bool to_write, steady::time_point end, int wake_descriptor = -1) noexcept;
    /// For the results of a batch that was sent at `began_at`: also ends when another connection has timed out since.
    TOLLGATE_DECL waited wait_for_response(bool to_write, steady::time_point began_at, steady::time_point end,
                                           unsigned timeouts_before) noexcept;
    [[nodiscard]] unsigned timeouts() const noexcept {
        return timeouts_ == nullptr ? 0 : timeouts_->load(std::memory_order_relaxed);
    }
    TOLLGATE_DECL run_failure lose(std::string_view doing, waited outcome);
    TOLLGATE_DECL run_result lose(reception& into, waited outcome);

    std::unique_ptr<pg_conn, closer> handle_;
    connection_settings settings_;
    server_clock* clock_ = nullptr;
    std::atomic<unsigned>* timeouts_ = nullptr;
    std::vector<prepared_statement> prepared_;  // as many statements as the program has literals
    std::size_t last_number_ = 0;
    std::shared_ptr<known_servers> known_;  // null: it is not replaced when its server becomes read-only
    std::optional<std::uint64_t> found_before_;  // `writable_found` when it was seen that the server is read-only
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/connection.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_CONNECTION_HPP
