#pragma once
#ifndef TOLLGATE_BASE_BLOCKING_HPP
#define TOLLGATE_BASE_BLOCKING_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/member_name.hpp>

#include <concepts>
#include <type_traits>

namespace tollgate::inline v0 {

namespace detail {
TOLLGATE_DEFINE_NAMES(blocking);
TOLLGATE_DEFINE_NAMES(may_block);

/// An object of `T` reports at run time whether its calls may wait.
template <class T>
concept tells_blocking = requires(const T& object) { { object.may_block() } noexcept -> std::same_as<bool>; };
/// The class that declares `may_block`.
template <class C>
C class_of(bool (C::*)() const noexcept);

/// `T` declares `blocking`, and inherits a `may_block` from a class that does not know of it: the declaration of `T` is newer.
template <class T>
concept overrides_by_constant = requires { typename std::bool_constant<T::blocking>; } && requires {
    requires !requires { typename std::bool_constant<decltype(class_of(&T::may_block))::blocking>; };
};
}  // namespace detail

/// Returns true if calls of `object` may wait for a disk or another machine. An object reports this with `bool may_block() const noexcept`,
/// which is constant during its life, or its class with `static constexpr bool blocking`. An object that declares neither may block: the
/// library calls it on a worker thread and never on a thread that serves sockets.
///
/// What a class declares itself counts more than what it inherits. A member that has either name but another type is a compiler error.
template <class T>
[[nodiscard]] constexpr bool may_block(const T& object) noexcept {
    if constexpr (detail::overrides_by_constant<T>) {
        return T::blocking;
    } else if constexpr (detail::tells_blocking<T>) {
        return object.may_block();
    } else if constexpr (requires { typename std::bool_constant<T::blocking>; }) {
        static_assert(!detail::names_may_block<T>,
                      "tollgate: may_block is a public const noexcept function that returns bool; read tollgate/base/blocking.hpp");
        return T::blocking;
    } else {
        static_assert(!detail::names_may_block<T>,
                      "tollgate: may_block is a public const noexcept function that returns bool; read tollgate/base/blocking.hpp");
        static_assert(!detail::names_blocking<T>,
                      "tollgate: blocking is a public static constexpr bool; read tollgate/base/blocking.hpp");
        return true;
    }
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_BLOCKING_HPP
