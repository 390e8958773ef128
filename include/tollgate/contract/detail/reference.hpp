#pragma once
#ifndef TOLLGATE_CONTRACT_DETAIL_REFERENCE_HPP
#define TOLLGATE_CONTRACT_DETAIL_REFERENCE_HPP

#include <tollgate/base/blocking.hpp>

#include <concepts>
#include <memory>
#include <type_traits>

namespace tollgate::inline v0::detail {

/// The common part of the references of all contracts: a pointer to an object of any class that satisfies the contract, and a table of
/// functions that call its members, one table for each class. A copy refers to the same object, which must outlive it.
template <class Calls>
class reference {
public:
    /// Returns true if the reference refers to an object. Without an object, no function of the contract may be called.
    explicit operator bool() const noexcept { return calls_ != nullptr; }
    /// Returns true if calls may wait for a disk or another machine; see `tollgate::may_block`.
    [[nodiscard]] bool may_block() const noexcept { return may_block_; }
    /// Identifies the object.
    [[nodiscard]] const void* target() const noexcept { return object_; }

protected:
    reference() noexcept = default;

    template <class T>
    void refer_to(T& object, const Calls& calls) noexcept {
        object_ = const_cast<void*>(static_cast<const void*>(std::addressof(object)));  // each function casts it back to T*
        calls_ = &calls;
        may_block_ = tollgate::may_block(object);
    }

    void* object_ = nullptr;
    const Calls* calls_ = nullptr;

private:
    bool may_block_ = false;
};

/// True for a T from which a reference class is constructed by erasing its class, not by copying a reference.
template <class T, class Reference>
concept is_erasable = !std::derived_from<std::remove_cv_t<T>, Reference>;

/// The object that a reference refers to.
template <class T>
[[nodiscard]] T& object_at(void* object) noexcept {
    return *static_cast<T*>(object);
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_CONTRACT_DETAIL_REFERENCE_HPP
