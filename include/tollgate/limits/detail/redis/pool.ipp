#pragma once

#include <tollgate/base/detail/reconnecting_pool.hpp>
#include <tollgate/limits/detail/redis/pool.hpp>

#include <utility>

namespace tollgate::inline v0::redis {

namespace detail {

/// What an error of the server means for people, in front of its own words.
inline std::string_view meaning_of(std::string_view error) noexcept {
    struct known_error {
        std::string_view word, meaning;
    };
    // Before Redis 7, what a script runs into stands somewhere in its error's text.
    constexpr known_error all[] = {
        {"READONLY", "it is a replica that takes no writes"},
        {"LOADING", "it is still loading its data"},
        {"OOM", "it is out of memory, with an eviction policy of noeviction"},
        {"NOAUTH", "it asks for a password"},
        {"NOPERM", "this user may not run the script"},
        {"MISCONF", "it cannot save its data, and takes no writes"},
        {"MASTERDOWN", "it is a replica without its primary"},
        {"CLUSTERDOWN", "its cluster is down"},
        {"MOVED", "it is a node of a cluster, and the key lives on another one"},
        {"BUSY", "a script of somebody keeps it busy"},
    };
    for (const known_error& each : all)
        if (error.find(each.word) != std::string_view::npos) return each.meaning;
    return "it refused";
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

    ending ask(const window_question* before, const window_question& asked, window_answer& answered);
    ending exchange(connection& on, const window_question* before, const window_question& asked,
                    window_answer& answered, std::string& why);

    const server_address server;
    const std::unique_ptr<tls_authorities> authorities;
    const window_script script;
    const pool_settings settings;
    connections shared;
};

inline ending pool::state::ask(const window_question* before, const window_question& asked, window_answer& answered) {
    if (shared.is_refusing()) return ending::not_reached;
    auto on = shared.take(settings.answer_wait_max);
    if (!on) return ending::not_reached;
    std::string why = "out of memory";
    ending done = ending::not_reached;
    try {
        done = exchange(**on, before, asked, answered, why);
    } catch (...) {  // memory: an unread answer may be left on the connection
    }
    // A server that failed one caller fails all: a connection that broke, hung or got an error such as LOADING.
    if (done == ending::not_reached) on->trip(why);
    return done;
}

inline ending pool::state::exchange(connection& on, const window_question* before, const window_question& asked,
                                    window_answer& answered, std::string& why) {
    const auto end = steady::now() + settings.answer_wait_max;
    std::string commands;
    commands.reserve(512);
    if (before != nullptr) script.append(commands, *before, window_script::form::by_name);
    script.append(commands, asked, window_script::form::by_name);
    reply got;
    auto exchanged = on.exchange(commands, before == nullptr ? 1 : 2, got, end);
    if (exchanged && got.error.starts_with("NOSCRIPT")) {
        commands.clear();
        if (before != nullptr) script.append(commands, *before, window_script::form::whole);
        script.append(commands, asked, window_script::form::whole);
        exchanged = on.exchange(commands, before == nullptr ? 1 : 2, got, end);
    }
    if (!exchanged) {
        why = std::move(exchanged.error().cause);
        return ending::not_reached;
    }
    if (got.error.find("WRONGTYPE") != std::string::npos) return ending::key_is_taken;
    const std::string where = "Redis at " + server.to_text() + ": ";
    if (!got.error.empty()) {
        why = where + std::string{detail::meaning_of(got.error)} + " (" + shown_error(got.error) + ")";
        return ending::not_reached;
    }
    const auto read = window_script::read(asked, got);
    if (!read) {
        why = where + "an answer that makes no sense";
        return ending::not_reached;
    }
    answered = *read;
    return ending::answered;
}

TOLLGATE_DECL pool::pool(server_address server, std::unique_ptr<tls_authorities> authorities, window_script script,
                         const pool_settings& settings)
    : state_{std::make_unique<state>(std::move(server), std::move(authorities), std::move(script), settings)} {}

TOLLGATE_DECL pool::~pool() = default;

TOLLGATE_DECL ending pool::ask(const window_question* before, const window_question& asked,
                               window_answer& answered) noexcept {
    try {
        return state_->ask(before, asked, answered);
    } catch (...) {
        return ending::not_reached;
    }
}

TOLLGATE_DECL bool pool::is_up() const noexcept { return state_->shared.is_up(); }

}  // namespace tollgate::redis
