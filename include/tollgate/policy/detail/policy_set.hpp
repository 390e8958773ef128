#pragma once
#ifndef TOLLGATE_POLICY_DETAIL_POLICY_SET_HPP
#define TOLLGATE_POLICY_DETAIL_POLICY_SET_HPP

#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/payload_format.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/contract/target_rule.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

// One class per slot, so that a policy set can be built by replacing one slot and keeping the rest.
template <class T> struct router_slot { T router; };
template <class T> struct authenticators_slot { T authenticators; };
template <class T> struct scope_checker_slot { T scope_checker; };
template <class T> struct limiter_slot { T limiter; };
template <class T> struct agent_rule_slot { T agent_rule; };
template <class T> struct target_rule_slot { T target_rule; };
template <class T> struct clock_slot { T clock; };
template <class T> struct random_slot { T random; };
template <class T> struct observer_slot { T observer; };
template <class T> struct format_slot { T format; };

/// A policy as used: a set holds it by value, or by `std::ref` where several handlers share it. An object, not a function, so that a
/// function of this name beside an integrator's policy is never called instead.
struct policy_access {
    template <class T>
    [[nodiscard]] constexpr T& operator()(T& held) const noexcept { return held; }
    template <class T>
    [[nodiscard]] constexpr T& operator()(std::reference_wrapper<T>& held) const noexcept { return held.get(); }
    template <class T>
    [[nodiscard]] constexpr T& operator()(const std::reference_wrapper<T>& held) const noexcept { return held.get(); }
};
inline constexpr policy_access policy{};

template <class T>
using policy_type = std::remove_cvref_t<std::unwrap_reference_t<T>>;

/// One policy in each slot. `default_policies()` returns the first set; each `with_x` moves it into a set with another
/// x:
///
///     auto policies = tollgate::default_policies().with_limiter(night_limiter{}).with_observer(std::ref(log));
///
/// A policy that does not satisfy its contract causes one compiler error, which names the header to read, with notes that name the
/// expression: the concept stands in the assertion itself, as compilers explain only that.
template <class... Slots>
class policy_set : public Slots... {
public:
    constexpr explicit policy_set(Slots... all) : Slots(std::move(all))... {}

    template <class T>
    constexpr auto with_router(T replacement) && {
        static_assert(tollgate::router<policy_type<T>>, "tollgate: this does not satisfy router; read tollgate/contract/router.hpp");
        return std::move(*this).template replace<router_slot, tollgate::router<policy_type<T>>>(std::move(replacement));
    }

    /// All authentication schemes of the API, one authenticator each. Whether they fit the store is checked by the API.
    template <class... Ts>
    constexpr auto with_authenticators(Ts... replacements) && {
        return std::move(*this).template replace<authenticators_slot, true>(std::tuple<Ts...>{std::move(replacements)...});
    }

    template <class T>
    constexpr auto with_scope_checker(T replacement) && {
        static_assert(tollgate::scope_checker<policy_type<T>>,
                      "tollgate: this does not satisfy scope_checker; read tollgate/contract/scope_checker.hpp");
        return std::move(*this).template replace<scope_checker_slot, tollgate::scope_checker<policy_type<T>>>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_limiter(T replacement) && {
        constexpr bool fits = tollgate::rate_limiter<policy_type<T>>;
        static_assert(tollgate::rate_limiter<policy_type<T>>,
                      "tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp");
        if constexpr (fits) check_optional_members_of_limiter<policy_type<T>>();
        if constexpr (fits && detail::names_windows_of<policy_type<T>>)
            static_assert(tollgate::request_limiter<policy_type<T>>,
                          "tollgate: a member named windows_of exists, but this does not satisfy request_limiter; "
                          "read tollgate/contract/rate_limiter.hpp");
        return std::move(*this).template replace<limiter_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_agent_rule(T replacement) && {
        static_assert(tollgate::agent_rule<policy_type<T>>,
                      "tollgate: this does not satisfy agent_rule; read tollgate/contract/authenticator.hpp");
        return std::move(*this).template replace<agent_rule_slot, tollgate::agent_rule<policy_type<T>>>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_target_rule(T replacement) && {
        static_assert(tollgate::target_rule<policy_type<T>>,
                      "tollgate: this does not satisfy target_rule; read tollgate/contract/target_rule.hpp");
        return std::move(*this).template replace<target_rule_slot, tollgate::target_rule<policy_type<T>>>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_clock(T replacement) && {
        constexpr bool fits = tollgate::time_source<policy_type<T>>;
        static_assert(tollgate::time_source<policy_type<T>>,
                      "tollgate: this does not satisfy time_source; read tollgate/contract/sources.hpp");
        if constexpr (fits && detail::names_steady_now<policy_type<T>>)
            static_assert(requires(const policy_type<T>& clock) {
                              { clock.steady_now() } noexcept -> std::same_as<std::chrono::nanoseconds>; },
                          "tollgate: steady_now of a clock is const, noexcept and returns std::chrono::nanoseconds; "
                          "read tollgate/contract/sources.hpp");
        return std::move(*this).template replace<clock_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_random(T replacement) && {
        static_assert(tollgate::random_source<policy_type<T>>,
                      "tollgate: this does not satisfy random_source; read tollgate/contract/sources.hpp");
        return std::move(*this).template replace<random_slot, tollgate::random_source<policy_type<T>>>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_observer(T replacement) && {
        constexpr bool fits = tollgate::observer<policy_type<T>>;
        static_assert(tollgate::observer<policy_type<T>>, "tollgate: this does not satisfy observer; read tollgate/contract/observer.hpp");
        if constexpr (fits && detail::names_on_attempt<policy_type<T>>)
            static_assert(tollgate::delivery_observer<policy_type<T>>,
                          "tollgate: a member named on_attempt exists, but this does not satisfy delivery_observer; "
                          "read tollgate/contract/observer.hpp");
        if constexpr (fits && detail::names_on_activity<policy_type<T>>)
            static_assert(tollgate::activity_observer<policy_type<T>>,
                          "tollgate: a member named on_activity exists, but this does not satisfy activity_observer; "
                          "read tollgate/contract/observer.hpp");
        return std::move(*this).template replace<observer_slot, fits>(std::move(replacement));
    }

    template <class T>
    constexpr auto with_format(T replacement) && {
        static_assert(tollgate::payload_format<policy_type<T>>,
                      "tollgate: this does not satisfy payload_format; read tollgate/contract/payload_format.hpp");
        return std::move(*this).template replace<format_slot, tollgate::payload_format<policy_type<T>>>(std::move(replacement));
    }

    /// References to these policies, for another handler that shares them. They must outlive it.
    ///
    ///     authorization_server oauth{settings, store, sessions, api.policies().by_reference()};
    [[nodiscard]] constexpr auto by_reference() & {
        return policy_set<decltype(refer_to(static_cast<Slots&>(*this)))...>(refer_to(static_cast<Slots&>(*this))...);
    }

private:
    /// A member with the name of an optional part but another signature is an error: otherwise it would be ignored silently.
    template <class L>
    static constexpr void check_optional_members_of_limiter() {
        if constexpr (detail::names_may_block<L>)
            static_assert(requires(const L& limiter) { { limiter.may_block() } noexcept -> std::same_as<bool>; },
                          "tollgate: may_block of a limiter is const, noexcept and returns bool; read tollgate/contract/rate_limiter.hpp");
        using decision = std::optional<limit_decision>;
        if constexpr (detail::names_try_take<L>)
            static_assert(requires(L& limiter, const limit_key& key, const quota& allowed, instant now) {
                              { limiter.try_take(key, allowed, now) } noexcept -> std::same_as<decision>; },
                          "tollgate: try_take of a limiter is noexcept and returns std::optional<limit_decision>; "
                          "read tollgate/contract/rate_limiter.hpp");
        if constexpr (detail::names_try_peek<L>)
            static_assert(requires(L& limiter, const limit_key& key, const quota& allowed, instant now) {
                              { limiter.try_peek(key, allowed, now) } noexcept -> std::same_as<decision>; },
                          "tollgate: try_peek of a limiter is noexcept and returns std::optional<limit_decision>; "
                          "read tollgate/contract/rate_limiter.hpp");
    }

    template <template <class> class Slot, class T>
    static constexpr auto refer_to(Slot<T>& slot) {
        auto& [held] = slot;
        return Slot<decltype(std::ref(policy(held)))>{std::ref(policy(held))};
    }
    template <class... Ts>
    static constexpr auto refer_to(authenticators_slot<std::tuple<Ts...>>& slot) {
        return std::apply([](Ts&... each) {
            return authenticators_slot<std::tuple<decltype(std::ref(policy(each)))...>>{{std::ref(policy(each))...}};
        }, slot.authenticators);
    }

    template <template <class> class Slot, class Held>
    struct is_slot : std::false_type {};
    template <template <class> class Slot, class T>
    struct is_slot<Slot, Slot<T>> : std::true_type {};

    // A misfit was already reported: keeping the slot unchanged avoids follow-up errors.
    template <template <class> class Slot, bool Fits, class T>
    constexpr auto replace([[maybe_unused]] T replacement) && {
        if constexpr (!Fits) {
            return std::move(*this);
        } else {
            const auto choose = [&]<class Held>(Held& held) {
                if constexpr (is_slot<Slot, Held>::value) return Slot<T>{std::move(replacement)};
                else return std::move(held);
            };
            return policy_set<decltype(choose(static_cast<Slots&>(*this)))...>(choose(static_cast<Slots&>(*this))...);
        }
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_DETAIL_POLICY_SET_HPP
