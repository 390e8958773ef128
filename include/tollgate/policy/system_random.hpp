#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/random_source.hpp>

namespace tollgate {

/// OpenSSL's generator for secrets, seeded by the operating system.
struct system_random {
    [[nodiscard]] TOLLGATE_DECL bool fill(std::span<std::byte> bytes) const noexcept;
};

static_assert(random_source<system_random>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/system_random.ipp>
#endif
