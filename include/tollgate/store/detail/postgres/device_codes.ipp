#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> postgres_store::create_device_code(const new_device_code& code) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
        batch.add(
            "INSERT INTO tollgate_device_codes "
            "(device_digest, user_digest, application_id, scopes, requested_from, created_at, expires_at) "
            "SELECT $1, $2, id, $4, $5, $6, $7 FROM tollgate_applications WHERE id = $3",
            code.device_digest, code.user_digest, code.application, code.scopes, code.requested_from, code.created_at,
            code.expires_at);
        batch.add(
            "DELETE FROM tollgate_device_codes WHERE id = ANY (ARRAY(SELECT id FROM tollgate_device_codes "
            "WHERE application_id = $1 ORDER BY id DESC OFFSET $2))",
            code.application, limits::device_codes_per_application_max);
        auto done = impl_->database.run(batch);
        if (!done) return token_exists(std::move(done).error());
        if (done->front().affected() == 0) return not_found();
        return {};
    });
}

TOLLGATE_DECL result<std::optional<device_code>> postgres_store::find_device_code(const digest& code) noexcept {
    return impl_->read_one(sql::to_device_code,
                           "SELECT device_digest, application_id, client_id, scopes, requested_from, codes.created_at, expires_at, state "
                           "FROM tollgate_device_codes AS codes JOIN tollgate_applications AS applications "
                           "ON application_id = applications.id WHERE device_digest = $1 OR user_digest = $1",
                           code);
}

TOLLGATE_DECL result<bool> postgres_store::answer_device_code(const digest& user_code,
                                                              device_code_state answer) noexcept {
    return impl_->change("UPDATE tollgate_device_codes SET state = $2 WHERE user_digest = $1 AND state = 'pending'", user_code, answer);
}

}  // namespace tollgate
