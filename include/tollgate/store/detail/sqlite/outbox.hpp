#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/sqlite/delivery_hosts.hpp>
#include <tollgate/store/detail/sqlite/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// The verbs of `outbox` that send: what is due, and what came of it.
class outbox {
public:
    explicit outbox(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL result<std::size_t> append(const event& happened, const message_seed& seed, instant now);
    TOLLGATE_DECL result<claimed_deliveries> claim(const claim_terms& terms);
    TOLLGATE_DECL result<std::vector<settle_result>> settle(std::span<const settlement> ended, instant now);

    /// For `changes_seen` of the store.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() const noexcept;

private:
    pool& connections_;
    /// Since what is beyond the bound was removed, of each hook. Whoever has the connection that writes has it, too.
    std::unordered_map<hook_id, unsigned> ended_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/outbox.ipp>
#endif
