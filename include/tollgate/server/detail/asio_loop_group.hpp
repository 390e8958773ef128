#pragma once

#include <tollgate/server/detail/asio_loop.hpp>
#include <tollgate/server/detail/server_context.hpp>
#include <tollgate/server/detail/event_loop_group.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tollgate::inline v0::server_detail {

/// Lanes on an executor that somebody else runs.
template <class Executor>
class asio_loop_group final : public event_loop_group {
    using loop_type = asio_loop<Executor>;

public:
    asio_loop_group(const std::shared_ptr<server_context>& of, std::size_t loops, const Executor& executor)
        : context_{of}, executor_{executor}, drained_{std::make_shared<drain_count>(loops)} {
        while (loops_.size() < loops)
            loops_.push_back(std::make_shared<loop_type>(of, executor, [count = drained_] { count->one_drained(); }));
    }
    ~asio_loop_group() override { close(); }

    void listen(const std::vector<listening_socket>& from) override {
        for (std::size_t i = 0; i < from.size(); ++i) {
            const auto& one = loops_[i % loops_.size()];
            const auto inside = one->enter();
            one->listen(loops_, from[i]);
        }
    }

    void drain(milliseconds deadline) override {
        for (const auto& one : loops_)
            one->run_or_post([deadline](loop_type& self) {
                self.close_listeners();
                self.drain(deadline);
            });
    }

    void wait() override { drained_->wait(); }
    void wait(milliseconds deadline) override { drained_->wait_at_most(deadline + grace); }

    [[nodiscard]] bool needs_this_thread() const noexcept override {
        if (serving_scope::inside(*context_)) return true;
        if constexpr (requires { { executor_.running_in_this_thread() } -> std::same_as<bool>; })
            return executor_.running_in_this_thread();
        else return false;
    }

    void close() noexcept override {
        if (std::exchange(closed_, true)) return;
        for (const auto& one : loops_) one->shut();
        context_->workers.stop();
        for (const auto& one : loops_) one->reclaim();
    }

private:
    static constexpr milliseconds grace = seconds{1};  // for the executor to close what the deadline has cut off

    const std::shared_ptr<server_context> context_;
    const Executor executor_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::shared_ptr<loop_type>> loops_;  // stays the same: somebody may stop us again meanwhile
    bool closed_ = false;
};

}  // namespace tollgate::server_detail
