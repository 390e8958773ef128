#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tollgate::inline v0::postgres {

/// How many deliveries one transaction changes or removes beside its own business: tens of milliseconds.
inline constexpr std::size_t backlog_rows_max = 1000;

/// Removes deliveries with their attempts, and events that have none left. Two round trips each; of nodes that remove
/// at once each takes others. How many deliveries.
class removal {
public:
    explicit removal(postgres_database& connections) : connections_{connections} {}

    /// That were delivered, given up or held since before then, the first first.
    TOLLGATE_DECL result<std::size_t> ended_before(instant then, std::size_t rows_max);
    /// That a hook has delivered or given up, beyond the newest so many.
    TOLLGATE_DECL result<std::size_t> ended_beyond(hook_id of, std::size_t kept, std::size_t rows_max);
    /// Of this hook or, where none is named, of one that was deleted; with the last of them goes its row.
    TOLLGATE_DECL result<std::size_t> of_deleted(std::optional<hook_id> which, std::size_t rows_max);

private:
    /// `listing` begins a transaction, and its last statement says which, and of which events.
    TOLLGATE_DECL result<std::size_t> remove(const batch& listing, bool of_deleted);
    TOLLGATE_DECL result<std::size_t> remove_once(const batch& listing, bool of_deleted, bool& may_be_tried_again);

    postgres_database& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/removal.ipp>
#endif
