#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_ADDRESS_ORDER_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_ADDRESS_ORDER_HPP

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/ip_address.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::webhooks {

/// The order in which the addresses of a host are tried (RFC 8305 section 4): the one that worked last first, then IPv6 and IPv4 in turn,
/// each in the resolver's order. Belongs to the client's strand.
class address_order {
public:
    /// Bounds what is remembered: 1 MB at most, with long names.
    static constexpr std::size_t hosts_max = 2048;

    /// At most `addresses_max` of `found`. May throw std::bad_alloc.
    [[nodiscard]] std::vector<ip_address> in_order(const std::string& host, std::vector<ip_address> found,
                                                   std::size_t addresses_max) const {
        if (found.size() < 2) return found;
        const bool first_is_v4 = found.front().is_v4();
        const auto others = std::stable_partition(found.begin(), found.end(),
                                                  [first_is_v4](const ip_address& each) { return each.is_v4() == first_is_v4; });
        std::vector<ip_address> ordered;
        ordered.reserve(found.size());
        for (auto one = found.begin(), other = others; one != others || other != found.end();) {
            if (one != others) ordered.push_back(*one++);
            if (other != found.end()) ordered.push_back(*other++);
        }
        if (const auto known = worked_.find(host); known != worked_.end()) {
            const auto place = std::find(ordered.begin(), ordered.end(), known->second);
            if (place != ordered.end()) std::rotate(ordered.begin(), place, place + 1);
        }
        if (ordered.size() > addresses_max) ordered.resize(addresses_max);
        return ordered;
    }

    /// A connection to this address was made.
    void remember(const std::string& host, const ip_address& address) noexcept {
        try {
            if (worked_.size() >= hosts_max && !worked_.contains(host)) worked_.erase(worked_.begin());
            worked_.insert_or_assign(host, address);
        } catch (const std::exception&) {  // only slows later attempts
        }
    }

    [[nodiscard]] std::size_t hosts() const noexcept { return worked_.size(); }

private:
    std::unordered_map<std::string, ip_address, tollgate::detail::keyed_hash> worked_;  // keyed, because users choose the hosts
};

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_ADDRESS_ORDER_HPP
