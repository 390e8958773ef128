#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_OWN_TRANSACTION_IPP
#define TOLLGATE_STORE_POSTGRES_OWN_TRANSACTION_IPP

#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/postgres/append_event.hpp>
#include <tollgate/store/detail/postgres/failure.hpp>
#include <tollgate/store/detail/postgres/libpq.hpp>
#include <tollgate/store/postgres_own_transaction.hpp>

#include <optional>
#include <string_view>
#include <utility>


namespace tollgate::inline v0 {

namespace postgres {

namespace detail {

inline bool send_within(pg_conn* connection, const batch& sent) {
    const auto send_plain = [connection](const char* text) {
        return PQsendQueryParams(connection, text, 0, nullptr, nullptr, nullptr, nullptr, 1) == 1;
    };
    if (!send_plain("SAVEPOINT tollgate")) return false;
    for (const auto& statement : sent.statements()) {
        const wire_values wire{sent, statement};
        if (PQsendQueryParams(connection, statement.text.c_str(), wire.count(), wire.types.data(), wire.values.data(),
                              wire.sizes.data(), wire.formats.data(), 1) != 1)
            return false;
    }
    return send_plain("RELEASE SAVEPOINT tollgate") && PQpipelineSync(connection) == 1;
}

inline result<results> receive_within(pg_conn* connection, const batch& sent) {
    results received;
    received.reserve(sent.statements().size());
    std::optional<error> first_error;
    bool was_end = false;
    for (std::size_t at = 0;;) {  // starts with the savepoint
        pg_result* const result = PQgetResult(connection);
        if (result == nullptr) {  // the end of a command's results, or of the connection
            if (was_end || PQstatus(connection) == CONNECTION_BAD)
                return first_error ? *std::move(first_error) : connection_failure(connection, {}).error;
            was_end = true;
            ++at;
            continue;
        }
        was_end = false;
        const statement_text doing = sent.statements()[at == 0 || at > sent.statements().size() ? 0 : at - 1].text;
        rows owned{result, sent.shift(), doing};
        switch (PQresultStatus(result)) {
            case PGRES_PIPELINE_SYNC:
                if (first_error) return *std::move(first_error);
                return received;
            case PGRES_COMMAND_OK:
            case PGRES_TUPLES_OK:
                if (at != 0 && at <= sent.statements().size()) received.push_back(std::move(owned));
                break;
            case PGRES_PIPELINE_ABORTED: break;
            default:
                if (!first_error) first_error = failure(result, doing.text()).error;
        }
    }
}

/// Ends the pipeline on the caller's connection, also after an exception, whatever part of it was sent and received. Undoes what it did
/// unless it succeeded; if that fails, the transaction can only be rolled back as a whole.
struct pipeline_end {
    pg_conn* connection;
    bool succeeded = false;

    ~pipeline_end() {
        if (PQexitPipelineMode(connection) != 1) {
            // Without a synchronisation the server does not respond; the connection is lost then.
            if (PQpipelineSync(connection) != 1) ::shutdown(PQsocket(connection), tollgate::detail::both_directions);
            while (PQstatus(connection) != CONNECTION_BAD && PQexitPipelineMode(connection) != 1) PQclear(PQgetResult(connection));
        }
        if (!succeeded) PQclear(PQexec(connection, "ROLLBACK TO SAVEPOINT tollgate; RELEASE SAVEPOINT tollgate"));
    }
};

}  // namespace detail

/// Runs a batch within the transaction that is open on the caller's connection: one round trip, after a savepoint. An
/// error undoes only what the batch has done, in a second round trip. Blocks as long as that connection does.
inline result<results> run_within(pg_conn* transaction, const batch& sent) {
    if (transaction == nullptr || PQtransactionStatus(transaction) != PQTRANS_INTRANS)
        return invalid("No transaction is open on this connection, or it has failed.");
    const char* const encoding = PQparameterStatus(transaction, "client_encoding");
    if (encoding == nullptr || std::string_view{encoding} != "UTF8")
        return invalid("The client_encoding of this connection is not UTF8.");
    if (PQenterPipelineMode(transaction) != 1) return invalid("This connection is busy with another command.");
    detail::pipeline_end pipeline{transaction};
    auto received = detail::send_within(transaction, sent) ? detail::receive_within(transaction, sent)
                                                            : result<results>{connection_failure(transaction, {}).error};
    pipeline.succeeded = received.has_value();
    return received;
}

}  // namespace postgres

TOLLGATE_DECL result<std::size_t> postgres_own_transaction::append_event(const event& reported, const message_seed& seed,
                                                                         instant now) noexcept {
    return detail::without_exceptions([&]() -> result<std::size_t> {
        postgres::batch batch{clock_.shift()};
        postgres::append_event(batch, reported, seed, now);
        batch.add(postgres::notify_other_nodes);  // sent when the transaction commits
        auto results = postgres::run_within(connection_, batch);
        if (!results) return std::move(results).error();
        return postgres::read_count(results->front());
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_POSTGRES_OWN_TRANSACTION_IPP
