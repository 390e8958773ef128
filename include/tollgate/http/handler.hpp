#pragma once
#ifndef TOLLGATE_HTTP_HANDLER_HPP
#define TOLLGATE_HTTP_HANDLER_HPP

#include <tollgate/base/blocking.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0::http {

/// A request that the server refuses before a handler receives it: malformed bytes (400), timeout (408), target too long (414), a host that
/// it does not serve (421), too many fields (431), overload (503). A handler only writes the response; the server closes the connection.
struct refusal {
    http::status status = http::status::bad_request;
    std::string_view reason;  ///< a sentence for the client, with static storage, that names the broken rule
    ip_address peer;
    bool secure = false;
    const http::request* request = nullptr;  ///< null if its head was malformed or incomplete; valid during the call
    /// If `request` is null, the part of the request that was read: a path that may be cut off, and some of the fields. Null if nothing was
    /// read; valid during the call.
    const http::request* partial = nullptr;

    /// Returns the path of the request, as far as it is known; otherwise an empty text.
    [[nodiscard]] std::string_view path() const noexcept {
        const http::request* known = request != nullptr ? request : partial;
        return known == nullptr ? std::string_view{} : known->target.path;
    }
};

/// Answers a request whose method the path does not support. Adds `Allow`, and responds to OPTIONS with 204. Otherwise sets and returns the
/// status of the refusal, 501 for an unknown method and 405 for any other (RFC 9110 section 9.1); the calling code writes the body.
inline std::optional<status> refuse_method(const request& sent, response& response, field_value allowed) {
    response.add("Allow", allowed);
    if (sent.method == method::options) {
        response.set_status(status::no_content);
        return std::nullopt;
    }
    const status refused = sent.method == method::other ? status::not_implemented : status::method_not_allowed;
    response.set_status(refused);
    return refused;
}

/// Returns true for a method that only reads: GET or HEAD.
[[nodiscard]] constexpr bool is_read(method sent) noexcept { return sent == method::get || sent == method::head; }

/// A function from request to response. `account_api`, `authorization_server`, `account_pages` and `site` are handlers. Handlers are called
/// by `server`, by another framework such as Boost.Beast, or by a unit test.
///
/// Exemplar:
///
///     struct hello {
///         static constexpr bool blocking = false;
///         void handle(const http::request&, http::response& response) noexcept { response.body() = "hello"; }
///         void handle(const http::refusal& refusal, http::response& response) noexcept { response.set_status(refusal.status); }
///     };
template <class H>
concept handler = requires(H& h, const request& whole, const refusal& refused, response& response) {
    // Answers one request, whose body is complete. `response` is empty at first. Called from many threads at once. Never throws. May block,
    // unless `H::blocking` is false (see `may_block`): a server calls a handler that may block on worker threads, never on a thread that
    // serves sockets. Keeps no view of the request.
    { h.handle(whole, response) } noexcept -> std::same_as<void>;
    // Writes the response to a request that the server refused; sets its status to `refused.status`. Never blocks.
    { h.handle(refused, response) } noexcept -> std::same_as<void>;
};

/// Returns true if `handle(request)` reads the body: `static constexpr bool reads_body`, or true if that is missing. A handler that does
/// not read the body is called as soon as the head has arrived.
template <class H>
[[nodiscard]] constexpr bool handler_reads_body() noexcept {
    if constexpr (requires { { H::reads_body } -> std::convertible_to<bool>; }) return H::reads_body;
    else return true;
}

/// The progress of a handler with a request.
enum class handle_step : std::uint8_t {
    done,          ///< the response is complete
    needs_body,    ///< call again when the body is complete or too large
    needs_worker,  ///< call again on a worker that may wait for `handler_state::waits_for`
};

/// The thread that calls a handler.
enum class thread_kind : std::uint8_t {
    io,      ///< serves sockets and must not wait
    worker,  ///< may wait for a disk or another machine
};

/// The kind of work that a request waits for on a worker thread. The server bounds the number of workers of each kind, so that a part of
/// the application that hangs, or has a long queue, delays no request that waits for another part.
enum class work_kind : std::uint8_t {
    other,           ///< anything else
    credentials,     ///< looking up a token, or the secret of an OAuth application
    sessions,        ///< looking up a session, or whether a user is active
    token_uses,      ///< recording the use of a token; not worth a long wait
    users,           ///< the user directory
    limits,          ///< the rate limiter
    store_reads,     ///< other reads of the store
    store_writes,    ///< writes: SQLite has one writer at a time
    pages,           ///< rendering pages
    forms,           ///< processing forms
    sign_in,         ///< checking passwords
    token_endpoint,  ///< issuing, revoking and describing OAuth tokens
    client_documents,  ///< getting the metadata documents of OAuth applications from other hosts
};
/// The number of kinds of work.
inline constexpr std::size_t work_kinds = static_cast<std::size_t>(work_kind::client_documents) + 1;

/// The state that a handler keeps for a request between two calls of `advance`, in the server's memory: an object of a type that the
/// handler chooses, created by the first call of `get`. One thread at a time uses it.
class handler_state {
public:
    // Enough for a caller with the largest scope set, and a route with all parameters.
    static constexpr std::size_t bytes_max = 2048;

    handler_state() noexcept = default;
    handler_state(const handler_state&) = delete;
    handler_state& operator=(const handler_state&) = delete;
    ~handler_state() { clear(); }

    /// Returns the object, created from `arguments` if there is none. All calls for a request use the same type.
    template <class T, class... Arguments>
    [[nodiscard]] T& get(Arguments&&... arguments) {
        static_assert(sizeof(T) <= bytes_max && alignof(T) <= alignof(std::max_align_t), "the state of a handler is too large");
        if (destroy_ == nullptr) {
            ::new (static_cast<void*>(bytes_)) T(std::forward<Arguments>(arguments)...);
            destroy_ = &destroy<T>;
        }
        assert(destroy_ == &destroy<T>);
        return *std::launder(static_cast<T*>(static_cast<void*>(bytes_)));
    }

    /// Reads or sets the kind of work that the request waits for. The handler sets it before it returns `handle_step::needs_worker`.
    [[nodiscard]] work_kind waits_for() const noexcept { return waits_for_; }
    void set_waits_for(work_kind kind) noexcept { waits_for_ = kind; }

    /// Reads or sets the bound in bytes of a body that the handler awaits, if it is less than the server's bound. The handler sets it
    /// before it returns `handle_step::needs_body`. A larger chunked body arrives as `body_state::too_large`, without being buffered.
    [[nodiscard]] std::size_t body_bytes_max() const noexcept { return body_bytes_max_; }
    void set_body_bytes_max(std::size_t bytes) noexcept { body_bytes_max_ = bytes; }

    /// Returns the time of the handler's clock. The clock is read once for all requests that arrived together and that the server answers
    /// in one pass without waiting. `clock.now()` returns an `instant`, and `clock.target()` identifies the clock, like the functions of
    /// `time_source_ref`.
    template <class Clock>
    [[nodiscard]] instant time_by(const Clock& clock) noexcept {
        if (clock_ != clock.target()) {
            time_ = clock.now();
            clock_ = clock.target();
        }
        return time_;
    }
    /// Makes the next `time_by` read the clock. A server calls it before each pass, and after each request on a worker.
    void forget_time() noexcept { clock_ = nullptr; }

    /// Destroys the object. A server calls it before the next request, and when the connection is closed. Keeps the time.
    void clear() noexcept {
        waits_for_ = work_kind::other;
        body_bytes_max_ = static_cast<std::size_t>(-1);
        if (destroy_ != nullptr) std::exchange(destroy_, nullptr)(bytes_);
    }

private:
    template <class T>
    static void destroy(void* object) noexcept {
        static_cast<T*>(object)->~T();
    }

    const void* clock_ = nullptr;  // the clock that was read for time_; null if none was
    instant time_{};
    void (*destroy_)(void*) noexcept = nullptr;  // destroys the object in bytes_; null if there is none
    std::size_t body_bytes_max_ = static_cast<std::size_t>(-1);
    work_kind waits_for_ = work_kind::other;
    alignas(std::max_align_t) std::byte bytes_[bytes_max];
};

/// A handler that answers in steps. It can refuse a request based on the head, before the body is read, and moves to a worker only when it
/// has to wait.
///
/// The server calls `advance` when the head has arrived (`body_state::pending` if part of the body is missing), and again each time that
/// the need of the last step is met, until `done`. The request and the response stay the same objects, but the bytes that the request
/// refers to may move between calls. Nothing is thrown.
///
/// On a worker (`thread_kind::worker`) the handler may wait for the kind of work that it set with `state.set_waits_for`, and for nothing
/// else. If it then has to wait for another kind, it sets that kind and returns `needs_worker` again; usually the same worker continues at
/// once. Setting the same kind again is a defect of the handler: the response is 500.
template <class H>
concept resumable_handler = handler<H> && requires(H& h, const request& request, response& response, handler_state& state,
                                                   thread_kind thread) {
    { h.advance(request, response, state, thread) } noexcept -> std::same_as<handle_step>;
};

/// Calls `advance` of any handler. A handler that is not resumable is called once, on a thread on which it may run, when the request is as
/// complete as it needs.
template <handler H>
[[nodiscard]] handle_step advance(H& target, const request& request, response& response, handler_state& state,
                                  thread_kind thread) noexcept {
    if constexpr (resumable_handler<H>) {
        return target.advance(request, response, state, thread);
    } else {
        if (handler_reads_body<H>() && request.body_state == body_state::pending) return handle_step::needs_body;
        if (tollgate::may_block(target) && thread == thread_kind::io) return handle_step::needs_worker;
        target.handle(request, response);
        return handle_step::done;
    }
}

/// A handler that returns the paths that it serves: prefixes as in `http::mount` (site.hpp).
template <class H>
concept knows_its_mounts = requires(const H& h) {
    { h.mounts() } -> std::same_as<std::vector<std::string>>;
};

/// Refers to a handler of any class, which must outlive the reference, or to none; then nothing but `operator bool` may be called.
class handler_ref {
public:
    /// Constructs a reference to no handler.
    handler_ref() noexcept = default;
    /// Constructs a reference to `target`, which must outlive it.
    template <class H>
        requires(!std::same_as<std::remove_cvref_t<H>, handler_ref> && std::is_class_v<H>)
    handler_ref(H& target) noexcept : target_{std::addressof(target)} {
        static_assert(handler<H>, "tollgate: this does not satisfy handler; read tollgate/http/handler.hpp");
        if constexpr (handler<H>) {
            handle_request_ = [](void* object, const request& request, response& response) noexcept {
                static_cast<H*>(object)->handle(request, response);
            };
            handle_refusal_ = [](void* object, const refusal& refused, response& response) noexcept {
                static_cast<H*>(object)->handle(refused, response);
            };
            advance_ = [](void* object, const request& request, response& response, handler_state& state, thread_kind thread) noexcept {
                return http::advance(*static_cast<H*>(object), request, response, state, thread);
            };
            may_block_ = tollgate::may_block(target);
        }
    }

    /// Returns whether it refers to a handler.
    explicit operator bool() const noexcept { return target_ != nullptr; }
    /// Each passes its arguments on to the handler.
    void handle(const request& request, response& response) const noexcept { handle_request_(target_, request, response); }
    void handle(const refusal& refused, response& response) const noexcept { handle_refusal_(target_, refused, response); }
    [[nodiscard]] handle_step advance(const request& request, response& response, handler_state& state,
                                      thread_kind thread) const noexcept {
        return advance_(target_, request, response, state, thread);
    }
    /// Returns true if any request may need a worker.
    [[nodiscard]] bool may_block() const noexcept { return may_block_; }

private:
    void* target_ = nullptr;
    void (*handle_request_)(void*, const request&, response&) noexcept = nullptr;
    void (*handle_refusal_)(void*, const refusal&, response&) noexcept = nullptr;
    handle_step (*advance_)(void*, const request&, response&, handler_state&, thread_kind) noexcept = nullptr;
    bool may_block_ = false;
};

static_assert(resumable_handler<handler_ref>);

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_HANDLER_HPP
