#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_ATTEMPT_RUN_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_ATTEMPT_RUN_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/response_parser.hpp>
#include <tollgate/webhooks/detail/asio.hpp>
#include <tollgate/webhooks/detail/connection.hpp>
#include <tollgate/webhooks/detail/name_lookup.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::webhooks {

class hook_client;

/// An attempt: resolves the name, connects, performs the TLS handshake, sends and reads, each within its timeout and
/// all within the attempt's. Belongs to its client's strand. Pending operations hold a reference and do nothing after
/// the end.
class attempt_run : public std::enable_shared_from_this<attempt_run> {
public:
    TOLLGATE_DECL attempt_run(std::shared_ptr<hook_client> client, outgoing_request request);

    /// `blank` contains one ended_attempt with the request's number. It is filled in and passed to the client at the
    /// end.
    TOLLGATE_DECL void begin(ended_attempts blank) noexcept;
    /// Ends the attempt; not attempted if the request has not been sent.
    TOLLGATE_DECL void cut_off() noexcept;

private:
    using clock = std::chrono::steady_clock;

    /// Runs a step; running out of memory ends the attempt.
    template <class Step>
    void guarded(Step step) noexcept {
        if (ended_) return;
        try {
            step();
        } catch (const std::exception& failed) {
            end_with_shortage(failed.what());
        }
    }

    TOLLGATE_DECL void start();
    TOLLGATE_DECL void allow(milliseconds time);
    TOLLGATE_DECL void on_time_out();

    TOLLGATE_DECL void connect();
    TOLLGATE_DECL void on_looked_up(const lookup_result& looked_up);
    TOLLGATE_DECL void on_addresses(const std::vector<ip_address>& found);
    TOLLGATE_DECL void connect_next();
    TOLLGATE_DECL void on_connected(const std::shared_ptr<hook_connection>& one, const asio_error& failed);
    TOLLGATE_DECL void stop_connecting() noexcept;
    TOLLGATE_DECL void start_tls();
    TOLLGATE_DECL void send();
    TOLLGATE_DECL void read();
    TOLLGATE_DECL void on_read(const asio_error& failed, std::size_t bytes);
    TOLLGATE_DECL void on_lost(std::string reason);

    TOLLGATE_DECL void end_as(attempt_end end_kind, std::string reason, attempt_cause cause = attempt_cause::none) noexcept;
    TOLLGATE_DECL void end_with_shortage(std::string_view of_what) noexcept;
    TOLLGATE_DECL void end_not_attempted(std::string reason) noexcept;
    TOLLGATE_DECL void end() noexcept;

    const std::shared_ptr<hook_client> client_;
    outgoing_request request_;
    const std::string origin_;
    std::string message_;  // head and body
    const clock::time_point started_at_ = clock::now();
    clock::time_point ends_at_;
    clock::time_point connected_by_{};
    asio::basic_waitable_timer<clock, asio::wait_traits<clock>, client_executor> timer_;
    std::uint64_t timer_round_ = 0;

    std::vector<ip_address> addresses_;
    std::size_t next_address_ = 0;
    std::vector<std::shared_ptr<hook_connection>> connecting_;  // oldest first
    std::shared_ptr<hook_connection> connection_;
    bool looking_up_ = false;
    std::uint64_t lookup_ = 0;  // number of the lookup
    bool in_body_ = false;
    bool used_before_ = false;   // true if the connection was used before
    bool written_ = false;
    bool ended_ = false;
    std::string last_fault_;
    attempt_cause time_out_cause_ = attempt_cause::none;  // cause of a timeout in the current step
    ended_attempts result_;
    http::response_parser parser_;
    std::array<char, 4096> input_;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/attempt_run.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_ATTEMPT_RUN_HPP
