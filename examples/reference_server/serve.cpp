#include "serve.hpp"

#include "certificate.hpp"
#include "data_directory.hpp"
#include "demo.hpp"
#include "memory_directory.hpp"
#include "output.hpp"
#include "request_log.hpp"
#include "signals.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/documentation.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/server/server.hpp>
#include <tollgate/store/memory.hpp>
#include <tollgate/store/sqlite.hpp>

#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>

namespace reference {

using namespace tollgate;

namespace {

constexpr seconds stop_patience{10};

/// Descriptors beside those of connections: listeners, the store's files, the log.
constexpr rlim_t other_descriptors = 256;

/// Stands for a handler that is made later: with port 0 the public addresses, which the API tells, are known only when
/// the server has started. Nobody else knows them either, so nobody will see its 503.
template <bool Blocking>
class late_handler {
public:
    static constexpr bool blocking = Blocking;

    template <http::handler H>
    void become(H& handler) {
        static_assert(http::handler_blocks<H>() == Blocking);
        made_ = http::handler_ref{handler};
        target_.store(&*made_, std::memory_order_release);
    }

    void handle(const http::request& asked, http::response& out) noexcept { pass_on(asked, out); }
    void handle(const http::refusal& refused, http::response& out) noexcept { pass_on(refused, out); }

private:
    void pass_on(const auto& what, http::response& out) noexcept {
        if (const auto* target = target_.load(std::memory_order_acquire)) target->handle(what, out);
        else out.set_status(http::status::service_unavailable);
    }

    std::optional<http::handler_ref> made_;
    std::atomic<const http::handler_ref*> target_ = nullptr;
};

void allow_descriptors(std::size_t connections) {
    rlimit allowed{};
    if (::getrlimit(RLIMIT_NOFILE, &allowed) != 0) return;
    const rlim_t wanted = connections + other_descriptors;
    if (allowed.rlim_cur >= wanted) return;
    allowed.rlim_cur = (std::min)(wanted, allowed.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &allowed);
    if (allowed.rlim_cur < wanted)
        complain("--max-connections: the system allows " + std::to_string(allowed.rlim_cur) +
                 " open files, fewer than that.");
}

server_settings to_server_settings(const settings& with) {
    server_settings made;
    made.address = with.listen.front().address.to_text();
    made.port = with.listen.front().port;
    for (std::size_t i = 1; i < with.listen.size(); ++i)
        made.more_addresses.push_back({with.listen[i].address.to_text(), with.listen[i].port});
    if (!with.plain) {
        made.tls = {.certificate_file = with.tls_cert.string(), .key_file = with.tls_key.string()};
        if (with.tls_cert.empty()) {
            const auto files = self_signed_certificate(with.data);
            made.tls = {.certificate_file = files.certificate.string(), .key_file = files.key.string()};
        }
    }
    made.threads = with.threads;
    made.header_bytes_max = with.header_bytes_max;
    made.body_bytes_max = with.body_bytes_max;
    made.connections_max = with.connections_max;
    made.header_timeout = made.handshake_timeout = with.header_timeout;  // one patience until a head is here
    made.idle_timeout = with.idle_timeout;
    return made;
}

/// Where a client on this machine finds the first listener: every address of the machine is no address to connect to.
std::string local_authority(listen_address listening, std::uint16_t port) {
    if (listening.address == ip_address::v4(0, 0, 0, 0)) listening.address = ip_address::v4(127, 0, 0, 1);
    if (listening.address == ip_address{}) listening.address = *ip_address::parse("::1");
    listening.port = port;
    return to_text(listening);
}

api_settings to_api_settings(const settings& with, const service_catalog& services, std::uint16_t port) {
    const auto local = (with.plain ? "http://" : "https://") + local_authority(with.listen.front(), port);
    api_settings made;
    made.base_url = with.base_url.empty() ? local + "/v1" : with.base_url;
    made.auth_url = with.auth_url.empty() ? local : with.auth_url;
    made.services = services;
    made.anonymous_quota = with.anonymous_limit;
    made.user_quota = with.user_limit;
    made.trusted_proxies = with.trusted_proxies;
    return made;
}

void print_ready(const api_settings& serving, const std::optional<demo>& shown) {
    nlohmann::ordered_json line{{"ready", true},
                                {"api", serving.base_url},
                                {"auth", serving.auth_url},
                                {"pid", static_cast<std::int64_t>(::getpid())}};
    if (shown) line["demo"] = to_json(*shown);
    print_line(line);
}

/// A pair of files that will not do is as much the configuration's fault as a name that is no address.
void expect_started(const outcome<void>& started, const settings& with) {
    if (started) return;
    const problem& why = started.error();
    if (why.kind == problem_kind::invalid && !with.tls_cert.empty())
        throw usage_error{"--tls-cert, --tls-key: " + why.message};
    throw run_error{why.message};
}

/// Whatever is wrong with the new ones, the old ones go on.
void reload_certificates(server& running, const settings& with) {
    try {
        if (with.tls_cert.empty()) (void)self_signed_certificate(with.data);  // makes a new one in time
        const auto read = running.reload_certificates();
        if (!read) complain("SIGHUP: the old certificate stays in use: " + read.error().message);
    } catch (const run_error& why) {
        complain(std::string{"SIGHUP: the old certificate stays in use: "} + why.what());
    }
}

void serve_until_told(server& running, const settings& with, const signals& told) {
    while (told.wait() == SIGHUP) {
        if (with.plain) continue;
        reload_certificates(running, with);
    }
    told.let_the_next_one_end_the_process();
    running.stop(stop_patience);
}

auto make_policies(const settings& with, request_log& log) {
    return default_policies()
        .with_observer(std::ref(log))
        .with_target_rule(public_targets{.private_allowed = with.allow_private_targets});
}

/// All handlers, on one listener.
template <class Directory, class Store>
struct handlers {
    using api_type =
        account_api<Directory, Store, decltype(make_policies(std::declval<settings>(), std::declval<request_log&>()))>;

    handlers(const settings& with, const service_catalog& services, std::uint16_t port, Directory& users, Store& store,
             request_log& log)
        : api{to_api_settings(with, services, port), users, store, make_policies(with, log)} {}

    api_type api;
    api_documentation documentation{api.settings(), api.table()};
    http::site<api_documentation, api_type> site{http::mounted(documentation.root(), documentation),
                                                 http::mounted("", api)};

    static constexpr bool blocking = http::handler_blocks<api_type>();

    /// Every request names its program, those for people's pages too; the API words the refusal, with its limit fields.
    void handle(const http::request& asked, http::response& out) noexcept {
        if (require_agent{}.accepts(asked.fields.find(http::field_id::user_agent))) site.handle(asked, out);
        else api.handle(asked, out);
    }
    void handle(const http::refusal& refused, http::response& out) noexcept { site.handle(refused, out); }
};

template <class Directory, class Store>
void serve_from(Directory& users, Store& store, const std::optional<demo>& shown, const settings& with,
                const service_catalog& services, const signals& told) {
    request_log log{with.log};
    std::optional<handlers<Directory, Store>> made;
    late_handler<handlers<Directory, Store>::blocking> handler;
    server running{handler, to_server_settings(with)};

    const auto make_handlers = [&](std::uint16_t port) {
        made.emplace(with, services, port, users, store, log);
        handler.become(*made);
    };
    const auto port = with.listen.front().port;
    if (port != 0) make_handlers(port);
    expect_started(running.start(), with);
    if (port == 0) make_handlers(running.port());
    print_ready(made->api.settings(), shown);
    serve_until_told(running, with, told);
}

std::optional<demo> memory_demo(memory_directory& users, memory_store& store, const service_catalog& services,
                                bool wanted) {
    return wanted ? std::optional{renew_demo(users, store, services)} : std::nullopt;
}

/// The one that an earlier start wrote down, as long as it is good for anything.
std::optional<demo> kept_demo(sqlite_directory& users, sqlite_store& store, const service_catalog& services,
                              const settings& with) {
    if (!with.demo) return std::nullopt;
    const directory_lock alone{with.data};
    auto kept = read_demo(with.data);
    const bool good =
        kept && expect(users.find_login(kept->login), "cannot look for the demo user") && is_alive(*kept, store);
    if (good) return kept;
    const auto fresh = renew_demo(users, store, services);
    write_demo(with.data, fresh);
    return fresh;
}

}  // namespace

void run_server(const settings& with, const service_catalog& services) {
    const signals told;
    allow_descriptors(with.connections_max);
    make_private_directory(with.data);
    const auto where = with.store_location();
    if (where.kind == location::kind::memory) {
        memory_directory users;
        memory_store store;
        const auto shown = memory_demo(users, store, services, with.demo);
        serve_from(users, store, shown, with, services, told);
        return;
    }
    auto users = expect(sqlite_directory::open(where.file), "--store: cannot open the database");
    auto store = expect(sqlite_store::open(where.file.string()), "--store: cannot open the database");
    const auto shown = kept_demo(users, store, services, with);
    serve_from(users, store, shown, with, services, told);
}

}  // namespace reference
