#pragma once

#include <utility>

namespace tollgate::inline v0::memory {

/// Takes a step back at the end of the scope, unless the steps behind it were made, too: what a verb has done before it
/// ran out of memory is not to be seen.
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

}  // namespace tollgate::memory
