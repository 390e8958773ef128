#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_DESCRIBE_HPP
#define TOLLGATE_MANUAL_DETAIL_DESCRIBE_HPP

#include <tollgate/pipeline/route_table.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Values in the form in which people write them.
namespace tollgate::inline v0::manual {

/// `1,000`.
[[nodiscard]] inline std::string with_separators(std::uint64_t number) {
    auto digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

[[nodiscard]] inline std::string describe_window(seconds window) {
    switch (window.count()) {
        case 1: return "second";
        case 60: return "minute";
        case 60 * 60: return "hour";
        case 24 * 60 * 60: return "day";
        default: return with_separators(static_cast<std::uint64_t>(window.count())) + " seconds";
    }
}

/// `1 hour`, `30 days`: in the largest unit that leaves no remainder.
[[nodiscard]] inline std::string describe_duration(seconds duration) {
    struct unit {
        std::int64_t length;
        std::string_view name;
    };
    constexpr unit units[] = {{24 * 60 * 60, " day"}, {60 * 60, " hour"}, {60, " minute"}, {1, " second"}};
    const auto* fits = units;
    while (fits->length > 1 && (duration.count() == 0 || duration.count() % fits->length != 0)) ++fits;
    const auto count = duration.count() / fits->length;
    return with_separators(static_cast<std::uint64_t>(count)).append(fits->name).append(count == 1 ? "" : "s");
}

[[nodiscard]] inline std::string describe(const quota& quota) {
    return with_separators(quota.requests) + (quota.requests == 1 ? " request per " : " requests per ") + describe_window(quota.window);
}

/// An example path that can be requested as it is: real services, and numbers for ids.
[[nodiscard]] inline std::string sample_path(const route& route, const service_catalog& services) {
    std::string path{route.path};
    for (const auto& each : route.parameters) {
        const auto place = std::string{"{"}.append(each.name).append("}");
        std::string_view value = "name";
        if (each.kind == route::parameter_kind::id) value = "1";
        if (each.kind == route::parameter_kind::service && !services.services().empty())
            value = services.services().front().name;
        path.replace(path.find(place), place.size(), value);
    }
    return path;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) c = tollgate::detail::ascii_lower(c);
    return lower;
}

/// The anchor of a route on its page. Unique: no two routes of a table have the same method and path.
[[nodiscard]] inline std::string anchor_of(const route& route) {
    if (!route.notes.operation.empty()) return std::string{route.notes.operation};
    return lower_case(http::to_text(route.method)).append(route.path);
}

}  // namespace tollgate::manual

#endif  // TOLLGATE_MANUAL_DETAIL_DESCRIBE_HPP
