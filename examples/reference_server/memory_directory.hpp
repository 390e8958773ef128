#pragma once

#include "user_records.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/user_directory.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

/// The directory for `--store memory:`: it has the demo's users, until the process ends.
///
/// Thread rule: add users and accounts first, so that reads by requests need no lock; then any thread.
class memory_directory {
public:
    static constexpr bool blocking = false;

    tollgate::result<tollgate::balance> balance_of(tollgate::user_id user) const {
        const auto found = users_.find(user);
        if (found == users_.end()) return tollgate::not_found();
        return tollgate::balance{user, found->second.balance, found->second.currency};
    }

    tollgate::result<std::vector<tollgate::account>> accounts_of(tollgate::user_id user,
                                                                  std::string_view service) const {
        std::vector<tollgate::account> accounts;
        for (const held_account& each : accounts_)
            if (each.owner == user && each.service == service) accounts.push_back(each.shown);
        return accounts;
    }

    tollgate::result<std::optional<tollgate::quota>> quota_of(tollgate::user_id user) const {
        if (!users_.contains(user)) return tollgate::not_found();
        return std::optional<tollgate::quota>{};
    }

    /// For this process alone.
    static tollgate::result<std::string> shared_key(std::string_view, std::string_view proposed) { return std::string{proposed}; }

    tollgate::result<void> record(const tollgate::activity& activity) {
        const std::lock_guard hold{activities_mutex_};
        activities_.push_front(activity);
        const auto is_alike = [&](const tollgate::activity& each) { return each.user == activity.user && each.kind == activity.kind; };
        if (std::count_if(activities_.begin(), activities_.end(), is_alike) > std::ptrdiff_t{activities_per_kind_max})
            activities_.erase(std::find_if(activities_.rbegin(), activities_.rend(), is_alike).base() - 1);
        return {};
    }
    tollgate::result<std::vector<tollgate::activity>> activity_of(tollgate::user_id user, std::size_t rows_max) const {
        const std::lock_guard hold{activities_mutex_};
        std::vector<tollgate::activity> found;
        for (const auto& each : activities_)
            if (each.user == user && found.size() < rows_max) found.push_back(each);
        return found;
    }

    tollgate::result<bool> is_active(tollgate::user_id user) const { return users_.contains(user); }

    tollgate::result<tollgate::user_id> add_user(new_user user) {
        const tollgate::user_id id{static_cast<std::int64_t>(users_.size()) + 1};
        users_.emplace(id, std::move(user));
        return id;
    }

    tollgate::result<std::optional<known_login>> find_login(std::string_view login) const {
        const std::lock_guard hold{hashes_mutex_};
        for (const auto& [id, held] : users_)
            if (equal_logins(held.login, login)) return std::optional{known_login{id, held.password_hash}};
        return std::optional<known_login>{};
    }

    tollgate::result<void> set_password_hash(tollgate::user_id user, std::string_view hash) {
        const std::lock_guard hold{hashes_mutex_};
        const auto found = users_.find(user);
        if (found == users_.end()) return tollgate::not_found();
        found->second.password_hash = hash;
        return {};
    }

    /// not_found when the user has another hash.
    tollgate::result<void> replace_password_hash(tollgate::user_id user, const renewed_hash& renewed) {
        const std::lock_guard hold{hashes_mutex_};
        const auto found = users_.find(user);
        if (found == users_.end() || found->second.password_hash != renewed.before) return tollgate::not_found();
        found->second.password_hash = renewed.after;
        return {};
    }

    tollgate::result<tollgate::account_id> add_account(tollgate::user_id user, const tollgate::service_name& service,
                                                        std::string_view name, bool admin) {
        const tollgate::account_id id{static_cast<std::int64_t>(accounts_.size()) + 1};
        accounts_.push_back({user, service, {id, std::string{name}, admin}});
        return id;
    }

private:
    /// Case-insensitive for ASCII letters, as in the databases.
    static bool equal_logins(std::string_view a, std::string_view b) noexcept {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [&](char x, char y) { return lower(x) == lower(y); });
    }

    struct held_account {
        tollgate::user_id owner;
        tollgate::service_name service;
        tollgate::account shown;
    };

    std::map<tollgate::user_id, new_user> users_;
    mutable std::mutex hashes_mutex_;  // guards what changes in users_ while it is being read
    std::vector<held_account> accounts_;
    mutable std::mutex activities_mutex_;
    std::deque<tollgate::activity> activities_;  // the newest first
};

static_assert(tollgate::activity_source<memory_directory>);

}  // namespace reference
