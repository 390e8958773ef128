#pragma once

#include <tollgate/base/ids.hpp>

#include <cstddef>
#include <unordered_map>

namespace tollgate::inline v0::sql {

/// Decides when the ended deliveries of a webhook are trimmed to `limits::ended_deliveries_per_hook_max`. Finding the rows beyond
/// the bound scans all kept ones, so it is done rarely. The caller locks it.
class trim_counter {
public:
    /// Deliveries to remove at a time: more than ended since the last time, so that those of other processes are removed, too.
    static constexpr std::size_t rows_max = 200;

    /// Counts an ended delivery; whether the webhook's are to be trimmed now.
    [[nodiscard]] bool add(hook_id hook) {
        if (ended_.size() > hooks_max) ended_.clear();
        if (++ended_[hook] < rows_max / 2) return false;
        ended_[hook] = 0;
        return true;
    }

private:
    static constexpr std::size_t hooks_max = 10'000;  // then all counts begin again, which delays a trim

    std::unordered_map<hook_id, std::size_t> ended_;
};

}  // namespace tollgate::sql
