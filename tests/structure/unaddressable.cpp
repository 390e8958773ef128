// Classes of a program that have an operator& and a comma of their own, as smart pointers of COM and expression templates do, in a namespace
// with greedy templates: the library must use std::addressof, and qualify the functions that it calls with them.
#include <tollgate/tollgate.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace greedy {

struct unaddressable {
    void operator&() const = delete;
    template <class Other>
    void operator,(Other&&) const = delete;
};

template <class T>
concept ours = std::derived_from<std::remove_cvref_t<T>, unaddressable>;

// compilers_test.py replaces this line with a deleted function for each name of a function that a header calls.

}  // namespace greedy

namespace shop {

using namespace tollgate;
using greedy::unaddressable;

struct directory : unaddressable {
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return std::vector{account{account_id{1}, "Corner shop"}}; }
    result<std::optional<quota>> quota_of(user_id) { return {}; }
};

struct sessions : unaddressable {
    result<std::optional<session>> session_of(const http::request&, instant) { return std::optional<session>{}; }
    std::string sign_in_url(std::string_view) const { return "/sign-in"; }
};

struct store : memory_store, unaddressable {};

struct theme : plain_theme, unaddressable {};

struct time_source : unaddressable {
    [[nodiscard]] instant now() const noexcept { return {}; }
};

struct watcher : unaddressable {
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record&) const noexcept {}
};

struct limiter : window_limiter, unaddressable {};

struct handler : unaddressable {
    void handle(const http::request&, http::response&) noexcept {}
    void handle(const http::refusal&, http::response&) noexcept {}
};

struct checker : prefix_scopes, unaddressable {};
struct agents : require_agent, unaddressable {};
struct targets : public_targets, unaddressable {};
struct random_source : system_random, unaddressable {};
struct format : standard_webhook, unaddressable {};
struct basic : basic_token, unaddressable {};
struct bearer : bearer_token, unaddressable {};

inline auto policies() {
    return default_policies()
        .with_clock(time_source{})
        .with_observer(watcher{})
        .with_scope_checker(checker{})
        .with_agent_rule(agents{})
        .with_target_rule(targets{})
        .with_random(random_source{})
        .with_format(format{})
        .with_authenticators(basic{}, bearer{});
}

}  // namespace shop

int main() {
    shop::directory users;
    shop::store store;
    shop::sessions sessions;
    shop::limiter limiter;
    shop::handler own;
    tollgate::account_service service{{.base_url = "http://localhost", .services = {{"shop", {"order.paid"}}}}, users, store, sessions,
                                      shop::policies().with_limiter(std::ref(limiter)), tollgate::account_routes(), shop::theme{}};
    tollgate::hook_dispatcher dispatcher{store, {}, service.policies()};
    tollgate::health checks;
    tollgate::metrics counts;
    tollgate::server of_service{service}, of_handler{own};
    counts.watch_server(of_service);
    return of_service.run() + of_handler.run();
}
