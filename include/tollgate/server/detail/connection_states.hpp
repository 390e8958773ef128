#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_CONNECTION_STATES_HPP
#define TOLLGATE_SERVER_DETAIL_CONNECTION_STATES_HPP

#include <array>
#include <cstddef>
#include <cstdint>

/// The states of a connection: which event leads from which state to which, and which action follows. `connection`
/// performs the actions; nothing else decides what happens next.
namespace tollgate::inline v0::server_detail {

enum class connection_state : std::uint8_t {
    connected,    ///< accepted, nothing was done yet
    handshaking,  ///< the TLS handshake is not complete
    fresh,        ///< no byte of a first request has arrived
    idle,         ///< at least one response was sent, no byte of a next request has arrived
    in_head,      ///< part of a request's head has arrived
    in_body,      ///< a head has arrived, and part of its body
    working,      ///< a worker has the request, or it waits for one
    sending,      ///< the client has not yet taken all output; nothing is read
    lingering,    ///< all is sent; input is discarded so that no reset destroys the response
    closed,
    count_,
};

enum class connection_event : std::uint8_t {
    none,  ///< the event of an action that waits: the next event comes from outside

    // Events from outside.
    accepted,
    ready,      ///< the socket is readable or writable, as waited for
    completed,  ///< a worker has responded
    withdrawn,  ///< the request waited too long for a worker, or the server stops
    timed_out,  ///< the deadline of the state has passed
    draining,   ///< the server accepts no more requests
    replaced,   ///< the server is full, and this connection has been idle, or its request unfinished, the longest
    cut_off,    ///< the deadline of `stop` has passed

    // Results of actions.
    plain,              ///< no TLS on this port
    tls,                ///< TLS on this port
    over_limit,         ///< a bound on connections is exceeded
    handshake_pending,
    handshake_done,
    nothing_new,        ///< the input completed nothing
    all_answered,       ///< responses were made and sent, and no part of a next request has arrived
    head_pending,       ///< all output is sent; part of a head has arrived
    body_pending,       ///< all output is sent; part of a body is missing
    worker_needed,      ///< the handler has to wait
    queue_full,         ///< the queue of the workers is full
    output_pending,     ///< the client does not take the output
    session_over,       ///< no further request is read
    client_may_send,    ///< after `finish`: closing now could reset the connection
    finished,           ///< nothing is left to do
    broken,             ///< the client is gone, violated TLS, or memory is short
    count_,
};

enum class connection_action : std::uint8_t {
    none,                ///< stay; another event will follow
    choose_protocol,     ///< plain or TLS
    await_input,         ///< wait for bytes, against the deadline of the state
    await_next_request,  ///< the same, with a new deadline
    await_output,        ///< wait until the client takes more
    receive,             ///< read, parse, respond, send
    decrypt,             ///< the same for data that arrived with the handshake
    submit,              ///< to the workers
    report_work,         ///< continue with what the worker did
    send,                ///< continue with the output, then with requests that have arrived already
    refuse_connection,   ///< 503: the server has too many connections
    refuse_busy,         ///< 503: no worker in time
    refuse_slow,         ///< 408
    finish,              ///< end TLS, end sending
    linger,              ///< discard what arrives
    linger_anew,         ///< the same, with the shorter deadline of a server that stops
    extend_linger,       ///< if the client still takes the last responses of a server that stops
    close,
};

struct connection_transition {
    connection_state to;
    connection_action action;
};

namespace states {

/// A set of states, so that one row applies to several.
using state_set = std::uint16_t;
[[nodiscard]] consteval state_set set_of(auto... all) { return static_cast<state_set>((0U | ... | (1U << static_cast<unsigned>(all)))); }

struct transition_row {
    state_set from;
    connection_event on;
    connection_state to;  ///< `count_`: the same state
    connection_action action;
};

using st = connection_state;
using on = connection_event;
using act = connection_action;

inline constexpr state_set reading = set_of(st::fresh, st::idle, st::in_head, st::in_body);
inline constexpr state_set serving = reading | set_of(st::working, st::sending);
inline constexpr connection_state same = st::count_;

/// "Fault" says who broke a rule or a bound when a connection ends in an error. A pair that is not listed closes the
/// connection; `broken` and `cut_off` do so in every state, and `timed_out` unless a row says otherwise (fault: client,
/// which could not or would not read a response).
inline constexpr transition_row rows[] = {
    {set_of(st::connected), on::accepted, same, act::choose_protocol},
    {set_of(st::connected), on::plain, st::fresh, act::await_input},
    {set_of(st::connected), on::tls, st::handshaking, act::await_input},
    {set_of(st::connected), on::over_limit, st::fresh, act::refuse_connection},  // fault: too many connections, 503

    {set_of(st::handshaking), on::ready, same, act::receive},
    {set_of(st::handshaking), on::draining, same, act::receive},
    {set_of(st::handshaking, st::sending), on::handshake_pending, st::handshaking, act::await_input},
    {set_of(st::handshaking), on::handshake_done, st::fresh, act::decrypt},
    {set_of(st::handshaking), on::over_limit, st::fresh, act::refuse_connection},  // a TLS client can read it only now
    {set_of(st::handshaking), on::output_pending, st::sending, act::await_output},
    {set_of(st::handshaking), on::session_over, st::lingering, act::finish},  // HTTP on a TLS port (fault: client, 400)

    {reading, on::ready, same, act::receive},
    {reading, on::draining, same, act::receive},  // a request may have arrived at the last moment
    {set_of(st::fresh, st::idle), on::timed_out, st::lingering, act::finish},  // includes the end of TLS
    {set_of(st::fresh, st::idle), on::replaced, st::lingering, act::finish},
    {set_of(st::handshaking), on::replaced, st::closed, act::close},
    {set_of(st::in_head, st::in_body), on::timed_out, same, act::refuse_slow},  // fault: client, 408

    // The run time of a handler is not bounded here; the time that a request waits for a worker is.
    {set_of(st::working), on::timed_out, same, act::none},
    {set_of(st::working), on::draining, same, act::none},
    {set_of(st::working), on::queue_full, same, act::refuse_busy},  // fault: server, 503
    {set_of(st::working), on::withdrawn, same, act::refuse_busy},   // fault: server, 503
    {set_of(st::working), on::completed, same, act::report_work},

    {set_of(st::sending), on::ready, same, act::send},
    {set_of(st::sending), on::draining, same, act::send},

    // Results of a session, in any reading state.
    {reading, on::nothing_new, same, act::await_input},
    {set_of(st::working, st::sending), on::nothing_new, st::idle, act::await_input},
    {serving, on::all_answered, st::idle, act::await_next_request},
    {serving, on::head_pending, st::in_head, act::await_input},
    {serving, on::body_pending, st::in_body, act::await_input},
    {serving, on::worker_needed, st::working, act::submit},
    {serving, on::output_pending, st::sending, act::await_output},
    {serving, on::session_over, st::lingering, act::finish},

    {set_of(st::lingering), on::client_may_send, same, act::await_input},
    {set_of(st::lingering), on::ready, same, act::linger},
    {set_of(st::lingering), on::draining, same, act::linger_anew},
    {set_of(st::lingering), on::timed_out, same, act::extend_linger},
    {set_of(st::lingering), on::finished, st::closed, act::close},
};

class transition_table {
public:
    consteval transition_table() {
        for (auto& row : rows_) row.fill({connection_state::closed, connection_action::close});
        for (const transition_row& row : rows)
            for (std::size_t state = 0; state < state_count; ++state)
                if ((row.from >> state & 1U) != 0)
                    rows_[state][static_cast<std::size_t>(row.on)] = {
                        row.to == same ? static_cast<connection_state>(state) : row.to, row.action};
    }
    [[nodiscard]] constexpr connection_transition operator()(connection_state state, connection_event event) const noexcept {
        return rows_[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
    }

private:
    static constexpr auto state_count = static_cast<std::size_t>(connection_state::count_);
    static constexpr auto event_count = static_cast<std::size_t>(connection_event::count_);
    std::array<std::array<connection_transition, event_count>, state_count> rows_{};
};

}  // namespace states

inline constexpr states::transition_table transition_of{};

static_assert(transition_of(connection_state::idle, connection_event::broken).action == connection_action::close);
static_assert(transition_of(connection_state::in_body, connection_event::timed_out).to == connection_state::in_body);

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_CONNECTION_STATES_HPP
