// A policy of one's own for every slot but the limiter, which has an example for itself. The program asks itself, and
// ends with 0 if the answers are right.
#include <tollgate/tollgate.hpp>

#include <sys/random.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;

struct shop_directory {
    result<balance> balance_of(user_id user) { return balance{user, "12.50", *currency_code::from("EUR")}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) {
        return std::vector{account{account_id{1}, "Corner shop"}};
    }
    result<std::optional<quota>> quota_of(user_id) { return std::optional<quota>{}; }
};

// [router]
/// Answers to a path that the API had before.
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
/// `Authorization: Till <number>`: the tills in the shop are on a network of their own, and act for the shop's owner.
struct till_pass {
    static constexpr std::string_view scheme = "Till";
    static constexpr std::string_view challenge = "Till realm=\"api\"";

    result<std::optional<caller>> identify(std::string_view credentials, auto& /*store*/, instant /*now*/) const {
        if (credentials != "1" && credentials != "2") return std::optional<caller>{};
        return std::optional{caller{user_id{1}, *scope_set::parse("user:balance"), credential_kind::other, {}}};
    }
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
/// Whoever sends a library's own name has not said who they are.
struct named_agent {
    bool accepts(std::string_view user_agent) const noexcept {
        return !user_agent.empty() && !user_agent.starts_with("curl/") && !user_agent.starts_with("python-requests/");
    }
};
// [/agent_rule]

// [target_rule]
/// Webhooks go to one partner; that its name does not point inside is still asked of the default.
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
/// A clock that somebody else sets: what tests want.
struct set_clock {
    const instant* time;
    instant now() const noexcept { return *time; }
};
// [/clock]

// [random]
/// The kernel's generator, without a library between.
struct kernel_random {
    bool fill(std::span<std::byte> bytes) const noexcept {
        return getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    }
};
// [/random]

// [observer]
/// Numbers for a monitoring system to fetch.
class request_counts {
public:
    void on_request(const request_record& record) const noexcept {
        ++(record.answered.status() < http::status::bad_request ? good_ : refused_);
    }
    void on_refusal(const http::refusal&) const noexcept { ++refused_; }
    void on_problem(const error& why) const noexcept { std::cerr << why.cause << '\n'; }

    std::uint64_t good() const noexcept { return good_; }
    std::uint64_t refused() const noexcept { return refused_; }

private:
    mutable std::atomic<std::uint64_t> good_ = 0;
    mutable std::atomic<std::uint64_t> refused_ = 0;
};
// [/observer]

int main() {
    api_settings settings{.base_url = "https://api.example.com/v1", .auth_url = "https://example.com",
                          .services = {{"shop", {"order.paid"}}}};
    shop_directory users;
    memory_store store;
    instant now = from_unix_seconds(1'800'000'000);
    // [policies]
    request_counts counts;
    auto policies = default_policies()
                        .with_router(router_with_old_paths{})
                        .with_authenticators(basic_token{}, bearer_token{}, till_pass{})
                        .with_scope_checker(exact_scopes{})
                        .with_agent_rule(named_agent{})
                        .with_target_rule(partner_only{})
                        .with_clock(set_clock{&now})
                        .with_random(kernel_random{})
                        .with_observer(std::ref(counts));  // held elsewhere, because others read it
    account_api api{settings, users, store, std::move(policies)};
    // [/policies]

    struct {
        std::string_view path;
        std::string_view agent;
        std::string_view credentials;
        http::status expected;
    } const cases[] = {
        {"/v1/user/balance", "till/1.0", "Till 1", http::status::ok},
        {"/v1/balance", "till/1.0", "Till 2", http::status::ok},
        {"/v1/user/balance", "till/1.0", "Till 3", http::status::unauthorized},
        {"/v1/user/balance", "curl/8.0", "Till 1", http::status::forbidden},
        {"/v1/shop/accounts", "till/1.0", "Till 1", http::status::forbidden},
    };
    bool right = true;
    for (const auto& each : cases) {
        http::request asked;
        asked.target = http::target::from(each.path);
        asked.fields.add("User-Agent", each.agent);
        asked.fields.add("Authorization", each.credentials);
        const auto answer = api.handle(asked);
        std::cout << each.path << " with " << each.credentials << ": " << http::to_number(answer.status()) << '\n';
        right = right && answer.status() == each.expected;
    }
    std::cout << counts.good() << " good, " << counts.refused() << " refused\n";
    return right && counts.good() == 2 && counts.refused() == 3 ? 0 : 1;
}
