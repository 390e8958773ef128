#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <initializer_list>
#include <string_view>

namespace tollgate::inline v0 {

/// The user's accounts at one service: a bare array.
template <user_directory Users>
[[nodiscard]] result<void> list_accounts(Users& users, user_id user, const service& at, http::json_writer out) {
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

/// What the user has: the balance object.
template <user_directory Users>
[[nodiscard]] result<void> show_balance(Users& users, user_id user, http::json_writer out) {
    const auto found = users.balance_of(user);
    if (!found) return found.error();
    out.begin_object();
    out.member("id").integer(found->user.value());
    out.member("balance").number(found->amount.text());
    out.member("currency").string(found->currency);
    out.end_object();
    return {};
}

struct balance_endpoint {
    static constexpr bool reads_the_user_alone = true;
    [[nodiscard]] result<void> operator()(auto& call) const {
        return show_balance(call.users(), call.who().user, call.json());
    }
};

/// An array of strings, for programs that want to see whether they reach the API at all.
[[nodiscard]] inline result<void> show_strings(std::initializer_list<std::string_view> strings, http::json_writer out) {
    out.begin_array();
    for (const auto each : strings) out.string(each);
    out.end_array();
    return {};
}

}  // namespace tollgate
