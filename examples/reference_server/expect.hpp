#pragma once

#include "failure.hpp"

#include <tollgate/base/result.hpp>

#include <string>
#include <utility>

namespace reference {

/// Where a command cannot go on without it: the value, or a `run_error` with the operator's half of the problem.
template <class T>
T expect(tollgate::result<T> got, const std::string& what) {
    if (!got) throw run_error{what + ": " + (got.error().cause.empty() ? got.error().message : got.error().cause)};
    if constexpr (!std::is_void_v<T>) return *std::move(got);
}

}  // namespace reference
