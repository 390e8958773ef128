#pragma once

#include <concepts>
#include <cstddef>
#include <span>

namespace tollgate::inline v0 {

/// Provides unpredictable random bytes. Every secret is made from them.
///
/// Exemplar:
///
///     struct only_for_tests {
///         bool fill(std::span<std::byte> bytes) const noexcept {
///             for (std::byte& each : bytes) each = std::byte{7};
///             return true;
///         }
///     };
template <class R>
concept random_source = requires(const R& r, std::span<std::byte> bytes) {
    // Fills `bytes` completely, or returns false: then the request fails with 500 and no weak secret is created. Called
    // from many threads at once.
    // threads at once.
    { r.fill(bytes) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate
