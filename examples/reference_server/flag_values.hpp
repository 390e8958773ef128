#pragma once

#include <span>

namespace CLI {
class App;
}

namespace reference {

/// Throws `usage_error` where a flag has no value of its own: another flag comes in its place, or nothing behind `=`.
/// CLI11 would take the other flag for the value, do something that nobody asked for, or complain about an innocent word.
/// What else is wrong with `texts`, which begin behind the program's name, is for CLI11 to say.
void expect_flag_values(const CLI::App& app, std::span<const char* const> texts);

}  // namespace reference
