#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>

#include <string_view>

namespace tollgate::inline v0::postgres {

/// Others that count the same things wait until this batch is committed; what follows in it sees what they made. Names
/// are hashed: two that meet by chance wait for each other, and no more than that.
inline void lock_for_counting(batch& in, std::string_view things) {
    in.add("SELECT pg_advisory_xact_lock(hashtextextended('tollgate ' || $1, 0))", things);
}

/// What this batch changes may be lost with the server's power: nobody misses it.
inline void wait_for_no_disk(batch& in) { in.add("SELECT set_config('synchronous_commit', 'off', true)"); }

/// For what is not worth waiting for: short enough for a request that does something else.
inline constexpr milliseconds connection_wait_of_little_use{100};

}  // namespace tollgate::postgres
