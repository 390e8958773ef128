#pragma once

#include <tollgate/policy/detail/segment_router.hpp>

#include <algorithm>
#include <cassert>

namespace tollgate::inline v0 {

TOLLGATE_DECL void segment_router::build(std::span<const route_pattern> patterns) {
    literal_paths_.clear();
    lines_.clear();
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        line made{patterns[i].method, static_cast<std::uint16_t>(i), 0, {}};
        std::string_view left = patterns[i].path;
        while (!left.empty()) {
            left.remove_prefix(1);
            const auto text = left.substr(0, left.find('/'));
            left.remove_prefix(text.size());
            const bool is_parameter = text.starts_with('{');
            made.segments.push_back({is_parameter ? std::string_view{} : text});
            if (!is_parameter) ++made.literals;
        }
        assert(made.segments.size() <= segments_max);
        if (made.literals == made.segments.size()) literal_paths_.push_back({made.method, made.route, patterns[i].path});
        const auto is_before = [](const line& a, const line& b) {
            if (a.segments.size() != b.segments.size()) return a.segments.size() < b.segments.size();
            return a.literals > b.literals;
        };
        lines_.insert(std::upper_bound(lines_.begin(), lines_.end(), made, is_before), std::move(made));
    }
    for (std::size_t count = 0; count < first_line_.size(); ++count)
        first_line_[count] = static_cast<std::uint16_t>(
            std::count_if(lines_.begin(), lines_.end(), [count](const line& each) { return each.segments.size() < count; }));
}

TOLLGATE_DECL route_match segment_router::find(http::method m, std::string_view path) const noexcept {
    route_match match;
    for (const literal_path& each : literal_paths_) {
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

    for (std::size_t i = first_line_[count]; i < first_line_[count + 1]; ++i) {
        const line& candidate = lines_[i];
        bool fits = true;
        for (std::size_t s = 0; fits && s < count; ++s)
            fits = candidate.segments[s].literal.empty() || candidate.segments[s].literal == segments[s];
        if (!fits) continue;
        match.route = candidate.route;
        match.captured = 0;
        for (std::size_t s = 0; s < count; ++s)
            if (candidate.segments[s].literal.empty()) match.captures[match.captured++] = segments[s];
        if (candidate.method == m) {
            match.result = route_match::kind::found;
            return match;
        }
        match.result = route_match::kind::other_method;
        match.allowed.add(candidate.method);
    }
    return match;
}

}  // namespace tollgate
