#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/domain/delivery.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace tollgate {

TOLLGATE_DECL public_id message_id_of(const message_seed& seed, hook_id to) {
    // Keyed by the seed: from one id nobody can tell those of the same event's other deliveries.
    const std::string message = "webhook-id " + std::to_string(to.value());
    const digest mixed = hmac_sha256({{reinterpret_cast<const char*>(seed.data()), seed.size()}, message});
    std::array<std::byte, 16> chosen;
    std::memcpy(chosen.data(), mixed.bytes().data(), chosen.size());
    return make_public_id(public_id_kind::message, chosen);
}

}  // namespace tollgate
