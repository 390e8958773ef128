#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_DEVICE_CODES_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_DEVICE_CODES_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

namespace tollgate::inline v0::postgres_detail {

/// Verbs of `grant_store`.
struct device_code_verbs : verbs {
    using verbs::verbs;

    result<void> create_device_code(const new_device_code& code) noexcept {
        return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
            const auto existing =
                batch.add(sql::statements::find_repeated_device_code, code.device_digest, code.user_digest, code.application);
            const auto inserting = batch.add(sql::statements::insert_device_code, code.device_digest, code.user_digest, code.scopes,
                                             code.requested_from, code.created_at, code.expires_at, code.application);
            batch.add(sql::statements::trim_device_codes, code.application, limits::device_codes_per_application_max);
            auto done = impl_->database.run(batch);
            if (!done) return token_exists(std::move(done).error());
            const bool is_repeated = (*done)[existing].count() > 0;
            if (!is_repeated && (*done)[inserting].affected() == 0) return not_found();
            return {};
        });
    }

    result<std::optional<device_answer>> answer_device_code(const device_decision& decision) noexcept {
        return detail::without_exceptions([&] {
            return impl_->database.transact([&](postgres::transaction& on) -> result<std::optional<device_answer>> {
                auto reading = impl_->database.make_batch();
                reading.add("BEGIN");
                // First the application, as its deletion and its suspension do, which also lock rows that depend on it.
                reading.add(
                    "SELECT id FROM tollgate_applications WHERE id = (SELECT application_id FROM tollgate_device_codes WHERE user_digest = "
                    "$1) "
                    "FOR KEY SHARE",
                    decision.user_digest);
                reading.add(sql::statements::lock_device_code, decision.user_digest);
                auto read = on.run(reading);
                if (!read) return std::move(read).error();
                const auto request = sql::read_one(read->back(), sql::to_device_code);
                if (!request) return request.error();
                const auto answer = *request ? judge_answer(**request, decision) : std::nullopt;
                if (!answer || !answer->is_new) return answer;

                const auto add_answer = [&](postgres::batch& to) {  // the row is locked
                    to.add(sql::statements::answer_device_code, answer->state, decision.user, decision.user_digest);
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
};

}  // namespace tollgate::postgres_detail

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_DEVICE_CODES_IPP
