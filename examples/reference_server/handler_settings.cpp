#include "handler_settings.hpp"

#include "certificate.hpp"

#include <tollgate/http/url.hpp>

#include <algorithm>
#include <string>

namespace reference {

using namespace tollgate;

namespace {

/// The address at which a client on this machine reaches the first listener: a wildcard address cannot be connected to.
std::string local_authority(listen_address listening, std::uint16_t port) {
    if (listening.address == ip_address::v4(0, 0, 0, 0)) listening.address = ip_address::v4(127, 0, 0, 1);
    if (listening.address == ip_address{}) listening.address = *ip_address::parse("::1");
    listening.port = port;
    return to_text(listening);
}

/// With public URLs the requests' hosts are known: those of the URLs, and the addresses that are listened on, for checks from
/// this machine. `localhost` is one of them where a loopback address is.
http::allowed_hosts to_allowed_hosts(const settings& with, const public_urls& urls) {
    if (with.base_url.empty()) return {};
    std::vector<std::string> hosts;
    for (const auto& url : {urls.base_url, urls.auth_url})
        if (const auto parsed = http::url::parse(url)) {
            auto authority = parsed->authority();
            const auto port = authority.rfind(':');
            if (port != std::string::npos && authority.find(']', port) == std::string::npos) authority.resize(port);
            hosts.push_back(std::move(authority));
        }
    hosts.insert(hosts.end(), {"localhost", "127.0.0.1", "[::1]"});
    for (const auto& each : with.listen) {
        if (each.is_unix()) continue;
        const auto text = each.address.to_text();
        hosts.push_back(each.address.is_v4() ? text : "[" + text + "]");
    }
    return http::allowed_hosts{std::move(hosts)};
}

std::vector<std::string> to_cors_origins(const std::vector<std::string>& given) {
    if (given.empty()) return {"*"};
    if (given.front() == cors_off) return {};
    return given;
}

}  // namespace

tollgate::listen_address to_server_address(const listen_address& where) {
    return {where.is_unix() ? to_text(where) : where.address.to_text(), where.port};
}

server_settings to_server_settings(const settings& with) {
    server_settings made;
    const auto first = to_server_address(with.listen.front());
    made.address = first.address;
    made.port = first.port;
    for (std::size_t i = 1; i < with.listen.size(); ++i) made.more_addresses.push_back(to_server_address(with.listen[i]));
    if (!with.plain) {
        made.tls = {.certificate_file = with.tls_cert.string(), .key_file = with.tls_key.string()};
        if (with.tls_cert.empty()) {
            const auto files = self_signed_certificate(with.data);
            made.tls = {.certificate_file = files.certificate.string(), .key_file = files.key.string()};
        }
        made.tls.ticket_key_file = with.tls_ticket_keys.string();
    }
    made.threads = with.threads;
    // Workers on a database mostly wait for it: more workers than connections would only wait for a connection.
    if (with.store_location().kind == location::kind::postgres)
        made.worker_threads = (std::max)(made.worker_threads, static_cast<unsigned>(with.store_connections / 2));
    made.header_bytes_max = with.header_bytes_max;
    made.body_bytes_max = with.body_bytes_max;
    made.connections_max = with.connections_max;
    // The connections of a trusted proxy, which are those of all clients, share its address.
    if (!with.trusted_proxies.empty()) made.connections_per_address_max = with.connections_max;
    made.header_timeout = made.handshake_timeout = with.header_timeout;  // one time-out for both
    made.idle_timeout = with.idle_timeout;
    return made;
}

public_urls to_public_urls(const settings& with, std::uint16_t port) {
    const auto local = (with.plain ? "http://" : "https://") + local_authority(with.listen.front(), port);
    return {with.base_url.empty() ? local + "/v1" : with.base_url, with.auth_url.empty() ? local : with.auth_url};
}

account_service_settings to_service_settings(const settings& with, const public_urls& urls, const service_catalog& services) {
    return {.base_url = urls.base_url,
            .auth_url = urls.auth_url,
            .services = services,
            .anonymous_quota = with.anonymous_limit,
            .user_quota = with.user_limit,
            .trusted_proxies = with.trusted_proxies,
            .client_named_by = with.client_named_by,
            .allowed_hosts = to_allowed_hosts(with, urls),
            .cors_origins = to_cors_origins(with.cors_origins),
            .oauth = {.one_page_services = {"itemplatform"}, .access_token_lifetime = with.access_token_lifetime}};
}

hook_dispatch_settings to_dispatch_settings(const settings& with) {
    hook_dispatch_settings made;
    made.retry.waits = with.webhook_retry;
    made.per_hook_minute_max = with.webhook_minute_limit;
    return made;
}

public_targets to_target_rule(const settings& with) { return {.private_allowed = with.allow_private_targets}; }

}  // namespace reference
