// A custom rate limiter: ten times the quota at night.
//
// There are no sockets: a handler is a function from request to response, and the clock is a policy. The program sends
// itself requests at noon and at night, and returns 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <chrono>
#include <iostream>

using namespace tollgate;

// [limiter]
/// Counts as the default limiter does, with a larger quota at night.
class night_limiter {
public:
    verdict take(const limit_key& key, const quota& allowed, instant now) noexcept {
        return counted_.take(key, at(now, allowed), now);
    }
    verdict peek(const limit_key& key, const quota& allowed, instant now) noexcept {
        return counted_.peek(key, at(now, allowed), now);
    }

private:
    static quota at(instant now, quota allowed) noexcept {
        const auto time_of_day = now.time_since_epoch() % std::chrono::days{1};
        if (time_of_day < std::chrono::hours{6}) allowed.requests *= 10;
        return allowed;
    }

    window_limiter counted_;
};

static_assert(rate_limiter<night_limiter>);
// [/limiter]

struct shop_directory {
    result<balance> balance_of(user_id user) { return balance{user, "12.50", *currency_code::from("EUR")}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return std::vector<account>{}; }
    result<std::optional<quota>> quota_of(user_id) { return std::optional<quota>{}; }
};

/// A clock that the test sets.
struct set_clock {
    const instant* time;
    instant now() const noexcept { return *time; }
};

int main() {
    instant now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + std::chrono::hours{12};
    api_settings settings{.base_url = "https://api.example.com/v1", .auth_url = "https://example.com"};
    shop_directory users;
    memory_store store;
    // [policies]
    account_api api{settings, users, store,
                    default_policies().with_limiter(night_limiter{}).with_clock(set_clock{&now})};
    // [/policies]

    http::request asked;
    asked.target = http::target::from("/v1/testservice/get");
    asked.fields.add("User-Agent", "own_limiter");
    const auto limit = [&] { return std::string{api.handle(asked).find("X-RateLimit-Limit")}; };

    const auto at_noon = limit();
    now += std::chrono::hours{14};
    const auto at_night = limit();
    std::cout << "requests an hour: " << at_noon << " at noon, " << at_night << " at night\n";
    return at_noon == "60" && at_night == "600" ? 0 : 1;
}
