#pragma once

#include <tollgate/contract/user_directory.hpp>
#include <tollgate/domain/service_catalog.hpp>
#include <tollgate/http/json_writer.hpp>

namespace tollgate {

/// The user's accounts at one service: a bare array.
template <user_directory Users>
[[nodiscard]] outcome<void> list_accounts(Users& users, user_id user, const service& at, http::json_writer out) {
    const auto found = users.accounts_of(user, at.name);
    if (!found) return found.error();
    out.begin_array();
    for (const account& each : *found) {
        out.begin_object();
        out.member("id").integer(each.id.value());
        out.member("name").string(each.name);
        out.member("admin").boolean(each.admin);
        out.end_object();
    }
    out.end_array();
    return {};
}

}  // namespace tollgate
