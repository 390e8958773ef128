#pragma once

#include "settings.hpp"

#include <filesystem>
#include <vector>

namespace reference {

/// The flags that a JSON object in a file sets: its keys are the flags' names without the dashes. Throws `usage_error`
/// for a file that cannot be read or is not such an object, a key that is unknown or repeated, and a value of another
/// type.
[[nodiscard]] std::vector<given_flag> read_config_file(const std::filesystem::path& file);

}  // namespace reference
