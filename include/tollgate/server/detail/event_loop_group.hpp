#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace tollgate::inline v0::server_detail {

/// Lets threads wait until every event loop of a server has drained. Lives as long as the last of them.
class drain_count {
public:
    explicit drain_count(std::size_t loops) noexcept : left_{loops} {}

    void one_drained() {
        const std::lock_guard hold{mutex_};
        if (--left_ == 0) all_drained_.notify_all();
    }
    void wait() {
        std::unique_lock hold{mutex_};
        all_drained_.wait(hold, [this] { return left_ == 0; });
    }
    void wait_at_most(milliseconds time) {
        std::unique_lock hold{mutex_};
        all_drained_.wait_for(hold, time, [this] { return left_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable all_drained_;
    std::size_t left_;
};

/// All event loops of a server and what runs them: threads of the group, or the caller's executor.
class event_loop_group {
public:
    virtual ~event_loop_group() = default;

    /// Begins to accept. Throws `std::system_error`. Takes ownership of the sockets, also when it throws.
    virtual void listen(const std::vector<listening_socket>& from) = 0;
    /// Begins to drain every loop.
    virtual void drain(milliseconds deadline) = 0;
    /// Waits until every loop has drained.
    virtual void wait() = 0;
    /// The same, but no longer than can be expected after `drain(deadline)`.
    virtual void wait(milliseconds deadline) = 0;
    /// Whether `wait` would wait for the calling thread itself.
    [[nodiscard]] virtual bool needs_this_thread() const noexcept = 0;
    /// Ends everything now. No loop calls the handler after it.
    virtual void close() noexcept = 0;
};

}  // namespace tollgate::server_detail
