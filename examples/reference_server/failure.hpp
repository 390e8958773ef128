#pragma once

#include <tollgate/base/result.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace reference {

/// What ends a command early: a sentence for the person who typed it, and the exit code that scripts go by.
class failure : public std::runtime_error {
public:
    [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

protected:
    failure(int exit_code, const std::string& sentence) : std::runtime_error{sentence}, exit_code_{exit_code} {}

private:
    int exit_code_;
};

/// The command line or the configuration says something that cannot be meant. The sentence begins with the flag or the
/// key.
struct usage_error : failure {
    explicit usage_error(const std::string& sentence) : failure{2, sentence} {}
};

/// All was meant well, and yet it did not work: no such user, a disk that is full, a port that is taken.
struct run_error : failure {
    explicit run_error(const std::string& sentence) : failure{1, sentence} {}
};

/// The value, or a `run_error` with the cause that only the operator is told.
template <class T>
T expect(tollgate::result<T> got, const std::string& what) {
    if (!got) throw run_error{what + ": " + (got.error().cause.empty() ? got.error().message : got.error().cause)};
    if constexpr (!std::is_void_v<T>) return *std::move(got);
}

}  // namespace reference
