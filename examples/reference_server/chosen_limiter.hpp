#pragma once

#include "request_log.hpp"
#include "settings.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/monitoring/metrics.hpp>

#include <memory>
#include <optional>

namespace reference {

/// The limiter that `--limits` chooses: windows in this process, or in Redis, shared with other nodes. It is one type, so that
/// the handlers are compiled once. With windows in this process it costs one comparison and does not block.
class chosen_limiter {
public:
    static constexpr bool blocking = true;

    /// Connects to Redis at once, so that the log says whether it is reachable; the server starts in either case. The
    /// log must outlive it. Throws `usage_error` if the authorities cannot be read.
    chosen_limiter(const settings& settings, const request_log& log);
    chosen_limiter(const chosen_limiter&) = delete;
    chosen_limiter& operator=(const chosen_limiter&) = delete;
    ~chosen_limiter();

    [[nodiscard]] bool may_block() const noexcept { return shared_ != nullptr; }
    /// Tests Redis with one count. Error: unavailable if it does not respond, or cannot count.
    [[nodiscard]] tollgate::result<void> check();
    /// Reads the certificate authorities of Redis again. Error: they cannot be used; the former ones remain.
    [[nodiscard]] tollgate::result<void> reload_authorities() noexcept;
    /// Statistics of the calls to Redis.
    [[nodiscard]] tollgate::backend_statistics statistics() const noexcept;
    /// Empty if this requires a call to Redis.
    [[nodiscard]] std::optional<tollgate::limit_decision> try_take(const tollgate::limit_key& key, const tollgate::quota& allowed,
                                                            tollgate::instant now) noexcept;
    [[nodiscard]] std::optional<tollgate::limit_decision> try_peek(const tollgate::limit_key& key, const tollgate::quota& allowed,
                                                            tollgate::instant now) noexcept;

    [[nodiscard]] tollgate::limit_decision take(const tollgate::limit_key& key, const tollgate::quota& allowed,
                                         tollgate::instant now) noexcept {
        return shared_ == nullptr ? here_->take(key, allowed, now) : take_shared(key, allowed, now);
    }
    [[nodiscard]] tollgate::limit_decision peek(const tollgate::limit_key& key, const tollgate::quota& allowed,
                                         tollgate::instant now) noexcept {
        return shared_ == nullptr ? here_->peek(key, allowed, now) : peek_shared(key, allowed, now);
    }

private:
    struct shared_windows;
    tollgate::limit_decision take_shared(const tollgate::limit_key& key, const tollgate::quota& allowed,
                                  tollgate::instant now) noexcept;
    tollgate::limit_decision peek_shared(const tollgate::limit_key& key, const tollgate::quota& allowed,
                                  tollgate::instant now) noexcept;

    std::unique_ptr<shared_windows> shared_;
    std::optional<tollgate::window_limiter> here_;
};

static_assert(tollgate::rate_limiter<chosen_limiter>);

}  // namespace reference
