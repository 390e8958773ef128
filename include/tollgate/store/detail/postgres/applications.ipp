#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_APPLICATIONS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_APPLICATIONS_IPP

#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <string>
#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<application_id> postgres_store::create_application(
    const new_application& application, std::size_t applications_per_user_max) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<application_id> {
        postgres::lock_until_commit(batch, "applications " + std::to_string(application.owner.value()));
        const auto existing = batch.add(
            "SELECT id FROM tollgate_applications WHERE client_id = $1 AND owner_id = $2 AND secret_digest = $3",
            application.client_id, application.owner, application.secret_digest);
        batch.add(
            "INSERT INTO tollgate_applications "
            "(owner_id, client_id, secret_digest, name, website, description, redirect_urls, created_at, client_type) "
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 "
            "WHERE $10 > (SELECT count(*) FROM tollgate_applications WHERE owner_id = $1) AND NOT EXISTS (SELECT "
            "FROM tollgate_applications WHERE client_id = $2 AND owner_id = $1 AND secret_digest = $3) RETURNING id",
            application.owner, application.client_id, application.secret_digest, application.name, application.website,
            application.description, sql::to_lines(application.redirect_urls), application.created_at, application.type,
            applications_per_user_max);
        auto results = impl_->database.run(batch);
        if (!results) return application_exists(std::move(results).error());
        const bool is_repeated = (*results)[existing].count() > 0;
        const auto id = sql::read_value<application_id>(is_repeated ? (*results)[existing] : results->back());
        if (!id) return id.error();
        if (!*id) return too_many_applications(applications_per_user_max);
        return **id;
    });
}

TOLLGATE_DECL result<std::optional<application>> postgres_store::find_application(std::string_view client_id) noexcept {
    if (client_id.size() > client_id_text::bytes_max || !postgres::is_storable(client_id))
        return std::optional<application>{};
    return impl_->read_one(sql::to_application,
                           "SELECT id, owner_id, client_id, secret_digest, name, website, description, redirect_urls, created_at, "
                           "client_type, older_secret_digest, acts_for_owner, 0::bigint, suspended "
                           "FROM tollgate_applications WHERE client_id = $1",
                           client_id);
}

TOLLGATE_DECL result<std::vector<application>> postgres_store::applications_of(user_id owner) noexcept {
    return impl_->read_all(sql::to_application,
                           "SELECT id, owner_id, client_id, secret_digest, name, website, description, redirect_urls, created_at, "
                           "client_type, older_secret_digest, acts_for_owner, "
                           "(SELECT count(*) FROM tollgate_grants AS grants WHERE application_id = tollgate_applications.id), suspended "
                           "FROM tollgate_applications WHERE owner_id = $1 ORDER BY id",
                           owner);
}

TOLLGATE_DECL result<bool> postgres_store::change_application(const std::optional<user_id>& changed_by, application_id id,
                                                              const application_change& change) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<bool> {
        const auto updating = std::visit(
            detail::overloaded{
                [&](const application_fields& fields) {
                    const auto updated = batch.add(
                        "UPDATE tollgate_applications SET name = $3, website = $4, description = $5, redirect_urls = $6, "
                        "acts_for_owner = $7 WHERE id = $1 AND owner_id = coalesce($2, owner_id) RETURNING owner_id",
                        id, changed_by, fields.name, fields.website, fields.description, sql::to_lines(fields.redirect_urls),
                        fields.acts_for_owner);
                    batch.add(
                        "DELETE FROM tollgate_access_tokens AS tokens USING tollgate_applications AS owned "
                        "WHERE owned.id = $1 AND owned.owner_id = coalesce($2, owned.owner_id) AND NOT owned.acts_for_owner "
                        "AND tokens.application_id = $1 AND tokens.user_id = owned.owner_id AND tokens.refresh_token_id IS NULL",
                        id, changed_by);
                    return updated;
                },
                [&](const client_secret_addition& added) {
                    // If the call is repeated, the secret is already the newest.
                    return batch.add(
                        "UPDATE tollgate_applications SET secret_digest = $1, older_secret_digest = "
                        "CASE secret_digest WHEN $1 THEN older_secret_digest ELSE secret_digest END "
                        "WHERE id = $2 AND owner_id = coalesce($3, owner_id) AND secret_digest IN (coalesce($4, secret_digest), $1) "
                        "RETURNING owner_id",
                        added.secret_digest, id, changed_by, added.replaced);
                },
                [&](older_secret_removal) {
                    return batch.add(
                        "UPDATE tollgate_applications SET older_secret_digest = NULL "
                        "WHERE id = $1 AND owner_id = coalesce($2, owner_id) AND older_secret_digest IS NOT NULL RETURNING owner_id",
                        id, changed_by);
                },
                [&](const suspension_change& suspension) {
                    if (suspension.suspended) {  // as in `delete_application`
                        batch.set_response_wait_max(seconds{60});
                        batch.add("SELECT id FROM tollgate_applications WHERE id = $1 FOR UPDATE", id);
                        batch.add(
                            "SELECT count(*) FROM (SELECT id FROM tollgate_grants WHERE application_id = $1 ORDER BY id FOR UPDATE) "
                            "AS locked",
                            id);
                    }
                    const auto updated = batch.add(
                        "UPDATE tollgate_applications SET suspended = $3 WHERE id = $1 AND owner_id = coalesce($2, owner_id) "
                        "RETURNING owner_id",
                        id, changed_by, suspension.suspended);
                    if (suspension.suspended)
                        batch.add(
                            "DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND EXISTS "
                            "(SELECT FROM tollgate_applications WHERE id = $1 AND owner_id = coalesce($2, owner_id))",
                            id, changed_by);
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

TOLLGATE_DECL result<bool> postgres_store::delete_application(user_id owner, application_id id) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<bool> {
        // It is one transaction, so that no part remains, and hundreds of thousands of users may have authorized it.
        batch.set_response_wait_max(seconds{60});
        // Waits for verbs that create a grant or its tokens, so that the last statement sees all tokens.
        batch.add("SELECT id FROM tollgate_applications WHERE id = $1 AND owner_id = $2 FOR UPDATE", id, owner);
        batch.add(
            "SELECT count(*) FROM (SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_applications AS owned "
            "ON owned.id = application_id WHERE application_id = $1 AND owned.owner_id = $2 "
            "ORDER BY grants.id FOR UPDATE OF grants) AS locked",
            id, owner);
        // The schema deletes its grants, codes and refresh tokens with it.
        batch.add(
            "WITH gone AS (DELETE FROM tollgate_applications WHERE id = $1 AND owner_id = $2 RETURNING id), "
            "tokens AS (DELETE FROM tollgate_access_tokens USING gone WHERE application_id = gone.id RETURNING user_id) "
            "SELECT (SELECT count(*) FROM tokens) FROM gone",
            id, owner);
        auto results = impl_->database.run(batch);
        if (!results) return impl_->forget_all_after(std::move(results).error());
        const auto tokens = sql::read_value<std::int64_t>(results->back());
        if (!tokens) return impl_->forget_all_after(tokens.error());
        if (!*tokens) return false;
        if (**tokens > 0) impl_->changes->forget_all();  // many users may be affected
        return true;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_APPLICATIONS_IPP
