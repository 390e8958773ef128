#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_DEVICE_CODES_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_DEVICE_CODES_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> postgres_store::create_device_code(const new_device_code& code) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
        const auto existing = batch.add(
            "SELECT id FROM tollgate_device_codes WHERE device_digest = $1 AND user_digest = $2 AND application_id = $3",
            code.device_digest, code.user_digest, code.application);
        const auto inserting = batch.add(
            "INSERT INTO tollgate_device_codes "
            "(device_digest, user_digest, application_id, scopes, requested_from, created_at, expires_at) "
            "SELECT $1, $2, id, $4, $5, $6, $7 FROM tollgate_applications WHERE id = $3 AND NOT EXISTS (SELECT "
            "FROM tollgate_device_codes WHERE device_digest = $1 AND user_digest = $2 AND application_id = $3)",
            code.device_digest, code.user_digest, code.application, code.scopes, code.requested_from, code.created_at,
            code.expires_at);
        batch.add(
            "DELETE FROM tollgate_device_codes WHERE id = ANY (ARRAY(SELECT id FROM tollgate_device_codes "
            "WHERE application_id = $1 ORDER BY id DESC OFFSET $2))",
            code.application, limits::device_codes_per_application_max);
        auto done = impl_->database.run(batch);
        if (!done) return token_exists(std::move(done).error());
        const bool is_repeated = (*done)[existing].count() > 0;
        if (!is_repeated && (*done)[inserting].affected() == 0) return not_found();
        return {};
    });
}

TOLLGATE_DECL result<std::optional<device_code>> postgres_store::find_device_code(const digest& code) noexcept {
    return impl_->read_one(sql::to_device_code,
                           "SELECT device_digest, application_id, client_id, scopes, requested_from, codes.created_at, expires_at, state, "
                           "answered_by FROM tollgate_device_codes AS codes JOIN tollgate_applications AS applications "
                           "ON application_id = applications.id WHERE device_digest = $1 OR user_digest = $1",
                           code);
}

TOLLGATE_DECL result<std::optional<device_answer>> postgres_store::answer_device_code(const device_decision& decision) noexcept {
    return detail::without_exceptions([&] {
        return impl_->database.transact([&](postgres::transaction& on) -> result<std::optional<device_answer>> {
            auto reading = impl_->database.make_batch();
            reading.add("BEGIN");
            // First the application, as its deletion and its suspension do, which also lock rows that depend on it.
            reading.add(
                "SELECT id FROM tollgate_applications WHERE id = (SELECT application_id FROM tollgate_device_codes WHERE user_digest = $1) "
                "FOR KEY SHARE",
                decision.user_digest);
            reading.add(
                "SELECT device_digest, application_id, client_id, scopes, requested_from, codes.created_at, expires_at, state, "
                "answered_by FROM tollgate_device_codes AS codes JOIN tollgate_applications AS applications "
                "ON application_id = applications.id WHERE user_digest = $1 FOR UPDATE OF codes",
                decision.user_digest);
            auto read = on.run(reading);
            if (!read) return std::move(read).error();
            const auto request = sql::read_one(read->back(), sql::to_device_code);
            if (!request) return request.error();
            const auto answer = *request ? judge_answer(**request, decision) : std::nullopt;
            if (!answer || !answer->is_new) return answer;

            const auto add_answer = [&](postgres::batch& to) {  // the row is locked
                to.add("UPDATE tollgate_device_codes SET state = $2, answered_by = $3 WHERE user_digest = $1",
                       decision.user_digest, answer->state, decision.user);
            };
            postgres::batch following{reading.shift()};
            if (answer->state == device_code_state::approved) {
                const auto created = postgres::create_code(on, std::move(following), code_of(**request, decision), add_answer);
                if (!created) return created.error();
                // A code of the device exists if an earlier release stored an approval in two steps and did not complete it.
                if (*created != code_result::created) return std::optional<device_answer>{};
                return answer;
            }
            add_answer(following);
            if (auto written = on.commit(std::move(following)); !written) return std::move(written).error();
            return answer;
        });
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_DEVICE_CODES_IPP
