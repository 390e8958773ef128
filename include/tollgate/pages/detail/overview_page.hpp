#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_OVERVIEW_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_OVERVIEW_PAGE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/limits/usage_counter.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/activity.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/pages/detail/activity_page.hpp>
#include <tollgate/pages/detail/page.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The first page after signing in.
namespace tollgate::inline v0::pages {

// A page that fits on a screen or two; each part leads to the page with all.
inline constexpr std::size_t overview_accounts_max = 20;
inline constexpr std::size_t overview_access_max = 8;
inline constexpr std::size_t overview_activities_max = 5;

/// A token or an application that can use the account now.
struct access_holder {
    std::string name;
    bool is_token = false;
    std::optional<instant> last_used_at = {};
    usage requests_today = {};  ///< only if they are counted
};

struct account_overview {
    balance owned;
    std::vector<std::pair<service_name, account>> accounts = {};  ///< ordered by service; the first `overview_accounts_max`
    std::size_t accounts_count = 0;
    std::vector<access_holder> access = {};  ///< the last used first; the first `overview_access_max`
    std::size_t tokens_count = 0, grants_count = 0;
    bool counts_requests = false;  ///< the requests of tokens and applications
    quota allowed = {};
    std::optional<limit_decision> window = {};  ///< of all requests of the user; none if there is no limit
    bool keeps_activities = false;
    std::optional<std::vector<activity>> activities = {};  ///< none if they could not be read
};

TOLLGATE_DECL void write_overview(html_writer& html, const page_view& view, const account_overview& shown);

/// Keeps the first `overview_access_max`. Those that were used at the same time stay in their order.
inline void add_access(std::vector<access_holder>& to, access_holder one) {
    const auto is_used_later = [](const access_holder& a, const access_holder& b) {
        return a.last_used_at && (!b.last_used_at || *a.last_used_at > *b.last_used_at);
    };
    to.insert(std::upper_bound(to.begin(), to.end(), one, is_used_later), std::move(one));
    if (to.size() > overview_access_max) to.pop_back();
}

[[nodiscard]] inline result<void> read_access(page_call& call, account_overview& into) {
    const usage_counter* const counts = call.usage();
    into.counts_requests = counts != nullptr;
    auto tokens = call.store().personal_tokens_of(call.session.user);
    if (!tokens) return std::move(tokens).error();
    for (personal_token& each : *tokens)
        if (!each.expires_at || call.now < *each.expires_at) {
            add_access(into.access, {std::move(each.description), true, each.last_used_at,
                                     counts != nullptr ? counts->of(each.id, call.now) : usage{}});
            ++into.tokens_count;
        }
    auto grants = call.store().grants_of(call.session.user);
    if (!grants) return std::move(grants).error();
    into.grants_count = grants->size();
    for (grant& each : *grants)
        if (!each.application_is_suspended)
            add_access(into.access, {std::move(each.application_name), false, each.last_used_at,
                                     counts != nullptr ? counts->of(each.application, call.session.user, call.now) : usage{}});
    return {};
}

/// Precondition: the balance was read.
[[nodiscard]] inline result<void> show_overview(page_call& call) {
    const user_data& user = call.user;
    account_overview shown{.owned = *user.owned,
                           .accounts_count = user.accounts.size(),
                           .allowed = user.allowed,
                           .window = user.window,
                           .keeps_activities = call.has_activity(),
                           .activities = user.activities};
    const auto count = (std::min)(user.accounts.size(), overview_accounts_max);
    shown.accounts.assign(user.accounts.begin(), user.accounts.begin() + static_cast<std::ptrdiff_t>(count));
    if (auto read = read_access(call, shown); !read) return read;
    call.page(call.texts().overview.title, {}, [&](html_writer& html) { write_overview(html, call.view(), shown); });
    return {};
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/overview_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_OVERVIEW_PAGE_HPP
