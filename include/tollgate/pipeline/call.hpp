#pragma once
#ifndef TOLLGATE_PIPELINE_CALL_HPP
#define TOLLGATE_PIPELINE_CALL_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/detail/caller.hpp>
#include <tollgate/pipeline/detail/api_settings.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

// Endpoints are called once per request, so the cost of one indirect call per verb cannot be measured. In return, no
// endpoint is a template: each is compiled once, and its name in a stack trace is short.

/// A user directory of any type. A view: the directory must outlive it. Satisfies `user_directory`.
class user_directory_ref {
public:
    /// Refers to `users`.
    template <class Users>
        requires(!std::same_as<std::remove_cv_t<Users>, user_directory_ref>) && user_directory<Users>
    user_directory_ref(Users& users) noexcept : users_{std::addressof(users)}, verbs_{&verbs_of<Users>} {}

    /// The verbs of `user_directory`.
    [[nodiscard]] result<balance> balance_of(user_id user) const { return verbs_->balance_of(users_, user); }
    [[nodiscard]] result<std::vector<account>> accounts_of(user_id user, std::string_view service) const {
        return verbs_->accounts_of(users_, user, service);
    }
    [[nodiscard]] result<std::optional<quota>> quota_of(user_id user) const { return verbs_->quota_of(users_, user); }
    [[nodiscard]] result<bool> has_account(user_id user, const account_ref& account) const {
        return verbs_->has_account(users_, user, account);
    }
    /// The balance if the directory has cached it.
    [[nodiscard]] lookup<balance> cached_balance_of(user_id user) const { return verbs_->cached_balance_of(users_, user); }

private:
    struct verbs {
        result<balance> (*balance_of)(void*, user_id);
        result<std::vector<account>> (*accounts_of)(void*, user_id, std::string_view);
        result<std::optional<quota>> (*quota_of)(void*, user_id);
        result<bool> (*has_account)(void*, user_id, const account_ref&);
        lookup<balance> (*cached_balance_of)(void*, user_id);
    };
    template <class Users>
    static constexpr verbs verbs_of{
        [](void* object, user_id user) { return static_cast<Users*>(object)->balance_of(user); },
        [](void* object, user_id user, std::string_view service) { return static_cast<Users*>(object)->accounts_of(user, service); },
        [](void* object, user_id user) { return static_cast<Users*>(object)->quota_of(user); },
        [](void* object, user_id user, const account_ref& account) {
            return tollgate::has_account(*static_cast<Users*>(object), user, account);
        },
        [](void* object, user_id user) { return tollgate::cached_balance_of(*static_cast<const Users*>(object), user); }};

    void* users_;
    const verbs* verbs_;
};

/// A hook store of any type. A view: the store must outlive it. Satisfies `hook_store`.
class hook_store_ref {
public:
    /// Refers to no store: no verb may be called.
    hook_store_ref() noexcept = default;
    /// Refers to `store`.
    template <class Store>
        requires(!std::same_as<std::remove_cv_t<Store>, hook_store_ref>) && hook_store<Store>
    hook_store_ref(Store& store) noexcept : store_{std::addressof(store)}, verbs_{&verbs_of<Store>} {}

    /// The verbs of `hook_store`.
    [[nodiscard]] result<hook_id> create_hook(const new_hook& hook, std::size_t hooks_per_event_max) const {
        return verbs_->create_hook(store_, hook, hooks_per_event_max);
    }
    [[nodiscard]] result<std::vector<hook>> hooks_of(const account_ref& account) const {
        return verbs_->hooks_of(store_, account);
    }
    [[nodiscard]] result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) const {
        return verbs_->account_of_hook(store_, service, id);
    }
    [[nodiscard]] result<bool> replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                                   instant old_valid_until, const std::optional<digest>& replaced = {}) const {
        return verbs_->replace_hook_secret(store_, account, id, secret, old_valid_until, replaced);
    }
    [[nodiscard]] result<bool> update_hook(const account_ref& account, hook_id id, const hook_change& changed,
                                           std::size_t hooks_per_event_max) const {
        return verbs_->update_hook(store_, account, id, changed, hooks_per_event_max);
    }
    [[nodiscard]] result<bool> delete_hook(const account_ref& account, hook_id id) const {
        return verbs_->delete_hook(store_, account, id);
    }

private:
    struct verbs {
        result<hook_id> (*create_hook)(void*, const new_hook&, std::size_t);
        result<std::vector<hook>> (*hooks_of)(void*, const account_ref&);
        result<std::optional<account_ref>> (*account_of_hook)(void*, const service_name&, hook_id);
        result<bool> (*replace_hook_secret)(void*, const account_ref&, hook_id, const std::string&, instant, const std::optional<digest>&);
        result<bool> (*update_hook)(void*, const account_ref&, hook_id, const hook_change&, std::size_t);
        result<bool> (*delete_hook)(void*, const account_ref&, hook_id);
    };
    template <class Store>
    static constexpr verbs verbs_of{
        [](void* object, const new_hook& hook, std::size_t hooks_per_event_max) {
            return static_cast<Store*>(object)->create_hook(hook, hooks_per_event_max);
        },
        [](void* object, const account_ref& account) { return static_cast<Store*>(object)->hooks_of(account); },
        [](void* object, const service_name& service, hook_id id) { return static_cast<Store*>(object)->account_of_hook(service, id); },
        [](void* object, const account_ref& account, hook_id id, const std::string& secret, instant old_valid_until,
           const std::optional<digest>& replaced) {
            return static_cast<Store*>(object)->replace_hook_secret(account, id, secret, old_valid_until, replaced);
        },
        [](void* object, const account_ref& account, hook_id id, const hook_change& changed, std::size_t hooks_per_event_max) {
            return static_cast<Store*>(object)->update_hook(account, id, changed, hooks_per_event_max);
        },
        [](void* object, const account_ref& account, hook_id id) { return static_cast<Store*>(object)->delete_hook(account, id); }};

    void* store_ = nullptr;
    const verbs* verbs_ = nullptr;
};

/// A target rule of any type. A view: the rule must outlive it. Satisfies `target_rule`.
class target_rule_ref {
public:
    /// Refers to `rule`.
    template <class Rule>
        requires(!std::same_as<Rule, target_rule_ref>) && target_rule<Rule>
    target_rule_ref(const Rule& rule) noexcept
        : rule_{std::addressof(rule)},
          check_{[](const void* object, const http::url& target) { return static_cast<const Rule*>(object)->check(target); }},
          allows_{[](const void* object, const ip_address& address) noexcept {
              return static_cast<const Rule*>(object)->allows(address);
          }} {}

    /// The functions of `target_rule`.
    [[nodiscard]] result<void> check(const http::url& target) const { return check_(rule_, target); }
    [[nodiscard]] bool allows(const ip_address& address) const noexcept { return allows_(rule_, address); }

private:
    const void* rule_;
    result<void> (*check_)(const void*, const http::url&);
    bool (*allows_)(const void*, const ip_address&) noexcept;
};

/// A random source of any type. A view: the source must outlive it. Satisfies `random_source`.
class random_source_ref {
public:
    /// Refers to `random`.
    template <class Random>
        requires(!std::same_as<Random, random_source_ref>) && random_source<Random>
    random_source_ref(const Random& random) noexcept
        : random_{std::addressof(random)},
          fill_{[](const void* object, std::span<std::byte> bytes) noexcept { return static_cast<const Random*>(object)->fill(bytes); }} {}

    /// Fills all of `bytes` or returns false.
    [[nodiscard]] bool fill(std::span<std::byte> bytes) const noexcept { return fill_(random_, bytes); }

private:
    const void* random_;
    bool (*fill_)(const void*, std::span<std::byte>) noexcept;
};

/// An observer of any type, for what endpoints do to accounts. A view: the observer must outlive it.
class activity_observer_ref {
public:
    /// Refers to `target`.
    template <class Observer>
        requires(!std::same_as<Observer, activity_observer_ref>) && observer<Observer>
    activity_observer_ref(const Observer& target) noexcept
        : observer_{std::addressof(target)}, report_{[](const void* object, const activity& done) noexcept {
              report_activity(*static_cast<const Observer*>(object), done);
          }} {}

    /// Reports to the observer if it is an `activity_observer`.
    void report(const activity& done) const noexcept { report_(observer_, done); }

private:
    const void* observer_;
    void (*report_)(const void*, const activity&) noexcept;
};

/// What all calls of one API share. Everything in it outlives the API.
struct api_context {
    user_directory_ref users;
    hook_store_ref hooks;
    target_rule_ref targets;
    random_source_ref random;
    activity_observer_ref observer;
    const api_settings& settings;
    const std::string& openapi;  ///< the response to `GET {base_url}/openapi.json`
};

/// The argument of an endpoint: a request that has passed every check, and its response. Exists only during the call.
class api_call {
public:
    /// Constructed by the API for each request that passed its checks.
    api_call(const api_context& context, const http::request& request, http::response& response,
             const tollgate::caller* caller, ip_address client, instant now) noexcept
        : context_{context}, request_{request}, response_{response}, caller_{caller}, client_{client}, now_{now} {}

    /// What the API was constructed with.
    [[nodiscard]] const user_directory_ref& users() const noexcept { return context_.users; }
    /// The webhooks, for endpoints with `needs_hooks`.
    [[nodiscard]] const hook_store_ref& hooks() const noexcept { return context_.hooks; }
    [[nodiscard]] const target_rule_ref& target_rule() const noexcept { return context_.targets; }
    [[nodiscard]] const random_source_ref& random() const noexcept { return context_.random; }
    [[nodiscard]] const api_settings& settings() const noexcept { return context_.settings; }
    [[nodiscard]] const std::string& openapi() const noexcept { return context_.openapi; }

    /// The request, and the time at which it was checked.
    [[nodiscard]] const http::request& request() const noexcept { return request_; }
    [[nodiscard]] instant now() const noexcept { return now_; }

    /// Whether the request has valid credentials. Always true on a route that needs credentials; an open route also serves requests
    /// without.
    [[nodiscard]] bool has_caller() const noexcept { return caller_ != nullptr; }
    /// Throws std::logic_error, which makes the response a 500, unless `has_caller()`.
    [[nodiscard]] const tollgate::caller& caller() const {
        if (caller_ == nullptr) [[unlikely]] throw_no_caller();
        return *caller_;
    }
    /// The client's address: that of the peer, or the one that a trusted proxy names.
    [[nodiscard]] const ip_address& client() const noexcept { return client_; }

    /// Reports what the caller did, for an audit log. Throws as `caller`.
    void report(activity_kind kind, std::string subject) const {
        context_.observer.report({kind, caller().user, std::move(subject), client_, now_});
    }

    /// 200 with `Content-Type: application/json`, unless the endpoint sets another status or type.
    [[nodiscard]] http::response& response() const noexcept { return response_; }
    /// Appends JSON to the response's body.
    [[nodiscard]] http::json_writer json() const noexcept { return http::json_writer{response_.body()}; }

private:
    [[noreturn, gnu::cold, gnu::noinline]] static void throw_no_caller() {
        throw std::logic_error{"tollgate: api_call::caller() without a caller: the route is open_to_all; ask has_caller() first"};
    }

    const api_context& context_;
    const http::request& request_;
    http::response& response_;
    const tollgate::caller* caller_;
    ip_address client_;
    instant now_;
};

}  // namespace tollgate

#endif  // TOLLGATE_PIPELINE_CALL_HPP
