#pragma once

#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tollgate_test {

/// A directory that is removed at the end of the scope. It is in memory where possible: otherwise a test of a database would
/// spend its time on thousands of commits that wait for a disk.
class temporary_directory {
public:
    temporary_directory() {
        std::random_device random;
        for (int tries = 0; tries < 10; ++tries) {
            const auto path = parent() / ("tollgate-test-" + std::to_string(random()));
            if (!std::filesystem::create_directory(path)) continue;  // it exists
            std::filesystem::permissions(path, std::filesystem::perms::owner_all);
            path_ = path.generic_string();
            return;
        }
        throw std::runtime_error{"no temporary directory"};
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
        return std::filesystem::is_directory(in_memory) ? in_memory : std::filesystem::temp_directory_path();
    }

    std::string path_;
};

}  // namespace tollgate_test
