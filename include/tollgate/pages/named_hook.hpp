#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/domain/account.hpp>
#include <tollgate/http/form_body.hpp>
#include <tollgate/policy/issue_hook.hpp>

#include <optional>
#include <string>
#include <string_view>

/// How forms and addresses say which hook they are about.
namespace tollgate::pages {

inline constexpr std::string_view account_name = "account";
inline constexpr std::string_view hook_name = "hook";

/// An account as forms name it: `service/id`.
[[nodiscard]] TOLLGATE_DECL std::string account_text(const account_ref& of);
[[nodiscard]] TOLLGATE_DECL std::optional<account_ref> parse_account(std::string_view text);

struct named_hook {
    account_ref account;
    hook_id hook;
};

/// `account=sitesmaker%2F1&hook=5`
[[nodiscard]] TOLLGATE_DECL std::string query_of(const named_hook& of);

/// What the fields name, if the account is one of the user's; anything else is a 404.
template <class Call>
[[nodiscard]] outcome<named_hook> require_hook(Call& call, const http::form_fields& fields) {
    const auto of = parse_account(fields.value_of(account_name));
    const auto which = hook_id::parse(fields.value_of(hook_name));
    if (!of || !which || call.settings().services.find(of->service) == nullptr) return not_found();
    if (const auto theirs = require_account(call.users(), call.who().user, *of); !theirs) return theirs.error();
    return named_hook{*of, *which};
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/named_hook.ipp>
#endif
