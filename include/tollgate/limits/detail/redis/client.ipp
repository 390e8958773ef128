#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_CLIENT_IPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_CLIENT_IPP

#include <tollgate/base/detail/call_combiner.hpp>
#include <tollgate/base/detail/reconnecting_pool.hpp>
#include <tollgate/limits/detail/redis/client.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tollgate::inline v0::redis {

namespace detail {

TOLLGATE_DECL std::optional<std::string_view> find_known_error(std::string_view error) noexcept {
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
        {"NOREPLICAS", "too few of its replicas are connected"},
        {"MOVED", "it is a node of a cluster, and the key belongs to another one"},
        {"BUSY", "it is busy with another script"},
    };
    for (const known_error& each : all)
        if (error.find(each.word) != std::string_view::npos) return each.meaning;
    return std::nullopt;
}

}  // namespace detail

struct client::state {
    using connections = tollgate::detail::reconnecting_pool<connection>;

    using combiner = tollgate::detail::call_combiner<const window_request*, window_result>;
    using requests_of_batch = std::span<const window_request* const>;

    state(server_address server_, std::shared_ptr<const tls_authorities> authorities_, window_script script_,
          const client_settings& settings_)
        : server{std::move(server_)},
          authorities{std::move(authorities_)},
          script{std::move(script_)},
          settings{settings_},
          shared{{.name = "Redis", .connections_max = 1, .on_state = settings_.on_state},
                 [this] {
                     const auto trusted = current_authorities();
                     return connection::open(server, trusted.get(), steady::now() + settings.connect_wait_max);
                 }} {}

    [[nodiscard]] std::shared_ptr<const tls_authorities> current_authorities() noexcept {
        const std::scoped_lock hold{authorities_mutex};
        return authorities;
    }

    void send(combiner::batch all) noexcept;
    /// Returns true if the server is available; otherwise `reason` says what failed.
    bool exchange(connection& on, combiner::batch all, std::string& reason);
    /// The replies to commands for so many requests each. Throws `std::bad_alloc`.
    result<std::vector<redis::reply>> run(connection& on, requests_of_batch requests, std::size_t per_command, steady::time_point end);
    /// What the reply says of the request at this place of its command. Sets `reason` if it means that the server is unavailable.
    window_result interpret(const window_request& request, const redis::reply& received, std::size_t place, std::string& reason) const;

    const server_address server;
    std::mutex authorities_mutex;
    std::shared_ptr<const tls_authorities> authorities;  // null without TLS
    const window_script script;
    const client_settings settings;
    connections shared;
    combiner callers;
    std::atomic<bool> takes_several_keys = true;
};

inline void client::state::send(combiner::batch all) noexcept {
    for (auto* const each : all) each->result.emplace();
    try {
        auto on = shared.take(settings.response_wait_max);
        if (!on) return;
        std::string reason;
        bool is_available = false;
        try {
            is_available = exchange(**on, all, reason);
        } catch (...) {  // out of memory; the connection may have an unread reply
            reason = "out of memory";
        }
        // A failure of the server affects every caller: a broken connection, a timeout, an error such as LOADING.
        if (!is_available) on->trip(reason);
    } catch (...) {  // out of memory: unavailable
    }
}

inline bool client::state::exchange(connection& on, combiner::batch all, std::string& reason) {
    const auto end = steady::now() + settings.response_wait_max;
    std::vector<const window_request*> requests;  // in the order in which they are counted
    requests.reserve(all.size());
    for (const auto* const each : all) requests.push_back(each->request);
    std::size_t per_command = takes_several_keys.load(std::memory_order_relaxed) ? requests.size() : 1;
    auto replies = run(on, requests, per_command, end);
    if (replies && per_command > 1 && !replies->front().error.empty()) {
        // Nothing was counted. A cluster refuses keys of several shards (CROSSSLOT), some proxies any command with several keys.
        // Other errors, such as BUSY, pass.
        const bool may_be_permanent = !detail::find_known_error(replies->front().error);
        per_command = 1;
        replies = run(on, requests, per_command, end);
        if (may_be_permanent && replies && replies->front().error.empty()) takes_several_keys.store(false, std::memory_order_relaxed);
    }
    if (!replies) {
        reason = std::move(replies.error().cause);
        return false;
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i]->result = interpret(*requests[i], (*replies)[i / per_command], i % per_command, reason);
    return reason.empty();
}

inline auto client::state::run(connection& on, requests_of_batch requests, std::size_t per_command, steady::time_point end)
    -> result<std::vector<redis::reply>> {
    std::vector<redis::reply> replies((requests.size() + per_command - 1) / per_command);
    constexpr std::size_t request_bytes = 256;
    std::string commands;
    commands.reserve(request_bytes * requests.size());
    const auto append = [&](std::size_t command, window_script::form command_form) {
        const auto first = command * per_command;
        script.append(commands, requests.subspan(first, (std::min)(per_command, requests.size() - first)), command_form);
    };
    for (std::size_t i = 0; i < replies.size(); ++i) append(i, window_script::form::by_name);
    if (auto exchanged = on.exchange(commands, replies, end); !exchanged) return std::move(exchanged).error();

    // A server that does not have the script has counted none of these requests: they are sent again, the first with the script.
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < replies.size(); ++i)
        if (replies[i].error.starts_with("NOSCRIPT")) unknown.push_back(i);
    if (unknown.empty()) return replies;
    commands.clear();
    for (const std::size_t i : unknown) append(i, i == unknown.front() ? window_script::form::whole : window_script::form::by_name);
    std::vector<redis::reply> again(unknown.size());
    if (auto exchanged = on.exchange(commands, again, end); !exchanged) return std::move(exchanged).error();
    for (std::size_t i = 0; i < unknown.size(); ++i) replies[unknown[i]] = std::move(again[i]);
    return replies;
}

inline window_result client::state::interpret(const window_request& request, const redis::reply& received, std::size_t place,
                                              std::string& reason) const {
    if (received.error.empty()) {
        const auto read = window_script::read(request, received, place);
        if (read.outcome == outcome::unavailable) reason = "Redis at " + server.to_text() + ": unexpected reply to the script";
        return read;
    }
    const auto meaning = detail::find_known_error(received.error).value_or("it refused the command");
    reason = "Redis at " + server.to_text() + ": " + std::string{meaning} + " (" + printable_error(received.error) + ")";
    return {};
}

TOLLGATE_DECL bool client::has_authorities() const noexcept { return state_->current_authorities() != nullptr; }

TOLLGATE_DECL void client::set_authorities(std::shared_ptr<const tls_authorities> authorities) noexcept {
    const std::scoped_lock hold{state_->authorities_mutex};
    state_->authorities = std::move(authorities);
}

TOLLGATE_DECL client::client(server_address server, std::shared_ptr<const tls_authorities> authorities, window_script script,
                         const client_settings& settings)
    : state_{std::make_unique<state>(std::move(server), std::move(authorities), std::move(script), settings)} {}

TOLLGATE_DECL client::~client() = default;

TOLLGATE_DECL window_result client::send(const window_request& request) noexcept {
    if (state_->shared.is_refusing()) return {};
    try {
        return state_->callers.call(&request, [this](state::combiner::batch all) noexcept { state_->send(all); });
    } catch (const std::bad_alloc&) {
        return {};
    }
}

TOLLGATE_DECL backend_statistics client::statistics() const noexcept { return state_->shared.statistics(); }

TOLLGATE_DECL bool client::is_up() const noexcept { return state_->shared.is_up(); }

}  // namespace tollgate::redis

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_CLIENT_IPP
