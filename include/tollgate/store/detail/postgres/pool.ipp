#pragma once

#include <tollgate/store/detail/postgres/pool.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace tollgate::inline v0::postgres {

struct pool::state {
    using steady = std::chrono::steady_clock;

    struct requirement {
        std::string component;
        std::int64_t version;
    };
    struct idle_connection {
        std::unique_ptr<connection> held;
        std::uint64_t generation;
    };

    state(std::vector<server_parameters> servers_, const pool_settings& settings_)
        : servers{std::move(servers_)},
          settings{settings_},
          clock{std::make_shared<server_clock>(settings_.callers_clock)} {
        settings.connections_max = (std::max)(settings.connections_max, std::size_t{1});
        idle.reserve(settings.connections_max);  // so that nothing throws when a connection comes back
    }

    result<lease> take(milliseconds wait_max);
    result<connection> connect();
    result<void> check_requirements(connection& made);
    milliseconds backoff() noexcept;
    void put(std::unique_ptr<connection> returned, std::uint64_t of_generation) noexcept;
    void drop(bool hung) noexcept;

    const std::vector<server_parameters> servers;
    pool_settings settings;
    const std::shared_ptr<server_clock> clock;

    std::mutex mutex;
    std::condition_variable came_free;
    std::vector<idle_connection> idle;
    std::size_t opened = 0;  // those that are being opened, and lent, included
    std::uint64_t generation = 0;
    std::size_t answering_server = 0;  // which was the last that answered
    std::vector<requirement> requirements;

    unsigned failures = 0;  // to connect, one after the other
    steady::time_point try_again_at{};
    std::string last_failure;
    std::minstd_rand jitter{
        static_cast<unsigned>(steady::now().time_since_epoch().count() ^ reinterpret_cast<std::intptr_t>(this))};
};

/// A connection on loan.
class pool::lease {
public:
    lease(state& from, std::unique_ptr<connection> lent, std::uint64_t generation) noexcept
        : from_{&from}, lent_{std::move(lent)}, generation_{generation} {}
    lease(lease&& other) noexcept
        : from_{std::exchange(other.from_, nullptr)}, lent_{std::move(other.lent_)}, generation_{other.generation_} {}
    lease& operator=(lease&&) = delete;
    ~lease() {
        if (from_ != nullptr) from_->put(std::move(lent_), generation_);
    }

    /// It is of no use any more.
    void drop(bool hung) noexcept {
        lent_.reset();
        std::exchange(from_, nullptr)->drop(hung);
    }

    connection* operator->() const noexcept { return lent_.get(); }

private:
    state* from_;
    std::unique_ptr<connection> lent_;
    std::uint64_t generation_;
};

inline milliseconds pool::state::backoff() noexcept {
    constexpr std::int64_t first = 100, last = 2000;
    const std::int64_t full = (std::min)(first << (std::min)(failures, 10U), last);
    return milliseconds{full / 2 + static_cast<std::int64_t>(jitter()) % (full / 2)};
}

inline result<pool::lease> pool::state::take(milliseconds wait_max) {
    const auto end = steady::now() + wait_max;
    std::unique_lock lock{mutex};
    for (;;) {
        while (!idle.empty()) {  // the one that was used last first: its plans are warm
            auto chosen = std::move(idle.back());
            idle.pop_back();
            if (chosen.generation == generation && chosen.held->is_sound())
                return lease{*this, std::move(chosen.held), chosen.generation};
            --opened;
        }
        const auto now = steady::now();
        const bool may_open = opened < settings.connections_max;
        if (may_open && now >= try_again_at) break;
        if (opened == 0) return unavailable("PostgreSQL: not connected, and tried again in a moment: " + last_failure);
        if (now >= end)
            return unavailable("PostgreSQL: no connection came free within " + std::to_string(wait_max.count()) +
                               " ms; there are " + std::to_string(opened));
        came_free.wait_until(lock, may_open ? (std::min)(end, try_again_at) : end);
    }
    ++opened;
    const std::uint64_t of_generation = generation;
    // One at a time tries a server that does not answer.
    if (failures > 0) try_again_at = steady::now() + backoff();
    lock.unlock();
    std::unique_ptr<connection> owned;
    std::optional<error> why;
    try {
        auto made = connect();
        if (made) owned = std::make_unique<connection>(*std::move(made));
        else why = std::move(made).error();
    } catch (...) {
        lock.lock();
        --opened;
        came_free.notify_one();
        throw;
    }
    lock.lock();
    if (owned == nullptr) {
        --opened;
        ++failures;
        try_again_at = steady::now() + backoff();
        last_failure = why->cause;
        came_free.notify_all();
        return *std::move(why);
    }
    failures = 0;
    try_again_at = {};
    return lease{*this, std::move(owned), of_generation};
}

inline result<connection> pool::state::connect() {
    std::size_t first = 0;
    {
        const std::scoped_lock lock{mutex};
        first = answering_server;
    }
    std::optional<error> why;
    for (std::size_t i = 0; i < servers.size(); ++i) {
        const std::size_t which = (first + i) % servers.size();
        auto made = connection::open(servers[which], settings.each, *clock);
        if (made) {
            if (auto fits = check_requirements(*made); !fits) return std::move(fits).error();
            const std::scoped_lock lock{mutex};
            answering_server = which;
            return made;
        }
        if (!why) why = std::move(made).error();
        else why->cause += "; " + made.error().cause;
    }
    return *std::move(why);
}

inline result<void> pool::state::check_requirements(connection& made) {
    batch asked{milliseconds{0}};
    {
        const std::scoped_lock lock{mutex};
        for (const requirement& each : requirements)
            asked.add("SELECT component FROM tollgate_schema WHERE component = $1 AND works_with > $2", each.component,
                      each.version);
    }
    auto answered = made.run(asked);
    if (answered.failed) return std::move(answered.failed->why);
    for (const rows& each : answered.given)
        if (each.count() > 0)
            return internal_error(
                "PostgreSQL: the tables were brought to a version by a later release that this one "
                "cannot work with");
    return {};
}

inline void pool::state::put(std::unique_ptr<connection> returned, std::uint64_t of_generation) noexcept {
    {
        const std::scoped_lock lock{mutex};
        if (of_generation == generation) idle.push_back({std::move(returned), of_generation});
        else --opened;
    }
    came_free.notify_one();
}

inline void pool::state::drop(bool hung) noexcept {
    std::vector<idle_connection> gone;  // closed without the lock
    {
        const std::scoped_lock lock{mutex};
        --opened;
        if (hung) {
            ++generation;
            opened -= idle.size();
            gone.swap(idle);
        }
    }
    came_free.notify_all();
}

TOLLGATE_DECL pool::pool(std::unique_ptr<state> made) noexcept : state_{std::move(made)} {}
TOLLGATE_DECL pool::pool(pool&&) noexcept = default;
TOLLGATE_DECL pool& pool::operator=(pool&&) noexcept = default;
TOLLGATE_DECL pool::~pool() = default;

TOLLGATE_DECL result<pool> pool::open(const std::string& connection_string, const pool_settings& settings) {
    auto servers = servers_of(connection_string);
    if (!servers) return std::move(servers).error();
    pool made{std::make_unique<state>(*std::move(servers), settings)};
    // So that a wrong address or password is known now.
    if (auto first = made.state_->take(settings.connection_wait_max); !first) return std::move(first).error();
    return made;
}

TOLLGATE_DECL batch pool::make_batch() const { return batch{state_->clock->shift()}; }

TOLLGATE_DECL const std::shared_ptr<server_clock>& pool::clock() const noexcept { return state_->clock; }

TOLLGATE_DECL result<connection> pool::open_another() const { return state_->connect(); }

TOLLGATE_DECL void pool::require(std::string_view component, std::int64_t version) {
    const std::scoped_lock lock{state_->mutex};
    for (state::requirement& each : state_->requirements)
        if (each.component == component) return void(each.version = version);
    state_->requirements.push_back({std::string{component}, version});
}

TOLLGATE_DECL result<answers> pool::run(const batch& asked, repeat when_lost) {
    return run(asked, when_lost, state_->settings.connection_wait_max);
}

TOLLGATE_DECL result<answers> pool::run(const batch& asked, repeat when_lost, milliseconds connection_wait_max) {
    constexpr int tries_max = 3;
    for (int tries = 1;; ++tries) {
        auto on = state_->take(connection_wait_max);
        if (!on) return std::move(on).error();
        auto done = (*on)->run(asked);
        if (!done.failed) return std::move(done.given);
        const aftermath after = done.failed->after;
        if (after == aftermath::lost) on->drop(done.failed->hung);
        // Of a connection that hung the next one would, too: its time was all that a call may take.
        const bool again =
            tries < tries_max && (after == aftermath::try_again ||
                                  (after == aftermath::lost && when_lost == repeat::allowed && !done.failed->hung));
        if (!again) {
            if (after == aftermath::lost && when_lost == repeat::never)
                done.failed->why.cause += " (whether it was done before is not known)";
            return std::move(done.failed->why);
        }
        // Those who met once should not meet again.
        if (after == aftermath::try_again) std::this_thread::sleep_for(milliseconds{5 * tries});
    }
}

TOLLGATE_DECL result<conversation> pool::converse() {
    auto on = state_->take(state_->settings.connection_wait_max);
    if (!on) return std::move(on).error();
    return conversation{std::make_unique<lease>(*std::move(on))};
}

TOLLGATE_DECL conversation::conversation(std::unique_ptr<pool::lease> on) noexcept : on_{std::move(on)} {}
TOLLGATE_DECL conversation::conversation(conversation&&) noexcept = default;

TOLLGATE_DECL conversation::~conversation() {
    if (on_ == nullptr || !is_open_) return;
    try {
        batch asked{milliseconds{0}};
        asked.add("ROLLBACK");
        if (!(*on_)->run(asked).failed) return;
    } catch (...) {  // memory: the connection goes, and the transaction with it
    }
    on_->drop(false);
}

TOLLGATE_DECL result<answers> conversation::run(const batch& asked) {
    if (on_ == nullptr) return unavailable("PostgreSQL: the connection is closed");
    is_open_ = true;
    auto done = (*on_)->run(asked);
    if (!done.failed) return std::move(done.given);
    may_be_tried_again_ = done.failed->after == aftermath::try_again;
    if (done.failed->after == aftermath::lost) {
        on_->drop(done.failed->hung);
        on_.reset();
        done.failed->why.cause += " (whether it was done before is not known)";
    }
    return std::move(done.failed->why);
}

TOLLGATE_DECL result<rows> pool::run_one(const batch& asked, repeat when_lost) {
    auto answered = run(asked, when_lost);
    if (!answered) return std::move(answered).error();
    return std::move(answered->front());
}

}  // namespace tollgate::postgres
