#pragma once

#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/outbox.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::test {

/// Creates and completes deliveries without sending anything: an outbox worker with the given results.
template <class Store>
struct told_worker {
    Store& store;
    instant& now;
    std::uint8_t events = 0;

    /// Publishes an event; returns the number of its hooks.
    std::size_t report(const account_ref& account, std::string name) {
        message_seed seed{};
        seed[0] = std::byte{++events};
        const auto appended = store.append_event({account, std::move(name), "{}", now}, seed, now);
        return appended ? *appended : 0;
    }

    /// Completes every due delivery with this outcome; returns how many there were.
    std::size_t send(attempt result, delivery_outcome outcome, std::optional<instant> disable_if_failing_since = {}) {
        const auto page = store.due_hooks(now, 1000);
        if (!page) return 0;
        std::vector<lease_request> requests;
        for (const due_hook& each : page->hooks) requests.push_back({each.hook, 100, 100, now});
        const auto leased = store.lease(requests, {now, now + seconds{60}});
        if (!leased) return 0;
        result.at = now;
        std::vector<attempt_result> ended;
        for (const due_delivery& each : *leased)
            ended.push_back({.lease = each.lease,
                             .attempt = result,
                             .outcome = outcome,
                             .retry_at = now + seconds{300},
                             .disable_if_failing_since = disable_if_failing_since});
        return store.complete(ended, now) ? ended.size() : 0;
    }
};

inline attempt answered(unsigned status, std::string response = {}, milliseconds duration = milliseconds{120}) {
    return {.at = {}, .duration = duration, .end = attempt_end::answered, .status = status, .response = std::move(response)};
}

inline attempt ended(attempt_end end) {
    return {.at = {}, .duration = milliseconds{2460}, .end = end, .status = 0, .response = {}};
}

}  // namespace tollgate::test
