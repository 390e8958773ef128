#pragma once

#include <tollgate/base/detail/host_lookup.hpp>
#include <tollgate/store/detail/postgres/libpq.hpp>
#include <tollgate/store/detail/postgres/server_list.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
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

/// Whether a service is named, whose file only libpq reads.
inline bool names_service(const server_parameters& options) {
    return std::any_of(options.begin(), options.end(), [](const auto& option) { return option.first == "service"; }) ||
           std::getenv("PGSERVICE") != nullptr;
}

}  // namespace detail

TOLLGATE_DECL result<std::vector<server_parameters>> servers_of(const std::string& connection_string) {
    struct freer {
        void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
    };
    char* error = nullptr;
    const std::unique_ptr<PQconninfoOption, freer> options{PQconninfoParse(connection_string.c_str(), &error)};
    PQfreemem(error);
    if (options == nullptr || connection_string.find('\0') != std::string::npos)
        return invalid(
            "A PostgreSQL connection string is `key=value` pairs or a URI "
            "(https://www.postgresql.org/docs/current/libpq-connect.html), and this is neither.");

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
    const auto found = tollgate::detail::look_up_host(host, {}, wait_max);
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
