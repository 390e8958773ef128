#pragma once

#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/webhooks/detail/delivery_desk.hpp>
#include <tollgate/webhooks/dispatcher_settings.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// Delivers webhooks: takes due deliveries out of the store's outbox, posts them, and records what came of each.
///
///     tollgate::hook_dispatcher dispatcher{store};
///     if (const auto started = dispatcher.start(); !started) ...
///     tollgate::publish(dispatcher, ...);   // an event that is sent at once
///     dispatcher.stop();
///
/// Of the policies it uses the format, the target rule, the clock, the random source, and the observer, which hears of
/// each attempt if it is a `delivery_observer`. Store and policies must outlive it.
///
/// It has two threads, or is a guest on an Asio executor and has one: the store, which may block, is always talked to
/// by a thread of its own. Names are looked up on a few more. Several dispatchers, of several processes too, may work
/// on one store. Everything but construction and destruction may be called from any thread at any time; a policy that
/// it calls may stop it, but not destroy it.
template <outbox Store, class Policies = decltype(default_policies())>
class hook_dispatcher {
public:
    /// An event sink blocks as its store does.
    static constexpr bool blocking = [] {
        if constexpr (requires { Store::blocking; }) return static_cast<bool>(Store::blocking);
        else return false;
    }();

    /// Starts nothing yet. The store outlives it.
    explicit hook_dispatcher(Store& store, hook_dispatch_settings settings = {}, Policies policies = default_policies())
        : back_{store, std::move(policies)}, desk_{back_, std::move(settings), nullptr} {}

    /// A guest on `executor`, which any number of threads may run, and whose context must outlive the dispatcher.
    hook_dispatcher(const asio::any_io_executor& executor, Store& store, hook_dispatch_settings settings = {},
                    Policies policies = default_policies())
        : back_{store, std::move(policies)}, desk_{back_, std::move(settings), &executor} {}

    hook_dispatcher(const hook_dispatcher&) = delete;
    hook_dispatcher& operator=(const hook_dispatcher&) = delete;

    /// Stops without waiting for attempts, but for a call of the store that is under way.
    ~hook_dispatcher() = default;

    /// Begins. A problem says which setting will not do. It starts once, and not after it was stopped.
    result<void> start() { return desk_.start(); }

    /// Claims nothing more, lets attempts that are under way end and records them, and returns; after `deadline` cuts
    /// off what is left: that is on record if its request had left, and due again at once, for whoever works on the
    /// store then. The default is as long as an attempt may take. From within a policy it begins all this and returns at
    /// once. To stop again does no harm.
    void stop(milliseconds deadline = seconds{15}) { desk_.stop(deadline); }

    /// There may be something to deliver: look at once.
    void wake() noexcept { desk_.wake(); }

    /// The store's verb, and `wake`: who reports events to a dispatcher need not wait for it to look.
    result<std::size_t> append_event(const event& happened, const message_seed& seed, instant now) {
        auto appended = back_.store.append_event(happened, seed, now);
        if (appended && *appended != 0) wake();
        return appended;
    }

private:
    class back final : public webhooks::desk_back {
    public:
        back(Store& of, Policies all) : store{of}, policies_{std::move(all)} {}

        result<claimed_deliveries> claim_due(const claim_terms& terms) noexcept override {
            if constexpr (shared) seen_ = store.changes_seen();
            return guarded<claimed_deliveries>([&] { return store.claim_due(terms); });
        }
        result<std::vector<settle_result>> settle(std::span<const settlement> ended, instant now) noexcept override {
            return guarded<std::vector<settle_result>>([&] { return store.settle(ended, now); });
        }
        result<std::size_t> sweep(instant ended_before, std::size_t rows_max) noexcept override {
            return guarded<std::size_t>([&] { return store.sweep_deliveries(ended_before, rows_max); });
        }
        bool tells_changes() noexcept override { return shared; }
        bool may_have_more() noexcept override {
            if constexpr (shared) return !seen_ || store.changes_seen() != seen_;
            else return true;
        }

        result<void> write(const due_delivery& sent, instant at, http::field_block& fields,
                            std::string& body) noexcept override {
            return guarded<void>([&] { return policy(policies_.format).write(sent, at, fields, body); });
        }
        result<void> check(const http::url& target) noexcept override {
            return guarded<void>([&] { return policy(policies_.target_rule).check(target); });
        }
        bool allows(const ip_address& address) noexcept override {
            return policy(policies_.target_rule).allows(address);
        }
        instant now() noexcept override { return policy(policies_.clock).now(); }
        std::uint32_t chance() noexcept override {
            std::array<std::byte, sizeof(std::uint32_t)> bytes;
            std::uint32_t made = 0x8000'0000;  // without randomness there is no jitter
            if (!policy(policies_.random).fill(bytes)) return made;
            std::memcpy(&made, bytes.data(), sizeof made);
            return made;
        }
        void on_attempt(const delivery_record& record) noexcept override {
            if constexpr (delivery_observer<policy_type<decltype(policies_.observer)>>)
                policy(policies_.observer).on_attempt(record);
        }
        void on_problem(const error& why) noexcept override { policy(policies_.observer).on_problem(why); }

        Store& store;

    private:
        static constexpr bool shared = shared_outbox<Store>;

        template <class T, class Call>
        static result<T> guarded(Call call) noexcept {
            try {
                return call();
            } catch (const std::exception& thrown) {
                return internal_error(std::string{"thrown at the dispatcher: "} + thrown.what());
            } catch (...) {
                return internal_error("something was thrown at the dispatcher");
            }
        }

        Policies policies_;
        std::optional<std::uint64_t> seen_;  // before the last claim
    };

    back back_;
    webhooks::delivery_desk desk_;
};

}  // namespace tollgate
