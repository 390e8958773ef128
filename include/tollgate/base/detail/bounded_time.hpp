#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>

namespace tollgate::inline v0::detail {

/// A setting that is a length of time: at least `least` and at most 36,500 days, so that adding it to a time does not overflow.
struct bounded_time {
    const char* name;
    seconds value;
    seconds least{1};
};

/// Throws std::invalid_argument with the name of the first one that is outside its bounds.
inline void check_bounds(std::initializer_list<bounded_time> settings) {
    for (const auto& [name, value, least] : settings)
        if (value < least || value > std::chrono::days{36'500})
            throw std::invalid_argument{std::string{"tollgate: the setting "} + name + " is outside its bounds"};
}

}  // namespace tollgate::detail
