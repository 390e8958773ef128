#pragma once

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace tollgate_test {

/// Collects what the process prints to stderr from construction until `text()`.
class captured_stderr {
public:
    captured_stderr() : file_{std::tmpfile()}, stderr_{::dup(number)} {
        std::fflush(stderr);
        if (file_ == nullptr || stderr_ < 0 || ::dup2(::fileno(file_), number) < 0)
            throw std::runtime_error{"cannot redirect stderr"};
    }
    captured_stderr(const captured_stderr&) = delete;
    captured_stderr& operator=(const captured_stderr&) = delete;
    ~captured_stderr() {
        restore();
        std::fclose(file_);
    }

    [[nodiscard]] std::string text() {
        restore();
        std::string all;
        std::rewind(file_);
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all.push_back(static_cast<char>(c));
        return all;
    }

private:
    static constexpr int number = 2;  // of the descriptor

    void restore() {
        if (stderr_ < 0) return;
        std::fflush(stderr);
        ::dup2(stderr_, number);
        ::close(stderr_);
        stderr_ = -1;
    }

    std::FILE* file_;
    int stderr_;
};

}  // namespace tollgate_test
