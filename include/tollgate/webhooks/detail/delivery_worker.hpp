#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_WORKER_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_WORKER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/any_io_executor.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/webhooks/hook_dispatch_settings.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tollgate::inline v0::webhooks {

/// The store and the policies that a worker uses. Never throws. `allows` is called on the client's executor, everything
/// else on the worker's own thread.
class worker_environment {
public:
    worker_environment() = default;
    worker_environment(const worker_environment&) = delete;
    worker_environment& operator=(const worker_environment&) = delete;

    virtual result<due_hook_page> list_due_hooks(instant now, std::size_t rows_max) noexcept = 0;
    virtual result<std::vector<due_delivery>> lease(std::span<const lease_request> requests,
                                                    const lease_time& lease) noexcept = 0;
    virtual result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept = 0;
    virtual result<std::size_t> sweep(instant ended_before, std::size_t rows_max) noexcept = 0;
    /// Each returns true: if the store can detect cheaply that something was appended, and if that may have happened since the
    /// last listing.
    virtual bool tells_changes() noexcept = 0;
    virtual bool may_have_changed() noexcept = 0;

    virtual result<void> write(const due_delivery& sent, instant now, http::field_block& fields,
                               std::string& body) noexcept = 0;
    virtual result<void> check(const http::url& target) noexcept = 0;
    virtual bool allows(const ip_address& address) noexcept = 0;
    virtual instant now() noexcept = 0;
    virtual std::uint32_t chance() noexcept = 0;
    virtual void on_attempt(const delivery_record& record) noexcept = 0;
    virtual void on_problem(const error& failure) noexcept = 0;

protected:
    ~worker_environment() = default;
};

/// Carries out the decisions of a `delivery_scheduler`. Its own thread calls the store, which may block; sockets belong
/// to the client's executor, where nothing blocks.
class delivery_worker {
public:
    /// If `executor` is null, the worker runs the client on one more thread.
    TOLLGATE_DECL delivery_worker(worker_environment& environment, hook_dispatch_settings settings,
                                  const asio::any_io_executor* executor);
    delivery_worker(const delivery_worker&) = delete;
    delivery_worker& operator=(const delivery_worker&) = delete;
    TOLLGATE_DECL ~delivery_worker();

    TOLLGATE_DECL result<void> start();
    TOLLGATE_DECL void stop(std::optional<milliseconds> deadline);
    TOLLGATE_DECL void wake() noexcept;
    [[nodiscard]] TOLLGATE_DECL result<void> reload_authorities() noexcept;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/delivery_worker.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_WORKER_HPP
