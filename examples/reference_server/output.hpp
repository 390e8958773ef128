#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace reference {

/// The object on one line, with a space behind each comma and colon: what every command prints to stdout, and the ready
/// line.
[[nodiscard]] std::string to_line(const nlohmann::ordered_json& object);

/// Writes the line to stdout now, also if that is a pipe. Throws `run_error` when nobody can read it.
void print_line(const nlohmann::ordered_json& object);

/// One line to stderr, whatever is in the text.
void complain(std::string_view sentence) noexcept;

}  // namespace reference
