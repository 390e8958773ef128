#pragma once

#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <asio/basic_stream_socket.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/post.hpp>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

/// Event loops on an Asio executor. Asio reports when a socket is ready and when a tick is over, and runs tasks later;
/// nothing else of it is used.
namespace tollgate::inline v0::server_detail {

/// Memory of one wait, inside what waits: waiting for the next request allocates nothing.
class wait_memory {
public:
    [[nodiscard]] void* take(std::size_t bytes) {
        if (taken_ || bytes > sizeof bytes_) return ::operator new(bytes);
        taken_ = true;
        return bytes_;
    }
    void give(void* data) noexcept {
        if (data == bytes_) taken_ = false;
        else ::operator delete(data);
    }

private:
    alignas(std::max_align_t) std::byte bytes_[128];
    bool taken_ = false;
};

template <class T>
struct wait_allocator {
    using value_type = T;

    explicit wait_allocator(wait_memory& from) noexcept : memory{&from} {}
    template <class U>
    wait_allocator(const wait_allocator<U>& other) noexcept : memory{other.memory} {}

    [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(memory->take(count * sizeof(T))); }
    void deallocate(T* data, std::size_t) noexcept { memory->give(data); }

    template <class U>
    bool operator==(const wait_allocator<U>& other) const noexcept {
        return memory == other.memory;
    }

    wait_memory* memory;
};

template <class Executor>
class asio_loop;

template <class Executor>
using asio_socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;

/// A connection on an Asio socket. The wait that is pending owns it.
template <class Executor>
class asio_connection final : public connection {
public:
    asio_connection(std::shared_ptr<asio_loop<Executor>> loop, asio_socket<Executor> socket, const ip_address& peer,
                    connection_limiter::decision decision) noexcept
        : connection{*loop, socket.native_handle(), peer, decision}, loop_{std::move(loop)}, socket_{std::move(socket)} {}

private:
    struct on_wait_over {
        using allocator_type = wait_allocator<std::byte>;

        explicit on_wait_over(asio_connection& of) noexcept : waiting{&of} {}
        on_wait_over(on_wait_over&& other) noexcept : waiting{std::exchange(other.waiting, nullptr)} {}
        ~on_wait_over() {
            if (waiting != nullptr) waiting->abandon();
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type{waiting->memory_}; }
        void operator()(const std::error_code&) { std::exchange(waiting, nullptr)->wait_over(); }

        asio_connection* waiting;
    };

    void wait_readable() noexcept override { socket_.async_wait(asio::socket_base::wait_read, on_wait_over{*this}); }
    void wait_writable() noexcept override { socket_.async_wait(asio::socket_base::wait_write, on_wait_over{*this}); }
    void cancel() noexcept override {
        std::error_code ignored;
        socket_.cancel(ignored);
    }

    void wait_over() noexcept {
        const auto inside = loop_->enter();
        on_ready();
    }

    /// The executor is gone, and with it the wait: nobody will call again.
    void abandon() noexcept {
        const auto inside = loop_->enter();
        delete this;
    }

    const std::shared_ptr<asio_loop<Executor>> loop_;  // the executor may end waits after the server was destroyed
    asio_socket<Executor> socket_;
    wait_memory memory_;
};

/// Accepts connections at one address and deals them out to loops in turn. Belongs to its loop's thread.
template <class Executor>
class asio_listener final : private deadline_wheel::entry {
public:
    using loops = std::vector<std::shared_ptr<asio_loop<Executor>>>;

    asio_listener(asio_loop<Executor>& loop, const loops& all, const listening_socket& from)
        : loop_{loop}, loops_{all.begin(), all.end()}, socket_{loop.executor()} {
        socket_.assign(asio::generic::stream_protocol{from.ipv6 ? AF_INET6 : AF_INET, 0}, from.socket);
    }
    ~asio_listener() { loop_.disarm(*this); }

    void wait() {
        socket_.async_wait(asio::socket_base::wait_read, [this, loop = loop_.shared_from_this()](const std::error_code& failed) {
            const auto inside = loop->enter();
            if (!failed && socket_.is_open()) accept();
        });
    }

    /// The port is free when this returns.
    void close() noexcept {
        std::error_code ignored;
        socket_.close(ignored);
        loop_.disarm(*this);
    }

private:
    static constexpr int batch_max = 64;                       // then the connections that are here have their turn
    static constexpr milliseconds pause_when_exhausted{100};   // long enough not to spin, short enough not to be noticed

    void accept();
    void deal(const accept_result& got);
    void on_deadline() noexcept override {
        if (socket_.is_open()) wait();
    }

    asio_loop<Executor>& loop_;
    std::vector<std::weak_ptr<asio_loop<Executor>>> loops_;  // weak: one of them owns this
    asio_socket<Executor> socket_;
    std::size_t next_loop_ = 0;
};

/// A loop on an executor that somebody else runs, perhaps on several threads: so it has a mutex. Unlike a strand that lets
/// a destructor shut the loop at once, whether or not the executor is still running.
template <class Executor>
class asio_loop final : public event_loop, public std::enable_shared_from_this<asio_loop<Executor>> {
public:
    /// `on_drained` is called once, on the loop's thread, when the loop is draining and its last connection is gone.
    asio_loop(std::shared_ptr<server_context> of, const Executor& executor, std::function<void()> on_drained)
        : event_loop{std::move(of)}, executor_{executor}, timer_{executor}, on_drained_{std::move(on_drained)} {}

    [[nodiscard]] const Executor& executor() const noexcept { return executor_; }

    /// Being on the loop's thread, for as long as this lives.
    class [[nodiscard]] loop_lock {
    public:
        explicit loop_lock(asio_loop& one) : loop_{one.shared_from_this()}, hold_{one.mutex_}, mark_{one.context()} {}

    private:
        const std::shared_ptr<asio_loop> loop_;  // what happens meanwhile may end its last connection
        const std::unique_lock<std::recursive_mutex> hold_;
        const serving_scope mark_;
    };
    loop_lock enter() { return loop_lock{*this}; }
    using event_loop::enter;

    void listen(const typename asio_listener<Executor>::loops& all, const listening_socket& from) {
        listeners_.push_back(std::make_unique<asio_listener<Executor>>(*this, all, from));
        listeners_.back()->wait();
    }
    void close_listeners() noexcept {
        for (const auto& one : listeners_) one->close();
    }

    /// Runs `task` on the loop's thread.
    template <class Task>
    void post(Task task) {
        asio::post(executor_, [self = this->shared_from_this(), task = std::move(task)] {
            const auto inside = self->enter();
            task(*self);
        });
    }

    /// Runs `task` now if the loop is free, otherwise later: who comes from within one loop must not wait for another one,
    /// whose thread may be waiting for his.
    template <class Task>
    void run_or_post(Task task) {
        const std::unique_lock free{mutex_, std::try_to_lock};
        if (!free) return post(std::move(task));
        const auto inside = enter();
        task(*this);
    }

    /// Ends everything now, from any thread, even if the executor never runs again. The handler is not called any more,
    /// but for calls that workers have under way; `reclaim` takes back what these had, after they have ended.
    void shut() noexcept {
        const auto inside = enter();
        close_listeners();
        this->drain(milliseconds{0});
        this->cut_off();
        shut_ = true;
        timer_.cancel();
    }
    void reclaim() noexcept {
        const auto inside = enter();
        this->collect();
    }

private:
    friend asio_listener<Executor>;

    void post_collect() noexcept override {
        post([](asio_loop& self) { self.collect(); });
    }

    void start_ticking() noexcept override {
        next_tick_ = clock::now() + this->tick_length();
        wait_for_tick();
    }

    void wait_for_tick() {
        timer_.expires_at(next_tick_);
        timer_.async_wait([self = this->shared_from_this()](const std::error_code& cancelled) {
            const auto inside = self->enter();
            if (cancelled || self->shut_) return;
            std::uint64_t ticks = 0;
            for (const auto now = clock::now(); self->next_tick_ <= now; ++ticks) self->next_tick_ += self->tick_length();
            if (self->tick(ticks)) self->wait_for_tick();
        });
    }

    void add_connection(socket_handle socket, const ip_address& peer, connection_limiter::decision decision) noexcept override;
    void on_drained() noexcept override {
        timer_.cancel();  // or a stop would take as long as a tick
        on_drained_();
    }

    using clock = std::chrono::steady_clock;

    const Executor executor_;
    asio::basic_waitable_timer<clock, asio::wait_traits<clock>, Executor> timer_;
    clock::time_point next_tick_{};
    std::vector<std::unique_ptr<asio_listener<Executor>>> listeners_;
    std::recursive_mutex mutex_;  // recursive: a handler may stop its own server
    bool shut_ = false;
    const std::function<void()> on_drained_;
};

template <class Executor>
void asio_listener<Executor>::accept() {
    for (int i = 0; i < batch_max; ++i) {
        const accept_result got = accept_one(socket_.native_handle());
        if (got.state == accept_state::exhausted) return loop_.arm(*this, pause_when_exhausted);
        if (got.state == accept_state::none) break;
        deal(got);
    }
    wait();
}

template <class Executor>
void asio_listener<Executor>::deal(const accept_result& got) {
    connection_limiter& connections = loop_.context().connections;
    const auto decision = connections.admit(got.peer);
    if (decision == connection_limiter::decision::dropped) return close_socket(got.socket);
    next_loop_ = (next_loop_ + 1) % loops_.size();
    const auto to = loops_[next_loop_].lock();
    if (to.get() == &loop_) return loop_.add_connection(got.socket, got.peer, decision);
    if (to && to->enqueue_accepted(got.socket, got.peer, decision)) return;
    close_socket(got.socket);
    connections.release(got.peer, decision);
}

template <class Executor>
void asio_loop<Executor>::add_connection(socket_handle socket, const ip_address& peer, connection_limiter::decision decision) noexcept {
    connection* made = nullptr;
    asio_socket<Executor> own{executor_};
    std::error_code failed;
    own.assign(asio::generic::stream_protocol{peer.is_v4() ? AF_INET : AF_INET6, 0}, socket, failed);
    if (failed) close_socket(socket);
    else made = new (std::nothrow) asio_connection<Executor>{this->shared_from_this(), std::move(own), peer, decision};
    if (made != nullptr) made->begin();
    else this->context().connections.release(peer, decision);
}

}  // namespace tollgate::server_detail
