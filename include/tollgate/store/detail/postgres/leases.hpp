#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace tollgate::inline v0::postgres {

/// `due_hooks` and `lease`, one round trip each.
class leases {
public:
    explicit leases(postgres_database& connections) : connections_{connections} {}

    TOLLGATE_DECL result<due_hook_page> list_due_hooks(instant now, std::size_t rows_max);
    /// Skips hosts that another transaction has locked; their hooks stay listed.
    TOLLGATE_DECL result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& time);

private:
    postgres_database& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/leases.ipp>
#endif
