#pragma once
#ifndef TOLLGATE_CONTRACT_ROUTER_HPP
#define TOLLGATE_CONTRACT_ROUTER_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/http/request.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tollgate::inline v0 {

/// A row of a route table: `/{service}/{account}/hooks` has a literal segment and two parameters. The text has static storage.
struct route_pattern {
    http::method method;
    std::string_view path;  ///< begins with `/`; below the base URL's path
};

/// A set of methods, for the field `Allow`.
class method_set {
public:
    /// Adds a method. Adding a method twice changes nothing.
    constexpr void add(http::method m) noexcept { bits_ |= bit(m); }
    /// Returns true if the method is in the set.
    [[nodiscard]] constexpr bool contains(http::method m) const noexcept { return (bits_ & bit(m)) != 0; }
    /// Returns true if no method is in the set.
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

private:
    static constexpr std::uint16_t bit(http::method m) noexcept {
        return static_cast<std::uint16_t>(1U << static_cast<unsigned>(m));
    }
    std::uint16_t bits_ = 0;
};

/// A path segment that a parameter of a route captured, as a view. It has no initial value, so that a lookup, which usually captures few
/// segments, does not first initialize all of them.
class path_capture {
public:
    path_capture() = default;
    /// Captures this segment.
    constexpr path_capture(std::string_view segment) noexcept : text_{segment.data()}, bytes_{segment.size()} {}

    /// Returns the segment as sent.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {text_, bytes_}; }
    constexpr operator std::string_view() const noexcept { return view(); }

private:
    const char* text_;
    std::size_t bytes_;
};

/// The result of a lookup.
struct route_match {
    enum class kind : std::uint8_t { unknown_path, other_method, found };

    /// The kind of the match.
    kind result = kind::unknown_path;
    std::uint16_t route = 0;      ///< found: the row of the table; other_method: the most literal row that matches the path
    std::uint8_t captured = 0;    ///< found, other_method: the number of the route's parameters
    method_set allowed;           ///< other_method: the methods that the path supports
    std::array<path_capture, limits::path_parameters_max> captures;  ///< from left to right; the first `captured` have a value
};

/// Finds the route for a method and a path.
///
/// Exemplar: `segment_router`.
template <class R>
concept router = requires(R& building, const R& built, std::span<const route_pattern> patterns, http::method m,
                          std::string_view path) {
    // Called once with the whole table, before any `find`. A literal segment takes precedence over a parameter.
    building.build(patterns);
    // Returns the route for a method and a path. `path` is relative to the base URL's path, as sent, not decoded. An empty segment, a
    // percent sign or a dot segment never matches. HEAD is looked up as GET. Called from many threads at once.
    { built.find(m, path) } noexcept -> std::same_as<route_match>;
};

namespace detail {

struct router_calls {
    route_match (*find)(void*, http::method, std::string_view) noexcept;
};

template <class T>
struct calls_of_router {
    static route_match find(void* object, http::method method, std::string_view path) noexcept {
        return object_at<T>(object).find(method, path);
    }

    static constexpr router_calls table{&find};
};

}  // namespace detail

/// A reference to a `router` that has been built of any class, or to no object. The object must outlive the reference. The contract states
/// the thread rule and the errors.
class router_ref : public detail::reference<detail::router_calls> {
public:
    router_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, router_ref>
    router_ref(T& object) noexcept {
        static_assert(router<T>, "tollgate: this does not satisfy router; read tollgate/contract/router.hpp");
        if constexpr (router<T>) refer_to(object, detail::calls_of_router<T>::table);
    }

    /// Each calls the object's function of this name; see `router`.
    [[nodiscard]] route_match find(http::method method, std::string_view path) const noexcept {
        return calls_->find(object_, method, path);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_ROUTER_HPP
