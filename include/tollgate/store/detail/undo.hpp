#pragma once
#ifndef TOLLGATE_STORE_DETAIL_UNDO_HPP
#define TOLLGATE_STORE_DETAIL_UNDO_HPP

#include <utility>

namespace tollgate::inline v0::detail {

/// Reverts a step at the end of the scope unless `keep` was called: when a verb runs out of memory, its earlier steps
/// must not remain visible.
template <class Undo>
class undo_unless_kept {
public:
    explicit undo_unless_kept(Undo undo) noexcept : undo_{std::move(undo)} {}
    undo_unless_kept(const undo_unless_kept&) = delete;
    undo_unless_kept& operator=(const undo_unless_kept&) = delete;
    ~undo_unless_kept() {
        if (!kept_) undo_();
    }

    void keep() noexcept { kept_ = true; }

private:
    Undo undo_;
    bool kept_ = false;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_STORE_DETAIL_UNDO_HPP
