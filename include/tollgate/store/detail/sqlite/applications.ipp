#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_APPLICATIONS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_APPLICATIONS_IPP

#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0::sqlite_detail {

/// Verbs of `application_store`.
struct application_verbs : verbs {
    using verbs::verbs;

    result<application_id> create_application(const new_application& application, std::size_t applications_per_user_max) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<application_id> {
            const auto existing = sql::read_value<application_id>(on.prepare(
                sql::statements::find_repeated_application, application.client_id, application.owner, application.secret_digest));
            if (!existing) return existing.error();
            if (*existing) return **existing;  // the call is repeated
            const auto id = sql::read_value<application_id>(
                on.prepare(sql::statements::insert_application, application.owner, application.client_id, application.secret_digest,
                           application.name, application.website, application.description, sql::to_lines(application.redirect_urls),
                           application.created_at, application.type, application.registration, application.default_scopes,
                           sql::digest_or_null(application.registration_digest), applications_per_user_max));
            if (!id) return application_exists(id.error());
            if (!*id) return too_many_applications(applications_per_user_max);
            return **id;
        });
    }

    result<bool> change_application(const std::optional<user_id>& changed_by, application_id id,
                                    const application_change& change) noexcept {
        return impl_->database.transact([&](sqlite::database& on) {
            return std::visit(
                detail::overloaded{
                    [&](const application_fields& fields) -> result<bool> {
                        auto updated = on.run_counted(sql::statements::set_application_fields, fields.name, fields.website,
                                                      fields.description, sql::to_lines(fields.redirect_urls), fields.acts_for_owner,
                                                      fields.default_scopes, id, changed_by);
                        if (!updated || !*updated || fields.acts_for_owner) return updated;
                        return on.run(sql::statements::delete_owner_tokens, id, changed_by).transform([] { return true; });
                    },
                    [&](const client_secret_addition& added) {
                        // If the call is repeated, the secret is already the newest.
                        return on.run_counted(sql::statements::add_client_secret, added.secret_digest, id, changed_by, added.replaced);
                    },
                    [&](older_secret_removal) { return on.run_counted(sql::statements::remove_older_secret, id, changed_by); },
                    [&](const suspension_change& suspension) -> result<bool> {
                        auto updated = on.run_counted(sql::statements::set_suspension, suspension.suspended, id, changed_by);
                        if (!updated || !*updated || !suspension.suspended) return updated;
                        return on.run(sql::statements::delete_tokens_of_application, id, changed_by).transform([] { return true; });
                    },
                },
                change);
        });
    }

    result<bool> delete_application(user_id owner, application_id id) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
            if (auto done = on.run(sql::statements::delete_tokens_of_application, id, owner); !done) return std::move(done).error();
            // The schema deletes its grants, codes and refresh tokens with it.
            return on.run_counted(sql::statements::delete_application, id, owner);
        });
    }

    result<std::size_t> sweep_unowned(instant registered_before, std::size_t rows_max) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<std::size_t> {
            return on.remove(sql::statements::sweep_unowned_applications, registered_before, rows_max);
        });
    }
};

}  // namespace tollgate::sqlite_detail

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_APPLICATIONS_IPP
