#pragma once
#ifndef TOLLGATE_BASE_DETAIL_WOULD_BLOCK_HPP
#define TOLLGATE_BASE_DETAIL_WOULD_BLOCK_HPP

#include <cerrno>

namespace tollgate::inline v0::detail {

/// Returns true if `error`, of a non-blocking call, means that it would block: there are two names, with the same number on most systems.
[[nodiscard]] inline bool would_block(int error) noexcept {
#if EAGAIN != EWOULDBLOCK
    if (error == EWOULDBLOCK) return true;
#endif
    return error == EAGAIN;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_WOULD_BLOCK_HPP
