#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/domain/delivery.hpp>
#include <tollgate/http/url.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tollgate::dispatching {

/// A request that is to be sent. `number` is its sender's name for it.
struct outgoing {
    std::uint64_t number = 0;
    http::url target;
    std::string fields;  ///< lines, each with its CRLF, but those that are the client's
    std::string body;
};

/// What came of it.
struct incoming {
    std::uint64_t number = 0;
    bool tried = true;  ///< false: this machine could not (no descriptor, no port), or was told to stop
    attempt_end end = attempt_end::answered;
    unsigned status = 0;
    std::string answer{};
    std::string retry_after{};
    std::string why{};  ///< for the operator
    milliseconds duration{};
};

/// Whom the client works for. Called on the client's executor; after `hook_client::abort` has returned it may still be,
/// until the executor has run what is left.
class client_owner {
public:
    client_owner() = default;
    client_owner(const client_owner&) = delete;
    client_owner& operator=(const client_owner&) = delete;

    /// Whether a connection may be made to this address.
    [[nodiscard]] virtual bool allows(const ip_address& address) noexcept = 0;
    virtual void on_ended(std::vector<incoming> ended) noexcept = 0;

protected:
    ~client_owner() = default;
};

}  // namespace tollgate::dispatching
