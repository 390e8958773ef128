#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_BATCH_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_BATCH_IPP

#include <tollgate/store/detail/postgres/batch.hpp>
#include <tollgate/store/detail/postgres/libpq.hpp>

#include <charconv>
#include <cstring>

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL void batch::begin(statement_text text, std::size_t value_count) {
    values_.reserve(values_.size() + value_count);
    statements_.push_back({text, values_.size(), value_count});
}

TOLLGATE_DECL void batch::set_response_wait_max(milliseconds response_wait_max) {
    response_wait_max_ = response_wait_max;
    add("SELECT set_config('statement_timeout', $1, true)", detail::statement_timeout_for(response_wait_max));
}

TOLLGATE_DECL void batch::keep(wire_type type, std::size_t begun_at, bool is_null) {
    values_.push_back({type.number, begun_at, bytes_.size() - begun_at, is_null});
}

TOLLGATE_DECL void rows::clearer::operator()(pg_result* result) const noexcept { PQclear(result); }

TOLLGATE_DECL std::size_t rows::count() const noexcept { return static_cast<std::size_t>(PQntuples(result_.get())); }

TOLLGATE_DECL std::int64_t rows::affected() const noexcept {
    const char* const digits = PQcmdTuples(result_.get());
    std::int64_t number = 0;
    std::from_chars(digits, digits + std::strlen(digits), number);
    return number;
}

TOLLGATE_DECL error rows::misread(std::size_t column) const {
    return internal_error("PostgreSQL: column " + std::to_string(column) +
                          " has an unexpected value: " + std::string{text_.text()});
}

TOLLGATE_DECL error rows::no_row() const {
    return internal_error("PostgreSQL: a row is missing: " + std::string{text_.text()});
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_BATCH_IPP
