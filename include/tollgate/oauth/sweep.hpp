#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/observer.hpp>

#include <cstddef>

namespace tollgate::oauth {

/// Twice as many rows are looked through for expired ones as were added, so a store stays bounded without a thread of
/// its own. What was issued is issued: a failure here is the operator's to hear of, and changes no answer.
template <grant_store Grants, observer Observer>
void sweep(Grants& grants, const Observer& watching, instant now, std::size_t rows_added) noexcept {
    try {
        if (const auto swept = grants.sweep_expired(now, 2 * rows_added); !swept) watching.on_problem(swept.error());
    } catch (...) {
        // An adapter that breaks its contract: it said nothing that could be passed on.
    }
}

}  // namespace tollgate::oauth
