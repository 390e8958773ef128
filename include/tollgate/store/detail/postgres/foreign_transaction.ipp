#pragma once

#include <tollgate/store/detail/postgres/failure.hpp>
#include <tollgate/store/detail/postgres/foreign_transaction.hpp>
#include <tollgate/store/detail/postgres/libpq.hpp>
#include <tollgate/store/detail/postgres/wire_values.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

inline bool send_within(pg_conn* connection, const batch& asked) {
    const auto send_plain = [connection](const char* text) {
        return PQsendQueryParams(connection, text, 0, nullptr, nullptr, nullptr, nullptr, 1) == 1;
    };
    if (!send_plain("SAVEPOINT tollgate")) return false;
    for (const auto& statement : asked.statements()) {
        const wire_values with{asked, statement};
        if (PQsendQueryParams(connection, statement.text.c_str(), with.count(), with.types.data(), with.values.data(),
                              with.sizes.data(), with.formats.data(), 1) != 1)
            return false;
    }
    return send_plain("RELEASE SAVEPOINT tollgate") && PQpipelineSync(connection) == 1;
}

inline result<answers> receive_within(pg_conn* connection, const batch& asked) {
    answers given;
    given.reserve(asked.statements().size());
    std::optional<error> why;
    bool was_end = false;
    for (std::size_t at = 0;;) {  // the savepoint is the first
        pg_result* const result = PQgetResult(connection);
        if (result == nullptr) {  // the end of a command's results; where nothing is left, of the connection
            if (was_end || PQstatus(connection) == CONNECTION_BAD)
                return why ? *std::move(why) : connection_failure(connection, {}).why;
            was_end = true;
            ++at;
            continue;
        }
        was_end = false;
        const sql doing = asked.statements()[at == 0 || at > asked.statements().size() ? 0 : at - 1].text;
        rows owned{result, asked.shift(), doing};
        switch (PQresultStatus(result)) {
            case PGRES_PIPELINE_SYNC:
                if (why) return *std::move(why);
                return given;
            case PGRES_COMMAND_OK:
            case PGRES_TUPLES_OK:
                if (at != 0 && at <= asked.statements().size()) given.push_back(std::move(owned));
                break;
            case PGRES_PIPELINE_ABORTED: break;
            default:
                if (!why) why = failure(result, doing.text()).why;
        }
    }
}

}  // namespace detail

TOLLGATE_DECL result<answers> run_within(pg_conn* transaction, const batch& asked) {
    if (transaction == nullptr || PQtransactionStatus(transaction) != PQTRANS_INTRANS)
        return invalid("No transaction is open on this connection, or none that can go on.");
    const char* const encoding = PQparameterStatus(transaction, "client_encoding");
    if (encoding == nullptr || std::string_view{encoding} != "UTF8")
        return invalid("The client_encoding of this connection is not UTF8.");
    if (PQenterPipelineMode(transaction) != 1) return invalid("This connection is busy with something else.");
    auto answered = detail::send_within(transaction, asked) ? detail::receive_within(transaction, asked)
                                                            : result<answers>{connection_failure(transaction, {}).why};
    PQexitPipelineMode(transaction);
    // Where this fails the transaction has failed, and can only be rolled back as a whole.
    if (!answered) PQclear(PQexec(transaction, "ROLLBACK TO SAVEPOINT tollgate; RELEASE SAVEPOINT tollgate"));
    return answered;
}

}  // namespace tollgate::postgres
