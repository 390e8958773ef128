#pragma once

#include <span>

namespace CLI {
class App;
}

namespace reference {

/// Throws `usage_error` if a word is no flag of its command, if a flag that may be given once is given twice, or if a flag has
/// no value: it is the last word, its value is empty, or another flag follows it. CLI11 would take the other flag as the
/// value, and then run a wrong command or report the wrong word. An empty description is a value. `texts` begin after the
/// program's name.
void expect_flags(const CLI::App& app, std::span<const char* const> texts);

}  // namespace reference
