#pragma once

#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/store/memory.hpp>

#include <support/shop.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate_test {

using namespace tollgate;

/// Fails the nth of the operations that it counts, with `failure` or an exception.
struct fault_plan {
    std::atomic<int> fail_at = 0;  // 0: none
    std::atomic<int> calls = 0;
    error failure = unavailable("db-7 refused");
    bool throws = false;

    void start(int nth) {
        fail_at = nth;
        calls = 0;
    }
    [[nodiscard]] std::optional<error> next() {
        if (++calls != fail_at) return std::nullopt;
        if (throws) throw std::runtime_error{"secret of db-7"};
        return failure;
    }
};

/// A memory_store that fails as planned, with the functions that an authorization server needs.
struct faulty_store {
    static constexpr bool blocking = false;

    memory_store rows;
    fault_plan faults;
    std::function<void()> before_code;  ///< runs just before a code is created

    result<application_id> create_application(const new_application& application,
                                              std::size_t max) { return rows.create_application(application, max); }
    result<std::optional<application>> find_application(std::string_view client_id) {
        if (auto fault = faults.next()) return *fault;
        return rows.find_application(client_id);
    }
    result<std::vector<application>> applications_of(user_id owner) { return rows.applications_of(owner); }
    result<bool> change_application(const std::optional<user_id>& changed_by, application_id id, const application_change& change) {
        return rows.change_application(changed_by, id, change);
    }
    result<std::optional<oauth_token>> find_oauth_token(const digest& token) {
        if (auto fault = faults.next()) return *fault;
        return rows.find_oauth_token(token);
    }
    result<bool> create_access_token(const new_access_token& token) {
        if (auto fault = faults.next()) return *fault;
        return rows.create_access_token(token);
    }
    result<void> create_device_code(const new_device_code& code) {
        if (auto fault = faults.next()) return *fault;
        return rows.create_device_code(code);
    }
    result<std::optional<device_code>> find_device_code(const digest& code) {
        if (auto fault = faults.next()) return *fault;
        return rows.find_device_code(code);
    }
    result<std::optional<device_answer>> answer_device_code(const device_decision& decision) {
        if (auto fault = faults.next()) return *fault;
        return rows.answer_device_code(decision);
    }
    result<bool> delete_application(user_id owner, application_id id) { return rows.delete_application(owner, id); }
    result<code_result> create_code(const new_authorization_code& code) {
        if (auto fault = faults.next()) return *fault;
        if (before_code) before_code();
        return rows.create_code(code);
    }
    result<redeemed_code> redeem_code(const code_redemption& redemption) {
        if (auto fault = faults.next()) return *fault;
        return rows.redeem_code(redemption);
    }
    result<refreshed_token> refresh_access_token(const token_refresh& refresh) {
        if (auto fault = faults.next()) return *fault;
        return rows.refresh_access_token(refresh);
    }
    result<bool> revoke(const revocation& revoked) {
        if (auto fault = faults.next()) return *fault;
        return rows.revoke(revoked);
    }
    result<std::vector<grant>> grants_of(user_id user) { return rows.grants_of(user); }
    result<std::size_t> sweep(const sweep_request& request) {
        swept_rows_max += request.rows_max;
        if (auto fault = faults.next()) return *fault;
        return rows.sweep(request);
    }

    std::atomic<std::size_t> swept_rows_max = 0;
};

/// Maps cookies to sessions.
struct site_sessions {
    static constexpr bool blocking = false;

    fault_plan* faults;
    std::map<std::string, session, std::less<>> known = {};

    result<std::optional<session>> session_of(const http::request& request, instant) {
        if (auto fault = faults->next()) return *fault;
        const auto found = known.find(request.fields.find(http::field_id::cookie));
        return found == known.end() ? std::optional<session>{} : std::optional{found->second};
    }
    [[nodiscard]] std::string sign_in_url(std::string_view return_to) const {
        return "/login?next=" + tollgate::detail::percent_encode(return_to);
    }
};

/// With sign-in.
struct entering_sessions : site_sessions {
    std::map<std::string, std::string, std::less<>> passwords = {{"ann", "open sesame"}};
    bool throttled = false;
    int entered = 0;
    int signed_out = 0;

    result<sign_in_response> sign_in(const http::request&, const sign_in_attempt& attempt, instant, http::response& out) {
        if (auto fault = faults->next()) return *fault;
        if (throttled) return sign_in_response{sign_in_result::throttled, std::nullopt, seconds{90}};
        const auto found = passwords.find(attempt.login);
        if (found == passwords.end() || found->second != attempt.password) return sign_in_response{};
        out.add("Set-Cookie", "site=new; Path=/; HttpOnly; SameSite=Lax");
        const session session_of_user{ann, "ann", "secret " + std::to_string(++entered)};
        known.insert_or_assign("site=new", session_of_user);
        return sign_in_response{sign_in_result::signed_in, session_of_user, seconds{0}};
    }
    result<void> sign_out(const http::request&, instant, http::response&) {
        ++signed_out;
        return {};
    }
};

/// Stores its records. Thread-safe.
struct watching_observer {
    mutable std::mutex mutex = {};
    mutable std::vector<std::string> causes = {};
    mutable std::vector<std::string> requests = {};
    mutable std::vector<std::string> outcomes = {};  // of requests: the client_id and the error code
    mutable std::vector<activity> activities = {};
    mutable int refusals = 0;

    void on_request(const request_record& record) const noexcept {
        const std::scoped_lock lock{mutex};
        requests.push_back(std::to_string(to_number(record.response.status())) +
                           (record.caller == nullptr ? "" : " by " + std::to_string(record.caller->user.value())));
        outcomes.push_back(std::string{record.oauth.client_id}.append(" ").append(record.oauth.error));
    }
    void on_activity(const activity& done) const noexcept {
        const std::scoped_lock lock{mutex};
        activities.push_back(done);
    }
    void on_refusal(const refusal_record&) const noexcept {
        const std::scoped_lock lock{mutex};
        ++refusals;
    }
    void on_problem(const problem_record& record) const noexcept {
        const std::scoped_lock lock{mutex};
        causes.push_back(record.error.cause);
    }
};

/// Thread-safe; the results of the first 2^32 calls are distinct.
struct shared_random {
    std::atomic<std::uint32_t>* next;
    bool* works;
    [[nodiscard]] bool fill(std::span<std::byte> bytes) const noexcept {
        if (!*works) return false;
        std::uint32_t number = ++*next;
        for (std::byte& each : bytes) {
            each = static_cast<std::byte>(number & 0xff);
            number = number >> 8 | number << 24;
        }
        return true;
    }
};

using parameter_list = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] inline std::string to_form(const parameter_list& all) {
    std::string text;
    for (const auto& [name, value] : all)
        text.append(text.empty() ? "" : "&")
            .append(tollgate::detail::percent_encode(name))
            .append("=")
            .append(tollgate::detail::percent_encode(value));
    return text;
}

/// `all` with these parameters changed; an empty value removes a parameter.
[[nodiscard]] inline parameter_list with(parameter_list all, const parameter_list& changes) {
    for (const auto& [name, value] : changes) {
        std::erase_if(all, [&changed = name](const auto& each) { return each.first == changed; });
        if (!value.empty()) all.emplace_back(name, value);
    }
    return all;
}

inline account_service_settings test_oauth_settings(std::string auth_url = "https://shop.example") {
    account_service_settings settings;
    settings.documentation_url = auth_url + "/docs/";
    settings.auth_url = std::move(auth_url);
    settings.services = shop_settings().services;
    settings.oauth.one_page_services = {"itemplatform"};
    return settings;
}

/// A registered application with its credentials.
struct registered_client {
    application_id id;
    std::string client_id;
    std::string client_secret;
};

[[nodiscard]] inline auto test_policies(fake_clock clock, shared_random random, watching_observer& observer, window_limiter& limiter) {
    return default_policies().with_clock(clock).with_random(random).with_observer(std::ref(observer)).with_limiter(std::ref(limiter));
}

/// An authorization server with a store, sessions and a stopped clock; Ann is signed in with the cookie `site=ann`.
template <class Sessions = site_sessions>
class oauth_shop {
public:
    instant now = from_unix_seconds(1'700'000'000);
    std::atomic<std::uint32_t> entropy = 0;
    bool random_works = true;
    faulty_store store;
    Sessions sessions{};
    watching_observer observer;
    window_limiter limiter{{64, 64}};
    authorization_server oauth;
    registered_client app;

    explicit oauth_shop(account_service_settings settings = test_oauth_settings())
        : oauth{std::move(settings), store, sessions,
                test_policies(fake_clock{&now}, shared_random{&entropy, &random_works}, observer, limiter), english_and_german()},
          app{register_client("App", "https://app.example/cb")} {
        sessions.faults = &store.faults;
        sessions.known.insert({"site=ann", session{ann, "ann", "only ann's browser knows"}});
        sessions.known.insert({"site=bob", session{bob, "bob", "only bob's browser knows"}});
    }

    registered_client register_client(std::string name, std::optional<std::string> redirect_url,
                                      std::string website = "https://app.example/",
                                      client_type type = client_type::confidential) {
        const shared_random random{&entropy, &random_works};
        const auto client_id = tollgate::new_public_id(public_id_kind::client_id, random).value();
        const auto secret = tollgate::new_secret(secret_kind::client_secret, random).value();
        const auto id = store.create_application({.owner = bob,
                                                  .client_id = *client_id_text::from(client_id),
                                                  .secret_digest = digest_of(secret),
                                                  .name = std::move(name),
                                                  .website = std::move(website),
                                                  .description = "What it does",
                                                  .redirect_urls = redirect_url ? std::vector{*redirect_url} : std::vector<std::string>{},
                                                  .created_at = now,
                                                  .type = type},
                                                 100);
        return {*id, std::string{client_id.view()}, std::string{secret.view()}};
    }

    http::response handle(test_request& request) { return oauth.handle(request.view()); }
    http::response handle(test_request&& request) { return oauth.handle(request.view()); }

    // The authorization page.

    static constexpr const char* page_path = "/en/user/oauth/";

    [[nodiscard]] parameter_list parameters() const {
        return {{"response_type", "code"}, {"client_id", app.client_id}, {"scope", "sitesmaker:read,user:balance"}, {"state", "xyz"}};
    }
    http::response open(const parameter_list& parameters, std::string cookie = "site=ann", std::string path = page_path) {
        return handle(test_request{http::method::get, path + "?" + to_form(parameters)}.field("Cookie", std::move(cookie)));
    }
    http::response submit(const parameter_list& fields, std::string cookie = "site=ann", std::string path = page_path) {
        return handle(test_request{http::method::post, path}
                          .field("Cookie", std::move(cookie))
                          .field("Sec-Fetch-Site", "same-origin")
                          .body(to_form(fields), "application/x-www-form-urlencoded"));
    }

    /// The code for these parameters, through the consent page.
    std::string consent(const parameter_list& parameters, std::string cookie = "site=ann");

    // The token endpoint.

    http::response post(std::string path, const parameter_list& fields) {
        return handle(test_request{http::method::post, std::move(path)}.body(to_form(fields), "application/x-www-form-urlencoded"));
    }
    [[nodiscard]] parameter_list exchange_of(std::string code) const {
        return {{"client_id", app.client_id},
                {"client_secret", app.client_secret},
                {"grant_type", "authorization_code"},
                {"code", std::move(code)}};
    }
    [[nodiscard]] parameter_list refresh_of(std::string token) const {
        return {{"client_id", app.client_id},
                {"client_secret", app.client_secret},
                {"grant_type", "refresh_token"},
                {"refresh_token", std::move(token)}};
    }

    /// A code that Ann granted to the application, without a page.
    std::string make_code(std::optional<std::string> challenge = std::nullopt, std::string_view scopes = "sitesmaker:read user:balance") {
        const auto code = tollgate::new_secret(secret_kind::authorization_code, shared_random{&entropy, &random_works}).value();
        static_cast<void>(store.rows.create_code({.code_digest = digest_of(code),
                                                  .user = ann,
                                                  .application = app.id,
                                                  .scopes = *scope_set::parse(scopes),
                                                  .redirect = "https://app.example/cb",
                                                  .code_challenge = std::move(challenge),
                                                  .created_at = now,
                                                  .expires_at = now + seconds{60}}));
        return std::string{code.view()};
    }

    /// Whether an access token lets its holder in.
    bool accepts(std::string_view access_token) {
        const auto found = store.rows.find_credential(access_token_key{digest_of(access_token)});
        return found && *found && *(*found)->expires_at > now;
    }
};

/// The value of a JSON member; empty if there is none.
[[nodiscard]] inline std::string member(const http::response& response, std::string_view name) {
    const auto read = http::parse_json_object(response.body());
    const auto* found = read ? read->find(name) : nullptr;
    return found == nullptr ? "" : found->value;
}

[[nodiscard]] inline bool has_member(const http::response& response, std::string_view name) {
    const auto read = http::parse_json_object(response.body());
    return read && read->find(name) != nullptr;
}

/// The value of a query parameter in the URL of a redirect; none if there is no such parameter.
[[nodiscard]] inline std::optional<std::string> returned(const http::response& response, std::string_view name) {
    const std::string_view location = response.find("Location");
    const auto mark = location.find('?');
    if (mark == std::string_view::npos) return std::nullopt;
    const auto read = http::parse_form(location.substr(mark + 1));
    const auto* found = read ? read->find(name) : nullptr;
    return found == nullptr ? std::nullopt : std::optional{found->value};
}

[[nodiscard]] inline std::string unescape_html(std::string text) {
    for (const auto& [entity, character] :
         {std::pair{"&quot;", "\""}, std::pair{"&#39;", "'"}, std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&amp;", "&"}})
        for (auto at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1))
            text.replace(at, std::string_view{entity}.size(), character);
    return text;
}

/// The hidden fields of a page's form, as a browser sends them.
[[nodiscard]] inline parameter_list hidden_fields(const http::response& page) {
    parameter_list found;
    std::string_view left = page.body();
    constexpr std::string_view begin = "<input type=\"hidden\" name=\"";
    for (auto at = left.find(begin); at != std::string_view::npos; at = left.find(begin)) {
        left.remove_prefix(at + begin.size());
        const auto name = left.substr(0, left.find('"'));
        left.remove_prefix(left.find("value=\"") + 7);
        found.emplace_back(name, unescape_html(std::string{left.substr(0, left.find('"'))}));
    }
    return found;
}

/// The URL that the browser returns to after the sign-in that the response redirects to; empty for another response.
inline std::string sign_in_target(const http::response& response) {
    constexpr std::string_view sign_in = "/login?next=";
    const auto location = response.find("Location");
    if (response.status() != http::status::see_other || !location.starts_with(sign_in)) return {};
    return tollgate::detail::percent_decode(location.substr(sign_in.size())).value_or("");
}

template <class Sessions>
std::string oauth_shop<Sessions>::consent(const parameter_list& parameters, std::string cookie) {
    auto page = open(parameters, cookie);
    if (page.status() != http::status::ok) return returned(page, "code").value_or("");
    return returned(submit(with(hidden_fields(page), {{"decision", "allow"}}), cookie), "code").value_or("");
}

}  // namespace tollgate_test
