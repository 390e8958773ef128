#pragma once

#include <tollgate/base/problem.hpp>

#include <cstddef>
#include <string>

namespace tollgate {

/// What every store says to one hook more than there may be.
[[nodiscard]] inline problem too_many_hooks(std::size_t hooks_per_event_max) {
    return invalid("This account has " + std::to_string(hooks_per_event_max) +
                   " webhooks for this event, as many as it may.");
}

}  // namespace tollgate
