#pragma once

#include <tollgate/store/postgres/listener.hpp>

#include <algorithm>
#include <array>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace tollgate::postgres {

TOLLGATE_DECL listener::~listener() {
    if (thread_.joinable()) {
        stops_ = true;
        const char wake = 0;
        [[maybe_unused]] const auto written = ::write(wake_writing_, &wake, 1);
        thread_.join();
    }
    for (const int each : {wake_reading_, wake_writing_})
        if (each >= 0) ::close(each);
}

TOLLGATE_DECL std::optional<std::uint64_t> listener::changes_seen() noexcept {
    try {
        std::call_once(started_, [this] { start(); });
    } catch (...) {  // no thread: nothing is heard
    }
    if (!listens_.load(std::memory_order_acquire)) return std::nullopt;
    return heard_.load(std::memory_order_relaxed);
}

TOLLGATE_DECL void listener::start() noexcept {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
    wake_reading_ = ends[0];
    wake_writing_ = ends[1];
    try {
        thread_ = std::thread{[this] { listen_until_stopped(); }};
    } catch (const std::system_error&) {  // no thread: nothing is heard
    }
}

TOLLGATE_DECL void listener::listen_until_stopped() noexcept {
    constexpr milliseconds first_pause{100}, last_pause{2000};
    milliseconds length = first_pause;
    while (!stops_) {
        const std::uint64_t before = heard_;
        try {
            listen_while_connected();
        } catch (...) {  // memory is short: tried again, as all else
        }
        listens_ = false;
        length = heard_ != before ? first_pause : (std::min)(2 * length, last_pause);
        if (pause(length)) return;
    }
}

TOLLGATE_DECL void listener::listen_while_connected() {
    // A connection that says nothing may be one that cannot: it is asked for a sign of life.
    constexpr seconds asked_every{15};
    auto opened = connections_.open_another();
    if (!opened) return;
    batch listens{milliseconds{0}}, lives{milliseconds{0}};
    listens.add("LISTEN tollgate_deliveries");
    lives.add("SELECT 1");
    if (opened->run(listens).failed) return;
    ++heard_;  // what came before is not heard any more
    listens_.store(true, std::memory_order_release);
    auto ask_at = std::chrono::steady_clock::now() + asked_every;
    while (!stops_) {
        if (opened->take_notifications() > 0) ++heard_;
        if (!opened->wait_for_notice(asked_every, wake_reading_)) return;
        if (std::chrono::steady_clock::now() < ask_at) continue;
        if (opened->run(lives).failed) return;
        ask_at = std::chrono::steady_clock::now() + asked_every;
    }
}

TOLLGATE_DECL bool listener::pause(milliseconds length) noexcept {
    pollfd polled{wake_reading_, POLLIN, 0};
    ::poll(&polled, 1, static_cast<int>(length.count()));
    return stops_;
}

}  // namespace tollgate::postgres
