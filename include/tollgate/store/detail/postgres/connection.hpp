#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>
#include <tollgate/store/detail/postgres/failure.hpp>
#include <tollgate/store/detail/postgres/server_clock.hpp>
#include <tollgate/store/detail/postgres/server_list.hpp>

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
    /// How long connecting to one server may take, TLS and password included.
    milliseconds connect_wait_max{3000};
    /// How long the answers to one batch may take. The server gives up a statement after three quarters of it, so that
    /// it says so itself; a connection that says nothing is given up.
    milliseconds answer_wait_max{4000};
};

/// What somebody told (NOTIFY) those who listen.
struct notice {
    std::string channel;
    std::string payload;
};

/// What came of a batch: its answers, or the run_failure.
struct run_result {
    answers given{};
    std::optional<run_failure> failed{};
};

/// One connection to a server. It never waits longer than its settings say, also when the other side hangs: the socket
/// does not block, and every wait is a poll with an end (all but the look-up of a host's name, which is the system's;
/// an address in the connection string needs none).
///
/// Each statement is prepared when it is used for the first time, in the same round trip. Sessions are READ COMMITTED,
/// and wait for the disk at each commit even where the server's default is not to (synchronous_commit=off).
///
/// Thread rule: one thread at a time. Blocking.
class connection {
public:
    using steady = std::chrono::steady_clock;

    static TOLLGATE_DECL result<connection> open(const server_parameters& server, const connection_settings& settings,
                                                  server_clock& clock);

    /// Sends a batch and waits until the server says that it is committed. After `aftermath::lost` the connection is
    /// closed.
    [[nodiscard]] TOLLGATE_DECL run_result run(const batch& asked);

    /// Several statements, separated by semicolons, without parameters and in a transaction of their own: for schemas.
    [[nodiscard]] TOLLGATE_DECL result<void> run_script(std::string_view text);

    /// Whether it can be used as far as can be seen without asking the server: it was not closed from the other side.
    [[nodiscard]] TOLLGATE_DECL bool is_sound() noexcept;
    /// For how long answers are waited for from now on; the server is not told.
    void set_answer_wait_max(milliseconds wait_max) noexcept { settings_.answer_wait_max = wait_max; }

    /// Waits for something to come from the server: a notification, or its end. False when it is of no use any more.
    [[nodiscard]] TOLLGATE_DECL bool wait_for_notice(milliseconds wait_max, int wake_descriptor);
    /// The next of the notices that have come, with batches' answers, too; none when all were taken.
    [[nodiscard]] TOLLGATE_DECL std::optional<notice> take_notice();

private:
    struct closer {
        TOLLGATE_DECL void operator()(pg_conn* open) const noexcept;
    };
    enum class command_kind { asks_the_time, prepares, executes, ends_transaction };
    struct command {
        command_kind kind;
        statement_text text;
    };
    struct prepared_statement {
        std::string_view text;
        std::size_t number;
    };
    enum class waited { ready, timed_out, failed };
    struct reception;

    connection() = default;
    TOLLGATE_DECL result<void> connect(const server_parameters& server);
    TOLLGATE_DECL result<void> set_up();
    /// Throws what the heap throws, perhaps in the middle of it.
    TOLLGATE_DECL run_result converse(const batch& asked);
    TOLLGATE_DECL bool send(const batch& asked, std::vector<command>& commands);
    TOLLGATE_DECL bool send_statement(const batch& asked, std::size_t index, std::vector<command>& commands);
    /// One result; true when it was the last that there will be.
    TOLLGATE_DECL bool take_result(reception& into);
    TOLLGATE_DECL bool take_end_of_command(reception& into);
    TOLLGATE_DECL void take_error(reception& into, const pg_result* result);
    TOLLGATE_DECL void forget_prepared(std::string_view text);
    TOLLGATE_DECL waited wait(bool to_write, steady::time_point end, int wake_descriptor = -1) noexcept;
    TOLLGATE_DECL run_failure lose(std::string_view doing, waited why);
    TOLLGATE_DECL run_result lose(reception& into, waited why);

    std::unique_ptr<pg_conn, closer> handle_;
    connection_settings settings_;
    server_clock* clock_ = nullptr;
    std::vector<prepared_statement> prepared_;  // as many as the program has literals
    std::size_t last_number_ = 0;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/connection.ipp>
#endif
