#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_APPLICATIONS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_APPLICATIONS_IPP

#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<application_id> sqlite_store::create_application(const new_application& application,
                                                                      std::size_t applications_per_user_max) noexcept {
    return impl_->database.write([&](sqlite::database& on) -> result<application_id> {
        const auto existing = sql::read_value<application_id>(
            on.prepare("SELECT id FROM tollgate_applications WHERE client_id = ? AND owner = ? AND secret_digest = ?",
                       application.client_id, application.owner, application.secret_digest));
        if (!existing) return existing.error();
        if (*existing) return **existing;  // the call is repeated
        // One statement holds the write lock from its start, so no row can be inserted between counting and inserting.
        auto done = on.run(
            "INSERT INTO tollgate_applications "
            "(owner, client_id, secret_digest, name, website, description, redirect_urls, created_at, client_type) "
            "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 "
            "WHERE ?10 > (SELECT count(*) FROM tollgate_applications WHERE owner = ?1)",
            application.owner, application.client_id, application.secret_digest, application.name, application.website,
            application.description, sql::to_lines(application.redirect_urls), application.created_at, application.type,
            applications_per_user_max);
        if (!done) return application_exists(std::move(done).error());
        if (on.changes() == 0) return too_many_applications(applications_per_user_max);
        return application_id{on.last_insert_id()};
    });
}

TOLLGATE_DECL result<std::optional<application>> sqlite_store::find_application(std::string_view client_id) noexcept {
    if (client_id.size() > client_id_text::bytes_max) return std::optional<application>{};  // longer than any client_id
    return impl_->read_one(sql::to_application,
                           "SELECT id, owner, client_id, secret_digest, name, website, description, redirect_urls, created_at, "
                           "client_type, older_secret_digest, acts_for_owner, 0, suspended FROM tollgate_applications WHERE client_id = ?",
                           client_id);
}

TOLLGATE_DECL result<std::vector<application>> sqlite_store::applications_of(user_id owner) noexcept {
    return impl_->read_all(sql::to_application,
                           "SELECT id, owner, client_id, secret_digest, name, website, description, redirect_urls, created_at, "
                           "client_type, older_secret_digest, acts_for_owner, "
                           "(SELECT count(*) FROM tollgate_grants WHERE application = tollgate_applications.id), suspended "
                           "FROM tollgate_applications WHERE owner = ? ORDER BY id",
                           owner);
}

TOLLGATE_DECL result<bool> sqlite_store::change_application(const std::optional<user_id>& changed_by, application_id id,
                                                            const application_change& change) noexcept {
    return impl_->database.transact([&](sqlite::database& on) {
        return std::visit(
            detail::overloaded{
                [&](const application_fields& fields) -> result<bool> {
                    auto updated = on.run_counted(
                        "UPDATE tollgate_applications SET name = ?, website = ?, description = ?, redirect_urls = ?, "
                        "acts_for_owner = ? WHERE id = ? AND owner = coalesce(?, owner)",
                        fields.name, fields.website, fields.description, sql::to_lines(fields.redirect_urls), fields.acts_for_owner, id,
                        changed_by);
                    if (!updated || !*updated || fields.acts_for_owner) return updated;
                    return on
                        .run("DELETE FROM tollgate_access_tokens WHERE application = ?1 AND refresh_token IS NULL "
                             "AND user = (SELECT owner FROM tollgate_applications WHERE id = ?1)",
                             id)
                        .transform([] { return true; });
                },
                [&](const client_secret_addition& added) {
                    // If the call is repeated, the secret is already the newest.
                    return on.run_counted(
                        "UPDATE tollgate_applications SET secret_digest = ?1, older_secret_digest = "
                        "CASE secret_digest WHEN ?1 THEN older_secret_digest ELSE secret_digest END "
                        "WHERE id = ?2 AND owner = coalesce(?3, owner) AND secret_digest IN (coalesce(?4, secret_digest), ?1)",
                        added.secret_digest, id, changed_by, added.replaced);
                },
                [&](older_secret_removal) {
                    return on.run_counted(
                        "UPDATE tollgate_applications SET older_secret_digest = NULL "
                        "WHERE id = ? AND owner = coalesce(?, owner) AND older_secret_digest IS NOT NULL",
                        id, changed_by);
                },
                [&](const suspension_change& suspension) -> result<bool> {
                    auto updated = on.run_counted(
                        "UPDATE tollgate_applications SET suspended = ? WHERE id = ? AND owner = coalesce(?, owner)",
                        suspension.suspended, id, changed_by);
                    if (!updated || !*updated || !suspension.suspended) return updated;
                    return on.run("DELETE FROM tollgate_access_tokens WHERE application = ?", id).transform([] { return true; });
                },
            },
            change);
    });
}

TOLLGATE_DECL result<bool> sqlite_store::delete_application(user_id owner, application_id id) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
        // The schema deletes its grants, codes and refresh tokens with it.
        auto deleted = on.run_counted("DELETE FROM tollgate_applications WHERE id = ? AND owner = ?", id, owner);
        if (!deleted || !*deleted) return deleted;
        return on.run("DELETE FROM tollgate_access_tokens WHERE application = ?", id).transform([] { return true; });
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_APPLICATIONS_IPP
