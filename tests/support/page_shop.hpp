#pragma once

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/store/memory.hpp>

#include <support/shop.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate_test {

using namespace tollgate;

/// Signs in every cookie `who=LOGIN`; passwords are the login reversed.
struct shop_sessions {
    static constexpr bool blocking = false;

    std::map<std::string, user_id, std::less<>> logins{{"ann", ann}, {"bob", bob}};
    std::optional<error> failure;     // the result of every function, if set
    sign_in_response next_refusal{};  // for a wrong password
    std::optional<ip_address> last_client;
    bool has_secrets = true;
    std::string signed_in_again;  // makes the secrets of sessions different, as a new sign-in does

    result<std::optional<session>> session_of(const http::request& http_request, instant) {
        if (failure) return *failure;
        const auto cookie = http_request.fields.find(http::field_id::cookie);
        if (!cookie.starts_with("who=")) return std::optional<session>{};
        return find(cookie.substr(4));
    }
    std::string sign_in_url(std::string_view return_to) const {
        return "/en/user/sign_in/?return_to=" + tollgate::detail::percent_encode(return_to);
    }
    result<sign_in_response> sign_in(const http::request&, const sign_in_attempt& attempt, instant,
                                    http::response& out) {
        if (failure) return *failure;
        last_client = attempt.client;
        const auto user = find(attempt.login);
        if (!user || attempt.password != std::string{attempt.login.rbegin(), attempt.login.rend()}) return next_refusal;
        out.add("Set-Cookie", *http::field_value::from("who=" + user->login + "; Path=/"));
        return sign_in_response{sign_in_result::signed_in, user, {}};
    }
    result<void> sign_out(const http::request&, instant, http::response& out) {
        if (failure) return *failure;
        out.add("Set-Cookie", "who=; Path=/; Max-Age=0");
        return {};
    }

private:
    std::optional<session> find(std::string_view login) const {
        const auto at = logins.find(login);
        if (at == logins.end()) return std::nullopt;
        return session{at->second, at->first, has_secrets ? "secret of " + at->first + signed_in_again : std::string{}};
    }
};
static_assert(sign_in_source<shop_sessions>);

inline account_service_settings page_shop_settings() {
    return {.auth_url = "https://shop.example", .services = shop_settings().services, .trusted_proxies = {}};
}

/// Two users, a store, a stopped clock, and pages over them.
template <class Sessions = shop_sessions>
class basic_page_shop {
public:
    instant now = from_unix_seconds(1'700'000'000);
    std::uint64_t entropy = 0;
    bool random_works = true;
    shop_directory users = ann_and_bob();
    memory_store store;
    Sessions sessions;

    explicit basic_page_shop(account_service_settings settings = page_shop_settings())
        : pages{std::move(settings),
                users,
                store,
                sessions,
                default_policies().with_clock(fake_clock{&now}).with_random(counting_random{&entropy, &random_works}),
                english_and_german()} {}

    http::response handle(test_request& request) { return pages.handle(request.view()); }

    http::response get(std::string target, std::string_view login = "ann") {
        test_request request{http::method::get, std::move(target)};
        if (!login.empty()) request.field("Cookie", "who=" + std::string{login});
        return handle(request);
    }

    /// With the form token of this login's page.
    http::response post(std::string path, std::string body, std::string_view login = "ann") {
        if (!login.empty())
            body.append(body.empty() ? "" : "&").append("form_token=").append(token_on(get(path, login)));
        const auto response = post_unchanged(std::move(path), std::move(body), login);
        // A new secret has its own page, which is shown once.
        const std::string location{response.find("Location")};
        return location.find("?shown=") == std::string::npos ? response : get(location, login);
    }

    http::response post_unchanged(std::string path, std::string body, std::string_view login = "ann") {
        test_request request{http::method::post, std::move(path)};
        if (!login.empty()) request.field("Cookie", "who=" + std::string{login});
        request.body(std::move(body), "application/x-www-form-urlencoded");
        return handle(request);
    }

    static std::string token_on(const http::response& page) {
        return between(page.body(), "name=\"form_token\" value=\"", "\"");
    }

    /// The hidden fields of the first form with this action, as the browser submits them.
    static std::string form_of(const http::response& page, std::string_view action) {
        std::string_view form = page.body();
        const auto at = form.find("name=\"action\" value=\"" + std::string{action} + "\"");
        if (at == std::string_view::npos) return {};
        form = form.substr(form.rfind("<form", at));
        form = form.substr(0, form.find("</form>"));
        std::string fields;
        for (;;) {
            const auto input = form.find("<input type=\"hidden\"");
            if (input == std::string_view::npos) return fields;
            form.remove_prefix(input);
            fields.append(fields.empty() ? "" : "&").append(between(form, "name=\"", "\"")).append("=");
            fields.append(tollgate::detail::percent_encode(between(form, "value=\"", "\"")));
            form.remove_prefix(1);
        }
    }

    /// The first text between two others; empty if there is none.
    static std::string between(std::string_view text, std::string_view before, std::string_view after) {
        const auto begin = text.find(before);
        if (begin == std::string_view::npos) return {};
        text.remove_prefix(begin + before.size());
        return std::string{text.substr(0, text.find(after))};
    }

    account_pages pages;
};

using page_shop = basic_page_shop<>;

/// What the page reports at a field of its form; empty if it reports nothing.
[[nodiscard]] inline std::string fault_of(const http::response& page, std::string_view field) {
    return page_shop::between(page.body(), "id=\"" + std::string{field} + "-fault\">", "</p>");
}

[[nodiscard]] inline bool has(const http::response& page, std::string_view text) {
    return page.body().find(text) != std::string::npos;
}

}  // namespace tollgate_test
