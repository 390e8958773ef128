#pragma once

#include <tollgate/store/memory.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <support/scripted_peer.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What tests of a dispatcher share: a store, a clock, an observer, and a receiver of webhooks.
namespace tollgate_test::dispatch {

using namespace tollgate;

inline const account_ref shop{*service_name::from("sitesmaker"), account_id{1}};
inline const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

inline std::string status_line(unsigned status, const std::string& fields = {}) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 0\r\n" + fields + "\r\n";
}

/// A clock that many threads may read while a test sets it.
struct fake_clock {
    const std::atomic<std::int64_t>* milliseconds_since_1970;
    [[nodiscard]] instant now() const noexcept { return from_unix_milliseconds(*milliseconds_since_1970); }
};

/// Receives requests and responds as configured; a test waits for them one by one.
class receiver {
public:
    std::atomic<unsigned> status = 200;
    std::string fields;
    std::atomic<bool> hangs = false;

    [[nodiscard]] std::string url(const std::string& path = "/") const {
        return "http://127.0.0.1:" + std::to_string(peer_.port()) + path;
    }
    /// The next request that was not returned yet; empty if none arrives in time.
    std::string next(milliseconds timeout = std::chrono::minutes{1}) {
        std::unique_lock hold{mutex_};
        if (!changed_.wait_for(hold, timeout, [this] { return taken_ < received_.size(); })) return {};
        return received_[taken_++];
    }
    std::size_t count() {
        const std::lock_guard hold{mutex_};
        return received_.size();
    }
    std::size_t at_once_max() const { return at_once_max_; }

private:
    void serve(peer_connection& client) {
        for (std::string request = client.read_request(); !request.empty(); request = client.read_request()) {
            const std::size_t at_once = ++at_once_;
            for (std::size_t highest = at_once_max_; at_once > highest && !at_once_max_.compare_exchange_weak(highest, at_once);) {
            }
            {
                const std::lock_guard hold{mutex_};
                received_.push_back(std::move(request));
                changed_.notify_all();
            }
            if (hangs) {
                client.wait_for_the_end();
                --at_once_;
                return;
            }
            --at_once_;
            client.write(status_line(status, fields));
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> received_;
    std::size_t taken_ = 0;
    std::atomic<std::size_t> at_once_ = 0, at_once_max_ = 0;
    scripted_peer peer_{[this](peer_connection& client, int) { serve(client); }};
};

inline std::string field(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}
inline std::string body(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

/// Stores the attempts and problems of a dispatcher.
class recording_observer {
public:
    struct observed_attempt {
        tollgate::attempt attempt;
        delivery_outcome outcome;
        instant retry_at;
        tollgate::completion completion;
        std::string reason;
        std::string trace_id;
        std::string span_id;
    };
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record& record) const noexcept {
        const std::lock_guard hold{mutex_};
        problems_.push_back(record.error.cause);
        if (on_problem_) on_problem_();
        changed_.notify_all();
    }
    void on_attempt(const delivery_record& record) const noexcept {
        const std::lock_guard hold{mutex_};
        const auto& [delivery, result, completion, reason, trace_id, span_id] = record;
        received_.push_back({result.attempt, result.outcome, result.retry_at, completion, std::string{reason}, std::string{trace_id},
                             std::string{span_id}});
        changed_.notify_all();
    }

    std::optional<observed_attempt> next(milliseconds timeout = std::chrono::minutes{1}) {
        std::unique_lock hold{mutex_};
        if (!changed_.wait_for(hold, timeout, [this] { return taken_ < received_.size(); })) return std::nullopt;
        return received_[taken_++];
    }
    bool wait_for_problem() {
        std::unique_lock hold{mutex_};
        return changed_.wait_for(hold, std::chrono::minutes{1}, [this] { return !problems_.empty(); });
    }
    /// The first one.
    std::string problem() {
        const std::lock_guard hold{mutex_};
        return problems_.empty() ? std::string{} : problems_.front();
    }
    std::function<void()> on_problem_;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    mutable std::vector<observed_attempt> received_;
    mutable std::vector<std::string> problems_;
    std::size_t taken_ = 0;
};
static_assert(delivery_observer<recording_observer>);

/// Polls often, and waits long for receivers, which a busy machine may delay.
inline hook_dispatch_settings quick() {
    hook_dispatch_settings settings;
    settings.client.attempt_timeout = settings.client.connect_timeout = settings.client.lookup_timeout = std::chrono::minutes{10};
    settings.poll_interval = settings.lease_interval = milliseconds{20};
    settings.retry.jitter_percent = 0;
    return settings;
}

/// A store, a clock under the test's control, and the policies of a dispatcher.
class dispatcher_setup {
public:
    std::atomic<std::int64_t> now_milliseconds = 1'700'000'000'000;
    memory_store store;
    recording_observer observer;

    [[nodiscard]] instant now() const { return from_unix_milliseconds(now_milliseconds); }
    void advance_clock(milliseconds by) { now_milliseconds += by.count(); }

    auto policies(public_targets rule = {.private_allowed = true}) {
        return default_policies()
            .with_clock(fake_clock{&now_milliseconds})
            .with_target_rule(rule)
            .with_observer(std::ref(observer));
    }
    hook_id hook(const std::string& url, const std::string& event = "site.created") {
        const auto stored = store.create_hook({.account = shop, .event = event, .source = hook_source::api, .type = "webhook",
                                               .target_url = url, .secret = secret, .created_at = now()}, 2000);
        REQUIRE(stored);
        return *stored;
    }
    std::size_t publish(auto& to, const std::string& data = R"({"n":1})", const std::string& event = "site.created") {
        message_seed seed{};
        for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::byte>(++published_ >> (i * 3));
        const auto stored = to.append_event({shop, event, data, now()}, seed, now());
        REQUIRE(stored);
        return *stored;
    }
    delivery only_delivery(hook_id hook) {
        const auto all = testing::detail::deliveries_of(store, shop, hook, 10);
        REQUIRE((all && all->size() == 1));
        return all->front();
    }

private:
    std::uint64_t published_ = 0;
};

struct no_format {
    result<void> write(const due_delivery&, instant, http::field_block&, std::string&) const { return internal_error("no words"); }
};

}  // namespace tollgate_test::dispatch
