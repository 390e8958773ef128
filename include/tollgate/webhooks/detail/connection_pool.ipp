#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_POOL_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_POOL_IPP

#include <tollgate/webhooks/detail/connection_pool.hpp>

#include <iterator>
#include <utility>

namespace tollgate::inline v0::webhooks {

TOLLGATE_DECL std::shared_ptr<hook_connection> connection_pool::take(const std::string& origin) {
    const auto now = clock::now();
    for (auto found = by_origin_.find(origin); found != by_origin_.end(); found = by_origin_.find(origin)) {
        const auto place = found->second.front();
        auto one = place->connection;
        drop(place);
        if (now - one->idle_since < within_.idle_timeout && now - one->made_at < within_.age_max && one->is_quiet())
            return one;
        one->close();
    }
    return nullptr;
}

TOLLGATE_DECL void connection_pool::put(const std::string& origin, std::shared_ptr<hook_connection> one) {
    one->idle_since = clock::now();
    const auto same = by_origin_.find(origin);
    if ((same == by_origin_.end() ? 0 : same->second.size()) >= within_.per_host_max) return one->close();
    // Everything that may throw comes first, so that an entry is in both tables or in neither.
    entries added;
    added.push_front({origin, std::move(one)});
    std::list<entries::iterator> place;
    place.push_front(added.begin());
    auto& of_origin = by_origin_.try_emplace(origin).first->second;
    of_origin.splice(of_origin.begin(), place);
    all_.splice(all_.begin(), added);
    if (all_.size() > within_.connections_max) {
        all_.back().connection->close();
        drop(std::prev(all_.end()));
    }
}

TOLLGATE_DECL void connection_pool::drop(entries::iterator which) {
    const auto same = by_origin_.find(which->origin);
    same->second.remove(which);
    if (same->second.empty()) by_origin_.erase(same);
    all_.erase(which);
}

TOLLGATE_DECL auto connection_pool::sweep() -> std::optional<clock::time_point> {
    const auto now = clock::now();
    while (!all_.empty() && now - all_.back().connection->idle_since >= within_.idle_timeout) {
        all_.back().connection->close();
        drop(std::prev(all_.end()));
    }
    if (all_.empty()) return std::nullopt;
    return all_.back().connection->idle_since + within_.idle_timeout;
}

TOLLGATE_DECL void connection_pool::close() {
    for (const entry& each : all_) each.connection->close();
    all_.clear();
    by_origin_.clear();
}

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_POOL_IPP
