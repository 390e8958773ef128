#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_EXPECT_HPP
#define TOLLGATE_TESTING_DETAIL_EXPECT_HPP

#include <tollgate/base/result.hpp>

#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0::testing {

/// Thrown inside a case and caught by `test_case::run`.
struct failed {
    std::string message;  ///< the message, with file and line
};

[[noreturn]] inline void fail(std::string_view message, const std::source_location& at) {
    throw failed{std::string{at.file_name()} + ":" + std::to_string(at.line()) + ": " + std::string{message}};
}

inline void expect(bool holds, std::string_view message,
                   const std::source_location& at = std::source_location::current()) {
    if (!holds) fail(message, at);
}

[[nodiscard]] inline std::string_view to_text(error_kind kind) noexcept {
    switch (kind) {
        case error_kind::malformed: return "malformed";
        case error_kind::unauthorized: return "unauthorized";
        case error_kind::forbidden: return "forbidden";
        case error_kind::not_found: return "not_found";
        case error_kind::invalid: return "invalid";
        case error_kind::conflict: return "conflict";
        case error_kind::too_many_requests: return "too_many_requests";
        case error_kind::unavailable: return "unavailable";
        case error_kind::internal: break;
    }
    return "internal";
}

/// `conflict: The username is taken. (UNIQUE constraint failed)`
[[nodiscard]] inline std::string describe(const error& failure) {
    auto text = std::string{to_text(failure.kind)} + ": " + failure.message;
    return failure.cause.empty() ? text : text + " (" + failure.cause + ")";
}

/// The value of a result, which must be a success.
template <class T>
T value_of(result<T> actual, const std::source_location& at = std::source_location::current()) {
    if (!actual) fail("this must succeed, but the store returned " + describe(actual.error()), at);
    if constexpr (!std::is_void_v<T>) return *std::move(actual);
}

/// The value that was looked up, which must exist.
template <class T>
T found_of(result<std::optional<T>> actual, const std::source_location& at = std::source_location::current()) {
    auto found = value_of(std::move(actual), at);
    if (!found) fail("the store must find what was stored before, but returned an empty optional", at);
    return *std::move(found);
}

/// Requires that the verb returns true, or 1; `reason` says why it must.
template <class T>
void expect_true(const result<T>& actual, std::string_view reason,
                        const std::source_location& at = std::source_location::current()) {
    if (value_of(actual, at) != T{1}) fail("must return true: " + std::string{reason}, at);
}

/// Requires that the verb returns false, or 0, without an error.
template <class T>
void expect_false(const result<T>& actual, std::string_view reason,
                         const std::source_location& at = std::source_location::current()) {
    if (value_of(actual, at) != T{}) fail("must return false: " + std::string{reason}, at);
}

/// Requires that the verb finds nothing, without an error.
template <class T>
void expect_nothing(const result<std::optional<T>>& actual, std::string_view reason,
                    const std::source_location& at = std::source_location::current()) {
    if (value_of(actual, at)) fail("must return an empty optional: " + std::string{reason}, at);
}

/// Requires that the verb refuses with an error of this kind.
template <class T>
void expect_error(std::string_view verb, const result<T>& actual, error_kind kind,
                  const std::source_location& at = std::source_location::current()) {
    const auto expected = std::string{verb} + " must fail with " + std::string{to_text(kind)} + ", but ";
    if (actual) fail(expected + "succeeded", at);
    if (actual.error().kind != kind) fail(expected + "failed with " + describe(actual.error()), at);
    if (actual.error().message.empty()) fail(expected + "its error has no message for the client", at);
}

/// Checks an error of a call that the line itself names.
template <class T>
void expect_error(const result<T>& actual, error_kind kind, const std::source_location& at = std::source_location::current()) {
    expect_error("the call", actual, kind, at);
}

/// Returns true if the verb succeeded. It must not fail with an error of another kind.
template <class T>
[[nodiscard]] bool succeeds_unless(error_kind allowed, std::string_view verb, const result<T>& actual,
                                   const std::source_location& at = std::source_location::current()) {
    if (!actual) expect_error(verb, actual, allowed, at);
    return actual.has_value();
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_EXPECT_HPP
