#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_SESSIONS_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_SESSIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>
#include <tollgate/store/detail/memory/sessions.hpp>
#include <tollgate/store/detail/undo.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL result<void> sessions::create(const stored_session& session) {
    const std::scoped_lock lock{mutex_};
    if (const auto existing = rows_.find(session.cookie_digest); existing != rows_.end()) {
        const bool is_repeated = existing->second.user == session.user && existing->second.created_at == session.created_at;
        return is_repeated ? result<void>{} : session_exists();
    }
    const auto owned = of_user_.try_emplace(session.user).first;
    tollgate::detail::undo_unless_kept listed{[&]() noexcept {
        if (owned->second.empty()) of_user_.erase(owned);
    }};
    const bool full = owned->second.size() >= limits::sessions_per_user_max;
    if (!full && rows_.size() >= sessions_max_)
        return table_is_full(sessions_max_, "sessions", "sessions_max");

    const dated_digest created{session.created_at, session.cookie_digest}, last_seen{session.last_seen_at, session.cookie_digest};
    by_creation_.insert(created);
    tollgate::detail::undo_unless_kept dated{[&]() noexcept { by_creation_.erase(created); }};
    by_last_seen_.insert(last_seen);
    tollgate::detail::undo_unless_kept last_seen_listed{[&]() noexcept { by_last_seen_.erase(last_seen); }};
    rows_.emplace(session.cookie_digest, session);
    tollgate::detail::undo_unless_kept inserted{[&]() noexcept { rows_.erase(session.cookie_digest); }};
    owned->second.insert(last_seen);
    tollgate::detail::keep_all(listed, dated, last_seen_listed, inserted);

    if (full) {
        auto longest_unused = owned->second.begin();
        if (longest_unused->digest == session.cookie_digest) ++longest_unused;
        remove(longest_unused->digest);
    }
    return {};
}

TOLLGATE_DECL std::optional<stored_session> sessions::find(const digest& cookie) const {
    const std::scoped_lock lock{mutex_};
    const auto found = rows_.find(cookie);
    return found == rows_.end() ? std::nullopt : std::optional{found->second};
}

TOLLGATE_DECL void sessions::touch(const digest& cookie, instant now) {
    const std::scoped_lock lock{mutex_};
    const auto found = rows_.find(cookie);
    if (found == rows_.end()) return;
    stored_session& session = found->second;
    move_in_time(by_last_seen_, {session.last_seen_at, cookie}, now);
    move_in_time(of_user_.find(session.user)->second, {session.last_seen_at, cookie}, now);
    session.last_seen_at = now;
}

TOLLGATE_DECL bool sessions::end(const session_selection& ended) {
    const std::scoped_lock lock{mutex_};
    if (const auto* const cookie = std::get_if<digest>(&ended)) {
        if (!rows_.contains(*cookie)) return false;
        remove(*cookie);
        return true;
    }
    const auto& of = std::get<sessions_of_user>(ended);
    const auto owned = of_user_.find(of.user);
    if (owned == of_user_.end()) return false;
    bool any = false;
    auto next = owned->second.begin();
    for (std::size_t left = owned->second.size(); left > 0; --left) {
        const digest cookie = (next++)->digest;  // `remove` erases the set with its last session
        if (cookie == of.except) continue;
        remove(cookie);
        any = true;
    }
    return any;
}

TOLLGATE_DECL std::vector<stored_session> sessions::of(user_id user) const {
    const std::scoped_lock lock{mutex_};
    std::vector<stored_session> found;
    const auto owned = of_user_.find(user);
    if (owned == of_user_.end()) return found;
    for (const auto& each : owned->second) found.push_back(rows_.find(each.digest)->second);
    std::reverse(found.begin(), found.end());  // the last used first
    return found;
}

TOLLGATE_DECL std::size_t sessions::sweep(const session_ends& ends, std::size_t rows_max) {
    const std::scoped_lock lock{mutex_};
    std::size_t swept = 0;
    for (; swept < rows_max && !by_creation_.empty() && by_creation_.begin()->at < ends.created_before; ++swept)
        remove(by_creation_.begin()->digest);
    for (; swept < rows_max && !by_last_seen_.empty() && by_last_seen_.begin()->at < ends.seen_before; ++swept)
        remove(by_last_seen_.begin()->digest);
    return swept;
}

/// Precondition: it exists. By value: a reference into the removed row would dangle.
TOLLGATE_DECL void sessions::remove(digest cookie) noexcept {
    const auto row = rows_.find(cookie);
    if (row == rows_.end()) return;
    const dated_digest last_seen{row->second.last_seen_at, cookie};
    by_creation_.erase({row->second.created_at, cookie});
    by_last_seen_.erase(last_seen);
    const auto owned = of_user_.find(row->second.user);
    owned->second.erase(last_seen);
    if (owned->second.empty()) of_user_.erase(owned);
    rows_.erase(row);
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_SESSIONS_IPP
