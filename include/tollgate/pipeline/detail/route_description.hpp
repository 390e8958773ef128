#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// A line of the table without its endpoint's type: what OpenAPI and the documentation tell of it. Of static storage.
struct route_description {
    enum class value_kind : std::uint8_t { service, id, text };

    struct parameter {
        std::string_view name;
        value_kind kind = value_kind::text;
    };

    http::method method = http::method::get;
    std::string_view path;
    access_rule access{};
    route_notes notes;
    std::vector<parameter> parameters;  ///< left to right
};

namespace detail {

template <class T>
inline constexpr bool is_id = false;
template <class Tag>
inline constexpr bool is_id<id<Tag>> = true;

template <class Route, std::size_t Index>
[[nodiscard]] constexpr route_description::parameter describe_parameter() noexcept {
    using parameter = pipeline::parameter_of<Route, Index>;
    using kind = route_description::value_kind;
    if (parameter::is_service) return {parameter::name, kind::service};
    return {parameter::name, is_id<typename parameter::type> ? kind::id : kind::text};
}

}  // namespace detail

/// All lines of a table, in its order.
template <class Table>
[[nodiscard]] std::vector<route_description> describe_routes(const Table& table) {
    std::vector<route_description> described;
    table.for_each([&]<class Route>(const Route& each) {
        route_description made{each.method, each.path, each.access, each.notes, {}};
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (made.parameters.push_back(detail::describe_parameter<Route, I>()), ...);
        }(std::make_index_sequence<Route::parameters.count>{});
        described.push_back(std::move(made));
    });
    return described;
}

/// A shape's example with an event that the API knows.
[[nodiscard]] inline std::string fill_example(const json_shape& shape, const service_catalog& services) {
    constexpr std::string_view place = "{event}";
    std::string filled{shape.example};
    const auto at = filled.find(place);
    if (at == std::string::npos) return filled;
    std::string_view event = "noun.verb";
    for (const service& each : services.services()) {
        if (each.events.empty()) continue;
        event = each.events.front();
        break;
    }
    return filled.replace(at, place.size(), event);
}

}  // namespace tollgate
