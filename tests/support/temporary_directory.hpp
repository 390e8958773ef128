#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h>
#include <unistd.h>

namespace tollgate_test {

/// A directory that is removed at the end of the scope. It is in memory where possible: otherwise a test of a database would
/// spend its time on thousands of commits that wait for a disk.
class temporary_directory {
public:
    temporary_directory() : path_{(parent() / "tollgate-test-XXXXXX").string()} {
        if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error{"no temporary directory: " + path_};
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    ~temporary_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    static std::filesystem::path parent() {
        const std::filesystem::path in_memory = "/dev/shm";
        return ::access(in_memory.c_str(), W_OK) == 0 ? in_memory : std::filesystem::temp_directory_path();
    }

    std::string path_;
};

}  // namespace tollgate_test
