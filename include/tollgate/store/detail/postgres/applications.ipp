#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_APPLICATIONS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_APPLICATIONS_IPP

#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <string>
#include <variant>

namespace tollgate::inline v0::postgres_detail {

/// Verbs of `application_store`.
struct application_verbs : verbs {
    using verbs::verbs;

    result<application_id> create_application(const new_application& application, std::size_t applications_per_user_max) noexcept {
        return impl_->with_batch([&](postgres::batch& batch) -> result<application_id> {
            postgres::lock_until_commit(batch, "applications " + std::to_string(application.owner.value()));
            const auto existing =
                batch.add(sql::statements::find_repeated_application, application.client_id, application.owner, application.secret_digest);
            batch.add(sql::statements::insert_application, application.owner, application.client_id, application.secret_digest,
                      application.name, application.website, application.description, sql::to_lines(application.redirect_urls),
                      application.created_at, application.type, application.registration, application.default_scopes,
                      sql::digest_or_null(application.registration_digest), applications_per_user_max);
            auto results = impl_->database.run(batch);
            if (!results) return application_exists(std::move(results).error());
            const bool is_repeated = (*results)[existing].count() > 0;
            const auto id = sql::read_value<application_id>(is_repeated ? (*results)[existing] : results->back());
            if (!id) return id.error();
            if (!*id) return too_many_applications(applications_per_user_max);
            return **id;
        });
    }

    result<bool> change_application(const std::optional<user_id>& changed_by, application_id id,
                                    const application_change& change) noexcept {
        return impl_->with_batch([&](postgres::batch& batch) -> result<bool> {
            const auto updating = std::visit(
                detail::overloaded{
                    [&](const application_fields& fields) {
                        const auto updated =
                            batch.add(sql::statements::set_application_fields, fields.name, fields.website, fields.description,
                                      sql::to_lines(fields.redirect_urls), fields.acts_for_owner, fields.default_scopes, id, changed_by);
                        batch.add(sql::statements::delete_owner_tokens, id, changed_by);
                        return updated;
                    },
                    [&](const client_secret_addition& added) {
                        // If the call is repeated, the secret is already the newest.
                        return batch.add(sql::statements::add_client_secret, added.secret_digest, id, changed_by, added.replaced);
                    },
                    [&](older_secret_removal) { return batch.add(sql::statements::remove_older_secret, id, changed_by); },
                    [&](const suspension_change& suspension) {
                        if (suspension.suspended) {  // as in `delete_application`
                            batch.set_response_wait_max(seconds{60});
                            batch.add("SELECT id FROM tollgate_applications WHERE id = $1 FOR UPDATE", id);
                            batch.add(
                                "SELECT count(*) FROM (SELECT id FROM tollgate_grants WHERE application_id = $1 ORDER BY id FOR UPDATE) "
                                "AS locked",
                                id);
                        }
                        const auto updated = batch.add(sql::statements::set_suspension, suspension.suspended, id, changed_by);
                        if (suspension.suspended) batch.add(sql::statements::delete_tokens_of_application, id, changed_by);
                        return updated;
                    },
                },
                change);
            const std::size_t statements = batch.statements().size();
            auto results = impl_->database.run(batch);
            if (!results) return impl_->forget_all_after(std::move(results).error());
            const bool revoked = updating + 1 < statements && results->back().affected() > 0;
            if (revoked && std::holds_alternative<suspension_change>(change)) impl_->changes->forget_all();  // many users may be affected
            const auto owner = sql::read_value<user_id>((*results)[updating]);
            if (!owner) return impl_->forget_all_after(owner.error());
            if (revoked && *owner) impl_->changes->forget(**owner);
            return owner->has_value();
        });
    }

    result<bool> delete_application(user_id owner, application_id id) noexcept {
        return impl_->with_batch([&](postgres::batch& batch) -> result<bool> {
            // It is one transaction, so that no part remains, and hundreds of thousands of users may have authorized it.
            batch.set_response_wait_max(seconds{60});
            // Waits for verbs that create a grant or its tokens, so that the next statements see all tokens.
            batch.add("SELECT id FROM tollgate_applications WHERE id = $1 AND owner_id = $2 FOR UPDATE", id, owner);
            batch.add(
                "SELECT count(*) FROM (SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_applications AS owned "
                "ON owned.id = application_id WHERE application_id = $1 AND owned.owner_id = $2 "
                "ORDER BY grants.id FOR UPDATE OF grants) AS locked",
                id, owner);
            const auto tokens = batch.add(sql::statements::delete_tokens_of_application, id, owner);
            // The schema deletes its grants, codes and refresh tokens with it.
            batch.add(sql::statements::delete_application, id, owner);
            auto results = impl_->database.run(batch);
            if (!results) return impl_->forget_all_after(std::move(results).error());
            if ((*results)[tokens].affected() > 0) impl_->changes->forget_all();  // many users may be affected
            return results->back().affected() > 0;
        });
    }

    result<std::size_t> sweep_unowned(instant registered_before, std::size_t rows_max) noexcept {
        // A grant that is being created locks its application, which is then skipped.
        return impl_->remove(sql::statements::sweep_unowned_applications, registered_before, rows_max);
    }
};

}  // namespace tollgate::postgres_detail

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_APPLICATIONS_IPP
