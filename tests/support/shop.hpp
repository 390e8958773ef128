#pragma once

#include <tollgate/account/new_secret.hpp>
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/store/memory.hpp>
#include <tollgate/web/german.hpp>
#include <tollgate/web/page_theme.hpp>

#include <support/fakes.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate_test {

using namespace tollgate;

/// An integrator's user directory: a few users with balances and accounts.
struct shop_directory {
    static constexpr bool blocking = false;

    struct person {
        balance own_balance;
        std::map<std::string, std::vector<account>, std::less<>> accounts;
        std::optional<quota> own_quota;
    };
    std::map<user_id, person> people;
    std::optional<error> failure;  // the result of every function, if set
    bool throws = false;           // whether balance_of throws, as an integrator's code may

    result<balance> balance_of(user_id user) {
        if (throws) throw std::runtime_error{"a secret of the shop's database"};
        if (failure) return *failure;
        const auto found = people.find(user);
        if (found == people.end()) return not_found();
        return found->second.own_balance;
    }
    result<std::vector<account>> accounts_of(user_id user, std::string_view service) {
        if (failure) return *failure;
        const auto found = people.find(user);
        if (found == people.end()) return not_found();
        const auto at = found->second.accounts.find(service);
        return at == found->second.accounts.end() ? std::vector<account>{} : at->second;
    }
    result<std::optional<quota>> quota_of(user_id user) {
        if (failure) return *failure;
        const auto found = people.find(user);
        if (found == people.end()) return not_found();
        return found->second.own_quota;
    }
};

/// Whether a handler needs a worker for this request.
bool needs_worker(auto& handler, const http::request& request) {
    http::response response;
    http::handler_state state;
    return handler.advance(request, response, state, http::thread_kind::io) == http::handle_step::needs_worker;
}

/// The default theme in two languages.
inline plain_theme english_and_german() {
    plain_theme theme;
    theme.languages = {page_texts{}, german_texts()};
    return theme;
}

inline constexpr user_id ann{1};
inline constexpr user_id bob{2};

/// The directory of a shop whose users are Ann and Bob.
inline shop_directory ann_and_bob() {
    shop_directory users;
    users.people.insert({ann, {{ann, *decimal::parse("1234.50"), "EUR"},
                               {{"sitesmaker", {{account_id{1}, "Ann's site", true}, {account_id{2}, "Another \"one\"", false}}},
                                {"itemplatform", {{account_id{1}, "Ann's items", false}}}},
                               {}}});
    users.people.insert({bob, {{bob, *decimal::parse("0.10"), "USD"},
                               {{"sitesmaker", {{account_id{3}, "Bob's site", true}}}},
                               {}}});
    return users;
}

inline account_service_settings shop_settings() {
    account_service_settings settings{.base_url = "https://shop.example/v1",
                                      .auth_url = "https://shop.example",
                                      .services = {},
                                      .trusted_proxies = {},
                                      .documentation_url = "https://shop.example/docs/"};
    static_cast<void>(settings.services.add("sitesmaker", {"site.created", "site.published"}));
    static_cast<void>(settings.services.add("itemplatform", {"item.created"}));
    return settings;
}

/// A request that owns the text that its views refer to, as a server's buffer does.
class test_request {
public:
    test_request(http::method method, std::string target) : target_{std::move(target)} {
        request_.method = method;
        request_.method_name = to_text(method);
        request_.target = http::target::from(target_);
        request_.peer = ip_address::v4(192, 0, 2, 1);
        field("Host", "shop.example");
        field("User-Agent", "test");
    }
    test_request(const test_request&) = delete;
    test_request& operator=(const test_request&) = delete;

    test_request& field(std::string name, std::string value) {
        fields_.push_back({std::move(name), std::move(value)});
        return *this;
    }
    test_request& without(std::string_view name) {
        std::erase_if(fields_, [name](const auto& each) { return tollgate::detail::ascii_iequals(each.first, name); });
        return *this;
    }
    test_request& from(ip_address peer) {
        request_.peer = peer;
        return *this;
    }
    test_request& body(std::string bytes, std::string content_type = "application/json") {
        body_ = std::move(bytes);
        if (!content_type.empty()) field("Content-Type", std::move(content_type));
        return *this;
    }
    test_request& too_large() {
        request_.body_state = http::body_state::too_large;
        return *this;
    }
    /// The body has not arrived yet.
    test_request& pending(std::size_t bytes = 65536) {
        field("Content-Length", std::to_string(bytes));
        request_.body_state = http::body_state::pending;
        return *this;
    }
    test_request& pending_chunked() {
        field("Transfer-Encoding", "chunked");
        request_.body_state = http::body_state::pending;
        return *this;
    }
    test_request& arrived(std::string bytes) {
        body_ = std::move(bytes);
        request_.body_state = http::body_state::complete;
        return *this;
    }
    test_request& basic(std::string_view username, std::string_view secret) {
        return field("Authorization", "Basic " + tollgate::detail::base64_encode(std::string{username}.append(":").append(secret)));
    }
    test_request& bearer(std::string_view token) { return field("Authorization", std::string{"Bearer "}.append(token)); }

    const http::request& view() {
        request_.fields.clear();
        for (const auto& [name, value] : fields_) request_.fields.add(name, value);
        request_.body = body_;
        return request_;
    }

private:
    std::string target_;
    std::vector<std::pair<std::string, std::string>> fields_;
    std::string body_;
    http::request request_;
};

inline constexpr auto keep_policies = [](auto all) { return all; };

/// An API with two users, a store and a stopped clock.
template <class MakePolicies>
class basic_shop {
public:
    instant now = from_unix_seconds(1'700'000'000);
    std::uint64_t entropy = 0;
    bool random_works = true;
    shop_directory users = ann_and_bob();
    memory_store store;

    explicit basic_shop(MakePolicies make, account_service_settings settings = shop_settings())
        : api{std::move(settings), users, store,
              make(default_policies().with_clock(fake_clock{&now}).with_random(counting_random{&entropy, &random_works})),
              account_routes()} {}

    struct token {
        token_id id;
        std::string username;
        std::string secret;
    };

    token personal_token(user_id user, std::string_view scopes) {
        const counting_random random{&entropy, &random_works};
        const auto secret = tollgate::new_secret(secret_kind::personal_token, random).value();
        const auto username = tollgate::new_public_id(public_id_kind::username, random).value();
        const auto id = store.create_personal_token(
            {user, *token_username::from(username), digest_of(secret), "for tests", *scope_set::parse(scopes), now},
            limits::personal_tokens_per_user_max);
        return {*id, std::string{username.view()}, std::string{secret.view()}};
    }

    std::string access_token(user_id user, std::string_view scopes, seconds lifetime = seconds{3600}) {
        const auto secret = tollgate::new_secret(secret_kind::access_token, counting_random{&entropy, &random_works}).value();
        static_cast<void>(store.create_access_token(
            {user, application_id{1}, digest_of(secret), *scope_set::parse(scopes), now, now + lifetime}));
        return std::string{secret.view()};
    }

    http::response handle(test_request& request) { return api.handle(request.view()); }
    http::response handle(test_request&& request) { return api.handle(request.view()); }

    account_api api;
};

using shop = basic_shop<decltype(keep_policies)>;

inline shop make_shop(account_service_settings settings = shop_settings()) { return shop{keep_policies, std::move(settings)}; }

}  // namespace tollgate_test
