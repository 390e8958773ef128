#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/base/result.hpp>

#include <utility>

namespace reference {

/// Reads what requests read, so that a missing table, privilege or connection shows: tokens, and users with their accounts.
template <class Directory, class Store>
[[nodiscard]] tollgate::result<void> try_request_reads(Directory& users, Store& store) {
    if (auto token = store.find_personal_token("usr_none"); !token) return std::move(token).error();
    constexpr tollgate::user_id some{1};
    const auto failed = [](const auto& read) { return !read && read.error().kind != tollgate::error_kind::not_found; };
    if (auto quota = users.quota_of(some); failed(quota)) return std::move(quota).error();
    if (auto accounts = users.accounts_of(some, "none"); failed(accounts)) return std::move(accounts).error();
    return {};
}

}  // namespace reference
