#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace reference {

/// The object on one line, with a space after each comma and colon: the output of every command, and the ready
/// line.
[[nodiscard]] std::string to_line(const nlohmann::ordered_json& object);

/// Writes the line to stdout immediately, also to a pipe. Throws `run_error` if that fails.
void print_line(const nlohmann::ordered_json& object);

/// One line to stderr; line ends and control characters in the text are escaped.
void complain(std::string_view sentence) noexcept;

}  // namespace reference
