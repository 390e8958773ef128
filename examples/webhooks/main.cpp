// Both ends of a webhook in one program: a shop that publishes events, and a receiver.
//
// The shop publishes into its store's outbox, and a dispatcher delivers. The receiver verifies each signature and responds.
#include <tollgate/tollgate.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <new>
#include <string>

using namespace tollgate;

/// Receives the shop's webhooks, as any other program could.
class listener {
public:
    /// The secret that was shown when the webhook was created.
    void use_secret(std::string shown) {
        const std::lock_guard hold{mutex_};
        secret_ = std::move(shown);
    }

    // [receive]
    void handle(const http::request& request, http::response& response) noexcept try {
        const auto headers = webhook_headers::from(request.fields);
        if (!verify_webhook(secret(), headers, request.body, system_clock{}.now())) {
            response.set_status(http::status::unauthorized);
            return;
        }
        remember(std::string{headers.id}, std::string{request.body});  // respond quickly, do the work later
        response.set_status(http::status::no_content);
    } catch (const std::bad_alloc&) {
        response.set_status(http::status::internal_server_error);  // it will be sent again
    }
    // [/receive]
    void handle(const http::refusal& refused, http::response& response) noexcept { response.set_status(refused.status); }

    std::string wait_for_one() {
        std::unique_lock hold{mutex_};
        arrived_.wait_for(hold, std::chrono::seconds{10}, [this] { return !last_.empty(); });
        return last_;
    }

private:
    // [once]
    /// Delivery is at least once. A program with a database makes the id a unique key there; this one remembers the last 1,000.
    void remember(std::string id, std::string body) {
        const std::lock_guard hold{mutex_};
        if (std::find(received_ids_.begin(), received_ids_.end(), id) != received_ids_.end()) return;  // a duplicate
        received_ids_.push_back(std::move(id));
        if (received_ids_.size() > 1'000) received_ids_.pop_front();
        last_ = std::move(body);
        arrived_.notify_all();
    }
    // [/once]

    std::string secret() {
        const std::lock_guard hold{mutex_};
        return secret_;
    }

    std::mutex mutex_;
    std::string secret_;
    std::condition_variable arrived_;
    std::deque<std::string> received_ids_;
    std::string last_;
};

/// Reports problems and failed attempts to the operator.
// [observe]
struct delivery_log : no_observer {
    void on_problem(const problem_record& record) const noexcept { std::cerr << record.error.log_text() << '\n'; }
    void on_attempt(const delivery_record& record) const noexcept {
        if (record.result.outcome == delivery_outcome::delivered) return;
        std::cerr << record.delivery.message_id.view() << " was not delivered: " << record.result.attempt.status << ' ' << record.reason
                  << ", trace " << record.trace_id << '\n';
    }
};
// [/observe]

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

int main() {
    shop_directory users;
    memory_store store;
    const account_ref account{*service_name::from("shop"), account_id{7}};

    // [dispatch]
    account_service service{{.base_url = "https://api.example.com/v1", .services = {{"shop", {"order.paid"}}}}, users, store,
                            default_policies()
                                .with_observer(delivery_log{})
                                .with_target_rule(public_targets{.private_allowed = true})};  // the receiver is on this machine
    hook_dispatcher dispatcher{store, {}, service.policies()};  // delivers what is in the store
    if (const auto started = dispatcher.start(); !started) return report(started.error());
    // [/dispatch]

    listener other;
    server listening{other, {.port = 0, .threads = 1}};
    if (const auto started = listening.start(); !started) return report(started.error());
    const auto url = "http://127.0.0.1:" + std::to_string(listening.port()) + "/in";

    // [create]
    const auto hook = issue_hook(store, service.services(), {.account = account, .event = "order.paid", .target_url = url},
                                 system_clock{}.now(), public_targets{.private_allowed = true});
    if (!hook) return report(hook.error());
    other.use_secret(hook->secret);  // shown to its owner now, and never again
    // [/create]

    // [publish]
    const auto now = system_clock{}.now();
    const auto deliveries = publish(dispatcher, service.services(),
                                    {.account = account, .name = "order.paid", .data = R"({"order": 5})", .at = now}, now);
    if (!deliveries) std::cerr << deliveries.error().log_text() << '\n';
    // [/publish]

    const std::string received = other.wait_for_one();
    std::cout << received << std::endl;

    // [stop]
    dispatcher.stop(std::chrono::seconds{10});  // waits for attempts in progress; unfinished ones are sent again later
    // [/stop]
    return received.empty() ? 1 : 0;
}
