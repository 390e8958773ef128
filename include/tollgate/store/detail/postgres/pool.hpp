#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>
#include <tollgate/store/detail/postgres/connection.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::postgres {

struct pool_settings {
    /// Connections of one process. Each is a process at the server, which stops getting faster at about twice its
    /// cores, and has 100 for all nodes by default (max_connections).
    std::size_t connections_max = 8;
    /// How long a call waits for one of them.
    milliseconds connection_wait_max{2000};
    connection_settings each{};
    /// By what clock callers tell the time, see `server_clock`.
    server_clock::node_clock callers_clock = &server_clock::node_now;
};

/// Whether a batch may be sent again when a connection broke and nobody knows what became of it.
enum class repeat : std::uint8_t {
    never,    ///< it changes something: the first may have been committed
    allowed,  ///< it reads, or changes nothing the second time
};

class conversation;

/// The connections of one process to a server, opened as they are needed.
///
/// One that broke is noticed before it is used, where its end has arrived, and replaced. Where no connection comes
/// about, the next is tried after a while (a tenth of a second at first, two at last, with jitter, so that nodes do not
/// come together), and who asks meanwhile is told at once. A connection that was given up because it hung takes all
/// idle ones with it: they go the same way, and each would hold up somebody for as long.
///
/// Thread rule: any thread. Blocking. Movable; nothing may be running while it moves or dies.
class pool {
public:
    static TOLLGATE_DECL result<pool> open(const std::string& connection_string, const pool_settings& settings = {});

    TOLLGATE_DECL pool(pool&&) noexcept;
    TOLLGATE_DECL pool& operator=(pool&&) noexcept;
    TOLLGATE_DECL ~pool();

    /// An empty batch, for moments as callers speak of them.
    [[nodiscard]] TOLLGATE_DECL batch make_batch() const;

    /// Problem (unavailable) when no connection came free in time, and as `failure` says. What the server rolled back
    /// because of what others did at the same time is tried again, twice at most.
    [[nodiscard]] TOLLGATE_DECL result<answers> run(const batch& asked, repeat when_lost = repeat::never);
    /// The same, with another patience for the connection.
    [[nodiscard]] TOLLGATE_DECL result<answers> run(const batch& asked, repeat when_lost,
                                                     milliseconds connection_wait_max);

    /// One statement that changes nothing.
    template <class... Values>
    [[nodiscard]] result<rows> ask(sql text, const Values&... values) {
        batch asked = make_batch();
        asked.add(text, values...);
        return run_one(asked, repeat::allowed);
    }
    /// One statement that changes something.
    template <class... Values>
    [[nodiscard]] result<rows> change(sql text, const Values&... values) {
        batch asked = make_batch();
        asked.add(text, values...);
        return run_one(asked, repeat::never);
    }

    /// For what takes more than one round trip.
    [[nodiscard]] TOLLGATE_DECL result<conversation> converse();

    /// From now on each new connection is refused whose database has `component` in a version that this one cannot work
    /// with, see `migrate`.
    TOLLGATE_DECL void require(std::string_view component, std::int64_t version);

    /// A connection of one's own, which counts for nobody.
    [[nodiscard]] TOLLGATE_DECL result<connection> open_another() const;

    /// Lives as long as anybody has it.
    [[nodiscard]] TOLLGATE_DECL const std::shared_ptr<server_clock>& clock() const noexcept;

private:
    friend class conversation;
    struct state;
    class lease;
    explicit pool(std::unique_ptr<state> made) noexcept;
    TOLLGATE_DECL result<rows> run_one(const batch& asked, repeat when_lost);

    std::unique_ptr<state> state_;
};

/// A connection for a transaction that takes several batches, because what is sent depends on what was answered. The
/// first begins with BEGIN, and one holds COMMIT; without that it is rolled back at the end of the scope. The server
/// ends a transaction that says nothing for as long as an answer may take.
class conversation {
public:
    TOLLGATE_DECL conversation(conversation&&) noexcept;
    conversation& operator=(conversation&&) = delete;
    TOLLGATE_DECL ~conversation();

    /// As pool's, but nothing is tried again.
    [[nodiscard]] TOLLGATE_DECL result<answers> run(const batch& asked);
    /// It was committed, and there is nothing to roll back.
    void committed() noexcept { is_open_ = false; }
    /// Whether the transaction was rolled back only because of what others did: it may be tried again, as a whole.
    [[nodiscard]] bool may_be_tried_again() const noexcept { return may_be_tried_again_; }

private:
    friend class pool;
    explicit conversation(std::unique_ptr<pool::lease> on) noexcept;

    std::unique_ptr<pool::lease> on_;  // null when the connection was lost
    bool is_open_ = false;
    bool may_be_tried_again_ = false;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/pool.ipp>
#endif
