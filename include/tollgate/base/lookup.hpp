#pragma once
#ifndef TOLLGATE_BASE_LOOKUP_HPP
#define TOLLGATE_BASE_LOOKUP_HPP

#include <tollgate/base/config.hpp>

#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>

namespace tollgate::inline v0 {

/// The result of a cache lookup:
///
///     lookup<user> cached = cache.find(id);
///     if (cached.is_unknown()) return ask_the_database(id);
///     return cached.found();                                 // the user, or std::nullopt: there is no such user
template <class T>
class [[nodiscard]] lookup {
public:
    /// Returns a hit: the key exists and has this value.
    template <class U = T>
    [[nodiscard]] static constexpr lookup hit(U&& value) {
        return lookup{std::in_place, std::forward<U>(value)};
    }
    /// Returns a miss: the key is known not to exist.
    [[nodiscard]] static constexpr lookup miss() noexcept { return lookup{state::miss}; }
    /// Returns the state without cached data: ask the store.
    [[nodiscard]] static constexpr lookup unknown() noexcept { return {}; }

    /// Constructs the state `unknown`.
    constexpr lookup() noexcept = default;

    /// Each returns true in its state. A lookup is in exactly one of the three.
    [[nodiscard]] constexpr bool is_hit() const noexcept { return state_ == state::hit; }
    [[nodiscard]] constexpr bool is_miss() const noexcept { return state_ == state::miss; }
    [[nodiscard]] constexpr bool is_unknown() const noexcept { return state_ == state::unknown; }

    /// Returns the value of a hit. Precondition: is_hit().
    [[nodiscard]] constexpr const T& operator*() const& noexcept { return *value_; }
    [[nodiscard]] constexpr T&& operator*() && noexcept { return *std::move(value_); }
    [[nodiscard]] constexpr const T* operator->() const noexcept { return &*value_; }

    /// Returns the value of a hit, or std::nullopt for a miss, as the store returns it. Precondition: !is_unknown().
    [[nodiscard]] constexpr const std::optional<T>& found() const& noexcept { return assert(!is_unknown()), value_; }
    [[nodiscard]] constexpr std::optional<T>&& found() && noexcept { return assert(!is_unknown()), std::move(value_); }

    friend constexpr bool operator==(const lookup&, const lookup&) = default;

private:
    enum class state : std::uint8_t { unknown, miss, hit };

    constexpr explicit lookup(state initial) noexcept : state_{initial} {}
    template <class U>
    constexpr lookup(std::in_place_t, U&& value) : state_{state::hit}, value_{std::in_place, std::forward<U>(value)} {}

    state state_ = state::unknown;
    std::optional<T> value_;
};

}  // namespace tollgate

#endif  // TOLLGATE_BASE_LOOKUP_HPP
