#pragma once

#include <tollgate/base/result.hpp>

#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0::testing {

/// Thrown inside a case, and caught where the case is run.
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

/// The value that a verb gave, which must have succeeded.
template <class T>
T value_of(result<T> given, const std::source_location& at = std::source_location::current()) {
    if (!given) fail("an unexpected problem: " + given.error().message + " (" + given.error().cause + ")", at);
    if constexpr (!std::is_void_v<T>) return *std::move(given);
}

/// What a verb found, which must be there.
template <class T>
T found_of(result<std::optional<T>> given, const std::source_location& at = std::source_location::current()) {
    auto found = value_of(std::move(given), at);
    if (!found) fail("it was not found", at);
    return *std::move(found);
}

/// The verb must have refused, in this way.
template <class T>
void expect_error(const result<T>& given, error_kind kind,
                    const std::source_location& at = std::source_location::current()) {
    if (given) fail("a problem was expected", at);
    if (given.error().kind != kind) fail("a problem of another kind was expected: " + given.error().message, at);
    if (given.error().message.empty()) fail("a problem says what is wrong", at);
}

}  // namespace tollgate::testing
