#pragma once

#include <tollgate/base/encoding.hpp>
#include <tollgate/pages/named_hook.hpp>

namespace tollgate::pages {

TOLLGATE_DECL std::string account_text(const account_ref& of) {
    return std::string{of.service.view()} + "/" + std::to_string(of.account.value());
}

TOLLGATE_DECL std::optional<account_ref> parse_account(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto service = service_name::from(text.substr(0, slash));
    const auto account = account_id::parse(text.substr(slash + 1));
    if (!service || service->empty() || !account) return std::nullopt;
    return account_ref{*service, *account};
}

TOLLGATE_DECL std::string query_of(const named_hook& of) {
    std::string query{account_name};
    query.append("=").append(percent_encode(account_text(of.account))).append("&");
    return query.append(hook_name).append("=").append(std::to_string(of.hook.value()));
}

}  // namespace tollgate::pages
