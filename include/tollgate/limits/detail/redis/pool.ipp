#pragma once

#include <tollgate/limits/detail/redis/pool.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

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
    struct idle_connection {
        std::unique_ptr<connection> held;
        std::uint64_t generation;
    };

    state(server_address server_, std::unique_ptr<tls_authorities> authorities_, window_script script_,
          const pool_settings& settings_)
        : server{std::move(server_)},
          authorities{std::move(authorities_)},
          script{std::move(script_)},
          settings{settings_} {
        settings.connections_max = (std::max)(settings.connections_max, std::size_t{1});
        idle.reserve(settings.connections_max);  // so that nothing throws when a connection comes back
    }

    ending ask(const window_question* before, const window_question& asked, window_answer& answered);
    bool may_try() noexcept;
    std::optional<idle_connection> take(steady::time_point end);
    ending ask_on(connection& on, const window_question* before, const window_question& asked, window_answer& answered,
                  std::string& why);
    void put(idle_connection returned) noexcept;
    void came_back() noexcept;
    void went_away(std::string_view why) noexcept;
    void tell(bool up_now, std::string_view why) noexcept;

    const server_address server;
    const std::unique_ptr<tls_authorities> authorities;
    const window_script script;
    pool_settings settings;

    // Read without the lock by everybody who is told at once; written under it.
    std::atomic<bool> up{true};
    std::atomic<steady::rep> try_again_at{0};
    std::atomic<bool> trying{false};

    std::mutex mutex;
    std::condition_variable came_free;
    std::vector<idle_connection> idle;
    std::size_t opened = 0;  // those that are being opened, and lent, included
    std::uint64_t generation = 0;
    unsigned failures = 0;
    std::uint32_t jitter = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this) >> 4) | 1U;
};

/// While the server is out of reach: one caller at a time, and not before it is time.
inline bool pool::state::may_try() noexcept {
    if (steady::now().time_since_epoch().count() < try_again_at.load(std::memory_order_relaxed)) return false;
    if (trying.exchange(true, std::memory_order_acquire)) return false;
    // Whoever tried meanwhile may have set another time, or found it back.
    if (up.load(std::memory_order_acquire) ||
        steady::now().time_since_epoch().count() >= try_again_at.load(std::memory_order_relaxed))
        return true;
    trying.store(false, std::memory_order_release);
    return false;
}

inline ending pool::state::ask(const window_question* before, const window_question& asked, window_answer& answered) {
    const bool was_up = up.load(std::memory_order_acquire);
    if (!was_up && !may_try()) return ending::not_reached;
    struct end_of_try {
        std::atomic<bool>* flag;
        ~end_of_try() {
            if (flag != nullptr) flag->store(false, std::memory_order_release);
        }
    } const tried{was_up ? nullptr : &trying};

    const auto end = steady::now() + settings.answer_wait_max;
    auto lent = take(end);
    if (!lent) return ending::not_reached;
    std::string why;
    ending done = ending::not_reached;
    try {
        if (lent->held == nullptr) {
            auto made = connection::open(server, authorities.get(), steady::now() + settings.connect_wait_max);
            if (made) lent->held = *std::move(made);
            else why = std::move(made.error().cause);
        }
        if (lent->held != nullptr) done = ask_on(*lent->held, before, asked, answered, why);
    } catch (...) {  // out of memory: nobody knows what is left to be read on it
    }
    if (done == ending::not_reached) {
        const bool stale = [&] {
            const std::scoped_lock lock{mutex};
            --opened;
            return lent->generation != generation;
        }();
        lent->held.reset();
        // Of what went away together, the first says so; and one of before does not undo what came after.
        if (!stale) went_away(why.empty() ? "out of memory" : std::string_view{why});
        came_free.notify_all();
        return done;
    }
    put(*std::move(lent));
    if (!was_up) came_back();
    return done;
}

/// A connection, or leave to open one; none when the server is away, or nothing came free in time.
inline std::optional<pool::state::idle_connection> pool::state::take(steady::time_point end) {
    std::unique_lock lock{mutex};
    const std::uint64_t began_in = generation;
    for (;;) {
        while (!idle.empty()) {  // the one that was used last first: the others may close by and by
            auto chosen = std::move(idle.back());
            idle.pop_back();
            if (chosen.held->is_sound()) return chosen;
            --opened;
        }
        if (opened < settings.connections_max) {
            ++opened;
            return idle_connection{nullptr, generation};
        }
        if (came_free.wait_until(lock, end) == std::cv_status::timeout && idle.empty() &&
            opened >= settings.connections_max)
            return std::nullopt;
        if (generation != began_in) return std::nullopt;  // it went away while we waited
    }
}

inline ending pool::state::ask_on(connection& on, const window_question* before, const window_question& asked,
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

inline void pool::state::put(idle_connection returned) noexcept {
    {
        const std::scoped_lock lock{mutex};
        if (returned.generation == generation) idle.push_back(std::move(returned));
        else --opened;
    }
    came_free.notify_one();
}

inline void pool::state::came_back() noexcept {
    const std::scoped_lock lock{mutex};
    failures = 0;
    if (up.load(std::memory_order_relaxed)) return;
    tell(true, "Redis answers again");
    up.store(true, std::memory_order_release);
}

inline void pool::state::went_away(std::string_view why) noexcept {
    constexpr std::int64_t first = 100, last = 2000;
    const std::scoped_lock lock{mutex};
    // All go with one: they lead to the same server, and each would hold up somebody for as long.
    ++generation;
    opened -= idle.size();
    idle.clear();
    const std::int64_t full = (std::min)(first << (std::min)(failures, 10U), last);
    ++failures;
    jitter = jitter * 1664525U + 1013904223U;  // so that nodes do not come together
    const milliseconds wait{failures == 1 ? full : full - static_cast<std::int64_t>(jitter >> 8) % (full / 4)};
    try_again_at.store((steady::now() + wait).time_since_epoch().count(), std::memory_order_relaxed);
    if (!up.load(std::memory_order_relaxed)) return;
    up.store(false, std::memory_order_release);
    tell(false, why);
}

inline void pool::state::tell(bool up_now, std::string_view why) noexcept {
    if (!settings.on_state) return;
    try {
        settings.on_state(up_now, why);
    } catch (...) {  // whoever is told has no say in what is counted
    }
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

TOLLGATE_DECL bool pool::is_up() const noexcept { return state_->up.load(std::memory_order_acquire); }

}  // namespace tollgate::redis
