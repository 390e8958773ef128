#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_LIST_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_LIST_IPP

#include <tollgate/base/detail/host_lookup.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/store/detail/postgres/libpq.hpp>
#include <tollgate/store/detail/postgres/server_list.hpp>


#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

inline std::vector<std::string> split_at_commas(std::string_view list) {
    std::vector<std::string> parts;
    for (;;) {
        const auto comma = list.find(',');
        parts.emplace_back(list.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        list.remove_prefix(comma + 1);
    }
}

/// Returns true if a service is named, whose file only libpq reads.
inline bool names_service(const server_parameters& options) {
    return std::any_of(options.begin(), options.end(), [](const auto& option) { return option.first == "service"; }) ||
           std::getenv("PGSERVICE") != nullptr;
}

struct options_freer {
    void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};
using parsed_options = std::unique_ptr<PQconninfoOption, options_freer>;

inline parsed_options parse_options(const std::string& connection_string) {
    char* error = nullptr;
    parsed_options options{PQconninfoParse(connection_string.c_str(), &error)};
    PQfreemem(error);  // the error is not reported: it quotes the text, which may be a part of a password
    return options;
}

/// What follows the scheme of a URI; empty if the text is no URI.
inline std::string_view after_scheme(std::string_view text) {
    for (const std::string_view scheme : {"postgresql://", "postgres://"})
        if (text.starts_with(scheme)) return text.substr(scheme.size());
    return {};
}

/// Returns true if libpq would take a part of an unescaped password for the host, the port or the database: then messages would show it.
inline bool has_stray_separator(std::string_view uri) {
    const auto authority_and_path = uri.substr(0, uri.find('?'));
    const auto at = authority_and_path.find('@');
    return at != std::string_view::npos &&
           (authority_and_path.find('/') < at || authority_and_path.find('@', at + 1) != std::string_view::npos);
}

/// The names of the options, in their order: of a URI, those of its query.
inline std::vector<std::string_view> option_names(std::string_view text) {
    std::vector<std::string_view> names;
    if (const auto uri = after_scheme(text); !uri.empty()) {
        const auto mark = uri.find('?');
        for (auto rest = mark == std::string_view::npos ? std::string_view{} : uri.substr(mark + 1); !rest.empty();) {
            const auto pair = rest.substr(0, rest.find('&'));
            names.push_back(pair.substr(0, pair.find('=')));
            rest.remove_prefix((std::min)(pair.size() + 1, rest.size()));
        }
        return names;
    }
    constexpr std::string_view blanks = " \t\n\v\f\r";
    for (std::size_t i = 0; (i = text.find_first_not_of(blanks, i)) != std::string_view::npos;) {
        const auto equals = (std::min)(text.find('=', i), text.size());
        auto name = text.substr(i, equals - i);
        name = name.substr(0, name.find_first_of(blanks));
        names.push_back(name);
        i = (std::min)(text.find_first_not_of(blanks, equals + 1), text.size());
        const bool is_quoted = i < text.size() && text[i] == '\'';
        if (is_quoted) ++i;
        const auto ends_at = [&](char c) { return is_quoted ? c == '\'' : blanks.find(c) != std::string_view::npos; };
        while (i < text.size() && !ends_at(text[i])) i += text[i] == '\\' ? 2U : 1U;
        if (is_quoted) ++i;
    }
    return names;
}

/// How many letters must be inserted, removed or replaced.
inline std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = (std::min)({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

/// The error for text that libpq does not accept. It names an unknown option by its place and by the option that it resembles, never by
/// itself: after a blank in a password, the rest of the password is in the place of an option.
inline error refusal_of(const std::string& connection_string) {
    std::vector<std::string_view> known;
    const parsed_options all = parse_options({});
    for (const PQconninfoOption* each = all.get(); each != nullptr && each->keyword != nullptr; ++each) known.emplace_back(each->keyword);
    constexpr std::size_t name_bytes_max = 32, edits_max = 2;
    std::size_t place = 0;
    for (const std::string_view name : option_names(connection_string)) {
        ++place;
        if (std::find(known.begin(), known.end(), name) != known.end() || name == "ssl") continue;
        std::string message =
            "Option " + std::to_string(place) + " of the PostgreSQL connection string is not one that libpq knows";
        const auto edits = [&](std::string_view other) {
            return name.size() > name_bytes_max ? name_bytes_max : edits_between(name, other);
        };
        const auto nearest =
            std::min_element(known.begin(), known.end(), [&](auto a, auto b) { return edits(a) < edits(b); });
        if (nearest != known.end() && edits(*nearest) <= edits_max)
            message.append("; it resembles \"").append(*nearest).append("\"");
        return invalid(message + ".");
    }
    return invalid(
        "A PostgreSQL connection string is `key=value` pairs or a URI "
        "(https://www.postgresql.org/docs/current/libpq-connect.html), and this is neither.");
}

/// Returns whether `text` is the port of one host of a list. An empty text stands for the default port.
inline bool is_port(const std::string& text) {
    const auto number = tollgate::detail::parse_decimal(text);
    return text.empty() || (number && *number >= 1 && *number <= UINT16_MAX);
}

}  // namespace detail

TOLLGATE_DECL result<std::vector<server_parameters>> servers_of(const std::string& connection_string) {
    if (detail::has_stray_separator(detail::after_scheme(connection_string)))
        return invalid("A PostgreSQL URI has an @ in a wrong place. Percent-encode: in a user name or password, write @ as %40, / as %2F "
                       "and ? as %3F; in the name of a database, @ as %40.");
    const auto options = detail::parse_options(connection_string);
    if (options == nullptr || connection_string.find('\0') != std::string::npos) return detail::refusal_of(connection_string);

    server_parameters common;
    std::vector<std::string> hosts, addresses, ports;
    for (const PQconninfoOption* each = options.get(); each->keyword != nullptr; ++each) {
        if (each->val == nullptr) continue;
        const std::string_view keyword = each->keyword;
        if (keyword == "host") hosts = detail::split_at_commas(each->val);
        else if (keyword == "hostaddr") addresses = detail::split_at_commas(each->val);
        else if (keyword == "port") ports = detail::split_at_commas(each->val);
        else if (keyword != "client_encoding") common.emplace_back(each->keyword, each->val);
    }
    const auto add_unless_given = [&](const char* keyword, const char* value, const char* variable = nullptr) {
        const auto is_it = [&](const auto& option) { return option.first == keyword; };
        if (variable != nullptr && std::getenv(variable) != nullptr) return;
        if (std::none_of(common.begin(), common.end(), is_it)) common.emplace_back(keyword, value);
    };
    common.emplace_back("client_encoding", "UTF8");
    add_unless_given("target_session_attrs", "read-write", "PGTARGETSESSIONATTRS");
    add_unless_given("fallback_application_name", "tollgate");
    // A vanished peer is detected within half a minute, also by a listener that has nothing to send.
    add_unless_given("keepalives_idle", "15");
    add_unless_given("keepalives_interval", "5");
    add_unless_given("keepalives_count", "3");
    add_unless_given("tcp_user_timeout", "15000");

    // What libpq would take from the environment, unless a service is named.
    const auto take_environment = [with_service = detail::names_service(common)](std::vector<std::string>& list, const char* variable) {
        const char* const value = with_service ? nullptr : std::getenv(variable);
        if (list.empty() && value != nullptr && *value != '\0') list = detail::split_at_commas(value);
    };
    take_environment(hosts, "PGHOST");
    take_environment(addresses, "PGHOSTADDR");
    take_environment(ports, "PGPORT");

    const std::size_t count = (std::max)({hosts.size(), addresses.size(), std::size_t{1}});
    if ((!hosts.empty() && hosts.size() != count) || (!addresses.empty() && addresses.size() != count) ||
        (ports.size() > 1 && ports.size() != count))
        return invalid("A PostgreSQL connection string must name as many addresses as hosts, and one port or as many ports. PGHOST, "
                       "PGHOSTADDR and PGPORT are used for what it does not name.");
    // libpq's messages would show them, and they may be parts of a password.
    if (!std::all_of(ports.begin(), ports.end(), detail::is_port))
        return invalid("A port in a PostgreSQL connection string must be a number from 1 to 65535.");
    // At the start, it names an abstract Unix domain socket.
    if (std::any_of(hosts.begin(), hosts.end(),
                    [](const std::string& each) { return !each.starts_with('/') && each.find('@', 1) != std::string::npos; }))
        return invalid("A host in a PostgreSQL connection string must not contain @. In the user name and password of a URI, write %40.");
    std::vector<server_parameters> servers(count, common);
    for (std::size_t i = 0; i < count; ++i) {
        if (!hosts.empty()) servers[i].emplace_back("host", hosts[i]);
        if (!addresses.empty()) servers[i].emplace_back("hostaddr", addresses[i]);
        if (!ports.empty()) servers[i].emplace_back("port", ports.size() == 1 ? ports[0] : ports[i]);
    }
    return servers;
}

TOLLGATE_DECL std::shared_ptr<known_servers> known_of(const std::vector<server_parameters>& servers) {
    if (servers.size() < 2) return std::make_shared<known_servers>();
    std::string places;
    for (const server_parameters& each : servers) {
        for (const auto& [keyword, value] : each)
            if (keyword == "host" || keyword == "hostaddr" || keyword == "port")
                places.append(keyword).append("=").append(value).append(" ");
        places += ',';
    }
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<known_servers>> all;
    const std::scoped_lock lock{mutex};
    auto& known = all[places];
    if (known == nullptr) known = std::make_shared<known_servers>();
    return known;
}

TOLLGATE_DECL bool asks_for_writes(const server_parameters& server) {
    return std::any_of(server.begin(), server.end(),
                       [](const auto& each) { return each.first == "target_session_attrs" && each.second == "read-write"; });
}

TOLLGATE_DECL result<std::vector<std::string>> addresses_of(const server_parameters& server, milliseconds wait_max) {
    std::vector<std::string> addresses;
    std::string host;
    for (const auto& [keyword, value] : server) {
        if (keyword == "hostaddr") return addresses;
        if (keyword == "host") host = value;
    }
    if (detail::names_service(server)) return addresses;  // it may have `hostaddr`
    if (host.empty() || host.front() == '/' || host.front() == '@') return addresses;  // a Unix domain socket
    const auto found = tollgate::detail::look_up_host(host, wait_max);
    if (!found) return unavailable("PostgreSQL: " + host + ": " + found.error().cause);
    for (const addrinfo* each = found->get(); each != nullptr && addresses.size() < server_addresses_max; each = each->ai_next) {
        char text[NI_MAXHOST];
        if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
            addresses.emplace_back(text);
    }
    return addresses;
}

TOLLGATE_DECL std::vector<server_parameters> server_at_each(const server_parameters& server, std::vector<std::string> addresses,
                                                            const std::string& preferred) {
    if (addresses.empty()) return {server};
    if (const auto known = std::find(addresses.begin(), addresses.end(), preferred); known != addresses.end())
        std::rotate(addresses.begin(), known, known + 1);
    std::vector<server_parameters> at_each;
    for (std::string& each : addresses) at_each.emplace_back(server).emplace_back("hostaddr", std::move(each));
    return at_each;
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_LIST_IPP
