#pragma once

#include <tollgate/store/detail/contained.hpp>
#include <tollgate/store/detail/postgres/append_event.hpp>
#include <tollgate/store/detail/postgres/foreign_transaction.hpp>
#include <tollgate/store/postgres_own_transaction.hpp>

#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::size_t> postgres_own_transaction::append_event(const event& happened,
                                                                          const message_seed& seed,
                                                                          instant now) noexcept {
    return detail::contained([&]() -> result<std::size_t> {
        postgres::batch asked{clock_.shift()};
        postgres::append_event(asked, happened, seed, now);
        asked.add(postgres::notify_other_nodes);  // heard when the transaction is committed
        auto answered = postgres::run_within(connection_, asked);
        if (!answered) return std::move(answered).error();
        return postgres::appended_count(answered->front());
    });
}

}  // namespace tollgate
