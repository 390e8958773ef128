#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>

#include <catch2/catch.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollgate_test {

/// Each of these quotas in the settings of `part` needs a window if it has requests: otherwise `construct(settings)` throws.
template <class Settings, class Construct>
void check_windows_are_required(const std::string& part, const Settings& usual,
                                std::initializer_list<std::pair<const char*, tollgate::quota Settings::*>> all, Construct construct) {
    using tollgate::quota, tollgate::seconds;
    for (const auto& [name, allowed] : all) {
        CAPTURE(name);
        auto settings = usual;
        for (const quota each : {quota{1, seconds{1}}, quota{1000, seconds{1}}, quota{1, (seconds::max)()}, quota{0, seconds{1}}, quota{}}) {
            settings.*allowed = each;
            CHECK_NOTHROW(construct(settings));
        }
        for (const quota each : {quota{.requests = 1000}, quota{.requests = 1000, .window = seconds{0}}, quota{1, seconds{-1}}}) {
            settings.*allowed = each;
            CHECK_THROWS_AS(construct(settings), std::invalid_argument);
            CHECK_THROWS_WITH(construct(settings),
                              "tollgate: The " + part + " setting " + name + " has no window: it must be 1 second or more.");
        }
    }
}

}  // namespace tollgate_test
