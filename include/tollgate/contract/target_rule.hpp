#pragma once
#ifndef TOLLGATE_CONTRACT_TARGET_RULE_HPP
#define TOLLGATE_CONTRACT_TARGET_RULE_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/http/url.hpp>

#include <concepts>

namespace tollgate::inline v0 {

/// Decides where webhooks may be sent. Without such a rule, anyone who can create a hook can send requests into the server's private
/// network.
///
/// Thread rule: both functions may be called from many threads at once. Neither blocks or resolves names.
///
/// Exemplar:
///
///     struct partners_only {
///         result<void> check(const http::url& target) const {
///             if (target.host == "hooks.partner.example") return {};
///             return invalid("target_url must be at hooks.partner.example.");
///         }
///         bool allows(const ip_address&) const noexcept { return true; }
///     };
template <class R>
concept target_rule = requires(const R& r, const http::url& target, const ip_address& address) {
    // Checks a URL by its text alone, when a hook is created or changed and before each attempt. A refusal is error_kind::invalid with a
    // message that names `target_url`; pages display the message in all languages.
    { r.check(target) } -> std::same_as<result<void>>;
    // Returns true if webhooks may be sent to a resolved address. Called before each connection, because a name that was allowed may later
    // resolve to a private address.
    { r.allows(address) } noexcept -> std::same_as<bool>;
};

namespace detail {

struct target_rule_calls {
    result<void> (*check)(void*, const http::url&);
    bool (*allows)(void*, const ip_address&) noexcept;
};

template <class T>
struct calls_of_target_rule {
    static result<void> check(void* object, const http::url& target) { return object_at<T>(object).check(target); }
    static bool allows(void* object, const ip_address& address) noexcept { return object_at<T>(object).allows(address); }

    static constexpr target_rule_calls table{&check, &allows};
};

}  // namespace detail

/// A reference to a `target_rule` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class target_rule_ref : public detail::reference<detail::target_rule_calls> {
public:
    target_rule_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, target_rule_ref>
    target_rule_ref(T& object) noexcept {
        static_assert(target_rule<T>, "tollgate: this does not satisfy target_rule; read tollgate/contract/target_rule.hpp");
        if constexpr (target_rule<T>) refer_to(object, detail::calls_of_target_rule<T>::table);
    }

    /// Each calls the object's function of this name; see `target_rule`.
    [[nodiscard]] result<void> check(const http::url& target) const { return calls_->check(object_, target); }
    [[nodiscard]] bool allows(const ip_address& address) const noexcept { return calls_->allows(object_, address); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_TARGET_RULE_HPP
