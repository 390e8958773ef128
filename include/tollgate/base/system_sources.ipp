#pragma once
#ifndef TOLLGATE_BASE_SYSTEM_SOURCES_IPP
#define TOLLGATE_BASE_SYSTEM_SOURCES_IPP

#include <tollgate/base/system_sources.hpp>

#include <openssl/rand.h>

#include <climits>

namespace tollgate::inline v0 {

TOLLGATE_DECL bool system_random::fill(std::span<std::byte> bytes) const noexcept {
    if (bytes.size() > INT_MAX) return false;
    return RAND_priv_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) == 1;
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_SYSTEM_SOURCES_IPP
