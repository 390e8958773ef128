#pragma once
#ifndef TOLLGATE_BASE_DETAIL_THREAD_MARK_HPP
#define TOLLGATE_BASE_DETAIL_THREAD_MARK_HPP

#include <utility>

namespace tollgate::inline v0::detail {

/// Marks the calling thread as executing something of an owner, so that the owner's `stop` does not wait for its own thread.
template <class Owner>
class thread_mark {
public:
    explicit thread_mark(const Owner& owner) noexcept : before_{std::exchange(current(), &owner)} {}
    thread_mark(const thread_mark&) = delete;
    thread_mark& operator=(const thread_mark&) = delete;
    ~thread_mark() { current() = before_; }

    [[nodiscard]] static bool is_set_for(const Owner& owner) noexcept { return current() == &owner; }

private:
    static const Owner*& current() noexcept {
        static thread_local const Owner* one = nullptr;
        return one;
    }

    const Owner* const before_;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_THREAD_MARK_HPP
