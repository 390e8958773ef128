#pragma once
#ifndef TOLLGATE_BASE_RESULT_HPP
#define TOLLGATE_BASE_RESULT_HPP

#include <tollgate/base/time.hpp>

#include <cassert>
#include <concepts>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

/// The kind of a failure. The pipeline maps it to a status: 4xx for errors of the client, 5xx for errors of the server.
enum class error_kind {
    malformed,     ///< syntax error in the request: 400
    unauthorized,  ///< credentials are missing or wrong: 401
    forbidden,     ///< the caller is known but not allowed: 403
    not_found,     ///< does not exist, or is not visible to the caller: 404
    invalid,       ///< valid syntax with an unacceptable value: 422
    conflict,      ///< contradicts stored data: 409
    too_many_requests,  ///< beyond a limit of the endpoint; the client may retry at `error::retry_at`: 429
    unavailable,   ///< a dependency is down, is too slow or refuses access; the client may retry: 503
    internal,      ///< a defect of the server: 500
};

/// A failure. `message` is sent to the client. `cause` is for the operator (the observer receives it) and may name files, statements or
/// addresses. A cause is complete, because operators read it without the message. Neither text may contain a secret.
struct error {
    error_kind kind = error_kind::internal;
    std::string message;
    std::string cause;
    instant retry_at{};  ///< only for `too_many_requests`
    std::string scope{};  ///< only for `forbidden`: the scope that the token lacks, which the response names (RFC 6750); may be empty

    /// Returns the text for logs and stderr: the cause, or the message if there is no cause. Do not send it to clients.
    [[nodiscard]] const std::string& log_text() const noexcept { return cause.empty() ? message : cause; }

    friend bool operator==(const error&, const error&) = default;
};

// Not inlined: errors are rare, and many functions return several.

/// Returns the error for a dependency that is down, is too slow or refuses access: 503. `cause` is for the operator; the client gets a
/// general message.
[[nodiscard, gnu::noinline, gnu::cold]] inline error unavailable(std::string cause) {
    return {error_kind::unavailable, "The service is temporarily unavailable. Try again in a moment.", std::move(cause)};
}

/// Returns the error for a defect of this program: 500. `cause` is for the operator; the client gets a general message.
[[nodiscard, gnu::noinline, gnu::cold]] inline error internal_error(std::string cause) {
    return {error_kind::internal, "Internal server error.", std::move(cause)};
}

/// Returns the internal error for an exception. Its cause is `where`, a colon and `what`, or "an exception" if there is no memory for that
/// text.
[[nodiscard, gnu::noinline, gnu::cold]] inline error exception_error(std::string_view where, std::string_view what) noexcept {
    try {
        return internal_error(std::string{where}.append(": ").append(what));
    } catch (...) {
        return {error_kind::internal, {}, "an exception"};  // short enough to be stored without allocating
    }
}

/// Returns the internal error for a random source that fails.
[[nodiscard, gnu::noinline, gnu::cold]] inline error random_source_error() { return internal_error("the random source failed"); }

/// Each returns an error of its kind for a request of a client. The message is part of the response.
[[nodiscard, gnu::noinline]] inline error invalid(std::string message) { return {error_kind::invalid, std::move(message), {}}; }
[[nodiscard, gnu::noinline]] inline error malformed(std::string message) { return {error_kind::malformed, std::move(message), {}}; }

/// Returns the error for an exceeded limit of an endpoint: 429 with a `Retry-After` that ends at `retry_at`.
[[nodiscard]] inline error too_many_requests(instant retry_at,
                                             std::string message = "Too many requests. Wait for as long as Retry-After says.") {
    return {error_kind::too_many_requests, std::move(message), {}, retry_at};
}

/// Returns the error for a token whose scopes do not cover `scope`: 403. The response names the scope, so that the application can ask the
/// user for it (RFC 6750 section 3.1).
[[nodiscard, gnu::noinline]] inline error insufficient_scope(std::string scope) {
    return {error_kind::forbidden, "The token's scopes do not cover this request; see the WWW-Authenticate header.", {}, {},
            std::move(scope)};
}

/// Returns the error for objects that do not exist and for objects of other users. Both get the same text, so that clients cannot
/// distinguish them.
[[nodiscard, gnu::noinline]] inline error not_found() { return {error_kind::not_found, "Not Found", {}}; }

/// Prints `failure.log_text()` to stderr as one line and returns the exit code 1, for the end of `main`.
///
///     auto store = sqlite_store::open("tollgate.db");
///     if (!store) return report(store.error());
inline int report(const error& failure) noexcept {
    std::fprintf(stderr, "tollgate: %s\n", failure.log_text().c_str());
    return 1;
}

/// The exception of `result::value()` for an error, like std::bad_expected_access. `what()` is the error's `log_text()`.
class bad_result_access : public std::logic_error {
public:
    /// Constructs the exception for a result that holds `failure`.
    explicit bad_result_access(tollgate::error failure)
        : std::logic_error{failure.log_text()}, error_{std::move(failure)} {}

    /// Returns the error of the result.
    [[nodiscard]] tollgate::error& error() & noexcept { return error_; }
    [[nodiscard]] const tollgate::error& error() const& noexcept { return error_; }
    [[nodiscard]] tollgate::error&& error() && noexcept { return std::move(error_); }

private:
    tollgate::error error_;
};

template <class T>
class result;

namespace base_detail {

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;

// Shared by `and_then` and the other monadic operations for every value category; `self` is forwarded to `f`.

/// Returns `f(value)`, or `f()` if `Self` is a `result<void>`.
template <class Self, class F>
decltype(auto) call_with_value(Self&& self, F&& f) {
    if constexpr (std::is_void_v<typename std::remove_cvref_t<Self>::value_type>) return std::forward<F>(f)();
    else return std::forward<F>(f)(*std::forward<Self>(self));
}

template <class Self, class F>
auto and_then(Self&& self, F&& f) {
    using next = std::remove_cvref_t<decltype(call_with_value(std::forward<Self>(self), std::forward<F>(f)))>;
    static_assert(is_result<next>, "tollgate: the function given to and_then returns a result<T>");
    return self.has_value() ? next(call_with_value(std::forward<Self>(self), std::forward<F>(f))) : next(std::forward<Self>(self).error());
}

template <class Self, class F>
auto transform(Self&& self, F&& f) {
    using next = result<std::remove_cv_t<decltype(call_with_value(std::forward<Self>(self), std::forward<F>(f)))>>;
    if (!self.has_value()) return next(std::forward<Self>(self).error());
    if constexpr (std::is_void_v<typename next::value_type>) {
        call_with_value(std::forward<Self>(self), std::forward<F>(f));
        return next{};
    } else {
        return next{std::in_place, call_with_value(std::forward<Self>(self), std::forward<F>(f))};
    }
}

template <class Self, class F>
auto or_else(Self&& self, F&& f) -> std::remove_cvref_t<Self> {
    using returned = std::remove_cvref_t<std::invoke_result_t<F, decltype(std::forward<Self>(self).error())>>;
    static_assert(std::is_same_v<returned, std::remove_cvref_t<Self>>,
                  "tollgate: the function given to or_else returns a result of the same type");
    if (self.has_value()) return std::forward<Self>(self);
    return std::forward<F>(f)(std::forward<Self>(self).error());
}

template <class Self, class F>
auto transform_error(Self&& self, F&& f) -> std::remove_cvref_t<Self> {
    if (self.has_value()) return std::forward<Self>(self);
    return std::remove_cvref_t<Self>{tollgate::error(std::forward<F>(f)(std::forward<Self>(self).error()))};
}

}  // namespace base_detail

/// A value or an error. The class has the interface of C++23's `std::expected<T, tollgate::error>`, except that an `error` converts to it
/// without `std::unexpected`. Every function of a contract that can fail returns a result, and none throws.
///
///     result<balance> found = users.balance_of(user);
///     if (!found) return found.error();
///     use(found->amount);
///
/// Moves never throw, so an assignment leaves the old value or the new one. Objects are not thread-safe.
///
/// The implementation is a union rather than std::variant: a program instantiates dozens of results, and variants took a tenth of its
/// compile time.
template <class T>
class [[nodiscard]] result {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "tollgate: a result holds an object");
    static_assert(!std::is_same_v<T, tollgate::error>, "tollgate: the value of a result is not an error; use result<void>");
    static_assert(std::is_nothrow_move_constructible_v<T>, "tollgate: the value of a result moves without throwing");

public:
    /// The types that std::expected has (C++23, [expected.object]).
    using value_type = T;
    using error_type = tollgate::error;

    result()
        requires std::default_initializable<T>
        : value_{}, has_value_{true} {}
    /// Constructs a result with `value`; without an argument, with a default-constructed value.
    result(T value) noexcept : value_(std::move(value)), has_value_{true} {}  // braces would prefer a list of one value
    /// Constructs a result with an error.
    result(tollgate::error failure) noexcept : error_{std::move(failure)}, has_value_{false} {}
    /// Converts a value of a type that converts to T, or a result of such a type.
    template <class U>
        requires(!std::is_same_v<std::remove_cvref_t<U>, T> && !std::is_same_v<std::remove_cvref_t<U>, tollgate::error> &&
                 !base_detail::is_result<std::remove_cvref_t<U>> && std::convertible_to<U, T>)
    result(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) : value_(std::forward<U>(value)), has_value_{true} {}
    template <class U>
        requires(!std::is_same_v<U, T> && std::convertible_to<U, T>)
    result(result<U> other) : has_value_{other.has_value()} {
        if (has_value_) std::construct_at(std::addressof(value_), *std::move(other));
        else std::construct_at(std::addressof(error_), std::move(other).error());
    }
    template <class... Args>
        requires std::constructible_from<T, Args...>
    explicit result(std::in_place_t, Args&&... args) : value_(std::forward<Args>(args)...), has_value_{true} {}

    /// Copies or moves the value or the error.
    result(result&& other) noexcept : has_value_{other.has_value_} {
        if (has_value_) std::construct_at(std::addressof(value_), std::move(other.value_));
        else std::construct_at(std::addressof(error_), std::move(other.error_));
    }
    result(const result& other)
        requires std::copy_constructible<T>
        : has_value_{other.has_value_} {
        if (has_value_) std::construct_at(std::addressof(value_), other.value_);
        else std::construct_at(std::addressof(error_), other.error_);
    }
    /// Replaces the value or the error.
    result& operator=(result&& other) noexcept {
        if (this == &other) return *this;
        std::destroy_at(this);
        return *std::construct_at(this, std::move(other));
    }
    result& operator=(const result& other)
        requires std::copy_constructible<T>
    {
        return *this = result{other};
    }
    ~result() {
        if (has_value_) std::destroy_at(std::addressof(value_));
        else std::destroy_at(std::addressof(error_));
    }

    /// Replaces the content with a value constructed from `args` and returns that value. If the constructor throws, nothing changes.
    template <class... Args>
        requires std::constructible_from<T, Args...>
    T& emplace(Args&&... args) {
        *this = result{std::in_place, std::forward<Args>(args)...};
        return value_;
    }
    void swap(result& other) noexcept { std::swap(*this, other); }
    friend void swap(result& a, result& b) noexcept { a.swap(b); }

    /// Returns true if the result holds a value.
    [[nodiscard]] bool has_value() const noexcept { return has_value_; }
    explicit operator bool() const noexcept { return has_value_; }

    /// Returns the value. Precondition: has_value().
    [[nodiscard]] T& operator*() & noexcept { return assert(has_value_), value_; }
    [[nodiscard]] const T& operator*() const& noexcept { return assert(has_value_), value_; }
    [[nodiscard]] T&& operator*() && noexcept { return assert(has_value_), std::move(value_); }
    [[nodiscard]] const T&& operator*() const&& noexcept { return assert(has_value_), std::move(value_); }
    [[nodiscard]] T* operator->() noexcept { return assert(has_value_), std::addressof(value_); }
    [[nodiscard]] const T* operator->() const noexcept { return assert(has_value_), std::addressof(value_); }

    /// Returns the value. Throws bad_result_access if the result holds an error.
    T& value() & { return check(), value_; }
    const T& value() const& { return check(), value_; }
    T&& value() && { return check(), std::move(value_); }
    const T&& value() const&& { return check(), std::move(value_); }

    /// Returns the error. Precondition: !has_value().
    [[nodiscard]] tollgate::error& error() & noexcept { return assert(!has_value_), error_; }
    [[nodiscard]] const tollgate::error& error() const& noexcept { return assert(!has_value_), error_; }
    [[nodiscard]] tollgate::error&& error() && noexcept { return assert(!has_value_), std::move(error_); }
    [[nodiscard]] const tollgate::error&& error() const&& noexcept { return assert(!has_value_), std::move(error_); }

    /// Returns the value, or `otherwise` if the result holds an error.
    template <class U = T>
    [[nodiscard]] T value_or(U&& otherwise) const& {
        return has_value_ ? value_ : static_cast<T>(std::forward<U>(otherwise));
    }
    template <class U = T>
    [[nodiscard]] T value_or(U&& otherwise) && {
        return has_value_ ? std::move(value_) : static_cast<T>(std::forward<U>(otherwise));
    }
    /// Returns the error, or `otherwise` if the result holds a value.
    [[nodiscard]] tollgate::error error_or(tollgate::error otherwise) const& { return has_value_ ? std::move(otherwise) : error_; }
    [[nodiscard]] tollgate::error error_or(tollgate::error otherwise) && {
        return has_value_ ? std::move(otherwise) : std::move(error_);
    }

    /// Returns `f(value)`, which is a result, or this error.
    template <class F>
    auto and_then(F&& f) & { return base_detail::and_then(*this, std::forward<F>(f)); }
    template <class F>
    auto and_then(F&& f) const& { return base_detail::and_then(*this, std::forward<F>(f)); }
    template <class F>
    auto and_then(F&& f) && { return base_detail::and_then(std::move(*this), std::forward<F>(f)); }

    /// Returns a result with the value `f(value)`, or with this error.
    template <class F>
    auto transform(F&& f) & { return base_detail::transform(*this, std::forward<F>(f)); }
    template <class F>
    auto transform(F&& f) const& { return base_detail::transform(*this, std::forward<F>(f)); }
    template <class F>
    auto transform(F&& f) && { return base_detail::transform(std::move(*this), std::forward<F>(f)); }

    /// Returns this value, or `f(error)`, which is a result of the same type.
    template <class F>
    result or_else(F&& f) const& { return base_detail::or_else(*this, std::forward<F>(f)); }
    template <class F>
    result or_else(F&& f) && { return base_detail::or_else(std::move(*this), std::forward<F>(f)); }

    /// Returns this value, or a result with the error `f(error)`.
    template <class F>
    result transform_error(F&& f) const& { return base_detail::transform_error(*this, std::forward<F>(f)); }
    template <class F>
    result transform_error(F&& f) && { return base_detail::transform_error(std::move(*this), std::forward<F>(f)); }

private:
    void check() const {
        if (!has_value_) throw bad_result_access{error_};
    }

    union {
        T value_;
        tollgate::error error_;
    };
    bool has_value_;
};

/// Success or an error.
template <>
class [[nodiscard]] result<void> {
public:
    /// The types that std::expected has (C++23, [expected.void]).
    using value_type = void;
    using error_type = tollgate::error;

    result() noexcept;
    /// Constructs a result with an error.
    result(tollgate::error failure) noexcept : error_{std::move(failure)} {}
    explicit result(std::in_place_t) noexcept {}

    /// Changes the result to success.
    void emplace() noexcept { error_.reset(); }
    void swap(result& other) noexcept { std::swap(*this, other); }
    friend void swap(result& a, result& b) noexcept { a.swap(b); }

    /// Returns true for a success.
    [[nodiscard]] bool has_value() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    /// Does nothing. Precondition: has_value().
    void operator*() const noexcept { assert(has_value()); }

    /// Throws bad_result_access if the result holds an error.
    void value() const {
        if (error_) throw bad_result_access{*error_};
    }

    /// Returns the error. Precondition: !has_value().
    [[nodiscard]] tollgate::error& error() & noexcept { return assert(!has_value()), *error_; }
    [[nodiscard]] const tollgate::error& error() const& noexcept { return assert(!has_value()), *error_; }
    [[nodiscard]] tollgate::error&& error() && noexcept { return assert(!has_value()), *std::move(error_); }
    [[nodiscard]] const tollgate::error&& error() const&& noexcept { return assert(!has_value()), *std::move(error_); }

    /// Returns the error, or `otherwise` for a success.
    [[nodiscard]] tollgate::error error_or(tollgate::error otherwise) const& { return error_ ? *error_ : std::move(otherwise); }
    [[nodiscard]] tollgate::error error_or(tollgate::error otherwise) && {
        return error_ ? *std::move(error_) : std::move(otherwise);
    }

    /// These functions do what they do for a result with a value, but `f` takes no argument.
    template <class F>
    auto and_then(F&& f) const& { return base_detail::and_then(*this, std::forward<F>(f)); }
    template <class F>
    auto and_then(F&& f) && { return base_detail::and_then(std::move(*this), std::forward<F>(f)); }
    template <class F>
    auto transform(F&& f) const& { return base_detail::transform(*this, std::forward<F>(f)); }
    template <class F>
    auto transform(F&& f) && { return base_detail::transform(std::move(*this), std::forward<F>(f)); }
    template <class F>
    result or_else(F&& f) const& { return base_detail::or_else(*this, std::forward<F>(f)); }
    template <class F>
    result or_else(F&& f) && { return base_detail::or_else(std::move(*this), std::forward<F>(f)); }
    template <class F>
    result transform_error(F&& f) const& { return base_detail::transform_error(*this, std::forward<F>(f)); }
    template <class F>
    result transform_error(F&& f) && { return base_detail::transform_error(std::move(*this), std::forward<F>(f)); }

private:
    std::optional<tollgate::error> error_;
};
// Defined outside of the class, because `return {}` would otherwise first fill the space of the error with zeros.
inline result<void>::result() noexcept = default;

/// Returns true for equal values and for equal errors.
template <class T, class U>
    requires(std::is_void_v<T> == std::is_void_v<U>)
[[nodiscard]] bool operator==(const result<T>& a, const result<U>& b) {
    if (a.has_value() != b.has_value()) return false;
    if (!a.has_value()) return a.error() == b.error();
    if constexpr (std::is_void_v<T>) return true;
    else return *a == *b;
}

/// Returns true if the result holds a value that equals `value`.
template <class T, class U>
    requires(!std::is_void_v<T> && !base_detail::is_result<U> && !std::is_same_v<U, error>)
[[nodiscard]] bool operator==(const result<T>& a, const U& value) {
    return a.has_value() && static_cast<bool>(*a == value);
}

/// Returns true if the result holds an error that equals `failure`.
template <class T>
[[nodiscard]] bool operator==(const result<T>& a, const error& failure) {
    return !a.has_value() && a.error() == failure;
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_RESULT_HPP
