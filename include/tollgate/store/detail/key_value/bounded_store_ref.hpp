#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_BOUNDED_STORE_REF_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_BOUNDED_STORE_REF_HPP

#include <tollgate/contract/key_value_store.hpp>
#include <tollgate/store/memory_settings.hpp>

#include <optional>

namespace tollgate::inline v0::key_value_detail {

/// A database, and the bounds of the rows in it, if any.
class bounded_store_ref : public key_value_store_ref {
public:
    bounded_store_ref(key_value_store_ref database, const std::optional<memory_settings>& bounds)
        : key_value_store_ref{database}, bounds_{bounds} {}

    /// Null without bounds.
    [[nodiscard]] const memory_settings* bounds() const noexcept { return bounds_ ? &*bounds_ : nullptr; }

private:
    std::optional<memory_settings> bounds_;
};

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_BOUNDED_STORE_REF_HPP
