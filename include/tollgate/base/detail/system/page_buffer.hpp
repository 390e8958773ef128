#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_PAGE_BUFFER_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_PAGE_BUFFER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/system/windows.hpp>

#include <cstddef>
#include <new>
#include <utility>

#if !defined(TOLLGATE_SYSTEM_WINDOWS)
#include <sys/mman.h>
#endif

namespace tollgate::inline v0::detail {

/// Memory in whole pages from the system, returned as soon as it is released. A heap would keep the peak of thousands
/// of connections, because long-lived small allocations lie between their buffers.
class page_buffer {
public:
    page_buffer() noexcept = default;
    /// At least `bytes`; throws `std::bad_alloc`.
    explicit page_buffer(std::size_t bytes) : data_{static_cast<char*>(allocate(bytes))}, bytes_{rounded(bytes)} {}
    page_buffer(page_buffer&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
    page_buffer& operator=(page_buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~page_buffer() {
        if (data_ != nullptr) release(data_, bytes_);
    }

    [[nodiscard]] char* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

#if defined(TOLLGATE_SYSTEM_WINDOWS)
    static void* allocate(std::size_t bytes) {
        void* const data = ::VirtualAlloc(nullptr, rounded(bytes), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
        if (data == nullptr) throw std::bad_alloc{};
        return data;
    }
    static void release(void* data, std::size_t) noexcept { ::VirtualFree(data, 0, MEM_RELEASE); }
#else
    static void* allocate(std::size_t bytes) {
        void* const data = ::mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) throw std::bad_alloc{};
        return data;
    }
    static void release(void* data, std::size_t bytes) noexcept { ::munmap(data, rounded(bytes)); }
#endif

private:
    static constexpr std::size_t page_bytes = 4096;  // the smallest page; larger pages waste more at the end
    static constexpr std::size_t rounded(std::size_t bytes) noexcept {
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    }

    char* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_PAGE_BUFFER_HPP
