#include "command_line.hpp"

#include "failure.hpp"
#include "flag_values.hpp"

#include <tollgate/base/config.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <span>

namespace reference {

namespace {

using std::string_view;

constexpr std::size_t account_name_bytes_max = 255;  // a line that a person reads
constexpr std::uint64_t requests_per_day_max = 1'000'000'000;

usage_error misfit(string_view flag, string_view text, string_view expects) {
    return usage_error{std::string{flag} + ": '" + escape_controls(text) + "' is not " + std::string{expects} + "."};
}

/// One command: its flags while they are declared and read, and what they make.
class declared_command {
public:
    declared_command(CLI::App& parent, const std::string& name, const std::string& meaning)
        : app_{parent.add_subcommand(name, meaning)} {
        app_->add_option("--config", config_, "JSON with the same names; a flag wins over the file.")
            ->type_name("FILE");
    }
    declared_command(const declared_command&) = delete;  // CLI11 keeps pointers to what it fills
    declared_command& operator=(const declared_command&) = delete;

    /// One flag of the command's own, which must be given unless there is a default. The text is there after parsing.
    const std::string& text(const std::string& name, const std::string& value, const std::string& meaning,
                            const char* fallback = nullptr) {
        auto& target = texts_.emplace_back(fallback == nullptr ? "" : fallback);
        auto* option = app_->add_option(name, target, meaning)->type_name(value);
        if (fallback == nullptr) option->required();
        else option->default_str(fallback);
        return target;
    }
    const bool& toggle(const std::string& name, const std::string& meaning) {
        auto& target = toggles_.emplace_back(false);
        app_->add_flag(name, target, meaning);
        return target;
    }

    /// `--payload`, a JSON value. Without it `--data` may hold the value instead, and, given twice, the directory as well:
    /// a deprecated form.
    void payload(const std::string& meaning) { payload_ = &text("--payload", "JSON", meaning, ""); }

    /// The JSON value, and the flag that it came from. Precondition: `payload` was declared, and chosen().
    [[nodiscard]] std::pair<std::string, string_view> json_payload() const {
        if (!payload_->empty()) return {*payload_, "--payload"};
        const auto& [json, rest] = split(texts_of("data"));
        if (!json) throw usage_error{"--payload is required (or JSON as --data, which is deprecated)."};
        for (const std::string& each : rest)
            if (tollgate::http::check_json(each))
                throw usage_error{"--data is given twice as JSON. A directory of such a name is './" + each + "'."};
        return {*json, "--data"};
    }

    /// Ends the declaration: adds the flags that the command shares with others, all of them or the least.
    void makes(std::function<command()> read, bool all_flags = false) {
        read_ = std::move(read);
        for (const flag& each : reference::all_flags())
            if (all_flags || is_shared_flag(each.name)) declare(each);
    }

    [[nodiscard]] bool chosen() const { return app_->parsed(); }

    /// Precondition: chosen().
    [[nodiscard]] invocation read() const {
        auto what = read_();
        return {read_settings(config_, given_flags()), std::move(what)};
    }

private:
    struct shared_flag {
        const flag* which;
        CLI::Option* option = nullptr;
        std::vector<std::string> texts;
        bool toggle = false;
    };

    void declare(const flag& which) {
        auto& into = shared_.emplace_back(shared_flag{&which, nullptr, {}, false});
        const auto name = std::string{"--"}.append(which.name);
        const std::string meaning{which.meaning};
        if (which.type == flag_type::toggle) {
            into.option = app_->add_flag(name, into.toggle, meaning);
            return;
        }
        // One text each time; how often it may be given is judged below, as for every flag.
        into.option = app_->add_option(name, into.texts, meaning)
                          ->type_name(std::string{which.value})
                          ->expected(1)
                          ->allow_extra_args(false)
                          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        if (!which.fallback.empty()) into.option->default_str(std::string{which.fallback});
    }

    [[nodiscard]] std::vector<given_flag> given_flags() const {
        std::vector<given_flag> given;
        for (const shared_flag& each : shared_) {
            if (each.option->count() == 0) continue;
            const auto type = each.which->type;
            if (each.which->name == "data" && payload_ != nullptr && payload_->empty()) {
                auto rest = split(each.texts).second;
                if (rest.size() > 1) throw usage_error{"--data is given more than once beside its JSON."};
                if (!rest.empty()) given.push_back({each.which->name, std::move(rest)});
                continue;
            }
            if (each.texts.size() > 1 && type != flag_type::list)
                throw usage_error{each.option->get_name() + " is given more than once."};
            given.push_back({each.which->name, type == flag_type::toggle
                                                   ? std::vector<std::string>{each.toggle ? "true" : "false"}
                                                   : each.texts});
        }
        return given;
    }

    [[nodiscard]] const std::vector<std::string>& texts_of(string_view name) const {
        return std::find_if(shared_.begin(), shared_.end(), [&](const auto& each) { return each.which->name == name; })
            ->texts;
    }

    /// The first that is JSON, and all others. One alone is meant to be JSON.
    static std::pair<std::optional<std::string>, std::vector<std::string>> split(std::vector<std::string> texts) {
        if (texts.size() == 1) return {std::move(texts.front()), {}};
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
    std::deque<bool> toggles_;
    std::function<command()> read_;
};

template <class Id>
Id read_id(string_view flag, const std::string& text) {
    const auto id = Id::parse(text);
    if (!id) throw misfit(flag, text, "an id (a whole number from 1 on)");
    return *id;
}

add_user read_add_user(const std::string& login, const std::string& currency, const std::string& balance,
                       bool password_stdin) {
    const bool visible = std::all_of(login.begin(), login.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (login.empty() || login.size() > tollgate::limits::login_bytes_max || !visible || login.front() == '-')
        throw misfit("--login", login, "1 to 254 visible ASCII characters without a dash in front");
    const auto code = tollgate::currency_code::from(currency);
    if (!code || code->size() != 3 ||
        !std::all_of(currency.begin(), currency.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
        throw misfit("--currency", currency, "a currency code of three capital letters such as EUR");
    const auto amount = tollgate::decimal::parse(balance);
    if (!amount) throw misfit("--balance", balance, "an amount such as 1234.56 or -3.5");
    if (!password_stdin)
        throw usage_error{"--password-stdin is required: a password on the command line could be seen by others."};
    return {login, *code, *amount};
}

set_quota read_set_quota(const std::string& user, const std::string& per_day) {
    const auto requests = parse_whole_number(per_day, 1, requests_per_day_max);
    if (!requests) throw misfit("--per-day", per_day, "a whole number from 1 to 1000000000");
    return {read_id<tollgate::user_id>("--user", user), static_cast<std::uint32_t>(*requests)};
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

register_app read_register_app(const std::string& user, const std::string& name, const std::string& website,
                               const std::string& description, const std::string& redirect_url) {
    tollgate::application_request wanted{read_id<tollgate::user_id>("--user", user), name, website, description,
                                         redirect_url.empty() ? std::nullopt : std::optional{redirect_url}};
    const auto faults = tollgate::faults_of(wanted);
    if (faults.empty()) return {std::move(wanted)};
    std::string flag{"--"};
    for (char c : faults.front().field) flag += c == '_' ? '-' : c;
    throw usage_error{flag + ": " + std::string{faults.front().message}};
}

emit_event read_emit_event(const std::string& service, const std::string& account, const std::string& name,
                           const std::pair<std::string, string_view>& payload, const tollgate::service_catalog& services) {
    const auto& [data, data_flag] = payload;
    const auto at = read_service(service, services);
    const tollgate::service& of = *services.find(service);
    if (!of.has_event(name)) {
        std::string known;
        for (const std::string& each : of.events) known.append(known.empty() ? "" : ", ").append(each);
        throw misfit("--event", name, "one of " + known);
    }
    emit_event wanted{{.account = {at, read_id<tollgate::account_id>("--account", account)},
                       .name = name,
                       .data = data,
                       .at = tollgate::system_clock{}.now()}};
    if (const auto good = tollgate::check_event(wanted.happened, services); !good)
        throw usage_error{good.error().message.starts_with("data ")
                              ? std::string{data_flag} + good.error().message.substr(4)
                              : "--" + good.error().message};
    return wanted;
}

void declare_serve(declared_command& made) {
    made.makes([] { return serve{}; }, true);
}

void declare_add_user(declared_command& made) {
    const auto& login = made.text("--login", "LOGIN", "What the user signs in with; unique.");
    const auto& password_stdin =
        made.toggle("--password-stdin", "Read the password from one line of stdin (required).");
    const auto& currency = made.text("--currency", "CODE", "ISO 4217 code of the balance.", "EUR");
    const auto& balance = made.text("--balance", "AMOUNT", "The balance, kept with exactly these digits.", "0");
    made.makes([&] { return read_add_user(login, currency, balance, password_stdin); });
}

void declare_set_quota(declared_command& made) {
    const auto& user = made.text("--user", "ID", "Whose.");
    const auto& per_day = made.text("--per-day", "N", "Requests a day.");
    made.makes([&] { return read_set_quota(user, per_day); });
}

void declare_add_account(declared_command& made, const tollgate::service_catalog& services) {
    const auto& user = made.text("--user", "ID", "Whose.");
    const auto& service = made.text("--service", "SERVICE", "At which service.");
    const auto& name = made.text("--name", "NAME", "What people call it.");
    const auto& admin = made.toggle("--admin", "The user administers it.");
    made.makes([&] { return read_add_account(user, service, name, admin, services); });
}

void declare_create_token(declared_command& made, const tollgate::service_catalog& services) {
    const auto& user = made.text("--user", "ID", "Whose.");
    const auto& description = made.text("--description", "TEXT", "What it is for.");
    const auto& scopes = made.text("--scopes", "LIST", "What it may do: user:balance,sitesmaker:read,...");
    made.makes([&] { return read_create_token(user, description, scopes, services); });
}

void declare_revoke_token(declared_command& made) {
    const auto& token = made.text("--id", "ID", "Which.");
    made.makes([&] { return revoke_token{read_id<tollgate::token_id>("--id", token)}; });
}

void declare_register_app(declared_command& made) {
    const auto& user = made.text("--user", "ID", "Whose.");
    const auto& name = made.text("--name", "NAME", "What users read where they decide whether to let it in.");
    const auto& website = made.text("--website", "URL", "Where users learn more.");
    const auto& description = made.text("--description", "TEXT", "What it does.", "");
    const auto& redirect_url = made.text("--redirect-url", "URL", "Where users come back to.", "");
    made.makes([&] { return read_register_app(user, name, website, description, redirect_url); });
}

void declare_emit_event(declared_command& made, const tollgate::service_catalog& services) {
    const auto& service = made.text("--service", "SERVICE", "Of which service.");
    const auto& account = made.text("--account", "ID", "Whose hooks are told.");
    const auto& event = made.text("--event", "EVENT", "What happened: site.published, item.created, ...");
    made.payload("One JSON value of any kind: the payload's data. (Deprecated: JSON as --data.)");
    made.makes([&] { return read_emit_event(service, account, event, made.json_payload(), services); });
}

/// CLI11 words some of its complaints on several lines, and ends few with a full stop.
std::string to_sentence(std::string text) {
    text.erase(text.find_last_not_of(" \n.") + 1);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return escape_controls(text) + ".";
}

/// CLI11 only says that a subcommand is missing, also where one was misspelled: says which word is none, and what there
/// is.
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
    if (at == count) return usage_error{place + "a command must follow: " + known + "."};
    return usage_error{place + "'" + escape_controls(texts[at]) + "' is no command; there are " + known + "."};
}

/// False after `--help` or `--version`.
bool parse(CLI::App& app, int count, const char* const* texts) {
    try {
        app.parse(count, texts);
    } catch (const CLI::Success& asked) {
        app.exit(asked, std::cout, std::cerr);
        return false;
    } catch (const CLI::RequiredError& error) {
        if (string_view{error.what()}.find("subcommand") != string_view::npos)
            throw no_such_command(app, count, texts);
        throw usage_error{to_sentence(error.what())};
    } catch (const CLI::ParseError& error) {
        throw usage_error{to_sentence(error.what())};
    }
    return true;
}

}  // namespace

std::optional<invocation> read_command_line(int count, const char* const* texts,
                                            const tollgate::service_catalog& services) {
    CLI::App app{
        "Serves a complete account API: personal tokens, OAuth 2.0, scopes, rate limits, webhooks, pages for people."};
    app.name("tollgate-server");
    app.set_version_flag("--version", "tollgate-server " TOLLGATE_VERSION);
    app.require_subcommand(1);
    const auto add_group = [&app](const char* name, const char* meaning) {
        auto* group = app.add_subcommand(name, meaning);
        group->require_subcommand(1);
        return group;
    };
    auto* user = add_group("user", "Users: add one, set a quota.");
    auto* account = add_group("account", "Accounts of users at services.");
    auto* token = add_group("token", "Personal tokens.");
    auto* app_group = add_group("app", "OAuth applications.");
    auto* event = add_group("event", "Events, which webhooks are told of.");

    std::deque<declared_command> commands;
    declare_serve(commands.emplace_back(app, "serve", "Serve the API until SIGTERM or SIGINT."));
    declare_add_user(commands.emplace_back(*user, "add", "Add a user."));
    declare_set_quota(commands.emplace_back(*user, "quota", "Give a user a rate limit of their own, at once."));
    declare_add_account(commands.emplace_back(*account, "add", "Add an account."), services);
    declare_create_token(
        commands.emplace_back(*token, "create", "Make a personal token; its secret is shown this once."), services);
    declare_revoke_token(commands.emplace_back(*token, "revoke", "Revoke a personal token, at once."));

    declare_register_app(
        commands.emplace_back(*app_group, "register", "Register an application; its secret is shown this once."));
    declare_emit_event(
        commands.emplace_back(*event, "emit", "Report an event: one delivery for each webhook that waits for it."),
        services);

    if (count > 0) expect_flag_values(app, std::span{texts, static_cast<std::size_t>(count)}.subspan(1));
    if (!parse(app, count, texts)) return std::nullopt;
    const auto chosen = std::find_if(commands.begin(), commands.end(), [](const auto& each) { return each.chosen(); });
    auto asked = chosen->read();
    if (!std::holds_alternative<serve>(asked.what) && asked.with.store_location().kind == location::kind::memory)
        throw usage_error{"--store: 'memory:' lives in the serving process alone; no other command can reach it."};
    return asked;
}

}  // namespace reference
