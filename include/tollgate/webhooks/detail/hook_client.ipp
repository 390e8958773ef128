#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_HOOK_CLIENT_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_HOOK_CLIENT_IPP

#include <tollgate/http/response.hpp>
#include <tollgate/webhooks/detail/asio.hpp>
#include <tollgate/webhooks/detail/attempt_run.hpp>
#include <tollgate/webhooks/detail/hook_client.hpp>

#include <exception>
#include <string>
#include <utility>

namespace tollgate::inline v0::webhooks {

TOLLGATE_DECL result<std::shared_ptr<hook_client>> hook_client::make(const asio::any_io_executor& executor, hook_client_settings settings,
                                                                     std::shared_ptr<client_owner> owner) {
    if (!http::field_value::from(settings.user_agent) || settings.user_agent.empty())
        return invalid("The user agent is not one line of text.");
    auto tls = make_client_tls(settings.authorities_file);
    if (!tls) return std::move(tls).error();
    return std::make_shared<hook_client>(executor, std::move(settings), std::move(owner), *std::move(tls));
}

TOLLGATE_DECL hook_client::hook_client(const asio::any_io_executor& executor, hook_client_settings settings,
                                       std::shared_ptr<client_owner> owner, std::shared_ptr<asio::ssl::context> tls)
    : strand_{executor},
      settings_{std::move(settings)},
      owner_{std::move(owner)},
      tls_{std::move(tls)},
      names_{[look_up = settings_.look_up](const std::string& host) { return result_of(look_up, host); },
             settings_.lookup_threads_max, tollgate::detail::lookup_names::from_users},
      idle_{{settings_.idle_connections_max, settings_.idle_per_host_max, settings_.idle_timeout,
             settings_.connection_age_max}},
      sweep_timer_{strand_} {}

TOLLGATE_DECL hook_client::~hook_client() = default;

TOLLGATE_DECL void hook_client::send(std::vector<outgoing_request> requests) {
    ended_attempts blanks(requests.size());
    auto next = blanks.begin();
    for (const outgoing_request& each : requests) (next++)->number = each.number;
    asio::post(strand_,
               [self = shared_from_this(), requests = std::move(requests), blanks = std::move(blanks)]() mutable {
                   for (outgoing_request& each : requests) {
                       ended_attempts blank;
                       blank.splice(blank.end(), blanks, blanks.begin());
                       self->begin(std::move(each), std::move(blank));
                   }
               });
}

TOLLGATE_DECL void hook_client::begin(outgoing_request request, ended_attempts blank) noexcept {
    const std::uint64_t number = request.number;
    blank.front().progress = attempt_progress::postponed;  // until it starts
    if (aborted_) return end(std::move(blank));
    try {
        const auto run = std::make_shared<attempt_run>(shared_from_this(), std::move(request));
        under_way_.emplace(number, run);
        blank.front().progress = attempt_progress::made;
        run->begin(std::move(blank));
    } catch (const std::exception&) {
        blank.front().progress = attempt_progress::shortage;
        end(std::move(blank));
    }
}

TOLLGATE_DECL result<void> hook_client::reload_authorities() noexcept {
    try {
        auto tls = make_client_tls(settings_.authorities_file);
        if (!tls) return std::move(tls).error();
        asio::post(strand_, [self = shared_from_this(), read = *std::move(tls)] {
            self->tls_ = read;
            self->idle_.close();  // their peers were verified with the former ones
        });
        return {};
    } catch (const std::exception& failed) {
        return exception_error("the certificate authorities were not read again", failed.what());
    }
}

TOLLGATE_DECL void hook_client::abort() {
    names_.stop();  // first: its threads may outlive the executor
    asio::post(strand_, [self = shared_from_this()] {
        self->aborted_ = true;
        for (const auto& [number, each] : std::exchange(self->under_way_, {}))
            if (const auto run = each.lock()) run->cut_off();
        self->idle_.close();
        self->sweep_timer_.cancel();
    });
}

TOLLGATE_DECL void hook_client::end(ended_attempts ended) noexcept {
    under_way_.erase(ended.front().number);
    ended_.splice(ended_.end(), ended);
    if (reporting_) return;
    try {
        asio::post(strand_, [self = shared_from_this()] { self->report_ended(); });
        reporting_ = true;
    } catch (const std::exception&) {  // out of memory: one by one
        report_ended();
    }
}

TOLLGATE_DECL void hook_client::keep(const std::string& origin, std::shared_ptr<hook_connection> one) {
    if (aborted_) return one->close();
    idle_.put(origin, std::move(one));
    if (!sweeping_) sweep();
}

TOLLGATE_DECL void hook_client::sweep() {
    const auto again_at = idle_.sweep();
    sweeping_ = again_at.has_value();
    if (!sweeping_) return;
    sweep_timer_.expires_at(*again_at);
    // Weak: the timer must not keep the client alive while connections are idle.
    sweep_timer_.async_wait([waiting = weak_from_this()](const asio_error& cancelled) {
        if (const auto self = waiting.lock(); self && !cancelled) self->sweep();
    });
}

TOLLGATE_DECL void hook_client::report_ended() noexcept {
    reporting_ = false;
    ended_attempts ended;
    ended.swap(ended_);
    owner_->on_ended(std::move(ended));
}

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_HOOK_CLIENT_IPP
