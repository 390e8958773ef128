#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace tollgate::inline v0::sqlite {

/// The hosts that deliveries go to, and the two lines that they stand in. All within the caller's transaction.
class delivery_hosts {
public:
    explicit delivery_hosts(database& on) : on_{on} {}

    /// What a claim needs to know of the next host that there may be something to claim of.
    struct next_host {
        std::string name;
        bool answered_once;
    };
    [[nodiscard]] TOLLGATE_DECL result<std::optional<next_host>> next_in_line(bool slow, instant now);

    /// Since when, or from when on, there may be something to claim; none when there is nothing in the line.
    [[nodiscard]] TOLLGATE_DECL result<std::optional<instant>> ready_at(bool slow);

    /// Before a delivery of the host is due.
    TOLLGATE_DECL result<void> expect_delivery(const std::string& name, instant now);
    /// After a lease of the host ended, or a delivery of it came.
    TOLLGATE_DECL result<void> stand(const std::string& name, instant now);
    /// After deliveries of the host are gone, whatever the time.
    TOLLGATE_DECL result<void> lost_deliveries(const std::string& name);
    /// After a claim of the host, which goes to the end of its line; `has_room`: it could have more leases than it has.
    TOLLGATE_DECL result<void> took_turn(const std::string& name, bool has_room, instant now);
    /// After an attempt.
    TOLLGATE_DECL result<void> answered(const std::string& name, bool slowly, instant now);

    /// Forgets hosts that have been idle since before then.
    TOLLGATE_DECL result<void> sweep(instant idle_before, std::size_t rows_max);

private:
    struct times {
        std::optional<instant> due_at, leased_until;  ///< the earliest of each
    };
    [[nodiscard]] TOLLGATE_DECL result<times> earliest(const std::string& name);
    /// At the end of the line, for that moment; none: in no line.
    TOLLGATE_DECL result<void> place(const std::string& name, std::optional<instant> ready_at, instant now);

    database& on_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/delivery_hosts.ipp>
#endif
