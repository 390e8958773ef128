#pragma once

#include <tollgate/server/detail/guest_lane.hpp>
#include <tollgate/server/detail/host.hpp>
#include <tollgate/server/detail/lane_group.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tollgate::inline v0::server_detail {

/// Lanes on an executor that somebody else runs.
template <class Executor>
class guest_lanes final : public lane_group {
    using lane_type = guest_lane<Executor>;

public:
    guest_lanes(const std::shared_ptr<host>& of, std::size_t lanes, const Executor& executor)
        : host_{of}, executor_{executor}, drained_{std::make_shared<drain_count>(lanes)} {
        while (lanes_.size() < lanes)
            lanes_.push_back(std::make_shared<lane_type>(of, executor, [count = drained_] { count->one_drained(); }));
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
        for (const auto& one : lanes_)
            one->run_or_post([deadline](lane_type& self) {
                self.close_listeners();
                self.drain(deadline);
            });
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
        if (std::exchange(closed_, true)) return;
        for (const auto& one : lanes_) one->shut();
        host_->workers.stop();
        for (const auto& one : lanes_) one->reclaim();
    }

private:
    static constexpr milliseconds grace = seconds{1};  // for the executor to close what the deadline has cut off

    const std::shared_ptr<host> host_;
    const Executor executor_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::shared_ptr<lane_type>> lanes_;  // stays the same: somebody may stop us again meanwhile
    bool closed_ = false;
};

}  // namespace tollgate::server_detail
