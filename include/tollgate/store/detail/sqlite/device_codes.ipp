#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> sqlite_store::create_device_code(const new_device_code& code) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<void> {
        auto done = on.run_counted(
            "INSERT INTO tollgate_device_codes "
            "(device_digest, user_digest, application, scopes, requested_from, created_at, expires_at) "
            "SELECT ?1, ?2, id, ?4, ?5, ?6, ?7 FROM tollgate_applications WHERE id = ?3",
            code.device_digest, code.user_digest, code.application, code.scopes, code.requested_from, code.created_at,
            code.expires_at);
        if (!done) return token_exists(std::move(done).error());
        if (!*done) return not_found();
        return on.run("DELETE FROM tollgate_device_codes WHERE id IN (SELECT id FROM tollgate_device_codes "
                      "WHERE application = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
                      code.application, limits::device_codes_per_application_max);
    });
}

TOLLGATE_DECL result<std::optional<device_code>> sqlite_store::find_device_code(const digest& code) noexcept {
    return impl_->read_one(sql::to_device_code,
                           "SELECT device_digest, application, client_id, scopes, requested_from, codes.created_at, expires_at, state "
                           "FROM tollgate_device_codes AS codes JOIN tollgate_applications "
                           "ON application = tollgate_applications.id WHERE device_digest = ?1 OR user_digest = ?1",
                           code);
}

TOLLGATE_DECL result<bool> sqlite_store::answer_device_code(const digest& user_code, device_code_state answer) noexcept {
    return impl_->change("UPDATE tollgate_device_codes SET state = ? WHERE user_digest = ? AND state = 'pending'", answer, user_code);
}

}  // namespace tollgate
