#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_EVENT_LOOP_GROUP_HPP
#define TOLLGATE_SERVER_DETAIL_EVENT_LOOP_GROUP_HPP

#include <tollgate/base/time.hpp>
#include <tollgate/server/detail/event_loop.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <vector>

namespace tollgate::inline v0::server_detail {

/// All event loops of a server and their threads: its own threads, or those of the caller's executor.
class event_loop_group {
public:
    virtual ~event_loop_group() = default;

    /// Starts accepting. Throws `std::system_error`. Takes ownership of the sockets, also when it throws.
    virtual void listen(const std::vector<listening_socket>& from) = 0;
    /// Starts draining every loop.
    virtual void drain(const drain_times& within) = 0;
    /// Waits until every loop has drained; on the caller's executor, which may not be run, not much longer than `drain` with this deadline
    /// should take.
    virtual void wait() = 0;
    /// Returns true if `wait` would have to wait for the calling thread.
    [[nodiscard]] virtual bool needs_this_thread() const noexcept = 0;
    /// Ends everything now. No loop calls the handler afterwards.
    virtual void close() noexcept = 0;
    /// For a server that is destroyed by one of its threads, which cannot end before it: its other threads end, except those in the
    /// handler. Nothing may be destroyed afterwards.
    virtual void abandon() noexcept = 0;
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_EVENT_LOOP_GROUP_HPP
