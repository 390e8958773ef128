#pragma once
#ifndef TOLLGATE_POLICY_SEGMENT_ROUTER_IPP
#define TOLLGATE_POLICY_SEGMENT_ROUTER_IPP

#include <tollgate/policy/segment_router.hpp>

namespace tollgate::inline v0 {

TOLLGATE_COLD void segment_router::build(std::span<const route_pattern> patterns) {
    literal_paths_.clear();
    rows_.clear();
    std::vector<row> rows;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        row one{patterns[i].method, static_cast<std::uint16_t>(i), 0, 0, patterns[i].path, {}};
        std::string_view left = one.path;
        while (!left.empty()) {
            left.remove_prefix(1);
            const auto text = left.substr(0, left.find('/'));
            left.remove_prefix(text.size());
            if (!text.starts_with('{')) {
                if (one.count < segments_max) one.segments[one.count] = text;
                ++one.literals;
            }
            ++one.count;
        }
        if (one.count > segments_max || one.count > one.literals + limits::path_parameters_max) continue;
        rows.push_back(one);
        if (one.literals == one.count) literal_paths_.push_back(one);
    }
    for (std::size_t count = 0; count < first_row_.size(); ++count) {
        first_row_[count] = static_cast<std::uint16_t>(rows_.size());
        for (std::size_t parameters = 0; parameters <= count; ++parameters)
            for (const row& each : rows)
                if (each.count == count && each.literals + parameters == count) rows_.push_back(each);
    }
}

TOLLGATE_DECL route_match segment_router::find(http::method m, std::string_view path) const noexcept {
    route_match match;
    for (const row& each : literal_paths_) {
        if (each.path != path || each.method != m) continue;
        match.result = route_match::kind::found;
        match.route = each.route;
        return match;
    }

    std::array<std::string_view, segments_max> segments;
    std::size_t count = 0;
    if (path.empty() || path.front() != '/') return match;
    for (std::size_t begin = 1, at = 1;; ++at) {
        if (at < path.size() && path[at] != '/') {
            if (path[at] == '%') return match;
            continue;
        }
        const auto text = path.substr(begin, at - begin);
        // An empty segment is `//` or a trailing slash; dot segments are other spellings of a path.
        if (text.empty() || text == "." || text == ".." || count == segments_max) return match;
        segments[count++] = text;
        if (at >= path.size()) break;
        begin = at + 1;
    }

    for (std::size_t i = first_row_[count]; i < first_row_[count + 1]; ++i) {
        const row& candidate = rows_[i];
        bool fits = true;
        for (std::size_t s = 0; fits && s < count; ++s)
            fits = candidate.segments[s].empty() || candidate.segments[s] == segments[s];
        if (!fits) continue;
        const bool has_method = candidate.method == m;
        // Without a route of this method, the result names the first matching row, which has the most literals.
        if (has_method || match.result == route_match::kind::unknown_path) {
            match.result = has_method ? route_match::kind::found : route_match::kind::other_method;
            match.route = candidate.route;
            match.captured = 0;
            for (std::size_t s = 0; s < count; ++s)
                if (candidate.segments[s].empty()) match.captures[match.captured++] = segments[s];
        }
        if (has_method) return match;
        match.allowed.add(candidate.method);
    }
    return match;
}

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_SEGMENT_ROUTER_IPP
