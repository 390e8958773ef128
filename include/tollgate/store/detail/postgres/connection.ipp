#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_CONNECTION_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_CONNECTION_IPP

#include <tollgate/base/detail/system/boot_clock.hpp>
#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/store/detail/postgres/connection.hpp>
#include <tollgate/store/detail/postgres/libpq.hpp>


#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

inline constexpr statement_text read_clock{"SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"};

/// The oldest release that is tested and was maintained when this was written.
inline constexpr std::int64_t server_version_min = 13'00'00;

inline void ignore_notice(void*, const pg_result*) noexcept {}

}  // namespace detail

TOLLGATE_DECL void connection::closer::operator()(pg_conn* open) const noexcept {
    if (!process.is_parent()) return PQfinish(open);
    // PQfinish would end the session of the parent process.
    tollgate::detail::close_handle(PQsocket(open));
}

TOLLGATE_DECL result<connection> connection::open(const server_parameters& server, const connection_settings& settings,
                                                  server_clock& clock, std::atomic<unsigned>* timeouts) {
    connection opened;
    opened.settings_ = settings;
    opened.clock_ = &clock;
    opened.timeouts_ = timeouts;
    if (auto done = opened.connect(server); !done) return std::move(done).error();
    if (auto done = opened.set_up(); !done) return std::move(done).error();
    return opened;
}

TOLLGATE_DECL result<void> connection::connect(const server_parameters& server) {
    std::vector<const char*> keywords, values;
    for (const auto& [keyword, value] : server) {
        keywords.push_back(keyword.c_str());
        values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    const auto end = tollgate::detail::boot_now() + settings_.connect_wait_max;
    handle_.get_deleter().process.take();
    handle_.reset(PQconnectStartParams(keywords.data(), values.data(), 0));
    if (handle_ == nullptr) return unavailable("PostgreSQL: out of memory for a connection");
    PQsetNoticeReceiver(handle_.get(), detail::ignore_notice, nullptr);  // by default notices go to stderr

    auto state = PQstatus(handle_.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED) return connection_failure(handle_.get(), {}).error;
        switch (wait(state == PGRES_POLLING_WRITING, end)) {
            case waited::ready: break;
            case waited::given_up:
            case waited::timed_out:
                return unavailable("PostgreSQL: no connection within " +
                                   std::to_string(settings_.connect_wait_max.count()) + " ms to " +
                                   std::string{PQhost(handle_.get())} + ":" + PQport(handle_.get()));
            case waited::failed: return unavailable("PostgreSQL: cannot wait for the connection's socket");
        }
        state = PQconnectPoll(handle_.get());
    }
    if (PQsetnonblocking(handle_.get(), 1) != 0 || PQenterPipelineMode(handle_.get()) != 1)
        return connection_failure(handle_.get(), {}).error;
    return {};
}

TOLLGATE_DECL result<void> connection::set_up() {
    batch request{milliseconds{0}};
    // READ COMMITTED: a statement that waited for a lock must see what was committed meanwhile. JIT costs more than it
    // saves for statements of a few rows. The last four make the server release the locks of a vanished node within
    // half a minute.
    request.add(
        "SELECT current_setting('server_encoding'), current_setting('server_version_num')::bigint, "
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint, "
        "set_config('statement_timeout', $1, false), "
        "set_config('idle_in_transaction_session_timeout', $2, false), set_config('lock_timeout', $3, false), "
        "set_config('default_transaction_isolation', 'read committed', false), "
        "set_config('jit', 'off', false), "
        "CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END, "
        "set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false), "
        "set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '15000', false)",
        detail::statement_timeout_for(settings_.response_wait_max), std::to_string(settings_.response_wait_max.count()),
        std::to_string(settings_.lock_wait_max.count()));
    const auto before = tollgate::detail::boot_now();
    auto response = run(request);
    const auto after = tollgate::detail::boot_now();
    if (response.failed) return std::move(response.failed->error);
    auto row = response.results[0].only<std::string, std::int64_t, instant>();
    if (!row) return std::move(row).error();
    const auto& [encoding, version, now] = *row;
    if (version < detail::server_version_min)
        return internal_error("PostgreSQL: the server is older than version 13 (" + std::to_string(version) + ")");
    if (encoding != "UTF8")
        return internal_error("PostgreSQL: the database's encoding is " + encoding +
                              ", but must be UTF8: not every "
                              "text could be stored");
    clock_->observe({before, after, now});
    return {};
}

TOLLGATE_DECL connection::waited connection::wait(bool to_write, steady::time_point end, int wake_descriptor) noexcept {
    const int descriptor = PQsocket(handle_.get());
    if (descriptor < 0) return waited::failed;
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(end - tollgate::detail::boot_now()).count();
        if (left <= 0) return waited::timed_out;
        std::array<pollfd, 2> polled{pollfd{descriptor, static_cast<short>(to_write ? POLLIN | POLLOUT : POLLIN), 0},
                                     pollfd{wake_descriptor, POLLIN, 0}};
        // While it connects, libpq reports which of the two to wait for. A socket becomes readable when connecting fails.
        const int ready = tollgate::detail::poll_sockets(polled.data(), wake_descriptor < 0 ? 1 : 2,
                                 static_cast<int>((std::min)(left, decltype(left){60'000})));
        if (ready > 0) return waited::ready;
        if (ready < 0 && !tollgate::detail::was_interrupted(tollgate::detail::last_socket_error())) return waited::failed;
    }
}

TOLLGATE_DECL connection::waited connection::wait_for_response(bool to_write, steady::time_point began_at,
                                                               steady::time_point end, unsigned timeouts_before) noexcept {
    if (timeouts_ == nullptr) return wait(to_write, end);
    constexpr milliseconds poll_interval{25}, hung_after{100};
    for (;;) {
        const auto now = tollgate::detail::boot_now();
        const auto ended = wait(to_write, (std::min)(end, now + poll_interval));
        if (ended != waited::timed_out || tollgate::detail::boot_now() >= end) return ended;
        if (timeouts() != timeouts_before && tollgate::detail::boot_now() - began_at >= hung_after) return waited::given_up;
    }
}

TOLLGATE_DECL run_failure connection::lose(std::string_view doing, waited outcome) {
    if (outcome == waited::timed_out && timeouts_ != nullptr) timeouts_->fetch_add(1, std::memory_order_relaxed);
    run_failure loss = outcome == waited::timed_out || outcome == waited::given_up
                       ? run_failure{unavailable("PostgreSQL: no response within " +
                                             std::to_string(settings_.response_wait_max.count()) +
                                             " ms, here or on another connection"),
                                 failure_kind::lost, true}
                       : connection_failure(handle_.get(), doing);
    handle_.reset();
    return loss;
}

/// What has been received of one batch's results.
struct connection::reception {
    const batch& request;
    const std::vector<command>& commands;
    steady::time_point began_at;
    std::size_t at = 0;         // in commands
    bool has_result = false;    // true if that command has a result
    bool is_committed = false;  // or rolled back; the statement after the transaction may still follow
    run_result result{};

    [[nodiscard]] const command& current() const noexcept { return commands[at]; }
};

TOLLGATE_DECL run_result connection::lose(reception& into, waited outcome) {
    auto lost = lose(into.current().text.text(), outcome);
    // What the server confirmed as committed is committed.
    if (into.is_committed) return std::move(into.result);
    return {{}, std::move(lost)};
}

TOLLGATE_DECL run_result connection::run(const batch& request) {
    if (request.statements().empty()) return {};
    if (handle_ == nullptr) return {{}, run_failure{unavailable("PostgreSQL: the connection is closed"), failure_kind::lost}};
    try {
        return exchange(request);
    } catch (...) {
        handle_.reset();  // a late response would be taken for the next call's
        throw;
    }
}

TOLLGATE_DECL run_result connection::exchange(const batch& request) {
    const unsigned timeouts_before = timeouts();
    const auto began_at = tollgate::detail::boot_now();
    const auto end = began_at + request.response_wait_max().value_or(settings_.response_wait_max);
    std::vector<command> commands;
    commands.reserve(2 * request.statements().size() + 3);
    if (!send(request, commands)) return {{}, lose(request.statements().front().text.text(), waited::failed)};

    reception into{request, commands, began_at};
    into.result.results.reserve(request.transaction_size());
    for (;;) {
        const int unsent = PQflush(handle_.get());
        if (unsent < 0) return lose(into, waited::failed);
        while (PQisBusy(handle_.get()) == 0)
            if (take_result(into)) return std::move(into.result);
        const auto ended = wait_for_response(unsent == 1, began_at, end, timeouts_before);
        if (ended != waited::ready) return lose(into, ended);
        if (PQconsumeInput(handle_.get()) != 1) return lose(into, waited::failed);
    }
}

TOLLGATE_DECL bool connection::send(const batch& request, std::vector<command>& commands) {
    // In a transaction that failed, this query would fail, too, and take the ROLLBACK behind it along.
    if (PQtransactionStatus(handle_.get()) != PQTRANS_INERROR && clock_->wants_observation()) {
        if (PQsendQueryParams(handle_.get(), detail::read_clock.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1) !=
            1)
            return false;
        commands.push_back({command_kind::reads_clock, detail::read_clock});
    }
    const std::size_t count = request.statements().size();
    for (std::size_t i = 0; i < count; ++i) {
        if (!send_statement(request, i, commands)) return false;
        if (i + 1 != request.transaction_size() && i + 1 != count) continue;
        if (PQpipelineSync(handle_.get()) != 1) return false;
        commands.push_back({command_kind::ends_transaction, request.statements()[i].text});
    }
    return true;
}

TOLLGATE_DECL bool connection::send_statement(const batch& request, std::size_t index, std::vector<command>& commands) {
    const auto& statement = request.statements()[index];
    const wire_values wire{request, statement};
    const auto known = std::find_if(prepared_.begin(), prepared_.end(),
                                    [&](const prepared_statement& each) { return each.text == statement.text.text(); });
    const bool is_new = known == prepared_.end();
    const std::string name = "tollgate_" + std::to_string(is_new ? ++last_number_ : known->number);
    if (is_new) {
        prepared_.push_back({statement.text.text(), last_number_});
        if (PQsendPrepare(handle_.get(), name.c_str(), statement.text.c_str(), wire.count(), wire.types.data()) != 1)
            return false;
        commands.push_back({command_kind::prepares, statement.text});
    }
    if (PQsendQueryPrepared(handle_.get(), name.c_str(), wire.count(), wire.values.data(), wire.sizes.data(),
                            wire.formats.data(), 1) != 1)
        return false;
    commands.push_back({command_kind::executes, statement.text});
    return true;
}

TOLLGATE_DECL bool connection::take_result(reception& into) {
    const command now = into.current();
    pg_result* const result = PQgetResult(handle_.get());
    if (result == nullptr) return take_end_of_command(into);
    rows owned{result, into.request.shift(), now.text};
    into.has_result = true;
    switch (PQresultStatus(result)) {
        case PGRES_PIPELINE_SYNC:
            if (into.result.failed) into.result.results.clear();  // return no results of a failed transaction
            into.is_committed = true;
            into.has_result = false;
            return ++into.at == into.commands.size();
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
            if (now.kind == command_kind::executes && !into.is_committed) into.result.results.push_back(std::move(owned));
            else if (now.kind == command_kind::reads_clock)
                if (const auto reported = owned.only<std::int64_t>())
                    clock_->observe({into.began_at, tollgate::detail::boot_now(), from_unix_milliseconds(std::get<0>(*reported))});
            return false;
        case PGRES_PIPELINE_ABORTED:
            if (now.kind == command_kind::prepares) forget_prepared(now.text.text());
            return false;
        default: take_error(into, result); return handle_ == nullptr;
    }
}

/// The end of a command's results.
TOLLGATE_DECL bool connection::take_end_of_command(reception& into) {
    if (PQstatus(handle_.get()) == CONNECTION_BAD || !into.has_result) {
        into.result = lose(into, waited::failed);
        return true;
    }
    into.has_result = false;
    // If the transaction failed, its end is still to come.
    if (into.current().kind != command_kind::ends_transaction) ++into.at;
    return false;
}

TOLLGATE_DECL void connection::take_error(reception& into, const pg_result* result) {
    const command now = into.current();
    auto failed = failure(result, now.text.text());
    if (now.kind == command_kind::prepares || failed.stale == stale_statements::this_one) forget_prepared(now.text.text());
    if (failed.stale == stale_statements::all) prepared_.clear();
    const bool lost = PQstatus(handle_.get()) == CONNECTION_BAD || failed.kind == failure_kind::lost;
    if (lost) handle_.reset();
    if (into.is_committed) return;
    if (lost) {
        failed.kind = failure_kind::lost;
        into.result = {{}, std::move(failed)};
    } else if (!into.result.failed) {
        into.result.failed = std::move(failed);
    }
}

TOLLGATE_DECL void connection::forget_prepared(std::string_view text) {
    std::erase_if(prepared_, [&](const prepared_statement& each) { return each.text == text; });
}

TOLLGATE_DECL result<void> connection::run_script(std::string_view text) {
    const std::string script{text};
    if (handle_ == nullptr) return unavailable("PostgreSQL: the connection is closed");
    const auto end = tollgate::detail::boot_now() + settings_.response_wait_max;
    if (PQexitPipelineMode(handle_.get()) != 1 || PQsendQuery(handle_.get(), script.c_str()) != 1)
        return lose(text, waited::failed).error;
    std::optional<error> first_error;
    for (bool done = false; !done;) {
        const int unsent = PQflush(handle_.get());
        if (unsent < 0) return lose(text, waited::failed).error;
        while (!done && PQisBusy(handle_.get()) == 0) {
            const std::unique_ptr<pg_result, void (*)(pg_result*)> result{PQgetResult(handle_.get()), &PQclear};
            done = result == nullptr;
            const auto status = PQresultStatus(result.get());
            if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT) {  // libpq would return it again and again
                handle_.reset();
                return internal_error("PostgreSQL: COPY from or to the client is not possible: " + tollgate::sql::to_log_line(text));
            }
            if (!done && !first_error && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
                first_error = failure(result.get(), text).error;
        }
        if (done) break;
        const auto ended = wait(unsent == 1, end);
        if (ended != waited::ready) return lose(text, ended).error;
        if (PQconsumeInput(handle_.get()) != 1) return lose(text, waited::failed).error;
    }
    if (PQstatus(handle_.get()) == CONNECTION_BAD || PQenterPipelineMode(handle_.get()) != 1) {
        if (!first_error) first_error = connection_failure(handle_.get(), text).error;
        handle_.reset();
    }
    if (first_error) return *std::move(first_error);
    return {};
}

TOLLGATE_DECL void connection::replace_when_read_only(std::shared_ptr<known_servers> known) noexcept {
    known_ = std::move(known);
    known_->writable_found.fetch_add(1, std::memory_order_relaxed);
}

TOLLGATE_DECL bool connection::is_outdated() noexcept {
    const char* const is_read_only = PQparameterStatus(handle_.get(), "default_transaction_read_only");
    if (is_read_only == nullptr || std::string_view{is_read_only} != "on") {
        found_before_.reset();
        return false;
    }
    const auto found = known_->writable_found.load(std::memory_order_relaxed);
    if (!found_before_) found_before_ = found;
    return *found_before_ != found;
}

TOLLGATE_DECL bool connection::is_sound() noexcept {
    if (handle_ == nullptr || PQstatus(handle_.get()) != CONNECTION_OK) return false;
    if (known_ != nullptr && is_outdated()) return false;
    // Between batches a server only announces its shutdown or configuration changes.
    pollfd polled{PQsocket(handle_.get()), POLLIN, 0};
    return tollgate::detail::poll_sockets(&polled, 1, 0) == 0;
}

TOLLGATE_DECL bool connection::wait_for_notification(milliseconds wait_max, int wake_descriptor) {
    if (handle_ == nullptr) return false;
    const auto ended = wait(false, tollgate::detail::boot_now() + wait_max, wake_descriptor);
    return ended == waited::timed_out || (ended == waited::ready && PQconsumeInput(handle_.get()) == 1);
}

TOLLGATE_DECL std::optional<notification> connection::take_notification() {
    struct freer {
        void operator()(pgNotify* received) const noexcept { PQfreemem(received); }
    };
    const std::unique_ptr<pgNotify, freer> received{handle_ == nullptr ? nullptr : PQnotifies(handle_.get())};
    if (received == nullptr) return std::nullopt;
    return notification{received->relname, received->extra};
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_CONNECTION_IPP
