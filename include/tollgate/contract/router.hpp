#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/http/request.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tollgate::inline v0 {

/// One row of a route table: `/{service}/{account}/hooks` has a literal segment and two parameters. Has static storage.
struct route_pattern {
    http::method method;
    std::string_view path;  ///< begins with `/`; below the base URL's path
};

/// A set of methods, as `Allow` lists them.
class method_set {
public:
    /// Adds a method; adding it twice changes nothing.
    constexpr void add(http::method m) noexcept { bits_ |= bit(m); }
    /// Whether the method is in the set.
    [[nodiscard]] constexpr bool contains(http::method m) const noexcept { return (bits_ & bit(m)) != 0; }
    /// Whether no method is in the set.
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

private:
    static constexpr std::uint16_t bit(http::method m) noexcept {
        return static_cast<std::uint16_t>(1U << static_cast<unsigned>(m));
    }
    std::uint16_t bits_ = 0;
};

/// The result of a lookup.
struct route_match {
    enum class kind : std::uint8_t { unknown_path, other_method, found };

    /// Whether the path and the method are known.
    kind result = kind::unknown_path;
    std::uint16_t route = 0;      ///< found: the row of the table; other_method: one of the rows that match the path
    std::uint8_t captured = 0;    ///< the number of the route's parameters
    method_set allowed;           ///< other_method: the methods that the path supports
    /// of the route: views of the path, left to right
    std::array<std::string_view, limits::path_parameters_max> captures;
};

/// Finds the route for a method and a path.
///
/// Exemplar: `segment_router`.
template <class R>
concept router = requires(R& building, const R& built, std::span<const route_pattern> patterns, http::method m,
                          std::string_view path) {
    // Called once with the whole table, before any `find`. A literal segment takes precedence over a parameter.
    building.build(patterns);
    // `path` is relative to the base URL's path, as sent, not decoded. An empty segment, a percent sign or a dot
    // segment never matches. HEAD is looked up as GET. Called from many threads at once.
    { built.find(m, path) } noexcept -> std::same_as<route_match>;
};

}  // namespace tollgate
