#pragma once

#include "settings.hpp"
#include "transfer_store.hpp"

#include <cstdint>
#include <filesystem>

/// The records of one store in another: `export` writes a file of JSON lines, and `import` reads it. docs/export.md describes the file.
namespace reference {

/// Writes all records to a new file, and returns their number. Webhook secrets are encrypted with the first key of `--secret-key-file`.
/// Throws `usage_error` if there are some and no key, and `run_error`.
std::int64_t export_records(record_reader& from, const std::filesystem::path& to, const settings& settings);

/// Writes all records of the file into an empty store, or none, and returns their number. Throws `usage_error` if the file has webhook
/// secrets and there is no key, and `run_error`, which names the line that is wrong.
std::int64_t import_records(record_writer& to, const std::filesystem::path& from, const settings& settings);

}  // namespace reference
