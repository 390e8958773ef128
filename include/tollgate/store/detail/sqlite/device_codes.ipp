#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_DEVICE_CODES_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_DEVICE_CODES_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> sqlite_store::create_device_code(const new_device_code& code) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<void> {
        const auto is_repeated = sql::read_value<bool>(
            on.prepare("SELECT user_digest = ? AND application = ? FROM tollgate_device_codes WHERE device_digest = ?", code.user_digest,
                       code.application, code.device_digest));
        if (!is_repeated) return is_repeated.error();
        if (is_repeated->value_or(false)) return {};
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
                           "SELECT device_digest, application, client_id, scopes, requested_from, codes.created_at, expires_at, state, "
                           "answered_by FROM tollgate_device_codes AS codes JOIN tollgate_applications "
                           "ON application = tollgate_applications.id WHERE device_digest = ?1 OR user_digest = ?1",
                           code);
}

TOLLGATE_DECL result<std::optional<device_answer>> sqlite_store::answer_device_code(const device_decision& decision) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<std::optional<device_answer>> {
        const auto request = sql::read_one(
            on.prepare("SELECT device_digest, application, client_id, scopes, requested_from, codes.created_at, expires_at, state, "
                       "answered_by FROM tollgate_device_codes AS codes JOIN tollgate_applications "
                       "ON application = tollgate_applications.id WHERE user_digest = ?",
                       decision.user_digest),
            sql::to_device_code);
        if (!request) return request.error();
        const auto answer = *request ? judge_answer(**request, decision) : std::nullopt;
        if (!answer || !answer->is_new) return answer;
        if (answer->state == device_code_state::approved) {
            const auto created = sqlite::create_code(on, code_of(**request, decision));
            if (!created) return created.error();
            // A code of the device exists if an earlier release stored an approval in two steps and did not complete it.
            if (*created != code_result::created) return std::optional<device_answer>{};
        }
        return on.run("UPDATE tollgate_device_codes SET state = ?, answered_by = ? WHERE user_digest = ?", answer->state, decision.user,
                      decision.user_digest)
            .transform([&] { return answer; });
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DEVICE_CODES_IPP
