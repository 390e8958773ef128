#include "admin_commands.hpp"

#include "check.hpp"
#include "data_directory.hpp"
#include "output.hpp"
#include "passwords.hpp"
#include "storage.hpp"
#include "text_values.hpp"

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/account/register_application.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace reference {

using namespace tollgate;

namespace {

nlohmann::ordered_json to_json(const std::optional<instant>& at) {
    if (!at) return nullptr;
    return to_iso8601(*at).view();
}

std::string_view name_of(delivery_state state) {
    switch (state) {
        case delivery_state::waiting: return "waiting";
        case delivery_state::delivered: return "delivered";
        case delivery_state::given_up: return "given_up";
        case delivery_state::held: return "held";
    }
    return {};
}

// The printed form of a row: never a secret, a digest or a hash.

nlohmann::ordered_json to_json(const user_record& row) {
    nlohmann::ordered_json json{{"id", row.id.value()},
                                {"login", row.login},
                                {"disabled", row.disabled},
                                {"currency", row.currency.view()},
                                {"balance", row.balance.text()},
                                {"per_day", nullptr}};
    if (row.requests_per_day) json["per_day"] = *row.requests_per_day;
    return json;
}

nlohmann::ordered_json to_json(const personal_token& row) {
    return {{"id", row.id.value()},
            {"username", row.username.view()},
            {"description", row.description},
            {"scopes", row.scopes.text()},
            {"created_at", to_iso8601(row.created_at).view()},
            {"expires_at", to_json(row.expires_at)},
            {"last_used_at", to_json(row.last_used_at)},
            {"last_used_from", row.last_used_from}};
}

nlohmann::ordered_json to_json(const application_grant& row) {
    return {{"user", row.user.value()},
            {"scopes", row.scopes.text()},
            {"created_at", to_iso8601(row.created_at).view()},
            {"last_used_at", to_json(row.last_used_at)}};
}

nlohmann::ordered_json to_json(const application& row) {
    nlohmann::ordered_json json{{"client_id", row.client_id.view()},
            {"user", row.owner.value()},
            {"name", row.name},
            {"website", row.website},
            {"description", row.description},
            {"type", to_text(row.type)},
            {"redirect_urls", row.redirect_urls},
            {"users", row.users},
            {"created_at", to_iso8601(row.created_at).view()},
            {"suspended", nullptr}};
    if (row.suspended) json["suspended"] = to_text(*row.suspended);
    return json;
}

nlohmann::ordered_json to_json(const hook& row) {
    nlohmann::ordered_json json{{"id", row.id.value()},
                                {"event", row.event},
                                {"target_url", row.target_url},
                                {"source", to_text(row.source)},
                                {"type", row.type},
                                {"created_at", to_iso8601(row.created_at).view()},
                                {"failing_since", to_json(row.failing_since)},
                                {"disabled_at", nullptr}};
    if (row.disabled) {
        json["disabled_at"] = to_iso8601(row.disabled->at).view();
        json["disable_reason"] = row.disabled->reason == disable_reason::gone ? "gone" : "failing";
    }
    return json;
}

nlohmann::ordered_json to_json(const delivery& row) {
    return {{"id", row.id.value()},
            {"webhook_id", row.message_id.view()},
            {"event", row.event},
            {"state", name_of(row.state)},
            {"attempts", row.attempts_made},
            {"created_at", to_iso8601(row.created_at).view()},
            {"next_attempt_at", to_json(row.next_attempt_at)}};
}

nlohmann::ordered_json to_json(const attempt& row) {
    nlohmann::ordered_json json{{"at", to_iso8601(row.at).view()},
                                {"duration_ms", row.duration.count()},
                                {"status", nullptr},
                                {"outcome", to_text(row.end)},
                                {"cause", nullptr}};
    if (row.status != 0) json["status"] = row.status;
    if (row.cause != attempt_cause::none) json["cause"] = to_text(row.cause);
    return json;
}

nlohmann::ordered_json to_json(const activity& row) {
    const bool is_reuse = row.kind == activity_kind::access_revoked_after_reuse;
    nlohmann::ordered_json json{{"at", to_iso8601(row.at).view()},
                                {"user", row.user.value()},
                                {"by", is_reuse ? "application" : row.client ? "user" : "operator"},
                                {"what", to_text(row.kind)},
                                {"subject", row.subject},
                                {"client", nullptr}};
    if (row.client) json["client"] = row.client->to_text();
    return json;
}

static_assert(limits::password_bytes_max == 1024 && limits::password_characters_min == 8, "the messages name the bounds");

/// One line of stdin, without its end. Throws `usage_error`.
std::string read_password(std::string_view login) {
    std::string line;
    std::getline(std::cin, line);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) throw usage_error{"--password-stdin: stdin contains no password."};
    if (!is_valid_utf8(line)) throw usage_error{"--password-stdin: the password is not UTF-8."};
    if (limits::count_characters(normalize_password(line)) < limits::password_characters_min)
        throw usage_error{"--password-stdin: the password is shorter than 8 characters."};
    if (line.size() > limits::password_bytes_max)
        throw usage_error{"--password-stdin: the password is longer than 1024 bytes."};
    if (is_common_password(line, login))
        throw usage_error{"--password-stdin: the password is the login, or one of the most common passwords."};
    return line;
}

/// Whether the command may create the tables. For all others, a mistyped name must not become a new, empty store.
bool may_create_tables(const command& chosen) {
    return std::holds_alternative<add_user>(chosen) || std::holds_alternative<migrate>(chosen);
}

/// Runs the commands.
class administration {
public:
    administration(const database& at, const settings& settings) : database_{at}, settings_{settings} {}

    nlohmann::ordered_json operator()(const serve&) const { return {}; }  // none of these commands

    nlohmann::ordered_json operator()(const add_user& arguments) const {
        auto password = read_password(arguments.login);
        auto hash = hash_password(password);
        secure_wipe(password);
        tables db{database_};  // the first user creates them
        auto added = db.users.add_user({arguments.login, std::move(hash), arguments.currency, arguments.balance});
        if (!added && added.error().kind == error_kind::conflict)
            throw run_error{"--login: '" + arguments.login + "' is taken; logins ignore case."};
        const auto user = expect(std::move(added), "cannot add the user");
        db.record(activity_kind::user_added, user, arguments.login);
        return {{"id", user.value()}};
    }

    nlohmann::ordered_json operator()(const list_users& arguments) const {
        auto listed = expect(database_.users()->users_from(arguments.first, arguments.rows_max + 1), "cannot list the users");
        std::optional<user_id> next;
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
        if (arguments.kind != change::enable) expect(db.store.end_sessions(sessions_of_user{arguments.user}), "cannot end the sessions");
        if (arguments.kind == change::remove) db.remove(arguments.user);
        db.record(kind_of(arguments.kind), arguments.user);
        return {{"id", arguments.user.value()}};
    }

    nlohmann::ordered_json operator()(const set_password& arguments) const {
        tables db{database_};
        const auto login = db.find_user(arguments.user).login;
        auto password = read_password(login);
        const auto hash = hash_password(password);
        secure_wipe(password);
        expect(db.users.set_password_hash(arguments.user, hash), "cannot set the password");
        expect(db.store.end_sessions(sessions_of_user{arguments.user}), "cannot end the sessions");
        db.record(activity_kind::password_set, arguments.user);
        return {{"id", arguments.user.value()}};
    }

    nlohmann::ordered_json operator()(const set_quota& arguments) const {
        tables db{database_};
        auto done = db.users.set_requests_per_day(arguments.user, arguments.requests_per_day);
        if (!done && done.error().kind == error_kind::not_found) throw no_such_user(arguments.user);
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
        if (!added && added.error().kind == error_kind::conflict)
            throw run_error{"--user: user " + std::to_string(arguments.user.value()) + " already has " + std::to_string(accounts_max) +
                            " accounts at " + std::string{arguments.service.view()} + ", the maximum."};
        if (!added && added.error().kind == error_kind::not_found) throw no_such_user(arguments.user);
        const auto account = expect(std::move(added), "cannot add the account");
        db.record(activity_kind::account_added, arguments.user,
               std::string{arguments.service.view()} + " " + std::to_string(account.value()));
        return {{"id", account.value()}};
    }

    nlohmann::ordered_json operator()(const create_token& arguments) const {
        tables db{database_};
        db.expect_user(arguments.user);
        const auto token =
            expect(issue_personal_token(db.store, {arguments.user, arguments.description, arguments.scopes}, db.now()),
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
        if (!expect(db.store.revoke(personal_token_revocation{arguments.token}), "cannot revoke the token"))
            throw no_such("token", arguments.token);
        db.record(activity_kind::token_revoked, *owner, description);
        return {{"id", arguments.token.value()}};
    }

    nlohmann::ordered_json operator()(const register_app& arguments) const {
        tables db{database_};
        db.expect_user(arguments.application.owner);
        const auto registered = expect(register_application(db.store, arguments.application, db.now()),
                                       "cannot register the application");
        db.record(activity_kind::application_registered, arguments.application.owner, arguments.application.name);
        nlohmann::ordered_json printed{{"client_id", registered.client_id.view()}};
        if (!registered.client_secret.view().empty()) printed["client_secret"] = registered.client_secret.view();
        return printed;
    }

    nlohmann::ordered_json operator()(const list_apps& arguments) const {
        tables db{database_};
        nlohmann::ordered_json printed{{"applications", nlohmann::ordered_json::array()}};
        const auto add_those_of = [&](user_id owner) {
            for (const auto& each : expect(db.store.applications_of(owner), "cannot list the applications"))
                printed["applications"].push_back(to_json(each));
        };
        if (arguments.owner) {
            db.find_user(*arguments.owner);
            add_those_of(*arguments.owner);
            return printed;
        }
        constexpr std::size_t page = 1000;
        for (user_id first{1};;) {
            const auto some = expect(db.users.users_from(first, page), "cannot list the users");
            for (const user_record& each : some) add_those_of(each.id);
            if (some.size() < page) return printed;
            first = user_id{some.back().id.value() + 1};
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
        std::optional<suspension> suspended;
        if (arguments.kind == change::suspend) suspended = suspension::by_operator;
        else if (!expect(db.users.is_active(found.owner), "cannot look up the owner"))
            throw run_error{"the application's owner, user " + std::to_string(found.owner.value()) + ", is disabled; see `user enable`."};
        if (!expect(db.store.change_application({}, found.id, suspension_change{suspended}), "cannot change the application"))
            throw no_such_application(arguments.client_id);
        db.record(suspended ? activity_kind::application_suspended : activity_kind::application_resumed, found.owner, found.name);
        return {{"client_id", arguments.client_id.view()}, {"suspended", suspended.has_value()}};
    }

    nlohmann::ordered_json operator()(const list_grants& arguments) const {
        tables db{database_};
        const auto found = db.find_application(arguments.client_id);
        auto listed = expect(db.users.grants_of(found.id, arguments.first, arguments.rows_max + 1), "cannot list the grants");
        std::optional<user_id> next;
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
        if (!expect(db.store.revoke(grant_revocation{arguments.user, found.id}), "cannot revoke the grant"))
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
        if (!expect(db.store.change_hook(account, arguments.hook, hook_enabling{db.now()}), "cannot enable the webhook"))
            throw no_such("webhook", arguments.hook);
        db.record_of(account, activity_kind::hook_enabled, std::to_string(arguments.hook.value()));
        return {{"id", arguments.hook.value()}};
    }

    nlohmann::ordered_json operator()(const list_deliveries& arguments) const {
        tables db{database_};
        const auto account = db.account_of(arguments.hook);
        const auto rows = expect(
            db.store.deliveries_of(account, {.hook = arguments.hook, .rows_max = arguments.rows_max, .attempts_max = 1}),
            "cannot list the deliveries");
        auto listed = nlohmann::ordered_json::array();
        for (const auto& [delivery, attempts] : rows) {
            listed.push_back(to_json(delivery));
            listed.back()["last_attempt"] = attempts.empty() ? nlohmann::ordered_json{} : to_json(attempts.front());
        }
        return {{"deliveries", std::move(listed)}};
    }

    nlohmann::ordered_json operator()(const resend_delivery& arguments) const {
        tables db{database_};
        const auto account = expect(db.users.account_of_delivery(arguments.delivery), "cannot look up the delivery");
        if (!account) throw no_such("delivery", arguments.delivery);
        auto done = db.store.resend(*account, arguments.delivery, db.now());
        if (!done && done.error().kind == error_kind::conflict)
            throw run_error{"the webhook of delivery " + std::to_string(arguments.delivery.value()) +
                            " is disabled; `hook enable` sends its held deliveries."};
        if (!expect(std::move(done), "cannot send the delivery again")) throw no_such("delivery", arguments.delivery);
        db.record_of(*account, activity_kind::delivery_resent, std::to_string(arguments.delivery.value()));
        return {{"id", arguments.delivery.value()}};
    }

    nlohmann::ordered_json operator()(const list_audit& arguments) const {
        return list("activities", expect(database_.users()->activities(arguments.user, arguments.rows_max), "cannot read the audit log"));
    }

    nlohmann::ordered_json operator()(const check&) const {
        check_report report;
        report.add("certificate", [this] { return check_certificate(settings_); });
        std::optional<secret_keys> keys;  // empty if they cannot be read
        report.add("secret_keys", [&]() -> nlohmann::ordered_json {
            const auto& file = settings_.secret_key_file;
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
        report.add("limits", [this] { return check_limits(settings_); });
        return report.finish();
    }

    nlohmann::ordered_json operator()(const migrate& arguments) const {
        const auto before = database_.schema();
        const auto refuse_unusable = [](const storage_schema& schema) {
            for (const auto* found : {&schema.store, &schema.directory})
                if (found->version != 0) static_cast<void>(check_schema(*found));
        };
        refuse_unusable(before);
        if (!arguments.dry_run) {
            static_cast<void>(database_.store());
            static_cast<void>(database_.users());
            refuse_unusable(database_.schema());
        }
        const auto print = [](const schema_status& found) -> nlohmann::ordered_json {
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
            expect(publish(db.store, reference_services(), event, event.at), "cannot publish the event");
        db.record_of(event.account, activity_kind::event_reported, event.name);
        return {{"deliveries", deliveries}};
    }

private:
    /// Both components, opened. Before a change, so that only the audit log can fail after it.
    struct tables {
        explicit tables(const database& in) : store{in.store()}, opened_users{in.users()}, users{*opened_users} {}

        [[nodiscard]] instant now() const { return store.now(); }

        user_record find_user(user_id user) {
            auto found = expect(users.users_from(user, 1), "cannot look up the user");
            if (found.empty() || found.front().id != user) throw no_such_user(user);
            return std::move(found.front());
        }

        /// Anything that is created for a disabled user would not work.
        void expect_user(user_id user) {
            if (find_user(user).disabled) throw run_error{"user " + std::to_string(user.value()) + " is disabled."};
        }

        /// To the library, an account that does not exist is an account without webhooks.
        void expect_account(const account_ref& account) {
            if (!expect(users.owner_of(account), "cannot look up the account"))
                throw run_error{"there is no account " + std::to_string(account.account.value()) + " at " +
                                std::string{account.service.view()} + "."};
        }

        account_ref account_of(hook_id hook) {
            const auto services = reference_services();
            for (const auto& each : services.services())
                if (const auto found = expect(store.account_of_hook(each.name, hook), "cannot look up the webhook")) return *found;
            throw no_such("webhook", hook);
        }

        [[nodiscard]] application find_application(const client_id_text& client_id) {
            auto found = expect(store.find_application(client_id.view()), "cannot look up the application");
            if (!found) throw no_such_application(client_id);
            return *std::move(found);
        }
        /// Those that are not suspended already: their owner's enabling does not resume what the operator suspended.
        void suspend_applications_of(user_id owner) {
            for (const auto& each : expect(store.applications_of(owner), "cannot list the applications"))
                if (!each.suspended)
                    expect(store.change_application(owner, each.id, suspension_change{suspension::owner_disabled}),
                           "cannot suspend an application");
        }
        void resume_applications_of(user_id owner) {
            for (const auto& each : expect(store.applications_of(owner), "cannot list the applications"))
                if (each.suspended == suspension::owner_disabled)
                    expect(store.change_application(owner, each.id, suspension_change{}), "cannot resume an application");
        }

        /// Writes an operator's change to the audit log. If that fails, the command warns: the change is made, and its output matters.
        void record(activity_kind kind, user_id user, std::string subject = {}) {
            if (const auto recorded = users.record({kind, user, std::move(subject), std::nullopt, now()}); !recorded)
                warn_of(recorded.error());
        }
        void record_of(const account_ref& account, activity_kind kind, std::string subject) {
            const auto owner = users.owner_of(account);
            if (!owner) return warn_of(owner.error());
            if (*owner) record(kind, **owner, std::move(subject));
        }
        static void warn_of(const error& failed) {
            complain("warning: the change was made, but the audit log cannot be written: " + failed.log_text());
        }

        /// The user is already disabled, so nothing is added meanwhile. An interrupted removal can be repeated.
        void remove(user_id user) {
            for (const auto& each : expect(store.personal_tokens_of(user), "cannot list the tokens"))
                expect(store.revoke(personal_token_revocation{each.id}), "cannot revoke a token");
            for (const auto& each : expect(store.applications_of(user), "cannot list the applications"))
                expect(store.delete_application(user, each.id), "cannot delete an application");
            for (const auto& each : expect(store.grants_of(user), "cannot list the grants"))
                expect(store.revoke(grant_revocation{user, each.application}), "cannot revoke a grant");
            const auto services = reference_services();
            for (const auto& service : services.services())
                for (const auto& account : expect(users.accounts_of(user, service.name.view()), "cannot list the accounts")) {
                    const account_ref ref{service.name, account.id};
                    for (const auto& each : expect(store.hooks_of(ref), "cannot list the webhooks"))
                        expect(store.delete_hook(ref, each.id), "cannot delete a webhook");
                }
            expect(users.delete_user(user), "cannot delete the user");
        }

        const any_store store;
        const std::unique_ptr<database_directory> opened_users;
        database_directory& users;
    };

    /// A second secret: the previous one stays valid until the owner removes it, or the next one replaces it.
    static nlohmann::ordered_json renew_secret(tables& db, const application& found) {
        if (found.type == client_type::public_client)
            throw run_error{"'" + std::string{found.client_id.view()} + "' is a public client: it has no secret."};
        const auto secret = new_secret(secret_kind::client_secret, system_random{});
        if (!secret) throw run_error{"cannot create a secret: the random source failed."};
        if (!expect(db.store.change_application({}, found.id, client_secret_addition{digest_of(*secret)}), "cannot store the secret"))
            throw no_such_application(found.client_id);
        db.record(activity_kind::client_secret_replaced, found.owner, found.name);
        return {{"client_id", found.client_id.view()}, {"client_secret", secret->view()}};
    }

    static run_error no_such_application(const client_id_text& client_id) {
        return run_error{"there is no application '" + std::string{client_id.view()} + "'."};
    }
    template <class Id>
    static run_error no_such(const std::string& kind, Id id) {
        return run_error{"there is no " + kind + " " + std::to_string(id.value()) + "."};
    }
    static run_error no_such_user(user_id user) { return no_such("user", user); }

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

    const database& database_;
    const settings& settings_;
};

nlohmann::ordered_json check_without_store(const settings& settings) {
    check_report report;
    report.add("certificate", [&] { return check_certificate(settings); });
    report.add("limits", [&] { return check_limits(settings); });
    return report.finish();
}

}  // namespace

nlohmann::ordered_json administer(const command& chosen, const settings& settings) {
    if (settings.store_location().kind == location::kind::memory) return check_without_store(settings);
    return std::visit(administration{*database_of(settings, may_create_tables(chosen)), settings}, chosen);
}

}  // namespace reference
