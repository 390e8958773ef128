#pragma once
#ifndef TOLLGATE_CONTRACT_SCOPE_CHECKER_HPP
#define TOLLGATE_CONTRACT_SCOPE_CHECKER_HPP

#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/model/scope.hpp>

#include <concepts>
#include <string_view>

namespace tollgate::inline v0 {

/// Decides whether the granted scopes of a credential cover the scope that a route requires.
///
/// Exemplar:
///
///     struct exact_scopes {
///         bool covers(const scope_set& granted, std::string_view required) const noexcept {
///             return granted.contains(required);
///         }
///     };
template <class C>
concept scope_checker = requires(const C& c, const scope_set& granted, std::string_view required) {
    // Returns true if `granted` covers `required`, which is a single scope. Called from many threads at once.
    { c.covers(granted, required) } noexcept -> std::same_as<bool>;
};

namespace detail {

struct scope_checker_calls {
    bool (*covers)(void*, const scope_set&, std::string_view) noexcept;
};

template <class T>
struct calls_of_scope_checker {
    static bool covers(void* object, const scope_set& granted, std::string_view required) noexcept {
        return object_at<T>(object).covers(granted, required);
    }

    static constexpr scope_checker_calls table{&covers};
};

}  // namespace detail

/// A reference to a `scope_checker` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class scope_checker_ref : public detail::reference<detail::scope_checker_calls> {
public:
    scope_checker_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, scope_checker_ref>
    scope_checker_ref(T& object) noexcept {
        static_assert(scope_checker<T>, "tollgate: this does not satisfy scope_checker; read tollgate/contract/scope_checker.hpp");
        if constexpr (scope_checker<T>) refer_to(object, detail::calls_of_scope_checker<T>::table);
    }

    /// Each calls the object's function of this name; see `scope_checker`.
    [[nodiscard]] bool covers(const scope_set& granted, std::string_view required) const noexcept {
        return calls_->covers(object_, granted, required);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_SCOPE_CHECKER_HPP
