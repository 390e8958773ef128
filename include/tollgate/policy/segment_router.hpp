#pragma once
#ifndef TOLLGATE_POLICY_SEGMENT_ROUTER_HPP
#define TOLLGATE_POLICY_SEGMENT_ROUTER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/contract/router.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The default router, which compares paths segment by segment. Route tables are short, so a linear search over the routes with as many
/// segments as the path, those with more literals first, is faster than a tree and easier to read.
class segment_router {
public:
    /// Implements `router`. A pattern of more than `limits::path_segments_max` segments or `limits::path_parameters_max` parameters, which
    /// no route has, is never found.
    TOLLGATE_COLD void build(std::span<const route_pattern> patterns);
    [[nodiscard]] TOLLGATE_DECL route_match find(http::method m, std::string_view path) const noexcept;

private:
    static constexpr std::size_t segments_max = limits::path_segments_max;

    struct row {
        http::method method;
        std::uint16_t route;
        std::uint16_t literals = 0;  // number of literal segments: the order among rows of the same length
        std::uint16_t count = 0;     // number of segments
        std::string_view path;
        std::array<std::string_view, segments_max> segments{};  // empty for a parameter
    };

    // A path without parameters is found by one comparison: no pattern with a parameter can take precedence.
    std::vector<row> literal_paths_;
    std::vector<row> rows_;  // ordered by number of segments, rows with more literals first
    std::array<std::uint16_t, segments_max + 2> first_row_{};  // for each number of segments, the index of its first row
};

static_assert(router<segment_router>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/segment_router.ipp>
#endif

#endif  // TOLLGATE_POLICY_SEGMENT_ROUTER_HPP
