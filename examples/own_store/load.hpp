#pragma once

// Load on a store from several processes, which test.py kills.

#include <tollgate/store/key_value.hpp>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace own_store {

inline const tollgate::account_ref loaded_account{*tollgate::service_name::from("shop"), tollgate::account_id{1}};
inline const tollgate::instant loaded_at = tollgate::from_unix_seconds(1'780'000'000);

/// The only hook of the account, created by the first process.
inline tollgate::hook_id loaded_hook(tollgate::record_store& store) {
    static_cast<void>(store.create_hook({.account = loaded_account,
                                         .event = "counted",
                                         .target_url = "https://shop.example/hook",
                                         .secret = "whsec_x",
                                         .created_at = loaded_at},
                                        1));
    return store.hooks_of(loaded_account).value().front().id;
}

/// Appends the events with the numbers from `first` on, and prints the `webhook-id` of each when it is stored.
inline int append_events(tollgate::record_store& store, std::uint64_t first) {
    const tollgate::hook_id hook = loaded_hook(store);
    for (std::uint64_t number = first;; ++number) {
        tollgate::message_seed seed{};
        std::memcpy(seed.data(), &number, sizeof number);
        const auto appended = store.append_event({loaded_account, "counted", std::to_string(number), loaded_at}, seed, loaded_at);
        if (!appended || *appended != 1) return 1;
        std::cout << tollgate::message_id_of(seed, hook).view() << std::endl;
    }
}

/// Leases and completes deliveries.
inline int deliver(tollgate::record_store& store) {
    const tollgate::lease_request request{loaded_hook(store), 5, 20, loaded_at};
    for (tollgate::instant now = loaded_at;; now += tollgate::seconds{1}) {
        const auto leased = store.lease({&request, 1}, {now, now + tollgate::seconds{30}});
        if (!leased) return 1;
        std::vector<tollgate::attempt_result> ended;
        for (const auto& each : *leased)
            ended.push_back({.lease = each.lease,
                             .attempt = {.at = now, .status = 200},
                             .outcome = tollgate::delivery_outcome::delivered});
        if (!store.complete(ended, now)) return 1;
    }
}

/// Prints `webhook-id` and state of each delivery.
inline int list_events(tollgate::record_store& store) {
    const tollgate::hook_id hook = loaded_hook(store);
    std::optional<tollgate::delivery_id> last;
    for (;;) {
        const auto page = store.deliveries_of(loaded_account, {.hook = hook, .rows_max = 1000, .older_than = last});
        if (!page) return 1;
        if (page->empty()) return 0;
        for (const auto& each : *page) {
            const bool is_delivered = each.delivery.state == tollgate::delivery_state::delivered;
            std::cout << each.delivery.message_id.view() << ' ' << (is_delivered ? "delivered" : "waiting") << '\n';
        }
        last = page->back().delivery.id;
    }
}

}  // namespace own_store
