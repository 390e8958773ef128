#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/server/asio_lane.hpp>
#include <tollgate/server/host.hpp>
#include <tollgate/server/socket_calls.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tollgate::hosting {

/// Lets threads wait until every lane of a server has drained. Lives as long as the last of them.
class drain_count {
public:
    explicit drain_count(std::size_t lanes) noexcept : left_{lanes} {}

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

/// All lanes of a server, whatever they run on.
class lane_group {
public:
    virtual ~lane_group() = default;

    /// Begins to accept. Throws `std::system_error`; the sockets belong to the group from here on.
    virtual void listen(const std::vector<listening_socket>& from) = 0;
    /// Begins to drain every lane.
    virtual void drain(milliseconds deadline) = 0;
    /// Waits until they have.
    virtual void wait() = 0;
    /// The same, but no longer than can be expected after `drain(deadline)`.
    virtual void wait(milliseconds deadline) = 0;
    /// Whether the calling thread is one that has to go on for `wait` to end.
    [[nodiscard]] virtual bool needs_this_thread() const noexcept = 0;
    /// Ends everything now. No lane calls the handler after it.
    virtual void close() noexcept = 0;
};

/// Lanes on `io_context`s of our own, one each, each run by a thread.
class own_lanes final : public lane_group {
    using executor = asio::io_context::executor_type;
    using lane_type = asio_lane<executor>;

public:
    own_lanes(const std::shared_ptr<host>& of, std::size_t lanes) : host_{of}, drained_{std::make_shared<drain_count>(lanes)} {
        while (contexts_.size() < lanes) {
            // One thread runs the context and uses all its sockets and timers; others only post. So Asio may leave out the
            // locks of sockets, which costs it a tenth of what it does for a request, but not those of its queue.
            contexts_.push_back(std::make_unique<asio::io_context>(ASIO_CONCURRENCY_HINT_UNSAFE_IO));
            lanes_.push_back(std::make_shared<lane_type>(of, contexts_.back()->get_executor(), lane_type::kind::own,
                                                         [count = drained_] { count->one_drained(); }));
        }
    }
    ~own_lanes() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        for (std::size_t i = 0; i < from.size(); ++i) lanes_[i % lanes_.size()]->listen(lanes_, from[i]);
        guards_.reserve(contexts_.size());
        threads_.reserve(contexts_.size());
        try {
            for (const auto& context : contexts_) {
                guards_.emplace_back(context->get_executor());
                threads_.emplace_back([this, &context = *context] {
                    const serving_scope mark{*host_};
                    context.run();
                });
            }
        } catch (...) {
            for (const auto& context : contexts_) context->stop();
            join();
            throw;
        }
    }

    void drain(milliseconds deadline) override {
        for (const auto& one : lanes_)
            one->post([deadline](lane_type& self) {
                self.close_listeners();
                self.drain(deadline);
            });
    }

    void wait() override { drained_->wait(); }
    void wait(milliseconds) override { drained_->wait(); }
    [[nodiscard]] bool needs_this_thread() const noexcept override { return serving_scope::inside(*host_); }

    void close() noexcept override {
        if (threads_.empty()) return;
        drain(milliseconds{0});
        drained_->wait();
        guards_.clear();
        join();
    }

private:
    void join() noexcept {
        for (std::thread& one : threads_) one.join();
        threads_.clear();
    }

    const std::shared_ptr<host> host_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::unique_ptr<asio::io_context>> contexts_;
    std::vector<std::shared_ptr<lane_type>> lanes_;
    std::vector<asio::executor_work_guard<executor>> guards_;
    std::vector<std::thread> threads_;
};

/// Lanes on an executor that somebody else runs.
template <class Executor>
class guest_lanes final : public lane_group {
    using lane_type = asio_lane<Executor>;

public:
    guest_lanes(const std::shared_ptr<host>& of, std::size_t lanes, const Executor& executor)
        : host_{of}, executor_{executor}, drained_{std::make_shared<drain_count>(lanes)} {
        while (lanes_.size() < lanes)
            lanes_.push_back(std::make_shared<lane_type>(of, executor, lane_type::kind::guest,
                                                         [count = drained_] { count->one_drained(); }));
    }
    ~guest_lanes() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        for (std::size_t i = 0; i < from.size(); ++i) {
            const auto& one = lanes_[i % lanes_.size()];
            const auto inside = one->enter();
            one->listen(lanes_, from[i]);
        }
    }

    void drain(milliseconds deadline) override {
        for (const auto& one : lanes_) {
            const auto inside = one->enter();
            one->close_listeners();
            one->drain(deadline);
        }
    }

    void wait() override { drained_->wait(); }
    void wait(milliseconds deadline) override { drained_->wait_at_most(deadline + grace); }

    [[nodiscard]] bool needs_this_thread() const noexcept override {
        if (serving_scope::inside(*host_)) return true;
        if constexpr (requires { { executor_.running_in_this_thread() } -> std::same_as<bool>; })
            return executor_.running_in_this_thread();
        else return false;
    }

    void close() noexcept override {
        for (const auto& one : lanes_) one->shut();
        host_->workers.stop();
        for (const auto& one : lanes_) one->reclaim();
        lanes_.clear();
    }

private:
    static constexpr milliseconds grace = seconds{1};  // for the executor to close what the deadline has cut off

    const std::shared_ptr<host> host_;
    const Executor executor_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::shared_ptr<lane_type>> lanes_;
};

}  // namespace tollgate::hosting
