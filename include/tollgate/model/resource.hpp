#pragma once
#ifndef TOLLGATE_MODEL_RESOURCE_HPP
#define TOLLGATE_MODEL_RESOURCE_HPP

#include <tollgate/base/config.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The id of a protected resource (RFC 9728): a number that follows from its URL, so that records can hold it without the URL. The URL of
/// an API is its `base_url`; a group of routes may have a URL of its own below it (`route_table::as_resource`).
struct resource_id {
    std::uint64_t value = 0;
    friend auto operator<=>(const resource_id&, const resource_id&) noexcept = default;
};

/// Returns the id of the resource with this URL. A final slash makes no difference, because URL libraries add it to a URL without a path.
/// Any thread may call it; it never blocks.
[[nodiscard]] TOLLGATE_DECL resource_id resource_id_of(std::string_view url);

/// The resources that a token is for (RFC 8707). An empty set is a token for every resource.
class resource_set {
public:
    static constexpr std::size_t size_max = 4;  ///< applications ask for one or two

    /// Constructs an empty set.
    constexpr resource_set() noexcept = default;

    /// Adds a resource. Returns false, and adds nothing, if the set is full.
    constexpr bool add(resource_id id) noexcept {
        const auto at = std::lower_bound(ids_.begin(), ids_.begin() + size_, id);
        if (at != ids_.begin() + size_ && *at == id) return true;
        if (size_ == size_max) return false;
        std::move_backward(at, ids_.begin() + size_, ids_.begin() + size_ + 1);
        *at = id;
        ++size_;
        return true;
    }

    /// Returns true if the set is empty; a token for it is for all resources.
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    /// Returns the number of resources in the set.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    /// Returns the first resource; they are in ascending order.
    [[nodiscard]] constexpr const resource_id* begin() const noexcept { return ids_.data(); }
    /// Returns the end of the resources.
    [[nodiscard]] constexpr const resource_id* end() const noexcept { return ids_.data() + size_; }

    /// Returns true if a token for this set is for the resource.
    [[nodiscard]] constexpr bool is_for(resource_id id) const noexcept { return empty() || std::find(begin(), end(), id) != end(); }
    /// Returns true if a token for this set may be exchanged for a token that is for `other` only.
    [[nodiscard]] constexpr bool is_for_all(const resource_set& other) const noexcept {
        return empty() || (!other.empty() && std::includes(begin(), end(), other.begin(), other.end()));
    }

    /// Returns the resources of an access token that is made from a code or refresh token for this set, if `requested` are asked for.
    [[nodiscard]] constexpr const resource_set& narrowed_to(const resource_set& requested) const noexcept {
        return requested.empty() ? *this : requested;
    }

    /// Returns the form in which stores keep the set: 16 hexadecimal digits for each resource, in ascending order.
    [[nodiscard]] TOLLGATE_DECL std::string text() const;
    /// Returns the set that `text` wrote, or an empty optional for any other text.
    [[nodiscard]] static TOLLGATE_DECL std::optional<resource_set> parse(std::string_view text) noexcept;

    /// Returns true if both sets have the same resources.
    friend constexpr bool operator==(const resource_set& a, const resource_set& b) noexcept {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    std::array<resource_id, size_max> ids_{};
    std::size_t size_ = 0;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/model/resource.ipp>
#endif

#endif  // TOLLGATE_MODEL_RESOURCE_HPP
