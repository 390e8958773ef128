#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_EPOLL_LOOP_IPP
#define TOLLGATE_SERVER_DETAIL_EPOLL_LOOP_IPP

#include <tollgate/base/detail/system/start_thread.hpp>
#include <tollgate/server/detail/epoll_loop.hpp>

#if !defined(TOLLGATE_SERVER_ASIO)

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL epoll_source::~epoll_source() {
    if (watched_ != interest::unregistered) (void)change(interest::unregistered);
    if (is_shared_) ::close(socket_);
    else close_socket(socket_);
}

TOLLGATE_DECL bool epoll_source::change(interest what) noexcept {
    epoll_event event{};
    event.events = what == interest::readable ? EPOLLIN | EPOLLPRI | EPOLLRDHUP : EPOLLOUT;
    if (trigger_ == trigger::edge) event.events |= EPOLLET;
    event.data.ptr = this;
    // Errors and hang-ups are always reported, so a socket without interest is removed.
    const int command = watched_ == interest::unregistered ? EPOLL_CTL_ADD
                        : what == interest::unregistered   ? EPOLL_CTL_DEL
                                                           : EPOLL_CTL_MOD;
    if (::epoll_ctl(epoll_.epoll_, command, socket_, &event) == 0) {
        watched_ = what;
        return true;
    }
    if (command == EPOLL_CTL_MOD) (void)::epoll_ctl(epoll_.epoll_, EPOLL_CTL_DEL, socket_, &event);
    watched_ = interest::unregistered;
    return false;
}

TOLLGATE_DECL epoll_connection::epoll_connection(epoll_loop& loop, socket_handle socket, const ip_address& peer,
                                                 admission admitted) noexcept
    : connection{loop, socket, peer, admitted}, epoll_source{loop, socket, trigger::edge} {}

TOLLGATE_DECL void epoll_connection::on_event(std::uint32_t events) noexcept {
    if ((events & (EPOLLRDHUP | EPOLLHUP)) != 0) ended_ = true;
    if (!awaited_ || (events & EPOLLPRI) != 0) reported_ = true;  // a read ends before urgent data, whatever follows it
    if (cancelled_) return;  // the loop ends the wait anyway, from its list of cancelled waits
    if (awaited_) end_wait();
}

TOLLGATE_DECL bool epoll_connection::wait(interest what, bool is_ready) noexcept {
    // What was reported may have been this; it is not reported again.
    if (std::exchange(reported_, false)) is_ready = true;
    awaited_ = watch(what);
    if (awaited_ && is_ready) cancel();
    return awaited_;
}

TOLLGATE_DECL void epoll_connection::cancel() noexcept {
    if (!std::exchange(cancelled_, true)) epoll().cancelled_.push(*this);
}

TOLLGATE_DECL void epoll_connection::end_wait() noexcept {
    awaited_ = cancelled_ = false;
    on_ready();
}

inline epoll_listener::epoll_listener(epoll_loop& loop, const listening_socket& from) noexcept
    : listener{loop, from.socket, from.is_shared}, epoll_source{loop, from.socket, trigger::level, from.is_shared} {}

TOLLGATE_COLD epoll_loop::epoll_loop(std::shared_ptr<server_context> context, std::shared_ptr<drain_count> drained)
    : event_loop{std::move(context), std::move(drained)}, epoll_{::epoll_create1(EPOLL_CLOEXEC)},
      wakeup_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    epoll_event event{};
    event.events = EPOLLIN;  // data.ptr stays null, which distinguishes the eventfd
    if (epoll_ >= 0 && wakeup_ >= 0 && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) == 0) return;
    const std::error_code why{errno, std::system_category()};
    if (epoll_ >= 0) ::close(epoll_);
    if (wakeup_ >= 0) ::close(wakeup_);
    throw std::system_error{why, "epoll"};
}

TOLLGATE_COLD epoll_loop::~epoll_loop() {
    listeners_.clear();
    ::close(epoll_);
    ::close(wakeup_);
}

TOLLGATE_COLD void epoll_loop::listen(const listening_socket& from) {
    std::unique_ptr<epoll_listener> made{new (std::nothrow) epoll_listener{*this, from}};
    if (!made) {
        close_listening(from);
        throw std::bad_alloc{};
    }
    listeners_.push_back(std::move(made));
    listeners_.back()->listen();
}

TOLLGATE_COLD void epoll_loop::ignore_new_clients() noexcept {
    for (const auto& one : listeners_) one->ignore_new();
}

TOLLGATE_COLD void epoll_loop::close_listeners(last_connections what) noexcept {
    if (what == last_connections::accepted)
        for (const auto& one : listeners_) one->accept_last();
    listeners_.clear();
}

TOLLGATE_DECL void epoll_loop::run() noexcept {
    std::array<epoll_event, 256> events;
    for (clock::time_point now = clock::now();;) {
        const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait_milliseconds(now));
        bool woken = false;
        for (int i = 0; i < count; ++i) {
            void* const source = events[static_cast<std::size_t>(i)].data.ptr;
            if (source == nullptr) woken = true;
            else static_cast<epoll_source*>(source)->on_event(events[static_cast<std::size_t>(i)].events);
        }
        // Steps that may end other connections come after the events, because events refer to connections.
        now = clock::now();
        if (ticks_ && next_tick() <= now) ticks_ = tick(now);
        if (woken) on_wakeup();
        end_cancelled();
        if (context().abandoned) return;
        if (exit_requested_ && drained()) {
            collect();  // the last loop to close its listener may have left a connection here, to be closed
            return;
        }
    }
}

TOLLGATE_DECL int epoll_loop::wait_milliseconds(clock::time_point now) const noexcept {
    if (cancelled_.size() != 0) return 0;
    if (!ticks_) return -1;
    const auto left = std::chrono::ceil<milliseconds>(next_tick() - now).count();
    return left <= 0 ? 0 : static_cast<int>(left);
}

TOLLGATE_DECL void epoll_loop::end_cancelled() noexcept {
    // Waits that are cancelled meanwhile, such as that of a connection with more input, end in the next pass, after the other events.
    work_queue ending = std::exchange(cancelled_, {});
    while (work_item* const one = ending.pop()) static_cast<epoll_connection&>(*one).end_wait();
}

TOLLGATE_DECL bool epoll_loop::wake() noexcept {
    const std::uint64_t once = 1;
    (void)!::write(wakeup_, &once, sizeof once);  // fails only after 2^64 writes without a read
    return true;
}

TOLLGATE_COLD void epoll_loop::request_exit() noexcept {
    exit_requested_ = true;
    (void)wake();
}

TOLLGATE_DECL void epoll_loop::on_wakeup() noexcept {
    std::uint64_t count = 0;
    (void)!::read(wakeup_, &count, sizeof count);
    collect();
}

TOLLGATE_DECL connection* epoll_loop::make_connection(socket_handle socket, const ip_address& peer, admission admitted) noexcept {
    connection* const made = new (std::nothrow) epoll_connection{*this, socket, peer, admitted};
    if (made == nullptr) close_socket(socket);
    return made;
}

TOLLGATE_COLD epoll_loop_group::epoll_loop_group(const std::shared_ptr<server_context>& context, std::size_t loops)
    : context_{context}, drained_{std::make_shared<drain_count>(loops)} {
    while (loops_.size() < loops)
        loops_.push_back(std::make_unique<epoll_loop>(context, drained_));
    for (std::size_t i = 0; i < loops; ++i) loops_[i]->set_next(*loops_[(i + 1) % loops]);
}

TOLLGATE_COLD void epoll_loop_group::listen(const std::vector<listening_socket>& from) {
    distribute(from, loops_);
    threads_.reserve(loops_.size());
    for (const auto& one : loops_)
        threads_.push_back(tollgate::detail::start_thread([this, &loop = *one] {
            const serving_scope mark{*context_};
            running_.run([&loop] { loop.run(); });
        }));
}

TOLLGATE_COLD void epoll_loop_group::drain(const drain_times& within) {
    for (const auto& one : loops_) one->request_drain(within);
}

TOLLGATE_COLD void epoll_loop_group::close() noexcept {
    for (std::size_t i = 0; i < threads_.size(); ++i) loops_[i]->request_drain({});
    if (threads_.size() == loops_.size()) drained_->wait();
    for (std::size_t i = 0; i < threads_.size(); ++i) loops_[i]->request_exit();
    for (std::thread& one : threads_) one.join();
    threads_.clear();
}

TOLLGATE_COLD void epoll_loop_group::abandon() noexcept {
    context_->abandoned = true;
    for (const auto& one : loops_) one->request_exit();
    running_.join_others(threads_);
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_ASIO

#endif  // TOLLGATE_SERVER_DETAIL_EPOLL_LOOP_IPP
