#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_DATED_DIGEST_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_DATED_DIGEST_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/time.hpp>

#include <compare>
#include <set>

namespace tollgate::inline v0::memory {

/// A digest ordered by a time, such as its expiry: earliest first.
struct dated_digest {
    instant at;
    tollgate::digest digest;

    /// Not a comparison of secrets: digests only distinguish rows with the same time.
    friend bool operator<(const dated_digest& a, const dated_digest& b) noexcept {
        return a.at != b.at ? a.at < b.at : a.digest.bytes() < b.digest.bytes();
    }
};

using digests_by_time = std::set<dated_digest>;

/// Moves a digest to another time. Does not allocate and cannot fail. Precondition: it exists.
inline void move_in_time(digests_by_time& all, const dated_digest& from, instant to) noexcept {
    auto node = all.extract(from);
    if (node.empty()) return;  // so that the compiler knows, too
    node.value().at = to;
    all.insert(std::move(node));
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_DATED_DIGEST_HPP
