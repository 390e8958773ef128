#include "settings.hpp"

#include "data_directory.hpp"
#include "output.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#if defined(TOLLGATE_WITH_POSTGRES)
#include <tollgate/store/postgres_database.hpp>
#endif
#if defined(TOLLGATE_WITH_REDIS)
#include <tollgate/limits/redis_limiter.hpp>
#endif

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace reference {

namespace {

using std::string_view;
using tollgate::milliseconds;
using tollgate::seconds;

template <class Value, class Target>
reading assign(const std::optional<Value>& value, Target& target) {
    if (!value) return reading::misfit;
    target = static_cast<Target>(*value);
    return reading::taken;
}

template <class Value>
reading append(const std::optional<Value>& value, std::vector<Value>& target) {
    if (!value) return reading::misfit;
    target.push_back(*value);
    return reading::taken;
}

reading assign_path(string_view text, std::filesystem::path& target) {
    if (text.empty() || text.find('\0') != string_view::npos) return reading::misfit;
    target = text;
    return reading::taken;
}

reading assign_toggle(string_view text, bool& target) {
    if (text != "true" && text != "false") return reading::misfit;
    target = text == "true";
    return reading::taken;
}

/// A timeout of zero would refuse every request.
reading assign_timeout(string_view text, milliseconds& target) {
    const auto value = parse_duration(text);
    return value == milliseconds{0} ? reading::misfit : assign(value, target);
}

/// A value that a component refuses, with its reason.
struct refused_value : std::runtime_error {
    using runtime_error::runtime_error;
};

void expect_valid(const tollgate::result<void>& validated) {
    if (!validated) throw refused_value{validated.error().log_text()};
}

/// What follows `postgres:`, or a whole URI, whose scheme may be the prefix.
reading read_postgres(string_view text, settings& into) {
#if defined(TOLLGATE_WITH_POSTGRES)
    std::string connection_string{text};
    if (text.empty()) return reading::misfit;
    expect_valid(tollgate::postgres_database::validate(connection_string));
    into.store = location{location::kind::postgres, {}, std::move(connection_string)};
    return reading::taken;
#else
    static_cast<void>(text);
    static_cast<void>(into);
    return reading::missing_part;
#endif
}

reading read_store(string_view text, settings& into) {
    constexpr string_view sqlite_prefix = "sqlite:", postgres_prefix = "postgres:";
    if (text.starts_with("postgres://") || text.starts_with("postgresql://")) return read_postgres(text, into);
    if (text.starts_with(postgres_prefix)) return read_postgres(text.substr(postgres_prefix.size()), into);
    if (text == "memory:") {
        into.store = location{};
        return reading::taken;
    }
    if (!text.starts_with(sqlite_prefix)) return reading::misfit;
    text.remove_prefix(sqlite_prefix.size());
    // SQLite gives `:memory:` and `file:` meanings of their own, under which every connection may see another database.
    if (text.starts_with(':') || text.starts_with("file:")) return reading::misfit;
    location there{location::kind::sqlite};
    const auto done = assign_path(text, there.file);
    if (done == reading::taken) into.store = there;
    return done;
}

reading read_limits(string_view text, settings& into) {
    if (text == "memory:") {
        into.limits_url.clear();
        return reading::taken;
    }
    if (!text.starts_with("redis:") && !text.starts_with("rediss:")) return reading::misfit;
#if defined(TOLLGATE_WITH_REDIS)
    expect_valid(tollgate::redis_limiter::validate(text));
    into.limits_url = text;
    return reading::taken;
#else
    return reading::missing_part;
#endif
}

reading read_base_url(string_view text, settings& into) {
    if (!is_public_url(text) || !tollgate::http::url::parse(text)->path.ends_with("/v1")) return reading::misfit;
    into.base_url = text;
    return reading::taken;
}

reading read_auth_url(string_view text, settings& into) {
    if (!is_public_url(text)) return reading::misfit;
    into.auth_url = text;
    return reading::taken;
}

reading read_cookie_name(string_view text, settings& into) {
    try {
        if (text.empty()) return reading::misfit;
        static_cast<void>(tollgate::cookie_name_of("https://any.example", text, "session"));
    } catch (const std::invalid_argument&) {
        return reading::misfit;
    }
    into.cookie_name = text;
    return reading::taken;
}

reading read_log(string_view text, settings& into) {
    if (text == "text") into.log = log_form::text;
    else if (text == "json") into.log = log_form::json;
    else if (text == "off") into.log = log_form::off;
    else return reading::misfit;
    return reading::taken;
}

constexpr string_view a_duration = "a duration such as 500ms, 10s, 5m or 2h";
constexpr string_view a_quota = "a limit such as 60/hour (N/second, N/minute, N/hour or N/day)";

template <auto Member>
constexpr flag path(string_view name, string_view meaning, string_view value = "FILE", string_view fallback = {}) {
    return {name, value, fallback, meaning, "a path", flag_type::text,
            [](string_view text, settings& into) { return assign_path(text, into.*Member); }};
}

template <auto Member>
constexpr flag toggle(string_view name, string_view meaning) {
    return {name, {}, {}, meaning, "true or false", flag_type::toggle,
            [](string_view text, settings& into) { return assign_toggle(text, into.*Member); }};
}

template <auto Member, std::uint64_t Min, std::uint64_t Max>
constexpr flag number(string_view name, string_view fallback, string_view meaning) {
    return {name, "N", fallback, meaning, {}, flag_type::number,
            [](string_view text, settings& into) { return assign(parse_whole_number(text, Min, Max), into.*Member); }, Min, Max};
}

constexpr flag flags[] = {
    path<&settings::data>(
        "data", "Directory of the SQLite file and the certificate; created by serve, user add and migrate.", "DIR", "./tollgate-data"),
    {"store", "STORE", "", "sqlite:FILE (default: tollgate.db in --data), memory: or postgres:CONNINFO.",
     "sqlite:FILE, memory: or postgres:CONNINFO (libpq's `key=value` pairs or URI)", flag_type::text, read_store},
    number<&settings::store_connections, 2, 1000>(
        "store-connections", "16",
        "Maximum number of connections to PostgreSQL; one more listens for changes by other nodes. PostgreSQL only."),
    number<&settings::cached_for, 0, 3600>(
        "cache-seconds", "30",
        "How long credentials, balances and quotas from PostgreSQL are cached; changes take effect within one second. 0: no cache."),
    {"limits", "LIMITS", "memory:", "Where rate-limit windows are kept: memory:, or redis://HOST:PORT/DB (rediss: with TLS).",
     "memory: or a URL such as redis://user:password@HOST:PORT/DB", flag_type::text, read_limits},
    path<&settings::limits_ca>("limits-ca", "Certificate authorities trusted for rediss:, PEM. Default: the system's."),
    {"listen", "ADDR:PORT", "127.0.0.1:8443", "Address to listen on, or unix:PATH; port 0 is any free port. May be repeated.",
     "an address and a port such as 127.0.0.1:8443 or [::1]:8443, or unix: and a path", flag_type::list,
     [](string_view text, settings& into) { return append(parse_listen_address(text), into.listen); }},
    {"admin-listen", "ADDR:PORT", "", "A plain-HTTP listener for operators: /healthz, /readyz, /metrics. Default: none.",
     "an address and a port such as 127.0.0.1:9464, or unix: and a path", flag_type::text,
     [](string_view text, settings& into) { return assign(parse_listen_address(text), into.admin_listen); }},
    {"admin-host", "NAME", "", "Name with a dot by which --admin-listen is reached, besides this machine's. May be repeated.",
     "a host name such as node1.example.com", flag_type::list,
     [](string_view text, settings& into) { return append(parse_host_name(text), into.admin_hosts); }},
    path<&settings::tls_cert>("tls-cert", "Certificate chain, PEM; read again on SIGHUP. Default: self-signed, in --data."),
    path<&settings::tls_key>("tls-key", "The certificate's private key, PEM."),
    path<&settings::tls_ticket_keys>(
        "tls-ticket-keys", "Keys of TLS session tickets, for nodes that resume each other's sessions; read again on SIGHUP."),
    toggle<&settings::plain>("plain", "HTTP without TLS, for use behind a proxy."),
    number<&settings::threads, 1, 1024>("threads", "", "I/O threads. Default: one per core."),
    {"base-url", "URL", "",
     "The API's public URL; its path ends in /v1. If given, requests for other hosts get 421. Default: from --listen.",
     "an http or https URL whose path ends in /v1", flag_type::text, read_base_url},
    {"auth-url", "URL", "", "The public URL of the pages. Default: from --listen.",
     "an http or https URL without query, fragment or trailing slash", flag_type::text, read_auth_url},
    {"cookie-name", "NAME", "",
     "What the names of the cookies begin with. Default: from --auth-url, so that servers on one host keep their sessions apart.",
     "a name of at most 64 letters, digits and characters such as - and _, which does not begin with __", flag_type::text,
     read_cookie_name},
    {"trusted-proxy", "CIDR", "", "A proxy trusted to identify its clients in the --forwarded-by field. May be repeated.",
     "a CIDR block such as 10.0.0.0/8 or 2001:db8::/32, with no bit set after the prefix (or one address)", flag_type::list,
     [](string_view text, settings& into) { return append(tollgate::ip_network::parse(text), into.trusted_proxies); }},
    {"forwarded-by", "FIELD", "x-forwarded-for", "Field in which trusted proxies identify the client: x-forwarded-for or "
     "forwarded. The other one is ignored.",
     "x-forwarded-for or forwarded", flag_type::text,
     [](string_view text, settings& into) {
         if (text == "x-forwarded-for") into.client_named_by = tollgate::forwarding_field::x_forwarded_for;
         else if (text == "forwarded") into.client_named_by = tollgate::forwarding_field::forwarded;
         else return reading::misfit;
         return reading::taken;
     }},
    {"cors-origin", "ORIGIN", "", "Origin whose pages may call the API from a browser, or none. May be repeated. Default: any.",
     "none or an origin such as https://app.example", flag_type::list,
     [](string_view text, settings& into) { return append(parse_cors_origin(text), into.cors_origins); }},
    {"anonymous-limit", "LIMIT", "60/hour", "Limit for a client address without valid credentials.", a_quota,
     flag_type::text, [](string_view text, settings& into) { return assign(parse_quota(text), into.anonymous_limit); }},
    {"user-limit", "LIMIT", "1000/day", "Limit for a user who has no quota of their own.", a_quota,
     flag_type::text, [](string_view text, settings& into) { return assign(parse_quota(text), into.user_limit); }},
    number<&settings::access_token_lifetime, 1, 31'536'000>("access-token-seconds", "3600", "How long an OAuth access token is valid."),
    toggle<&settings::client_documents>(
        "client-metadata-documents", "Applications need no registration if their client_id is the https URL of a document about them."),
    {"dynamic-registration", "RULE", "",
     "Applications may register themselves: open, or a file with an initial access token. Default: off.",
     "open or a path", flag_type::text,
     [](string_view text, settings& into) {
         if (text.empty()) return reading::misfit;
         into.dynamic_registration = text;
         return reading::taken;
     }},
    path<&settings::secret_key_file>(
        "secret-key-file",
        "Keys that encrypt webhook secrets in the store: one per line, as 64 hexadecimal digits; the second one is the previous key."),
    toggle<&settings::accept_imported_tokens>(
        "accept-imported-tokens", "Also accept personal tokens of an older system, whose secrets have another form; see `token import`."),
    toggle<&settings::allow_private_targets>("allow-private-targets", "Webhooks may go to private addresses."),
    {"webhook-retry", "LIST", "5s,5m,30m,2h,5h,10h,10h", "Planned waits between the attempts of a delivery.",
     "a list of durations such as 5s,5m,30m", flag_type::text,
     [](string_view text, settings& into) { return assign(parse_durations(text), into.webhook_retry); }},
    number<&settings::webhook_minute_limit, 0, 1'000'000>(
        "webhook-minute-limit", "0", "Maximum attempts for one webhook per minute; further ones wait. 0: no limit."),
    number<&settings::header_bytes_max, 1024, 1 << 20>(
        "max-header-bytes", "16384", "Maximum size of a request's header section; a larger one gets 431."),
    number<&settings::body_bytes_max, 1024, 1 << 24>("max-body-bytes", "65536", "Maximum size of a request body; a larger one gets 413."),
    {"header-timeout", "DURATION", "10s", "Time limit for receiving a request's header section; then 408.", a_duration,
     flag_type::text, [](string_view text, settings& into) { return assign_timeout(text, into.header_timeout); }},
    {"idle-timeout", "DURATION", "60s", "How long a connection may be idle between requests before it is closed.", a_duration,
     flag_type::text, [](string_view text, settings& into) { return assign_timeout(text, into.idle_timeout); }},
    number<&settings::connections_max, 1, 1'000'000>(
        "max-connections", "10000",
        "Maximum number of connections. Beyond it, an idle one is closed to admit a new one, which gets 503 if none is idle."),
    number<&settings::shutdown_grace, 0, 3600>(
        "shutdown-grace", "1",
        "Seconds during which a stopping server, no longer ready, accepts connections and closes each after its response."),
    toggle<&settings::demo>("demo", "Create a demo user, accounts and a token, once."),
    {"log", "FORMAT", "text", "One line per request on stderr: text, json or off.", "text, json or off", flag_type::text,
     read_log},
};

const flag& find_flag(string_view name) {
    return *std::find_if(std::begin(flags), std::end(flags), [name](const flag& each) { return each.name == name; });
}

/// The part of a value that an error message may quote. If the value may contain a password, only a known scheme: if the
/// scheme is missing or misspelt, the beginning of the text may be the password.
std::string to_shown(const flag& which, const std::string& text) {
    const bool may_be_secret = (which.name == "store" && !text.starts_with("sqlite:")) || which.name == "limits";
    if (!may_be_secret) return to_quotable(text);
    for (const string_view scheme : {"memory:", "postgres:", "postgresql:", "redis:", "rediss:"})
        if (text.starts_with(scheme)) return std::string{scheme} + (text.size() > scheme.size() ? "..." : "");
    return text.empty() ? "" : "...";
}

std::string expectation_of(const flag& which) {
    if (which.type != flag_type::number) return std::string{which.expects};
    return "a whole number from " + std::to_string(which.min) + " to " + std::to_string(which.max);
}

void read_texts(const flag& which, const std::vector<std::string>& texts, const std::string& origin, settings& into) {
    for (const std::string& text : texts) {
        const auto complaint = origin + ": '" + to_shown(which, text) + "' ";
        const auto read = [&] {
            try {
                return which.read(text, into);
            } catch (const refused_value& refused) {
                throw usage_error{origin + ": " + refused.what()};
            }
        };
        switch (read()) {
            case reading::taken: break;
            case reading::misfit: throw usage_error{complaint + "is not " + expectation_of(which) + "."};
            case reading::missing_part: throw usage_error{complaint + "needs a component that is not in this build."};
        }
    }
}

/// Each flag is valid by itself; this checks their combinations.
void check_together(const settings& all, const std::function<std::string(string_view)>& name_of) {
    if (all.tls_cert.empty() != all.tls_key.empty()) {
        const string_view there = all.tls_cert.empty() ? "tls-key" : "tls-cert";
        const string_view missing = all.tls_cert.empty() ? "--tls-cert" : "--tls-key";
        throw usage_error{name_of(there) + " also needs " + std::string{missing} + "."};
    }
    if (!all.limits_ca.empty() && !all.limits_url.starts_with("rediss:"))
        throw usage_error{name_of("limits-ca") + " also needs --limits rediss://..."};
    if (all.cors_origins.size() > 1 && std::count(all.cors_origins.begin(), all.cors_origins.end(), cors_off) > 0)
        throw usage_error{name_of("cors-origin") + ": 'none' cannot be combined with other origins."};
    if (!all.secret_key_file.empty() && all.store_location().kind == location::kind::memory)
        throw usage_error{name_of("secret-key-file") + " needs a store in SQLite or PostgreSQL."};
    if (all.listen.empty()) throw usage_error{name_of("listen") + " must name at least one address."};
    if (all.listen.front().is_unix() && (all.base_url.empty() || all.auth_url.empty()))
        throw usage_error{name_of("listen") + ": a Unix domain socket has no URL; give --base-url and --auth-url too."};
    // Both are on one listener, which distinguishes them by their paths.
    if (!all.base_url.empty() && !all.auth_url.empty() &&
        (tollgate::http::url::root(all.auth_url).path + "/").starts_with(tollgate::http::url::root(all.base_url).path + "/"))
        throw usage_error{name_of("auth-url") + " must not be below the path of --base-url."};
    if (all.plain && !all.tls_cert.empty()) throw usage_error{name_of("plain") + " cannot be combined with --tls-cert."};
    if (all.plain && !all.tls_ticket_keys.empty())
        throw usage_error{name_of("plain") + " cannot be combined with --tls-ticket-keys."};
}

using nlohmann::json;

std::string_view to_text(flag_type type) {
    switch (type) {
        case flag_type::text: return "a string";
        case flag_type::number: return "a whole number";
        case flag_type::list: return "a string or an array of strings";
        case flag_type::toggle: return "true or false";
    }
    return {};
}

/// The value as on the command line; none for a value of another type.
std::optional<std::vector<std::string>> to_texts(flag_type type, const json& value) {
    switch (type) {
        case flag_type::text:
            if (value.is_string()) return std::vector{value.get<std::string>()};
            break;
        case flag_type::number:
            if (value.is_number_integer()) return std::vector{value.dump()};
            break;
        case flag_type::toggle:
            if (value.is_boolean()) return std::vector{value.dump()};
            break;
        case flag_type::list:
            if (value.is_string()) return std::vector{value.get<std::string>()};
            if (value.is_array() &&
                std::all_of(value.begin(), value.end(), [](const json& each) { return each.is_string(); }))
                return value.get<std::vector<std::string>>();
            break;
    }
    return std::nullopt;
}

std::string read_file(const std::filesystem::path& file) {
    std::optional<std::string> text;
    try {
        text = read_small_file(file);
    } catch (const run_error& error) {
        throw usage_error{"--config: " + escape_controls(error.what())};
    }
    if (!text) throw usage_error{"--config: there is no file '" + escape_controls(file.string()) + "'."};
    return *std::move(text);
}

json parse_object(const std::filesystem::path& file) {
    const auto refuse = [&file](const std::string& reason) {
        return usage_error{"--config: " + escape_controls(file.string()) + ": " + reason};
    };
    std::set<std::string> keys;
    std::string repeated;
    const auto note_keys = [&](int depth, json::parse_event_t event, json& parsed) {
        // Members of the outermost object are at depth 1. Of two equal keys, the parser would silently use one.
        if (event == json::parse_event_t::key && depth == 1 && !keys.insert(parsed.get<std::string>()).second)
            repeated = parsed.get<std::string>();
        return true;
    };
    json parsed;
    try {
        parsed = json::parse(read_file(file), note_keys);
    } catch (const json::parse_error& error) {
        throw refuse("not valid JSON near byte " + std::to_string(error.byte) + ".");
    }
    if (!parsed.is_object()) throw refuse("the configuration must be a JSON object.");
    if (!repeated.empty()) throw refuse("\"" + to_quotable(repeated) + "\" is given twice.");
    return parsed;
}

/// The flags that a JSON object in a file sets: its keys are the flags' names without the dashes. Throws `usage_error`
/// for a file that cannot be read or is not such an object, a key that is unknown or repeated, and a value of another
/// type.
std::vector<given_flag> read_config_file(const std::filesystem::path& file) {
    std::vector<given_flag> given;
    const json object = parse_object(file);
    for (const auto& [key, value] : object.items()) {
        const auto known =
            std::find_if(all_flags().begin(), all_flags().end(), [&key](const flag& f) { return f.name == key; });
        const auto named = "--config: " + escape_controls(file.string()) + ": \"" + to_quotable(key) + "\" ";
        if (known == all_flags().end()) throw usage_error{named + "is not a setting."};
        auto texts = to_texts(known->type, value);
        if (!texts) throw usage_error{named + "must be " + std::string{to_text(known->type)} + "."};
        given.push_back({known->name, std::move(*texts)});
    }
    return given;
}

}  // namespace

std::span<const flag> all_flags() { return flags; }

bool is_shared_flag(string_view name) { return name == "data" || name == "store"; }

settings read_settings(const std::filesystem::path& config_file, std::span<const given_flag> command_line) {
    struct source {
        std::vector<std::string> texts;
        std::string origin;
    };
    std::map<string_view, source> chosen;
    const auto as_flag = [](string_view name) { return std::string{"--"}.append(name); };
    for (const flag& each : flags)
        if (!each.fallback.empty()) chosen[each.name] = {{std::string{each.fallback}}, as_flag(each.name)};
    if (!config_file.empty())
        for (given_flag& each : read_config_file(config_file)) {
            const auto origin = std::string{"\""}.append(each.name).append("\" in ").append(config_file.string());
            chosen[each.name] = {std::move(each.texts), origin};
        }
    for (const given_flag& each : command_line) chosen[each.name] = {each.texts, as_flag(each.name)};

    settings read;
    for (const auto& [name, from] : chosen) read_texts(find_flag(name), from.texts, from.origin, read);
    check_together(read, [&chosen](string_view name) { return chosen[name].origin; });
    return read;
}

tollgate::service_catalog reference_services() {
    tollgate::service_catalog services;
    // Both names and all events keep the catalog's rules, so nothing can fail here.
    (void)services.add("sitesmaker", {"site.created", "site.published", "site.deleted"});
    (void)services.add("itemplatform", {"item.created", "item.updated", "item.deleted"});
    return services;
}

}  // namespace reference
