#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_WEBHOOKS_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_WEBHOOKS_PAGE_HPP

#include <tollgate/account/issue_hook.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/pages/detail/deliveries_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::pages {

/// An account of the user, with its hooks if the page lists them.
struct account_hooks {
    account_ref account;
    std::string name;
    std::vector<hook> hooks = {};  ///< the hooks on the page
    std::size_t hooks_count = 0;   ///< all of them
};

/// How many accounts one page lists: each needs a store call.
inline constexpr std::size_t accounts_shown_max = 100;

/// All accounts of the user, some with their hooks.
struct hook_list {
    std::vector<account_hooks> accounts = {};
    /// The only account whose hooks are listed; empty: as many as fit.
    std::optional<account_ref> chosen = std::nullopt;
    bool has_deliveries = false;  ///< true if the store is an outbox
    list_page page{};             ///< page of all hooks of the listed accounts

    [[nodiscard]] TOLLGATE_DECL const account_hooks* find(const account_ref& account) const noexcept;
    /// The account that `text` names: `service/id`, or the id alone if it is unique among the user's accounts.
    [[nodiscard]] TOLLGATE_DECL std::optional<account_ref> named(std::string_view text) const;
};

/// The submitted form of a new hook.
struct hook_form {
    std::string account = {};
    std::string event = {};
    std::string target_url = {};

    [[nodiscard]] static TOLLGATE_DECL hook_form read(const http::form_fields& fields);
    /// Does not apply the target rule.
    [[nodiscard]] TOLLGATE_DECL web::form_faults faults(const hook_list& list, const service_catalog& services,
                                                        const page_texts& texts) const;
};

/// A target rule's message with the form's label.
[[nodiscard]] TOLLGATE_DECL std::string target_fault(std::string_view message, const webhook_texts& texts);

TOLLGATE_DECL void write_hooks(html_writer& html, const page_view& view, const hook_list& list,
                               const service_catalog& services, const hook_form& typed, const web::form_faults& faults);

TOLLGATE_DECL void write_hook_edit(html_writer& html, const page_view& view, const hook& hook, const service& at,
                                   const hook_form& typed, const web::form_faults& faults);

/// The user's accounts of all services, without their hooks.
[[nodiscard]] inline result<hook_list> list_accounts(page_call& call) {
    hook_list list{.has_deliveries = call.store().has_outbox()};
    for (const service& at : call.settings().services.services()) {
        auto accounts = call.users().accounts_of(call.session.user, at.name.view());
        if (!accounts) return std::move(accounts).error();
        for (const account& each : *accounts) list.accounts.push_back({{at.name, each.id}, shorten(each.name)});
    }
    return list;
}

/// Adds the hooks of the chosen account, or of as many accounts as fit: those on one page, and how many there are.
[[nodiscard]] inline result<void> add_hooks(page_call& call, hook_list& list) {
    std::size_t shown = 0, count = 0;
    std::vector<std::vector<hook>> found(list.accounts.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (list.chosen && list.accounts[i].account != *list.chosen) continue;
        if (shown++ == accounts_shown_max) break;
        auto hooks = call.store().hooks_of(list.accounts[i].account);
        if (!hooks) return std::move(hooks).error();
        found[i] = std::move(*hooks);
        count += found[i].size();
    }
    list.page = choose_page(call.view(), count);
    std::size_t number = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        list.accounts[i].hooks_count = found[i].size();
        for (hook& each : found[i]) {
            if (number >= list.page.first && number - list.page.first < list.page.size) list.accounts[i].hooks.push_back(std::move(each));
            ++number;
        }
    }
    return {};
}

[[nodiscard]] inline result<void> show_hooks(page_call& call, hook_list list, const hook_form& typed = {},
                                      const web::form_faults& faults = {}) {
    if (auto added = add_hooks(call, list); !added) return added;
    call.page(call.texts().webhooks.title, faults, [&](html_writer& html) {
        write_hooks(html, call.view(), list, call.settings().services, typed, faults);
    });
    return {};
}

/// The form of a hook that is edited.
[[nodiscard]] inline result<void> show_hook_edit(page_call& call, const hook& hook, const hook_form& typed,
                                                 const web::form_faults& faults) {
    const service& at = *call.settings().services.find(hook.account.service);
    call.page(call.texts().webhooks.edit_title, faults,
              [&](html_writer& html) { write_hook_edit(html, call.view(), hook, at, typed, faults); });
    return {};
}

/// The list and the form of a new hook; or, for the hook in the query, its deliveries or the form to edit it.
[[nodiscard]] inline result<void> show_hooks(page_call& call) {
    if (call.query.find(edit_name) != nullptr) {
        const auto hook =
            require_hook(call, call.query).and_then([&](const named_hook& named) { return find_hook(call, named); });
        if (!hook) return hook.error();
        return show_hook_edit(call, *hook, {account_text(hook->account), hook->event, hook->target_url}, {});
    }
    if (call.query.find(hook_name) != nullptr) {
        if (call.store().has_outbox()) return show_deliveries(call);
        else return not_found();
    }
    auto list = list_accounts(call);
    if (!list) return std::move(list).error();
    if (const auto account = call.query.value_of(account_name); !account.empty()) {
        list->chosen = list->named(account);
        if (!list->chosen) return not_found();
    }
    return show_hooks(call, std::move(*list));
}

[[nodiscard]] inline result<void> redirect_to_hook_secret(page_call& call, std::string_view title, std::string_view about,
                                                          std::string_view secret) {
    const webhook_texts& texts = call.texts().webhooks;
    const secret_view shown{title, about, texts.back, {{"secret", texts.secret, secret}}};
    return call.redirect_to_secret(shown.to_text());
}

// Adds what the server's rule for targets says against a target that `faults` does not name yet.
inline void check_typed_target(const page_call& call, const hook_form& typed, web::form_faults& faults) {
    if (faults.find("target_url") != nullptr) return;
    if (const auto allowed = tollgate::check_hook_target(call.target_rule(), typed.target_url); !allowed)
        faults.add("target_url", target_fault(allowed.error().message, call.texts().webhooks));
}

[[nodiscard]] inline result<void> create_hook(page_call& call) {
    const webhook_texts& texts = call.texts().webhooks;
    auto typed = hook_form::read(call.form);
    auto list = list_accounts(call);
    if (!list) return std::move(list).error();
    if (const auto account = list->named(typed.account)) typed.account = account_text(*account);
    auto faults = typed.faults(*list, call.settings().services, call.texts());
    check_typed_target(call, typed, faults);
    if (!faults.empty()) return show_hooks(call, std::move(*list), typed, faults);

    const auto submission = call.submission();
    const auto secret = submission.new_secret(make_hook_secret);
    const auto account = *parse_account(typed.account);
    const auto redirect_to_created = [&](std::string_view shown) {
        return redirect_to_hook_secret(call, texts.made_title, fill_in(texts.made_about, typed.target_url), shown);
    };
    const auto id = call.store().create_hook({.account = account,
                                              .event = typed.event,
                                              .source = hook_source::manual,
                                              .target_url = typed.target_url,
                                              .secret = secret,
                                              .created_at = call.now,
                                              .idempotency_key = submission.key()},
                                             call.settings().hooks_per_event_max);
    if (id) {
        call.report(activity_kind::hook_created, std::to_string(id->value()));
        return redirect_to_created(secret);
    }
    if (!may_be_repeated(id.error())) return id.error();
    const auto hooks = call.store().hooks_of(account);
    if (!hooks) return hooks.error();
    for (const hook& each : *hooks)
        if (const auto created = submission.find_secret(each.secret_digest, make_hook_secret)) return redirect_to_created(*created);
    if (id.error().kind != error_kind::invalid) return call.refuse_repetition();
    faults.add({}, texts.too_many);
    return show_hooks(call, std::move(*list), typed, faults);
}

[[nodiscard]] inline result<void> edit_hook(page_call& call, const named_hook& named) {
    const auto hook = find_hook(call, named);
    if (!hook) return hook.error();
    const auto typed = hook_form::read(call.form);
    const hook_list alone{.accounts = {{hook->account, {}, {}}}};
    auto faults = typed.faults(alone, call.settings().services, call.texts());
    if (typed.target_url != hook->target_url) check_typed_target(call, typed, faults);
    if (!faults.empty()) return show_hook_edit(call, *hook, typed, faults);
    const auto updated = call.store().change_hook(
        hook->account, hook->id, hook_fields{typed.event, typed.target_url, call.settings().hooks_per_event_max});
    if (!updated && updated.error().kind == error_kind::invalid) {
        faults.add({}, call.texts().webhooks.too_many);
        return show_hook_edit(call, *hook, typed, faults);
    }
    return call.finish_change(updated, activity_kind::hook_changed, std::to_string(hook->id.value()), edit_done);
}

[[nodiscard]] inline result<void> renew_secret_of_hook(page_call& call, const named_hook& named) {
    const webhook_texts& texts = call.texts().webhooks;
    const auto renew = [&](const hook& found, const std::string& secret) {
        auto done = call.store().change_hook(found.account, found.id,
                                             hook_secret_replacement{secret, call.now + hook_secret_overlap, found.secret_digest});
        if (done && *done) call.report(activity_kind::hook_secret_replaced, std::to_string(found.id.value()));
        return done;
    };
    const auto renewed = replace_secret(call.submission(), call.form.value_of(version_name), [&] { return find_hook(call, named); }, renew,
                                        make_hook_secret);
    if (!renewed) return renewed.error();
    if (!*renewed) return call.refuse_repetition();
    return redirect_to_hook_secret(call, texts.renewed_title, texts.renewed_about, (*renewed)->second);
}

/// A form that came with the token of another session is displayed again.
[[nodiscard]] inline result<void> show_stale_hooks(page_call& call) {
    const auto action = call.form.value_of(action_name);
    auto typed = hook_form::read(call.form);
    if (!action.empty()) {
        const auto named = require_hook(call, call.form);
        if (!named) return named.error();
        if (action == edit_action) {
            const auto hook = find_hook(call, *named);
            return hook ? show_hook_edit(call, *hook, typed, {}) : hook.error();
        }
        if (call.store().has_outbox())
            if (action != new_secret_action && action != delete_action)
                return show_deliveries(call, *named, std::nullopt, std::nullopt, {});
    }
    auto list = list_accounts(call);
    if (!list) return std::move(list).error();
    if (!action.empty()) return show_hooks(call, std::move(*list));
    if (const auto account = list->named(typed.account)) typed.account = account_text(*account);
    return show_hooks(call, std::move(*list), typed);
}

[[nodiscard]] inline result<void> post_to_hooks(page_call& call) {
    const auto action = call.form.value_of(action_name);
    if (action.empty()) return create_hook(call);
    const auto named = require_hook(call, call.form);
    if (!named) return named.error();
    if (action == new_secret_action) return renew_secret_of_hook(call, *named);
    if (action == edit_action) return edit_hook(call, *named);
    if (action == delete_action)
        return call.finish_change(call.store().delete_hook(named->account, named->hook), activity_kind::hook_deleted,
                                  std::to_string(named->hook.value()), removal_done);
    if (call.store().has_outbox()) return post_to_deliveries(call, *named);
    else return not_found();
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/webhooks_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_WEBHOOKS_PAGE_HPP
