#pragma once

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
    std::string message;  ///< with file and line
};

[[noreturn]] inline void fail(std::string_view what, const std::source_location& at) {
    throw failed{std::string{at.file_name()} + ":" + std::to_string(at.line()) + ": " + std::string{what}};
}

inline void expect(bool holds, std::string_view what,
                   const std::source_location& at = std::source_location::current()) {
    if (!holds) fail(what, at);
}

/// The value of a result, which must be a success.
template <class T>
T value_of(result<T> given, const std::source_location& at = std::source_location::current()) {
    if (!given) fail("an unexpected problem: " + given.error().message + " (" + given.error().cause + ")", at);
    if constexpr (!std::is_void_v<T>) return *std::move(given);
}

/// The value that was looked up, which must exist.
template <class T>
T found_of(result<std::optional<T>> given, const std::source_location& at = std::source_location::current()) {
    auto found = value_of(std::move(given), at);
    if (!found) fail("it was not found", at);
    return *std::move(found);
}

/// Requires a refusal of this kind.
template <class T>
void expect_error(const result<T>& given, error_kind kind,
                    const std::source_location& at = std::source_location::current()) {
    if (given) fail("a problem was expected", at);
    if (given.error().kind != kind) fail("a problem of another kind was expected: " + given.error().message, at);
    if (given.error().message.empty()) fail("a problem says what is wrong", at);
}

}  // namespace tollgate::testing
