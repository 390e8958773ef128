#pragma once

#include <tollgate/server/detail/page_block.hpp>

#include <sys/mman.h>

#include <new>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL void* page_block::take(std::size_t bytes) {
    void* const data = ::mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc{};
    return data;
}

TOLLGATE_DECL void page_block::give(void* data, std::size_t bytes) noexcept { ::munmap(data, rounded(bytes)); }

}  // namespace tollgate::server_detail
