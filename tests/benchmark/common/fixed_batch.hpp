#pragma once

#include "fixed_answer.hpp"

#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace benchmark {

/// The minimum that an HTTP/1.1 server without bodies must do: find the end of each request, and respond to all requests of
/// one read with one write. Shared by the raw epoll server and the plain Asio one, so that they differ in I/O only.
class fixed_batch {
public:
    [[nodiscard]] char* free_space() noexcept { return received_.data() + size_; }
    [[nodiscard]] std::size_t free_bytes() const noexcept { return received_.size() - size_; }

    /// Takes `count` bytes written to `free_space()`; returns what to send, of static storage, or nothing.
    std::string_view answer(std::size_t count) noexcept {
        size_ += count;
        std::size_t begin = 0;
        std::size_t requests = 0;
        const std::string_view received{received_.data(), size_};
        for (auto end = received.find("\r\n\r\n"); end != received.npos; end = received.find("\r\n\r\n", begin)) {
            begin = end + 4;
            ++requests;
        }
        size_ -= begin;
        if (size_ != 0 && begin != 0) std::memmove(received_.data(), received_.data() + begin, size_);
        return messages(requests);
    }

private:
    static constexpr std::size_t received_bytes_max = 8 * 1024;
    static constexpr std::size_t shortest_request_bytes = 18;  // "GET / HTTP/1.1", two line ends

    static std::string_view messages(std::size_t count) {
        static const std::string all = [] {
            std::string text;
            for (std::size_t i = 0; i < received_bytes_max / shortest_request_bytes + 1; ++i) text += message;
            return text;
        }();
        return {all.data(), count * message.size()};
    }

    std::array<char, received_bytes_max> received_;
    std::size_t size_ = 0;
};

}  // namespace benchmark
