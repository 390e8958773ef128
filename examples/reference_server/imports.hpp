#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// `token import` and `hook import`: records of an older system, as one JSON object per line.
namespace reference {

// Bounds of a file.
inline constexpr std::size_t import_line_bytes_max = 16 * 1024;  // a target of 2048 bytes, each of them escaped as \u0061
inline constexpr std::size_t import_lines_max = 100'000;         // a few hundred MB of memory; a larger file can be split

/// A record, and the number of its line.
template <class Row>
struct import_line {
    std::size_t number;
    Row row;
};

/// Collects what is wrong with a file, so that an operator sees more than one fault at a time. No message contains a value of a line.
class import_faults {
public:
    void add(std::size_t line, std::string_view sentence);
    /// Throws a `run_error` that names the first lines, if there is a fault.
    void throw_if_any() const;

private:
    std::string text_;
    std::size_t count_ = 0;
};

/// The lines of a file, or of stdin for `-`. What cannot be read as a record is added to `faults`. A record without `created_at` is of
/// `now`. Throws `run_error` if the file cannot be read or is over the bounds.
[[nodiscard]] std::vector<import_line<tollgate::new_personal_token>> read_token_import(const std::filesystem::path& file,
                                                                                       const tollgate::service_catalog& services,
                                                                                       tollgate::instant now, import_faults& faults);
[[nodiscard]] std::vector<import_line<tollgate::new_hook>> read_hook_import(const std::filesystem::path& file, tollgate::instant now,
                                                                            import_faults& faults);

}  // namespace reference
