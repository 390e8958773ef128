#pragma once

#include <tollgate/store/detail/sqlite/store_impl.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<application_id> sqlite_store::create_application(const new_application& made,
                                                                      std::size_t applications_per_user_max) noexcept {
    return impl_->database.write([&](sqlite::database& on) -> result<application_id> {
        // One statement holds the write lock from its start, so none can be inserted between counting and inserting.
        auto done = on.run(
            "INSERT INTO tollgate_applications "
            "(owner, client_id, secret_digest, name, website, description, redirect_url, created_at) "
            "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 "
            "WHERE ?9 > (SELECT count(*) FROM tollgate_applications WHERE owner = ?1)",
            made.owner, made.client_id, made.secret_digest, made.name, made.website, made.description,
            made.redirect_url, made.created_at, applications_per_user_max);
        if (!done) return application_exists(std::move(done).error());
        if (on.changes() == 0) return too_many_applications(applications_per_user_max);
        return application_id{on.last_insert_id()};
    });
}

TOLLGATE_DECL result<std::optional<application>> sqlite_store::find_application(std::string_view client_id) noexcept {
    if (client_id.size() > client_id_text::bytes_max) return std::optional<application>{};  // longer than any client_id
    return impl_->database.read([&](sqlite::database& on) {
        return sql::first_of(sql::read_applications(
            on.prepare("SELECT id, owner, client_id, secret_digest, name, website, description, redirect_url, "
                       "created_at FROM tollgate_applications WHERE client_id = ?",
                       client_id)));
    });
}

TOLLGATE_DECL result<std::vector<application>> sqlite_store::applications_of(user_id owner) noexcept {
    return impl_->database.read([&](sqlite::database& on) {
        return sql::read_applications(
            on.prepare("SELECT id, owner, client_id, secret_digest, name, website, description, redirect_url, "
                       "created_at FROM tollgate_applications WHERE owner = ? ORDER BY id",
                       owner));
    });
}

TOLLGATE_DECL result<bool> sqlite_store::replace_client_secret(user_id owner, application_id id,
                                                               const digest& secret) noexcept {
    return impl_->database.write([&](sqlite::database& on) {
        return on.run_counted("UPDATE tollgate_applications SET secret_digest = ? WHERE id = ? AND owner = ?", secret,
                              id, owner);
    });
}

TOLLGATE_DECL result<bool> sqlite_store::delete_application(user_id owner, application_id id) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
        // The schema deletes its grants, codes and refresh tokens with it.
        auto deleted = on.run_counted("DELETE FROM tollgate_applications WHERE id = ? AND owner = ?", id, owner);
        if (!deleted || !*deleted) return deleted;
        if (auto done = on.run("DELETE FROM tollgate_access_tokens WHERE application = ?", id); !done)
            return std::move(done).error();
        return true;
    });
}

}  // namespace tollgate
