#pragma once

#include <tollgate/api/documentation_pages.hpp>

#include <tollgate/base/ascii.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/method.hpp>
#include <tollgate/http/status.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tollgate::documentation {

/// `1,000`: as people write it.
[[nodiscard]] inline std::string with_separators(std::uint64_t number) {
    auto digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

[[nodiscard]] inline std::string describe_window(seconds window) {
    switch (window.count()) {
        case 1: return "second";
        case 60: return "minute";
        case 60 * 60: return "hour";
        case 24 * 60 * 60: return "day";
        default: return with_separators(static_cast<std::uint64_t>(window.count())) + " seconds";
    }
}

[[nodiscard]] inline std::string describe(const quota& of) {
    return with_separators(of.requests) + (of.requests == 1 ? " request per " : " requests per ") + describe_window(of.window);
}

/// A path that can be asked for as it stands: real services, and numbers where ids go.
[[nodiscard]] inline std::string sample_path(const route_description& of, const service_catalog& services) {
    std::string path{of.path};
    for (const auto& each : of.parameters) {
        const auto place = std::string{"{"}.append(each.name).append("}");
        std::string_view value = "name";
        if (each.kind == route_description::value_kind::id) value = "1";
        if (each.kind == route_description::value_kind::service && !services.services().empty())
            value = services.services().front().name;
        path.replace(path.find(place), place.size(), value);
    }
    return path;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) c = ascii_lower(c);
    return lower;
}

/// What a link to a route names: no two lines of a table have the same method and path.
[[nodiscard]] inline std::string anchor_of(const route_description& route) {
    if (!route.notes.operation.empty()) return std::string{route.notes.operation};
    return lower_case(http::to_text(route.method)).append(route.path);
}

TOLLGATE_DECL std::string page_writer::write(const page_entry& page) {
    begin_page(page.slug, page.title);
    (this->*page.write)();
    end_page();
    return std::exchange(out_, {});
}

TOLLGATE_DECL std::string page_writer::write_error(std::string_view title, std::string_view explanation) {
    begin_page("-", title);
    html_.add("<h1>{}</h1><p class=\"lead\">{}</p>", title, explanation);
    end_page();
    return std::exchange(out_, {});
}

TOLLGATE_DECL void page_writer::begin_page(std::string_view slug, std::string_view title) {
    html_.add("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
              "<title>{} - Account API</title><link rel=\"stylesheet\" href=\"{}/style.css\"></head><body>",
              title, root_);
    html_.add("<a class=\"skip\" href=\"#content\">Skip to the content</a>"
              "<header><div><a class=\"name\" href=\"{}/\">Account API</a> <span class=\"address\">{}</span></div></header>"
              "<div class=\"columns\"><nav aria-label=\"Documentation\"><ul>",
              root_, settings_.base_url);
    for (const auto& each : page_entries) {
        html_.add("<li><a href=\"{}/{}{}\"", root_, each.slug, each.slug.empty() ? "" : "/");
        if (each.slug == slug) html_.add(" aria-current=\"page\"");
        html_.add(">{}</a></li>", each.title);
    }
    html_.add("</ul></nav><main id=\"content\">");
}

TOLLGATE_DECL void page_writer::end_page() {
    html_.add("</main></div><footer><p>Made from the API's own settings and routes.</p></footer></body></html>\n");
}

TOLLGATE_DECL void page_writer::write_overview() {
    html_.add("<h1>Account API</h1><p class=\"lead\">An HTTP API in JSON that gives programs access to the accounts that people "
              "have at several products. Each product is called a service.</p><dl class=\"facts\">");
    html_.add("<dt>Address</dt><dd><code>{}</code></dd><dt>Services</dt><dd>", settings_.base_url);
    for (const service& each : settings_.services.services()) html_.add("<code>{}</code> ", each.name.view());
    html_.add("</dd><dt>Without credentials</dt><dd>{}, for a client address</dd>", describe(settings_.anonymous_quota));
    html_.add("<dt>With credentials</dt><dd>{}, for a user</dd>", describe(settings_.user_quota));
    const auto has_description = [](const route_description& each) { return each.path == "/openapi.json"; };
    if (find_route(has_description) != nullptr)
        html_.add("<dt>For machines</dt><dd><a href=\"{}/openapi.json\">OpenAPI 3.1</a></dd>", settings_.base_url);
    html_.add("</dl>");

    const auto is_plain = [](const route_description& each, access_rule::kind who) {
        return each.access.who == who && each.method == http::method::get && each.parameters.empty() && each.path != "/openapi.json";
    };
    if (const auto* open = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::open); })) {
        html_.add("<h2>A first request</h2><p>This one needs no credentials:</p>");
        write_curl(*open);
        write_json(open->notes.success_body);
    }
    if (const auto* own = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::scope); })) {
        html_.add("<p>This one needs a <a href=\"{}/authentication/\">personal API token</a>, and tells what its owner has:</p>", root_);
        write_curl(*own);
        write_json(own->notes.success_body);
    }
    html_.add("<h2>Read on</h2><ul class=\"cards\">");
    for (const auto& each : page_entries)
        if (!each.slug.empty())
            html_.add("<li><a href=\"{}/{}/\"><strong>{}</strong><span>{}</span></a></li>", root_, each.slug, each.title, each.summary);
    html_.add("</ul>");
}

TOLLGATE_DECL void page_writer::write_requests() {
    html_.add("<h1>Requests</h1><p class=\"lead\">JSON both ways, over HTTP/1.1.</p>"
              "<h2 id=\"address\">Address</h2><p>Every path begins with <code>{}</code>. Its last part is the version, which grows only "
              "by additions: ignore members that you do not know.</p>"
              "<p>Paths are exact. A slash at the end, an empty segment or a percent-encoded character make another path, and that "
              "is a 404.</p>",
              settings_.base_url);
    html_.add("<h2 id=\"user-agent\">User-Agent</h2><p>Every request carries a <code>User-Agent</code> field that names the program, "
              "best with a way to reach whoever runs it. Without one, or with an empty one, the answer is <strong>403</strong>.</p>"
              "<pre tabindex=\"0\"><code>User-Agent: inventory-sync/2.1 (ops@example.com)</code></pre>");
    html_.add("<h2 id=\"bodies\">Bodies</h2><p>What is no part of the path goes into the query of a GET request, and into the body of "
              "any other: one JSON object, with <code>Content-Type: application/json</code>.</p><ul>"
              "<li>Another media type is a <strong>415</strong>, and a body over the server's bound, usually {} KiB, a <strong>413</strong>.</li>"
              "<li>What is no JSON object in UTF-8 is a <strong>400</strong>: so are a member that comes twice, bytes behind the object, and "
              "nesting deeper than {}.</li>"
              "<li>A member that is missing, null, of another type or of a value that will not do is a <strong>422</strong>; its "
              "message names the member. Members that the API does not know are ignored.</li></ul>",
              limits::body_bytes_default / 1024, limits::json_depth_max);
    html_.add("<h2 id=\"formats\">Formats</h2><div class=\"table\"><table><thead><tr><th scope=\"col\">What</th><th scope=\"col\">How</th></tr>"
              "</thead><tbody>"
              "<tr><th scope=\"row\">Moments</th><td>ISO 8601 in UTC, to the second: <code>2026-11-21T09:30:00Z</code></td></tr>"
              "<tr><th scope=\"row\">Money</th><td>A JSON number with exactly the digits that are meant. Read it as a decimal: a binary "
              "float rounds it.</td></tr>"
              "<tr><th scope=\"row\">Currencies</th><td>Three letters of ISO 4217</td></tr>"
              "<tr><th scope=\"row\">Ids</th><td>Integers from 1 to 9223372036854775807</td></tr>"
              "<tr><th scope=\"row\">Lists</th><td>Whole, as a bare array; <code>[]</code> when there is nothing</td></tr>"
              "</tbody></table></div>");
    html_.add("<h2 id=\"methods\">Methods</h2><p>HEAD gets what GET gets, without the body. OPTIONS gets 204 and an <code>Allow</code> field. "
              "A known path with any other method is a <strong>405</strong>, with the same field.</p>");
}

TOLLGATE_DECL void page_writer::write_authentication() {
    html_.add("<h1>Authentication</h1><p class=\"lead\">A request says who is calling in one <code>Authorization</code> field.</p>"
              "<div class=\"table\"><table><thead><tr><th scope=\"col\">Credentials</th><th scope=\"col\">Reach</th>"
              "<th scope=\"col\">Sent as</th></tr></thead><tbody>"
              "<tr><th scope=\"row\">Personal API token</th><td>Its owner's accounts</td><td>HTTP Basic: the token username, and the token "
              "secret as the password</td></tr>"
              "<tr><th scope=\"row\">OAuth access token</th><td>The accounts of the user who let the application in</td>"
              "<td><code>Authorization: Bearer ...</code></td></tr></tbody></table></div>"
              "<p>Without credentials, open paths still answer, within a <a href=\"{}/rate-limits/\">lower limit</a>.</p>",
              root_);
    const auto wants_scope = [](const route_description& each) {
        return each.access.who != access_rule::kind::open && each.method == http::method::get && each.parameters.empty();
    };
    const auto* own = find_route(wants_scope);
    const auto sample = settings_.base_url + (own == nullptr ? std::string{} : std::string{own->path});
    html_.add("<h2 id=\"personal-tokens\">Personal API tokens</h2><p>A token has a username and a secret. The secret is shown once, when the "
              "token is made; it works like a password, so keep it out of source code and logs.</p>"
              "<pre tabindex=\"0\"><code>curl -u \"$TOKEN_USERNAME:$TOKEN_SECRET\" {}</code></pre>",
              sample);
    html_.add("<h2 id=\"access-tokens\">OAuth access tokens</h2><p>An access token works until its <code>expires_in</code> seconds are over, or "
              "until the user takes it back.</p>"
              "<pre tabindex=\"0\"><code>curl -H \"Authorization: Bearer $ACCESS_TOKEN\" {}</code></pre>",
              sample);
    html_.add("<h2 id=\"refusals\">When nobody is let in</h2><p>Missing credentials where some are needed, and bad ones on any path, are a "
              "<strong>401</strong>. Its <code>WWW-Authenticate</code> fields name the schemes; <code>error=\"invalid_token\"</code> "
              "says that credentials were sent, and are unknown, revoked or expired.</p><ul>"
              "<li>The scheme is read in any case, the credentials exactly.</li>"
              "<li>A personal token as Bearer, or an access token as Basic, lets nobody in.</li>"
              "<li>Two <code>Authorization</code> fields are a <strong>400</strong>. Credentials in the address are ignored.</li></ul>");
}

TOLLGATE_DECL void page_writer::write_scopes() {
    html_.add("<h1>Scopes</h1><p class=\"lead\">Scopes say what a token may do, whichever kind of token it is.</p>"
              "<div class=\"table\"><table><thead><tr><th scope=\"col\">Scope</th><th scope=\"col\">Grants</th></tr></thead><tbody>");
    html_.add("<tr><td><code>{}</code></td><td>Reading the user's balance</td></tr>", balance_scope);
    for (const service& each : settings_.services.services()) {
        html_.add("<tr><td><code>{}</code></td><td>Reading a {} account</td></tr>", each.read_scope, each.name.view());
        html_.add("<tr><td><code>{}</code></td><td>Reading and changing a {} account</td></tr>", each.write_scope, each.name.view());
    }
    html_.add("</tbody></table></div><p>A service's scope covers its read scope. No scope covers anything of another service, and "
              "<code>{}</code> is covered by itself alone.</p>",
              balance_scope);
    html_.add("<h2 id=\"needed\">What needs which</h2><div class=\"table\"><table><thead><tr><th scope=\"col\">Endpoint</th>"
              "<th scope=\"col\">Needs</th></tr></thead><tbody>");
    for (const auto& each : routes_) {
        html_.add("<tr><td><code>{} {}</code></td><td>", http::to_text(each.method), each.path);
        write_access(each.access);
        html_.add("</td></tr>");
    }
    html_.add("</tbody></table></div><h2 id=\"refusals\">When scopes do not reach</h2><p>The answer is a <strong>403</strong>; its "
              "<code>WWW-Authenticate</code> field names what is missing: <code>error=\"insufficient_scope\", scope=\"...\"</code>. "
              "A 403 without that field is about the <a href=\"{}/requests/#user-agent\">User-Agent</a>.</p>",
              root_);
}

TOLLGATE_DECL void page_writer::write_rate_limits() {
    html_.add("<h1>Rate limits</h1><p class=\"lead\">Every answer tells how much is left. A program that reads it never has to guess.</p>"
              "<div class=\"table\"><table><thead><tr><th scope=\"col\">Requests</th><th scope=\"col\">Limit</th>"
              "<th scope=\"col\">Counted for</th></tr></thead><tbody>");
    html_.add("<tr><th scope=\"row\">With credentials</th><td>{}</td><td>The user, whichever of their tokens is used</td></tr>",
              describe(settings_.user_quota));
    html_.add("<tr><th scope=\"row\">Without, or with bad ones</th><td>{}</td><td>The client's address; an IPv6 address by its /64</td></tr>",
              describe(settings_.anonymous_quota));
    html_.add("</tbody></table></div><p>The operator can give a user a higher limit; it counts at once.</p>"
              "<h2 id=\"windows\">Windows</h2><p>A window begins with the first request that is counted, and ends after its length: then the "
              "whole limit is there again. A request that is refused for the limit is not counted. Every other one is, also a refused one.</p>"
              "<h2 id=\"fields\">Fields</h2><div class=\"table\"><table><thead><tr><th scope=\"col\">Field</th><th scope=\"col\">Meaning</th>"
              "</tr></thead><tbody>"
              "<tr><td><code>X-RateLimit-Limit</code></td><td>Requests permitted in the window</td></tr>"
              "<tr><td><code>X-RateLimit-Remaining</code></td><td>Requests left in it</td></tr>"
              "<tr><td><code>X-RateLimit-Reset</code></td><td>When it ends, sent exactly when none is left: so with the last answer, too</td></tr>"
              "<tr><td><code>Retry-After</code></td><td>Seconds to wait, with a 429</td></tr></tbody></table></div>"
              "<h2 id=\"exceeded\">When none is left</h2>");
    html_.add("<pre tabindex=\"0\"><code>HTTP/1.1 429 Too Many Requests\n"
              "X-RateLimit-Limit: {}\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 2026-11-21T10:00:00Z\nRetry-After: 1740</code></pre>"
              "<p>Wait until then. Asking sooner gets the same answer, and costs nothing but the time.</p>",
              settings_.anonymous_quota.requests);
}

TOLLGATE_DECL void page_writer::write_errors() {
    html_.add("<h1>Errors</h1><p class=\"lead\">Every answer of 400 and above carries one object.</p>"
              "<pre tabindex=\"0\"><code>{\n  \"message\": \"Not Found\",\n  \"documentation_url\": \"{}/docs/errors/\"\n}</code></pre>"
              "<p>The message is for people, and may be worded better tomorrow; let programs go by the status. The address leads to the page "
              "that explains the matter.</p>",
              settings_.auth_url);

    struct row {
        http::status status;
        std::string_view meaning;
    };
    constexpr row rows[] = {
        {http::status::bad_request, "HTTP or JSON that breaks a rule, or two Authorization fields. Mend the program."},
        {http::status::unauthorized, "No credentials where some are needed, or some that let nobody in."},
        {http::status::forbidden, "No User-Agent, or a token whose scopes do not reach; see WWW-Authenticate."},
        {http::status::not_found, "Not there, or not the caller's. The two look the same on purpose."},
        {http::status::method_not_allowed, "The path is known, and does not answer to this method; see Allow."},
        {http::status::request_timeout, "The request did not arrive in time."},
        {http::status::content_too_large, "The body is too large."},
        {http::status::uri_too_long, "The address is too long."},
        {http::status::unsupported_media_type, "The body is not application/json."},
        {http::status::unprocessable_content, "A member of the body will not do; the message names it."},
        {http::status::too_many_requests, "The rate limit is exceeded; wait as long as Retry-After says."},
        {http::status::header_fields_too_large, "The header fields are too many or too long."},
        {http::status::internal_server_error, "A mistake on our side. Whether the request had an effect is not certain."},
        {http::status::service_unavailable, "Overloaded, or a part is down; try again after Retry-After."},
    };
    html_.add("<h2 id=\"statuses\">Statuses</h2><div class=\"table\"><table><thead><tr><th scope=\"col\">Status</th>"
              "<th scope=\"col\">Meaning</th></tr></thead><tbody>");
    for (const row& each : rows)
        html_.add("<tr id=\"{}\"><th scope=\"row\">{} {}</th><td>{}</td></tr>", http::to_number(each.status), http::to_number(each.status),
                  http::to_reason(each.status), each.meaning);
    html_.add("</tbody></table></div>");
}

TOLLGATE_DECL void page_writer::write_webhooks() {
    html_.add("<h1>Webhooks</h1><p class=\"lead\">A webhook ties one event of an account to an address of yours.</p>"
              "<h2 id=\"events\">Events</h2><div class=\"table\"><table><thead><tr><th scope=\"col\">Service</th>"
              "<th scope=\"col\">Events</th></tr></thead><tbody>");
    for (const service& each : settings_.services.services()) {
        html_.add("<tr><th scope=\"row\">{}</th><td>", each.name.view());
        for (const auto& event : each.events) html_.add("<code>{}</code> ", event);
        html_.add("</td></tr>");
    }
    html_.add("</tbody></table></div>");
    for (const auto& each : routes_) {
        if (each.path.find("/hooks") == std::string_view::npos) continue;
        html_.add("<h2>{}</h2>", each.notes.summary);
        write_curl(each);
        if (!each.notes.success_body.empty()) write_json(each.notes.success_body);
    }
    html_.add("<h2 id=\"secret\">The secret</h2><p>The answer that creates a webhook carries <code>X-Hook-Secret</code>. No other answer does: "
              "keep it, for it is what deliveries are signed with.</p>"
              "<h2 id=\"rules\">Rules</h2><ul><li>An account has at most {} webhooks for one event. The same event and address may be used "
              "twice.</li>",
              settings_.hooks_per_event_max);
    html_.add("<li>The address is an absolute http or https URL of at most {} bytes, without user name, password and fragment.</li>"
              "<li>An address inside a private network is refused, however it is spelled.</li>"
              "<li>It is listed byte for byte as it was given.</li>"
              "<li><code>source</code> is <code>api</code> for a webhook made through the API, and <code>manual</code> for one made by hand.</li></ul>",
              limits::target_url_bytes_max);
}

TOLLGATE_DECL void page_writer::write_endpoints() {
    html_.add("<h1>Endpoints</h1><p class=\"lead\">All paths are below <code>{}</code>.</p><div class=\"table\"><table><thead><tr>"
              "<th scope=\"col\">Endpoint</th><th scope=\"col\">What it does</th></tr></thead><tbody>",
              settings_.base_url);
    for (const auto& each : routes_)
        html_.add("<tr><td><a href=\"#{}\"><code>{} {}</code></a></td><td>{}</td></tr>", anchor_of(each), http::to_text(each.method),
                  each.path, each.notes.summary);
    html_.add("</tbody></table></div>");
    for (const auto& each : routes_) write_operation(each);
}

TOLLGATE_DECL void page_writer::write_operation(const route_description& of) {
    const auto method = http::to_text(of.method);
    html_.add("<section class=\"operation\"><h2 id=\"{}\"><span class=\"method {}\">{}</span> <code>{}</code></h2><p>{}</p>",
              anchor_of(of), lower_case(method), method, of.path, of.notes.summary);
    html_.add("<dl class=\"facts\"><dt>Needs</dt><dd>");
    write_access(of.access);
    html_.add("</dd><dt>Answers</dt><dd>{} {}", of.notes.success_status, http::to_reason(static_cast<http::status>(of.notes.success_status)));
    if (!of.notes.success_field.empty()) html_.add(", with <code>{}</code>", of.notes.success_field);
    html_.add("</dd></dl>");
    write_parameters(of);
    write_curl(of);
    write_json(of.notes.success_body);
    html_.add("</section>");
}

TOLLGATE_DECL void page_writer::write_access(const access_rule& access) {
    switch (access.who) {
        case access_rule::kind::open: html_.add("nothing"); break;
        case access_rule::kind::any_caller: html_.add("any valid credentials"); break;
        case access_rule::kind::scope: html_.add("<code>{}</code>", access.scope); break;
        case access_rule::kind::service_read: html_.add("<code>&#123;service&#125;:read</code>"); break;
        case access_rule::kind::service_write: html_.add("<code>&#123;service&#125;</code>"); break;
    }
}

TOLLGATE_DECL void page_writer::write_parameters(const route_description& of) {
    if (of.parameters.empty()) return;
    html_.add("<div class=\"table\"><table><thead><tr><th scope=\"col\">In the path</th><th scope=\"col\">Value</th></tr></thead><tbody>");
    for (const auto& each : of.parameters) {
        html_.add("<tr><td><code>{}</code></td><td>", each.name);
        switch (each.kind) {
            case route_description::value_kind::service:
                for (const service& known : settings_.services.services()) html_.add("<code>{}</code> ", known.name.view());
                break;
            case route_description::value_kind::id: html_.add("the {}'s id, an integer", each.name); break;
            case route_description::value_kind::text: html_.add("text"); break;
        }
        html_.add("</td></tr>");
    }
    html_.add("</tbody></table></div>");
}

TOLLGATE_DECL void page_writer::write_curl(const route_description& of) {
    html_.add("<pre tabindex=\"0\"><code>curl");
    if (of.method != http::method::get) html_.add(" -X {}", http::to_text(of.method));
    if (of.access.who != access_rule::kind::open) html_.add(" -u \"$TOKEN_USERNAME:$TOKEN_SECRET\"");
    html_.add(" {}{}", settings_.base_url, sample_path(of, settings_.services));
    const auto& body = of.notes.request_body;
    if (!body.example.empty())
        html_.add(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{}'", fill_example(body, settings_.services));
    html_.add("</code></pre>");
}

TOLLGATE_DECL void page_writer::write_json(const json_shape& shape) {
    if (shape.example.empty()) return;
    html_.add("<pre tabindex=\"0\"><code>{}</code></pre>", fill_example(shape, settings_.services));
}

}  // namespace tollgate::documentation
