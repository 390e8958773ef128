#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::postgres {

/// `complete` on PostgreSQL: one round trip to lock and read the deliveries, one to write the results.
class completions {
public:
    explicit completions(postgres_database& connections) : connections_{connections} {}

    TOLLGATE_DECL result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now);

private:
    struct ledger;

    TOLLGATE_DECL result<std::vector<completion>> complete_once(std::span<const attempt_result> ended, instant now,
                                                                  bool& may_be_tried_again);
    TOLLGATE_DECL result<ledger> open(transaction& talk, std::span<const attempt_result> ended);
    static TOLLGATE_DECL completion complete_one(ledger& in, const attempt_result& ended, instant now);
    TOLLGATE_DECL result<void> close(transaction& talk, const ledger& in, std::span<const attempt_result> ended,
                                      instant now);

    /// Hooks of which enough deliveries ended since they were last trimmed.
    TOLLGATE_DECL std::vector<hook_id> hooks_with_history_to_trim(const ledger& in);

    postgres_database& connections_;
    std::mutex mutex_;
    std::unordered_map<hook_id, std::size_t> ended_;  // per hook, since it was trimmed
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/completions.ipp>
#endif
