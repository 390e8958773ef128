#pragma once
#ifndef TOLLGATE_BASE_DETAIL_FUNCTION_REF_HPP
#define TOLLGATE_BASE_DETAIL_FUNCTION_REF_HPP

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0::detail {

template <class Signature>
class function_ref;

/// A reference to a function object of any class, for a parameter that is only called before the function returns. Unlike std::function, it
/// allocates nothing and copies no object. The object must outlive the reference.
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
public:
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, function_ref> && std::is_object_v<std::remove_reference_t<F>> &&
                 std::is_invocable_r_v<Result, F&, Arguments...>)
    function_ref(F&& function) noexcept
        : object_{const_cast<void*>(static_cast<const void*>(std::addressof(function)))},
          call_{[](void* object, Arguments... arguments) -> Result {
              return (*static_cast<std::add_pointer_t<F>>(object))(std::forward<Arguments>(arguments)...);
          }} {}

    Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

private:
    void* object_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_FUNCTION_REF_HPP
