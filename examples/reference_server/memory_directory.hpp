#pragma once

#include "directory.hpp"

#include <tollgate/base/result.hpp>

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
class memory_directory final : public directory {
public:
    [[nodiscard]] bool may_block() const noexcept override { return false; }

    tollgate::result<tollgate::balance> balance_of(tollgate::user_id user) override {
        const auto found = users_.find(user);
        if (found == users_.end()) return tollgate::not_found();
        return tollgate::balance{user, found->second.balance, found->second.currency};
    }

    tollgate::result<std::vector<tollgate::account>> accounts_of(tollgate::user_id user,
                                                                  std::string_view service) override {
        std::vector<tollgate::account> accounts;
        for (const held_account& each : accounts_)
            if (each.owner == user && each.service == service) accounts.push_back(each.shown);
        return accounts;
    }

    tollgate::result<std::optional<tollgate::user_id>> owner_of(const tollgate::account_ref& account) override {
        for (const held_account& each : accounts_)
            if (each.service == account.service && each.shown.id == account.account) return std::optional{each.owner};
        return std::optional<tollgate::user_id>{};
    }

    tollgate::result<std::optional<tollgate::quota>> quota_of(tollgate::user_id user) override {
        if (!users_.contains(user)) return tollgate::not_found();
        return std::optional<tollgate::quota>{};
    }

    /// For this process alone.
    tollgate::result<std::string> shared_key(std::string_view, std::string_view proposed) override { return std::string{proposed}; }

    tollgate::result<void> record(const tollgate::activity& activity) override {
        const std::lock_guard hold{activities_mutex_};
        activities_.push_front(activity);
        const auto is_alike = [&](const tollgate::activity& each) { return each.user == activity.user && each.kind == activity.kind; };
        if (std::count_if(activities_.begin(), activities_.end(), is_alike) > std::ptrdiff_t{activities_per_kind_max})
            activities_.erase(std::find_if(activities_.rbegin(), activities_.rend(), is_alike).base() - 1);
        return {};
    }
    tollgate::result<std::vector<tollgate::activity>> activity_of(tollgate::user_id user, std::size_t rows_max) override {
        const std::lock_guard hold{activities_mutex_};
        std::vector<tollgate::activity> found;
        for (const auto& each : activities_)
            if (each.user == user && found.size() < rows_max) found.push_back(each);
        return found;
    }

    tollgate::result<bool> is_active(tollgate::user_id user) override { return users_.contains(user); }

    tollgate::result<tollgate::user_id> add_user(const new_user& user) override {
        const tollgate::user_id id{static_cast<std::int64_t>(users_.size()) + 1};
        users_.emplace(id, user);
        return id;
    }

    tollgate::result<std::optional<known_login>> find_login(std::string_view login) override {
        const std::lock_guard hold{hashes_mutex_};
        for (const auto& [id, held] : users_)
            if (equal_logins(held.login, login)) return std::optional{known_login{id, held.password_hash}};
        return std::optional<known_login>{};
    }

    tollgate::result<void> set_password_hash(tollgate::user_id user, std::string_view hash) override {
        const std::lock_guard hold{hashes_mutex_};
        const auto found = users_.find(user);
        if (found == users_.end()) return tollgate::not_found();
        found->second.password_hash = hash;
        return {};
    }

    tollgate::result<void> replace_password_hash(tollgate::user_id user, const renewed_hash& renewed) override {
        const std::lock_guard hold{hashes_mutex_};
        const auto found = users_.find(user);
        if (found == users_.end() || found->second.password_hash != renewed.before) return tollgate::not_found();
        found->second.password_hash = renewed.after;
        return {};
    }

    tollgate::result<tollgate::account_id> add_account(tollgate::user_id user, const tollgate::service_name& service,
                                                        std::string_view name, bool admin) override {
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
    std::mutex hashes_mutex_;  // guards what changes in users_ while it is being read
    std::vector<held_account> accounts_;
    std::mutex activities_mutex_;
    std::deque<tollgate::activity> activities_;  // the newest first
};

}  // namespace reference
