#include <tollgate/web/cookie_sessions.hpp>

#include <catch2/catch.hpp>
#include <support/fakes.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

namespace {

constexpr instant noon = from_unix_seconds(1'700'000'000);
constexpr user_id ann{1};

/// The minimal store that fulfils the contract; it fails on demand.
struct session_map {
    std::mutex mutex;
    std::map<std::string, stored_session, std::less<>> rows;
    std::optional<error> failure;
    std::size_t capacity = 1000;
    bool touch_fails = false;
    bool end_all_fails = false;
    int touched = 0;

    result<void> create_session(const stored_session& session) {
        const std::scoped_lock held{mutex};
        if (failure) return *failure;
        if (rows.size() >= capacity) return unavailable("the table is full");
        if (!rows.emplace(session.cookie_digest.raw(), session).second) return error{error_kind::conflict, "The session exists.", {}};
        return {};
    }
    result<std::optional<stored_session>> find_session(const digest& cookie) {
        const std::scoped_lock held{mutex};
        if (failure) return *failure;
        const auto found = rows.find(cookie.raw());
        return found == rows.end() ? std::nullopt : std::optional{found->second};
    }
    result<void> touch_session(const digest& cookie, instant now) {
        const std::scoped_lock held{mutex};
        if (touch_fails) return unavailable("no touching");
        ++touched;
        if (const auto found = rows.find(cookie.raw()); found != rows.end()) found->second.last_seen_at = now;
        return {};
    }
    result<std::vector<stored_session>> sessions_of(user_id user) {
        const std::scoped_lock held{mutex};
        if (failure) return *failure;
        std::vector<stored_session> found;
        for (const auto& [key, row] : rows)
            if (row.user == user) found.push_back(row);
        return found;
    }
    result<bool> end_sessions(const session_selection& ended) {
        const std::scoped_lock held{mutex};
        if (failure) return *failure;
        if (const auto* const cookie = std::get_if<digest>(&ended)) return rows.erase(std::string{cookie->raw()}) != 0;
        if (end_all_fails) return unavailable("the disk is full");
        const auto& of = std::get<sessions_of_user>(ended);
        return std::erase_if(rows, [&](const auto& each) {
                   return each.second.user == of.user && each.second.cookie_digest != of.except;
               }) != 0;
    }
    result<std::size_t> sweep(const sweep_request& request) {
        const std::scoped_lock held{mutex};
        const auto& [created_before, seen_before] = *request.sessions;
        const std::size_t rows_max = request.rows_max;
        std::size_t swept = 0;
        for (auto at = rows.begin(); at != rows.end() && swept < rows_max;) {
            const bool over = at->second.created_at < created_before || at->second.last_seen_at < seen_before;
            at = over ? rows.erase(at) : std::next(at);
            swept += over ? 1 : 0;
        }
        return swept;
    }
};

/// Accepts Ann's password, and counts its calls.
struct anns_password {
    std::atomic<int> checks = 0;
    std::atomic<bool> busy = false;
    result<std::optional<user_id>> check_password(std::string_view login, std::string_view password) {
        ++checks;
        if (busy) return unavailable("too many hashings");
        return login == "ann" && password == "right" ? std::optional{ann} : std::nullopt;
    }
};

const std::string session_name = cookie_name_of("https://shop.example", {}, "session");

using sessions_type = cookie_sessions<session_map, anns_password, tollgate_test::counting_random>;
static_assert(sign_in_source<sessions_type>);


std::vector<std::string> all_cookies(const http::response& out) {
    std::vector<std::string> found;
    std::string_view block = out.field_block();
    constexpr std::string_view name = "Set-Cookie: ";
    for (auto at = block.find(name); at != std::string_view::npos; at = block.find(name, at + 1))
        found.emplace_back(block.substr(at + name.size(), block.find("\r\n", at) - at - name.size()));
    return found;
}

struct site {
    session_map store;
    anns_password passwords;
    std::uint64_t entropy = 0;
    bool random_works = true;
    instant now = noon;
    sessions_type sessions;
    std::string set_cookie;
    std::string browser_cookie;
    std::size_t fields_added = 0;

    explicit site(std::string auth_url = "https://shop.example")
        : sessions{{.auth_url = std::move(auth_url)}, store, passwords, tollgate_test::counting_random{&entropy, &random_works}} {}

    result<sign_in_response> sign_in(std::string_view password = "right", std::string_view cookie = {},
                                    std::string_view login = "ann") {
        http::request request;
        if (!cookie.empty()) request.fields.add("Cookie", cookie);
        http::response out;
        auto response = sessions.sign_in(request, {login, password, ip_address::v4(192, 0, 2, 1)}, now, out);
        set_cookie = out.find("Set-Cookie");
        browser_cookie.clear();
        for (const auto& line : all_cookies(out))
            if (line.find("_browser=") != std::string_view::npos) browser_cookie = line;
        fields_added = out.field_block().size();
        return response;
    }
    std::optional<session> find_session(std::string_view cookie) {
        http::request request;
        request.fields.add("Cookie", cookie);
        auto found = sessions.session_of(request, now);
        REQUIRE(found);
        return *found;
    }
    /// The cookies that a browser sends back.
    [[nodiscard]] std::string cookie() const { return set_cookie.substr(0, set_cookie.find(';')); }
    [[nodiscard]] std::string attributes() const { return set_cookie.substr(set_cookie.find(';')); }
};

}  // namespace

TEST_CASE("a signed-in user is recognized by the cookie", "[cookie_sessions]") {
    site shop;
    const auto response = shop.sign_in();
    REQUIRE(response);
    REQUIRE(response->result == sign_in_result::signed_in);
    CHECK(response->session->user == ann);
    CHECK(shop.cookie().starts_with(session_name + "=tgw_"));
    CHECK(shop.attributes() == "; Path=/; Secure; HttpOnly; SameSite=Lax");
    const auto known = shop.find_session(shop.cookie());
    REQUIRE(known);
    CHECK(known->user == ann);
    CHECK(known->login == "ann");
    CHECK(known->secret == response->session->secret);
    CHECK(known->secret.size() == 64);
    CHECK(shop.find_session("theme=dark; " + shop.cookie() + "; a=b"));
}

TEST_CASE("sessions of inactive users end at once", "[cookie_sessions]") {
    struct anns_state : anns_password {
        result<bool> active = true;
        result<bool> is_active(user_id user) const {
            REQUIRE(user == ann);
            return active;
        }
    } passwords;
    session_map store;
    std::uint64_t entropy = 0;
    bool random_works = true;
    cookie_sessions sessions{{.auth_url = "https://shop.example"}, store, passwords,
                             tollgate_test::counting_random{&entropy, &random_works}};
    http::response out;
    REQUIRE(sessions.sign_in({}, {"ann", "right", ip_address::v4(192, 0, 2, 1)}, noon, out));
    http::request next;
    const std::string_view cookie = out.find("Set-Cookie");
    next.fields.add("Cookie", cookie.substr(0, cookie.find(';')));
    const auto find = [&] { return sessions.session_of(next, noon); };
    CHECK(*find() != std::nullopt);
    passwords.active = false;
    CHECK(*find() == std::nullopt);
    passwords.active = unavailable("the users' database");
    CHECK(find().error().cause == "the users' database");
    passwords.active = true;
    CHECK(*find() != std::nullopt);
}

TEST_CASE("over http the cookie has a plain name and is not Secure", "[cookie_sessions]") {
    site shop{"http://127.0.0.1:8080"};
    REQUIRE(shop.sign_in());
    CHECK(shop.cookie().starts_with(cookie_name_of("http://127.0.0.1:8080", {}, "session") + "=tgw_"));
    CHECK(shop.cookie().starts_with("tollgate_"));
    CHECK(shop.attributes() == "; Path=/; HttpOnly; SameSite=Lax");
    CHECK(shop.find_session(shop.cookie()));
}

TEST_CASE("a failing store prevents sign-in", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    const auto& [key, row] = *shop.store.rows.begin();
    const auto value = shop.cookie().substr(shop.cookie().find('=') + 1);
    CHECK(row.cookie_digest == digest_of(value));
    CHECK(value.find(key) == std::string::npos);
    CHECK(session_cookie::session_secret_of(value) != session_cookie::session_secret_of(row.cookie_digest.raw()));
}

TEST_CASE("no other cookie is accepted", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    const auto good = shop.cookie();
    const auto value = good.substr(good.find('=') + 1);
    auto mistyped = good;
    mistyped.back() = mistyped.back() == 'a' ? 'b' : 'a';
    std::uint64_t other_entropy = 12345;
    bool works = true;
    std::array<std::byte, 32> bytes;
    REQUIRE(tollgate_test::counting_random{&other_entropy, &works}.fill(bytes));
    const std::string unknown{make_secret(secret_kind::session, bytes).view()};
    const std::string token{make_secret(secret_kind::personal_token, bytes).view()};
    for (const std::string& cookie :
         {std::string{}, session_name + "=", mistyped, session_name.substr(7) + "=" + value,
          "__host" + session_name.substr(6) + "=" + value, session_name + "=" + unknown, session_name + "=" + token,
          good + "; " + session_name + "=" + unknown, good + "x"}) {
        CAPTURE(cookie);
        CHECK_FALSE(shop.find_session(cookie));
    }
}

TEST_CASE("a wrong password sets no cookie", "[cookie_sessions]") {
    site shop;
    for (const auto& [login, password] :
         std::vector<std::pair<std::string, std::string>>{{"ann", "wrong"},
                                                          {"nobody", "right"},
                                                          {"", ""},
                                                          {"ann", "right" + std::string(2000, ' ')},
                                                          {std::string(300, 'a'), "right"}}) {
        const auto response = shop.sign_in(password, {}, login);
        REQUIRE(response);
        CHECK(response->result == sign_in_result::refused);
        CHECK_FALSE(response->session);
        CHECK(shop.fields_added == 0);
    }
    CHECK(shop.store.rows.empty());
    CHECK(shop.passwords.checks == 3);
}

TEST_CASE("the eleventh attempt is not checked, even with the right password", "[cookie_sessions]") {
    site shop;
    for (int i = 0; i < 10; ++i) CHECK(shop.sign_in("wrong")->result == sign_in_result::refused);
    const auto response = shop.sign_in("right");
    REQUIRE(response);
    CHECK(response->result == sign_in_result::throttled);
    CHECK(response->retry_after == minutes{15});
    CHECK(shop.fields_added == 0);
    CHECK(shop.passwords.checks == 10);
    shop.now += minutes{15};
    CHECK(shop.sign_in("right")->result == sign_in_result::signed_in);
}

TEST_CASE("parallel attempts do not exceed ten", "[cookie_sessions][threads]") {
    site shop;
    std::vector<std::thread> guessers;
    for (int i = 0; i < 4; ++i)
        guessers.emplace_back([&shop] {
            for (int n = 0; n < 50; ++n) {
                const http::request request;
                http::response out;
                (void)shop.sessions.sign_in(request, {"ann", "wrong", ip_address::v4(192, 0, 2, 1)}, noon, out);
            }
        });
    for (auto& each : guessers) each.join();
    CHECK(shop.passwords.checks == 10);
}

TEST_CASE("an attempt that could not be checked does not count", "[cookie_sessions]") {
    site shop;
    shop.passwords.busy = true;
    for (int i = 0; i < 50; ++i) {
        const auto response = shop.sign_in("right");
        REQUIRE_FALSE(response);
        REQUIRE(response.error().kind == error_kind::unavailable);
    }
    shop.passwords.busy = false;
    CHECK(shop.sign_in("right")->result == sign_in_result::signed_in);
}

TEST_CASE("sign-in starts a new session and ends the previous one", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    const auto first = shop.cookie();
    const auto first_secret = shop.find_session(first)->secret;
    REQUIRE(shop.sign_in("right", first));
    CHECK(shop.cookie() != first);
    CHECK_FALSE(shop.find_session(first));
    REQUIRE(shop.find_session(shop.cookie()));
    CHECK(shop.find_session(shop.cookie())->secret != first_secret);
    CHECK(shop.store.rows.size() == 1);
}

TEST_CASE("a failed sign-in keeps the session", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    const auto first = shop.cookie();
    CHECK(shop.sign_in("wrong", first)->result == sign_in_result::refused);
    CHECK(shop.find_session(first));
}

TEST_CASE("sign-out ends the session in the store and clears the cookie", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    const auto cookie = shop.cookie();
    http::request request;
    request.fields.add("Cookie", cookie);
    http::response out;
    REQUIRE(shop.sessions.sign_out(request, shop.now, out));
    CHECK(out.find("Set-Cookie") ==
          session_name + "=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly; SameSite=Lax");
    CHECK_FALSE(shop.find_session(cookie));
    CHECK(shop.store.rows.empty());

    http::response again;
    CHECK(shop.sessions.sign_out(request, shop.now, again));
    shop.store.failure = unavailable("down");
    http::response failed;
    CHECK_FALSE(shop.sessions.sign_out(request, shop.now, failed));
    CHECK(failed.field_block().empty());
}

TEST_CASE("a session ends after half a day without use", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    shop.now += hours{12} - seconds{1};
    CHECK(shop.find_session(shop.cookie()));
    shop.now += hours{12} - seconds{1};
    CHECK(shop.find_session(shop.cookie()));
    shop.now += hours{12};
    CHECK_FALSE(shop.find_session(shop.cookie()));
}

TEST_CASE("a session ends after a week of use", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    for (shop.now = noon; shop.now < noon + days{7}; shop.now += hours{6}) REQUIRE(shop.find_session(shop.cookie()));
    CHECK_FALSE(shop.find_session(shop.cookie()));
}

TEST_CASE("the use of a session is recorded every five minutes at most", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    for (int i = 0; i < 100; ++i) CHECK(shop.find_session(shop.cookie()));
    CHECK(shop.store.touched == 0);
    shop.now += minutes{5};
    for (int i = 0; i < 100; ++i) CHECK(shop.find_session(shop.cookie()));
    CHECK(shop.store.touched == 1);
    shop.now -= hours{5};  // a clock that goes back neither writes nor ends a session
    CHECK(shop.find_session(shop.cookie()));
    CHECK(shop.store.touched == 1);
    shop.now += hours{6};
    shop.store.touch_fails = true;
    CHECK(shop.find_session(shop.cookie()));
}

TEST_CASE("expired sessions are swept when new ones start", "[cookie_sessions]") {
    site shop;
    for (int i = 0; i < 20; ++i) REQUIRE(shop.sign_in());
    CHECK(shop.store.rows.size() == 20);
    shop.now += days{1};
    for (int i = 0; i < 5; ++i) REQUIRE(shop.sign_in());
    CHECK(shop.store.rows.size() == 5);
}

TEST_CASE("expired sessions make room in a full store", "[cookie_sessions]") {
    site shop;
    shop.store.capacity = 20;
    for (int i = 0; i < 20; ++i) REQUIRE(shop.sign_in());
    CHECK_FALSE(shop.sign_in());
    shop.now += days{1};
    CHECK(shop.sign_in());
}

TEST_CASE("a session that began before the clock was set back by more than its idle lifetime is over", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    const auto lifetime = session_settings{}.idle_lifetime;
    shop.now -= lifetime - seconds{1};
    CHECK(shop.find_session(shop.cookie()));
    shop.now -= seconds{1};
    CHECK_FALSE(shop.find_session(shop.cookie()));
}

TEST_CASE("a store error is returned, and no partial session is left", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in());
    const auto cookie = shop.cookie();
    shop.store.failure = unavailable("down");
    CHECK_FALSE(shop.sign_in());
    CHECK(shop.fields_added == 0);
    CHECK_FALSE(shop.sign_in("right", cookie));
    http::request request;
    request.fields.add("Cookie", cookie);
    CHECK_FALSE(shop.sessions.session_of(request, shop.now));
}

TEST_CASE("without random bytes there is no session", "[cookie_sessions]") {
    site shop;
    shop.random_works = false;
    const auto response = shop.sign_in();
    REQUIRE_FALSE(response);
    CHECK(response.error().kind == error_kind::internal);
    CHECK(shop.fields_added == 0);
    CHECK(shop.store.rows.empty());
}

TEST_CASE("the sign-in URL contains the return path", "[cookie_sessions]") {
    CHECK(site{}.sessions.sign_in_url("/en/user/oauth/?a=b&c=d%20e") ==
          "/en/user/sign_in/?return_to=%2Fen%2Fuser%2Foauth%2F%3Fa%3Db%26c%3Dd%2520e");
    const site below{"https://shop.example/account"};
    for (const auto& [back, path] : {
             std::pair{"/account/en/user/settings/", "/account/en/user/sign_in/?"},
             {"/account/de/user/device/?user_code=A", "/account/de/user/sign_in/?"},
             {"/account/pt-BR/user/oauth/", "/account/pt-BR/user/sign_in/?"},
             {"/account/de/itemplatform/oauth/?client_id=a", "/account/de/user/sign_in/?"},
             // Not below a language: the page itself redirects to one.
             {"/", "/account/user/sign_in/?"},
             {"/de/user/settings/", "/account/user/sign_in/?"},
             {"/account/orders/", "/account/user/sign_in/?"},
             {"/account/d/user/", "/account/user/sign_in/?"},
             {"/account/../user/", "/account/user/sign_in/?"},
             {"/account/de/orders/", "/account/user/sign_in/?"},
         }) {
        CAPTURE(back);
        CHECK(below.sessions.sign_in_url(back).starts_with(path));
    }
}

TEST_CASE("an invalid auth_url or cookie name throws", "[cookie_sessions]") {
    for (const char* url : {"", "shop.example", "ftp://shop.example", "https://shop.example/?a", "https://u@shop.example"}) {
        CAPTURE(url);
        CHECK_THROWS_AS(session_cookie{session_settings{.auth_url = url}}, std::invalid_argument);
    }
    for (const std::string& name : {std::string{"a b"}, std::string{"a=b"}, std::string{"a;b"}, std::string{"__Host-a"},
                                    std::string{"__Secure-a"}, std::string{"__host-a"}, std::string(65, 'a')}) {
        CAPTURE(name);
        CHECK_THROWS_AS((session_cookie{session_settings{.auth_url = "https://shop.example", .cookie_name = name}}), std::invalid_argument);
    }
}

TEST_CASE("sites have cookies of different names", "[cookie_sessions]") {
    const auto name = [](std::string_view url, std::string_view chosen = {}) { return cookie_name_of(url, chosen, "session"); };
    // Cookies ignore ports, and __Host- allows no path but `/`.
    const std::vector<std::string> all{name("https://shop.example"), name("https://shop.example:8443"), name("https://shop.example/a"),
                                       name("https://shop.example/b"), name("http://shop.example"), name("https://other.example")};
    for (const auto& each : all) CHECK(std::count(all.begin(), all.end(), each) == 1);
    CHECK(all[0].starts_with("__Host-tollgate_"));
    CHECK(all[4].starts_with("tollgate_"));
    CHECK(all[0].size() == std::string_view{"__Host-tollgate_01234567_session"}.size());
    // Other spellings of one URL.
    CHECK(name("https://SHOP.example:443/") == all[0]);
    CHECK(name("https://shop.example", "shop") == "__Host-shop_session");
    CHECK(name("http://shop.example", "shop") == "shop_session");
    CHECK(name("http://shop.example", std::string(64, 'a')) == std::string(64, 'a') + "_session");

    site one{"https://shop.example:8443"}, two{"https://shop.example:9443"};
    REQUIRE(one.sign_in());
    REQUIRE(two.sign_in());
    const auto both = one.cookie() + "; " + two.cookie();
    CHECK(one.find_session(both));
    CHECK(two.find_session(both));
}

TEST_CASE("blanks around a login are not part of it", "[cookie_sessions]") {
    site shop;
    const auto response = shop.sign_in("right", {}, " ann\xc2\xa0");
    REQUIRE(response);
    REQUIRE(response->result == sign_in_result::signed_in);
    CHECK(response->session->login == "ann");
    CHECK(shop.find_session(shop.cookie())->login == "ann");
    CHECK(shop.sign_in("right ")->result == sign_in_result::refused);  // those of a password are
    // All spellings count as one login.
    for (int i = 0; i < 9; ++i)
        CHECK(shop.sign_in("wrong", {}, std::string(static_cast<std::size_t>(i), ' ') + "ann")->result ==
              sign_in_result::refused);
    CHECK(shop.sign_in("right")->result == sign_in_result::throttled);
}

TEST_CASE("a bound of the throttle without a window throws", "[cookie_sessions]") {
    session_map store;
    anns_password passwords;
    for (quota sign_in_bounds::*bound : {&sign_in_bounds::login_at_address, &sign_in_bounds::address, &sign_in_bounds::login,
                                         &sign_in_bounds::login_at_site, &sign_in_bounds::login_at_network, &sign_in_bounds::site,
                                         &sign_in_bounds::network, &sign_in_bounds::login_on_browser,
                                         &sign_in_bounds::login_on_browsers}) {
        session_settings settings{.auth_url = "https://shop.example"};
        settings.throttle.*bound = {.requests = 10};
        CHECK_THROWS_AS((cookie_sessions{settings, store, passwords}), std::invalid_argument);
        settings.throttle.*bound = {10, seconds{1}};
        CHECK_NOTHROW(cookie_sessions{settings, store, passwords});
    }
}

TEST_CASE("a session setting outside its bounds throws, and one at a bound does not", "[cookie_sessions]") {
    const auto accepts = [](auto change) {
        session_settings settings{.auth_url = "https://shop.example"};
        change(settings);
        try {
            const session_cookie made{settings};
            return true;
        } catch (const std::invalid_argument&) {
            return false;
        }
    };
    struct row {
        seconds session_settings::*time;
        seconds least;
    };
    constexpr seconds most = std::chrono::days{36'500};
    for (const auto& [time, least] : {row{&session_settings::idle_lifetime, seconds{1}}, {&session_settings::lifetime, seconds{1}},
                                      {&session_settings::touch_interval, seconds{0}},
                                      {&session_settings::browser_lifetime, seconds{1}}}) {
        CAPTURE(least);
        CHECK_FALSE(accepts([&](session_settings& all) { all.*time = least - seconds{1}; }));
        CHECK(accepts([&](session_settings& all) { all.*time = least; }));
        CHECK(accepts([&](session_settings& all) { all.*time = most; }));
        CHECK_FALSE(accepts([&](session_settings& all) { all.*time = most + seconds{1}; }));
    }
    for (const std::size_t bytes : {0U, 16U, 100U})
        CHECK(accepts([&](session_settings& all) { all.browser_key.assign(bytes, 'k'); }));
    for (const std::size_t bytes : {1U, 15U})
        CHECK_FALSE(accepts([&](session_settings& all) { all.browser_key.assign(bytes, 'k'); }));
}

TEST_CASE("passwords and logins of invalid length are neither counted nor hashed", "[cookie_sessions]") {
    site shop;
    for (int i = 0; i < 2000; ++i) {
        for (const auto& response : {shop.sign_in(std::string(1025, 'p')), shop.sign_in("right", {}, std::string(255, 'l')),
                                     shop.sign_in("right", {}, std::string_view{"ann\0", 4}), shop.sign_in("right", {}, "ann\xff")}) {
            REQUIRE(response);
            CHECK(response->result == sign_in_result::refused);
        }
    }
    CHECK(shop.passwords.checks == 0);
    CHECK(shop.sign_in()->result == sign_in_result::signed_in);
}

TEST_CASE("other clients cannot lock out a known browser", "[cookie_sessions]") {
    site shop;
    REQUIRE(shop.sign_in()->result == sign_in_result::signed_in);
    const auto cookie = shop.browser_cookie.substr(0, shop.browser_cookie.find(';'));
    REQUIRE(cookie.starts_with(cookie_name_of("https://shop.example", {}, "browser") + "="));
    CHECK(shop.browser_cookie.find("HttpOnly") != std::string::npos);
    CHECK(shop.browser_cookie.find("Secure") != std::string::npos);
    CHECK(shop.browser_cookie.find("Max-Age=31536000") != std::string::npos);
    for (int i = 0; i < 10; ++i) CHECK(shop.sign_in("wrong")->result == sign_in_result::refused);
    CHECK(shop.sign_in()->result == sign_in_result::throttled);
    CHECK(shop.sign_in("right", cookie)->result == sign_in_result::signed_in);
    CHECK(shop.browser_cookie.empty());  // it already has one
    // Its own failures count, and it is invalid for another login and after a change.
    for (int i = 0; i < 10; ++i) CHECK(shop.sign_in("wrong", cookie)->result == sign_in_result::refused);
    CHECK(shop.sign_in("right", cookie)->result == sign_in_result::throttled);
    for (int i = 0; i < 10; ++i) CHECK(shop.sign_in("wrong", cookie, "bob")->result == sign_in_result::refused);
    CHECK(shop.sign_in("wrong", {}, "bob")->result == sign_in_result::throttled);
    auto changed = cookie;
    changed.back() = changed.back() == 'A' ? 'E' : 'A';
    CHECK(shop.sign_in("right", changed)->result == sign_in_result::throttled);
}

namespace {

/// Passwords that can be changed.
struct changing_passwords {
    std::string password = "the current one";
    user_id owner = ann;
    std::optional<error> failure;
    result<std::optional<user_id>> check_password(std::string_view login, std::string_view typed) {
        if (failure) return *failure;
        return login == "ann" && typed == password ? std::optional{owner} : std::nullopt;
    }
    result<void> set_password(const checked_password& current, std::string_view new_password) {
        if (current.user != ann) return not_found();
        password = new_password;
        return {};
    }
};
using changing_sessions = cookie_sessions<session_map, changing_passwords, tollgate_test::counting_random>;
static_assert(session_manager<changing_sessions> && password_changer<changing_sessions>);
static_assert(session_manager<sessions_type> && !password_changer<sessions_type>);

/// Ann in one browser or several.
struct browsers {
    session_map store;
    changing_passwords passwords;
    std::uint64_t entropy = 0;
    bool random_works = true;
    instant now = noon;
    changing_sessions sessions{{.auth_url = "https://shop.example"},
                               store,
                               passwords,
                               tollgate_test::counting_random{&entropy, &random_works}};
    const session user_session{ann, "ann", "secret"};

    /// Returns the cookie.
    std::string sign_in(std::string_view user_agent, const ip_address& from) {
        http::request request;
        request.fields.add("User-Agent", user_agent);
        http::response out;
        REQUIRE(sessions.sign_in(request, {"ann", passwords.password, from}, now, out)->session);
        const auto line = out.find("Set-Cookie");
        return std::string{line.substr(0, line.find(';'))};
    }
    std::vector<listed_session> listed(std::string_view cookie) {
        http::request request;
        request.fields.add("Cookie", cookie);
        return *sessions.sessions_of(request, user_session, now);
    }
    http::response changed_with{};
    password_change_response change(std::string_view cookie, std::string_view current, std::string_view new_password = "the new one") {
        http::request request;
        request.fields.add("Cookie", cookie);
        changed_with = {};
        return *sessions.change_password(request, user_session, {current, new_password, ip_address::v4(192, 0, 2, 1)}, now, changed_with);
    }
    bool is_in(std::string_view cookie) {
        http::request request;
        request.fields.add("Cookie", cookie);
        return sessions.session_of(request, now)->has_value();
    }
};

}  // namespace

TEST_CASE("a user's sessions are listed with where they began") {
    browsers ann_with;
    const auto first = ann_with.sign_in("Firefox/1\x01\xff", ip_address::v4(203, 0, 113, 77));
    ann_with.now += minutes{1};
    const auto second = ann_with.sign_in(std::string(300, 'x'), *ip_address::parse("2001:db8:1:2::3"));
    const auto listed = ann_with.listed(second);
    REQUIRE(listed.size() == 2);
    for (const auto& each : listed) {
        const bool is_first = each.created_at == noon;
        CHECK(each.user_agent == (is_first ? "Firefox/1??" : std::string(limits::session_user_agent_bytes_max, 'x')));
        CHECK(each.signed_in_from == (is_first ? "203.0.113.0/24" : "2001:db8:1::/48"));
        CHECK(each.is_current == !is_first);
        CHECK(each.id.size() == 24);
        for (const auto& [key, row] : ann_with.store.rows) CHECK(tollgate::detail::hex_encode(key).find(each.id) == std::string::npos);
    }
    CHECK(listed[0].id != listed[1].id);

    ann_with.now += hours{12} - minutes{1};
    CHECK(ann_with.listed(second).size() == 1);  // the other session has ended
    ann_with.store.failure = unavailable("gone");
    http::request request;
    CHECK(ann_with.sessions.sessions_of(request, ann_with.user_session, noon).error().kind == error_kind::unavailable);
}

TEST_CASE("a user ends sessions of other browsers") {
    browsers ann_with;
    const auto current = ann_with.sign_in("here", ip_address::v4(192, 0, 2, 1));
    const auto second = ann_with.sign_in("there", ip_address::v4(192, 0, 2, 2));
    const auto third = ann_with.sign_in("elsewhere", ip_address::v4(192, 0, 2, 3));
    const auto listed = ann_with.listed(current);
    const auto id_of = [&](std::string_view agent) {
        for (const auto& each : listed)
            if (each.user_agent == agent) return each.id;
        return std::string{};
    };
    CHECK_FALSE(*ann_with.sessions.end_session({user_id{2}, "bob", ""}, id_of("there")));
    CHECK_FALSE(*ann_with.sessions.end_session(ann_with.user_session, ""));
    CHECK_FALSE(*ann_with.sessions.end_session(ann_with.user_session, "0"));
    CHECK(ann_with.is_in(second));
    CHECK(*ann_with.sessions.end_session(ann_with.user_session, id_of("there")));
    CHECK_FALSE(*ann_with.sessions.end_session(ann_with.user_session, id_of("there")));
    CHECK_FALSE(ann_with.is_in(second));
    CHECK(ann_with.is_in(third));

    http::request request;
    request.fields.add("Cookie", current);
    REQUIRE(ann_with.sessions.end_other_sessions(request, ann_with.user_session));
    CHECK(ann_with.is_in(current));
    CHECK_FALSE(ann_with.is_in(third));
}

TEST_CASE("the current password is required to change it") {
    using enum password_change_response::outcome;
    browsers ann_with;
    const auto current = ann_with.sign_in("here", ip_address::v4(192, 0, 2, 1));
    const auto second = ann_with.sign_in("there", ip_address::v4(192, 0, 2, 2));
    CHECK(ann_with.change(current, "a guess").result == refused);
    CHECK(ann_with.change(current, std::string(limits::password_bytes_max + 1, 'x')).result == refused);
    ann_with.passwords.owner = user_id{2};  // the login belongs to another user now
    CHECK(ann_with.change(current, "the current one").result == refused);
    ann_with.passwords.owner = ann;
    CHECK(ann_with.passwords.password == "the current one");
    CHECK(ann_with.is_in(second));
    CHECK(ann_with.changed_with.find("Set-Cookie").empty());
    CHECK(ann_with.change(current, "the current one").result == changed);
    CHECK(ann_with.passwords.password == "the new one");
    CHECK_FALSE(ann_with.is_in(second));
    // The current session ends too, because another person may know its cookie.
    CHECK_FALSE(ann_with.is_in(current));
    const auto line = ann_with.changed_with.find("Set-Cookie");
    const auto next = std::string{line.substr(0, line.find(';'))};
    CHECK(ann_with.is_in(next));
    CHECK(ann_with.store.rows.size() == 1);
}

TEST_CASE("a password is not changed if the other sessions cannot be ended") {
    browsers ann_with;
    const auto current = ann_with.sign_in("here", ip_address::v4(192, 0, 2, 1));
    const auto second = ann_with.sign_in("there", ip_address::v4(192, 0, 2, 2));
    ann_with.store.end_all_fails = true;
    http::request request;
    request.fields.add("Cookie", current);
    http::response out;
    CHECK_FALSE(ann_with.sessions.change_password(request, ann_with.user_session,
                                                  {"the current one", "the new one", ip_address::v4(192, 0, 2, 1)}, ann_with.now, out));
    CHECK(ann_with.passwords.password == "the current one");
    CHECK(ann_with.is_in(current));
    CHECK(ann_with.is_in(second));
    CHECK(ann_with.store.rows.size() == 2);
    CHECK(out.field_block().empty());
}

TEST_CASE("guesses at a password change are throttled like those at sign-in") {
    using enum password_change_response::outcome;
    browsers ann_with;
    const auto current = ann_with.sign_in("here", ip_address::v4(192, 0, 2, 1));
    for (int i = 0; i < 10; ++i) CHECK(ann_with.change(current, "a guess").result == refused);
    const auto late = ann_with.change(current, "the current one");
    CHECK(late.result == throttled);
    CHECK(late.retry_after >= seconds{1});
    CHECK(ann_with.passwords.password == "the current one");
    ann_with.now += minutes{15};
    // An attempt that could not be checked is not a failure.
    ann_with.passwords.failure = unavailable("busy");
    http::request request;
    http::response out;
    for (int i = 0; i < 20; ++i)
        CHECK_FALSE(ann_with.sessions.change_password(request, ann_with.user_session, {"x", "y", ip_address::v4(192, 0, 2, 1)},
                                                      ann_with.now, out));
    ann_with.passwords.failure.reset();
    CHECK(ann_with.change(current, "the current one").result == changed);
}

namespace {

/// Passwords with versions. `meanwhile` runs after a password was compared and before the result is known.
struct versioned_passwords : changing_passwords {
    int version = 1;
    std::function<void()> meanwhile = [] {};
    std::optional<error> version_failure;

    using changing_passwords::check_password;
    result<std::optional<checked_password>> check_password(const sign_in_attempt& attempt) {
        auto checked = check_password(attempt.login, attempt.password);
        if (!checked) return std::move(checked).error();
        const auto compared = std::to_string(version);
        std::exchange(meanwhile, [] {})();
        if (!*checked) return std::optional<checked_password>{};
        return std::optional{checked_password{**checked, compared}};
    }
    result<std::string> password_version(std::string_view login) const {
        if (version_failure) return *version_failure;
        return login == "ann" ? std::to_string(version) : std::string{};
    }
    result<void> set_password(const checked_password& current, std::string_view new_password) {
        if (current.version != std::to_string(version)) return error{error_kind::conflict, "changed", {}};
        ++version;
        return changing_passwords::set_password(current, new_password);
    }
};
static_assert(versioned_password_source<versioned_passwords> && password_store<versioned_passwords>);
static_assert(!versioned_password_source<changing_passwords> && password_store<changing_passwords>);

struct versioned_site {
    session_map store;
    versioned_passwords passwords;
    std::uint64_t entropy = 0;
    bool random_works = true;
    cookie_sessions<session_map, versioned_passwords, tollgate_test::counting_random> sessions{
        {.auth_url = "https://shop.example"}, store, passwords, tollgate_test::counting_random{&entropy, &random_works}};
    http::request request{};
    http::response out{};

    result<sign_in_response> sign_in() {
        out = {};
        return sessions.sign_in(request, {"ann", "the current one", ip_address::v4(192, 0, 2, 1)}, noon, out);
    }
    result<password_change_response> change(std::string_view new_password) {
        out = {};
        const password_change change{"the current one", new_password, ip_address::v4(192, 0, 2, 1)};
        return sessions.change_password(request, {ann, "ann", "secret"}, change, noon, out);
    }
    /// A change that another request completes.
    void change_elsewhere() {
        REQUIRE(passwords.set_password({ann, std::to_string(passwords.version)}, "the thief's"));
        REQUIRE(store.end_sessions(sessions_of_user{ann}));
    }
};

}  // namespace

TEST_CASE("a password that is changed during a sign-in leaves no session", "[cookie_sessions]") {
    versioned_site shop;
    REQUIRE(shop.sign_in()->result == sign_in_result::signed_in);
    CHECK(shop.store.rows.size() == 1);
    shop.passwords.meanwhile = [&] { shop.change_elsewhere(); };
    CHECK(shop.sign_in().error().kind == error_kind::unavailable);
    CHECK(shop.store.rows.empty());
    CHECK(shop.out.field_block().empty());
    CHECK(shop.sign_in()->result == sign_in_result::refused);
    // A session whose version is unknown does not remain either.
    shop.passwords.password = "the current one";
    shop.passwords.meanwhile = [&] { shop.passwords.version_failure = unavailable("the users' database"); };
    CHECK(shop.sign_in().error().cause == "the users' database");
    CHECK(shop.store.rows.empty());
    CHECK(shop.out.field_block().empty());
}

TEST_CASE("of two concurrent password changes the second is refused", "[cookie_sessions]") {
    using enum password_change_response::outcome;
    versioned_site shop;
    shop.passwords.meanwhile = [&] { shop.change_elsewhere(); };
    CHECK(shop.change("the new one")->result == refused);
    CHECK(shop.passwords.password == "the thief's");
    CHECK(shop.store.rows.empty());
    CHECK(shop.out.field_block().empty());
    shop.passwords.password = "the current one";
    CHECK(shop.change("the new one")->result == changed);
    CHECK(shop.passwords.password == "the new one");
    CHECK(shop.store.rows.size() == 1);
    CHECK_FALSE(shop.out.field_block().empty());
}

namespace {

/// One submitted change, sent from the same browser any number of times.
struct submitted_change {
    versioned_site& site;
    std::string cookie;
    std::string new_password = "the new one";
    http::request request{};
    http::response out{};

    submitted_change(versioned_site& at, std::string sent_cookie) : site{at}, cookie{std::move(sent_cookie)} {
        request.fields.add("Cookie", cookie);
        request.body = "form_token=x&new_password=y";
    }
    result<password_change_response> send() {
        out = {};
        return site.sessions.change_password(request, {ann, "ann", "secret"},
                                             {"the current one", new_password, ip_address::v4(192, 0, 2, 1)}, noon,
                                             out);
    }
    std::string cookie_sent() const {
        const auto line = out.find("Set-Cookie");
        return std::string{line.substr(0, line.find(';'))};
    }
};

std::string sign_in_of(versioned_site& site) {
    REQUIRE(site.sign_in()->session);
    const auto line = site.out.find("Set-Cookie");
    return std::string{line.substr(0, line.find(';'))};
}

}  // namespace

TEST_CASE("a password change that is sent again has the same result, wherever the first one is", "[cookie_sessions]") {
    using enum password_change_response::outcome;
    struct row {
        const char* when;
        bool is_after_check;  // the first one completes after the second has compared the current password
    };
    for (const row& each : {row{"one after the other", false}, row{"at the same time", true}}) {
        CAPTURE(each.when);
        versioned_site shop;
        const auto cookie = sign_in_of(shop);
        submitted_change first{shop, cookie}, second{shop, cookie};
        if (each.is_after_check) shop.passwords.meanwhile = [&] { CHECK(first.send()->result == changed); };
        else CHECK(first.send()->result == changed);
        CHECK(second.send()->result == repeated);
        CHECK(second.cookie_sent() == first.cookie_sent());
        CHECK_FALSE(first.cookie_sent().empty());
        CHECK(shop.passwords.password == "the new one");
        CHECK(shop.store.rows.size() == 1);
        const auto cookie_after = second.cookie_sent();
        http::request next;
        next.fields.add("Cookie", cookie_after);
        CHECK(shop.sessions.session_of(next, noon)->has_value());
        CHECK(*shop.sessions.find_repeated_change(first.request, noon, first.out));
        // It was no guess.
        for (int i = 0; i < 20; ++i) CHECK(second.send()->result == repeated);
    }
}

TEST_CASE("a password change from another browser is not taken for one that is sent again", "[cookie_sessions]") {
    using enum password_change_response::outcome;
    versioned_site shop;
    submitted_change here{shop, sign_in_of(shop)}, there{shop, sign_in_of(shop)};
    there.new_password = "another new one";
    shop.passwords.meanwhile = [&] { CHECK(here.send()->result == changed); };
    CHECK(there.send()->result == refused);
    CHECK(there.out.field_block().empty());
    CHECK(shop.passwords.password == "the new one");
    CHECK(there.send()->result == refused);
    http::response out;
    CHECK_FALSE(*shop.sessions.find_repeated_change(there.request, noon, out));
    CHECK_FALSE(*shop.sessions.find_repeated_change({}, noon, out));
    shop.store.failure = unavailable("gone");
    CHECK_FALSE(shop.sessions.find_repeated_change(here.request, noon, out));
}

TEST_CASE("the session after a form is derived from cookie and form, and recognized by the form", "[cookie_sessions]") {
    const auto cookie = session_cookie::successor_of("a", "b");
    CHECK(is_well_formed(secret_kind::session, cookie));
    CHECK(session_cookie::successor_of("a", "b").view() == cookie.view());
    CHECK(session_cookie::successor_of("A", "b").view() != cookie.view());
    CHECK(session_cookie::successor_of("a", "B").view() != cookie.view());
    CHECK(session_cookie::is_successor(cookie, "b"));
    for (const char* body : {"", "B", "bb"}) CHECK_FALSE(session_cookie::is_successor(cookie, body));
    CHECK_FALSE(session_cookie::is_successor("", "b"));
    CHECK_FALSE(session_cookie::is_successor("tgw_", "b"));
    std::array<std::byte, 32> random{};
    CHECK_FALSE(session_cookie::is_successor(make_secret(secret_kind::session, random), "b"));
}

TEST_CASE("a second password change ends the session of the first", "[cookie_sessions]") {
    // Runs directly after the first password was set, before the first request has ended the sessions.
    struct overtaken : versioned_passwords {
        std::function<void()> afterwards;
        result<void> set_password(const checked_password& current, std::string_view new_password) {
            auto done = versioned_passwords::set_password(current, new_password);
            if (done) std::exchange(afterwards, [] {})();
            return done;
        }
    } passwords;
    session_map store;
    std::uint64_t entropy = 0;
    bool random_works = true;
    cookie_sessions sessions{{.auth_url = "https://shop.example"},
                             store,
                             passwords,
                             tollgate_test::counting_random{&entropy, &random_works}};
    passwords.afterwards = [&] { REQUIRE(store.end_sessions(sessions_of_user{ann})); };
    http::response out;
    const password_change change{"the current one", "the new one", ip_address::v4(192, 0, 2, 1)};
    REQUIRE(sessions.change_password({}, {ann, "ann", "secret"}, change, noon, out));
    CHECK(store.rows.empty());
}
