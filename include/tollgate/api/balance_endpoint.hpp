#pragma once

#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/json_writer.hpp>

namespace tollgate {

/// What the user has: the balance object.
template <user_directory Users>
[[nodiscard]] outcome<void> show_balance(Users& users, user_id user, http::json_writer out) {
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
    [[nodiscard]] outcome<void> operator()(auto& call) const {
        return show_balance(call.users(), call.who().user, call.json());
    }
};

}  // namespace tollgate
