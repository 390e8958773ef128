// A shop with its own users, sign-in and design adds OAuth and the account pages: both recognize users by the shop's
// cookie and use the shop's design. The program sends itself the requests of one user and one application, and returns
// 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <array>
#include <cstddef>
#include <iostream>
#include <map>
#include <mutex>
#include <new>
#include <optional>
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

// [sessions]
/// The shop's sessions. The shop's sign-in page sets a cookie; Tollgate only looks up its user.
class shop_sessions {
public:
    /// Called after a correct password. Returns the value of a new cookie, or an empty string if there are no random bytes.
    std::string open(user_id user, std::string name) {
        std::array<std::byte, 32> random;
        if (!system_random{}.fill(random)) return {};
        const std::string cookie{make_secret(secret_kind::session, random).view()};
        const std::lock_guard hold{mutex_};
        people_.emplace(cookie, person{user, std::move(name)});
        return cookie;
    }

    result<std::optional<session>> session_of(const http::request& request, instant /*now*/) {
        const auto cookie = http::find_cookie(request.fields, "shop");
        if (!cookie) return std::optional<session>{};
        const std::lock_guard hold{mutex_};
        const auto found = people_.find(*cookie);
        if (found == people_.end()) return std::optional<session>{};
        // The secret protects forms. Only the browser knows the cookie, so it can serve as the secret.
        return std::optional{session{found->second.user, found->second.name, found->first}};
    }

    /// The shop's sign-in page redirects to `next` afterwards; it checks that this is a path of the shop.
    std::string sign_in_url(std::string_view return_to) const { return "/sign-in?next=" + http::percent_encode(return_to); }

private:
    struct person {
        user_id user;
        std::string name;
    };
    std::mutex mutex_;
    std::map<std::string, person, std::less<>> people_;
};

static_assert(session_source<shop_sessions>);
// [/sessions]

// [theme]
/// The shop's header and colors around Tollgate's content, and a description of the shop's scope. Everything else
/// is as in the default theme.
struct shop_theme : plain_theme {
    shop_theme() {
        languages = {page_texts{}, german_texts()};
        for (page_texts& each : languages) each.frame.site_name = "Corner shop";
        languages[0].consent.allow = "Yes, allow access";
    }

    std::string scope_text(std::string_view scope, const service_catalog& services, const page_texts& texts) const {
        if (scope != "shop:read") return plain_theme::scope_text(scope, services, texts);
        return texts.frame.language == "de" ? "Ihre Bestellungen ansehen" : "See what you ordered";
    }
    std::string style_sheet() const {
        return "body { max-width: 40rem; margin: 0 auto; padding: 1rem; font: 1rem/1.6 Georgia, serif; }\n"
               "h1, button { color: #7a2e0e; }\n";
    }
    void begin_page(html_writer& html, const page_frame& frame) const {
        html.add("<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n", frame.texts->language);
        html.add("<title>{}{} - Corner shop</title>\n", frame.has_errors ? "Error: " : "", frame.title);
        html.add("<link rel=\"stylesheet\" href=\"{}\">\n", frame.style_url);
        if (!frame.referrer_policy.empty())
            html.add("<meta name=\"referrer\" content=\"{}\">\n", frame.referrer_policy);
        html.add("</head>\n<body>\n<header><a href=\"/\">Corner shop</a> {}</header>\n<nav>\n", frame.login);
        for (const page_link& each : frame.navigation) html.add("<a href=\"{}\">{}</a>\n", each.url, each.text);
        html.add("</nav>\n<main>\n");
    }
    void end_page(html_writer& html, const page_frame&) const { html.add("</main>\n</body>\n</html>\n"); }
};

static_assert(page_theme<shop_theme>);
// [/theme]

// [passwords]
/// The shop's passwords. A real shop would check a slow hash, such as scrypt.
struct shop_passwords {
    static constexpr bool blocking = true;

    result<std::optional<user_id>> check_password(std::string_view login, std::string_view password) {
        const bool is_right = equal_in_constant_time(password, "open sesame");  // for an unknown login, too
        return login == "ann" && is_right ? std::optional{user_id{1}} : std::nullopt;
    }
};

static_assert(password_source<shop_passwords>);
// [/passwords]

/// The shop's other pages.
struct shop_pages {
    void handle(const http::request&, http::response& response) noexcept try {
        response.body() = "Welcome to the corner shop.\n";
    } catch (const std::bad_alloc&) {
        response.set_status(http::status::internal_server_error);
    }
    void handle(const http::refusal& refused, http::response& response) noexcept { response.set_status(refused.status); }
};

/// A request of a browser or a program.
struct sent {
    std::string target;
    std::string_view field = "Cookie";
    std::string value = {};
    std::optional<std::string> form = std::nullopt;
};

http::response send(auto& site, const sent& message) {
    http::request request;
    request.method = message.form ? http::method::post : http::method::get;
    request.target = http::target::from(message.target);
    request.fields.add("User-Agent", "own_session");
    request.fields.add(message.field, message.value);
    if (message.form) {
        request.fields.add("Content-Type", "application/x-www-form-urlencoded");
        request.body = *message.form;
    }
    http::response response;
    site.handle(request, response);
    std::cout << (message.form ? "POST " : "GET ") << message.target.substr(0, message.target.find('?')) << ": "
              << http::to_number(response.status()) << '\n';
    return response;
}

/// The text between two others.
std::string between(std::string_view text, std::string_view before, std::string_view behind) {
    const auto at = text.find(before);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + before.size());
    return std::string{text.substr(0, text.find(behind))};
}

int main() {
    // [site]
    const std::string home = "https://shop.example/account";
    shop_directory users;
    shop_sessions sessions;
    memory_store store;
    account_service service{{.base_url = home + "/v1", .auth_url = home, .services = {{"shop", {"order.paid"}}}},
                            users, store, sessions, default_policies(), account_routes(), shop_theme{}};
    shop_pages others;
    http::site site{http::mounted(service), http::mounted("", others)};
    // [/site]

    // [built_in]
    shop_passwords passwords;
    cookie_sessions own_cookies{{.auth_url = home}, store, passwords};
    account_service with_sign_in{{.base_url = home + "/v1", .auth_url = home, .services = {{"shop", {"order.paid"}}}},
                                 users, store, own_cookies};
    // [/built_in]

    const auto app = register_application(
        store,
        {.owner = user_id{1}, .name = "Book keeper", .website = "https://books.example",
         .redirect_urls = {"https://books.example/back"}},
        system_clock{}.now());
    if (!app) return report(app.error());
    const std::string client_id{app->client_id.view()};
    const std::string query = "client_id=" + client_id + "&response_type=code&scope=shop:read,user:balance&state=s7";

    // Without a session the user is sent to the shop's sign-in page, and then to the consent page in the shop's design.
    const auto redirected = send(site, {.target = "/account/en/user/oauth/?" + query});
    const auto cookie = "shop=" + sessions.open(user_id{1}, "Ann");
    const auto consent = send(site, {.target = "/account/en/user/oauth/?" + query, .value = cookie});
    const auto sign_in = send(with_sign_in, {.target = "/account/en/user/sign_in/"});
    bool right = sign_in.status() == http::status::ok &&
                 redirected.find("Location").starts_with("/sign-in?next=%2Faccount%2Fen%2Fuser%2Foauth%2F") &&
                 consent.body().find("Corner shop</a> Ann") != std::string::npos &&
                 consent.body().find("See what you ordered") != std::string::npos;

    // The consent form is submitted; then the code is exchanged for a token, and the token is used for the API.
    const auto form_token = between(consent.body(), "name=\"form_token\" value=\"", "\"");
    const auto back = send(site, {.target = "/account/en/user/oauth/",
                                  .value = cookie,
                                  .form = query + "&decision=allow&form_token=" + http::percent_encode(form_token)});
    const auto code = between(back.find("Location"), "https://books.example/back?code=", "&");
    const auto issued = send(site, {.target = "/account/user/oauth_token/",
                                    .form = "client_id=" + client_id + "&client_secret=" +
                                            std::string{app->client_secret.view()} +
                                            "&grant_type=authorization_code&code=" + code});
    const auto access_token = between(issued.body(), "\"access_token\":\"", "\"");
    const auto balance_response =
        send(site, {.target = "/account/v1/user/balance", .field = "Authorization", .value = "Bearer " + access_token});
    right = right && balance_response.body().find("\"balance\":12.50") != std::string::npos;

    // Ann finds the application among those that she has authorized.
    const auto settings = send(site, {.target = "/account/en/user/settings/authorizations/", .value = cookie});
    const auto start = send(site, {.target = "/", .value = cookie});
    right = right && settings.body().find("Book keeper") != std::string::npos && start.body().starts_with("Welcome");
    return right ? 0 : 1;
}
