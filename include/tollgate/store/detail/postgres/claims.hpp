#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/postgres/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tollgate::inline v0::postgres {

/// `claim_due`, on PostgreSQL.
///
/// One round trip where there is nothing to claim; otherwise one to hear the bells, lock the hosts whose turn it is
/// (those that somebody else has locked at that moment are passed over) and see what is due there, and one to lease,
/// and read what is to be sent when that is committed.
class claims {
public:
    explicit claims(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL result<claimed_deliveries> claim_due(const claim_terms& terms);

private:
    struct candidate;
    struct host;
    struct choice;

    TOLLGATE_DECL result<claimed_deliveries> claim_once(const claim_terms& terms, bool& may_be_tried_again);
    TOLLGATE_DECL result<std::vector<host>> lock_hosts(conversation& talk, const claim_terms& terms);
    static TOLLGATE_DECL choice choose(const std::vector<host>& ready, const claim_terms& terms);
    TOLLGATE_DECL result<claimed_deliveries> lease(conversation& talk, const choice& chosen, const claim_terms& terms);

    pool& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/claims.ipp>
#endif
