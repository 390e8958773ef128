#pragma once
#ifndef TOLLGATE_SERVER_SERVER_IPP
#define TOLLGATE_SERVER_SERVER_IPP

#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/server/detail/epoll_loop.hpp>
#include <tollgate/server/server.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace tollgate::inline v0 {

namespace server_detail::detail {

/// What a TLS source makes, which may be the integrator's own.
template <class Make>
[[nodiscard]] result<std::shared_ptr<const tls_context>> made_by_source(const Make& make) noexcept {
    try {
        auto context = make();
        if (context && *context == nullptr) return invalid("The TLS source has returned nothing.");  // not plain HTTP instead
        return context;
    } catch (const std::exception& failed) {
        return exception_error("the TLS source", failed.what());
    } catch (...) {
        return exception_error("the TLS source", "an exception");
    }
}

}  // namespace server_detail::detail

class server::core {
public:
    core(http::handler_ref handler, server_settings&& settings, server_detail::loop_group_factory make_loops)
        : context_{std::make_shared<server_detail::server_context>(handler, std::move(settings))}, make_loops_{std::move(make_loops)} {}
    TOLLGATE_COLD ~core();

    TOLLGATE_COLD result<void> listen();
    /// Serves `handler`; if it refers to none, that of the constructor.
    TOLLGATE_COLD result<void> start(http::handler_ref handler);
    TOLLGATE_COLD int run();
    TOLLGATE_COLD void wait();
    TOLLGATE_COLD void stop(milliseconds deadline);
    TOLLGATE_COLD result<void> reload_certificates();
    TOLLGATE_COLD std::vector<listen_address> endpoints() const;
    /// Returns true if it must not be destroyed: it belongs to the parent process, or one of its own threads destroys it.
    [[nodiscard]] TOLLGATE_COLD bool must_remain() noexcept;
    [[nodiscard]] server_statistics statistics() const noexcept { return context_->counters.read(context_->workers.queued()); }

private:
    enum class state { fresh, starting, listening, running, stopping, stopped };

    /// Calls `step`, which leads to the state `reached`; after a failure everything that it made is gone.
    template <class Step>
    TOLLGATE_COLD result<void> take_step(state reached, Step step);
    TOLLGATE_COLD void end_step(state reached) noexcept;
    TOLLGATE_COLD result<void> open_sockets();
    TOLLGATE_COLD result<void> start_loops();
    TOLLGATE_COLD result<void> check_settings() const;
    TOLLGATE_COLD void drain(milliseconds deadline);
    [[nodiscard]] TOLLGATE_COLD server_detail::drain_times times_of_stop(milliseconds deadline) const noexcept;
    TOLLGATE_COLD void remove_socket_files();
    /// Closes the sockets that no loop has, and removes their files. Precondition: `mutex_` is held.
    TOLLGATE_COLD void close_sockets() noexcept;
    /// Ends workers and threads. Precondition: not called on one of them.
    TOLLGATE_COLD void close();
    /// Ends all threads that use OpenSSL, and frees its objects.
    TOLLGATE_COLD void end_before_openssl() noexcept;

    const std::shared_ptr<server_detail::server_context> context_;
    const server_detail::loop_group_factory make_loops_;

    // Never held while waiting for a loop or a handler: a handler may call the server.
    mutable std::mutex mutex_;
    std::condition_variable state_changed_;
    state state_ = state::fresh;
    bool stopped_before_start_ = false;
    std::optional<milliseconds> stop_when_started_;
    std::vector<listen_address> endpoints_;
    std::vector<server_detail::listening_socket> sockets_;  // until the loops have them; in `starting`, of the thread that starts
    std::vector<server_detail::socket_file> socket_files_;  // files of Unix domain sockets that the server created

    tollgate::detail::before_openssl_end before_openssl_end_;
    std::mutex close_mutex_;                     // one of the waiting threads closes everything
    std::unique_ptr<server_detail::event_loop_group> loops_;  // constant from `running` on
};

TOLLGATE_COLD server::server(http::handler_ref handler, server_settings&& settings, server_detail::loop_group_factory make_loops)
    : core_{std::make_unique<core>(handler, std::move(settings), std::move(make_loops))} {}

#if !defined(TOLLGATE_SERVER_ASIO)
TOLLGATE_COLD server::server(http::handler_ref handler, server_settings settings)
    : server{handler, std::move(settings), [](const auto& context, std::size_t loops) {
                 return std::make_unique<server_detail::epoll_loop_group>(context, loops);
             }} {}
#endif

TOLLGATE_COLD server::~server() {
    if (core_->must_remain()) tollgate::detail::leave_undestroyed(core_);
}

TOLLGATE_COLD result<void> server::listen() { return core_->listen(); }
TOLLGATE_COLD result<void> server::start() { return core_->start({}); }
TOLLGATE_COLD result<void> server::start(http::handler_ref handler) { return core_->start(handler); }
TOLLGATE_COLD int server::run() { return core_->run(); }
TOLLGATE_COLD void server::wait() { core_->wait(); }
TOLLGATE_COLD void server::stop(milliseconds deadline) { core_->stop(deadline); }
TOLLGATE_COLD result<void> server::reload_certificates() { return core_->reload_certificates(); }
TOLLGATE_COLD std::vector<listen_address> server::endpoints() const { return core_->endpoints(); }

TOLLGATE_DECL server_statistics server::statistics() const noexcept { return core_->statistics(); }

TOLLGATE_COLD std::uint16_t server::port() const {
    const auto all = core_->endpoints();
    return all.empty() ? std::uint16_t{0} : all.front().port;
}

TOLLGATE_COLD result<void> server::core::listen() {
    return take_step(state::listening, [this] { return open_sockets(); });
}

TOLLGATE_COLD result<void> server::core::start(http::handler_ref handler) {
    return take_step(state::running, [&]() -> result<void> {
        if (handler) context_->handler = handler;
        if (!context_->handler) return invalid("The server has no handler: pass one to the constructor or to start().");
        if (sockets_.empty())
            if (auto opened = open_sockets(); !opened) return opened;
        return start_loops();
    });
}

template <class Step>
TOLLGATE_COLD result<void> server::core::take_step(state reached, Step step) {
    if (context_->process.is_parent()) return unavailable("the parent process has started this server");
    bool is_first = false;
    {
        const std::lock_guard hold{mutex_};
        is_first = state_ == state::fresh;
        if (!is_first && !(state_ == state::listening && reached == state::running))
            return unavailable("a server can be started only once, and not after it has been stopped");
        state_ = state::starting;
        context_->process.take();
    }
    try {
        if (is_first)
            before_openssl_end_.call([](void* self) noexcept { static_cast<core*>(self)->end_before_openssl(); }, this);
        auto done = step();
        end_step(done ? reached : state::stopped);
        return done;
    } catch (const std::exception& failed) {
        end_step(state::stopped);  // before the error is described, for which there may be no memory
        return internal_error(std::string{"the server could not start: "} + failed.what());
    } catch (...) {
        end_step(state::stopped);
        return internal_error("the server could not start: an exception");
    }
}

TOLLGATE_COLD void server::core::end_step(state reached) noexcept {
    if (reached == state::stopped) {
        {
            const std::lock_guard hold{mutex_};
            close_sockets();
        }
        context_->workers.stop();  // first: a worker may still have to wake a loop
        loops_.reset();
    }
    std::optional<milliseconds> drain_within;
    {
        const std::lock_guard hold{mutex_};
        state_ = reached;
        if (stop_when_started_ && reached == state::running) {
            drain_within = stop_when_started_;
            state_ = state::stopping;
        } else if (stop_when_started_ && reached == state::listening) {
            stopped_before_start_ = true;
            close_sockets();
            state_ = state::stopped;
        }
        state_changed_.notify_all();
    }
    if (drain_within) drain(*drain_within);
}

TOLLGATE_COLD void server::core::close_sockets() noexcept {
    for (auto&& each : std::exchange(socket_files_, {})) each.remove();
    for (const auto& each : std::exchange(sockets_, {})) close_listening(each);
    endpoints_.clear();
}

TOLLGATE_COLD result<void> server::core::open_sockets() {
    using namespace server_detail;
    if (auto checked = check_settings(); !checked) return checked;
    const server_settings& settings = context_->settings;
    if (settings.tls) {
        auto context = server_detail::detail::made_by_source(settings.tls);
        if (!context) return std::move(context).error();
        context_->set_tls(*std::move(context));
    }

    // Memory is taken before there is a socket or a file, which would be lost without it.
    sockets_.reserve(settings.listening_sockets.size() + 1 + settings.more_addresses.size());
    const auto listen = [&](const listen_address& at) -> result<void> {
        const std::lock_guard hold{mutex_};
        socket_file* const file = at.address.starts_with("unix:") ? &socket_files_.emplace_back(unix_path_of(at)) : nullptr;
        auto opened = file == nullptr ? listen_at(at, settings.backlog)
                                      : listen_at_path(at, *file, settings.backlog, settings.unix_socket_mode);
        if (!opened) return std::move(opened).error();
        if (file != nullptr) file->identify();
        sockets_.push_back(*std::move(opened));
        return {};
    };
    for (const socket_handle one : settings.listening_sockets) {
        if (std::any_of(sockets_.begin(), sockets_.end(), [one](const listening_socket& each) { return each.socket == one; }))
            return invalid("Descriptor " + std::to_string(one) + " was passed twice.");
        auto adopted = adopt_listening(one);
        if (!adopted) return std::move(adopted).error();
        sockets_.push_back(*std::move(adopted));
    }
    if (settings.listening_sockets.empty()) {
        if (auto opened = listen({settings.address, settings.port}); !opened) return opened;
        for (const listen_address& one : settings.more_addresses)
            if (auto opened = listen(one); !opened) return opened;
    }
    const std::lock_guard hold{mutex_};
    for (const listening_socket& one : sockets_) endpoints_.push_back(one.at);
    return {};
}

TOLLGATE_COLD result<void> server::core::start_loops() {
    const server_settings& settings = context_->settings;
    loops_ = make_loops_(context_, settings.threads != 0 ? settings.threads : (std::max)(1U, std::thread::hardware_concurrency()));
    if (context_->handler.may_block()) context_->workers.start(settings.worker_threads);
    loops_->listen(std::exchange(sockets_, {}));
    return {};
}

TOLLGATE_COLD result<void> server::core::check_settings() const {
    const server_settings& settings = context_->settings;
    const std::pair<const char*, milliseconds> times[] = {
        {"header_timeout", settings.header_timeout}, {"body_timeout", settings.body_timeout},
        {"idle_timeout", settings.idle_timeout},     {"write_timeout", settings.write_timeout},
        {"handshake_timeout", settings.handshake_timeout}, {"linger_timeout", settings.linger_timeout},
        {"queue_wait_max", settings.queue_wait_max}};
    for (const auto& [name, time] : times)
        if (time <= milliseconds{0}) return invalid(std::string{"The server setting "} + name + " must be above zero.");
    const std::pair<const char*, std::size_t> counts[] = {
        {"header_bytes_max", settings.header_bytes_max}, {"connections_max", settings.connections_max},
        {"worker_threads", settings.worker_threads},     {"worker_queue_max", settings.worker_queue_max},
        {"unsent_bytes_max", settings.unsent_bytes_max}};
    for (const auto& [name, count] : counts)
        if (count == 0) return invalid(std::string{"The server setting "} + name + " must be above zero.");
    return {};
}

TOLLGATE_COLD int server::core::run() {
    const auto started = start({});
    if (started) wait();
    const std::lock_guard hold{mutex_};
    return started || stopped_before_start_ ? 0 : report(started.error());
}

TOLLGATE_COLD void server::core::wait() {
    if (context_->process.is_parent()) return;
    {
        std::unique_lock hold{mutex_};
        state_changed_.wait(hold, [this] { return state_ == state::stopping || state_ == state::stopped; });
        if (state_ == state::stopped) return;
    }
    loops_->wait();
    close();
}

TOLLGATE_COLD void server::core::stop(milliseconds deadline) {
    if (context_->process.is_parent()) return;
    deadline = (std::clamp)(deadline, milliseconds{0}, server_detail::for_ever);
    {
        std::unique_lock hold{mutex_};
        if (state_ == state::fresh || state_ == state::listening) {
            stopped_before_start_ = true;
            close_sockets();
            state_ = state::stopped;
            state_changed_.notify_all();
        }
        if (state_ == state::starting) {
            context_->stopping = true;
            stop_when_started_ = deadline;
            if (server_detail::serving_scope::is_set_for(*context_)) return;
            state_changed_.wait(hold, [this] { return state_ != state::starting; });
        }
        if (state_ == state::stopped) return;
        state_ = state::stopping;
        state_changed_.notify_all();
    }
    drain(deadline);
    if (loops_->needs_this_thread()) return;
    loops_->wait();
    close();
}

TOLLGATE_COLD void server::core::remove_socket_files() {
    const std::lock_guard hold{mutex_};
    for (auto&& each : std::exchange(socket_files_, {})) each.remove();
}

TOLLGATE_COLD void server::core::drain(milliseconds deadline) {
    const auto within = times_of_stop(deadline);
    if (within.grace == milliseconds{0}) remove_socket_files();  // while it still listens: a server that starts now has a file of its own
    context_->stopping = true;
    loops_->drain(within);
}

TOLLGATE_COLD server_detail::drain_times server::core::times_of_stop(milliseconds deadline) const noexcept {
    if (deadline == milliseconds{0}) return {};
    const milliseconds grace = (std::clamp)(context_->settings.stop_grace, milliseconds{0}, server_detail::for_ever);
    return {.grace = grace, .deadline = grace + deadline};
}

TOLLGATE_COLD void server::core::close() {
    const std::lock_guard one_at_a_time{close_mutex_};
    loops_->close();
    context_->workers.stop();
    remove_socket_files();
    const std::lock_guard hold{mutex_};
    state_ = state::stopped;
    state_changed_.notify_all();
}

TOLLGATE_COLD bool server::core::must_remain() noexcept {
    if (context_->process.is_parent()) return true;
    if (!server_detail::serving_scope::is_set_for(*context_)) return false;
    before_openssl_end_.cancel();
    remove_socket_files();
    context_->stopping = true;
    loops_->abandon();
    context_->workers.abandon();
    return true;
}

TOLLGATE_COLD void server::core::end_before_openssl() noexcept {
    if (must_remain()) return;
    {
        const std::lock_guard hold{mutex_};
        if (state_ == state::fresh || state_ == state::starting || state_ == state::stopped) return;
        if (state_ == state::listening) {
            close_sockets();
            state_ = state::stopped;
        }
    }
    if (loops_) {
        remove_socket_files();
        context_->stopping = true;
        close();
    }
    context_->set_tls(nullptr);
}

TOLLGATE_COLD server::core::~core() {
    before_openssl_end_.cancel();
    if (!loops_) {
        close_sockets();
        return;
    }
    remove_socket_files();
    context_->stopping = true;
    close();
}

TOLLGATE_COLD result<void> server::core::reload_certificates() {
    const tls_source& source = context_->settings.tls;
    if (!source) return invalid("The server has no TLS settings.");
    const auto current = context_->tls();
    std::string warning;
    auto next = server_detail::detail::made_by_source([&] { return current ? current->reload(warning) : source(); });
    if (!next) return std::move(next).error();
    if (!warning.empty()) context_->warn(warning);
    context_->set_tls(*std::move(next));
    return {};
}

TOLLGATE_COLD std::vector<listen_address> server::core::endpoints() const {
    const std::lock_guard hold{mutex_};
    return endpoints_;
}

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_SERVER_IPP
