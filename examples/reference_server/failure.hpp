#pragma once

#include <tollgate/base/result.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace reference {

/// Ends a command with an error: a sentence for the user, and the exit code.
class failure : public std::runtime_error {
public:
    [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

protected:
    failure(int exit_code, const std::string& sentence) : std::runtime_error{sentence}, exit_code_{exit_code} {}

private:
    int exit_code_;
};

/// The command line or the configuration is invalid. The sentence begins with the flag or the key.
struct usage_error : failure {
    explicit usage_error(const std::string& sentence) : failure{2, sentence} {}
};

/// A failure at run time: no such user, a full disk, a port in use.
struct run_error : failure {
    explicit run_error(const std::string& sentence) : failure{1, sentence} {}
};

/// The value, or a `run_error` with what the error tells the operator.
template <class T>
T expect(tollgate::result<T> result, const std::string& message) {
    if (!result) throw run_error{message + ": " + result.error().log_text()};
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace reference
