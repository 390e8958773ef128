#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_DEADLINE_WHEEL_HPP
#define TOLLGATE_SERVER_DETAIL_DEADLINE_WHEEL_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace tollgate::inline v0::server_detail {

/// The deadlines of many connections on one timer: a wheel of slots, one per tick.
///
/// Nearly every deadline is moved before it is due. Moving one to a later tick is one store: the entry stays in its
/// slot, and the wheel moves it when it reaches that slot. Only an earlier deadline is relinked.
class deadline_wheel {
public:
    class entry {
    public:
        entry() noexcept = default;
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;
        virtual ~entry() = default;

        /// Called by `advance` when the deadline has passed. The entry is no longer armed and may arm itself again.
        virtual void on_deadline() noexcept = 0;

    private:
        friend deadline_wheel;
        entry* previous_ = nullptr;
        entry* next_ = nullptr;
        std::uint64_t due_ = 0;          // the tick of the deadline
        std::uint64_t examined_at_ = 0;  // the tick at which the wheel examines the entry; at most due_
    };

    deadline_wheel() noexcept {
        for (slot& head : slots_) head.previous_ = head.next_ = &head;
    }
    deadline_wheel(const deadline_wheel&) = delete;
    deadline_wheel& operator=(const deadline_wheel&) = delete;

    /// Sets the deadline to `ticks` ticks from now, at least one.
    void arm(entry& one, std::uint64_t ticks) noexcept {
        one.due_ = now_ + (ticks == 0 ? 1 : ticks);
        if (one.next_ == nullptr || one.due_ < one.examined_at_) place(one);
    }

    /// Arms the entry, unless its deadline is earlier anyway.
    void arm_no_later(entry& one, std::uint64_t ticks) noexcept {
        if (one.next_ == nullptr || now_ + ticks < one.due_) arm(one, ticks);
    }

    void disarm(entry& one) noexcept {
        if (one.next_ == nullptr) return;
        unlink(one);
        --armed_;
    }

    /// Advances by one tick: calls `on_deadline` for every entry that is due.
    void advance() noexcept;

    [[nodiscard]] bool empty() const noexcept { return armed_ == 0; }

private:
    struct slot final : entry {
        void on_deadline() noexcept override {}
    };
    static constexpr std::size_t slot_count = 256;  // at 250 ms per tick more than the longest default, 60 s

    void place(entry& one) noexcept;
    static void unlink(entry& one) noexcept {
        one.previous_->next_ = one.next_;
        one.next_->previous_ = one.previous_;
        one.previous_ = one.next_ = nullptr;
    }

    std::uint64_t now_ = 0;
    std::size_t armed_ = 0;
    std::array<slot, slot_count> slots_;
};

inline void deadline_wheel::place(entry& one) noexcept {
    if (one.next_ != nullptr) unlink(one);
    else ++armed_;
    const std::uint64_t horizon = now_ + slot_count - 1;
    one.examined_at_ = one.due_ < horizon ? one.due_ : horizon;
    slot& head = slots_[one.examined_at_ % slot_count];
    one.previous_ = head.previous_;
    one.next_ = &head;
    head.previous_->next_ = &one;
    head.previous_ = &one;
}

inline void deadline_wheel::advance() noexcept {
    ++now_;
    slot& head = slots_[now_ % slot_count];
    // Entries armed meanwhile go to other slots, so this ends; a call may also remove other entries from the list.
    while (head.next_ != &head) {
        entry& one = *head.next_;
        if (one.due_ > now_) {
            place(one);
            continue;
        }
        unlink(one);
        --armed_;
        one.on_deadline();
    }
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_DEADLINE_WHEEL_HPP
