#pragma once
#ifndef TOLLGATE_WEBHOOKS_HOOK_DISPATCHER_HPP
#define TOLLGATE_WEBHOOKS_HOOK_DISPATCHER_HPP

#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/webhooks/detail/delivery_trace.hpp>
#include <tollgate/webhooks/detail/delivery_worker.hpp>
#include <tollgate/webhooks/hook_dispatch_settings.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// Delivers webhooks: leases due deliveries from the store's outbox, posts them, and records the results.
///
///     tollgate::hook_dispatcher dispatcher{store};
///     if (const auto started = dispatcher.start(); !started) ...
///     tollgate::publish(dispatcher, ...);   // an event that is sent at once
///     dispatcher.stop();
///
/// A dispatcher uses the policies for format, target rule, clock, random source and observer; a `delivery_observer` is called for each
/// attempt. The store must outlive the dispatcher. For the webhooks of an `account_service`, share its policies:
///
///     tollgate::hook_dispatcher dispatcher{store, {}, service.policies()};
///
/// A dispatcher has two threads, or one if sockets run on your Asio executor: the store, which may block, is always called on the
/// dispatcher's own thread. Names are looked up on a few more threads. Several dispatchers, even in several processes, may work on the same
/// store. Every function except construction and destruction may be called from any thread at any time. A policy that the dispatcher calls
/// may stop it, but not destroy it.
class hook_dispatcher {
public:
    /// Constructs a dispatcher and starts nothing. The store must outlive it.
    explicit hook_dispatcher(outbox_ref store, hook_dispatch_settings settings = {}, tollgate::policies policies = default_policies())
        : environment_{store, std::move(policies)}, worker_{environment_, std::move(settings), nullptr} {}

    /// Constructs a dispatcher whose sockets run on `executor`, which any number of threads may run and whose context must outlive the
    /// dispatcher. `stop` then waits for attempts that the executor completes: call it on a thread that does not run the executor, while
    /// another thread does. With `tollgate::compiled`, include `<asio/any_io_executor.hpp>`, too.
    hook_dispatcher(const asio::any_io_executor& executor, outbox_ref store, hook_dispatch_settings settings = {},
                    tollgate::policies policies = default_policies())
        : environment_{store, std::move(policies)}, worker_{environment_, std::move(settings), &executor} {}

    hook_dispatcher(const hook_dispatcher&) = delete;
    hook_dispatcher& operator=(const hook_dispatcher&) = delete;

    /// Returns true if publishing to the dispatcher may block, as the store does.
    [[nodiscard]] bool may_block() const noexcept { return environment_.store.may_block(); }

    /// Stops without waiting for attempts, except for a store call in progress.
    ~hook_dispatcher() = default;

    /// Starts the threads. An error names the invalid setting. May be called once, and not after `stop`.
    result<void> start() { return worker_.start(); }

    /// Leases no more deliveries, lets attempts end, records them, and returns. After `deadline`, the remaining attempts are cut off: those
    /// already sent are recorded, and all their deliveries are due again at once for the next dispatcher. If the last call of the store
    /// failed, the store is not called again, and the deliveries are due again when their lease ends. The default deadline is the time that
    /// an attempt may take (`hook_client_settings::attempt_timeout`). If a policy calls `stop`, it returns at once, and the dispatcher
    /// stops in the background. May be called repeatedly.
    void stop(std::optional<milliseconds> deadline = {}) { worker_.stop(deadline); }

    /// Checks for due deliveries at once.
    void wake() noexcept { worker_.wake(); }

    /// Reads the certificate authorities again: those of the system, or of `hook_client_settings::authorities_file`. They apply to
    /// connections that are made from now on; those that are in use remain, at most for `connection_age_max`. Before `start` and after
    /// `stop`, does nothing. Error (invalid), and nothing changes: the authorities cannot be used.
    [[nodiscard]] result<void> reload_authorities() noexcept { return worker_.reload_authorities(); }

    /// Appends to the store and wakes the dispatcher, so that the event is sent at once.
    result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now) {
        auto appended = environment_.store.append_event(reported, seed, now);
        if (appended && *appended != 0) wake();
        return appended;
    }

private:
    class environment final : public webhooks::worker_environment {
    public:
        environment(const outbox_ref& used_store, tollgate::policies all) : store{used_store}, policies_{std::move(all)} {}

        result<due_hook_page> list_due_hooks(instant now, std::size_t rows_max) noexcept override {
            if (store.tells_changes()) changes_seen_ = store.changes_seen();
            return guarded<due_hook_page>([&] { return store.due_hooks(now, rows_max); });
        }
        result<std::vector<due_delivery>> lease(std::span<const lease_request> requests,
                                                const lease_time& lease) noexcept override {
            return guarded<std::vector<due_delivery>>([&] { return store.lease(requests, lease); });
        }
        result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept override {
            return guarded<std::vector<completion>>([&] { return store.complete(ended, now); });
        }
        result<std::size_t> sweep(instant ended_before, std::size_t rows_max) noexcept override {
            return guarded<std::size_t>([&] { return store.sweep({.deliveries_ended_before = ended_before, .rows_max = rows_max}); });
        }
        bool tells_changes() noexcept override { return store.tells_changes(); }
        bool may_have_changed() noexcept override {
            return !store.tells_changes() || !changes_seen_ || store.changes_seen() != changes_seen_;
        }

        result<void> write(const due_delivery& sent, instant at, http::field_block& fields,
                            std::string& body) noexcept override {
            return guarded<void>([&] { return policies_.format().write(sent, at, fields, body); });
        }
        result<void> check(const http::url& target) noexcept override {
            return guarded<void>([&] { return policies_.target_rule().check(target); });
        }
        bool allows(const ip_address& address) noexcept override {
            return policies_.target_rule().allows(address);
        }
        instant now() noexcept override { return policies_.clock().now(); }
        std::uint32_t chance() noexcept override {
            std::array<std::byte, sizeof(std::uint32_t)> bytes;
            std::uint32_t value = chance_without_jitter;
            if (!policies_.random().fill(bytes)) return value;
            std::memcpy(&value, bytes.data(), sizeof value);
            return value;
        }
        void on_attempt(const delivery_record& record) noexcept override {
            if (policies_.observer().sees_attempts()) {
                try {
                    const auto trace = webhooks::delivery_trace::of(record.delivery);
                    policies_.observer()
                        .on_attempt({record.delivery, record.result, record.completion, record.reason, trace.trace_id, trace.span_id});
                } catch (const std::exception&) {
                    policies_.observer().on_attempt(record);  // memory is short: the attempt without its trace
                }
            }
        }
        void on_problem(const error& failure) noexcept override { policies_.observer().on_problem(failure); }

        outbox_ref store;

    private:
        template <class T, class Call>
        static result<T> guarded(Call call) noexcept {
            try {
                return call();
            } catch (const std::exception& thrown) {
                return exception_error("the store or a policy threw", thrown.what());
            } catch (...) {
                return exception_error("the store or a policy threw", "an unknown exception");
            }
        }

        tollgate::policies policies_;
        std::optional<std::uint64_t> changes_seen_;  // the number before due hooks were last listed
    };

    environment environment_;
    webhooks::delivery_worker worker_;
};

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_HOOK_DISPATCHER_HPP
