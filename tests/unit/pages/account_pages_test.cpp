#include <tollgate/pages/account_pages.hpp>

#include <tollgate/limits/window_limiter.hpp>

#include <tollgate/http/site.hpp>

#include <support/page_shop.hpp>
#include <support/quota_settings.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string settings_path = "/en/user/settings/";
const std::string overview = "/en/user/";
const std::vector<std::string> page_paths{settings_path + "tokens/", settings_path + "applications/",
                                          settings_path + "authorizations/", settings_path + "webhooks/"};

/// A site with external sign-in.
/// An asset that the pages refer to, from the page of a path that does not exist.
std::string asset_url_of(account_pages& pages, std::string_view before) {
    test_request request{http::method::get, "/en/nothing"};
    return page_shop::between(pages.handle(request.view()).body(), before, "\"");
}
std::string style_url_of(account_pages& pages) { return asset_url_of(pages, "<link rel=\"stylesheet\" href=\""); }
std::string icon_url_of(account_pages& pages) { return asset_url_of(pages, "type=\"image/svg+xml\" href=\""); }

struct sessions_elsewhere {
    static constexpr bool blocking = false;

    result<std::optional<session>> session_of(const http::request& request, instant) {
        if (request.fields.find(http::field_id::cookie) != "who=ann") return std::optional<session>{};
        return std::optional{session{ann, "ann", "secret"}};
    }
    std::string sign_in_url(std::string_view return_to) const {
        return "https://login.example/?next=" + tollgate::detail::percent_encode(return_to);
    }
};
static_assert(!sign_in_source<sessions_elsewhere>);

struct slow_sessions : shop_sessions {
    static constexpr bool blocking = true;
};
struct slow_users : shop_directory {
    static constexpr bool blocking = true;
};
struct slow_store : memory_store {
    static constexpr bool blocking = true;
};
struct slow_limiter : unlimited {
    static constexpr bool blocking = true;
};

void check_page_fields(const http::response& page) {
    CHECK(page.find("Content-Type") == "text/html; charset=utf-8");
    CHECK(page.find("Content-Security-Policy").find("default-src 'none'") == 0);
    CHECK(page.find("X-Frame-Options") == "DENY");
    CHECK(page.find("Referrer-Policy") == "no-referrer");
    CHECK(page.find("Cache-Control") == "no-store");
    CHECK(page.find("X-Content-Type-Options") == "nosniff");
    CHECK(page.find("Strict-Transport-Security") == "max-age=31536000");
}

}  // namespace

TEST_CASE("every settings page shows the signed-in user") {
    page_shop shop;
    for (const auto& path : page_paths) {
        CAPTURE(path);
        const auto page = shop.get(path);
        CHECK(to_number(page.status()) == 200);
        check_page_fields(page);
        CHECK(page.find("Content-Security-Policy").find("form-action 'self'") != std::string_view::npos);
        CHECK(page.find("Cross-Origin-Opener-Policy") == "same-origin");
        CHECK(has(page, "Signed in as ann"));
        CHECK(has(page, "<a href=\"" + path + "\" aria-current=\"page\">"));
        CHECK(has(page, "action=\"/en/user/sign_out/\""));
        CHECK(has(page, style_url_of(shop.pages)));
        CHECK_FALSE(has(page, "<script"));
        CHECK_FALSE(has(page, "style=\""));
    }
}

TEST_CASE("a user without a session is redirected to sign-in and back") {
    page_shop shop;
    for (const auto& path : page_paths) {
        const auto page = shop.get(path + "?a=b", "");
        CHECK(to_number(page.status()) == 303);
        CHECK(page.find("Location") == "/en/user/sign_in/?return_to=" + tollgate::detail::percent_encode(path + "?a=b"));
        // The submitted data is dropped, and the page that is requested again says so.
        const auto posted = shop.post_unchanged(path + "?a=b", "description=x", "");
        CHECK(to_number(posted.status()) == 303);
        CHECK(posted.find("Location") == "/en/user/sign_in/?return_to=" + tollgate::detail::percent_encode(path + "?done=signed_out"));
        CHECK_FALSE(has(shop.get(path), "role=\"status\""));
        CHECK(has(shop.get(path + "?done=signed_out"), "<p class=\"caution\" role=\"status\">You were not signed in when"));
    }
    CHECK(shop.get(page_paths[0], "nobody").find("Location").starts_with("/en/user/sign_in/"));
}

TEST_CASE("paths redirect to their pages") {
    page_shop shop;
    struct row {
        std::string target;
        std::string location;
    };
    for (const row& each : {row{"/", overview}, row{"/en", overview}, row{"/en/", overview}, row{"/en/user", overview},
                            row{"/en/user/settings", overview}, row{"/en/user/settings/", overview},
                            row{"/en/user/settings/tokens", page_paths[0]},
                            row{"/en/user/settings/webhooks?account=a/1", page_paths[3] + "?account=a/1"},
                            row{"/en/user/sign_in?return_to=/x", "/en/user/sign_in/?return_to=/x"}}) {
        CAPTURE(each.target);
        for (const auto* login : {"ann", ""}) {
            const auto page = shop.get(each.target, login);
            CHECK(to_number(page.status()) == 303);
            CHECK(page.find("Location") == each.location);
        }
    }
}

TEST_CASE("an unknown page is a 404") {
    page_shop shop;
    for (const auto* target :
         {"/nothing", "//", "/en//user/settings/tokens/", "/EN/user/settings/tokens/", "/en/user/settings/tokens//",
          "/en/user/settings/tokens/1/", "/en/user/settings/../settings/tokens/", "/en/user/settings/%74okens/", "*",
          "/fr/user/settings/tokens/", "/en/user/oauth/", "/en/user/settings/tokens;x/"}) {
        CAPTURE(target);
        const auto page = shop.get(target);
        CHECK(to_number(page.status()) == 404);
        check_page_fields(page);
        CHECK(has(page, "Page not found"));
    }
}

TEST_CASE("methods other than GET, HEAD and POST are refused") {
    page_shop shop;
    for (const auto& path : {page_paths[0], page_paths[3], std::string{"/en/user/sign_in/"}, std::string{"/en/user/sign_out/"}}) {
        CAPTURE(path);
        for (const auto method : {http::method::put, http::method::delete_, http::method::patch, http::method::trace,
                                  http::method::other}) {
            test_request request{method, path};
            const auto page = shop.handle(request);
            CHECK(to_number(page.status()) == (method == http::method::other ? 501 : 405));
            CHECK(page.find("Allow") == "GET, HEAD, POST, OPTIONS");
            CHECK(page.find("Content-Type") == "text/html; charset=utf-8");
        }
        test_request options{http::method::options, path};
        const auto response = shop.handle(options);
        CHECK(to_number(response.status()) == 204);
        CHECK(response.find("Allow") == "GET, HEAD, POST, OPTIONS");
        CHECK(response.body().empty());
    }
    test_request post{http::method::post, "/"};
    const auto start = shop.handle(post);
    CHECK(to_number(start.status()) == 405);
    CHECK(start.find("Allow") == "GET, HEAD, OPTIONS");
    for (const auto& path : {style_url_of(shop.pages), std::string{"/favicon.ico"}}) {
        test_request to_asset{http::method::post, path};
        const auto refused = shop.handle(to_asset);
        CHECK(to_number(refused.status()) == 405);
        CHECK(refused.find("Allow") == "GET, HEAD, OPTIONS");
        CHECK(refused.find("Content-Type") == "text/html; charset=utf-8");
        CHECK(has(refused, "<h1>"));
    }

    // The server omits the body.
    test_request head{http::method::head, page_paths[0]};
    head.field("Cookie", "who=ann");
    CHECK(to_number(shop.handle(head).status()) == 200);
}

TEST_CASE("a form with an invalid head is refused before its body arrives") {
    auto settings = page_shop_settings();
    settings.pages.requests = {4, seconds{60}};
    page_shop shop{settings};
    const std::string form = "application/x-www-form-urlencoded";
    const auto& path = page_paths[0];
    struct row {
        const char* name;
        http::method method;
        std::string path, type, cookie;
        bool from_elsewhere;
        unsigned status;  ///< 0: the body is awaited
    };
    for (const row& each : {row{"no session", http::method::post, path, form, "", false, 303},
                            row{"another site", http::method::post, path, form, "who=ann", true, 403},
                            row{"another type", http::method::post, path, "text/plain", "who=ann", false, 415},
                            row{"another method", http::method::put, path, form, "who=ann", false, 405},
                            row{"no page", http::method::post, "/en/nothing", form, "who=ann", false, 404},
                            row{"a session", http::method::post, path, form, "who=ann", false, 0},
                            row{"a sign-in", http::method::post, "/en/user/sign_in/", form, "", false, 0}}) {
        CAPTURE(each.name);
        test_request request{each.method, each.path};
        request.field("Content-Type", each.type).field("Cookie", each.cookie).pending();
        if (each.from_elsewhere) request.field("Sec-Fetch-Site", "cross-site");
        http::response response;
        http::handler_state state;
        const auto step = http::advance(shop.pages, request.view(), response, state, http::thread_kind::worker);
        CHECK(step == (each.status == 0 ? http::handle_step::needs_body : http::handle_step::done));
        if (each.status != 0) CHECK(to_number(response.status()) == each.status);
    }

    // The checks of the head are not repeated: this is one request of the window.
    const auto token = page_shop::token_on(shop.get(path, "bob"));
    test_request request{http::method::post, path};
    request.field("Content-Type", form).field("Cookie", "who=bob").pending();
    http::response response;
    http::handler_state state;
    REQUIRE(http::advance(shop.pages, request.view(), response, state, http::thread_kind::worker) == http::handle_step::needs_body);
    request.arrived("description=x&scopes=user:balance&form_token=" + token);
    CHECK(http::advance(shop.pages, request.view(), response, state, http::thread_kind::worker) == http::handle_step::done);
    CHECK(to_number(response.status()) == 303);
    CHECK(shop.store.personal_tokens_of(bob)->size() == 1);
    CHECK(to_number(shop.get(path, "bob").status()) == 200);
    CHECK(to_number(shop.get(path, "bob").status()) == 200);
    test_request one_too_many{http::method::post, path};
    one_too_many.field("Content-Type", form).field("Cookie", "who=bob").pending();
    http::response refused;
    http::handler_state fresh;
    CHECK(http::advance(shop.pages, one_too_many.view(), refused, fresh, http::thread_kind::worker) == http::handle_step::done);
    CHECK(to_number(refused.status()) == 429);
}

TEST_CASE("a form whose body arrives after more than a second needs a session that still exists") {
    for (const auto& [wait, ends, expected] :
         {std::tuple{milliseconds{1000}, true, 1U}, std::tuple{milliseconds{1001}, true, 0U}, std::tuple{milliseconds{-1}, true, 0U},
          std::tuple{milliseconds{30'000}, false, 1U}}) {
        CAPTURE(wait.count(), ends);
        page_shop shop;
        const auto& path = page_paths[0];
        const auto token = page_shop::token_on(shop.get(path));
        test_request request{http::method::post, path};
        request.field("Content-Type", "application/x-www-form-urlencoded").field("Cookie", "who=ann").pending();
        http::response response;
        http::handler_state state;
        REQUIRE(http::advance(shop.pages, request.view(), response, state, http::thread_kind::io) == http::handle_step::needs_body);
        if (ends) shop.sessions.logins.erase("ann");
        shop.now += wait;
        request.arrived("description=x&scopes=user:balance&form_token=" + token);
        REQUIRE(http::advance(shop.pages, request.view(), response, state, http::thread_kind::io) == http::handle_step::done);
        CHECK(response.status() == http::status::see_other);
        CHECK((response.find("Location").find("/user/sign_in/") != std::string_view::npos) == (expected == 0));
        const auto created = shop.store.personal_tokens_of(ann);
        REQUIRE(created);
        CHECK(created->size() == expected);
        if (expected != 0) CHECK(created->front().created_at == shop.now - (ends ? wait : milliseconds{0}));
    }
}

TEST_CASE("a form of another user or another site changes nothing") {
    page_shop shop;
    const auto& path = page_paths[0];
    const std::string form_fields = "description=x&scopes=user:balance";
    const auto token_count = [&] {
        return shop.store.personal_tokens_of(ann)->size() + shop.store.personal_tokens_of(bob)->size();
    };
    const auto refused = [&](const http::response& page) {
        CHECK(to_number(page.status()) == 403);
        check_page_fields(page);
        CHECK(has(page, "<h1>Form expired</h1>"));
        CHECK(token_count() == 0);
    };
    const auto shown_again = [&](const http::response& page, std::string_view reason = "You signed in again after this form was loaded") {
        CHECK(to_number(page.status()) == 403);
        check_page_fields(page);
        CHECK(has(page, reason));
        CHECK(token_count() == 0);
    };
    const auto token = page_shop::token_on(shop.get(path));
    REQUIRE_FALSE(token.empty());

    refused(shop.post_unchanged(path, form_fields));
    refused(shop.post_unchanged(path, form_fields + "&form_token="));
    shown_again(shop.post_unchanged(path, form_fields + "&form_token=" + token + "x"));
    shown_again(shop.post_unchanged(path, form_fields + "&form_token=x&form_token=" + token));
    shown_again(shop.post_unchanged(path, form_fields + "&form_token=" + token, "bob"), "You are signed in as bob now.");
    // In the query it would be written to logs and to the browser history.
    refused(shop.post_unchanged(path + "?form_token=" + token, form_fields));

    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"Sec-Fetch-Site", "cross-site"},
                                                          {"Sec-Fetch-Site", "same-site"},
                                                          {"Origin", "https://evil.example"},
                                                          {"Origin", "null"}}) {
        test_request request{http::method::post, path};
        request.field("Cookie", "who=ann")
            .field(name, value)
            .body(form_fields + "&form_token=" + token, "application/x-www-form-urlencoded");
        refused(shop.handle(request));
    }

    // The site's own form is accepted.
    test_request request{http::method::post, path};
    request.field("Cookie", "who=ann").field("Sec-Fetch-Site", "same-origin").field("Origin", "https://shop.example");
    request.body(form_fields + "&form_token=" + token, "application/x-www-form-urlencoded");
    CHECK(to_number(shop.handle(request).status()) == 303);
    CHECK(token_count() == 1);
}

TEST_CASE("a body that is not a form is refused") {
    page_shop shop;
    const auto post = [&](std::string body, std::string type) {
        test_request request{http::method::post, page_paths[0]};
        request.field("Cookie", "who=ann").body(std::move(body), std::move(type));
        return to_number(shop.handle(request).status());
    };
    CHECK(post("{}", "application/json") == 415);
    CHECK(post("a=1", "") == 415);
    CHECK(post("a=%zz", "application/x-www-form-urlencoded") == 400);
    CHECK(post("description=%ff", "application/x-www-form-urlencoded") == 400);
    CHECK(post("", "") == 403);
    test_request large{http::method::post, page_paths[0]};
    large.field("Cookie", "who=ann").body("", "application/x-www-form-urlencoded").too_large();
    CHECK(to_number(shop.handle(large).status()) == 413);
}

TEST_CASE("an unknown action is refused") {
    page_shop shop;
    for (const auto& path : page_paths) {
        const auto page = shop.post(path, "action=explode");
        CHECK(to_number(page.status()) == 404);
        CHECK(has(page, "<h1>No longer available</h1>"));
        CHECK(has(page, "<a href=\"" + path + "\" aria-current=\"page\">"));
        CHECK(has(page, "<a href=\"" + path + "\">Go back to the page</a>"));
        CHECK(has(page, "action=\"/en/user/sign_out/\""));
    }
}

TEST_CASE("a failing dependency is an error page") {
    page_shop shop;
    shop.sessions.failure = unavailable("the session database is gone");
    const auto page = shop.get(page_paths[0]);
    CHECK(to_number(page.status()) == 503);
    CHECK(page.find("Retry-After") == "2");
    check_page_fields(page);
    CHECK_FALSE(has(page, "database"));
    CHECK(to_number(shop.get("/en/user/sign_in/", "").status()) == 503);

    shop.sessions.failure.reset();
    shop.users.failure = internal_error("a bug");
    CHECK(to_number(shop.get(page_paths[3]).status()) == 500);
    CHECK(to_number(shop.get(page_paths[0]).status()) == 200);
}

TEST_CASE("without random bytes or a session secret there are no forms") {
    page_shop shop;
    shop.random_works = false;
    CHECK(to_number(shop.get(page_paths[0]).status()) == 500);
    shop.random_works = true;
    shop.sessions.has_secrets = false;
    CHECK(to_number(shop.get(page_paths[0]).status()) == 500);
}

TEST_CASE("an exception results in an error page") {
    struct throwing_sessions : shop_sessions {
        result<std::optional<session>> session_of(const http::request&, instant) {
            throw std::runtime_error{"a secret"};
        }
    };
    basic_page_shop<throwing_sessions> shop;
    const auto page = shop.get(page_paths[0]);
    CHECK(to_number(page.status()) == 500);
    check_page_fields(page);
    CHECK_FALSE(has(page, "a secret"));
}

TEST_CASE("a long query does not prevent the sign-in") {
    page_shop shop;
    const auto location_of = [&](std::size_t bytes) {
        return std::string{shop.get("/en/user/settings/tokens/?a=" + std::string(bytes, '%'), "").find("Location")};
    };
    CHECK(location_of(10).find("%3Fa%3D%25") != std::string::npos);
    CHECK(location_of(8000) == "/en/user/sign_in/?return_to=%2Fen%2Fuser%2Fsettings%2Ftokens%2F");
}

TEST_CASE("refusals of the server are pages in the reader's language") {
    struct row {
        http::status status;
        std::string_view english, german;
    };
    for (const row& each : {row{http::status::bad_request, "could not be read", "nicht gelesen werden konnte"},
                            row{http::status::request_timeout, "Go back and try again.", "Gehen Sie zurück und versuchen Sie es erneut."},
                            row{http::status::uri_too_long, "The address of the page is too long.", "Die Adresse der Seite ist zu lang."},
                            row{http::status::header_fields_too_large, "Delete the cookies of this site", "die Cookies dieser Website"}})
        for (const bool is_german : {false, true}) {
            CAPTURE(to_number(each.status), is_german);
            page_shop shop;
            http::request read;
            read.target = http::target::from_path("/en/user/");
            if (is_german) read.target = http::target::from_path("/de/user/");
            http::response out;
            shop.pages.handle(http::refusal{.status = each.status, .reason = "A rule was broken.", .peer = {}, .partial = &read}, out);
            CHECK(has(out, is_german ? each.german : each.english));
            CHECK_FALSE(has(out, is_german ? each.english : each.german));
            CHECK_FALSE(has(out, "A rule was broken."));
        }
}

TEST_CASE("refusals of the server are pages") {
    page_shop shop;
    for (const auto status : {http::status::bad_request, http::status::request_timeout, http::status::uri_too_long,
                              http::status::service_unavailable}) {
        http::response out;
        shop.pages.handle(http::refusal{.status = status, .reason = "A rule <was> broken.", .peer = {}, .secure = true},
                          out);
        CHECK(out.status() == status);
        check_page_fields(out);
        CHECK_FALSE(has(out, "A rule"));  // it is for programs, and in English
        CHECK(out.find("Retry-After").empty() == (status != http::status::service_unavailable));
    }
}

TEST_CASE("a request without a User-Agent is refused on every path and counted") {
    page_shop shop;
    int left = 60;
    for (const std::string path : {"/en/user/", "/en/user/sign_in/", "/nothing", "/favicon.ico"})
        for (const auto method : {http::method::get, http::method::options, http::method::post}) {
            CAPTURE(path, method);
            test_request request{method, path};
            request.without("User-Agent").field("Cookie", "who=ann");
            const auto refused = shop.handle(request);
            CHECK(to_number(refused.status()) == 403);
            CHECK(refused.find("Content-Type") == "application/json");
            CHECK(refused.find("X-RateLimit-Remaining") == std::to_string(--left));
            CHECK(refused.find("Allow").empty());
            CHECK(has(refused, "Send one User-Agent header"));
        }
}

TEST_CASE("the style sheet needs no session, and is only read") {
    page_shop shop;
    for (const auto& [method, status] : {std::pair{http::method::post, 405U}, {http::method::options, 204U}}) {
        test_request request{method, style_url_of(shop.pages)};
        const auto refused = shop.handle(request);
        CHECK(to_number(refused.status()) == status);
        CHECK(refused.find("Allow") == "GET, HEAD, OPTIONS");
    }
    const auto sheet = shop.get(style_url_of(shop.pages), "");
    CHECK(to_number(sheet.status()) == 200);
    CHECK(sheet.find("Content-Type") == "text/css; charset=utf-8");
    CHECK(sheet.body() == plain_theme{}.style_sheet());
}

TEST_CASE("the icon is at the path that browsers request") {
    page_shop shop;
    for (const auto& path : {std::string{"/favicon.ico"}, icon_url_of(shop.pages)}) {
        CAPTURE(path);
        const auto icon = shop.get(path, "");
        CHECK(to_number(icon.status()) == 200);
        CHECK(icon.find("Content-Type") == "image/svg+xml");
        CHECK(icon.find("Content-Security-Policy") == "default-src 'none'; style-src 'unsafe-inline'");
        CHECK(icon.body() == plain_theme{}.icon());
    }
    CHECK(to_number(shop.get("/favicon.icon", "").status()) == 404);
    CHECK(has(shop.get("/en/user/sign_in/", ""), "href=\"" + icon_url_of(shop.pages) + "\""));
}

TEST_CASE("every page links to the documentation, if there is one") {
    const std::string link = "<a href=\"https://shop.example/docs/\">Documentation</a>";
    page_shop without;
    auto settings = page_shop_settings();
    settings.documentation_url = "https://shop.example/docs/";
    page_shop shop{settings};
    for (const auto* path : {"/en/user/", "/en/user/settings/tokens/", "/en/nothing"}) {
        CAPTURE(path);
        CHECK(has(shop.get(path), link));
        CHECK_FALSE(has(without.get(path), "Documentation"));
    }
    CHECK(has(shop.get("/en/user/sign_in/", ""), link));
}

TEST_CASE("pages below their own path") {
    auto settings = page_shop_settings();
    settings.auth_url = "https://shop.example/account/";
    page_shop shop{settings};
    CHECK(to_number(shop.get(page_paths[0]).status()) == 404);
    const auto page = shop.get("/account" + page_paths[0]);
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "action=\"/account/en/user/settings/tokens/\""));
    CHECK(has(page, "href=\"/account/en/style-"));
    CHECK(shop.get("/account/").find("Location") == "/account" + overview);
    CHECK(shop.get("/account").find("Location") == "/account" + overview);
    CHECK(to_number(shop.get("/accountant/").status()) == 404);
    CHECK_THROWS_AS((account_pages{account_service_settings{.auth_url = "shop.example"}, shop.users, shop.store, shop.sessions}),
                    std::invalid_argument);
}

TEST_CASE("a quota of the pages without a window throws, and one without requests or with a window does not") {
    tollgate_test::check_windows_are_required("page", page_shop_settings().pages,
                                              {{"requests", &page_settings::requests}, {"test_events", &page_settings::test_events}},
                                              [](const page_settings& pages) {
                                                  auto settings = page_shop_settings();
                                                  settings.pages = pages;
                                                  page_shop{settings};
                                              });
}

TEST_CASE("with external sign-in there is no sign-in page") {
    basic_page_shop<sessions_elsewhere> shop;
    CHECK(shop.get(page_paths[0], "").find("Location") == "https://login.example/?next=" + tollgate::detail::percent_encode(page_paths[0]));
    const auto page = shop.get(page_paths[0]);
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "Signed in as ann"));
    CHECK_FALSE(has(page, "Sign out"));
    // Otherwise Chromium would not follow the redirect of a form to this URL after the session has ended.
    CHECK(page.find("Content-Security-Policy").find("form-action") == std::string_view::npos);
    CHECK(to_number(shop.get("/en/user/sign_in/", "").status()) == 404);
    CHECK(to_number(shop.post("/en/user/sign_out/", "").status()) == 404);
}

TEST_CASE("pages block if a dependency may block") {
    const auto blocks = [](auto& pages, std::string target, http::method method = http::method::get) {
        test_request request{method, std::move(target)};
        return needs_worker(pages, request.view());
    };
    page_shop shop;
    CHECK(shop.pages.may_block());
    CHECK(blocks(shop.pages, "/en/user/sign_in/", http::method::post));
    CHECK_FALSE(blocks(shop.pages, page_paths[0]));
    CHECK_FALSE(blocks(shop.pages, "/nothing"));

    basic_page_shop<slow_sessions> slow;
    CHECK(blocks(slow.pages, page_paths[0]));
    CHECK_FALSE(blocks(slow.pages, style_url_of(slow.pages)));
    CHECK_FALSE(blocks(slow.pages, "/"));

    CHECK_FALSE(basic_page_shop<sessions_elsewhere>{}.pages.may_block());
}

TEST_CASE("a page waits for one kind of work at a time") {
    using work = http::work_kind;
    struct row {
        http::method method;
        const char* path;
        std::vector<work> waits;
    };
    slow_users users{ann_and_bob()};
    slow_store store;
    slow_sessions sessions;
    account_pages pages{page_shop_settings(), users, store, sessions, default_policies().with_limiter(slow_limiter{})};
    for (const row& each :
         std::vector<row>{{http::method::get, "/en/user/sign_in/", {work::sessions}},
                          {http::method::post, "/en/user/sign_in/", {work::sign_in}},
                          {http::method::get, "/en/user/", {work::sessions, work::users, work::limits, work::pages}},
                          {http::method::get, "/en/user/settings/tokens/", {work::sessions, work::pages}},
                          {http::method::post, "/en/user/settings/tokens/", {work::sessions, work::forms}},
                          {http::method::get, "/en/user/settings/webhooks/", {work::sessions, work::users, work::pages}},
                          {http::method::post, "/en/user/settings/webhooks/", {work::sessions, work::users, work::forms}},
                          {http::method::post, "/en/user/sign_out/", {work::sessions}}}) {
        CAPTURE(each.path, each.method);
        test_request request{each.method, each.path};
        request.field("Cookie", "who=ann");
        http::response response;
        http::handler_state state;
        std::vector<work> waits;
        auto thread = http::thread_kind::io;
        while (waits.size() < 9 && pages.advance(request.view(), response, state, thread) == http::handle_step::needs_worker) {
            waits.push_back(state.waits_for());
            thread = http::thread_kind::worker;
        }
        CHECK(waits == each.waits);
    }
}

TEST_CASE("on a site the pages handle only their own paths") {
    struct echo {
        void handle(const http::request&, http::response& out) noexcept { out.body() = "elsewhere"; }
        void handle(const http::refusal&, http::response&) noexcept {}
    } other;
    page_shop shop;
    http::site site{http::mounted(shop.pages), http::mounted("", other)};
    const auto is_handled = [&](std::string target) {
        test_request request{http::method::get, std::move(target)};
        http::response out;
        site.handle(request.view(), out);
        return out.body() != "elsewhere";
    };
    for (const auto& each : page_paths) CHECK(is_handled(each));
    for (const auto* each : {"/", "/en/", "/en/user/", "/en/user/settings", "/en/user/settings/", "/en/user/sign_in/?a",
                             "/en/user/sign_out"})
        CHECK(is_handled(each));
    CHECK(is_handled(style_url_of(shop.pages)));
    for (const auto* each : {"/v1", "/docs/", "/en/user/oauth/", "/en/itemplatform/oauth/", "/user/oauth_token/",
                             "/en/user/settings_x/", "/.well-known/oauth-authorization-server"})
        CHECK_FALSE(is_handled(each));
}

TEST_CASE("observers see requests and internal errors") {
    struct counts {
        int requests = 0;
        std::vector<std::string> causes;
    } observed;
    struct watching {
        counts* observed;
        void on_request(const request_record&) const noexcept { ++observed->requests; }
        void on_refusal(const refusal_record&) const noexcept {}
        void on_problem(const problem_record& record) const noexcept { observed->causes.push_back(record.error.cause); }
    };
    page_shop shop;
    account_pages pages{page_shop_settings(), shop.users, shop.store, shop.sessions,
                        default_policies().with_observer(watching{&observed})};
    const auto get = [&](std::string target) {
        test_request request{http::method::get, std::move(target)};
        request.field("Cookie", "who=ann");
        return to_number(pages.handle(request.view()).status());
    };
    CHECK(get(page_paths[0]) == 200);
    CHECK(get("/nothing") == 404);
    CHECK(observed.requests == 2);
    CHECK(observed.causes.empty());
    shop.sessions.failure = unavailable("gone");
    CHECK(get(page_paths[0]) == 503);
    CHECK(observed.requests == 3);
    CHECK(observed.causes == std::vector<std::string>{"gone"});
}

TEST_CASE("a custom theme") {
    struct own_theme : plain_theme {
        [[nodiscard]] std::string style_sheet() const { return "main { color: red }"; }
    };
    page_shop shop;
    own_theme theme;
    theme.languages[0].frame.site_name = "Our <shop>";
    theme.languages[0].tokens.title = "API keys";
    account_pages pages{page_shop_settings(), shop.users, shop.store, shop.sessions, default_policies(), theme};
    test_request request{http::method::get, page_paths[0]};
    request.field("Cookie", "who=ann");
    const auto page = pages.handle(request.view());
    CHECK(has(page, "<title>API keys - Our &lt;shop&gt;</title>"));
    CHECK(has(page, "<h1>API keys</h1>"));
    test_request sheet{http::method::get, style_url_of(pages)};
    CHECK(pages.handle(sheet.view()).body() == "main { color: red }");
}

TEST_CASE("pages are limited per user, and per address without a session") {
    auto settings = page_shop_settings();
    settings.pages.requests = {2, seconds{60}};
    page_shop shop{settings};
    const std::string tokens = "/en/user/settings/tokens/";
    for (int i = 0; i < 2; ++i) CHECK(to_number(shop.get(tokens).status()) == 200);
    const auto refused = shop.get(tokens);
    CHECK(to_number(refused.status()) == 429);
    CHECK(refused.find("Retry-After") == "60");
    CHECK(has(refused, "Too many requests"));
    CHECK(to_number(shop.get(tokens, "bob").status()) == 200);
    for (int i = 0; i < 2; ++i) CHECK(to_number(shop.get("/en/user/sign_in/", "").status()) == 200);
    CHECK(to_number(shop.get("/en/user/sign_in/", "").status()) == 429);
    shop.now += seconds{60};
    CHECK(to_number(shop.get(tokens).status()) == 200);
    CHECK(to_number(shop.get("/en/user/sign_in/", "").status()) == 200);
}
