#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/domain/account.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace tollgate {

/// Something that happened to an account, as an integrator reports it.
struct event {
    account_ref account;
    std::string name;  ///< one of its service's events
    std::string data;  ///< one JSON value of any kind, at most limits::event_data_bytes_max
    instant at;        ///< when it happened
};

/// 16 random bytes that one event is reported with: what the `webhook-id` of each of its deliveries is made of.
using message_seed = std::array<std::byte, 16>;

}  // namespace tollgate
