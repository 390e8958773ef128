#pragma once

#include <tollgate/http/handler.hpp>

#include <atomic>
#include <optional>

namespace reference {

/// A placeholder for a handler that is constructed later: with port 0, the public addresses, which the API returns, are known
/// only after the server has started. Until then it responds with 503, but no client knows its address.
class late_handler {
public:
    static constexpr bool blocking = true;  // until it is known which requests do

    template <tollgate::http::handler H>
    void become(H& handler) {
        handler_.emplace(handler);
        target_.store(&*handler_, std::memory_order_release);
    }

    void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept {
        pass_on(request, response);
    }
    void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) noexcept {
        pass_on(refused, response);
    }
    [[nodiscard]] tollgate::http::handle_step advance(const tollgate::http::request& request, tollgate::http::response& response,
                                                      tollgate::http::handler_state& state,
                                                      tollgate::http::thread_kind thread) noexcept {
        if (const auto* target = target_.load(std::memory_order_acquire)) return target->advance(request, response, state, thread);
        response.set_status(tollgate::http::status::service_unavailable);
        return tollgate::http::handle_step::done;
    }

private:
    void pass_on(const auto& input, tollgate::http::response& response) noexcept {
        if (const auto* target = target_.load(std::memory_order_acquire)) target->handle(input, response);
        else response.set_status(tollgate::http::status::service_unavailable);
    }

    std::optional<tollgate::http::handler_ref> handler_;
    std::atomic<const tollgate::http::handler_ref*> target_ = nullptr;
};

}  // namespace reference
