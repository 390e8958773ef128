#pragma once

#include <tollgate/base/problem.hpp>

#include <cassert>
#include <utility>
#include <variant>

namespace tollgate {

/// A value, or the problem that kept us from having it. What may fail returns one; nothing is thrown across a contract.
template <class T>
class [[nodiscard]] outcome {
public:
    using value_type = T;

    outcome(T value) : state_{std::in_place_index<0>, std::move(value)} {}
    outcome(problem why) : state_{std::in_place_index<1>, std::move(why)} {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Precondition: has_value().
    [[nodiscard]] T& operator*() & noexcept { return held(); }
    [[nodiscard]] const T& operator*() const& noexcept { return const_cast<outcome*>(this)->held(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(held()); }
    [[nodiscard]] T* operator->() noexcept { return &held(); }
    [[nodiscard]] const T* operator->() const noexcept { return &const_cast<outcome*>(this)->held(); }

    /// Precondition: !has_value().
    [[nodiscard]] problem& error() & noexcept { return why(); }
    [[nodiscard]] const problem& error() const& noexcept { return const_cast<outcome*>(this)->why(); }
    [[nodiscard]] problem&& error() && noexcept { return std::move(why()); }

private:
    T& held() noexcept {
        assert(has_value());
        return *std::get_if<0>(&state_);
    }
    problem& why() noexcept {
        assert(!has_value());
        return *std::get_if<1>(&state_);
    }

    std::variant<T, problem> state_;
};

/// Done, or the problem that kept it from being done.
template <>
class [[nodiscard]] outcome<void> {
public:
    using value_type = void;

    outcome() = default;
    outcome(problem why) : state_{std::in_place_index<1>, std::move(why)} {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Precondition: !has_value().
    [[nodiscard]] problem& error() & noexcept { return *std::get_if<1>(&state_); }
    [[nodiscard]] const problem& error() const& noexcept { return *std::get_if<1>(&state_); }
    [[nodiscard]] problem&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

private:
    std::variant<std::monostate, problem> state_;
};

}  // namespace tollgate
