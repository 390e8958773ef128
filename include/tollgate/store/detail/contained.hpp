#pragma once

#include <tollgate/base/result.hpp>

#include <type_traits>
#include <utility>

namespace tollgate::inline v0::detail {

/// Runs a verb of a store, which throws nothing: what the standard library throws inside, memory that is not to be had
/// above all, becomes a problem (unavailable). Verbs are written so that nothing is half done then.
template <class Verb>
[[nodiscard]] std::invoke_result_t<Verb&> contained(Verb&& verb) noexcept {
    try {
        return verb();
    } catch (...) {
        error why{error_kind::unavailable, {}, {}};
        try {
            why = unavailable("out of memory, or of another resource of the process");
        } catch (...) {  // not even for the text: the kind says enough
        }
        return why;
    }
}

}  // namespace tollgate::detail
