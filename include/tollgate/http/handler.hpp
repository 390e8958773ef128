#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tollgate::inline v0::http {

/// What a host refused before there was a request to handle: malformed bytes (400), too slow (408), too long (414), too
/// many fields (431), overload (503). A handler only words the answer; the host closes the connection after it.
struct refusal {
    http::status status = http::status::bad_request;
    std::string_view reason;  ///< one sentence for the client, of static storage; says which rule was broken
    ip_address peer;
    bool secure = false;
};

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

/// A blocking handler that knows from a request's head that it will answer it without waiting:
/// `bool may_block(const request&) const noexcept`. The host then calls it in place. Called before `handle`, on the thread
/// that serves the sockets, for any request; quick, and true where it is not sure.
template <class H>
concept tells_what_blocks = handler_blocks<H>() && requires(const H& h, const request& asked) {
    { h.may_block(asked) } noexcept -> std::same_as<bool>;
};

template <class H>
[[nodiscard]] constexpr bool handler_may_block(const H& asked_handler, const request& asked) noexcept {
    if constexpr (tells_what_blocks<H>) return asked_handler.may_block(asked);
    else return handler_blocks<H>();
}

/// A handler that knows its places on a site by itself. Each is one as `mount` (in site.hpp) reads it.
template <class H>
concept knows_its_mounts = requires(const H& h) {
    { h.mounts() } -> std::same_as<std::vector<std::string>>;
};

/// A handler of any type behind one: what lets `server` be no template. A view; the handler must outlive it.
class handler_ref {
public:
    template <class H>
        requires(!std::same_as<std::remove_cvref_t<H>, handler_ref>) && handler<H>
    handler_ref(H& target) noexcept
        : target_{&target},
          handle_request_{[](void* to, const request& asked, response& out) noexcept { static_cast<H*>(to)->handle(asked, out); }},
          handle_refusal_{[](void* to, const refusal& refused, response& out) noexcept { static_cast<H*>(to)->handle(refused, out); }},
          blocking_{handler_blocks<H>()} {
        if constexpr (tells_what_blocks<H>)
            may_block_ = [](const void* of, const request& asked) noexcept { return static_cast<const H*>(of)->may_block(asked); };
    }

    void handle(const request& asked, response& out) const noexcept { handle_request_(target_, asked, out); }
    void handle(const refusal& refused, response& out) const noexcept { handle_refusal_(target_, refused, out); }
    /// Whether any request may block: then the host has threads that may wait.
    [[nodiscard]] bool blocking() const noexcept { return blocking_; }
    /// Whether this one may.
    [[nodiscard]] bool may_block(const request& asked) const noexcept {
        return may_block_ == nullptr ? blocking_ : may_block_(target_, asked);
    }

private:
    void* target_;
    void (*handle_request_)(void*, const request&, response&) noexcept;
    void (*handle_refusal_)(void*, const refusal&, response&) noexcept;
    bool (*may_block_)(const void*, const request&) noexcept = nullptr;
    bool blocking_;
};

static_assert(handler<handler_ref>);

}  // namespace tollgate::http
