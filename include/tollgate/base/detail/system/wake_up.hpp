#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_WAKE_UP_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_WAKE_UP_HPP

#include <tollgate/base/detail/system/sockets.hpp>

#include <utility>

namespace tollgate::inline v0::detail {

/// Ends the wait of another thread in `poll_sockets`, which includes `descriptor`. Once only: it is never reset.
class wake_up {
public:
    wake_up() noexcept = default;
    wake_up(const wake_up&) = delete;
    wake_up& operator=(const wake_up&) = delete;

#if defined(TOLLGATE_SYSTEM_WINDOWS)
    [[nodiscard]] bool open() noexcept { return false; }  // only sockets can be waited for
    void wake() noexcept {}
#else
    ~wake_up() {
        if (reading_ != no_socket) ::close(reading_);
        if (writing_ != no_socket) ::close(writing_);
    }

    /// False if no descriptor is left.
    [[nodiscard]] bool open() noexcept {
        int ends[2] = {no_socket, no_socket};
#if defined(TOLLGATE_SYSTEM_LINUX)
        if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
#else
        if (::pipe(ends) != 0) return false;
#endif
        reading_ = ends[0];
        writing_ = ends[1];
#if !defined(TOLLGATE_SYSTEM_LINUX)
        if (!make_non_blocking(reading_) || !make_non_blocking(writing_)) return false;
#endif
        return true;
    }
    void wake() noexcept {
        const char once = 0;
        [[maybe_unused]] const auto written = ::write(writing_, &once, 1);
    }
#endif

    [[nodiscard]] native_socket descriptor() const noexcept { return reading_; }

private:
    native_socket reading_ = no_socket;
    native_socket writing_ = no_socket;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_WAKE_UP_HPP
