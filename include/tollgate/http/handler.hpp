#pragma once

#include <tollgate/http/refusal.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <concepts>
#include <type_traits>

namespace tollgate::http {

/// A function from request to response. `account_api`, `authorization_server`, `account_pages` and `site` are handlers;
/// our `server`, Boost.Beast, another framework and a unit test are hosts for one.
///
/// Exemplar:
///
///     struct hello {
///         void handle(const http::request&, http::response& out) noexcept { out.body() = "hello"; }
///         void handle(const http::refusal& why, http::response& out) noexcept { out.set_status(why.status); }
///     };
template <class H>
concept handler = requires(H& h, const request& asked, const refusal& refused, response& out) {
    // Answers one request into `out`, which comes cleared. Called from many threads at once. Nothing thrown leaves it.
    // It may block only if `H::blocking` is true (see `handler_blocks`); it keeps no view of `asked`.
    { h.handle(asked, out) } noexcept -> std::same_as<void>;
    // Words the answer to something the host refused by itself; sets `out`'s status to `refused.status`. Never blocks.
    { h.handle(refused, out) } noexcept -> std::same_as<void>;
};

/// Whether `handle(request)` may wait for a disk or another machine: `static constexpr bool blocking`, false if missing.
/// A host calls a blocking handler on threads that may wait, never on the thread that serves the sockets.
template <class H>
[[nodiscard]] constexpr bool handler_blocks() noexcept {
    if constexpr (requires { { H::blocking } -> std::convertible_to<bool>; }) return H::blocking;
    else return false;
}

/// A handler of any type behind one: what lets `server` be no template. A view; the handler must outlive it.
class handler_ref {
public:
    template <class H>
        requires(!std::same_as<std::remove_cvref_t<H>, handler_ref>) && handler<H>
    handler_ref(H& target) noexcept
        : target_{&target},
          handle_request_{[](void* to, const request& asked, response& out) noexcept { static_cast<H*>(to)->handle(asked, out); }},
          handle_refusal_{[](void* to, const refusal& refused, response& out) noexcept { static_cast<H*>(to)->handle(refused, out); }},
          blocking_{handler_blocks<H>()} {}

    void handle(const request& asked, response& out) const noexcept { handle_request_(target_, asked, out); }
    void handle(const refusal& refused, response& out) const noexcept { handle_refusal_(target_, refused, out); }
    [[nodiscard]] bool blocking() const noexcept { return blocking_; }

private:
    void* target_;
    void (*handle_request_)(void*, const request&, response&) noexcept;
    void (*handle_refusal_)(void*, const refusal&, response&) noexcept;
    bool blocking_;
};

static_assert(handler<handler_ref>);

}  // namespace tollgate::http
