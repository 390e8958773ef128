#pragma once

#include <tollgate/base/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// What export and import have in common.
namespace reference {

inline constexpr std::string_view transfer_format = "tollgate-records";
inline constexpr int transfer_version = 1;  // of the types and members

/// A record's line is shorter: the longest text in it, an event's data of 256 KiB, takes at most twice as much in JSON.
inline constexpr std::size_t line_bytes_max = std::size_t{1} << 20;

/// Reads a file line by line, in constant memory; also a pipe.
class line_reader {
public:
    /// Throws `run_error`.
    explicit line_reader(const std::filesystem::path& file);
    line_reader(const line_reader&) = delete;
    line_reader& operator=(const line_reader&) = delete;
    ~line_reader();

    /// The next line without its end, valid until the next call; none at the end of the file. Throws `run_error` for a line that is longer
    /// than `line_bytes_max` or has no end.
    [[nodiscard]] std::optional<std::string_view> next();
    /// The number of the line that `next` returned last, from 1 on.
    [[nodiscard]] std::int64_t number() const noexcept { return number_; }
    /// Throws a `run_error` that names a line.
    [[noreturn]] void refuse(std::int64_t line, const std::string& sentence) const;

private:
    std::string name_;
    int descriptor_;
    std::string buffer_;
    std::size_t begin_ = 0;  // in the buffer, of the next line
    std::int64_t number_ = 0;
};

/// Tells on stderr how far a long run is.
class progress {
public:
    static constexpr std::chrono::seconds told_every{2};
    using steady = std::chrono::steady_clock;

    /// `done`: "exported".
    progress(std::string_view done, steady::time_point now) : done_{done}, told_at_{now} {}
    void count(std::int64_t records, steady::time_point now);

private:
    std::string_view done_;
    steady::time_point told_at_;
};

}  // namespace reference
