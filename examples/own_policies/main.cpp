// A custom policy for every slot but the limiter, which has its own example. The program sends itself requests and
// returns 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <sys/random.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) {
        return std::vector{account{account_id{1}, "Corner shop"}};
    }
};

// [router]
/// Also accepts a path that the API used to have.
class router_with_old_paths {
public:
    void build(std::span<const route_pattern> patterns) { current_.build(patterns); }
    route_match find(http::method m, std::string_view path) const noexcept {
        return current_.find(m, path == "/balance" ? "/user/balance" : path);
    }

private:
    segment_router current_;
};
// [/router]

// [authenticator]
/// `X-Api-Key: <key>`: the shop's tills share a key and act for the shop's owner.
class till_key {
public:
    static constexpr std::string_view field = "X-Api-Key";  // without `field`, the credentials are in `Authorization`, after the scheme
    static constexpr std::string_view scheme = "ApiKey";
    static constexpr std::string_view challenge = "ApiKey realm=\"api\"";

    explicit till_key(std::string key) : key_{std::move(key)} {}

    result<std::optional<caller>> identify(std::string_view credentials, auto& /*store*/, instant /*now*/) const {
        if (!equal_in_constant_time(credentials, key_)) return std::optional<caller>{};
        return std::optional{caller{user_id{1}, *scope_set::parse("user:balance"), credential_kind::other, {}}};
    }

private:
    std::string key_;
};
// [/authenticator]

// [scope_checker]
/// A write scope does not cover reading.
struct exact_scopes {
    bool covers(const scope_set& granted, std::string_view required) const noexcept {
        return granted.contains(required);
    }
};
// [/scope_checker]

// [agent_rule]
/// Refuses the default User-Agents of HTTP libraries, which do not identify the client.
struct named_agent {
    bool accepts(std::string_view user_agent) const noexcept {
        return !user_agent.empty() && !user_agent.starts_with("curl/") && !user_agent.starts_with("python-requests/");
    }
};
// [/agent_rule]

// [target_rule]
/// Webhooks may go to one partner only; the default rule still checks its addresses.
struct partner_only {
    public_targets public_ones;

    result<void> check(const http::url& target) const {
        if (target.host != "hooks.partner.example") return invalid("target_url must be at hooks.partner.example.");
        return public_ones.check(target);
    }
    bool allows(const ip_address& address) const noexcept { return public_ones.allows(address); }
};
// [/target_rule]

// [clock]
/// A clock that tests set.
struct set_clock {
    const instant* time;
    instant now() const noexcept { return *time; }
};
// [/clock]

// [random]
/// The kernel's random generator, without a library.
struct kernel_random {
    bool fill(std::span<std::byte> bytes) const noexcept {
        return getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    }
};
// [/random]

// [observer]
/// Writes a span for each request to stdout, one JSON object per line, with the field names of OpenTelemetry, for a
/// collector that reads JSON lines.
class span_writer {
public:
    void on_request(const request_record& record) const noexcept {
        const request_context& context = record.context;
        const auto begin = std::chrono::nanoseconds{context.at.time_since_epoch()};
        try {
            std::string line;
            http::json_writer json{line};
            json.begin_object();
            json.member("traceId").string(context.trace_id);
            json.member("spanId").string(context.span_id);
            if (!context.parent_span_id.empty()) json.member("parentSpanId").string(context.parent_span_id);
            json.member("name").string(std::string{to_text(record.request.method)} + " " + std::string{context.route});
            json.member("startTimeUnixNano").string(std::to_string(begin.count()));
            json.member("endTimeUnixNano").string(std::to_string((begin + context.duration).count()));
            json.member("http.response.status_code").integer(to_number(record.response.status()));
            json.member("request.id").string(context.id);
            json.end_object();
            std::cout << line.append("\n");
        } catch (const std::exception&) {
            return;  // out of memory: the span is lost, not the response
        }
    }
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record& record) const noexcept { std::cerr << record.error.log_text() << '\n'; }
};
// [/observer]

int main() {
    account_service_settings settings{.base_url = "https://api.example.com/v1", .auth_url = "https://example.com",
                          .services = {{"shop", {"order.paid"}}}};
    shop_directory users;
    memory_store store;
    instant now = from_unix_seconds(1'800'000'000);
    // [policies]
    const span_writer spans;
    auto policies = default_policies()
                        .with_router(router_with_old_paths{})
                        .with_authenticators(basic_token{}, bearer_token{}, till_key{"key of the tills"})
                        .with_scope_checker(exact_scopes{})
                        .with_agent_rule(named_agent{})
                        .with_target_rule(partner_only{})
                        .with_clock(set_clock{&now})
                        .with_random(kernel_random{})
                        .with_observer(std::ref(spans));  // by reference, so that a dispatcher can share it
    account_api api{settings, users, store, std::move(policies), account_routes()};
    // [/policies]

    struct {
        std::string_view path;
        std::string_view agent;
        std::string_view credentials;
        http::status expected;
    } const cases[] = {
        {"/v1/user/balance", "till/1.0", "key of the tills", http::status::ok},
        {"/v1/balance", "till/1.0", "key of the tills", http::status::ok},
        {"/v1/user/balance", "till/1.0", "another key", http::status::unauthorized},
        {"/v1/user/balance", "curl/8.0", "key of the tills", http::status::forbidden},
        {"/v1/shop/accounts", "till/1.0", "key of the tills", http::status::forbidden},
    };
    bool right = true;
    for (const auto& each : cases) {
        http::request request;
        request.target = http::target::from(each.path);
        request.fields.add("User-Agent", each.agent);
        request.fields.add("X-Api-Key", each.credentials);
        const auto response = api.handle(request);
        std::cout << each.path << " with " << each.credentials << ": " << http::to_number(response.status()) << '\n';
        right = right && response.status() == each.expected;
    }
    return right ? 0 : 1;
}
