#pragma once

#include <tollgate/base/result.hpp>

#include <nlohmann/json_fwd.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// How commands end: with a line on stdout, or with an error.
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

/// The object on one line, with a space after each comma and colon: the output of every command, and the ready
/// line.
[[nodiscard]] std::string to_line(const nlohmann::ordered_json& object);

/// Writes the line to stdout immediately, also to a pipe. Throws `run_error` if that fails.
void print_line(const nlohmann::ordered_json& object);

/// One line to stderr; line ends and control characters in the text are escaped.
void complain(std::string_view sentence) noexcept;

}  // namespace reference
