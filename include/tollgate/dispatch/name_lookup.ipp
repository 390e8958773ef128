#pragma once

#include <tollgate/dispatch/name_lookup.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tollgate {

TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    if (::getaddrinfo(host.c_str(), nullptr, &wanted, &first) != 0) return {};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{first, ::freeaddrinfo};

    std::vector<ip_address> found;
    for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
        if (each->ai_family == AF_INET) {
            sockaddr_in one{};
            std::memcpy(&one, each->ai_addr, sizeof one);
            std::array<std::uint8_t, 4> bytes{};
            std::memcpy(bytes.data(), &one.sin_addr, bytes.size());
            found.push_back(ip_address::v4(bytes[0], bytes[1], bytes[2], bytes[3]));
        } else if (each->ai_family == AF_INET6) {
            sockaddr_in6 one{};
            std::memcpy(&one, each->ai_addr, sizeof one);
            std::array<std::uint8_t, 16> bytes{};
            std::memcpy(bytes.data(), &one.sin6_addr, bytes.size());
            found.push_back(ip_address::from_bytes(bytes));
        }
    }
    return found;
}

namespace dispatching {

/// Shared by the threads, which may outlive the pool.
class lookup_pool::state : public std::enable_shared_from_this<state> {
public:
    state(name_lookup look_up, std::size_t threads_max)
        : look_up_{std::move(look_up)}, threads_max_{(std::max)(threads_max, std::size_t{2})} {}

    void ask(const std::string& host, on_answer tell) {
        const std::lock_guard hold{mutex_};
        if (stopping_) return;
        const auto [place, is_new] = asked_.try_emplace(host);
        place->second.push_back(std::move(tell));
        if (!is_new) return;  // somebody is asking, or about to
        waiting_.push_back(host);
        if (idle_ >= waiting_.size() || threads_ == threads_max_) {
            came_.notify_one();
            return;
        }
        try {
            std::thread{[self = shared_from_this()] { self->run(); }}.detach();
            ++threads_;
        } catch (const std::system_error&) {  // those that are there will come to it
            if (threads_ == 0) asked_.erase(host), waiting_.pop_back();
        }
    }

    void stop() noexcept {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
        asked_.clear();
        waiting_.clear();
        came_.notify_all();
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds long_time{1};
    static constexpr std::size_t slow_names_max = 4096;

    /// The name to look up next, if there is one that this thread may.
    [[nodiscard]] std::deque<std::string>::iterator next() {
        if (slow_running_ < threads_max_ / 2) return waiting_.begin();
        return std::find_if(waiting_.begin(), waiting_.end(),
                            [this](const std::string& each) { return !slow_names_.contains(each); });
    }

    void run() {
        std::unique_lock hold{mutex_};
        for (;;) {
            ++idle_;
            came_.wait(hold, [this] { return stopping_ || next() != waiting_.end(); });
            --idle_;
            if (stopping_) return;
            const auto place = next();
            const std::string host = std::move(*place);
            waiting_.erase(place);
            const bool slow = slow_names_.contains(host);
            slow_running_ += slow ? 1 : 0;
            hold.unlock();

            const auto began = clock::now();
            std::vector<ip_address> found;
            try {
                found = look_up_(host);
            } catch (...) {  // as if the name led nowhere
            }
            const bool was_slow = clock::now() - began >= long_time;

            hold.lock();
            slow_running_ -= slow ? 1 : 0;
            if (!was_slow) slow_names_.erase(host);
            else if (slow_names_.size() < slow_names_max) slow_names_.insert(host);
            if (stopping_) return;
            if (slow) came_.notify_one();
            if (const auto asking = asked_.extract(host))
                for (const on_answer& each : asking.mapped()) each(found);
        }
    }

    const name_lookup look_up_;
    const std::size_t threads_max_;
    std::mutex mutex_;
    std::condition_variable came_;
    std::unordered_map<std::string, std::vector<on_answer>> asked_;
    std::deque<std::string> waiting_;
    std::unordered_set<std::string> slow_names_;
    std::size_t slow_running_ = 0;
    std::size_t threads_ = 0;
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

TOLLGATE_DECL lookup_pool::lookup_pool(name_lookup look_up, std::size_t threads_max)
    : state_{std::make_shared<state>(look_up ? std::move(look_up) : name_lookup{&system_lookup}, threads_max)} {}

TOLLGATE_DECL lookup_pool::~lookup_pool() { state_->stop(); }

TOLLGATE_DECL void lookup_pool::stop() noexcept { state_->stop(); }

TOLLGATE_DECL void lookup_pool::ask(const std::string& host, on_answer tell) { state_->ask(host, std::move(tell)); }

}  // namespace dispatching
}  // namespace tollgate
