#pragma once

#include "expect.hpp"
#include "handler_settings.hpp"
#include "request_log.hpp"

#include <tollgate/contract/outbox.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <functional>
#include <utility>

namespace reference {

/// Delivers the webhooks of a store for as long as the server runs.
template <class Store, class Clock>
class hook_worker {
    static auto make_policies(const settings& with, const Clock& clock, request_log& log) {
        return tollgate::default_policies()
            .with_clock(clock)
            .with_observer(std::ref(log))
            .with_target_rule(to_target_rule(with));
    }
    using policies =
        decltype(make_policies(std::declval<settings>(), std::declval<Clock>(), std::declval<request_log&>()));

public:
    hook_worker(Store& store, const settings& with, const Clock& clock, request_log& log)
        : dispatcher_{store, to_dispatch_settings(with), make_policies(with, clock, log)} {}

    /// Throws `run_error`.
    void start() { expect(dispatcher_.start(), "cannot deliver webhooks"); }
    void stop(tollgate::milliseconds patience) { dispatcher_.stop(patience); }

private:
    tollgate::hook_dispatcher<Store, policies> dispatcher_;
};

}  // namespace reference
