#pragma once

#include <tollgate/base/detail/call_combiner.hpp>
#include <tollgate/base/detail/reconnecting_pool.hpp>
#include <tollgate/limits/detail/redis/pool.hpp>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

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

    /// What one caller sends.
    struct call {
        const window_request* before;  // null: nothing is sent along
        const window_request* request;
    };
    struct call_result {
        outcome how = outcome::unavailable;
        window_reply reply{};
    };
    using combiner = tollgate::detail::call_combiner<call, call_result>;

    state(server_address server_, std::unique_ptr<tls_authorities> authorities_, window_script script_,
          const pool_settings& settings_)
        : server{std::move(server_)},
          authorities{std::move(authorities_)},
          script{std::move(script_)},
          settings{settings_},
          shared{{.name = "Redis", .connections_max = settings_.connections_max, .on_state = settings_.on_state},
                 [this] { return connection::open(server, authorities.get(), steady::now() + settings.connect_wait_max); }} {}

    void send(combiner::batch all) noexcept;
    /// Whether the server is available; otherwise `why` says what failed.
    bool exchange(connection& on, combiner::batch all, std::string& why);
    /// The result of one call. Sets `why` if the reply means that the server is unavailable.
    call_result interpret(const window_request& request, const redis::reply& got, std::string& why) const;

    const server_address server;
    const std::unique_ptr<tls_authorities> authorities;
    const window_script script;
    const pool_settings settings;
    connections shared;
    combiner callers;
};

inline void pool::state::send(combiner::batch all) noexcept {
    for (auto* const each : all) each->answer.emplace();
    try {
        auto on = shared.take(settings.answer_wait_max);
        if (!on) return;
        std::string why;
        bool is_available = false;
        try {
            is_available = exchange(**on, all, why);
        } catch (...) {  // out of memory; the connection may have an unread reply
            why = "out of memory";
        }
        // A failure of the server affects every caller: a broken connection, a time-out, an error such as LOADING.
        if (!is_available) on->trip(why);
    } catch (...) {  // out of memory: unavailable
    }
}

inline bool pool::state::exchange(connection& on, combiner::batch all, std::string& why) {
    const auto end = steady::now() + settings.answer_wait_max;
    constexpr std::size_t command_bytes = 256;
    std::vector<const window_request*> requests;  // in the order in which they are sent
    requests.reserve(2 * all.size());
    for (const auto* const each : all) {
        if (each->question.before != nullptr) requests.push_back(each->question.before);
        requests.push_back(each->question.request);
    }
    std::vector<redis::reply> replies(requests.size());
    std::string commands;
    commands.reserve(command_bytes * requests.size());
    for (const auto* const each : requests) script.append(commands, *each, window_script::form::by_name);
    auto exchanged = on.exchange(commands, replies, end);

    // A server that does not have the script has counted none of these requests: they are sent again, the first with the script.
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; exchanged && i < replies.size(); ++i)
        if (replies[i].error.starts_with("NOSCRIPT")) unknown.push_back(i);
    if (!unknown.empty()) {
        commands.clear();
        for (const std::size_t i : unknown)
            script.append(commands, *requests[i], i == unknown.front() ? window_script::form::whole : window_script::form::by_name);
        std::vector<redis::reply> again(unknown.size());
        exchanged = on.exchange(commands, again, end);
        if (exchanged)
            for (std::size_t i = 0; i < unknown.size(); ++i) replies[unknown[i]] = std::move(again[i]);
    }
    if (!exchanged) {
        why = std::move(exchanged.error().cause);
        return false;
    }
    std::size_t at = 0;
    for (auto* const each : all) {
        if (each->question.before != nullptr) ++at;
        each->answer = interpret(*each->question.request, replies[at++], why);
    }
    return why.empty();
}

inline auto pool::state::interpret(const window_request& request, const redis::reply& got, std::string& why) const -> call_result {
    if (got.error.find("WRONGTYPE") != std::string::npos) return {outcome::wrong_type};
    const auto read = window_script::read(request, got);
    if (got.error.empty() && read) return {outcome::replied, *read};
    why = "Redis at " + server.to_text() + ": ";
    if (got.error.empty()) why += "unexpected reply to the script";
    else why += std::string{detail::meaning_of(got.error)} + " (" + printable_error(got.error) + ")";
    return {outcome::unavailable};
}

TOLLGATE_DECL pool::pool(server_address server, std::unique_ptr<tls_authorities> authorities, window_script script,
                         const pool_settings& settings)
    : state_{std::make_unique<state>(std::move(server), std::move(authorities), std::move(script), settings)} {}

TOLLGATE_DECL pool::~pool() = default;

TOLLGATE_DECL outcome pool::send(const window_request* before, const window_request& request,
                               window_reply& reply) noexcept {
    if (state_->shared.is_refusing()) return outcome::unavailable;
    try {
        const auto got = state_->callers.call({before, &request}, [this](state::combiner::batch all) noexcept { state_->send(all); });
        reply = got.reply;
        return got.how;
    } catch (const std::bad_alloc&) {
        return outcome::unavailable;
    }
}

TOLLGATE_DECL backend_statistics pool::statistics() const noexcept { return state_->shared.statistics(); }

TOLLGATE_DECL bool pool::is_up() const noexcept { return state_->shared.is_up(); }

}  // namespace tollgate::redis
