#pragma once
#ifndef TOLLGATE_BASE_DETAIL_OVERLOADED_HPP
#define TOLLGATE_BASE_DETAIL_OVERLOADED_HPP

namespace tollgate::inline v0::detail {

/// A visitor of a variant, made of one lambda for each alternative.
template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<Functions...>;

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_OVERLOADED_HPP
