#pragma once

#include <span>

namespace CLI {
class App;
}

namespace reference {

/// Throws `usage_error` if a flag has no value: another flag follows it, or nothing follows `=`. CLI11 would take the other
/// flag as the value, and then run a wrong command or report the wrong word. CLI11 reports all other errors in `texts`, which
/// begin after the program's name.
void expect_flag_values(const CLI::App& app, std::span<const char* const> texts);

}  // namespace reference
