#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_LISTENER_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_LISTENER_IPP

#include <tollgate/base/detail/system/boot_clock.hpp>
#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/base/detail/system/start_thread.hpp>
#include <tollgate/store/detail/postgres/listener.hpp>
#include <tollgate/store/postgres_database.hpp>


#include <algorithm>
#include <charconv>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

/// Takes `users 7 12 ...`; false if the payload is anything else.
inline bool forget_users(cache_invalidation_feed& changes, std::string_view payload) noexcept {
    constexpr std::string_view of_users = "users";
    if (!payload.starts_with(of_users)) return false;
    const char* const end = payload.data() + payload.size();
    for (const char* next = payload.data() + of_users.size(); next != end;) {
        if (*next++ != ' ') return false;
        std::int64_t number = 0;
        const auto [stop, failed] = std::from_chars(next, end, number);
        const auto user = user_id::from(number);
        if (failed != std::errc{} || !user) return false;
        changes.forget(*user);
        next = stop;
    }
    return true;
}

}  // namespace detail

TOLLGATE_DECL void listener::stop() noexcept {
    if (!thread_.joinable() || process_.is_parent()) return;
    stops_ = true;
    wake_.wake();
    thread_.join();
}

TOLLGATE_DECL listener::~listener() {
    before_openssl_end_.cancel();
    stop();
    // The thread of the parent process can be neither joined nor detached here.
    if (thread_.joinable()) static_cast<void>(new (std::nothrow) std::thread{std::move(thread_)});
}

TOLLGATE_DECL void listener::feed(std::shared_ptr<cache_invalidation_feed> changes) noexcept {
    changes_ = std::move(changes);
    static_cast<void>(changes_seen());
}

TOLLGATE_DECL std::optional<std::uint64_t> listener::changes_seen() noexcept {
    try {
        std::call_once(started_, [this] { start(); });
    } catch (...) {  // no thread: no notifications
    }
    if (!listens_.load(std::memory_order_acquire)) return std::nullopt;
    return notifications_.load(std::memory_order_relaxed);
}

TOLLGATE_DECL void listener::start() noexcept {
    if (!wake_.open()) return;
    try {
        process_.take();
        before_openssl_end_.call([](void* self) noexcept { static_cast<listener*>(self)->stop(); }, this);
        thread_ = tollgate::detail::start_thread([this] { listen_until_stopped(); });
    } catch (...) {  // no thread, or out of memory: no notifications
    }
}

TOLLGATE_DECL void listener::listen_until_stopped() noexcept {
    constexpr milliseconds first_pause{100}, last_pause{2000};
    milliseconds length = first_pause;
    while (!stops_) {
        const std::uint64_t before = notifications_;
        try {
            listen_while_connected();
        } catch (...) {  // out of memory: retried like any other failure
        }
        listens_ = false;
        if (changes_ != nullptr) changes_->trust_no_more();
        if (notifications_ != before) length = first_pause;
        if (pause(length)) return;
        length = (std::min)(2 * length, last_pause);
    }
}

TOLLGATE_DECL void listener::listen_while_connected() {
    auto opened = connections_.open_another();
    if (!opened) return;
    batch subscription{milliseconds{0}}, heartbeat{milliseconds{0}};
    subscription.add("LISTEN tollgate_deliveries");
    subscription.add("LISTEN tollgate_changes");
    // After a switchover, changes happen elsewhere: connect to the server that accepts them.
    for (batch* const each : {&subscription, &heartbeat}) each->add("SELECT current_setting('transaction_read_only')");
    const auto accepts_writes = [](run_result& response) {
        if (response.failed) return false;
        const auto read_only = response.results.back().only<std::string>();
        return read_only && std::get<0>(*read_only) == "off";
    };
    if (auto begun = opened->run(subscription); !accepts_writes(begun)) return;
    ++notifications_;  // earlier notifications were missed
    if (changes_ != nullptr) changes_->forget_all();
    listens_.store(true, std::memory_order_release);
    // A silent connection may be dead, so heartbeats are sent. Without a response for longer than rows are trusted, the
    // connection is closed; without cached rows there is more time.
    const milliseconds every = changes_ != nullptr ? heartbeat_interval : seconds{15};
    if (changes_ != nullptr) opened->set_response_wait_max(trusted_for);
    while (!stops_) {
        const auto asked_at = tollgate::detail::boot_now();
        if (auto response = opened->run(heartbeat); !accepts_writes(response)) return;
        take_notifications(*opened);
        if (changes_ != nullptr) changes_->trust_until(asked_at + trusted_for);
        for (;;) {
            const auto left = std::chrono::ceil<milliseconds>(asked_at + every - tollgate::detail::boot_now());
            if (left <= milliseconds{0} || stops_) break;
            if (!opened->wait_for_notification(left, wake_.descriptor())) return;
            take_notifications(*opened);
        }
    }
}

TOLLGATE_DECL void listener::take_notifications(connection& from) {
    bool any_due = false;
    while (const auto each = from.take_notification()) {
        if (each->channel != "tollgate_changes") any_due = true;
        // `all`, or a message of a later release or another program.
        else if (changes_ != nullptr && !detail::forget_users(*changes_, each->payload)) changes_->forget_all();
    }
    if (any_due) ++notifications_;
}

TOLLGATE_DECL bool listener::pause(milliseconds length) noexcept {
    pollfd polled{wake_.descriptor(), POLLIN, 0};
    tollgate::detail::poll_sockets(&polled, 1, static_cast<int>(length.count()));
    return stops_;
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_LISTENER_IPP
