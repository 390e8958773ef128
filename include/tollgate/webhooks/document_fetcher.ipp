#pragma once
#ifndef TOLLGATE_WEBHOOKS_DOCUMENT_FETCHER_IPP
#define TOLLGATE_WEBHOOKS_DOCUMENT_FETCHER_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/webhooks/detail/asio.hpp>
#include <tollgate/webhooks/detail/hook_client.hpp>
#include <tollgate/webhooks/document_fetcher.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace tollgate::inline v0 {

namespace webhooks {

/// Hands the responses of a client to the threads that wait for them.
class response_waiter final : public client_owner {
public:
    explicit response_waiter(policies by) : policies_{std::move(by)} {}

    [[nodiscard]] const target_rule_ref& rule() const noexcept { return policies_.target_rule(); }
    [[nodiscard]] bool allows(const ip_address& address) noexcept override { return rule().allows(address); }

    [[nodiscard]] std::uint64_t begin() {
        const std::lock_guard lock{mutex_};
        ended_[++last_];
        return last_;
    }
    /// The response, or empty if there is none after `time`.
    [[nodiscard]] std::optional<ended_attempt> wait(std::uint64_t number, milliseconds time) {
        std::unique_lock lock{mutex_};
        arrived_.wait_for(lock, time, [&] { return ended_[number].has_value(); });
        auto response = std::move(ended_[number]);
        ended_.erase(number);
        return response;
    }
    void on_ended(ended_attempts ended) noexcept override {
        const std::lock_guard lock{mutex_};
        for (auto& each : ended)
            if (const auto waiting = ended_.find(each.number); waiting != ended_.end()) waiting->second = std::move(each);
        arrived_.notify_all();
    }

private:
    policies policies_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::uint64_t, std::optional<ended_attempt>> ended_;
    std::uint64_t last_ = 0;
};

/// The time for which a response may be reused (RFC 9111 section 5.2.2); empty if the field does not say it.
[[nodiscard]] inline std::optional<seconds> freshness_of(std::string_view cache_control) noexcept {
    std::optional<seconds> found;
    while (!cache_control.empty()) {
        const auto end = (std::min)(cache_control.find(','), cache_control.size());
        const auto directive = tollgate::detail::trim_ows(cache_control.substr(0, end));
        cache_control.remove_prefix((std::min)(end + 1, cache_control.size()));
        const auto name = directive.substr(0, directive.find('='));
        if (tollgate::detail::ascii_iequals(name, "no-store") || tollgate::detail::ascii_iequals(name, "no-cache")) return seconds{0};
        constexpr std::uint64_t day = 24 * 60 * 60;  // longer times are cut, whatever unit they were meant in
        if (tollgate::detail::ascii_iequals(name, "max-age") && name.size() < directive.size())
            found = seconds{(std::min)(tollgate::detail::parse_decimal(directive.substr(name.size() + 1)).value_or(0), day)};
    }
    return found;
}

/// Why there is no response, for the developer of the application.
[[nodiscard]] inline std::string describe_fault(const ended_attempt& ended) {
    switch (ended.end) {
        case attempt_end::no_address: return "its host name does not resolve";
        case attempt_end::refused_address: return "its host has no public address";
        case attempt_end::no_connection: return "its host refused the connection";
        case attempt_end::no_tls: return "the TLS handshake with its host failed: " + ended.reason;
        case attempt_end::timed_out: return "its host did not respond in time";
        case attempt_end::bad_response: return "the response is not valid HTTP/1.1";
        default: return "the connection was closed";
    }
}

}  // namespace webhooks

struct document_fetcher::state {
    state(policies by, document_fetcher_settings configured)
        : settings{std::move(configured)}, waiter{std::make_shared<webhooks::response_waiter>(std::move(by))} {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
        if (client) client->abort();
        work.reset();
        if (thread.joinable()) thread.join();
    }

    /// Starts the client with the first call.
    [[nodiscard]] result<std::shared_ptr<webhooks::hook_client>> start() {
        const std::lock_guard lock{mutex};
        if (client) return client;
        hook_client_settings client_settings{.user_agent = settings.user_agent,
                                             .attempt_timeout = settings.timeout,
                                             .lookup_timeout = settings.timeout,
                                             .connect_timeout = settings.timeout,
                                             .handshake_timeout = settings.timeout,
                                             .body_timeout = settings.timeout,
                                             .authorities_file = settings.authorities_file,
                                             .look_up = settings.look_up,
                                             .lookup_threads_max = 4,
                                             .idle_connections_max = 0};
        client_settings.response.kept_bytes_max = client_settings.response.body_bytes_max = settings.body_bytes_max;
        auto made = webhooks::hook_client::make(io.get_executor(), std::move(client_settings), waiter);
        if (!made) return std::move(made).error();
        work.emplace(io.get_executor());
        thread = std::thread{[this] { io.run(); }};
        return client = *std::move(made);
    }

    const document_fetcher_settings settings;
    const std::shared_ptr<webhooks::response_waiter> waiter;
    std::mutex mutex;
    asio::io_context io{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
    std::shared_ptr<webhooks::hook_client> client;
    std::thread thread;
};

TOLLGATE_COLD document_fetcher::document_fetcher(policies policies, document_fetcher_settings settings)
    : state_{std::make_shared<state>(std::move(policies), std::move(settings))} {}

TOLLGATE_COLD result<fetched_document> document_fetcher::operator()(const std::string& url) const {
    try {
        auto target = http::url::parse(url);
        if (!target || target->scheme != http::url_scheme::https || target->has_user_info || target->has_fragment)
            return invalid("it is not an https URL without user information and fragment");
        if (!state_->waiter->rule().check(*target)) return invalid("its host is not a public one");
        const auto client = state_->start();
        if (!client) return client.error();
        const auto number = state_->waiter->begin();
        std::vector<webhooks::outgoing_request> requests(1);
        requests.front() = {.number = number,
                            .target = *std::move(target),
                            .fields = "Accept: application/json\r\nConnection: close\r\n",
                            .body = {},
                            .method = "GET"};
        (*client)->send(std::move(requests));
        constexpr milliseconds margin{500};  // the client's own time-out comes first
        auto ended = state_->waiter->wait(number, state_->settings.timeout + margin);
        if (!ended) return unavailable("a document was not fetched in time");
        if (!ended->counts()) return unavailable("a document was not fetched: " + ended->reason);
        if (ended->end != attempt_end::answered)
            return error{ended->end == attempt_end::refused_address ? error_kind::invalid : error_kind::unavailable,
                         webhooks::describe_fault(*ended), {}};
        if (!ended->is_whole)
            return invalid("it is not complete, or longer than " + std::to_string(state_->settings.body_bytes_max) + " bytes");
        return fetched_document{.status = ended->status,
                                .content_type = std::move(ended->content_type),
                                .body = std::move(ended->response),
                                .fresh_for = webhooks::freshness_of(ended->cache_control)};
    } catch (const std::exception& failed) {
        return exception_error("a document was not fetched", failed.what());
    }
}

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_DOCUMENT_FETCHER_IPP
