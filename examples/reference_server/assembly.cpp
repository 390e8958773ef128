#include "assembly.hpp"

#include "certificate.hpp"
#include "data_directory.hpp"
#include "output.hpp"

#include <tollgate/api/routes.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/http/url.hpp>
#if defined(TOLLGATE_WITH_REDIS)
#include <tollgate/limits/redis_limiter.hpp>
#endif
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/policy/token_authenticators.hpp>
#include <tollgate/server/tls.hpp>
#include <tollgate/web/german.hpp>
#include <tollgate/web/page_theme.hpp>
#include <tollgate/webhooks/document_fetcher.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

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

public_targets to_target_rule(const settings& settings) { return {.private_allowed = settings.allow_private_targets}; }

oauth_settings to_oauth_settings(const settings& settings) {
    oauth_settings result{.one_page_services = {"itemplatform"},
                          .cookie_name = settings.cookie_name,
                          .access_token_lifetime = settings.access_token_lifetime};
    if (settings.client_documents)
        result.fetch_client_document = document_fetcher{default_policies().with_target_rule(to_target_rule(settings))};
    if (settings.dynamic_registration == "open") {
        result.registration = dynamic_registration::open;
    } else if (!settings.dynamic_registration.empty()) {
        result.registration = dynamic_registration::with_token;
        result.initial_access_token = read_initial_access_token(settings.dynamic_registration);
    }
    return result;
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
            .oauth = to_oauth_settings(settings)};
}

/// The webhooks of a disabled user stop with them.
hook_dispatch_settings to_dispatch_settings(const settings& settings, directory& users) {
    hook_dispatch_settings result;
    result.retry.waits = settings.webhook_retry;
    result.per_hook_minute_max = settings.webhook_minute_limit;
    result.is_owner_active = [&users](const account_ref& account) -> tollgate::result<bool> {
        const auto owner = users.owner_of(account);
        if (!owner) return owner.error();
        if (!*owner) return false;
        return users.is_active(**owner);
    };
    return result;
}

/// Browsers that have signed in stay known after a restart, and to all nodes.
std::string browser_key_of(directory& users) {
    std::array<std::byte, 32> random;
    if (!system_random{}.fill(random)) throw run_error{"OpenSSL returned no random bytes."};
    const auto key = make_secret(secret_kind::session, random);
    return expect(users.shared_key("known browsers", key), "--store: cannot read the key of known browsers");
}

plain_theme make_theme() {
    plain_theme theme;
    theme.languages = {page_texts{}, german_texts()};
    return theme;
}

policies make_policies(const settings& settings, const any_store& store, shared_limits* limits, observers& observer) {
    auto all = default_policies()
                   .with_clock(store)
                   .with_observer(std::ref(observer))
                   .with_target_rule(to_target_rule(settings));
    if (settings.accept_imported_tokens) all = std::move(all).with_authenticators(imported_basic_token{}, bearer_token{});
    return limits != nullptr ? std::move(all).with_limiter(limits->limiter()) : all;
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

#if defined(TOLLGATE_WITH_REDIS)

struct shared_limits::windows {
    /// What the limiter last said of Redis.
    struct failure_text {
        std::mutex mutex;
        std::string text = "Redis does not respond";
    };

    std::shared_ptr<failure_text> last_failure;
    redis_limiter limiter;
};

shared_limits::shared_limits(const settings& settings, const request_log& log) {
    const auto last_failure = std::make_shared<windows::failure_text>();
    redis_limiter_settings redis_settings;
    redis_settings.authorities_file = settings.limits_ca.string();
    redis_settings.on_state = [&log, last_failure](bool up, std::string_view event) {
        if (!up) {
            const std::scoped_lock hold{last_failure->mutex};
            last_failure->text = event;
        }
        log.on_change(up ? std::string{"Redis is available again; limits are shared again"}
                         : std::string{event} + "; this node counts requests separately until Redis is available again");
    };
    auto opened = redis_limiter::open(settings.limits_url, redis_settings);
    if (!opened) throw usage_error{"--limits, --limits-ca: " + opened.error().log_text()};
    windows_ = std::make_unique<windows>(windows{last_failure, *std::move(opened)});
    windows_->limiter.try_now();
}

rate_limiter_ref shared_limits::limiter() noexcept { return windows_->limiter; }

result<void> shared_limits::check() {
    if (windows_->limiter.try_now()) return {};
    const std::scoped_lock hold{windows_->last_failure->mutex};
    return unavailable(windows_->last_failure->text);
}

result<void> shared_limits::reload_authorities() noexcept { return windows_->limiter.reload_authorities(); }

backend_statistics shared_limits::statistics() const noexcept { return windows_->limiter.statistics(); }

#else

// The settings refuse `--limits redis:` in this build.
struct shared_limits::windows {};
shared_limits::shared_limits(const settings&, const request_log&) {}
rate_limiter_ref shared_limits::limiter() noexcept { return {}; }
result<void> shared_limits::check() { return {}; }
result<void> shared_limits::reload_authorities() noexcept { return {}; }
backend_statistics shared_limits::statistics() const noexcept { return {}; }

#endif

shared_limits::~shared_limits() = default;

assembly::assembly(const settings& settings, const public_urls& urls, const service_catalog& services, const storage& data,
                   observers& observer)
    : limits_{settings.limits_url.empty() ? nullptr : std::make_unique<shared_limits>(settings, observer.log)},
      store_{data.store},
      passwords_{*data.users},
      sessions_{{.auth_url = urls.auth_url, .cookie_name = settings.cookie_name, .browser_key = browser_key_of(*data.users)},
                store_,
                passwords_},
      service_{to_service_settings(settings, urls, services), *data.users, store_, sessions_,
               make_policies(settings, store_, limits_.get(), observer), account_routes(), make_theme()},
      dispatcher_{store_, to_dispatch_settings(settings, *data.users), service_.policies()} {
    observer.log.set_audit_log([&users = *data.users](const activity& activity) { return users.record(activity); });
}

}  // namespace reference
