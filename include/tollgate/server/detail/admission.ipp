#pragma once

#include <tollgate/server/detail/admission.hpp>

#include <functional>
#include <new>
#include <string_view>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL admission::key admission::key_of(const ip_address& from) noexcept {
    key made = from.bytes();
    if (!from.is_v4())
        for (std::size_t i = 8; i < made.size(); ++i) made[i] = 0;
    return made;
}

TOLLGATE_DECL std::size_t admission::key_hash::operator()(const key& one) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(one.data()), one.size()});
}

TOLLGATE_DECL admission::verdict admission::enter(const ip_address& from) noexcept {
    const std::lock_guard hold{mutex_};
    bool over = connections_ >= connections_max_;
    if (!over && per_address_max_ != 0) {
        try {
            std::size_t& theirs = by_address_[key_of(from)];
            over = theirs >= per_address_max_;
            if (!over) ++theirs;
        } catch (const std::bad_alloc&) {
            return verdict::dropped;
        }
    }
    if (over) {
        if (refused_ >= refused_max) return verdict::dropped;
        ++refused_;
        return verdict::refused;
    }
    ++connections_;
    return verdict::welcome;
}

TOLLGATE_DECL void admission::leave(const ip_address& from, verdict given) noexcept {
    const std::lock_guard hold{mutex_};
    if (given == verdict::refused) {
        --refused_;
        return;
    }
    --connections_;
    if (per_address_max_ == 0) return;
    const auto theirs = by_address_.find(key_of(from));
    if (theirs != by_address_.end() && --theirs->second == 0) by_address_.erase(theirs);
}

}  // namespace tollgate::server_detail
