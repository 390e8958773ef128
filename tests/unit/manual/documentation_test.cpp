#include <tollgate/manual/documentation.hpp>

#include <tollgate/account/issue_hook.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/manual/detail/describe.hpp>
#include <tollgate/oauth/detail/metadata.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/webhooks/hook_dispatch_settings.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace tollgate;

template <>
struct tollgate::query_parameter<"page"> : integer_parameter<1, 1000> {};
template <>
struct tollgate::query_parameter<"from"> : integer_parameter<5, INT64_MAX> {};
template <>
struct tollgate::query_parameter<"to"> : integer_parameter<INT64_MIN, -5> {};

namespace {

account_service_settings shop_settings() {
    account_service_settings settings;
    settings.base_url = "https://api.example.com/v1";
    settings.auth_url = "https://example.com/people";
    settings.user_quota = {5000, std::chrono::hours{24}};
    settings.anonymous_quota = {7, std::chrono::seconds{90}};
    REQUIRE(settings.services.add("sitesmaker", {"site.created"}));
    return settings;
}

/// With an authorization server.
account_service_settings shop_oauth() {
    account_service_settings settings = shop_settings();
    settings.has_authorization_server = true;
    settings.oauth.one_page_services = {"sitesmaker"};
    settings.oauth.code_lifetime = seconds{90};
    settings.oauth.access_token_lifetime = std::chrono::minutes{20};
    settings.oauth.refresh_token_lifetime = std::chrono::days{1};
    settings.oauth.refresh_token_end = std::chrono::days{50};
    return settings;
}

http::response fetch(const api_documentation& documentation, std::string_view path, http::method method = http::method::get) {
    http::request request;
    request.method = method;
    request.target.path = path;
    request.fields.add("User-Agent", "test/1");
    http::response out;
    documentation.handle(request, out);
    return out;
}

bool has(const http::response& in, std::string_view text) { return in.body().find(text) != std::string::npos; }

/// Whether every element that is opened is closed, in the right order.
bool is_balanced(std::string_view html) {
    std::vector<std::string> open;
    for (auto at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
        const bool closes = html[at + 1] == '/';
        const auto begin = at + (closes ? 2 : 1);
        const std::string name{html.substr(begin, html.find_first_of(" >\n", begin) - begin)};
        if (name == "!doctype" || name == "meta" || name == "link") continue;
        if (!closes) {
            open.push_back(name);
        } else {
            if (open.empty() || open.back() != name) return false;
            open.pop_back();
        }
    }
    return open.empty();
}

std::vector<std::string> all_values(std::string_view html, std::string_view attribute) {
    std::vector<std::string> found;
    const auto begin = std::string{attribute} + "=\"";
    for (auto at = html.find(begin); at != std::string_view::npos; at = html.find(begin, at + 1)) {
        const auto value = at + begin.size();
        found.emplace_back(html.substr(value, html.find('"', value) - value));
    }
    return found;
}

/// The pages to which the navigation leads.
std::vector<std::string> page_paths(const api_documentation& of) {
    const auto overview = fetch(of, of.root() + "/");
    std::vector<std::string> paths;
    for (const auto& link : all_values(std::string_view{overview.body()}.substr(overview.body().find("<nav")), "href"))
        if (link.starts_with(of.root() + "/") && std::find(paths.begin(), paths.end(), link) == paths.end()) paths.push_back(link);
    REQUIRE(paths.size() == 9);
    return paths;
}

}  // namespace

TEST_CASE("every page is complete and without scripts") {
    const api_documentation documentation{shop_oauth(), account_routes()};
    CHECK(documentation.root() == "/people/docs");
    for (const auto& path : page_paths(documentation)) {
        INFO(path);
        const auto page = fetch(documentation, path);
        CHECK(page.status() == http::status::ok);
        CHECK(page.find("Content-Type") == "text/html; charset=utf-8");
        CHECK(page.find("Content-Security-Policy").find("default-src 'none'") == 0);
        CHECK(page.find("Content-Security-Policy").find("frame-ancestors 'none'") != std::string_view::npos);
        CHECK(page.find("X-Content-Type-Options") == "nosniff");
        CHECK(page.find("X-Frame-Options") == "DENY");
        CHECK(page.find("Referrer-Policy") == "no-referrer");
        CHECK(page.find("X-RateLimit-Limit").empty());
        CHECK(is_balanced(page.body()));
        CHECK(has(page, "<html lang=\"en\">"));
        CHECK(has(page, "aria-current=\"page\""));
        CHECK_FALSE(has(page, "<script"));
        CHECK_FALSE(has(page, " style="));
        for (const auto* braces : {"{}", "{{", "}}"}) CHECK_FALSE(has(page, braces));
        // Lines may be longer than a narrow screen: a keyboard scrolls what can have the focus, and screen readers name it.
        for (const auto* scrolled : {"<pre", "<div class=\"table\""})
            for (auto at = page.body().find(scrolled); at != std::string::npos; at = page.body().find(scrolled, at + 1)) {
                const auto tag = page.body().substr(at, page.body().find('>', at) - at);
                CAPTURE(tag);
                for (const auto* part : {"tabindex=\"0\" role=\"", "aria-label=\""})
                    CHECK(tag.find(part) != std::string::npos);
            }
        for (const auto* part : {"Ids<", "s id,", "user name"}) CHECK_FALSE(has(page, part));
        auto ids = all_values(page.body(), " id");
        std::sort(ids.begin(), ids.end());
        CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
    }
}

TEST_CASE("every internal link has a target") {
    const api_documentation documentation{shop_oauth(), account_routes()};
    for (const auto& path : page_paths(documentation)) {
        for (const auto& link : all_values(fetch(documentation, path).body(), "href")) {
            INFO(path << " links to " << link);
            if (link.starts_with("https:")) continue;  // the API's own and the account's pages
            const auto hash = link.find('#');
            auto target = hash == 0 ? path : link.substr(0, hash);
            if (target.starts_with("../")) target.replace(0, 2, documentation.root());
            const auto page = fetch(documentation, target);
            CHECK(page.status() == http::status::ok);
            if (hash != std::string::npos) CHECK(has(page, "id=\"" + link.substr(hash + 1) + "\""));
        }
    }
}

TEST_CASE("the links of Error objects have pages") {
    const api_documentation documentation{shop_oauth(), account_routes()};
    for (const auto about : {pipeline::about_requests, pipeline::about_authentication, pipeline::about_scopes,
                             pipeline::about_rate_limits, pipeline::about_errors, oauth::about_oauth})
        CHECK(fetch(documentation, "/people/docs/" + std::string{about.slug} + "/").status() == http::status::ok);
}

TEST_CASE("OAuth is documented as it is served") {
    const auto settings = shop_oauth();
    const api_documentation documentation{settings, account_routes()};
    const auto page = fetch(documentation, "/people/docs/oauth/");
    for (const auto path : {oauth::authorization_path, oauth::token_path, oauth::revocation_path, oauth::metadata_path}) {
        INFO(path);
        CHECK(has(page, settings.auth_url + std::string{path}));
    }
    CHECK(has(page, settings.auth_url + "/en/sitesmaker/oauth/"));
    CHECK(has(page, ">90 seconds, once<"));
    CHECK(has(page, "<td>20 minutes;"));
    CHECK(has(page, R"("expires_in": 1200,)"));
    CHECK(has(page, "<td>1 day since its last use, at most 50 days<"));
    using oauth::error_code;
    for (const auto code : {error_code::invalid_request, error_code::invalid_client, error_code::invalid_grant, error_code::invalid_scope,
                            error_code::unsupported_grant_type, error_code::unsupported_response_type, error_code::access_denied,
                            error_code::server_error, error_code::temporarily_unavailable, error_code::invalid_target,
                            error_code::invalid_redirect_uri, error_code::invalid_client_metadata}) {
        INFO(oauth::to_text(code));
        CHECK(has(page, "id=\"error-" + std::string{oauth::to_text(code)} + "\""));
    }
    CHECK(has(fetch(documentation, "/people/docs/authentication/"), "/people/docs/oauth/"));
}

TEST_CASE("without OAuth it is not mentioned") {
    const api_documentation documentation{shop_settings(), account_routes()};
    CHECK(fetch(documentation, "/people/docs/oauth/").status() == http::status::not_found);
    CHECK(fetch(documentation, "/people/docs/oauth").status() == http::status::not_found);
    for (const auto& path : {"/people/docs/", "/people/docs/authentication/", "/people/docs/errors/"})
        CHECK_FALSE(has(fetch(documentation, path), "docs/oauth/"));
}

TEST_CASE("the pages link to the account") {
    const std::string_view link = "<a href=\"https://example.com/people/user/\">Your account</a>";
    CHECK(has(fetch(api_documentation{shop_oauth(), account_routes()}, "/people/docs/scopes/"), link));
    CHECK_FALSE(has(fetch(api_documentation{shop_settings(), account_routes()}, "/people/docs/scopes/"), "Your account"));
}

TEST_CASE("pages say where to get tokens") {
    const auto with_pages = fetch(api_documentation{shop_oauth(), account_routes()}, "/people/docs/authentication/");
    CHECK(has(with_pages, "<a href=\"https://example.com/people/en/user/settings/tokens/\">Tokens</a>"));
    CHECK(has(with_pages, "OAuth access token"));
    const auto without = fetch(api_documentation{shop_settings(), account_routes()}, "/people/docs/authentication/");
    CHECK_FALSE(has(without, "settings/tokens"));
    CHECK_FALSE(has(without, "OAuth"));
    CHECK(has(without, "The operator of this API issues them."));
}

TEST_CASE("examples show their operation and end in a newline") {
    const api_documentation documentation{shop_oauth(), account_routes()};
    const auto webhooks = fetch(documentation, "/people/docs/webhooks/");
    CHECK(has(webhooks, "curl -i -w '\\n' -X POST -u"));
    CHECK(has(webhooks, "HTTP/1.1 201 Created\nX-Hook-Secret: ...\n\n{&quot;id&quot;: 5}"));
    CHECK(has(webhooks, "curl -w '\\n' -X DELETE -u"));
    const auto endpoints = fetch(documentation, "/people/docs/endpoints/");
    for (const char* example : {"hello&quot;, &quot;from&quot;, &quot;get", "hello&quot;, &quot;from&quot;, &quot;post",
                                "hello&quot;, &quot;authenticated&quot;, &quot;caller"})
        CHECK(has(endpoints, example));
    for (const char* slug : {"", "authentication/", "oauth/", "webhooks/", "endpoints/"}) {
        const auto page = fetch(documentation, std::string{"/people/docs/"} + slug);
        for (auto at = page.body().find("<code>curl"); at != std::string::npos; at = page.body().find("<code>curl", at + 1)) {
            const auto line = page.body().substr(at, page.body().find("</code>", at) - at);
            CAPTURE(line);
            CHECK(line.find("-w '\\n'") != std::string::npos);
        }
    }
    CHECK(has(fetch(documentation, "/people/docs/scopes/"), "Reading the user&#39;s sitesmaker accounts, and managing their webhooks"));
}

TEST_CASE("pages show the API's settings") {
    const api_documentation documentation{shop_settings(), account_routes()};
    const auto limits = fetch(documentation, "/people/docs/rate-limits/");
    CHECK(has(limits, "5,000 requests per day"));
    CHECK(has(limits, "7 requests per 90 seconds"));
    CHECK(has(fetch(documentation, "/people/docs/scopes/"), "<code>sitesmaker:read</code>"));
    CHECK(has(fetch(documentation, "/people/docs/webhooks/"), "<code>site.created</code>"));
    CHECK(has(fetch(documentation, "/people/docs/webhooks/"), "webhook-signature: v1,"));
    const auto endpoints = fetch(documentation, "/people/docs/endpoints/");
    CHECK(has(endpoints, "https://api.example.com/v1/sitesmaker/1/hooks"));
    CHECK(has(endpoints, "{&quot;event&quot;: &quot;site.created&quot;"));
    CHECK_FALSE(has(endpoints, "itemplatform"));
}

TEST_CASE("own routes are documented, and their texts are escaped") {
    const route_table routes{on_get<"/plain/{thing}">(
        open_to_all, [](auto&, std::string_view) -> result<void> { return {}; }, {.summary = "<b>&\"bold\"</b>"})};
    const api_documentation documentation{shop_settings(), routes};
    const auto endpoints = fetch(documentation, "/people/docs/endpoints/");
    CHECK(has(endpoints, "&lt;b&gt;&amp;&quot;bold&quot;&lt;/b&gt;"));
    CHECK(has(endpoints, "id=\"get/plain/{thing}\""));
    CHECK(has(endpoints, "https://api.example.com/v1/plain/name"));
    CHECK_FALSE(has(endpoints, "<b>"));
    CHECK(is_balanced(endpoints.body()));
}

TEST_CASE("parameters and access of own routes are documented") {
    const auto nothing = [](auto&, const auto&...) -> result<void> { return {}; };
    const route_table routes{
        on_get<"/{service}/{account}/{thing}?{page}&{from}&{to}&{text}">(
            read_of_service,
            [](auto&, const service&, account_id, std::string_view, const std::optional<std::int64_t>&, const std::optional<std::int64_t>&,
               const std::optional<std::int64_t>&, const std::optional<std::string>&) -> result<void> { return {}; }),
        on_get<"/open">(open_to_all, nothing),
        on_get<"/any">(any_caller, nothing),
        on_post<"/scoped">(needs_scope("sitesmaker:own"), nothing, {.success_body = {"{}", "[1]"}, .success_field = "X-Thing"}),
    };
    const auto page = fetch(api_documentation{shop_settings(), routes}, "/people/docs/endpoints/");
    for (const auto* part : {
             "<td><code>service</code></td><td><code>sitesmaker</code> </td>",
             "<td><code>account</code></td><td>the account's ID, an integer</td>",
             "<td><code>thing</code></td><td>text</td>",
             "<td><code>page</code></td><td>an integer from 1 to 1000</td>",
             "<td><code>from</code></td><td>an integer from 5</td>",
             "<td><code>to</code></td><td>an integer to -5</td>",
             "<td><code>text</code></td><td>text</td>",
             "<dd><code>{service}:read</code></dd>",
             "<dd>nothing</dd>",
             "<dd>any valid credentials</dd>",
             "<dd><code>sitesmaker:own</code></dd>",
             ", with <code>X-Thing</code></dd>",
             "<code>HTTP/1.1 200 OK\nX-Thing: ...\n\n[1]</code>",
         }) {
        INFO(part);
        CHECK(has(page, part));
    }
}

TEST_CASE("unknown paths are a 404") {
    const api_documentation documentation{shop_settings(), account_routes()};
    struct {
        std::string_view path;
        http::status status;
        std::string_view location;
    } const cases[] = {
        {"/people/docs", http::status::found, "/people/docs/"},
        {"/people/docs/scopes", http::status::found, "/people/docs/scopes/"},
        {"/people/docs/scopes//", http::status::not_found, ""},
        {"/people/docs/nothing/", http::status::not_found, ""},
        {"/people/docs/nothing", http::status::not_found, ""},
        {"/people/docs/../docs/", http::status::not_found, ""},
        {"/people/docs/%73copes/", http::status::not_found, ""},
        {"/people/docs/style.css/", http::status::not_found, ""},
        {"/people/docsx", http::status::not_found, ""},
        {"/docs/", http::status::not_found, ""},
        {"", http::status::not_found, ""},
        {"*", http::status::not_found, ""},
    };
    for (const auto& each : cases) {
        INFO(each.path);
        const auto response = fetch(documentation, each.path);
        CHECK(response.status() == each.status);
        CHECK(response.find("Location") == each.location);
        if (each.status == http::status::not_found) {
            CHECK(is_balanced(response.body()));
            CHECK(response.find("Content-Type") == "text/html; charset=utf-8");
        }
    }
}

TEST_CASE("documentation accepts GET only") {
    const api_documentation documentation{shop_settings(), account_routes()};
    CHECK(fetch(documentation, "/people/docs/", http::method::head).status() == http::status::ok);
    const auto options = fetch(documentation, "/people/docs/", http::method::options);
    CHECK(options.status() == http::status::no_content);
    CHECK(options.find("Allow") == "GET, HEAD, OPTIONS");
    CHECK(options.body().empty());
    for (const auto method : {http::method::post, http::method::put, http::method::delete_, http::method::other}) {
        const auto response = fetch(documentation, "/people/docs/", method);
        CHECK(response.status() == (method == http::method::other ? http::status::not_implemented : http::status::method_not_allowed));
        CHECK(response.find("Allow") == "GET, HEAD, OPTIONS");
    }
}

TEST_CASE("a request without a User-Agent is refused like those of the API") {
    const api_documentation documentation{shop_settings(), account_routes()};
    for (const auto method : {http::method::get, http::method::options}) {
        http::request request;
        request.method = method;
        request.target.path = "/people/docs/";
        http::response out;
        documentation.handle(request, out);
        CHECK(out.status() == http::status::forbidden);
        CHECK(out.find("Content-Type") == "application/json");
        CHECK_FALSE(out.find("X-RateLimit-Remaining").empty());
        CHECK(out.find("Allow").empty());
    }
}

TEST_CASE("the page of webhooks states the numbers that are used") {
    const auto page = fetch(api_documentation{shop_settings(), account_routes()}, "/people/docs/webhooks/");
    CHECK(has(page, "For " + manual::describe_duration(hook_secret_overlap) + " after a secret is replaced"));
    CHECK(has(page, "The key is the part of the secret after\n<code>whsec_</code>, decoded from base64."));
    const hook_dispatch_settings defaults;
    using std::chrono::floor;
    CHECK(has(page, "by default within " + manual::describe_duration(floor<seconds>(defaults.client.attempt_timeout)) + "."));
    CHECK(has(page, "default " + manual::describe_duration(floor<seconds>(defaults.retry.disable_after)) + " without a success"));
}

TEST_CASE("only an authorization server adds its page") {
    auto settings = shop_oauth();
    oauth_settings& oauth = settings.oauth;
    oauth.rotation_grace = seconds{41};
    oauth.device_code_lifetime = seconds{42};
    oauth.device_poll_interval = seconds{43};
    oauth.access_token_lifetime = seconds{44};
    oauth.refresh_token_lifetime = seconds{45};
    oauth.refresh_token_end = seconds{46};
    oauth.code_lifetime = seconds{47};
    const auto page = fetch(api_documentation{settings, account_routes()}, "/people/docs/oauth/");
    for (int each = 41; each <= 47; ++each) CHECK(has(page, std::to_string(each) + " seconds"));
    CHECK(fetch(api_documentation{shop_settings(), account_routes()}, "/people/docs/oauth/").status() == http::status::not_found);
}

TEST_CASE("all pages share one style sheet") {
    const auto sheet = fetch(api_documentation{shop_settings(), account_routes()}, "/people/docs/style.css");
    CHECK(sheet.status() == http::status::ok);
    CHECK(sheet.find("Content-Type") == "text/css; charset=utf-8");
    CHECK(std::count(sheet.body().begin(), sheet.body().end(), '{') == std::count(sheet.body().begin(), sheet.body().end(), '}'));
}

TEST_CASE("refusals of the server are pages") {
    http::response out;
    api_documentation{shop_settings(), account_routes()}.handle(http::refusal{http::status::uri_too_long, "Too <long>.", {}, false}, out);
    CHECK(out.status() == http::status::uri_too_long);
    CHECK(out.body().starts_with("<!doctype html>"));
    CHECK(has(out, "Too &lt;long&gt;."));
    CHECK_FALSE(has(out, "REASON"));
    CHECK(out.body().ends_with("</html>\n"));
    CHECK(out.find("Content-Type") == "text/html; charset=utf-8");
    CHECK(out.find("Cache-Control") == "no-store");
    CHECK_FALSE(out.find("X-Request-Id").empty());
}
