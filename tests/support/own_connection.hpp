#pragma once

#include <tollgate/store/detail/postgres/libpq.hpp>

#include <support/postgres_server.hpp>

#include <string>

namespace tollgate_test {

/// An integrator's own connection to PostgreSQL.
class own_connection {
public:
    explicit own_connection(const std::string& to) : handle_{PQconnectdb(to.c_str())} {}
    own_connection(const own_connection&) = delete;
    own_connection& operator=(const own_connection&) = delete;
    ~own_connection() { PQfinish(handle_); }

    bool run(const std::string& script) {
        PGresult* const result = PQexec(handle_, script.c_str());
        const auto status = PQresultStatus(result);
        PQclear(result);
        return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    }
    PGconn* handle() noexcept { return handle_; }
    /// Whether another connection waits for a lock of this one.
    bool blocks_another(const std::string& schema) const {
        return postgres_server::run(schema, "SELECT count(*) FROM pg_stat_activity WHERE " + std::to_string(PQbackendPID(handle_)) +
                                                " = ANY (pg_blocking_pids(pid))").at(0) != "0";
    }

private:
    PGconn* handle_;
};

}  // namespace tollgate_test
