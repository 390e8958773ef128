#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/time.hpp>

#include <compare>
#include <set>

namespace tollgate::inline v0::memory {

/// What is kept under a digest, by a moment of it: first those that are over first.
struct dated_digest {
    instant at;
    digest of;

    /// No secret is compared here: digests only tell rows of one moment apart.
    friend bool operator<(const dated_digest& a, const dated_digest& b) noexcept {
        return a.at != b.at ? a.at < b.at : a.of.bytes() < b.of.bytes();
    }
};

using digests_by_time = std::set<dated_digest>;

/// The same digest at another moment. Allocates nothing, so it does not fail. Precondition: it is there.
inline void move_in_time(digests_by_time& all, const dated_digest& from, instant to) noexcept {
    auto node = all.extract(from);
    node.value().at = to;
    all.insert(std::move(node));
}

}  // namespace tollgate::memory
