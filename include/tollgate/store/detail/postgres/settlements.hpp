#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/postgres/pool.hpp>

#include <cstddef>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::postgres {

/// `settle`, on PostgreSQL: one round trip to lock what is settled and see how it stands, one to write down what came
/// of it.
class settlements {
public:
    explicit settlements(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL result<std::vector<settle_result>> settle(std::span<const settlement> ended, instant now);

private:
    struct ledger;

    TOLLGATE_DECL result<std::vector<settle_result>> settle_once(std::span<const settlement> ended, instant now,
                                                                  bool& may_be_tried_again);
    TOLLGATE_DECL result<ledger> open(conversation& talk, std::span<const settlement> ended);
    static TOLLGATE_DECL settle_result settle_one(ledger& in, const settlement& ended, instant now);
    TOLLGATE_DECL result<void> close(conversation& talk, const ledger& in, std::span<const settlement> ended,
                                      instant now);

    /// Those of which enough ended since the last time.
    TOLLGATE_DECL std::vector<hook_id> hooks_with_history_to_trim(const ledger& in);

    pool& connections_;
    std::mutex mutex_;
    std::unordered_map<hook_id, std::size_t> ended_;  // of each hook, since it was trimmed
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/settlements.ipp>
#endif
