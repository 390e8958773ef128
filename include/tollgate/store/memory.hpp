#pragma once
#ifndef TOLLGATE_STORE_MEMORY_HPP
#define TOLLGATE_STORE_MEMORY_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/store/detail/memory/access_tokens.hpp>
#include <tollgate/store/detail/memory/applications.hpp>
#include <tollgate/store/detail/memory/device_codes.hpp>
#include <tollgate/store/detail/memory/grants.hpp>
#include <tollgate/store/detail/memory/hooks.hpp>
#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/detail/memory/sessions.hpp>
#include <tollgate/store/detail/sweep_kinds.hpp>
#include <tollgate/store/detail/undo.hpp>
#include <tollgate/store/memory_tokens.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace tollgate::inline v0 {

class any_store;

/// The store in memory, for tests, demonstrations, and programs that keep their data elsewhere. It is also the reference implementation of
/// every verb. No data survives the process.
///
/// Thread rule: any thread. No call blocks: locks are held only to copy a row. `find_credential` does not allocate.
class memory_store : memory_token_store {  // private, because through this base the store would have no access tokens
public:
    using memory_token_store::blocking;

    /// Constructs an empty store.
    TOLLGATE_DECL explicit memory_store(const memory_settings& settings = {});
    TOLLGATE_DECL ~memory_store();

    /// An empty store that a program can choose at run time: the caller compiles nothing of this class. Throws std::bad_alloc.
    [[nodiscard]] static TOLLGATE_DECL any_store make_any(const memory_settings& settings = {});

    /// See `credential_source`.
    result<std::optional<token_credential>> find_credential(const credential_key& key) noexcept {
        const auto* const access = std::get_if<access_token_key>(&key);
        return access != nullptr ? access_.find(access->token_digest) : memory_token_store::find_credential(key);
    }
    /// See `token_store`.
    using memory_token_store::create_personal_token;
    using memory_token_store::personal_tokens_of;
    using memory_token_store::renew_personal_token;
    /// See `token_store` and `access_token_store`.
    result<bool> revoke(const revocation& revoked) noexcept {
        if (std::holds_alternative<personal_token_revocation>(revoked)) return memory_token_store::revoke(revoked);
        return in_oauth([&] {
            if (const auto* const given = std::get_if<grant_revocation>(&revoked))
                return grants_.revoke({given->application, given->user});
            return grants_.revoke_token(std::get<oauth_token_revocation>(revoked));
        });
    }
    /// See `use_recorder`. A use of an access token is a use of its grant, too.
    result<void> record_use(const credential_key& key, instant now, std::string_view from) noexcept {
        const auto* const access = std::get_if<access_token_key>(&key);
        if (access == nullptr) return memory_token_store::record_use(key, now, from);
        return in_oauth([&] {
            if (const auto parties = access_.record_use(access->token_digest, now)) grants_.record_use(*parties, now);
        });
    }

    /// See `access_token_store`.
    result<bool> create_access_token(const new_access_token& token) noexcept {
        return in_oauth([&]() -> result<bool> {
            if (token.for_owner && !applications_.may_act_for(token.application, token.user)) return false;
            return access_.create(token, std::nullopt).transform([] { return true; });
        });
    }

    /// See `application_store`.
    result<application_id> create_application(const new_application& application, std::size_t applications_per_user_max) noexcept {
        return in_oauth([&] { return applications_.create(application, applications_per_user_max); });
    }
    result<std::optional<application>> find_application(std::string_view client_id) noexcept {
        return in_oauth([&] { return applications_.find(client_id); });
    }
    result<std::vector<application>> applications_of(user_id owner) noexcept {
        return in_oauth([&] {
            auto listed = applications_.of(owner);
            for (application& each : listed) each.users = grants_.users_of(each.id);
            return listed;
        });
    }
    result<bool> change_application(const std::optional<user_id>& changed_by, application_id id,
                                    const application_change& change) noexcept {
        return in_oauth([&] {
            const auto owner = applications_.change(changed_by, id, change);
            if (!owner) return false;
            const auto* const fields = std::get_if<application_fields>(&change);
            if (fields != nullptr && !fields->acts_for_owner) access_.revoke_made_with(std::nullopt, {id, *owner});
            const auto* const suspended = std::get_if<suspension_change>(&change);
            if (suspended != nullptr && suspended->suspended) access_.revoke_all_of(id);
            return true;
        });
    }
    result<bool> delete_application(user_id owner, application_id id) noexcept {
        return in_oauth([&] {
            if (!applications_.remove(owner, id)) return false;
            device_codes_.forget_of(id);
            grants_.revoke_all_of(id);
            return true;
        });
    }

    /// See `grant_store`.
    result<code_result> create_code(const new_authorization_code& code) noexcept {
        return in_oauth([&] { return grants_.create_code(code); });
    }
    result<redeemed_code> redeem_code(const code_redemption& shown) noexcept {
        return in_oauth([&] { return grants_.redeem(shown); });
    }
    result<refreshed_token> refresh_access_token(const token_refresh& shown) noexcept {
        return in_oauth([&] { return grants_.refresh(shown); });
    }
    result<std::optional<oauth_token>> find_oauth_token(const digest& token) noexcept {
        return in_oauth([&] { return grants_.find_token(token); });
    }
    result<void> create_device_code(const new_device_code& code) noexcept {
        return in_oauth([&] { return device_codes_.create(code); });
    }
    result<std::optional<device_code>> find_device_code(const digest& code) noexcept {
        return in_oauth([&] { return device_codes_.find(code); });
    }
    result<std::optional<device_answer>> answer_device_code(const device_decision& decision) noexcept {
        return in_oauth([&]() -> result<std::optional<device_answer>> {
            const auto request = device_codes_.find_by_user_code(decision.user_digest);
            const auto answer = request ? judge_answer(*request, decision) : std::nullopt;
            if (!answer || !answer->is_new) return answer;
            if (answer->state == device_code_state::approved) {
                const auto created = grants_.create_code(code_of(*request, decision));
                if (!created) return created.error();
                if (*created != code_result::created) return std::optional<device_answer>{};
            }
            device_codes_.set_answer(decision.user_digest, *answer);
            return answer;
        });
    }
    result<std::vector<grant>> grants_of(user_id user) noexcept {
        return in_oauth([&] { return grants_.of(user); });
    }
    /// See `session_store`.
    result<void> create_session(const stored_session& session) noexcept {
        return detail::without_exceptions([&] { return sessions_.create(session); });
    }
    result<std::optional<stored_session>> find_session(const digest& cookie) noexcept {
        return detail::without_exceptions([&] { return sessions_.find(cookie); });
    }
    result<void> touch_session(const digest& cookie, instant now) noexcept {
        return detail::without_exceptions([&] { return sessions_.touch(cookie, now); });
    }
    result<std::vector<stored_session>> sessions_of(user_id user) noexcept {
        return detail::without_exceptions([&] { return sessions_.of(user); });
    }
    result<bool> end_sessions(const session_selection& ended) noexcept {
        return detail::without_exceptions([&] { return sessions_.end(ended); });
    }

    /// See `hook_store`.
    result<hook_id> create_hook(const new_hook& hook, std::size_t hooks_per_event_max) noexcept {
        return in_hooks([&] { return hooks_.create(hook, hooks_per_event_max); });
    }
    result<std::vector<hook>> hooks_of(const account_ref& account) noexcept {
        return in_hooks([&] { return hooks_.of(account); });
    }
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept {
        return in_hooks([&] { return hooks_.account_of(service, id); });
    }
    result<bool> change_hook(const account_ref& account, hook_id id, const hook_change& change) noexcept {
        return in_hooks([&] {
            return std::visit(
                detail::overloaded{
                    [&](const hook_fields& fields) {
                        const std::string host = delivery_host(fields.target_url);
                        outbox_.prepare_target(fields.target_url);
                        detail::undo_unless_kept prepared{[&]() noexcept { outbox_.retarget(host, std::nullopt); }};
                        auto done = hooks_.update(account, id, fields);
                        prepared.keep();
                        outbox_.retarget(host, done && *done ? std::optional{id} : std::nullopt);
                        return done;
                    },
                    [&](const hook_secret_replacement& replaced) -> result<bool> { return hooks_.replace_secret(account, id, replaced); },
                    [&](const hook_enabling& enabling) -> result<bool> { return outbox_.enable_hook(account, id, enabling.now); },
                },
                change);
        });
    }
    result<bool> delete_hook(const account_ref& account, hook_id id) noexcept {
        return in_hooks([&] {
            if (!hooks_.remove(account, id)) return false;
            outbox_.forget(id);
            return true;
        });
    }

    /// See `event_sink`.
    result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now,
                                     std::optional<hook_id> only_to = {}) noexcept {
        return in_hooks([&] { return outbox_.append(reported, seed, now, only_to); });
    }
    /// See `outbox`.
    result<due_hook_page> due_hooks(instant now, std::size_t rows_max) noexcept {
        return in_hooks([&] { return outbox_.list_due_hooks(now, rows_max); });
    }
    /// See `backlog_source`.
    result<delivery_backlog> backlog(instant now, std::size_t rows_max) noexcept {
        return in_hooks([&] { return outbox_.backlog(now, rows_max); });
    }
    /// See `outbox`.
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& lease) noexcept {
        return in_hooks([&] { return outbox_.lease(requests, lease); });
    }
    result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept {
        return in_hooks([&] { return outbox_.complete(ended, now); });
    }
    result<std::vector<listed_delivery>> deliveries_of(const account_ref& account, const delivery_query& query) noexcept {
        return in_hooks([&] { return outbox_.deliveries_of(account, query); });
    }
    result<std::size_t> resend(const account_ref& account, const resend_request& resent, instant now) noexcept {
        return in_hooks([&] { return outbox_.resend(account, resent, now); });
    }

    /// See `grant_store`, `outbox` and `session_store`.
    result<std::size_t> sweep(const sweep_request& request) noexcept {
        return detail::sweep_kinds(
            request,
            [&](instant now, std::size_t rows_max) {
                return in_oauth([&] {
                    const std::size_t swept = grants_.sweep_expired(now, rows_max);
                    return swept + device_codes_.sweep_expired(now, rows_max - swept);
                });
            },
            [&](instant ended_before, std::size_t rows_max) { return in_hooks([&] { return outbox_.sweep(ended_before, rows_max); }); },
            [&](const session_ends& ends, std::size_t rows_max) {
                return detail::without_exceptions([&] { return sessions_.sweep(ends, rows_max); });
            });
    }

private:
    /// Runs a verb with the lock of all OAuth tables. Reading a credential does not need the lock.
    template <class Verb>
    detail::as_result<std::invoke_result_t<Verb&>> in_oauth(Verb&& verb) noexcept {
        return detail::without_exceptions([&] {
            const std::scoped_lock lock{oauth_mutex_};
            return verb();
        });
    }
    /// Runs a verb with the lock shared by hooks and deliveries.
    template <class Verb>
    detail::as_result<std::invoke_result_t<Verb&>> in_hooks(Verb&& verb) noexcept {
        return detail::without_exceptions([&] {
            const std::scoped_lock lock{hooks_mutex_};
            return verb();
        });
    }

    memory::sessions sessions_;

    std::mutex hooks_mutex_;
    memory::hooks hooks_;
    memory::outbox outbox_;

    std::mutex oauth_mutex_;
    memory::access_tokens access_;
    memory::applications applications_;
    memory::grants grants_;
    memory::device_codes device_codes_;
};

static_assert(token_store<memory_store> && access_token_store<memory_store> && use_recorder<memory_store>);
static_assert(hook_store<memory_store>);
static_assert(oauth_store<memory_store>);
static_assert(session_store<memory_store>);
static_assert(outbox<memory_store> && backlog_source<memory_store>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/memory.ipp>
#endif

#endif  // TOLLGATE_STORE_MEMORY_HPP
