#pragma once

#include <tollgate/store/detail/refusals.hpp>
#include <tollgate/store/detail/sqlite/applications.hpp>
#include <tollgate/store/detail/sqlite/columns.hpp>

#include <string>
#include <utility>

namespace tollgate::inline v0::sqlite {

namespace detail {

inline result<std::vector<application>> read_applications(statement rows) {
    std::vector<application> found;
    for (;;) {
        auto row = rows.next<application_id, user_id, client_id_text, digest, std::string, std::string, std::string,
                             std::optional<std::string>, instant>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, owner, client_id, secret_digest, name, website, description, redirect_url, created_at] = **row;
        found.push_back({id, owner, client_id, secret_digest, std::move(name), std::move(website),
                         std::move(description), std::move(redirect_url), created_at});
    }
}

}  // namespace detail

TOLLGATE_DECL result<application_id> applications::create(const new_application& made,
                                                           std::size_t applications_per_user_max) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    // One statement is one transaction, and it holds the write lock from its start: nobody else can count in between.
    auto done = (*connection)
                    ->run(
                        "INSERT INTO tollgate_applications "
                        "(owner, client_id, secret_digest, name, website, description, redirect_url, created_at) "
                        "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 "
                        "WHERE ?9 > (SELECT count(*) FROM tollgate_applications WHERE owner = ?1)",
                        made.owner, made.client_id, made.secret_digest, made.name, made.website, made.description,
                        made.redirect_url, made.created_at, applications_per_user_max);
    if (!done) {
        auto why = std::move(done).error();
        if (why.kind == error_kind::conflict) why.message = "An application of this client_id exists already.";
        return why;
    }
    if ((*connection)->changes() == 0) return too_many_applications(applications_per_user_max);
    return application_id{(*connection)->last_insert_id()};
}

TOLLGATE_DECL result<std::optional<application>> applications::find(std::string_view client_id) {
    if (client_id.size() > client_id_text::bytes_max) return std::optional<application>{};  // longer than any
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto found = detail::read_applications((*connection)
                                               ->prepare("SELECT id, owner, client_id, secret_digest, name, website, "
                                                         "description, redirect_url, created_at "
                                                         "FROM tollgate_applications WHERE client_id = ?",
                                                         client_id));
    if (!found) return std::move(found).error();
    if (found->empty()) return std::optional<application>{};
    return std::optional{std::move(found->front())};
}

TOLLGATE_DECL result<std::vector<application>> applications::of(user_id owner) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    return detail::read_applications((*connection)
                                         ->prepare("SELECT id, owner, client_id, secret_digest, name, website, "
                                                   "description, redirect_url, created_at "
                                                   "FROM tollgate_applications WHERE owner = ? ORDER BY id",
                                                   owner));
}

TOLLGATE_DECL result<bool> applications::replace_secret(user_id owner, application_id id, const digest& secret) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)
                        ->run("UPDATE tollgate_applications SET secret_digest = ? WHERE id = ? AND owner = ?", secret,
                              id, owner);
        !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

TOLLGATE_DECL result<bool> applications::remove(user_id owner, application_id id) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto change = transaction::begin(**connection);
    if (!change) return std::move(change).error();
    // Grants go with it, and codes and refresh tokens with those: the schema says so.
    if (auto done = (*connection)->run("DELETE FROM tollgate_applications WHERE id = ? AND owner = ?", id, owner);
        !done)
        return std::move(done).error();
    if ((*connection)->changes() == 0) return false;
    if (auto done = (*connection)->run("DELETE FROM tollgate_access_tokens WHERE application = ?", id); !done)
        return std::move(done).error();
    if (auto done = change->commit(); !done) return std::move(done).error();
    return true;
}

}  // namespace tollgate::sqlite
