#pragma once
#ifndef TOLLGATE_BASE_DETAIL_MEMBER_NAME_HPP
#define TOLLGATE_BASE_DETAIL_MEMBER_NAME_HPP

#include <type_traits>

/// Defines `names_NAME<T>`: whether the class T has a member NAME, even if that is overloaded, a template or private, which
/// `requires { &T::NAME; }` does not see: in a class that inherits a second NAME, the name is ambiguous. It cannot inherit from a final
/// class, of which only members are found that `&T::NAME` or `T::NAME` can mean.
#define TOLLGATE_DEFINE_NAMES(NAME)                                                                                     \
    struct with_##NAME {                                                                                                \
        static constexpr bool NAME = false;                                                                             \
    };                                                                                                                  \
    template <class T, bool = std::is_class_v<T> && !std::is_final_v<T>>                                                \
    struct beside_##NAME : T, with_##NAME {};                                                                           \
    template <class T>                                                                                                  \
    struct beside_##NAME<T, false> : with_##NAME {};                                                                    \
    template <class T>                                                                                                  \
    concept names_##NAME = !requires { beside_##NAME<T>::NAME; } || requires { &T::NAME; } || requires { T::NAME; }

#endif  // TOLLGATE_BASE_DETAIL_MEMBER_NAME_HPP
