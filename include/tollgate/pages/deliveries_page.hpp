#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/domain/delivery.hpp>
#include <tollgate/http/html_writer.hpp>
#include <tollgate/pages/named_hook.hpp>
#include <tollgate/pages/page_view.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// One webhook, what was sent to it, and what came of it: a part of the page of webhooks, where the store is an outbox.
namespace tollgate::pages {

inline constexpr std::size_t deliveries_shown_max = 50;  ///< more than a person looks through
inline constexpr std::size_t attempts_shown_max = 200;   ///< of all of them together: 800 KiB of answers at the most

inline constexpr std::string_view send_again_action = "send_again";
inline constexpr std::string_view enable_action = "enable";
inline constexpr std::string_view delivery_name = "delivery";

/// What `done` says after them.
inline constexpr std::string_view sent_again_done = "sent_again";
inline constexpr std::string_view enabled_done = "enabled";

template <class Call>
inline constexpr bool keeps_deliveries = outbox<std::remove_reference_t<decltype(std::declval<Call&>().store())>>;

/// A hook and what the store remembers of it, the newest first.
struct hook_history {
    hook of;
    std::vector<delivery> deliveries = {};
    std::vector<recorded_attempt> attempts = {};
};

/// `Active`, `Failing` or `Disabled`.
TOLLGATE_DECL void write_hook_state(http::html_writer& html, const hook& of, const delivery_words& words);
/// A form of one button; nothing for a hook that is not disabled.
TOLLGATE_DECL void write_enable(http::html_writer& html, const page_view& view, const hook& of);

/// How an attempt ended, in plain words.
[[nodiscard]] TOLLGATE_DECL std::string ending_of(const attempt& made, const attempt_words& words);
/// `340 ms`, `2.5 s`
[[nodiscard]] TOLLGATE_DECL std::string duration_of(const attempt& made, const delivery_words& words);

/// `fault`: why what was asked for was not done; empty for nothing.
TOLLGATE_DECL void write_deliveries(http::html_writer& html, const page_view& view, const hook_history& history,
                                    std::string_view fault);

template <class Call>
[[nodiscard]] outcome<hook_history> read_history(Call& call, const named_hook& named) {
    const auto hooks = call.store().hooks_of(named.account);
    if (!hooks) return hooks.error();
    const auto found =
        std::find_if(hooks->begin(), hooks->end(), [&](const hook& each) { return each.id == named.hook; });
    if (found == hooks->end()) return not_found();
    auto deliveries = call.store().deliveries_of(named.account, named.hook, deliveries_shown_max);
    if (!deliveries) return std::move(deliveries).error();
    auto attempts = call.store().attempts_of(named.account, named.hook, attempts_shown_max);
    if (!attempts) return std::move(attempts).error();
    return hook_history{*found, std::move(*deliveries), std::move(*attempts)};
}

template <class Call>
[[nodiscard]] outcome<void> show_deliveries(Call& call, const named_hook& named, std::string_view fault) {
    const auto history = read_history(call, named);
    if (!history) return history.error();
    const auto title = fill_in(call.words().deliveries.title, history->of.event);
    call.page_with_status(title, fault.empty() ? http::status::ok : http::status::conflict,
                          [&](http::html_writer& html) { write_deliveries(html, call.view(), *history, fault); });
    return {};
}

/// The hook that the address names.
template <class Call>
[[nodiscard]] outcome<void> show_deliveries(Call& call) {
    if constexpr (keeps_deliveries<Call>) {
        const auto named = require_hook(call, call.query());
        if (!named) return named.error();
        return show_deliveries(call, *named, {});
    } else {
        return not_found();
    }
}

/// A delivery of one of the user's hooks; any other is a 404. It is said plainly where the hook is disabled.
template <class Call>
[[nodiscard]] outcome<void> send_again(Call& call) {
    if constexpr (keeps_deliveries<Call>) {
        const auto named = require_hook(call, call.form());
        if (!named) return named.error();
        const auto which = delivery_id::parse(call.form().value_of(delivery_name));
        if (!which) return not_found();
        const auto sent = call.store().resend(named->account, *which, call.now());
        if (!sent && sent.error().kind == problem_kind::conflict)
            return show_deliveries(call, *named, call.words().deliveries.not_while_disabled);
        if (!sent) return sent.error();
        if (!*sent) return not_found();
        return call.back_to(query_of(*named), sent_again_done);
    } else {
        return not_found();
    }
}

/// One of the user's hooks; any other is a 404.
template <class Call>
[[nodiscard]] outcome<void> enable_again(Call& call) {
    if constexpr (keeps_deliveries<Call>) {
        const auto named = require_hook(call, call.form());
        if (!named) return named.error();
        const auto enabled = call.store().enable_hook(named->account, named->hook, call.now());
        if (!enabled) return enabled.error();
        if (!*enabled) return not_found();
        return call.back_to(query_of(*named), enabled_done);
    } else {
        return not_found();
    }
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/deliveries_page.ipp>
#endif
