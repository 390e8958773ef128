// Custom rate limiters: ten times the quota at night, and a window of its own for one route.
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
    limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept {
        return counted_.take(key, at(now, allowed), now);
    }
    limit_decision peek(const limit_key& key, const quota& allowed, instant now) noexcept {
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

// [windows]
/// Counts every request as before. In addition, each user may make three imports a minute, across all of their tokens.
class import_limiter : public night_limiter {
public:
    limit_windows windows_of(const limited_request& request) const noexcept {
        if (request.route != "/testservice/post") return {{request.key, request.allowed}};
        return {{request.key, request.allowed}, {request.key.in("imports"), {3, std::chrono::minutes{1}}}};
    }
};

static_assert(request_limiter<import_limiter>);
// [/windows]

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

/// A clock that the test sets.
struct set_clock {
    const instant* time;
    instant now() const noexcept { return *time; }
};

int main() {
    instant now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + std::chrono::hours{12};
    account_service_settings settings{.base_url = "https://api.example.com/v1", .auth_url = "https://example.com"};
    shop_directory users;
    memory_store store;
    // [policies]
    account_api api{settings, users, store,
                    default_policies().with_limiter(night_limiter{}).with_clock(set_clock{&now}), account_routes()};
    // [/policies]

    http::request request;
    request.target = http::target::from("/v1/testservice/get");
    request.fields.add("User-Agent", "own_limiter");
    const auto limit = [&] { return std::string{api.handle(request).find("X-RateLimit-Limit")}; };

    const auto at_noon = limit();
    now += std::chrono::hours{14};
    const auto at_night = limit();
    std::cout << "requests an hour: " << at_noon << " at noon, " << at_night << " at night\n";

    now += std::chrono::hours{10};  // noon again
    account_api importing{settings, users, store,
                          default_policies().with_limiter(import_limiter{}).with_clock(set_clock{&now}), account_routes()};
    request.target = http::target::from("/v1/testservice/post");
    request.method = http::method::post;
    http::response response;
    for (int i = 0; i < 4; ++i) response = importing.handle(request);
    std::cout << "the fourth import of a minute: " << http::to_number(response.status()) << ", Retry-After: "
              << response.find("Retry-After") << ", X-RateLimit-Limit: " << response.find("X-RateLimit-Limit") << '\n';
    const bool refused = response.status() == http::status::too_many_requests && response.find("Retry-After") == "60" &&
                         response.find("X-RateLimit-Limit") == "3";
    return at_noon == "60" && at_night == "600" && refused ? 0 : 1;
}
