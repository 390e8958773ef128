#pragma once

#include "admin_commands.hpp"
#include "check.hpp"
#include "data_directory.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "password_hash.hpp"
#include "request_reads.hpp"
#include "services.hpp"
#include "user_records.hpp"

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/account/register_application.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace reference {

/// The versions of the two components of a database.
struct store_schema {
    tollgate::schema_status store;
    tollgate::schema_status directory;

    [[nodiscard]] bool is_empty() const { return store.version == 0 && directory.version == 0; }
    [[nodiscard]] bool needs_migration() const { return store.version < store.newest || directory.version < directory.newest; }
};

/// Whether the command may create the tables. For all others, a mistyped name must not become a new, empty store.
inline bool may_create_tables(const command& chosen) {
    return std::holds_alternative<add_user>(chosen) || std::holds_alternative<migrate>(chosen);
}

/// Runs the commands, for every kind of database: `Database` opens its tables and returns its time.
template <class Database>
class administration {
    using activity_kind = tollgate::activity_kind;

public:
    explicit administration(Database at) : database_{std::move(at)} {}

    nlohmann::ordered_json operator()(const serve&) const { return {}; }  // none of these commands

    nlohmann::ordered_json operator()(const add_user& arguments) const {
        auto password = read_password(arguments.login);
        auto hash = hash_password(password);
        tollgate::secure_wipe(password);
        tables db{database_};  // the first user creates them
        auto added = db.users.add_user({arguments.login, std::move(hash), arguments.currency, arguments.balance});
        if (!added && added.error().kind == tollgate::error_kind::conflict)
            throw run_error{"--login: '" + arguments.login + "' is taken; logins ignore case."};
        const auto user = expect(std::move(added), "cannot add the user");
        db.record(activity_kind::user_added, user, arguments.login);
        return {{"id", user.value()}};
    }

    nlohmann::ordered_json operator()(const list_users& arguments) const {
        auto listed = expect(database_.users().users_from(arguments.first, arguments.rows_max + 1), "cannot list the users");
        std::optional<tollgate::user_id> next;
        if (listed.size() > arguments.rows_max) {
            next = listed.back().id;
            listed.pop_back();
        }
        auto printed = list("users", listed);
        if (next) printed["next"] = next->value();
        return printed;
    }

    nlohmann::ordered_json operator()(const change_user& arguments) const {
        using change = change_user::change;
        tables db{database_};
        db.find_user(arguments.user);
        if (arguments.kind == change::disable || arguments.kind == change::enable || arguments.kind == change::remove)
            expect(db.users.set_disabled(arguments.user, arguments.kind != change::enable), "cannot change the user");
        if (arguments.kind == change::disable) db.suspend_applications_of(arguments.user);
        if (arguments.kind == change::enable) db.resume_applications_of(arguments.user);
        // After being enabled again, users must sign in again.
        if (arguments.kind != change::enable) expect(db.store.end_sessions_of(arguments.user), "cannot end the sessions");
        if (arguments.kind == change::remove) db.remove(arguments.user);
        db.record(kind_of(arguments.kind), arguments.user);
        return {{"id", arguments.user.value()}};
    }

    nlohmann::ordered_json operator()(const set_password& arguments) const {
        tables db{database_};
        const auto login = db.find_user(arguments.user).login;
        auto password = read_password(login);
        const auto hash = hash_password(password);
        tollgate::secure_wipe(password);
        expect(db.users.set_password_hash(arguments.user, hash), "cannot set the password");
        expect(db.store.end_sessions_of(arguments.user), "cannot end the sessions");
        db.record(activity_kind::password_set, arguments.user);
        return {{"id", arguments.user.value()}};
    }

    nlohmann::ordered_json operator()(const set_quota& arguments) const {
        tables db{database_};
        auto done = db.users.set_requests_per_day(arguments.user, arguments.requests_per_day);
        if (!done && done.error().kind == tollgate::error_kind::not_found) throw no_such_user(arguments.user);
        expect(std::move(done), "cannot set the quota");
        const auto& per_day = arguments.requests_per_day;
        db.record(activity_kind::quota_set, arguments.user, per_day ? std::to_string(*per_day) : "");
        nlohmann::ordered_json json{{"id", arguments.user.value()}, {"per_day", nullptr}};
        if (per_day) json["per_day"] = *per_day;
        return json;
    }

    nlohmann::ordered_json operator()(const add_account& arguments) const {
        tables db{database_};
        auto added = db.users.add_account(arguments.user, arguments.service, arguments.name, arguments.admin);
        if (!added && added.error().kind == tollgate::error_kind::conflict)
            throw run_error{"--user: user " + std::to_string(arguments.user.value()) + " already has " + std::to_string(accounts_max) +
                            " accounts at " + std::string{arguments.service.view()} + ", the maximum."};
        if (!added && added.error().kind == tollgate::error_kind::not_found) throw no_such_user(arguments.user);
        const auto account = expect(std::move(added), "cannot add the account");
        db.record(activity_kind::account_added, arguments.user,
               std::string{arguments.service.view()} + " " + std::to_string(account.value()));
        return {{"id", account.value()}};
    }

    nlohmann::ordered_json operator()(const create_token& arguments) const {
        tables db{database_};
        db.expect_user(arguments.user);
        const auto token =
            expect(tollgate::issue_personal_token(db.store, {arguments.user, arguments.description, arguments.scopes}, db.now()),
                   "cannot create the token");
        db.record(activity_kind::token_created, arguments.user, arguments.description);
        return {{"id", token.id.value()},
                {"username", token.username.view()},
                {"secret", token.secret.view()},
                {"scopes", arguments.scopes.text()}};
    }

    nlohmann::ordered_json operator()(const list_tokens& arguments) const {
        tables db{database_};
        db.find_user(arguments.user);
        return list("tokens", expect(db.store.personal_tokens_of(arguments.user), "cannot list the tokens"));
    }

    nlohmann::ordered_json operator()(const revoke_token& arguments) const {
        tables db{database_};
        const auto owner = expect(db.users.owner_of(arguments.token), "cannot look up the token");
        if (!owner) throw no_such("token", arguments.token);
        std::string description;
        for (const auto& each : expect(db.store.personal_tokens_of(*owner), "cannot look up the token"))
            if (each.id == arguments.token) description = each.description;
        if (!expect(db.store.revoke_personal_token(arguments.token), "cannot revoke the token")) throw no_such("token", arguments.token);
        db.record(activity_kind::token_revoked, *owner, description);
        return {{"id", arguments.token.value()}};
    }

    nlohmann::ordered_json operator()(const register_app& arguments) const {
        tables db{database_};
        db.expect_user(arguments.application.owner);
        const auto registered = expect(tollgate::register_application(db.store, arguments.application, db.now()),
                                       "cannot register the application");
        db.record(activity_kind::application_registered, arguments.application.owner, arguments.application.name);
        nlohmann::ordered_json printed{{"client_id", registered.client_id.view()}};
        if (!registered.client_secret.view().empty()) printed["client_secret"] = registered.client_secret.view();
        return printed;
    }

    nlohmann::ordered_json operator()(const list_apps& arguments) const {
        tables db{database_};
        nlohmann::ordered_json printed{{"applications", nlohmann::ordered_json::array()}};
        const auto add_those_of = [&](tollgate::user_id owner) {
            for (const auto& each : expect(db.store.applications_of(owner), "cannot list the applications"))
                printed["applications"].push_back(to_json(each));
        };
        if (arguments.owner) {
            db.find_user(*arguments.owner);
            add_those_of(*arguments.owner);
            return printed;
        }
        constexpr std::size_t page = 1000;
        for (tollgate::user_id first{1};;) {
            const auto some = expect(db.users.users_from(first, page), "cannot list the users");
            for (const user_record& each : some) add_those_of(each.id);
            if (some.size() < page) return printed;
            first = tollgate::user_id{some.back().id.value() + 1};
        }
    }

    nlohmann::ordered_json operator()(const delete_app& arguments) const {
        tables db{database_};
        const auto found = db.find_application(arguments.client_id);
        if (!expect(db.store.delete_application(found.owner, found.id), "cannot delete the application"))
            throw no_such_application(arguments.client_id);
        db.record(activity_kind::application_deleted, found.owner, found.name);
        return {{"client_id", arguments.client_id.view()}};
    }

    nlohmann::ordered_json operator()(const change_app& arguments) const {
        using change = change_app::change;
        tables db{database_};
        const auto found = db.find_application(arguments.client_id);
        if (arguments.kind == change::new_secret) return renew_secret(db, found);
        std::optional<tollgate::suspension> suspended;
        if (arguments.kind == change::suspend) suspended = tollgate::suspension::by_operator;
        else if (!expect(db.users.is_active(found.owner), "cannot look up the owner"))
            throw run_error{"the application's owner, user " + std::to_string(found.owner.value()) + ", is disabled; see `user enable`."};
        if (!expect(db.store.set_suspension(found.id, suspended), "cannot change the application"))
            throw no_such_application(arguments.client_id);
        db.record(suspended ? activity_kind::application_suspended : activity_kind::application_resumed, found.owner, found.name);
        return {{"client_id", arguments.client_id.view()}, {"suspended", suspended.has_value()}};
    }

    nlohmann::ordered_json operator()(const list_grants& arguments) const {
        tables db{database_};
        const auto found = db.find_application(arguments.client_id);
        auto listed = expect(db.users.grants_of(found.id, arguments.first, arguments.rows_max + 1), "cannot list the grants");
        std::optional<tollgate::user_id> next;
        if (listed.size() > arguments.rows_max) {
            next = listed.back().user;
            listed.pop_back();
        }
        auto printed = list("grants", listed);
        if (next) printed["next"] = next->value();
        return printed;
    }

    nlohmann::ordered_json operator()(const revoke_grant& arguments) const {
        tables db{database_};
        const auto found = db.find_application(arguments.client_id);
        if (!expect(db.store.revoke_grant(arguments.user, found.id), "cannot revoke the grant"))
            throw run_error{"user " + std::to_string(arguments.user.value()) + " has granted '" + std::string{arguments.client_id.view()} +
                            "' nothing."};
        db.record(activity_kind::access_revoked, arguments.user, found.name);
        return {{"client_id", arguments.client_id.view()}, {"user", arguments.user.value()}};
    }

    nlohmann::ordered_json operator()(const list_hooks& arguments) const {
        tables db{database_};
        db.expect_account(arguments.account);
        return list("hooks", expect(db.store.hooks_of(arguments.account), "cannot list the webhooks"));
    }

    nlohmann::ordered_json operator()(const enable_hook& arguments) const {
        tables db{database_};
        const auto account = db.account_of(arguments.hook);
        if (!expect(db.store.enable_hook(account, arguments.hook, db.now()), "cannot enable the webhook"))
            throw no_such("webhook", arguments.hook);
        db.record_of(account, activity_kind::hook_enabled, std::to_string(arguments.hook.value()));
        return {{"id", arguments.hook.value()}};
    }

    nlohmann::ordered_json operator()(const list_deliveries& arguments) const {
        tables db{database_};
        const auto account = db.account_of(arguments.hook);
        const auto rows = expect(db.store.deliveries_of(account, arguments.hook, arguments.rows_max, std::nullopt),
                                 "cannot list the deliveries");
        auto listed = list("deliveries", rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto attempts =
                expect(db.store.attempts_of(account, arguments.hook, 1, rows[i].id), "cannot list the attempts");
            listed["deliveries"][i]["last_attempt"] = attempts.empty() ? nlohmann::ordered_json{} : to_json(attempts.front().attempt);
        }
        return listed;
    }

    nlohmann::ordered_json operator()(const resend_delivery& arguments) const {
        tables db{database_};
        const auto account = expect(db.users.account_of_delivery(arguments.delivery), "cannot look up the delivery");
        if (!account) throw no_such("delivery", arguments.delivery);
        auto done = db.store.resend(*account, arguments.delivery, db.now());
        if (!done && done.error().kind == tollgate::error_kind::conflict)
            throw run_error{"the webhook of delivery " + std::to_string(arguments.delivery.value()) +
                            " is disabled; `hook enable` sends its held deliveries."};
        if (!expect(std::move(done), "cannot send the delivery again")) throw no_such("delivery", arguments.delivery);
        db.record_of(*account, activity_kind::delivery_resent, std::to_string(arguments.delivery.value()));
        return {{"id", arguments.delivery.value()}};
    }

    nlohmann::ordered_json operator()(const list_audit& arguments) const {
        return list("activities", expect(database_.users().activities(arguments.user, arguments.rows_max), "cannot read the audit log"));
    }

    nlohmann::ordered_json operator()(const check&) const {
        check_report report;
        report.add("certificate", [this] { return check_certificate(database_.settings); });
        std::optional<tollgate::secret_keys> keys;  // empty if they cannot be read
        report.add("secret_keys", [&]() -> nlohmann::ordered_json {
            const auto& file = database_.settings.secret_key_file;
            keys = read_secret_keys(file);
            if (file.empty()) return nullptr;
            return {{"file", file.string()}};
        });
        report.add("store", [&] {
            database_.check_integrity();
            const auto schema = database_.schema();
            auto printed = check_schema(schema.store);
            if (keys && schema.store.version >= schema.store.newest) check_keys_of(*keys, database_.one_secret_of_each_key());
            printed["directory"] = check_schema(schema.directory);
            if (!schema.needs_migration()) {  // opening them migrates
                tables db{database_};
                expect(try_request_reads(db.users, db.store), "cannot read what requests read");
            }
            return printed;
        });
        report.add("limits", [this] { return check_limits(database_.settings); });
        return report.finish();
    }

    nlohmann::ordered_json operator()(const migrate& arguments) const {
        const auto before = database_.schema();
        const auto refuse_unusable = [](const store_schema& schema) {
            for (const auto* found : {&schema.store, &schema.directory})
                if (found->version != 0) static_cast<void>(check_schema(*found));
        };
        refuse_unusable(before);
        if (!arguments.dry_run) {
            static_cast<void>(database_.store());
            static_cast<void>(database_.users());
            refuse_unusable(database_.schema());
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

    nlohmann::ordered_json operator()(const emit_event& arguments) const {
        auto event = arguments.event;
        tables db{database_};
        db.expect_account(event.account);
        event.at = db.now();
        // A running server notices the new deliveries by itself; otherwise they are sent when a server starts.
        const auto deliveries =
            expect(tollgate::publish(db.store, reference_services(), event, event.at), "cannot publish the event");
        db.record_of(event.account, activity_kind::event_reported, event.name);
        return {{"deliveries", deliveries}};
    }

private:
    /// Both components, opened. Before a change, so that only the audit log can fail after it.
    struct tables {
        explicit tables(const Database& in) : store{in.store()}, users{in.users()} {}

        [[nodiscard]] tollgate::instant now() const { return Database::now(store); }

        user_record find_user(tollgate::user_id user) {
            auto found = expect(users.users_from(user, 1), "cannot look up the user");
            if (found.empty() || found.front().id != user) throw no_such_user(user);
            return std::move(found.front());
        }

        /// Anything that is created for a disabled user would not work.
        void expect_user(tollgate::user_id user) {
            if (find_user(user).disabled) throw run_error{"user " + std::to_string(user.value()) + " is disabled."};
        }

        /// To the library, an account that does not exist is an account without webhooks.
        void expect_account(const tollgate::account_ref& account) {
            if (!expect(users.owner_of(account), "cannot look up the account"))
                throw run_error{"there is no account " + std::to_string(account.account.value()) + " at " +
                                std::string{account.service.view()} + "."};
        }

        tollgate::account_ref account_of(tollgate::hook_id hook) {
            const auto services = reference_services();
            for (const auto& each : services.services())
                if (const auto found = expect(store.account_of_hook(each.name, hook), "cannot look up the webhook")) return *found;
            throw no_such("webhook", hook);
        }

        [[nodiscard]] tollgate::application find_application(const tollgate::client_id_text& client_id) {
            auto found = expect(store.find_application(client_id.view()), "cannot look up the application");
            if (!found) throw no_such_application(client_id);
            return *std::move(found);
        }
        /// Those that are not suspended already: their owner's enabling does not resume what the operator suspended.
        void suspend_applications_of(tollgate::user_id owner) {
            for (const auto& each : expect(store.applications_of(owner), "cannot list the applications"))
                if (!each.suspended)
                    expect(store.set_suspension(each.id, tollgate::suspension::owner_disabled), "cannot suspend an application");
        }
        void resume_applications_of(tollgate::user_id owner) {
            for (const auto& each : expect(store.applications_of(owner), "cannot list the applications"))
                if (each.suspended == tollgate::suspension::owner_disabled)
                    expect(store.set_suspension(each.id, std::nullopt), "cannot resume an application");
        }

        /// Writes an operator's change to the audit log. If that fails, the command warns: the change is made, and its output matters.
        void record(activity_kind kind, tollgate::user_id user, std::string subject = {}) {
            if (const auto recorded = users.record({kind, user, std::move(subject), std::nullopt, now()}); !recorded)
                warn_of(recorded.error());
        }
        void record_of(const tollgate::account_ref& account, activity_kind kind, std::string subject) {
            const auto owner = users.owner_of(account);
            if (!owner) return warn_of(owner.error());
            if (*owner) record(kind, **owner, std::move(subject));
        }
        static void warn_of(const tollgate::error& failed) {
            complain("warning: the change was made, but the audit log cannot be written: " + failed.log_text());
        }

        /// The user is already disabled, so nothing is added meanwhile. An interrupted removal can be repeated.
        void remove(tollgate::user_id user) {
            for (const auto& each : expect(store.personal_tokens_of(user), "cannot list the tokens"))
                expect(store.revoke_personal_token(each.id), "cannot revoke a token");
            for (const auto& each : expect(store.applications_of(user), "cannot list the applications"))
                expect(store.delete_application(user, each.id), "cannot delete an application");
            for (const auto& each : expect(store.grants_of(user), "cannot list the grants"))
                expect(store.revoke_grant(user, each.application), "cannot revoke a grant");
            const auto services = reference_services();
            for (const auto& service : services.services())
                for (const auto& account : expect(users.accounts_of(user, service.name.view()), "cannot list the accounts")) {
                    const tollgate::account_ref ref{service.name, account.id};
                    for (const auto& each : expect(store.hooks_of(ref), "cannot list the webhooks"))
                        expect(store.delete_hook(ref, each.id), "cannot delete a webhook");
                }
            expect(users.delete_user(user), "cannot delete the user");
        }

        decltype(std::declval<const Database&>().store()) store;
        decltype(std::declval<const Database&>().users()) users;
    };

    /// A second secret: the previous one stays valid until the owner removes it, or the next one replaces it.
    template <class Tables>
    static nlohmann::ordered_json renew_secret(Tables& db, const tollgate::application& found) {
        if (found.type == tollgate::client_type::public_client)
            throw run_error{"'" + std::string{found.client_id.view()} + "' is a public client: it has no secret."};
        const auto secret = tollgate::new_secret(tollgate::secret_kind::client_secret, tollgate::system_random{});
        if (!secret) throw run_error{"cannot create a secret: the random source failed."};
        if (!expect(db.store.add_client_secret(found.owner, found.id, tollgate::digest_of(*secret)), "cannot store the secret"))
            throw no_such_application(found.client_id);
        db.record(activity_kind::client_secret_replaced, found.owner, found.name);
        return {{"client_id", found.client_id.view()}, {"client_secret", secret->view()}};
    }

    static run_error no_such_application(const tollgate::client_id_text& client_id) {
        return run_error{"there is no application '" + std::string{client_id.view()} + "'."};
    }
    template <class Id>
    static run_error no_such(const std::string& kind, Id id) {
        return run_error{"there is no " + kind + " " + std::to_string(id.value()) + "."};
    }
    static run_error no_such_user(tollgate::user_id user) { return no_such("user", user); }

    /// `{"tokens": [...]}`
    template <class Row>
    static nlohmann::ordered_json list(const std::string& name, const std::vector<Row>& rows) {
        auto printed = nlohmann::ordered_json::array();
        for (const Row& each : rows) printed.push_back(to_json(each));
        return {{name, std::move(printed)}};
    }

    static activity_kind kind_of(change_user::change change) noexcept {
        switch (change) {
            case change_user::change::disable: return activity_kind::user_disabled;
            case change_user::change::enable: return activity_kind::user_enabled;
            case change_user::change::remove: return activity_kind::user_deleted;
            case change_user::change::sign_out: break;
        }
        return activity_kind::sessions_ended;
    }

    Database database_;
};

}  // namespace reference
