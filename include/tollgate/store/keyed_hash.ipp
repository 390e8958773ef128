#pragma once

#include <tollgate/store/keyed_hash.hpp>

#include <random>

namespace tollgate {

TOLLGATE_DECL keyed_hash::keyed_hash() {
    std::random_device system;
    for (std::uint64_t& key : keys_) key = std::uint64_t{system()} << 32 | system();
}

}  // namespace tollgate
