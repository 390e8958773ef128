#pragma once
#ifndef TOLLGATE_POLICY_POLICIES_HPP
#define TOLLGATE_POLICY_POLICIES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/payload_format.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/limits/usage_counter.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// A reference, and the owner of the object that it refers to. Without an owner, the object must outlive the reference.
template <class Reference>
struct owned {
    std::shared_ptr<void> owner;
    Reference reference;
};

/// The objects that decide about requests and webhooks: router, authenticators, scope checker, rate limiter and so on. `default_policies()`
/// returns the defaults. Each `with_x` replaces a policy by an object of any class that satisfies the contract `x`:
///
///     auto policies = tollgate::default_policies().with_limiter(night_limiter{}).with_observer(std::ref(log));
///     auto redis = tollgate::redis_limiter::open(url);  // or an error
///     if (redis) policies = std::move(policies).with_limiter(*std::move(redis));
///
/// `with_x(object)` keeps a copy of the object, or the moved object; `with_x(std::ref(object))` refers to an object that must outlive the
/// policies. Copies share the objects, so two handlers with copies of the same policies count in the same limiter. The router is an
/// exception: each API builds a router of its own from a copy.
///
/// Thread rule: policies that do not change may be used from any thread. Errors: `with_x` throws std::bad_alloc and what moving the object
/// throws. An object that does not satisfy the contract is one compiler error, which names the header to read and the member.
class policies {
public:
    /// Each replaces the policy in its name.
    template <class T>
    policies with_router(T router) && {
        static_assert(tollgate::router<policy_type<T>>, "tollgate: this does not satisfy router; read tollgate/contract/router.hpp");
        if constexpr (tollgate::router<policy_type<T>>) {
            router_ = std::make_shared<T>(std::move(router));
            make_router_ = &build_router<T>;
        }
        return std::move(*this);
    }
    /// Replaces the authenticators of the API: one for each scheme, in the order of their challenges in a 401.
    template <class... Ts>
    policies with_authenticators(Ts... all) && {
        static_assert(have_distinct_fields<policy_type<Ts>...>(),
                      "tollgate: each authenticator with a field has another one, and not Authorization; "
                      "read tollgate/contract/authenticator.hpp");
        auto list = std::make_shared<authenticator_list>();
        const auto add = [&list](owned<authenticator_ref> one) {
            list->owners.push_back(std::move(one.owner));
            list->all.push_back(one.reference);
        };
        (add(hold<authenticator_ref>(std::move(all))), ...);
        authenticators_ = std::move(list);
        return std::move(*this);
    }
    /// Replaces how scopes are compared with those that a route requires.
    template <class T>
    policies with_scope_checker(T scope_checker) && {
        scope_checker_ = hold<scope_checker_ref>(std::move(scope_checker));
        return std::move(*this);
    }
    /// Replaces the rate limiter.
    template <class T>
    policies with_limiter(T limiter) && {
        limiter_ = hold<rate_limiter_ref>(std::move(limiter));
        return std::move(*this);
    }
    /// Replaces the rule for User-Agent.
    template <class T>
    policies with_agent_rule(T agent_rule) && {
        agent_rule_ = hold<agent_rule_ref>(std::move(agent_rule));
        return std::move(*this);
    }
    /// Replaces the rule for the targets of webhooks.
    template <class T>
    policies with_target_rule(T target_rule) && {
        target_rule_ = hold<target_rule_ref>(std::move(target_rule));
        return std::move(*this);
    }
    /// Replaces the clock.
    template <class T>
    policies with_clock(T clock) && {
        clock_ = hold<time_source_ref>(std::move(clock));
        return std::move(*this);
    }
    /// Replaces the source of random bytes.
    template <class T>
    policies with_random(T random) && {
        random_ = hold<random_source_ref>(std::move(random));
        return std::move(*this);
    }
    /// Replaces the observer.
    template <class T>
    policies with_observer(T observer) && {
        observer_ = hold<observer_ref>(std::move(observer));
        return std::move(*this);
    }
    /// Replaces the format of webhooks.
    template <class T>
    policies with_format(T format) && {
        format_ = hold<payload_format_ref>(std::move(format));
        return std::move(*this);
    }
    /// Counts the requests of each token and application, so that the account pages show them: an API and pages with copies of these
    /// policies share the counts. `account_service` calls this function for a service with sessions, unless its limiter may block. Throws
    /// as the constructor of `usage_counter` does.
    policies with_usage_counts() && {
        usage_ = std::make_shared<usage_counter>();
        return std::move(*this);
    }

    /// Each returns a policy in use. The reference is valid as long as this object, or a copy of it, has the policy.
    [[nodiscard]] std::span<const authenticator_ref> authenticators() const noexcept { return authenticators_->all; }
    [[nodiscard]] const scope_checker_ref& scope_checker() const noexcept { return scope_checker_.reference; }
    [[nodiscard]] const rate_limiter_ref& limiter() const noexcept { return limiter_.reference; }
    [[nodiscard]] const agent_rule_ref& agent_rule() const noexcept { return agent_rule_.reference; }
    [[nodiscard]] const target_rule_ref& target_rule() const noexcept { return target_rule_.reference; }
    [[nodiscard]] const time_source_ref& clock() const noexcept { return clock_.reference; }
    [[nodiscard]] const random_source_ref& random() const noexcept { return random_.reference; }
    [[nodiscard]] const observer_ref& observer() const noexcept { return observer_.reference; }
    [[nodiscard]] const payload_format_ref& format() const noexcept { return format_.reference; }
    /// Returns the counts of requests, or null without `with_usage_counts`. The pointer is valid as long as this object, or a copy of it.
    [[nodiscard]] usage_counter* usage() const noexcept { return usage_.get(); }

    /// Builds a router of this table, for one API. Throws what building and copying the router throws.
    [[nodiscard]] owned<router_ref> make_router(std::span<const route_pattern> patterns) const {
        return make_router_(router_.get(), patterns);
    }

private:
    friend policies default_policies();
    policies() = default;

    template <class T>
    using policy_type = std::remove_cvref_t<std::unwrap_reference_t<T>>;

    struct authenticator_list {
        std::vector<std::shared_ptr<void>> owners;
        std::vector<authenticator_ref> all;
    };

    /// Returns true if each field belongs to one authenticator, so that credentials in it are found once.
    template <class... Authenticators>
    [[nodiscard]] static consteval bool have_distinct_fields() {
        const auto field_of = []<class A>(std::type_identity<A>) -> std::string_view {
            if constexpr (has_own_field<A>) return A::field;
            else return {};
        };
        const std::array<std::string_view, sizeof...(Authenticators)> fields{field_of(std::type_identity<Authenticators>{})...};
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (detail::ascii_iequals(fields[i], "Authorization")) return false;
            for (std::size_t j = 0; j < i; ++j)
                if (!fields[i].empty() && detail::ascii_iequals(fields[i], fields[j])) return false;
        }
        return true;
    }

    template <class Reference, class T>
    [[nodiscard]] static owned<Reference> hold(T object) {
        auto owner = std::make_shared<T>(std::move(object));
        Reference reference{*owner};
        return {std::move(owner), reference};
    }
    template <class Reference, class T>
    [[nodiscard]] static owned<Reference> hold(std::reference_wrapper<T> object) {
        return {nullptr, Reference{object.get()}};
    }

    template <class T>
    [[nodiscard]] static owned<router_ref> build_router(const void* prototype, std::span<const route_pattern> patterns) {
        auto held = hold<router_ref>(*static_cast<const T*>(prototype));
        static_cast<policy_type<T>*>(const_cast<void*>(held.reference.target()))->build(patterns);
        return held;
    }

    std::shared_ptr<void> router_;
    owned<router_ref> (*make_router_)(const void*, std::span<const route_pattern>) = nullptr;
    std::shared_ptr<const authenticator_list> authenticators_;
    owned<scope_checker_ref> scope_checker_;
    owned<rate_limiter_ref> limiter_;
    owned<agent_rule_ref> agent_rule_;
    owned<target_rule_ref> target_rule_;
    owned<time_source_ref> clock_;
    owned<random_source_ref> random_;
    owned<observer_ref> observer_;
    owned<payload_format_ref> format_;
    std::shared_ptr<usage_counter> usage_;  // null: nothing is counted
};

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_POLICIES_HPP
