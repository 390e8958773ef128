#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_DEVICE_CODES_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_DEVICE_CODES_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

namespace tollgate::inline v0::sqlite_detail {

/// Verbs of `grant_store`.
struct device_code_verbs : verbs {
    using verbs::verbs;

    result<void> create_device_code(const new_device_code& code) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<void> {
            const auto existing = sql::read_value<sql::row_number>(
                on.prepare(sql::statements::find_repeated_device_code, code.device_digest, code.user_digest, code.application));
            if (!existing) return existing.error();
            if (*existing) return {};  // the call is repeated
            auto done = on.run_counted(sql::statements::insert_device_code, code.device_digest, code.user_digest, code.scopes,
                                       code.requested_from, code.created_at, code.expires_at, code.application);
            if (!done) return token_exists(std::move(done).error());
            if (!*done) return not_found();
            return on.run(sql::statements::trim_device_codes, code.application, limits::device_codes_per_application_max);
        });
    }

    result<std::optional<device_answer>> answer_device_code(const device_decision& decision) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<std::optional<device_answer>> {
            const auto request = sql::read_one(on.prepare(sql::statements::lock_device_code, decision.user_digest), sql::to_device_code);
            if (!request) return request.error();
            const auto answer = *request ? judge_answer(**request, decision) : std::nullopt;
            if (!answer || !answer->is_new) return answer;
            if (answer->state == device_code_state::approved) {
                const auto created = sqlite::create_code(on, code_of(**request, decision));
                if (!created) return created.error();
                // A code of the device exists if an earlier release stored an approval in two steps and did not complete it.
                if (*created != code_result::created) return std::optional<device_answer>{};
            }
            return on.run(sql::statements::answer_device_code, answer->state, decision.user, decision.user_digest).transform([&] {
                return answer;
            });
        });
    }
};

}  // namespace tollgate::sqlite_detail

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DEVICE_CODES_IPP
