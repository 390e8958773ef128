#pragma once

#include <tollgate/contract/clock.hpp>

namespace tollgate {

/// The machine's own clock.
struct system_clock {
    [[nodiscard]] instant now() const noexcept {
        return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
    }
};

static_assert(clock<system_clock>);

}  // namespace tollgate
