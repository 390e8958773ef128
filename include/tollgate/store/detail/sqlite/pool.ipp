#pragma once

#include <tollgate/store/detail/sqlite/pool.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// Connections of one kind, opened as they are needed, the one used last lent first: its page cache is warm.
struct pool::lease::shelf {
    shelf(std::string path_, database_settings settings_, std::size_t connections_max_)
        : path{std::move(path_)}, settings{std::move(settings_)}, connections_max{connections_max_} {
        // So that nothing throws when a connection comes back.
        connections.reserve(connections_max);
        idle.reserve(connections_max);
    }

    result<lease> take() { return take(settings.busy_wait_max); }
    result<lease> take(milliseconds wait_max);
    void put(database& returned) noexcept;

    const std::string path;
    const database_settings settings;
    const std::size_t connections_max;

    std::mutex mutex;
    std::condition_variable came_free;
    std::size_t opened = 0;  // those that are being opened included
    std::vector<std::unique_ptr<database>> connections;
    std::vector<database*> idle;
};

inline result<pool::lease> pool::lease::shelf::take(milliseconds wait_max) {
    std::unique_lock lock{mutex};
    if (!came_free.wait_for(lock, wait_max, [this] { return !idle.empty() || opened < connections_max; }))
        return unavailable("SQLite: no connection came free in time: " + path);
    if (!idle.empty()) {
        database& chosen = *idle.back();
        idle.pop_back();
        chosen.set_busy_wait_max(wait_max);
        return lease{*this, chosen};
    }
    ++opened;
    lock.unlock();
    auto made = database::open(path, settings);
    auto owned = made ? std::make_unique<database>(*std::move(made)) : nullptr;
    lock.lock();
    if (owned == nullptr) {
        --opened;
        came_free.notify_one();
        return std::move(made).error();
    }
    owned->set_busy_wait_max(wait_max);
    connections.push_back(std::move(owned));
    return lease{*this, *connections.back()};
}

inline void pool::lease::shelf::put(database& returned) noexcept {
    {
        const std::scoped_lock lock{mutex};
        idle.push_back(&returned);
    }
    came_free.notify_one();
}

struct pool::state {
    state(const std::string& path, const database_settings& writing, const database_settings& reading,
          std::size_t readers_max, change_stamp watched)
        : readers{path, reading, readers_max}, writers{path, writing, 1}, changes{std::move(watched)} {}

    lease::shelf readers;
    lease::shelf writers;
    change_stamp changes;
};

TOLLGATE_DECL pool::lease::~lease() {
    if (from_ != nullptr) from_->put(*lent_);
}

TOLLGATE_DECL pool::pool(std::unique_ptr<state> made) noexcept : state_{std::move(made)} {}
TOLLGATE_DECL pool::pool(pool&&) noexcept = default;
TOLLGATE_DECL pool& pool::operator=(pool&&) noexcept = default;
TOLLGATE_DECL pool::~pool() = default;

TOLLGATE_DECL result<pool> pool::open(const std::string& path, const pool_settings& settings) {
    if (settings.readers_max == 0) return invalid("A pool needs at least one connection that reads.");
    const database_settings writing{settings.busy_wait_max, false, settings.vfs};
    const database_settings reading{settings.busy_wait_max, true, settings.vfs};
    auto first = database::open(path, writing);
    if (!first) return std::move(first).error();
    auto watched = change_stamp::watch(*std::move(first));
    if (!watched) return std::move(watched).error();
    return pool{std::make_unique<state>(path, writing, reading, settings.readers_max, *std::move(watched))};
}

TOLLGATE_DECL result<pool::lease> pool::reader() { return state_->readers.take(); }

TOLLGATE_DECL result<pool::lease> pool::writer() { return state_->writers.take(); }

TOLLGATE_DECL result<pool::lease> pool::writer_soon(milliseconds wait_max) {
    return state_->writers.take((std::min)(wait_max, state_->writers.settings.busy_wait_max));
}

TOLLGATE_DECL const change_stamp& pool::changes() const noexcept { return state_->changes; }

}  // namespace tollgate::sqlite
