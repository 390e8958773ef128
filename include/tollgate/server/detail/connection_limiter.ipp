#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_CONNECTION_LIMITER_IPP
#define TOLLGATE_SERVER_DETAIL_CONNECTION_LIMITER_IPP

#include <tollgate/server/detail/connection_limiter.hpp>

#include <algorithm>
#include <limits>
#include <new>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL connection_limiter::key connection_limiter::key_of(const ip_address& from) noexcept {
    return from.is_v4() ? from.bytes() : tollgate::detail::first_of_network(from, 8).bytes();
}

TOLLGATE_DECL bool connection_limiter::is_counted(const ip_address& from) const noexcept {
    if (per_address_max_ >= connections_max_) return false;
    return std::none_of(shared_addresses_.begin(), shared_addresses_.end(),
                        [&](const ip_network& each) { return each.contains(from); });
}

TOLLGATE_DECL admission connection_limiter::admit(const ip_address& from) noexcept {
    const std::lock_guard hold{mutex_};
    const admission admitted = admit_below(connections_max_, from);
    if (admitted != admission::full && admitted != admission::address_full) return admitted;
    const bool is_over_own = admitted == admission::address_full;
    if (refusals_ >= refusals_max || (is_over_own && address_refusals_ >= address_refusals_max)) return admission::dropped;
    ++refusals_;
    if (is_over_own) ++address_refusals_;
    return admitted;
}

TOLLGATE_DECL admission connection_limiter::replace(const ip_address& from) noexcept {
    const std::lock_guard hold{mutex_};
    const admission admitted = admit_below((std::numeric_limits<std::size_t>::max)(), from);
    if (admitted != admission::accepted) return admission::full;
    --refusals_;
    return admitted;
}

TOLLGATE_DECL admission connection_limiter::admit_below(std::size_t connections_max, const ip_address& from) noexcept {
    // The address first: its bound also applies to a connection that could replace another one.
    if (is_counted(from)) {
        try {
            const auto [entry, added] = by_address_.try_emplace(key_of(from));
            if (entry->second.connections >= per_address_max_) return admission::address_full;
            if (connections_ >= connections_max) {
                if (added) by_address_.erase(entry);
                return admission::full;
            }
            ++entry->second.connections;
        } catch (const std::bad_alloc&) {
            return admission::dropped;
        }
    }
    if (connections_ >= connections_max) return admission::full;
    ++connections_;
    return admission::accepted;
}

TOLLGATE_DECL bool connection_limiter::hold_unsent(const ip_address& from, const unsent_output& before,
                                                   const unsent_output& after) noexcept {
    const std::lock_guard hold{mutex_};
    const auto entry = is_counted(from) ? by_address_.find(key_of(from)) : by_address_.end();
    std::size_t* const of_address = entry != by_address_.end() ? &entry->second.unsent_bytes : nullptr;
    const std::size_t more = after.bytes - (std::min)(before.bytes, after.bytes);
    if (more != 0 &&
        (more > unsent_bytes_max_ - unsent_bytes_ || (of_address != nullptr && *of_address + more > unsent_share_max())))
        return false;
    if (!hold_for_user(before, after)) return false;
    unsent_bytes_ = unsent_bytes_ - before.bytes + after.bytes;
    if (of_address != nullptr) *of_address = *of_address - before.bytes + after.bytes;
    return true;
}

TOLLGATE_DECL bool connection_limiter::hold_for_user(const unsent_output& before, const unsent_output& after) noexcept {
    if (after.user && after.bytes != 0) {
        try {
            const auto [entry, added] = unsent_by_user_.try_emplace(*after.user);
            const std::size_t others = entry->second - (before.user == after.user ? before.bytes : 0);
            if (after.bytes > before.bytes && others + after.bytes > unsent_share_max()) {
                if (added) unsent_by_user_.erase(entry);
                return false;
            }
            entry->second = others + after.bytes;
        } catch (const std::bad_alloc&) {
            return false;
        }
        if (before.user == after.user) return true;
    }
    if (!before.user || before.bytes == 0) return true;
    const auto entry = unsent_by_user_.find(*before.user);
    entry->second -= before.bytes;
    if (entry->second == 0) unsent_by_user_.erase(entry);
    return true;
}

TOLLGATE_DECL void connection_limiter::release(const ip_address& from, admission admitted) noexcept {
    const std::lock_guard hold{mutex_};
    if (admitted != admission::accepted) {
        --refusals_;
        if (admitted == admission::address_full) --address_refusals_;
        return;
    }
    --connections_;
    if (!is_counted(from)) return;
    const auto entry = by_address_.find(key_of(from));
    if (entry != by_address_.end() && --entry->second.connections == 0) by_address_.erase(entry);
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_CONNECTION_LIMITER_IPP
