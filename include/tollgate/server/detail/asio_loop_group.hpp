#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_ASIO_LOOP_GROUP_HPP
#define TOLLGATE_SERVER_DETAIL_ASIO_LOOP_GROUP_HPP

#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/base/detail/system/start_thread.hpp>
#include <tollgate/server/detail/asio.hpp>
#include <tollgate/server/detail/asio_loop.hpp>
#include <tollgate/server/detail/event_loop_group.hpp>
#include <tollgate/server/detail/server_context.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tollgate::inline v0::server_detail {

/// The executor that `from` holds; null if it holds one of another type. From Asio 1.22 to 1.24, `target` itself does not check the type.
template <class Executor>
[[nodiscard]] const Executor* held_executor(const asio::any_io_executor& from) noexcept {
#if defined(ASIO_NO_TYPEID) || defined(BOOST_ASIO_NO_TYPEID)
    (void)from;
    return nullptr;
#else
    return from.target_type() == typeid(Executor) ? from.template target<Executor>() : nullptr;
#endif
}

/// Returns true if the calling thread runs the executor. False for an executor of a type that cannot tell.
[[nodiscard]] inline bool is_run_here(const asio::any_io_executor& one) noexcept;
template <class Executor>
[[nodiscard]] bool is_run_here(const Executor& one) noexcept {
    return one.running_in_this_thread();
}
template <class Inner>
[[nodiscard]] bool is_run_here(const asio::strand<Inner>& one) noexcept {
    return one.running_in_this_thread() || is_run_here(one.get_inner_executor());
}
template <class... Known>
[[nodiscard]] bool is_run_here_as(const asio::any_io_executor& one) noexcept {
    const auto check = [](const auto* held) { return held != nullptr && is_run_here(*held); };
    return (check(held_executor<Known>(one)) || ...);
}
inline bool is_run_here(const asio::any_io_executor& one) noexcept {
    using context = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;
    return is_run_here_as<context, pool, asio::strand<context>, asio::strand<pool>, asio::strand<asio::any_io_executor>>(one);
}

/// Asio loops on an executor that the caller runs.
template <class Executor>
class asio_loop_group final : public event_loop_group {
    using loop_type = asio_loop<Executor>;

public:
    asio_loop_group(const std::shared_ptr<server_context>& context, const std::vector<Executor>& executors)
        : context_{context}, executors_(executors), drained_{std::make_shared<drain_count>(executors.size())} {
        for (const Executor& one : executors)
            loops_.push_back(std::make_shared<loop_type>(context, one, drained_, threads_));
        for (std::size_t i = 0; i < loops_.size(); ++i) loops_[i]->set_next(*loops_[(i + 1) % loops_.size()]);
    }
    ~asio_loop_group() override { close(); }

    void listen(const std::vector<listening_socket>& from) override { distribute(from, loops_); }

    void drain(const drain_times& within) override {
        constexpr milliseconds grace = seconds{1};  // time for the executor to close what was cut off at the deadline
        drained_->give_up_after(within.deadline + grace);
        for (const auto& one : loops_) {
            one->request_drain(within);
            one->try_collect();
        }
        for (const auto& one : loops_) one->try_collect();  // the loop that closes its listeners last has told the others
    }

    void wait() override { drained_->wait(); }
    [[nodiscard]] bool needs_this_thread() const noexcept override {
        if (serving_scope::is_set_for(*context_)) return true;
        if (drained_->is_over()) return false;
        return threads_->are_only_this() ||
               std::any_of(executors_.begin(), executors_.end(), [](const Executor& one) { return is_run_here(one); });
    }

    void close() noexcept override {
        if (std::exchange(closed_, true)) return;
        drained_->end();
        for (const auto& one : loops_) one->shut();
        context_->workers.stop();
        for (const auto& one : loops_) one->reclaim();
    }
    void abandon() noexcept override {  // its threads belong to the caller
        context_->abandoned = true;
        for (const auto& one : loops_) one->abandon();
    }

private:
    const std::shared_ptr<server_context> context_;
    const std::vector<Executor> executors_;
    const std::shared_ptr<drain_count> drained_;
    const std::shared_ptr<executor_threads> threads_ = std::make_shared<executor_threads>();
    std::vector<std::shared_ptr<loop_type>> loops_;  // constant: another thread may call `drain` meanwhile
    bool closed_ = false;
};

/// Asio loops on threads of the server: one `io_context` and one thread each.
class asio_thread_group final : public event_loop_group {
    using executor = asio::io_context::executor_type;

public:
    asio_thread_group(const std::shared_ptr<server_context>& context, std::size_t loops) : context_{context} {
        std::vector<executor> executors;
        while (contexts_.size() < loops) {
            contexts_.push_back(std::make_unique<asio::io_context>(1));
            executors.push_back(contexts_.back()->get_executor());
            work_.emplace_back(executors.back());
        }
        loops_ = std::make_unique<asio_loop_group<executor>>(context, executors);
    }
    ~asio_thread_group() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        loops_->listen(from);
        threads_.reserve(contexts_.size());
        for (const auto& one : contexts_)
            threads_.push_back(tollgate::detail::start_thread([this, &context = *one] {
                const serving_scope mark{*context_};
                running_.run([&context] { context.run(); });
            }));
    }
    void drain(const drain_times& within) override { loops_->drain(within); }
    void wait() override { loops_->wait(); }
    [[nodiscard]] bool needs_this_thread() const noexcept override { return serving_scope::is_set_for(*context_); }
    void close() noexcept override {
        loops_->close();
        work_.clear();
        for (std::thread& one : threads_) one.join();
        threads_.clear();
    }
    void abandon() noexcept override {
        loops_->abandon();
        for (const auto& one : contexts_) one->stop();
        running_.join_others(threads_);
    }

private:
    const std::shared_ptr<server_context> context_;
    tollgate::detail::thread_count running_;
    std::vector<std::unique_ptr<asio::io_context>> contexts_;
    std::vector<asio::executor_work_guard<executor>> work_;
    std::unique_ptr<asio_loop_group<executor>> loops_;
    std::vector<std::thread> threads_;
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_ASIO_LOOP_GROUP_HPP
