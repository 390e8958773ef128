#pragma once

#include <tollgate/base/problem.hpp>

#include <cassert>
#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace tollgate {

/// A value, or the problem that kept us from having it. What may fail returns one; nothing is thrown across a contract.
///
/// A union by hand and no std::variant: every program instantiates some twenty of these, and they were a tenth of what
/// it takes to compile one.
template <class T>
class [[nodiscard]] outcome {
    static_assert(std::is_nothrow_move_constructible_v<T>, "an outcome moves its value without failing");

public:
    using value_type = T;

    outcome(T value) noexcept : has_value_{true} { std::construct_at(std::addressof(value_), std::move(value)); }
    outcome(problem why) noexcept : has_value_{false} { std::construct_at(std::addressof(why_), std::move(why)); }

    outcome(outcome&& from) noexcept : has_value_{from.has_value_} {
        if (has_value_) std::construct_at(std::addressof(value_), std::move(from.value_));
        else std::construct_at(std::addressof(why_), std::move(from.why_));
    }
    outcome(const outcome& from)
        requires std::copy_constructible<T>
        : has_value_{from.has_value_} {
        if (has_value_) std::construct_at(std::addressof(value_), from.value_);
        else std::construct_at(std::addressof(why_), from.why_);
    }
    outcome& operator=(outcome&& from) noexcept {
        if (this == &from) return *this;
        std::destroy_at(this);
        return *std::construct_at(this, std::move(from));
    }
    outcome& operator=(const outcome& from)
        requires std::copy_constructible<T>
    {
        return *this = outcome{from};
    }
    ~outcome() {
        if (has_value_) std::destroy_at(std::addressof(value_));
        else std::destroy_at(std::addressof(why_));
    }

    [[nodiscard]] bool has_value() const noexcept { return has_value_; }
    explicit operator bool() const noexcept { return has_value_; }

    /// Precondition: has_value().
    [[nodiscard]] T& operator*() & noexcept { return held(); }
    [[nodiscard]] const T& operator*() const& noexcept { return const_cast<outcome*>(this)->held(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(held()); }
    [[nodiscard]] T* operator->() noexcept { return std::addressof(held()); }
    [[nodiscard]] const T* operator->() const noexcept { return std::addressof(const_cast<outcome*>(this)->held()); }

    /// Precondition: !has_value().
    [[nodiscard]] problem& error() & noexcept { return why(); }
    [[nodiscard]] const problem& error() const& noexcept { return const_cast<outcome*>(this)->why(); }
    [[nodiscard]] problem&& error() && noexcept { return std::move(why()); }

private:
    T& held() noexcept {
        assert(has_value_);
        return value_;
    }
    problem& why() noexcept {
        assert(!has_value_);
        return why_;
    }

    union {
        T value_;
        problem why_;
    };
    bool has_value_;
};

/// Done, or the problem that kept it from being done.
template <>
class [[nodiscard]] outcome<void> {
public:
    using value_type = void;

    outcome() = default;
    outcome(problem why) noexcept : why_{std::move(why)} {}

    [[nodiscard]] bool has_value() const noexcept { return !why_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    /// Precondition: !has_value().
    [[nodiscard]] problem& error() & noexcept { return *why_; }
    [[nodiscard]] const problem& error() const& noexcept { return *why_; }
    [[nodiscard]] problem&& error() && noexcept { return std::move(*why_); }

private:
    std::optional<problem> why_;
};

}  // namespace tollgate
