#pragma once

#include <tollgate/server/detail/epoll_loop.hpp>
#include <tollgate/server/detail/server_context.hpp>
#include <tollgate/server/detail/event_loop_group.hpp>

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace tollgate::inline v0::server_detail {

#if defined(__linux__)

/// Lanes with a thread each.
class epoll_loop_group final : public event_loop_group {
public:
    epoll_loop_group(const std::shared_ptr<server_context>& of, std::size_t loops)
        : context_{of}, drained_{std::make_shared<drain_count>(loops)} {
        while (loops_.size() < loops)
            loops_.push_back(std::make_unique<epoll_loop>(of, [count = drained_] { count->one_drained(); }));
    }
    ~epoll_loop_group() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        for (std::size_t i = 0; i < from.size(); ++i) loops_[i % loops_.size()]->listen(loops_, from[i].socket);
        threads_.reserve(loops_.size());
        for (const auto& one : loops_)
            threads_.emplace_back([this, &loop = *one] {
                const serving_scope mark{*context_};
                loop.run();
            });
    }

    void drain(milliseconds deadline) override {
        for (const auto& one : loops_) one->request_drain(deadline);
    }

    void wait() override { drained_->wait(); }
    void wait(milliseconds) override { drained_->wait(); }
    [[nodiscard]] bool needs_this_thread() const noexcept override { return serving_scope::inside(*context_); }

    void close() noexcept override {
        for (std::size_t i = 0; i < threads_.size(); ++i) loops_[i]->request_drain(milliseconds{0});
        if (threads_.size() == loops_.size()) drained_->wait();
        for (std::size_t i = 0; i < threads_.size(); ++i) loops_[i]->exit_requested();
        for (std::thread& one : threads_) one.join();
        threads_.clear();
    }

private:
    const std::shared_ptr<server_context> context_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::unique_ptr<epoll_loop>> loops_;
    std::vector<std::thread> threads_;
};

#endif  // __linux__

}  // namespace tollgate::server_detail
