#pragma once

#include <tollgate/server/detail/connection_limiter.hpp>

#include <functional>
#include <new>
#include <string_view>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL connection_limiter::key connection_limiter::key_of(const ip_address& from) noexcept {
    key made = from.bytes();
    if (!from.is_v4())
        for (std::size_t i = 8; i < made.size(); ++i) made[i] = 0;
    return made;
}

TOLLGATE_DECL std::size_t connection_limiter::key_hash::operator()(const key& one) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(one.data()), one.size()});
}

TOLLGATE_DECL connection_limiter::decision connection_limiter::admit(const ip_address& from) noexcept {
    const std::lock_guard hold{mutex_};
    bool over = connections_ >= connections_max_;
    if (!over && per_address_max_ != 0) {
        try {
            std::size_t& theirs = by_address_[key_of(from)];
            over = theirs >= per_address_max_;
            if (!over) ++theirs;
        } catch (const std::bad_alloc&) {
            return decision::dropped;
        }
    }
    if (over) {
        if (refused_ >= refused_max) return decision::dropped;
        ++refused_;
        return decision::refused;
    }
    ++connections_;
    return decision::accepted;
}

TOLLGATE_DECL void connection_limiter::release(const ip_address& from, decision as) noexcept {
    const std::lock_guard hold{mutex_};
    if (as == decision::refused) {
        --refused_;
        return;
    }
    --connections_;
    if (per_address_max_ == 0) return;
    const auto theirs = by_address_.find(key_of(from));
    if (theirs != by_address_.end() && --theirs->second == 0) by_address_.erase(theirs);
}

}  // namespace tollgate::server_detail
