#pragma once

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace tollgate::inline v0::server_detail {

/// Memory in whole pages, straight from the system and back to it. A heap would keep what thousands of connections once
/// needed at the same time, because small things that live longer lie between their buffers.
class page_block {
public:
    page_block() noexcept = default;
    /// At least `bytes`; throws `std::bad_alloc`.
    explicit page_block(std::size_t bytes) : data_{static_cast<char*>(take(bytes))}, bytes_{rounded(bytes)} {}
    page_block(page_block&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
    page_block& operator=(page_block&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~page_block() {
        if (data_ != nullptr) give(data_, bytes_);
    }

    [[nodiscard]] char* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

    static TOLLGATE_DECL void* take(std::size_t bytes);
    static TOLLGATE_DECL void give(void* data, std::size_t bytes) noexcept;

private:
    static constexpr std::size_t page_bytes = 4096;  // larger pages only waste what lies behind the last byte
    static constexpr std::size_t rounded(std::size_t bytes) noexcept {
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    }

    char* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/page_block.ipp>
#endif
