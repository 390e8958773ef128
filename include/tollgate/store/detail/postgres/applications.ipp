#pragma once

#include <tollgate/store/detail/postgres/access_tokens.hpp>
#include <tollgate/store/detail/postgres/applications.hpp>
#include <tollgate/store/detail/postgres/columns.hpp>
#include <tollgate/store/detail/postgres/locks.hpp>
#include <tollgate/store/detail/refusals.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

inline result<std::vector<application>> read_applications(result<rows> listed) {
    if (!listed) return std::move(listed).error();
    std::vector<application> found;
    for (;;) {
        auto row = listed->next<application_id, user_id, client_id_text, digest, std::string, std::string, std::string,
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
    auto asked = connections_.make_batch();
    lock_for_counting(asked, "applications " + std::to_string(made.owner.value()));
    asked.add(
        "INSERT INTO tollgate_applications "
        "(owner_id, client_id, secret_digest, name, website, description, redirect_url, created_at) "
        "SELECT $1, $2, $3, $4, $5, $6, $7, $8 "
        "WHERE $9 > (SELECT count(*) FROM tollgate_applications WHERE owner_id = $1) RETURNING id",
        made.owner, made.client_id, made.secret_digest, made.name, made.website, made.description, made.redirect_url,
        made.created_at, applications_per_user_max);
    auto answered = connections_.run(asked);
    if (!answered) {
        auto why = std::move(answered).error();
        if (why.kind == error_kind::conflict) why.message = "An application of this client_id exists already.";
        return why;
    }
    const auto row = answered->back().next<application_id>();
    if (!row) return row.error();
    if (!*row) return too_many_applications(applications_per_user_max);
    return std::get<0>(**row);
}

TOLLGATE_DECL result<std::optional<application>> applications::find(std::string_view client_id) {
    if (client_id.size() > client_id_text::bytes_max || !is_keepable(client_id)) return std::optional<application>{};
    auto found = detail::read_applications(connections_.ask(
        "SELECT id, owner_id, client_id, secret_digest, name, website, description, redirect_url, created_at "
        "FROM tollgate_applications WHERE client_id = $1",
        client_id));
    if (!found) return std::move(found).error();
    if (found->empty()) return std::optional<application>{};
    return std::optional{std::move(found->front())};
}

TOLLGATE_DECL result<std::vector<application>> applications::of(user_id owner) {
    return detail::read_applications(connections_.ask(
        "SELECT id, owner_id, client_id, secret_digest, name, website, description, redirect_url, created_at "
        "FROM tollgate_applications WHERE owner_id = $1 ORDER BY id",
        owner));
}

TOLLGATE_DECL result<bool> applications::replace_secret(user_id owner, application_id id, const digest& secret) {
    auto done = connections_.change(
        "UPDATE tollgate_applications SET secret_digest = $1 WHERE id = $2 AND owner_id = $3", secret, id, owner);
    if (!done) return std::move(done).error();
    return done->touched() > 0;
}

TOLLGATE_DECL result<bool> applications::remove(user_id owner, application_id id) {
    auto asked = connections_.make_batch();
    asked.take_up_to(seconds{60});  // hundreds of thousands may have let it in
    // First whoever is making a grant or tokens of one is waited for, so that the last statement sees all tokens.
    asked.add("SELECT id FROM tollgate_applications WHERE id = $1 AND owner_id = $2 FOR UPDATE", id, owner);
    asked.add(
        "SELECT count(*) FROM (SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_applications AS owned "
        "ON owned.id = application_id WHERE application_id = $1 AND owned.owner_id = $2 "
        "ORDER BY grants.id FOR UPDATE OF grants) AS locked",
        id, owner);
    // Grants go with it, and codes and refresh tokens with those: the schema says so.
    asked.add(
        "WITH gone AS (DELETE FROM tollgate_applications WHERE id = $1 AND owner_id = $2 RETURNING id), "
        "tokens AS (DELETE FROM tollgate_access_tokens USING gone WHERE application_id = gone.id RETURNING user_id) "
        "SELECT (SELECT count(*) FROM tokens) FROM gone",
        id, owner);
    auto answered = connections_.run(asked);
    if (!answered) return forget_all_after(std::move(answered).error(), changes_);
    const auto row = answered->back().next<std::int64_t>();
    if (!row) return forget_all_after(row.error(), changes_);
    if (!*row) return false;
    if (std::get<0>(**row) > 0) changes_.forget_all();  // whose they were may be a long list
    return true;
}

}  // namespace tollgate::postgres
