#pragma once

#include <cassert>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

/// Whose fault it is, and what kind: the pipeline turns each into a status (4xx for the client's, 5xx for ours).
enum class error_kind {
    malformed,     ///< the request's bytes break a rule: 400
    unauthorized,  ///< no credentials, or bad ones: 401
    forbidden,     ///< known, but not allowed: 403
    not_found,     ///< unknown, or somebody else's (the client cannot tell which): 404
    invalid,       ///< well-formed, but a member's value will not do: 422
    conflict,      ///< it would break a rule of what is stored already: 409
    unavailable,   ///< a part we rely on is down or too slow: 503, and worth a retry
    internal,      ///< a mistake of ours: 500
};

/// A failure in two voices: `message` is what the client reads, `cause` is for the operator alone (the observer gets it)
/// and may name files, statements or addresses. Neither ever holds a secret.
struct error {
    error_kind kind = error_kind::internal;
    std::string message;
    std::string cause;
};

[[nodiscard]] inline error unavailable(std::string cause) {
    return {error_kind::unavailable, "The service is temporarily unavailable. Try again in a moment.", std::move(cause)};
}

[[nodiscard]] inline error internal_error(std::string cause) {
    return {error_kind::internal, "Something went wrong on our side.", std::move(cause)};
}

[[nodiscard]] inline error invalid(std::string message) { return {error_kind::invalid, std::move(message), {}}; }

[[nodiscard]] inline error malformed(std::string message) { return {error_kind::malformed, std::move(message), {}}; }

/// One text for everything that is not there or not the caller's: whoever asks cannot tell the two apart.
[[nodiscard]] inline error not_found() { return {error_kind::not_found, "Not Found", {}}; }

/// A value, or the problem that kept us from having it. What may fail returns one; nothing is thrown across a contract.
///
/// A union by hand and no std::variant: every program instantiates some twenty of these, and they were a tenth of what
/// it takes to compile one.
template <class T>
class [[nodiscard]] result {
    static_assert(std::is_nothrow_move_constructible_v<T>, "an outcome moves its value without failing");

public:
    using value_type = T;

    result(T value) noexcept : has_value_{true} { std::construct_at(std::addressof(value_), std::move(value)); }
    result(tollgate::error why) noexcept : has_value_{false} { std::construct_at(std::addressof(why_), std::move(why)); }

    result(result&& from) noexcept : has_value_{from.has_value_} {
        if (has_value_) std::construct_at(std::addressof(value_), std::move(from.value_));
        else std::construct_at(std::addressof(why_), std::move(from.why_));
    }
    result(const result& from)
        requires std::copy_constructible<T>
        : has_value_{from.has_value_} {
        if (has_value_) std::construct_at(std::addressof(value_), from.value_);
        else std::construct_at(std::addressof(why_), from.why_);
    }
    result& operator=(result&& from) noexcept {
        if (this == &from) return *this;
        std::destroy_at(this);
        return *std::construct_at(this, std::move(from));
    }
    result& operator=(const result& from)
        requires std::copy_constructible<T>
    {
        return *this = result{from};
    }
    ~result() {
        if (has_value_) std::destroy_at(std::addressof(value_));
        else std::destroy_at(std::addressof(why_));
    }

    [[nodiscard]] bool has_value() const noexcept { return has_value_; }
    explicit operator bool() const noexcept { return has_value_; }

    /// Precondition: has_value().
    [[nodiscard]] T& operator*() & noexcept { return held(); }
    [[nodiscard]] const T& operator*() const& noexcept { return const_cast<result*>(this)->held(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(held()); }
    [[nodiscard]] T* operator->() noexcept { return std::addressof(held()); }
    [[nodiscard]] const T* operator->() const noexcept { return std::addressof(const_cast<result*>(this)->held()); }

    /// Precondition: !has_value().
    [[nodiscard]] tollgate::error& error() & noexcept { return why(); }
    [[nodiscard]] const tollgate::error& error() const& noexcept { return const_cast<result*>(this)->why(); }
    [[nodiscard]] tollgate::error&& error() && noexcept { return std::move(why()); }

private:
    T& held() noexcept {
        assert(has_value_);
        return value_;
    }
    tollgate::error& why() noexcept {
        assert(!has_value_);
        return why_;
    }

    union {
        T value_;
        tollgate::error why_;
    };
    bool has_value_;
};

/// Done, or the problem that kept it from being done.
template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() = default;
    result(tollgate::error why) noexcept : why_{std::move(why)} {}

    [[nodiscard]] bool has_value() const noexcept { return !why_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    /// Precondition: !has_value().
    [[nodiscard]] tollgate::error& error() & noexcept { return *why_; }
    [[nodiscard]] const tollgate::error& error() const& noexcept { return *why_; }
    [[nodiscard]] tollgate::error&& error() && noexcept { return std::move(*why_); }

private:
    std::optional<tollgate::error> why_;
};

}  // namespace tollgate
