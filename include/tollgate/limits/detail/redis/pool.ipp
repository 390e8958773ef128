#pragma once

#include <tollgate/base/detail/reconnecting_pool.hpp>
#include <tollgate/limits/detail/redis/pool.hpp>

#include <utility>

namespace tollgate::inline v0::redis {

namespace detail {

/// A plain explanation of a server's error, shown before the error itself.
inline std::string_view meaning_of(std::string_view error) noexcept {
    struct known_error {
        std::string_view word, meaning;
    };
    // Before Redis 7, an error inside a script appears in the middle of the error text.
    constexpr known_error all[] = {
        {"READONLY", "it is a replica and accepts no writes"},
        {"LOADING", "it is still loading its data"},
        {"OOM", "it is out of memory, with an eviction policy of noeviction"},
        {"NOAUTH", "it requires a password"},
        {"NOPERM", "this user may not run the script"},
        {"MISCONF", "it cannot save its data and accepts no writes"},
        {"MASTERDOWN", "it is a replica without its primary"},
        {"CLUSTERDOWN", "its cluster is down"},
        {"MOVED", "it is a node of a cluster, and the key belongs to another one"},
        {"BUSY", "it is busy with another script"},
    };
    for (const known_error& each : all)
        if (error.find(each.word) != std::string_view::npos) return each.meaning;
    return "it refused the command";
}

}  // namespace detail

struct pool::state {
    using connections = reconnecting_pool<connection>;

    state(server_address server_, std::unique_ptr<tls_authorities> authorities_, window_script script_,
          const pool_settings& settings_)
        : server{std::move(server_)},
          authorities{std::move(authorities_)},
          script{std::move(script_)},
          settings{settings_},
          shared{{.name = "Redis", .connections_max = settings_.connections_max, .on_state = settings_.on_state},
                 [this] { return connection::open(server, authorities.get(), steady::now() + settings.connect_wait_max); }} {}

    outcome send(const window_request* before, const window_request& request, window_reply& reply);
    outcome exchange(connection& on, const window_request* before, const window_request& request,
                    window_reply& reply, std::string& why);

    const server_address server;
    const std::unique_ptr<tls_authorities> authorities;
    const window_script script;
    const pool_settings settings;
    connections shared;
};

inline outcome pool::state::send(const window_request* before, const window_request& request, window_reply& reply) {
    if (shared.is_refusing()) return outcome::unavailable;
    auto on = shared.take(settings.answer_wait_max);
    if (!on) return outcome::unavailable;
    std::string why = "out of memory";
    outcome done = outcome::unavailable;
    try {
        done = exchange(**on, before, request, reply, why);
    } catch (...) {  // out of memory; the connection may have an unread reply
    }
    // A failure of the server affects every caller: a broken connection, a time-out, an error such as LOADING.
    if (done == outcome::unavailable) on->trip(why);
    return done;
}

inline outcome pool::state::exchange(connection& on, const window_request* before, const window_request& request,
                                    window_reply& reply, std::string& why) {
    const auto end = steady::now() + settings.answer_wait_max;
    std::string commands;
    commands.reserve(512);
    if (before != nullptr) script.append(commands, *before, window_script::form::by_name);
    script.append(commands, request, window_script::form::by_name);
    redis::reply got;
    auto exchanged = on.exchange(commands, before == nullptr ? 1 : 2, got, end);
    if (exchanged && got.error.starts_with("NOSCRIPT")) {
        commands.clear();
        if (before != nullptr) script.append(commands, *before, window_script::form::whole);
        script.append(commands, request, window_script::form::whole);
        exchanged = on.exchange(commands, before == nullptr ? 1 : 2, got, end);
    }
    if (!exchanged) {
        why = std::move(exchanged.error().cause);
        return outcome::unavailable;
    }
    if (got.error.find("WRONGTYPE") != std::string::npos) return outcome::wrong_type;
    const std::string where = "Redis at " + server.to_text() + ": ";
    if (!got.error.empty()) {
        why = where + std::string{detail::meaning_of(got.error)} + " (" + printable_error(got.error) + ")";
        return outcome::unavailable;
    }
    const auto read = window_script::read(request, got);
    if (!read) {
        why = where + "unexpected reply to the script";
        return outcome::unavailable;
    }
    reply = *read;
    return outcome::replied;
}

TOLLGATE_DECL pool::pool(server_address server, std::unique_ptr<tls_authorities> authorities, window_script script,
                         const pool_settings& settings)
    : state_{std::make_unique<state>(std::move(server), std::move(authorities), std::move(script), settings)} {}

TOLLGATE_DECL pool::~pool() = default;

TOLLGATE_DECL outcome pool::send(const window_request* before, const window_request& request,
                               window_reply& reply) noexcept {
    try {
        return state_->send(before, request, reply);
    } catch (...) {
        return outcome::unavailable;
    }
}

TOLLGATE_DECL bool pool::is_up() const noexcept { return state_->shared.is_up(); }

}  // namespace tollgate::redis
