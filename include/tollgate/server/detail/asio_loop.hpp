#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_ASIO_LOOP_HPP
#define TOLLGATE_SERVER_DETAIL_ASIO_LOOP_HPP

#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/server/detail/asio.hpp>
#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

/// Event loops on an Asio executor. Asio is used only to learn when a socket is ready or a tick is over, and to post
/// tasks.
namespace tollgate::inline v0::server_detail {

/// Memory for the operation of one wait, inside the waiting object, so that waiting does not allocate.
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

/// A handler whose operation is stored in that memory.
template <class Function>
struct wait_handler {
    using allocator_type = wait_allocator<std::byte>;

    wait_handler(wait_memory& from, Function called) : memory{&from}, function{std::move(called)} {}
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type{*memory}; }
    void operator()(const asio_error& failed) { function(failed); }

    wait_memory* memory;
    Function function;
};

template <class Executor>
class asio_loop;

template <class Executor>
using asio_socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
/// What Asio takes a listening socket for. On Windows, it waits for input of a stream by an empty read, which fails on one that listens.
template <class Executor>
using asio_listening_socket = asio::basic_seq_packet_socket<asio::generic::seq_packet_protocol, Executor>;

/// Closes a socket in a way that removes its registration from Asio: otherwise the kernel would continue to report it
/// while a child process has a copy of the descriptor.
template <class Socket>
void close_asio_socket(Socket& one, bool is_shared = false) noexcept {
    if (!one.is_open()) return;
    asio_error failed;
    const socket_handle socket = one.release(failed);
    if (!failed) close_listening({.socket = socket, .at = {}, .is_shared = is_shared});
    else one.close(failed);
}

/// A connection on an Asio socket, owned by its pending wait.
template <class Executor>
class asio_connection final : public connection {
public:
    asio_connection(std::shared_ptr<asio_loop<Executor>> loop, asio_socket<Executor> socket, const ip_address& peer,
                    admission admitted) noexcept
        : connection{*loop, socket.native_handle(), peer, admitted}, asio_loop_{std::move(loop)}, socket_{std::move(socket)} {}
    ~asio_connection() override { close_asio_socket(socket_); }

private:
    struct on_wait_over {
        using allocator_type = wait_allocator<std::byte>;

        explicit on_wait_over(asio_connection& owner) noexcept : waiting{&owner} {}
        on_wait_over(on_wait_over&& other) noexcept : waiting{std::exchange(other.waiting, nullptr)} {}
        ~on_wait_over() {
            if (waiting != nullptr) waiting->abandon();
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type{waiting->memory_}; }
        void operator()(const asio_error&) { std::exchange(waiting, nullptr)->wait_over(); }

        asio_connection* waiting;
    };

    [[nodiscard]] bool wait_readable() noexcept override { return wait(asio::socket_base::wait_read); }
    [[nodiscard]] bool wait_writable() noexcept override { return wait(asio::socket_base::wait_write); }
    [[nodiscard]] bool wait(asio::socket_base::wait_type type) noexcept {
        starting_ = true;
        bool started = true;
        try {
            socket_.async_wait(type, on_wait_over{*this});
        } catch (...) {
            started = false;
        }
        starting_ = false;
        return started;
    }
    void cancel() noexcept override {
        asio_error ignored;
        socket_.cancel(ignored);
    }

    void wait_over() noexcept {
        const auto inside = asio_loop_->enter();
        if (!asio_loop_->context().abandoned) on_ready();
    }

    /// The executor was destroyed together with the wait: no handler will be called.
    void abandon() noexcept {
        if (starting_) return;  // the wait could not be started: `wait` returns false
        // Ending it would end the parent's connection, or use what the end of the process has destroyed.
        if (asio_loop_->context().process.is_parent() || asio_loop_->context().abandoned) return;
        const auto inside = asio_loop_->lock();
        delete this;
    }

    const std::shared_ptr<asio_loop<Executor>> asio_loop_;  // the executor may end waits after the server was destroyed
    asio_socket<Executor> socket_;
    wait_memory memory_;
    bool starting_ = false;
};

template <class Executor>
class asio_listener final : public listener {
public:
    /// Throws; then the socket is still the caller's.
    asio_listener(asio_loop<Executor>& loop, const listening_socket& from)
        : listener{loop, from.socket, from.is_shared}, asio_loop_{loop}, socket_{loop.executor()}, is_shared_{from.is_shared} {
        socket_.assign(asio::generic::seq_packet_protocol{from.ipv6 ? AF_INET6 : AF_INET, 0}, from.socket);
    }
    ~asio_listener() override { close(); }

    /// The port is free when this returns.
    void close() noexcept {
        close_asio_socket(socket_, is_shared_);
        asio_loop_.disarm(*this);
    }

private:
    [[nodiscard]] bool wait_readable() noexcept override {
        if (!socket_.is_open()) return true;
        try {
            socket_.async_wait(asio::socket_base::wait_read,
                               wait_handler{memory_, [this, loop = asio_loop_.shared_from_this()](const asio_error& failed) {
                                                const auto inside = loop->enter();
                                                if (!failed && !loop->context().abandoned && socket_.is_open()) accept_all();
                                            }});
            return true;
        } catch (...) {
            return false;
        }
    }
    void pause() noexcept override {}  // waits of Asio end by themselves

    asio_loop<Executor>& asio_loop_;
    asio_listening_socket<Executor> socket_;
    const bool is_shared_;
    wait_memory memory_;
};

/// Records which threads have run an executor. An executor itself cannot tell if any thread runs it now.
class executor_threads {
public:
    /// Called by every handler.
    void note() noexcept {
        const auto here = std::this_thread::get_id();
        auto first = first_.load(std::memory_order_relaxed);
        if (first == here || (first == std::thread::id{} && first_.compare_exchange_strong(first, here))) return;
        are_several_.store(true, std::memory_order_relaxed);
    }
    /// Returns true if all handlers so far were called on this thread, so that waiting for the next one on it is in vain.
    [[nodiscard]] bool are_only_this() const noexcept { return !are_several_ && first_ == std::this_thread::get_id(); }

private:
    std::atomic<std::thread::id> first_{};
    std::atomic<bool> are_several_ = false;
};

/// An event loop on an executor, which several threads may run; a mutex serializes them. Unlike with a strand, a
/// destructor can end the loop at once, whether or not the executor is still run.
template <class Executor>
class asio_loop final : public event_loop, public std::enable_shared_from_this<asio_loop<Executor>> {
public:
    asio_loop(std::shared_ptr<server_context> context, const Executor& executor, std::shared_ptr<drain_count> drained,
              std::shared_ptr<executor_threads> threads)
        : event_loop{std::move(context), std::move(drained)}, executor_{executor}, threads_{std::move(threads)}, timer_{executor} {}

    [[nodiscard]] const Executor& executor() const noexcept { return executor_; }

    /// Makes the calling thread the loop's thread during its lifetime.
    class [[nodiscard]] loop_lock {
    public:
        explicit loop_lock(asio_loop& one) : loop_{one.shared_from_this()}, hold_{one.mutex_}, mark_{one.context()} {}

    private:
        const std::shared_ptr<asio_loop> loop_;  // keeps the loop: its last connection may end meanwhile
        const std::unique_lock<std::recursive_mutex> hold_;
        const serving_scope mark_;
    };
    loop_lock lock() { return loop_lock{*this}; }
    /// Locks the loop for a handler that the executor calls.
    loop_lock enter() {
        threads_->note();
        return lock();
    }

    void listen(const listening_socket& from) {
        const auto inside = lock();
        this->begin_ticking();  // so that Asio allocates the timer before memory runs short
        std::unique_ptr<asio_listener<Executor>> made;
        try {
            made = std::make_unique<asio_listener<Executor>>(*this, from);
        } catch (...) {
            close_listening(from);
            throw;
        }
        listeners_.push_back(std::move(made));
        listeners_.back()->listen();
    }

    /// Collects now if no thread is in the loop; otherwise a posted task does. A thread in one loop must not wait for
    /// another loop, whose thread may be waiting for the first one. On a thread that serves this server, always the posted task:
    /// the loop may be in use further up the stack.
    void try_collect() noexcept {
        if (serving_scope::is_set_for(this->context())) return;
        const std::unique_lock free{mutex_, std::try_to_lock};
        if (!free) return;
        const auto inside = lock();
        this->collect();
    }

    /// Ends everything now, from any thread, even if the executor is never run again. The handler is not called any
    /// more, except for calls already running on workers; `reclaim` takes their connections back when they have ended.
    void shut() noexcept {
        const auto inside = lock();
        is_shut_down_ = true;
        this->request_drain({});
        this->collect();
        timer_.cancel();
    }
    /// Waits until no other thread is in the loop, at most a second. Its handlers do nothing once the context is abandoned.
    void abandon() noexcept {
        constexpr int waits_max = 1000;
        for (int i = 0; i < waits_max; ++i, std::this_thread::sleep_for(milliseconds{1}))
            if (const std::unique_lock unused{mutex_, std::try_to_lock}) return;
    }
    void reclaim() noexcept {
        const auto inside = lock();
        this->collect();
    }

private:
    bool wake() noexcept override {
        try {
            asio::post(executor_, [self = this->shared_from_this()] {
                const auto inside = self->enter();
                if (!self->context().abandoned) self->collect();
            });
            return true;
        } catch (...) {
            return false;
        }
    }

    [[nodiscard]] bool start_ticking() noexcept override { return wait_for_tick(); }
    void stop_ticking() noexcept override { timer_.cancel(); }  // otherwise a stop would take up to one tick

    [[nodiscard]] bool wait_for_tick() noexcept {
        if (is_shut_down_) return false;
        try {
            timer_.expires_at(this->next_tick());
            timer_.async_wait(wait_handler{tick_memory_, [self = this->shared_from_this()](const asio_error& cancelled) {
                const auto inside = self->enter();
                if (cancelled || self->is_shut_down_ || self->context().abandoned || !self->tick(clock::now())) return;
                if (!self->wait_for_tick()) self->ticks_failed();
            }});
            return true;
        } catch (...) {
            return false;
        }
    }

    [[nodiscard]] connection* make_connection(socket_handle socket, const ip_address& peer, admission admitted) noexcept override {
        asio_socket<Executor> own{executor_};
        try {
            own.assign(asio::generic::stream_protocol{peer.is_v4() ? AF_INET : AF_INET6, 0}, socket);
        } catch (...) {
            close_socket(socket);
            return nullptr;
        }
        connection* const accepted =
            new (std::nothrow) asio_connection<Executor>{this->shared_from_this(), std::move(own), peer, admitted};
        if (accepted == nullptr) close_asio_socket(own);
        return accepted;
    }
    void ignore_new_clients() noexcept override {
        for (const auto& one : listeners_) one->ignore_new();
    }
    void close_listeners(last_connections what) noexcept override {
        for (const auto& one : listeners_) {
            if (what == last_connections::accepted) one->accept_last();
            one->close();  // not destroyed: one of their handlers may be about to run
        }
    }

    using clock = event_loop::clock;

    const Executor executor_;
    const std::shared_ptr<executor_threads> threads_;
    asio::basic_waitable_timer<clock, asio::wait_traits<clock>, Executor> timer_;
    wait_memory tick_memory_;
    std::vector<std::unique_ptr<asio_listener<Executor>>> listeners_;
    std::recursive_mutex mutex_;  // recursive: a handler may stop its own server
    bool is_shut_down_ = false;
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_ASIO_LOOP_HPP
