#pragma once
#ifndef TOLLGATE_MODEL_DETAIL_QUOTA_SETTINGS_HPP
#define TOLLGATE_MODEL_DETAIL_QUOTA_SETTINGS_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/model/quota.hpp>

#include <initializer_list>
#include <stdexcept>

namespace tollgate::inline v0::detail {

/// A setting that is a quota.
struct quota_setting {
    const char* name;
    quota value;
};

/// Throws std::invalid_argument for the first one with requests but without a window: it would limit nothing, and most likely the
/// window was forgotten.
inline void require_windows(const char* whose, std::initializer_list<quota_setting> settings) {
    for (const auto& [name, value] : settings)
        if (value.requests != 0 && value.window <= seconds{0})
            throw std::invalid_argument{
                detail::concat({"tollgate: The ", whose, " setting ", name, " has no window: it must be 1 second or more."})};
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_MODEL_DETAIL_QUOTA_SETTINGS_HPP
