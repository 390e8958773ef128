#include "handler_settings.hpp"

#include "certificate.hpp"

#include <tollgate/http/url.hpp>
#include <tollgate/server/tls.hpp>

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
http::allowed_hosts to_allowed_hosts(const settings& settings, const public_urls& urls) {
    if (settings.base_url.empty()) return {};
    std::vector<std::string> hosts;
    for (const auto& url : {urls.base_url, urls.auth_url})
        if (const auto parsed = http::url::parse(url)) {
            auto authority = parsed->authority();
            const auto port = authority.rfind(':');
            if (port != std::string::npos && authority.find(']', port) == std::string::npos) authority.resize(port);
            hosts.push_back(std::move(authority));
        }
    hosts.insert(hosts.end(), {"localhost", "127.0.0.1", "[::1]"});
    for (const auto& each : settings.listen) {
        if (each.is_unix()) continue;
        const auto text = each.address.to_text();
        hosts.push_back(each.address.is_v4() ? text : "[" + text + "]");
    }
    return http::allowed_hosts{std::move(hosts)};
}

std::vector<std::string> to_cors_origins(const std::vector<std::string>& origins) {
    if (origins.empty()) return {"*"};
    if (origins.front() == cors_off) return {};
    return origins;
}

}  // namespace

tollgate::listen_address to_server_address(const listen_address& endpoint) {
    return {endpoint.is_unix() ? to_text(endpoint) : endpoint.address.to_text(), endpoint.port};
}

server_settings to_server_settings(const settings& settings) {
    server_settings result;
    const auto first = to_server_address(settings.listen.front());
    result.address = first.address;
    result.port = first.port;
    for (std::size_t i = 1; i < settings.listen.size(); ++i) result.more_addresses.push_back(to_server_address(settings.listen[i]));
    if (!settings.plain) {
        const certificate_files files = settings.tls_cert.empty() ? self_signed_certificate(settings.data)
                                                                  : certificate_files{settings.tls_cert, settings.tls_key};
        result.tls = tollgate::tls_from({.certificate_file = files.certificate.string(), .key_file = files.key.string(),
                                         .ticket_key_file = settings.tls_ticket_keys.string()});
    }
    result.threads = settings.threads;
    // Workers on a database mostly wait for it: more workers than connections would only wait for a connection.
    if (settings.store_location().kind == location::kind::postgres)
        result.worker_threads = (std::max)(result.worker_threads, static_cast<unsigned>(settings.store_connections / 2));
    result.header_bytes_max = settings.header_bytes_max;
    result.body_bytes_max = settings.body_bytes_max;
    result.connections_max = settings.connections_max;
    result.shared_addresses = settings.trusted_proxies;
    result.header_timeout = result.handshake_timeout = settings.header_timeout;  // one timeout for both
    result.idle_timeout = settings.idle_timeout;
    result.stop_grace = settings.shutdown_grace;
    return result;
}

public_urls to_public_urls(const settings& settings, std::uint16_t port) {
    const auto local = (settings.plain ? "http://" : "https://") + local_authority(settings.listen.front(), port);
    return {settings.base_url.empty() ? local + "/v1" : settings.base_url, settings.auth_url.empty() ? local : settings.auth_url};
}

account_service_settings to_service_settings(const settings& settings, const public_urls& urls, const service_catalog& services) {
    return {.base_url = urls.base_url,
            .auth_url = urls.auth_url,
            .services = services,
            .anonymous_quota = settings.anonymous_limit,
            .user_quota = settings.user_limit,
            .trusted_proxies = settings.trusted_proxies,
            .client_named_by = settings.client_named_by,
            .allowed_hosts = to_allowed_hosts(settings, urls),
            .cors_origins = to_cors_origins(settings.cors_origins),
            .oauth = {.one_page_services = {"itemplatform"},
                      .cookie_name = settings.cookie_name,
                      .access_token_lifetime = settings.access_token_lifetime}};
}

hook_dispatch_settings to_dispatch_settings(const settings& settings) {
    hook_dispatch_settings result;
    result.retry.waits = settings.webhook_retry;
    result.per_hook_minute_max = settings.webhook_minute_limit;
    return result;
}

public_targets to_target_rule(const settings& settings) { return {.private_allowed = settings.allow_private_targets}; }

}  // namespace reference
