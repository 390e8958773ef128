#pragma once

#include <tollgate/server/detail/epoll_lane.hpp>
#include <tollgate/server/detail/host.hpp>
#include <tollgate/server/detail/lane_group.hpp>

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace tollgate::inline v0::server_detail {

#if defined(__linux__)

/// Lanes with a thread each.
class own_lanes final : public lane_group {
public:
    own_lanes(const std::shared_ptr<host>& of, std::size_t lanes) : host_{of}, drained_{std::make_shared<drain_count>(lanes)} {
        while (lanes_.size() < lanes)
            lanes_.push_back(std::make_unique<epoll_lane>(of, [count = drained_] { count->one_drained(); }));
    }
    ~own_lanes() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        for (std::size_t i = 0; i < from.size(); ++i) lanes_[i % lanes_.size()]->listen(lanes_, from[i].socket);
        threads_.reserve(lanes_.size());
        for (const auto& one : lanes_)
            threads_.emplace_back([this, &lane = *one] {
                const serving_scope mark{*host_};
                lane.run();
            });
    }

    void drain(milliseconds deadline) override {
        for (const auto& one : lanes_) one->ask_to_drain(deadline);
    }

    void wait() override { drained_->wait(); }
    void wait(milliseconds) override { drained_->wait(); }
    [[nodiscard]] bool needs_this_thread() const noexcept override { return serving_scope::inside(*host_); }

    void close() noexcept override {
        for (std::size_t i = 0; i < threads_.size(); ++i) lanes_[i]->ask_to_drain(milliseconds{0});
        if (threads_.size() == lanes_.size()) drained_->wait();
        for (std::size_t i = 0; i < threads_.size(); ++i) lanes_[i]->let_go();
        for (std::thread& one : threads_) one.join();
        threads_.clear();
    }

private:
    const std::shared_ptr<host> host_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::unique_ptr<epoll_lane>> lanes_;
    std::vector<std::thread> threads_;
};

#endif  // __linux__

}  // namespace tollgate::server_detail
