#pragma once

#include "admin_commands.hpp"
#include "check.hpp"
#include "failure.hpp"
#include "password_hash.hpp"
#include "services.hpp"
#include "user_records.hpp"

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/account/register_application.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace reference {

/// The versions of the two components of a database.
struct store_schema {
    tollgate::schema_status store;
    tollgate::schema_status directory;

    [[nodiscard]] bool is_empty() const { return store.version == 0 && directory.version == 0; }
};

/// What each command does, for every kind of database: `Place` opens its tables and knows its time.
template <class Place>
class administration {
    using activity_kind = tollgate::activity_kind;

public:
    explicit administration(Place at) : at_{std::move(at)} {}

    nlohmann::ordered_json operator()(const serve&) const { return {}; }  // none of these commands

    nlohmann::ordered_json operator()(const add_user& wanted) const {
        auto password = read_password();
        auto hash = hash_password(password);
        tollgate::secure_wipe(password);
        auto store = at_.store();  // the first user creates the store
        auto users = at_.users();
        auto made = users.add_user({wanted.login, std::move(hash), wanted.currency, wanted.balance});
        if (!made && made.error().kind == tollgate::error_kind::conflict)
            throw run_error{"--login: there is a user '" + wanted.login + "' already."};
        const auto user = expect(std::move(made), "cannot add the user");
        record(users, store, activity_kind::user_added, user, wanted.login);
        return {{"id", user.value()}};
    }

    nlohmann::ordered_json operator()(const list_users& wanted) const {
        auto listed = expect(at_.users().users_from(wanted.first, wanted.rows_max + 1), "cannot list the users");
        nlohmann::ordered_json printed{{"users", nlohmann::ordered_json::array()}};
        if (listed.size() > wanted.rows_max) {
            printed["next"] = listed.back().id.value();
            listed.pop_back();
        }
        for (const user_record& each : listed) printed["users"].push_back(to_json(each));
        return printed;
    }

    nlohmann::ordered_json operator()(const change_user& wanted) const {
        using change = change_user::change;
        auto users = at_.users();
        auto store = at_.store();
        find_user(users, wanted.user);
        if (wanted.what == change::disable || wanted.what == change::enable || wanted.what == change::remove)
            expect(users.set_disabled(wanted.user, wanted.what != change::enable), "cannot change the user");
        // After being enabled again, users must sign in again.
        if (wanted.what != change::enable) expect(store.end_sessions_of(wanted.user), "cannot end the sessions");
        if (wanted.what == change::remove) remove(users, store, wanted.user);
        record(users, store, kind_of(wanted.what), wanted.user);
        return {{"id", wanted.user.value()}};
    }

    nlohmann::ordered_json operator()(const set_password& wanted) const {
        auto users = at_.users();
        auto store = at_.store();
        find_user(users, wanted.user);
        auto password = read_password();
        const auto hash = hash_password(password);
        tollgate::secure_wipe(password);
        expect(users.set_password_hash(wanted.user, hash), "cannot set the password");
        expect(store.end_sessions_of(wanted.user), "cannot end the sessions");
        record(users, store, activity_kind::password_set, wanted.user);
        return {{"id", wanted.user.value()}};
    }

    nlohmann::ordered_json operator()(const set_quota& wanted) const {
        auto users = at_.users();
        auto done = users.set_requests_per_day(wanted.user, wanted.requests_per_day);
        if (!done && done.error().kind == tollgate::error_kind::not_found) throw no_such_user(wanted.user);
        expect(std::move(done), "cannot set the quota");
        record(users, at_.store(), activity_kind::quota_set, wanted.user, std::to_string(wanted.requests_per_day));
        return {{"id", wanted.user.value()}, {"per_day", wanted.requests_per_day}};
    }

    nlohmann::ordered_json operator()(const add_account& wanted) const {
        auto users = at_.users();
        auto made = users.add_account(wanted.user, wanted.service, wanted.name, wanted.admin);
        if (!made && made.error().kind == tollgate::error_kind::not_found) throw no_such_user(wanted.user);
        const auto account = expect(std::move(made), "cannot add the account");
        record(users, at_.store(), activity_kind::account_added, wanted.user,
               std::string{wanted.service.view()} + " " + std::to_string(account.value()));
        return {{"id", account.value()}};
    }

    nlohmann::ordered_json operator()(const create_token& wanted) const {
        auto users = at_.users();
        expect_user(users, wanted.user);
        auto store = at_.store();
        const auto token = expect(tollgate::issue_personal_token(store, {wanted.user, wanted.description, wanted.scopes}, at_.now(store)),
                                  "cannot create the token");
        record(users, store, activity_kind::token_created, wanted.user, wanted.description);
        return {{"id", token.id.value()},
                {"username", token.username.view()},
                {"secret", token.secret.view()},
                {"scopes", wanted.scopes.text()}};
    }

    nlohmann::ordered_json operator()(const list_tokens& wanted) const {
        auto users = at_.users();
        find_user(users, wanted.user);
        nlohmann::ordered_json printed{{"tokens", nlohmann::ordered_json::array()}};
        for (const auto& each : expect(at_.store().personal_tokens_of(wanted.user), "cannot list the tokens"))
            printed["tokens"].push_back(to_json(each));
        return printed;
    }

    nlohmann::ordered_json operator()(const revoke_token& wanted) const {
        auto users = at_.users();
        auto store = at_.store();
        const auto owner = expect(users.owner_of(wanted.token), "cannot look for the token");
        if (!owner) throw no_such("token", wanted.token);
        std::string description;
        for (const auto& each : expect(store.personal_tokens_of(*owner), "cannot look for the token"))
            if (each.id == wanted.token) description = each.description;
        if (!expect(store.revoke_personal_token(wanted.token), "cannot revoke the token")) throw no_such("token", wanted.token);
        record(users, store, activity_kind::token_revoked, *owner, description);
        return {{"id", wanted.token.value()}};
    }

    nlohmann::ordered_json operator()(const register_app& wanted) const {
        auto users = at_.users();
        expect_user(users, wanted.application.owner);
        auto store = at_.store();
        const auto made = expect(tollgate::register_application(store, wanted.application, at_.now(store)),
                                 "cannot register the application");
        record(users, store, activity_kind::application_registered, wanted.application.owner, wanted.application.name);
        nlohmann::ordered_json shown{{"client_id", made.client_id.view()}};
        if (!made.client_secret.view().empty()) shown["client_secret"] = made.client_secret.view();
        return shown;
    }

    nlohmann::ordered_json operator()(const list_apps& wanted) const {
        auto users = at_.users();
        auto store = at_.store();
        nlohmann::ordered_json printed{{"applications", nlohmann::ordered_json::array()}};
        const auto add_those_of = [&](tollgate::user_id owner) {
            for (const auto& each : expect(store.applications_of(owner), "cannot list the applications"))
                printed["applications"].push_back(to_json(each));
        };
        if (wanted.owner) {
            find_user(users, *wanted.owner);
            add_those_of(*wanted.owner);
            return printed;
        }
        constexpr std::size_t page = 1000;
        for (tollgate::user_id first{1};;) {
            const auto some = expect(users.users_from(first, page), "cannot list the users");
            for (const user_record& each : some) add_those_of(each.id);
            if (some.size() < page) return printed;
            first = tollgate::user_id{some.back().id.value() + 1};
        }
    }

    nlohmann::ordered_json operator()(const delete_app& wanted) const {
        auto store = at_.store();
        const auto found = expect(store.find_application(wanted.client_id.view()), "cannot look for the application");
        if (!found || !expect(store.delete_application(found->owner, found->id), "cannot delete the application"))
            throw run_error{"there is no application '" + std::string{wanted.client_id.view()} + "'."};
        record(at_.users(), store, activity_kind::application_deleted, found->owner, found->name);
        return {{"client_id", wanted.client_id.view()}};
    }

    nlohmann::ordered_json operator()(const list_hooks& wanted) const {
        expect_account(wanted.account);
        nlohmann::ordered_json printed{{"hooks", nlohmann::ordered_json::array()}};
        for (const auto& each : expect(at_.store().hooks_of(wanted.account), "cannot list the webhooks"))
            printed["hooks"].push_back(to_json(each));
        return printed;
    }

    nlohmann::ordered_json operator()(const enable_hook& wanted) const {
        auto store = at_.store();
        const auto account = account_of(store, wanted.hook);
        if (!expect(store.enable_hook(account, wanted.hook, at_.now(store)), "cannot enable the webhook"))
            throw no_such("webhook", wanted.hook);
        record_of(account, store, activity_kind::hook_enabled, std::to_string(wanted.hook.value()));
        return {{"id", wanted.hook.value()}};
    }

    nlohmann::ordered_json operator()(const list_deliveries& wanted) const {
        auto store = at_.store();
        const auto account = account_of(store, wanted.hook);
        nlohmann::ordered_json printed{{"deliveries", nlohmann::ordered_json::array()}};
        for (const auto& each : expect(store.deliveries_of(account, wanted.hook, wanted.rows_max, std::nullopt),
                                       "cannot list the deliveries"))
            printed["deliveries"].push_back(to_json(each));
        return printed;
    }

    nlohmann::ordered_json operator()(const resend_delivery& wanted) const {
        const auto account = expect(at_.users().account_of_delivery(wanted.delivery), "cannot look for the delivery");
        if (!account) throw no_such("delivery", wanted.delivery);
        auto store = at_.store();
        auto done = store.resend(*account, wanted.delivery, at_.now(store));
        if (!done && done.error().kind == tollgate::error_kind::conflict)
            throw run_error{"the webhook of delivery " + std::to_string(wanted.delivery.value()) +
                            " is disabled; `hook enable` sends its held deliveries."};
        if (!expect(std::move(done), "cannot send the delivery again")) throw no_such("delivery", wanted.delivery);
        record_of(*account, store, activity_kind::delivery_resent, std::to_string(wanted.delivery.value()));
        return {{"id", wanted.delivery.value()}};
    }

    nlohmann::ordered_json operator()(const list_audit& wanted) const {
        nlohmann::ordered_json printed{{"activities", nlohmann::ordered_json::array()}};
        for (const auto& each : expect(at_.users().activities(wanted.user, wanted.rows_max), "cannot read the audit log"))
            printed["activities"].push_back(to_json(each));
        return printed;
    }

    nlohmann::ordered_json operator()(const check&) const {
        check_report report;
        report.add("certificate", [this] { return check_certificate(at_.with); });
        report.add("secret_keys", [this] { return check_secret_keys(at_.with); });
        report.add("store", [this] {
            at_.check_integrity();
            const auto schema = at_.schema();
            auto printed = check_schema(schema.store);
            if (schema.store.version == schema.store.newest) check_keys_of(at_.with, at_.one_secret_of_each_key());
            printed["directory"] = check_schema(schema.directory);
            return printed;
        });
        report.add("limits", [this] { return check_limits(at_.with); });
        return report.finish();
    }

    nlohmann::ordered_json operator()(const migrate& wanted) const {
        const auto before = at_.schema();
        if (!wanted.dry_run) {
            static_cast<void>(at_.store());
            static_cast<void>(at_.users());
        }
        const auto print = [](const tollgate::schema_status& found) -> nlohmann::ordered_json {
            return {{"from", found.version},
                    {"to", (std::max)(found.version, found.newest)},
                    {"statements", found.pending_statements}};
        };
        auto printed = print(before.store);
        printed["directory"] = print(before.directory);
        return printed;
    }

    nlohmann::ordered_json operator()(const emit_event& wanted) const {
        auto happened = wanted.happened;
        expect_account(happened.account);
        auto store = at_.store();
        happened.at = at_.now(store);
        // A running server notices the new deliveries by itself; otherwise they are sent when a server starts.
        const auto deliveries =
            expect(tollgate::publish(store, reference_services(), happened, happened.at), "cannot report the event");
        record_of(happened.account, store, activity_kind::event_reported, happened.name);
        return {{"deliveries", deliveries}};
    }

private:
    template <class Id>
    static run_error no_such(const std::string& what, Id id) {
        return run_error{"there is no " + what + " " + std::to_string(id.value()) + "."};
    }
    static run_error no_such_user(tollgate::user_id user) { return no_such("user", user); }

    template <class Users>
    static user_record find_user(Users& users, tollgate::user_id user) {
        auto found = expect(users.users_from(user, 1), "cannot look for the user");
        if (found.empty() || found.front().id != user) throw no_such_user(user);
        return std::move(found.front());
    }

    /// Anything that is created for a disabled user would not work.
    template <class Users>
    static void expect_user(Users& users, tollgate::user_id user) {
        if (find_user(users, user).disabled) throw run_error{"user " + std::to_string(user.value()) + " is disabled."};
    }

    /// To the library, an account that does not exist is an account without webhooks.
    void expect_account(const tollgate::account_ref& account) const {
        if (!expect(at_.users().owner_of(account), "cannot look for the account"))
            throw run_error{"there is no account " + std::to_string(account.account.value()) + " at " +
                            std::string{account.service.view()} + "."};
    }

    static activity_kind kind_of(change_user::change what) noexcept {
        switch (what) {
            case change_user::change::disable: return activity_kind::user_disabled;
            case change_user::change::enable: return activity_kind::user_enabled;
            case change_user::change::remove: return activity_kind::user_deleted;
            case change_user::change::sign_out: break;
        }
        return activity_kind::sessions_ended;
    }

    /// Writes an operator's change to the audit log.
    template <class Users, class Store>
    void record(Users&& users, const Store& store, activity_kind kind, tollgate::user_id user, std::string subject = {}) const {
        expect(users.record({kind, user, std::move(subject), std::nullopt, at_.now(store)}),
               "the change was made, but the audit log cannot be written");
    }
    template <class Store>
    void record_of(const tollgate::account_ref& account, const Store& store, activity_kind kind, std::string subject) const {
        auto users = at_.users();
        if (const auto owner = expect(users.owner_of(account), "cannot look for the account"))
            record(users, store, kind, *owner, std::move(subject));
    }

    template <class Store>
    static tollgate::account_ref account_of(Store& store, tollgate::hook_id hook) {
        const auto services = reference_services();
        for (const auto& each : services.services())
            if (const auto found = expect(store.account_of_hook(each.name, hook), "cannot look for the webhook")) return *found;
        throw no_such("webhook", hook);
    }

    /// The user is already disabled, so nothing is added meanwhile. An interrupted removal can be repeated.
    template <class Users, class Store>
    static void remove(Users& users, Store& store, tollgate::user_id user) {
        for (const auto& each : expect(store.personal_tokens_of(user), "cannot list the tokens"))
            expect(store.revoke_personal_token(each.id), "cannot revoke a token");
        for (const auto& each : expect(store.applications_of(user), "cannot list the applications"))
            expect(store.delete_application(user, each.id), "cannot delete an application");
        for (const auto& each : expect(store.grants_of(user), "cannot list the grants"))
            expect(store.revoke_grant(user, each.application), "cannot revoke a grant");
        const auto services = reference_services();
        for (const auto& service : services.services())
            for (const auto& account : expect(users.accounts_of(user, service.name.view()), "cannot list the accounts")) {
                const tollgate::account_ref of{service.name, account.id};
                for (const auto& each : expect(store.hooks_of(of), "cannot list the webhooks"))
                    expect(store.delete_hook(of, each.id), "cannot delete a webhook");
            }
        expect(users.delete_user(user), "cannot delete the user");
    }

    Place at_;
};

}  // namespace reference
