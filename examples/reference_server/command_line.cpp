#include "command_line.hpp"

#include "output.hpp"
#include "text_values.hpp"

#include <tollgate/base/config.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

namespace {

using std::string_view;

bool begins_like_a_flag(string_view word) { return word.starts_with("--"); }

void expect_value(const std::string& flag, string_view value) {
    if (value.empty() && flag != "--description") throw usage_error{flag + ": a value is missing."};
    if (begins_like_a_flag(value))
        throw usage_error{flag + ": a value is missing: '" + to_quotable(value) +
                          "' begins with two dashes."};
}

const CLI::App* find_command(const CLI::App& group, string_view name) {
    const auto named = group.get_subcommands([name](const CLI::App* each) { return each->get_name() == name; });
    return named.empty() ? nullptr : named.front();
}

/// Throws `usage_error` if a word is no flag of its command, if a flag that may be given once is given twice, or if a flag has
/// no value: it is the last word, its value is empty, or another flag follows it. CLI11 would take the other flag as the
/// value, and then run a wrong command or report the wrong word. An empty description is a value. `texts` begin after the
/// program's name.
void expect_flags(const CLI::App& app, std::span<const char* const> texts) {
    const CLI::App* current = &app;
    std::string command;
    std::set<const CLI::Option*> given;
    for (std::size_t at = 0; at < texts.size(); ++at) {
        const string_view word = texts[at];
        const auto equals = begins_like_a_flag(word) ? word.find('=') : string_view::npos;
        const std::string flag{word.substr(0, equals)};
        const CLI::Option* known = current->get_option_no_throw(flag);
        if (known == nullptr) {
            const bool is_group = !current->get_subcommands({}).empty();
            if (is_group && !begins_like_a_flag(word)) {
                current = find_command(*current, word);
                if (current == nullptr) return;  // CLI11 reports it
                command.append(command.empty() ? "" : " ").append(word);
                continue;
            }
            if (is_group) throw usage_error{to_quotable(flag) + ": flags follow the command."};
            if (begins_like_a_flag(word)) throw usage_error{to_quotable(flag) + " is not a flag of '" + command + "'."};
            throw usage_error{"unexpected argument '" + to_quotable(word) + "' of '" + command + "'."};
        }
        if (!given.insert(known).second && known->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
            throw usage_error{flag + " is given more than once."};
        if (equals != string_view::npos) {
            const auto value = word.substr(equals + 1);
            if (value.empty()) throw usage_error{flag + ": a value is missing after the '='."};
            expect_value(flag, value);
        } else if (known->get_items_expected_max() > 0) {
            if (++at == texts.size()) throw usage_error{flag + ": a value is missing."};
            expect_value(flag, texts[at]);
        }
    }
}

/// One command: its flags while they are declared and read, and the command that they make.
class declared_command {
public:
    declared_command(CLI::App& parent, const std::string& name, const std::string& meaning)
        : app_{parent.add_subcommand(name, meaning)} {
        app_->add_option("--config", config_, "JSON file whose keys are the names of these flags, without --; a flag overrides it.")
            ->type_name("FILE");
    }
    declared_command(const declared_command&) = delete;  // CLI11 keeps pointers to what it fills
    declared_command& operator=(const declared_command&) = delete;

    /// A flag of this command, which is required unless it has a default. The text is valid after parsing.
    const std::string& text(const std::string& name, const std::string& value, const std::string& meaning,
                            const char* fallback = nullptr) {
        auto& target = texts_.emplace_back(fallback == nullptr ? "" : fallback);
        auto* option = app_->add_option(name, target, meaning)->type_name(value);
        if (fallback == nullptr) option->required();
        else option->default_str(fallback);
        return target;
    }
    /// A flag that may be given any number of times.
    const std::vector<std::string>& list(const std::string& name, const std::string& value, const std::string& meaning) {
        auto& target = lists_.emplace_back();
        app_->add_option(name, target, meaning)->type_name(value)->expected(1)->allow_extra_args(false)->multi_option_policy(
            CLI::MultiOptionPolicy::TakeAll);
        return target;
    }
    const bool& toggle(const std::string& name, const std::string& meaning) {
        auto& target = toggles_.emplace_back(false);
        app_->add_flag(name, target, meaning)->disable_flag_override();
        return target;
    }

    /// `--payload`, a JSON value, or `-` for the one on stdin: the system bounds an argument. A deprecated
    /// form has the value in `--data` instead, which may then be given twice: for the value and for the directory.
    void payload(const std::string& meaning) { payload_ = &text("--payload", "JSON", meaning, ""); }

    /// The JSON value, and the flag that it came from. Precondition: `payload` was declared, and chosen().
    [[nodiscard]] std::pair<std::string, std::string_view> json_payload() const {
        if (*payload_ == "-") return {read_stdin(tollgate::limits::event_data_bytes_max + 1), "--payload"};
        if (!payload_->empty()) return {*payload_, "--payload"};
        const auto& [json, rest] = split(texts_of("data"));
        if (!json) throw usage_error{"--payload is required (or JSON as --data, which is deprecated)."};
        for (const std::string& each : rest)
            if (tollgate::http::check_json(each))
                throw usage_error{"--data is given twice as JSON. To name such a directory, write './" + each + "'."};
        return {*json, "--data"};
    }

    enum class shared_flags { of_store, of_store_with_keys, all };

    /// Ends the declaration: adds the flags that the command shares with others.
    void makes(std::function<command()> read, shared_flags shared = shared_flags::of_store) {
        read_ = std::move(read);
        for (const flag& each : reference::all_flags())
            if (shared == shared_flags::all || is_shared_flag(each.name) ||
                (shared == shared_flags::of_store_with_keys && each.name == "secret-key-file"))
                declare(each);
    }

    [[nodiscard]] bool chosen() const { return app_->parsed(); }

    /// Precondition: chosen().
    [[nodiscard]] invocation read() const {
        auto parsed = read_();
        return {read_settings(config_, given_flags()), std::move(parsed)};
    }

private:
    struct shared_flag {
        const reference::flag* flag;
        CLI::Option* option = nullptr;
        std::vector<std::string> texts;
        bool toggle = false;
    };

    void declare(const flag& which) {
        auto& into = shared_.emplace_back(shared_flag{&which, nullptr, {}, false});
        const auto name = std::string{"--"}.append(which.name);
        const std::string meaning{which.meaning};
        if (which.type == flag_type::toggle) {
            into.option = app_->add_flag(name, into.toggle, meaning)->disable_flag_override();
            return;
        }
        // One text each time; how often it may be given is checked below, as for every flag.
        into.option = app_->add_option(name, into.texts, meaning)
                          ->type_name(std::string{which.value})
                          ->expected(1)
                          ->allow_extra_args(false)
                          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        if (!which.fallback.empty()) into.option->default_str(std::string{which.fallback});
    }

    [[nodiscard]] std::vector<given_flag> given_flags() const {
        std::vector<given_flag> flags;
        for (const shared_flag& each : shared_) {
            if (each.option->count() == 0) continue;
            const auto type = each.flag->type;
            if (each.flag->name == "data" && payload_ != nullptr && payload_->empty()) {
                auto rest = split(each.texts).second;
                if (rest.size() > 1) throw usage_error{"--data is given more than once in addition to the JSON."};
                if (!rest.empty()) flags.push_back({each.flag->name, std::move(rest)});
                continue;
            }
            if (each.texts.size() > 1 && type != flag_type::list)
                throw usage_error{each.option->get_name() + " is given more than once."};
            flags.push_back({each.flag->name, type == flag_type::toggle
                                                  ? std::vector<std::string>{each.toggle ? "true" : "false"}
                                                  : each.texts});
        }
        return flags;
    }

    [[nodiscard]] const std::vector<std::string>& texts_of(std::string_view name) const {
        return std::find_if(shared_.begin(), shared_.end(), [&](const auto& each) { return each.flag->name == name; })
            ->texts;
    }

    /// At most `bytes_max` bytes of stdin.
    static std::string read_stdin(std::size_t bytes_max) {
        std::string text(bytes_max, '\0');
        std::cin.read(text.data(), static_cast<std::streamsize>(bytes_max));
        text.resize(static_cast<std::size_t>(std::cin.gcount()));
        return text;
    }

    /// The first text that is JSON, and all others.
    static std::pair<std::optional<std::string>, std::vector<std::string>> split(std::vector<std::string> texts) {
        const auto json = std::find_if(texts.begin(), texts.end(),
                                       [](const auto& each) { return tollgate::http::check_json(each).has_value(); });
        if (json == texts.end()) return {std::nullopt, std::move(texts)};
        std::pair<std::optional<std::string>, std::vector<std::string>> found{std::move(*json), {}};
        texts.erase(json);
        found.second = std::move(texts);
        return found;
    }

    CLI::App* app_;
    std::string config_;
    const std::string* payload_ = nullptr;
    std::deque<shared_flag> shared_;
    std::deque<std::string> texts_;
    std::deque<std::vector<std::string>> lists_;
    std::deque<bool> toggles_;
    std::function<command()> read_;
};

using std::string_view;

constexpr std::size_t account_name_bytes_max = 255;  // a line that a person reads
constexpr std::uint64_t requests_per_day_max = 1'000'000'000;
constexpr std::uint64_t rows_max = 10'000;  // of a list: a few MB of JSON

usage_error misfit(string_view flag, string_view text, string_view expects) {
    return usage_error{std::string{flag} + ": '" + to_quotable(text) + "' is not " + std::string{expects} + "."};
}

template <class Id>
Id read_id(string_view flag, const std::string& text) {
    const auto id = Id::parse(text);
    if (!id) throw misfit(flag, text, "an id (a whole number, at least 1)");
    return *id;
}

std::optional<tollgate::user_id> read_optional_user(const std::string& text) {
    if (text.empty()) return std::nullopt;
    return read_id<tollgate::user_id>("--user", text);
}

void require_password_stdin(bool present) {
    if (!present)
        throw usage_error{"--password-stdin is required: a password on the command line could be seen by others."};
}

std::size_t read_limit(const std::string& text) {
    const auto limit = parse_whole_number(text, 1, rows_max);
    if (!limit) throw misfit("--limit", text, "a whole number from 1 to 10000");
    return static_cast<std::size_t>(*limit);
}

add_user read_add_user(const std::string& typed_login, const std::string& currency, const std::string& balance,
                       bool password_stdin) {
    const std::string login{tollgate::trim_login(typed_login)};  // as at sign-in
    const bool visible = std::all_of(login.begin(), login.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (login.empty() || login.size() > tollgate::limits::login_bytes_max || !visible || login.front() == '-')
        throw misfit("--login", typed_login, "1 to 254 visible ASCII characters that do not begin with a dash");
    const auto code = tollgate::currency_code::from(currency);
    if (!code || code->size() != 3 ||
        !std::all_of(currency.begin(), currency.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
        throw misfit("--currency", currency, "a currency code of three capital letters such as EUR");
    const auto amount = tollgate::decimal::parse(balance);
    if (!amount) throw misfit("--balance", balance, "an amount of at most 40 characters such as 1234.56 or -3.5");
    require_password_stdin(password_stdin);
    return {login, *code, *amount};
}

set_quota read_set_quota(const std::string& user, const std::string& per_day) {
    const auto id = read_id<tollgate::user_id>("--user", user);
    if (per_day == "default") return {id, std::nullopt};
    const auto requests = parse_whole_number(per_day, 1, requests_per_day_max);
    if (!requests) throw misfit("--per-day", per_day, "a whole number from 1 to 1000000000, or default");
    return {id, static_cast<std::uint32_t>(*requests)};
}

tollgate::service_name read_service(const std::string& service, const tollgate::service_catalog& services) {
    if (services.find(service) != nullptr) return *tollgate::service_name::from(service);
    std::string known;
    for (const tollgate::service& each : services.services())
        known.append(known.empty() ? "" : ", ").append(each.name.view());
    throw misfit("--service", service, "one of " + known);
}

add_account read_add_account(const std::string& user, const std::string& service, const std::string& name, bool admin,
                             const tollgate::service_catalog& services) {
    const auto at = read_service(service, services);
    if (!is_line_of_text(name, account_name_bytes_max))
        throw misfit("--name", name, "a line of 1 to 255 bytes of UTF-8 without control characters");
    return {read_id<tollgate::user_id>("--user", user), at, name, admin};
}

create_token read_create_token(const std::string& user, const std::string& description, const std::string& scopes,
                               const tollgate::service_catalog& services) {
    if (!is_line_of_text(description, tollgate::limits::token_description_bytes_max))
        throw misfit("--description", description, "a line of 1 to 255 bytes of UTF-8 without control characters");
    const auto set = tollgate::scope_set::parse(scopes);
    if (!set || set->empty()) throw misfit("--scopes", scopes, "a list of scopes such as user:balance,sitesmaker:read");
    set->for_each([&services](string_view scope) {
        if (!services.has_scope(scope)) throw misfit("--scopes", scope, "a scope of this server");
        return true;
    });
    return {read_id<tollgate::user_id>("--user", user), description, *set};
}

struct register_app_flags {
    const std::string& user;
    const std::string& name;
    const std::string& website;
    const std::string& description;
    const std::vector<std::string>& redirect_urls;
    bool is_public;
    bool is_resource_server;
};

register_app read_register_app(const register_app_flags& flags) {
    if (flags.is_public && flags.is_resource_server)
        throw usage_error{"--resource-server: a public client cannot keep the secret that a resource server needs."};
    tollgate::application_request request{
        read_id<tollgate::user_id>("--user", flags.user), flags.name, flags.website, flags.description, flags.redirect_urls};
    if (flags.is_public) request.type = tollgate::client_type::public_client;
    if (flags.is_resource_server) request.type = tollgate::client_type::resource_server;
    const auto faults = tollgate::faults_of(request);
    if (faults.empty()) return {std::move(request)};
    std::string flag{"--"};
    for (char c : faults.front().field) flag += c == '_' ? '-' : c;
    throw usage_error{flag + ": " + std::string{faults.front().message}};
}

emit_event read_emit_event(const std::string& service, const std::string& account, const std::string& name,
                           const std::pair<std::string, string_view>& payload, const tollgate::service_catalog& services) {
    const auto& [data, data_flag] = payload;
    const auto at = read_service(service, services);
    const tollgate::service& found = *services.find(service);
    if (!found.has_event(name)) {
        std::string known;
        for (const std::string& each : found.events) known.append(known.empty() ? "" : ", ").append(each);
        throw misfit("--event", name, "one of " + known);
    }
    emit_event parsed{{.account = {at, read_id<tollgate::account_id>("--account", account)},
                       .name = name,
                       .data = data,
                       .at = tollgate::system_clock{}.now()}};
    if (const auto good = tollgate::check_event(parsed.event, services); !good)
        throw usage_error{good.error().message.starts_with("data ")
                              ? std::string{data_flag} + good.error().message.substr(4)
                              : "--" + good.error().message};
    return parsed;
}

void declare_serve(declared_command& declared) {
    declared.makes([] { return serve{}; }, declared_command::shared_flags::all);
}

void declare_add_user(declared_command& declared) {
    const auto& login = declared.text("--login", "LOGIN", "The name that the user signs in with; unique.");
    const auto& password_stdin =
        declared.toggle("--password-stdin", "Read the password from one line of stdin (required).");
    const auto& currency = declared.text("--currency", "CODE", "ISO 4217 code of the balance.", "EUR");
    const auto& balance = declared.text("--balance", "AMOUNT", "The balance, kept with exactly these digits.", "0");
    declared.makes([&] { return read_add_user(login, currency, balance, password_stdin); });
}

void declare_list_users(declared_command& declared) {
    const auto& first = declared.text("--first", "ID", "First user id to list; an incomplete list ends with \"next\", "
                                      "the first id of the next page.", "1");
    const auto& limit = declared.text("--limit", "N", "Maximum number of users.", "1000");
    declared.makes([&] { return list_users{read_id<tollgate::user_id>("--first", first), read_limit(limit)}; });
}

void declare_change_user(declared_command& declared, change_user::change change) {
    const auto& user = declared.text("--id,--user", "ID", "Id of the user.");
    declared.makes([&user, change] { return change_user{change, read_id<tollgate::user_id>("--id", user)}; });
}

void declare_set_password(declared_command& declared) {
    const auto& user = declared.text("--id,--user", "ID", "Id of the user.");
    const auto& password_stdin =
        declared.toggle("--password-stdin", "Read the password from one line of stdin (required).");
    declared.makes([&] {
        require_password_stdin(password_stdin);
        return set_password{read_id<tollgate::user_id>("--id", user)};
    });
}

void declare_set_quota(declared_command& declared) {
    const auto& user = declared.text("--user,--id", "ID", "Id of the user.");
    const auto& per_day = declared.text("--per-day", "N", "Requests per day, or default for the server's --user-limit.");
    declared.makes([&] { return read_set_quota(user, per_day); });
}

void declare_add_account(declared_command& declared, const tollgate::service_catalog& services) {
    const auto& user = declared.text("--user", "ID", "Id of the user.");
    const auto& service = declared.text("--service", "SERVICE", "Service of the account.");
    const auto& name = declared.text("--name", "NAME", "Name of the account.");
    const auto& admin = declared.toggle("--admin", "The user is an administrator of the account.");
    declared.makes([&] { return read_add_account(user, service, name, admin, services); });
}

const std::string& declare_file(declared_command& declared) {
    return declared.text("--file", "FILE", "JSON lines, one object for each; - reads stdin.");
}

void declare_create_token(declared_command& declared, const tollgate::service_catalog& services) {
    const auto& user = declared.text("--user", "ID", "Id of the user.");
    const auto& description = declared.text("--description", "TEXT", "What the token is for.");
    const auto& scopes = declared.text("--scopes", "LIST", "Scopes of the token: user:balance,sitesmaker:read,...");
    declared.makes([&] { return read_create_token(user, description, scopes, services); });
}

void declare_import_tokens(declared_command& declared) {
    const auto& file = declare_file(declared);
    declared.makes([&] { return import_tokens{file}; });
}

void declare_list_tokens(declared_command& declared) {
    const auto& user = declared.text("--user", "ID", "Id of the user.");
    declared.makes([&] { return list_tokens{read_id<tollgate::user_id>("--user", user)}; });
}

void declare_revoke_token(declared_command& declared) {
    const auto& token = declared.text("--id", "ID", "Id of the token.");
    declared.makes([&] { return revoke_token{read_id<tollgate::token_id>("--id", token)}; });
}

void declare_register_app(declared_command& declared) {
    const auto& user = declared.text("--user", "ID", "Id of the user.");
    const auto& name = declared.text("--name", "NAME", "Name that users see on the consent page.");
    const auto& website = declared.text("--website", "URL", "Website where users can learn more.");
    const auto& description = declared.text("--description", "TEXT", "What the application does.", "");
    const auto& redirect_urls = declared.list("--redirect-url", "URL", "URL to which users return; may be repeated.");
    const auto& is_public =
        declared.toggle("--public", "A public client: it runs on its users' devices, and uses PKCE instead of a secret.");
    const auto& is_resource_server =
        declared.toggle("--resource-server", "A resource server: a service of the operator that introspects access tokens.");
    declared.makes([&] {
        return read_register_app(
            {user, name, website, description, redirect_urls, is_public, is_resource_server});
    });
}

void declare_list_apps(declared_command& declared) {
    const auto& owner = declared.text("--user", "ID", "Id of the user; default: all users.", "");
    declared.makes([&] { return list_apps{read_optional_user(owner)}; });
}

const std::string& declare_client_id(declared_command& declared) {
    return declared.text("--client-id", "CLIENT", "Client ID of the application.");
}

tollgate::client_id_text read_client_id(const std::string& text) {
    const auto id = tollgate::client_id_text::from(text);
    if (!id) throw misfit("--client-id", text, "a client_id");
    return *id;
}

void declare_delete_app(declared_command& declared) {
    const auto& client_id = declare_client_id(declared);
    declared.makes([&] { return delete_app{read_client_id(client_id)}; });
}

void declare_change_app(declared_command& declared, change_app::change change) {
    const auto& client_id = declare_client_id(declared);
    declared.makes([&client_id, change] { return change_app{change, read_client_id(client_id)}; });
}

void declare_list_grants(declared_command& declared) {
    const auto& client_id = declare_client_id(declared);
    const auto& first = declared.text("--first", "ID", "First user id to list; an incomplete list ends with \"next\", "
                                      "the first id of the next page.", "1");
    const auto& limit = declared.text("--limit", "N", "Maximum number of grants.", "1000");
    declared.makes([&] {
        return list_grants{read_client_id(client_id), read_id<tollgate::user_id>("--first", first), read_limit(limit)};
    });
}

void declare_revoke_grant(declared_command& declared) {
    const auto& client_id = declare_client_id(declared);
    const auto& user = declared.text("--user", "ID", "Id of the user.");
    declared.makes([&] { return revoke_grant{read_client_id(client_id), read_id<tollgate::user_id>("--user", user)}; });
}

void declare_list_hooks(declared_command& declared, const tollgate::service_catalog& services) {
    const auto& service = declared.text("--service", "SERVICE", "Service of the account.");
    const auto& account = declared.text("--account", "ID", "Id of the account.");
    declared.makes([&] {
        return list_hooks{{read_service(service, services), read_id<tollgate::account_id>("--account", account)}};
    });
}

/// It has all flags of `serve`, because it needs the keys of secrets and the rule for targets.
void declare_import_hooks(declared_command& declared) {
    const auto& file = declare_file(declared);
    declared.makes([&] { return import_hooks{file}; }, declared_command::shared_flags::all);
}

void declare_enable_hook(declared_command& declared) {
    const auto& hook = declared.text("--id", "ID", "Id of the webhook.");
    declared.makes([&] { return enable_hook{read_id<tollgate::hook_id>("--id", hook)}; });
}

void declare_list_deliveries(declared_command& declared) {
    const auto& hook = declared.text("--hook", "ID", "Id of the webhook.");
    const auto& limit = declared.text("--limit", "N", "Maximum number of entries.", "100");
    declared.makes([&] { return list_deliveries{read_id<tollgate::hook_id>("--hook", hook), read_limit(limit)}; });
}

void declare_resend_delivery(declared_command& declared) {
    const auto& delivery = declared.text("--id", "ID", "Id of the delivery.");
    declared.makes([&] { return resend_delivery{read_id<tollgate::delivery_id>("--id", delivery)}; });
}

void declare_list_audit(declared_command& declared) {
    const auto& user = declared.text("--user", "ID", "Id of the user; default: all users.", "");
    const auto& limit = declared.text("--limit", "N", "Maximum number of entries.", "100");
    declared.makes([&] { return list_audit{read_optional_user(user), read_limit(limit)}; });
}

void declare_export(declared_command& declared) {
    const auto& file = declared.text("--to", "FILE", "File to create, readable by its owner only.");
    declared.makes([&] { return export_store{file}; }, declared_command::shared_flags::of_store_with_keys);
}

void declare_import(declared_command& declared) {
    const auto& file = declared.text("--from", "FILE", "File that `export` wrote.");
    declared.makes([&] { return import_store{file}; }, declared_command::shared_flags::of_store_with_keys);
}

void declare_migrate(declared_command& declared) {
    const auto& dry_run = declared.toggle("--dry-run", "Only print what would be done.");
    declared.makes([&] { return migrate{dry_run}; });
}

void declare_emit_event(declared_command& declared, const tollgate::service_catalog& services) {
    const auto& service = declared.text("--service", "SERVICE", "Service of the account.");
    const auto& account = declared.text("--account", "ID", "Id of the account whose webhooks receive the event.");
    const auto& event = declared.text("--event", "EVENT", "Name of the event: site.published, item.created, ...");
    declared.payload("The event's data: any JSON value; - reads it from stdin. (Deprecated: JSON as --data.)");
    declared.makes([&] { return read_emit_event(service, account, event, declared.json_payload(), services); });
}

/// Some error messages of CLI11 have several lines, and most have no full stop.
std::string to_sentence(std::string text) {
    text.erase(text.find_last_not_of(" \n.") + 1);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return escape_controls(text) + ".";
}

/// For a misspelled subcommand, CLI11 only says that one is missing. This names the wrong word and the available commands.
usage_error no_such_command(const CLI::App& app, int count, const char* const* texts) {
    const CLI::App* group = &app;
    int at = 1;
    for (; at < count; ++at) {
        const auto named = group->get_subcommands([&](const CLI::App* each) { return each->get_name() == texts[at]; });
        if (named.empty()) break;
        group = named.front();
    }
    std::string known;
    for (const CLI::App* each : group->get_subcommands({}))
        known.append(known.empty() ? "" : ", ").append(each->get_name());
    const auto place = group == &app ? std::string{} : group->get_name() + ": ";
    if (at == count) return usage_error{place + "a command is missing: " + known + "."};
    return usage_error{place + "'" + to_quotable(texts[at]) + "' is not a command; available: " + known + "."};
}

/// False after `--help` or `--version`.
bool parse(CLI::App& app, int count, const char* const* texts) {
    try {
        app.parse(count, texts);
    } catch (const CLI::Success& answered) {
        app.exit(answered, std::cout, std::cerr);
        return false;
    } catch (const CLI::RequiredError& error) {
        if (string_view{error.what()}.find("subcommand") != string_view::npos)
            throw no_such_command(app, count, texts);
        throw usage_error{to_sentence(error.what())};
    } catch (const CLI::ArgumentMismatch& error) {
        const string_view text{error.what()};
        const auto name_end = text.find(" was given a disallowed flag override");
        if (name_end == string_view::npos) throw usage_error{to_sentence(error.what())};
        throw usage_error{"--" + std::string{text.substr(0, name_end)} + " does not take a value."};
    } catch (const CLI::ParseError& error) {
        throw usage_error{to_sentence(error.what())};
    }
    return true;
}

}  // namespace

std::optional<invocation> read_command_line(int count, const char* const* texts,
                                            const tollgate::service_catalog& services) {
    CLI::App app{
        "Serves a complete account API: personal tokens, OAuth 2.0, scopes, rate limits, webhooks and web pages."};
    app.name("tollgate-server");
    app.set_version_flag("--version", "tollgate-server " TOLLGATE_VERSION);
    app.require_subcommand(1);
    const auto add_group = [&app](const char* name, const char* meaning) {
        auto* group = app.add_subcommand(name, meaning);
        group->require_subcommand(1);
        return group;
    };
    auto* user = add_group("user", "Users.");
    auto* account = add_group("account", "Users' accounts at services.");
    auto* token = add_group("token", "Personal tokens.");
    auto* app_group = add_group("app", "OAuth applications.");
    auto* hook = add_group("hook", "Webhooks.");
    auto* delivery = add_group("delivery", "Webhook deliveries.");
    auto* event = add_group("event", "Events to publish to webhooks.");
    auto* audit = add_group("audit", "The audit log.");

    std::deque<declared_command> commands;
    const auto add = [&commands](CLI::App& to, const char* name, const char* meaning) -> declared_command& {
        return commands.emplace_back(to, name, meaning);
    };
    using change = change_user::change;
    declare_serve(add(app, "serve", "Serve the API until SIGTERM or SIGINT."));
    declare_add_user(add(*user, "add", "Add a user."));
    declare_list_users(add(*user, "list", "List users."));
    declare_set_quota(add(*user, "quota", "Set a user's own rate limit; it takes effect immediately."));
    declare_set_password(add(*user, "password", "Set a user's password, and sign them out everywhere."));
    declare_change_user(add(*user, "sign-out", "End all sessions of a user."), change::sign_out);
    declare_change_user(add(*user, "disable", "Disable a user: tokens and sessions stop working at once."), change::disable);
    declare_change_user(add(*user, "enable", "Enable a disabled user again; their tokens work again."), change::enable);
    declare_change_user(add(*user, "delete", "Delete a user with all tokens, sessions, applications, grants, accounts and webhooks."),
                        change::remove);
    declare_add_account(add(*account, "add", "Add an account."), services);
    declare_create_token(add(*token, "create", "Create a personal token; its secret is shown only once."), services);
    declare_import_tokens(add(*token, "import", "Import personal tokens of an older system, with their usernames and secrets."));
    declare_list_tokens(add(*token, "list", "List a user's personal tokens."));
    declare_revoke_token(add(*token, "revoke", "Revoke a personal token; it stops working at once."));
    declare_register_app(add(*app_group, "register", "Register an application; its secret is shown only once."));
    declare_list_apps(add(*app_group, "list", "List applications."));
    declare_delete_app(add(*app_group, "delete", "Delete an application; its tokens stop working at once."));
    declare_change_app(add(*app_group, "new-secret", "Create a client secret, shown only once; the previous one stays valid."),
                       change_app::change::new_secret);
    declare_change_app(add(*app_group, "suspend", "Suspend an application: its tokens, refreshes and new codes stop at once."),
                       change_app::change::suspend);
    declare_change_app(add(*app_group, "resume", "Resume a suspended application; its users' refresh tokens work again."),
                       change_app::change::resume);
    declare_list_grants(add(*app_group, "grants", "List the users who have authorized an application."));
    declare_revoke_grant(add(*app_group, "revoke-grant", "Revoke what a user has granted an application, with its tokens."));
    declare_list_hooks(add(*hook, "list", "List an account's webhooks."), services);
    declare_import_hooks(add(*hook, "import", "Import webhooks of an older system, with their secrets."));
    declare_enable_hook(add(*hook, "enable", "Enable a disabled webhook, and send its held deliveries."));
    declare_list_deliveries(add(*delivery, "list", "List a webhook's deliveries, newest first."));
    declare_resend_delivery(add(*delivery, "resend", "Send a delivery again immediately."));
    declare_emit_event(add(*event, "emit", "Publish an event: one delivery to each of the account's webhooks for this event."), services);
    declare_list_audit(add(*audit, "list", "List who did what, newest first."));
    declare_export(add(app, "export", "Write all records to a new file, for `import` into another store."));
    declare_import(add(app, "import", "Read the records of a file into an empty store: all of them or none."));
    add(app, "check", "Check the configuration, certificate, store and limits that `serve` would use with these flags.")
        .makes([] { return check{}; }, declared_command::shared_flags::all);
    declare_migrate(add(app, "migrate", "Bring the store's tables up to date, as `serve` does when it starts."));

    if (count > 0) expect_flags(app, std::span{texts, static_cast<std::size_t>(count)}.subspan(1));
    if (!parse(app, count, texts)) return std::nullopt;
    const auto chosen = std::find_if(commands.begin(), commands.end(), [](const auto& each) { return each.chosen(); });
    auto invoked = chosen->read();
    const bool needs_no_store = std::holds_alternative<serve>(invoked.command) || std::holds_alternative<check>(invoked.command);
    if (!needs_no_store && invoked.settings.store_location().kind == location::kind::memory)
        throw usage_error{"--store: 'memory:' exists only in the serving process; other commands cannot use it."};
    return invoked;
}

}  // namespace reference
