#include "transfer_file.hpp"

#include "output.hpp"
#include "text_values.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace reference {

line_reader::line_reader(const std::filesystem::path& file) : name_{to_quotable(file.string())}, descriptor_{-1} {
    descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw run_error{"--from: cannot read '" + name_ + "': " + std::strerror(errno) + "."};
}

line_reader::~line_reader() { ::close(descriptor_); }

std::optional<std::string_view> line_reader::next() {
    constexpr std::size_t piece_bytes = 64 * 1024;
    ++number_;
    for (std::size_t searched = begin_;;) {
        const auto end = buffer_.find('\n', searched);
        if (end != std::string::npos && end - begin_ <= line_bytes_max) {
            const auto line = std::string_view{buffer_}.substr(begin_, end - begin_);
            begin_ = end + 1;
            return line;
        }
        if (end != std::string::npos || buffer_.size() - begin_ > line_bytes_max)
            refuse(number_, "it is longer than " + std::to_string(line_bytes_max) + " bytes.");
        buffer_.erase(0, std::exchange(begin_, 0));
        searched = buffer_.size();
        buffer_.resize(searched + piece_bytes);
        const auto count = ::read(descriptor_, buffer_.data() + searched, piece_bytes);
        buffer_.resize(searched + static_cast<std::size_t>(count > 0 ? count : 0));
        if (count < 0 && errno != EINTR) throw run_error{"--from: cannot read '" + name_ + "': " + std::strerror(errno) + "."};
        if (count == 0 && buffer_.empty()) return std::nullopt;
        if (count == 0) refuse(number_, "it has no end: the file was cut off.");
    }
}

void line_reader::refuse(std::int64_t line, const std::string& sentence) const {
    throw run_error{"--from: '" + name_ + "', line " + std::to_string(line) + ": " + sentence};
}

void progress::count(std::int64_t records, steady::time_point now) {
    if (now - told_at_ < told_every) return;
    told_at_ = now;
    complain(std::string{done_} + " " + std::to_string(records) + " records so far.");
}

}  // namespace reference
