#pragma once

#include "admin_commands.hpp"
#include "failure.hpp"
#include "password_hash.hpp"
#include "services.hpp"

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/account/register_application.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace reference {

/// What each command does, wherever users and store are: `Place` opens them, and knows what time it is there.
template <class Place>
class administration {
public:
    explicit administration(Place at) : at_{std::move(at)} {}

    nlohmann::ordered_json operator()(const serve&) const { return {}; }  // none of these commands

    nlohmann::ordered_json operator()(const add_user& wanted) const {
        auto password = read_password();
        auto hash = hash_password(password);
        tollgate::secure_wipe(password);
        auto made = at_.users().add_user({wanted.login, std::move(hash), wanted.currency, wanted.balance});
        if (!made && made.error().kind == tollgate::error_kind::conflict)
            throw run_error{"--login: there is a user '" + wanted.login + "' already."};
        return {{"id", expect(std::move(made), "cannot add the user").value()}};
    }

    nlohmann::ordered_json operator()(const set_quota& wanted) const {
        auto done = at_.users().set_requests_per_day(wanted.user, wanted.requests_per_day);
        if (!done && done.error().kind == tollgate::error_kind::not_found) throw no_such_user(wanted.user);
        expect(std::move(done), "cannot set the quota");
        return {{"id", wanted.user.value()}, {"per_day", wanted.requests_per_day}};
    }

    nlohmann::ordered_json operator()(const add_account& wanted) const {
        auto made = at_.users().add_account(wanted.user, wanted.service, wanted.name, wanted.admin);
        if (!made && made.error().kind == tollgate::error_kind::not_found) throw no_such_user(wanted.user);
        return {{"id", expect(std::move(made), "cannot add the account").value()}};
    }

    nlohmann::ordered_json operator()(const create_token& wanted) const {
        expect_user(wanted.user);
        auto store = at_.store();
        const auto token = expect(tollgate::issue_personal_token(store, {wanted.user, wanted.description, wanted.scopes}, at_.now(store)),
                                  "cannot make the token");
        return {{"id", token.id.value()},
                {"username", token.username.view()},
                {"secret", token.secret.view()},
                {"scopes", wanted.scopes.text()}};
    }

    nlohmann::ordered_json operator()(const revoke_token& wanted) const {
        if (!expect(at_.store().revoke_personal_token(wanted.token), "cannot revoke the token"))
            throw run_error{"there is no token " + std::to_string(wanted.token.value()) + "."};
        return {{"id", wanted.token.value()}};
    }

    nlohmann::ordered_json operator()(const register_app& wanted) const {
        expect_user(wanted.application.owner);
        auto store = at_.store();
        const auto made = expect(tollgate::register_application(store, wanted.application, at_.now(store)),
                                 "cannot register the application");
        return {{"client_id", made.client_id.view()}, {"client_secret", made.client_secret.view()}};
    }

    nlohmann::ordered_json operator()(const emit_event& wanted) const {
        auto happened = wanted.happened;
        // To the library it is an account without hooks, and no fault; who mistypes a number here is to learn of it.
        const auto& [service, account] = happened.account;
        if (!expect(at_.users().is_account(happened.account), "cannot look for the account"))
            throw run_error{"there is no account " + std::to_string(account.value()) + " at " +
                            std::string{service.view()} + "."};
        auto store = at_.store();
        happened.at = at_.now(store);
        // A server that is running on the store sees by itself that there is something to send; one that is not,
        // when it starts.
        return {{"deliveries", expect(tollgate::publish(store, reference_services(), happened, happened.at),
                                      "cannot report the event")}};
    }

private:
    static run_error no_such_user(tollgate::user_id user) {
        return run_error{"there is no user " + std::to_string(user.value()) + "."};
    }

    void expect_user(tollgate::user_id user) const {
        auto known = at_.users().quota_of(user);
        if (!known && known.error().kind == tollgate::error_kind::not_found) throw no_such_user(user);
        expect(std::move(known), "cannot look for the user");
    }

    Place at_;
};

}  // namespace reference
