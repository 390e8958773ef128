#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/http/fields.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/webhooks/dispatcher_settings.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace asio {
class any_io_executor;
}

namespace tollgate::inline v0::webhooks {

/// The store and the policies, as a desk sees them. Nothing throws. `allows` is called by whoever runs the client, the
/// others by the desk's own thread.
class desk_back {
public:
    desk_back() = default;
    desk_back(const desk_back&) = delete;
    desk_back& operator=(const desk_back&) = delete;

    virtual result<claimed_deliveries> claim_due(const claim_terms& terms) noexcept = 0;
    virtual result<std::vector<settle_result>> settle(std::span<const settlement> ended, instant now) noexcept = 0;
    virtual result<std::size_t> sweep(instant ended_before, std::size_t rows_max) noexcept = 0;
    /// Whether the store can tell cheaply that somebody has appended, and whether somebody may have since the last
    /// claim.
    virtual bool tells_changes() noexcept = 0;
    virtual bool may_have_more() noexcept = 0;

    virtual result<void> write(const due_delivery& sent, instant now, http::field_block& fields,
                                std::string& body) noexcept = 0;
    virtual result<void> check(const http::url& target) noexcept = 0;
    virtual bool allows(const ip_address& address) noexcept = 0;
    virtual instant now() noexcept = 0;
    virtual std::uint32_t chance() noexcept = 0;
    virtual void on_attempt(const delivery_record& record) noexcept = 0;
    virtual void on_problem(const error& why) noexcept = 0;

protected:
    ~desk_back() = default;
};

/// Takes deliveries out of the store as there are hands for them, has the client send them, and records what came of
/// each.
///
/// One thread of its own talks to the store, which may block; sockets belong to the client's executor, where nothing
/// blocks. What has ended is settled in batches: all that came while the one before was being settled.
class delivery_desk {
public:
    /// `guest_of` null: a thread of its own for sockets, too.
    TOLLGATE_DECL delivery_desk(desk_back& back, hook_dispatch_settings settings,
                                const asio::any_io_executor* guest_of);
    delivery_desk(const delivery_desk&) = delete;
    delivery_desk& operator=(const delivery_desk&) = delete;
    TOLLGATE_DECL ~delivery_desk();

    TOLLGATE_DECL result<void> start();
    TOLLGATE_DECL void stop(milliseconds deadline);
    TOLLGATE_DECL void wake() noexcept;

private:
    class core;
    std::unique_ptr<core> core_;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/delivery_desk.ipp>
#endif
