// A shop that tells others what happens, and one of them that listens: both ends of a webhook, in one program.
//
// The shop publishes into its store's outbox and a dispatcher delivers; the other end checks each signature and answers.
#include <tollgate/tollgate.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <unordered_set>

using namespace tollgate;

/// Hears the shop's webhooks, as any other program could.
class listener {
public:
    explicit listener(std::string secret) : secret_{std::move(secret)} {}

    // [receive]
    void handle(const http::request& asked, http::response& out) noexcept {
        const auto headers = webhook_headers::from(asked.fields);
        if (!verify_webhook(secret_, headers, asked.body, system_clock{}.now())) {
            out.set_status(http::status::unauthorized);
            return;
        }
        remember(std::string{headers.id}, std::string{asked.body});  // the work itself is done later: the answer is quick
        out.set_status(http::status::no_content);
    }
    // [/receive]
    void handle(const http::refusal& refused, http::response& out) noexcept { out.set_status(refused.status); }

    std::string wait_for_one() {
        std::unique_lock hold{mutex_};
        came_.wait_for(hold, std::chrono::seconds{10}, [this] { return !last_.empty(); });
        return last_;
    }

private:
    // [once]
    void remember(std::string id, std::string body) noexcept {
        const std::lock_guard hold{mutex_};
        if (!seen_.insert(std::move(id)).second) return;  // it was here before: at least once means sometimes twice
        last_ = std::move(body);
        came_.notify_all();
    }
    // [/once]

    const std::string secret_;
    std::mutex mutex_;
    std::condition_variable came_;
    std::unordered_set<std::string> seen_;
    std::string last_;
};

/// Tells the operator of what goes wrong.
// [observe]
struct delivery_log : no_observer {
    void on_problem(const problem_record& record) const noexcept { std::cerr << record.error.cause << '\n'; }
    void on_attempt(const delivery_record& record) const noexcept {
        if (record.attempt.outcome == delivery_outcome::delivered) return;
        std::cerr << record.delivery.message_id.view() << " was not delivered: " << record.attempt.made.status << ' ' << record.why
                  << ", trace " << record.trace_id << '\n';
    }
};
// [/observe]

int main() {
    service_catalog services;
    if (!services.add("shop", {"order.paid"})) return 1;
    memory_store store;
    const account_ref account{*service_name::from("shop"), account_id{7}};

    std::array<std::byte, hook_secret_random_bytes> random;
    if (!system_random{}.fill(random)) return 1;
    listener other{make_hook_secret(random)};
    server listening{other, {.port = 0, .threads = 1}};
    if (!listening.start()) return 1;
    const auto made = store.create_hook({.account = account,
                                         .event = "order.paid",
                                         .type = std::string{default_hook_type},
                                         .target_url = "http://127.0.0.1:" + std::to_string(listening.port()) + "/in",
                                         .secret = make_hook_secret(random),
                                         .created_at = system_clock{}.now()},
                                        limits::hooks_per_event_max);
    if (!made) return 1;

    // [dispatch]
    hook_dispatcher dispatcher{store, {},
                               default_policies()
                                   .with_observer(delivery_log{})
                                   .with_target_rule(public_targets{.private_allowed = true})};  // the other end is here
    if (const auto started = dispatcher.start(); !started) {
        std::cerr << started.error().message << '\n';
        return 1;
    }
    // [/dispatch]

    // [publish]
    const auto now = system_clock{}.now();
    const auto deliveries = publish(
        dispatcher, services, {.account = account, .name = "order.paid", .data = R"({"order": 5})", .at = now}, now);
    if (!deliveries) std::cerr << deliveries.error().message << '\n';
    // [/publish]

    const std::string heard = other.wait_for_one();
    std::cout << heard << std::endl;

    // [stop]
    dispatcher.stop(std::chrono::seconds{10});  // attempts that are under way end; what does not is sent again later
    // [/stop]
    return heard.empty() ? 1 : 0;
}
