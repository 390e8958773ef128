#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/domain/delivery.hpp>
#include <tollgate/http/url.hpp>

#include <chrono>
#include <cstdint>
#include <list>
#include <string>

namespace tollgate::dispatching {

/// A request that is to be sent. `number` is its sender's name for it.
struct outgoing {
    std::uint64_t number = 0;
    http::url target;
    std::string fields;  ///< lines, each with its CRLF, but those that are the client's
    std::string body;
    /// When its sender must have heard of it: it is cut short, or not begun, rather than being late.
    std::chrono::steady_clock::time_point done_by = (std::chrono::steady_clock::time_point::max)();
};

/// What came of it.
struct incoming {
    std::uint64_t number = 0;
    bool tried = true;      ///< false: nothing can be said of the receiver, who has not been asked
    bool shortage = false;  ///< not tried, since this machine has run out of something (descriptors, ports, memory)
    bool cut_off = false;   ///< tried, but told to stop before there was an answer
    attempt_end end = attempt_end::answered;
    unsigned status = 0;
    std::string answer{};
    std::string retry_after{};
    std::string why{};  ///< for the operator
    milliseconds duration{};
};

/// Lists, since what has come must be told even when there is no memory.
using incoming_list = std::list<incoming>;

/// Whom the client works for. Called on the client's executor; after `hook_client::abort` has returned it may still be,
/// until the executor has run what is left.
class client_owner {
public:
    client_owner() = default;
    client_owner(const client_owner&) = delete;
    client_owner& operator=(const client_owner&) = delete;

    /// Whether a connection may be made to this address.
    [[nodiscard]] virtual bool allows(const ip_address& address) noexcept = 0;
    virtual void on_ended(incoming_list ended) noexcept = 0;

protected:
    ~client_owner() = default;
};

}  // namespace tollgate::dispatching
