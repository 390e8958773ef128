#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_API_PAGES_IPP
#define TOLLGATE_MANUAL_DETAIL_API_PAGES_IPP

#include <tollgate/account/issue_hook.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/manual/detail/api_pages.hpp>
#include <tollgate/manual/detail/writer.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <chrono>
#include <utility>

namespace tollgate::inline v0::manual {

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
    html_.add(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{} - Account API</title>
<link rel="stylesheet" href="{}/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
)",
              title, root_);
    html_.add(R"(<header><div><a class="name" href="{}/">Account API</a> <span class="address">{}</span></div></header>
<div class="columns">
<nav aria-label="Documentation"><ul>
)",
              root_, settings_.base_url);
    for (const auto& each : page_entries) {
        if (!has(each)) continue;
        html_.add(R"(<li><a href="{}/{}{}")", root_, each.slug, each.slug.empty() ? "" : "/");
        if (each.slug == slug) html_.add(R"( aria-current="page")");
        html_.add(">{}</a></li>\n", each.title);
    }
    // Users sign in on the pages of the authorization server.
    if (oauth_) html_.add(R"(<li><a href="{}/user/">Your account</a></li>
)", settings_.auth_url);
    html_.add("</ul></nav>\n<main id=\"content\">\n");
}

TOLLGATE_DECL void page_writer::end_page() {
    html_.add(R"(</main>
</div>
<footer><p>Generated from the API's settings and routes.</p></footer>
</body>
</html>
)");
}

TOLLGATE_DECL void page_writer::write_overview() {
    html_.add(R"(<h1>Account API</h1>
<p class="lead">A JSON API over HTTP that gives programs access to users' accounts at several services.</p>
<dl class="facts">
<dt>Base URL</dt><dd><code>{}</code></dd>
<dt>Services</dt><dd>)",
              settings_.base_url);
    for (const service& each : settings_.services.services()) html_.add("<code>{}</code> ", each.name.view());
    html_.add(R"(</dd>
<dt>Without credentials</dt><dd>{} per client address</dd>
<dt>With credentials</dt><dd>{} per user</dd>
)",
              describe(settings_.anonymous_quota), describe(settings_.user_quota));
    const auto is_description = [](const route& each) { return each.path == "/openapi.json"; };
    if (find_route(is_description) != nullptr)
        html_.add(R"(<dt>Description</dt><dd><a href="{}/openapi.json">OpenAPI 3.1</a></dd>
)",
                  settings_.base_url);
    html_.add("</dl>\n");

    const auto is_plain = [&](const route& each, access_rule::kind kind) {
        return each.access.callers == kind && each.method == http::method::get && each.parameters.empty() &&
               !is_description(each);
    };
    if (const auto* open = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::open); })) {
        html_.add("<h2>A first request</h2>\n<p>This request needs no credentials:</p>\n");
        write_curl(*open);
        write_example(*open);
    }
    if (const auto* own = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::scope); })) {
        html_.add(R"(<p>This request needs a <a href="{}/authentication/">personal API token</a>:</p>
)",
                  root_);
        write_curl(*own);
        write_example(*own);
    }

    html_.add("<h2>More</h2>\n<ul class=\"cards\">\n");
    for (const auto& each : page_entries)
        if (!each.slug.empty() && has(each))
            html_.add(R"(<li><a href="{}/{}/"><strong>{}</strong><span>{}</span></a></li>
)",
                      root_, each.slug, each.title, each.summary);
    html_.add("</ul>\n");
}

TOLLGATE_DECL void page_writer::write_requests() {
    html_.add(R"(<h1>Requests</h1>
<p class="lead">Requests and responses are JSON over HTTP/1.1.</p>
<h2 id="address">Base URL</h2>
<p>All URLs begin with <code>{}</code>. The last part is the version. New members may be added to a version at any time:
ignore members that you do not know.</p>
<p>Paths must match exactly. A trailing slash, an empty segment or a percent-encoded character results in a
<strong>404</strong>.</p>
<h2 id="user-agent">User-Agent</h2>
<p>Every request must have a <code>User-Agent</code> field that names your program; please include contact
information. A request without a User-Agent, or with an empty one, gets a <strong>403</strong>.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>User-Agent: inventory-sync/2.1 (ops@example.com)</code></pre>
)",
              settings_.base_url);
    html_.add(R"(<h2 id="bodies">Bodies</h2>
<p>GET requests take parameters in the query. POST, PUT and PATCH requests take one JSON object as the body, with
<code>Content-Type: application/json</code>.</p>
<ul>
<li>Any other media type and any <code>Content-Encoding</code> get a <strong>415</strong>. A body larger than the server's limit,
usually {} KiB, gets a <strong>413</strong>.</li>
<li>A body that is not a JSON object in UTF-8 gets a <strong>400</strong>. So do duplicate members, bytes after the
object, and nesting deeper than {}.</li>
<li>A missing or invalid member gets a <strong>422</strong>; the message names the member. Unknown members are
ignored.</li>
</ul>
)",
              limits::body_bytes_default / 1024, limits::json_depth_max);
    html_.add("<h2 id=\"formats\">Formats</h2>\n");
    begin_table(html_, {"Value", "Format"});
    html_.add(R"(<tr><th scope="row">Times</th><td>ISO 8601 in UTC, to the second:
<code>2026-11-21T09:30:00Z</code></td></tr>
<tr><th scope="row">Money</th><td>A JSON number with exact digits. Parse it as a decimal: a binary float would round
it.</td></tr>
<tr><th scope="row">Currencies</th><td>ISO 4217 codes</td></tr>
<tr><th scope="row">IDs</th><td>Integers from 1 to <code>9223372036854775807</code></td></tr>
<tr><th scope="row">Lists</th><td>A complete array, which may be empty</td></tr>
)");
    end_table(html_);
    html_.add(R"(<h2 id="methods">Methods</h2>
<p>HEAD works wherever GET does. OPTIONS returns 204 with an <code>Allow</code> field. Any other method that a path does
not support gets a <strong>405</strong>, also with <code>Allow</code>; a method that does not exist gets a <strong>501</strong>.</p>
)");
}

TOLLGATE_DECL void page_writer::write_authentication() {
    html_.add(R"(<h1>Authentication</h1>
<p class="lead">Send credentials in one <code>Authorization</code> field.</p>
)");
    begin_table(html_, {"Credentials", "Access to", "Sent as"});
    html_.add(R"(<tr><th scope="row">Personal API token</th><td>Its owner's accounts</td><td>HTTP Basic: the token
username, and the token secret as the password</td></tr>
)");
    if (oauth_)
        html_.add(R"(<tr><th scope="row">OAuth access token</th><td>The accounts of the user who authorized the application</td>
<td><code>Authorization: Bearer</code> and the token</td></tr>
)");
    end_table(html_);
    html_.add(R"(<p>Public endpoints work without credentials, within a <a href="{}/rate-limits/">lower
limit</a>.</p>
)",
              root_);

    const auto* own = find_route([](const route& each) {
        return each.access.callers != access_rule::kind::open && each.method == http::method::get &&
               each.parameters.empty();
    });
    const auto address = settings_.base_url + (own == nullptr ? std::string{} : std::string{own->path});
    html_.add("<h2 id=\"personal-tokens\">Personal API tokens</h2>\n");
    if (oauth_)
        html_.add(R"(<p>Create one in your account's settings, under <a href="{}/en/user/settings/tokens/">Tokens</a>, with
the <a href="{}/scopes/">scopes</a> that it needs.</p>
)",
                  settings_.auth_url, root_);
    else html_.add("<p>The operator of this API issues them.</p>\n");
    html_.add(R"(<p>A token has a username and a secret. The secret is shown once, when the token is created. Treat it like a
password: keep it out of source code and logs.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' -u "$TOKEN_USERNAME:$TOKEN_SECRET" {}</code></pre>
)",
              address);
    if (oauth_)
        html_.add(R"(<h2 id="access-tokens">OAuth access tokens</h2>
<p>An access token is valid for <code>expires_in</code> seconds, or until the user revokes access.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' -H "Authorization: Bearer $ACCESS_TOKEN" {}</code></pre>
<p><a href="{}/oauth/">OAuth</a> describes how to get one.</p>
)",
                  address, root_);
    html_.add(R"(<h2 id="refusals">Failed authentication</h2>
<p>A request gets a <strong>401</strong> if it lacks required credentials, or if its credentials are invalid, even if
the endpoint requires none. The <code>WWW-Authenticate</code> fields name the schemes;
<code>error="invalid_token"</code> means that the credentials are unknown, revoked or expired.</p>
<ul>
<li>The scheme is not case-sensitive; the credentials are.</li>
<li>A personal token works with Basic only.</li>
<li>Two <code>Authorization</code> fields get a <strong>400</strong>. Credentials in the URL are ignored.</li>
</ul>
)");
}

TOLLGATE_DECL void page_writer::write_scopes() {
    html_.add(R"(<h1>Scopes</h1>
<p class="lead">Scopes limit what a token can do.</p>
)");
    begin_table(html_, {"Scope", "Grants"});
    const auto write_row = [this](std::string_view scope, const std::string& grants) {
        html_.add("<tr><td><code>{}</code></td><td>{}</td></tr>\n", scope, grants);
    };
    write_row(balance_scope, "Reading the user's balance");
    for (const service& each : settings_.services.services()) {
        const std::string name{each.name.view()};
        write_row(each.read_scope, "Reading the user's " + name + " accounts, and managing their webhooks");
        write_row(each.write_scope, "Reading and changing the user's " + name + " accounts");
        for (const service_scope& own : each.own_scopes) write_row(own.name, own.text);
    }
    end_table(html_);
    html_.add(R"(<p>A service's scope includes the other scopes of the service. No scope gives access to another service, and no other
scope includes <code>{}</code>.</p>
<h2 id="needed">Required scopes</h2>
)",
              balance_scope);
    begin_table(html_, {"Endpoint", "Requires"});
    for (const auto& each : routes_) {
        html_.add("<tr><td><code>{} {}</code></td><td>", http::to_text(each.method), each.path);
        write_access(each.access);
        html_.add("</td></tr>\n");
    }
    end_table(html_);
    html_.add(R"(<h2 id="refusals">Missing scopes</h2>
<p>The response is a <strong>403</strong>; its <code>WWW-Authenticate</code> field names the missing scope:
<code>error="insufficient_scope", scope="..."</code>. A 403 without that field is about the
<a href="{}/requests/#user-agent">User-Agent</a>.</p>
)",
              root_);
}

TOLLGATE_DECL void page_writer::write_rate_limits() {
    html_.add(R"(<h1>Rate limits</h1>
<p class="lead">Every response says how many requests are left.</p>
)");
    begin_table(html_, {"Requests", "Limit", "Counted for"});
    html_.add(R"(<tr><th scope="row">With credentials</th><td>{}</td><td>The user, across all tokens</td></tr>
<tr><th scope="row">With no or invalid credentials</th><td>{}</td><td>The client's address; for IPv6, its /64
network</td></tr>
)",
              describe(settings_.user_quota), describe(settings_.anonymous_quota));
    end_table(html_);
    html_.add(R"(<p>The operator can set a different limit for a user; the change takes effect immediately.</p>
<h2 id="windows">Windows</h2>
<p>A window begins with the first request. When it ends, the full limit is available again. Requests that exceed the
limit are not counted. All others are, including those that fail for another reason. Exceptions: CORS preflight requests, and
requests that are refused as invalid HTTP (malformed, headers too large, 417, 421).</p>
<h2 id="fields">Fields</h2>
)");
    begin_table(html_, {"Field", "Meaning"});
    html_.add(R"(<tr><td><code>X-RateLimit-Limit</code></td><td>Requests permitted in the window</td></tr>
<tr><td><code>X-RateLimit-Remaining</code></td><td>Requests left in it</td></tr>
<tr><td><code>X-RateLimit-Reset</code></td><td>When the window ends; sent only when no requests are left</td></tr>
<tr><td><code>Retry-After</code></td><td>Seconds to wait, with a 429</td></tr>
)");
    end_table(html_);
    html_.add(R"(<h2 id="exceeded">Exceeded limits</h2>
<pre tabindex="0" role="group" aria-label="Example"><code>HTTP/1.1 429 Too Many Requests
X-RateLimit-Limit: {}
X-RateLimit-Remaining: 0
X-RateLimit-Reset: 2026-11-21T10:00:00Z
Retry-After: 1740</code></pre>
<p>Wait until the window ends before you send another request.</p>
)",
              settings_.anonymous_quota.requests);
}

TOLLGATE_DECL void page_writer::write_errors() {
    html_.add(R"(<h1>Errors</h1>
<p class="lead">Every response with a status of 400 or above has a JSON body.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>&#123;
  "message": "Not Found",
  "documentation_url": "{}"
&#125;</code></pre>
<p>The message is for developers and may change; programs should use the status. The URL links to the page that explains the
error.</p>
<h2 id="statuses">Statuses</h2>
)",
              pipeline::topic_url(documentation_url_of(settings_), pipeline::about_errors));

    struct row {
        http::status status;
        std::string_view meaning;
    };
    constexpr row rows[] = {
        {http::status::bad_request, "Malformed HTTP or JSON, or two Authorization fields. Fix the request before you send it again."},
        {http::status::unauthorized, "Credentials are missing or invalid."},
        {http::status::forbidden, "The User-Agent is missing, or the token lacks a scope; see WWW-Authenticate."},
        {http::status::not_found, "The resource does not exist, or belongs to another user."},
        {http::status::method_not_allowed, "The path does not support this method; see Allow."},
        {http::status::request_timeout, "The request did not arrive in time."},
        {http::status::content_too_large, "The body is too large."},
        {http::status::uri_too_long, "The URL is too long."},
        {http::status::unsupported_media_type, "The body is not application/json, or has a Content-Encoding."},
        {http::status::expectation_failed, "The Expect field asks for something other than 100-continue."},
        {http::status::misdirected_request, "The Host field names another server."},
        {http::status::unprocessable_content, "A member of the body is missing or invalid; the message names it."},
        {http::status::too_many_requests, "The rate limit is exceeded; wait for the number of seconds in Retry-After."},
        {http::status::header_fields_too_large, "There are too many header fields, or they are too long."},
        {http::status::internal_server_error, "A server error. The request may or may not have taken effect."},
        {http::status::not_implemented, "The request method is unknown."},
        {http::status::service_unavailable, "Temporarily overloaded or unavailable; try again after the time in Retry-After."},
    };
    begin_table(html_, {"Status", "Meaning"});
    for (const row& each : rows) {
        const auto number = http::to_number(each.status);
        html_.add(R"(<tr id="status-{}"><th scope="row">{} {}</th><td>{}</td></tr>
)",
                  number, number, http::to_reason(each.status), each.meaning);
    }
    end_table(html_);
}

TOLLGATE_DECL void page_writer::write_webhooks() {
    html_.add(R"(<h1>Webhooks</h1>
<p class="lead">A webhook sends one type of an account's events to your URL.</p>
<h2 id="events">Events</h2>
)");
    begin_table(html_, {"Service", "Events"});
    for (const service& each : settings_.services.services()) {
        html_.add(R"(<tr><th scope="row">{}</th><td>)", each.name.view());
        for (const auto& event : each.events) html_.add("<code>{}</code> ", event);
        html_.add("</td></tr>\n");
    }
    end_table(html_);

    html_.add("<h2 id=\"requests\">Requests</h2>\n");
    for (const auto& each : routes_) {
        if (each.path.find("/hooks") == std::string_view::npos) continue;
        html_.add("<p>{}</p>\n", each.notes.summary);
        write_curl(each);
        write_example(each);
    }

    html_.add(R"(<h2 id="secret">The secret</h2>
<p>The response that creates a webhook contains the signing secret in <code>X-Hook-Secret</code>. Store it: it is not shown
again.</p>
<h2 id="rules">Rules</h2>
<ul>
<li>An account has at most {} webhooks for one event. Several webhooks may use the same event and URL.</li>
<li>The URL is an absolute http or https URL of at most {} bytes, without a username, password or fragment.</li>
<li>Addresses in private networks are refused, unless the operator allows them.</li>
<li>The URL is listed exactly as it was sent.</li>
<li><code>source</code> is <code>api</code> for a webhook created through the API, and <code>manual</code> for one created
on the settings page.</li>
</ul>
)",
              settings_.hooks_per_event_max, limits::target_url_bytes_max);
    html_.add(R"(<h2 id="deliveries">Deliveries</h2>
<p>Each delivery is a POST with a JSON body, signed as specified by
<a href="https://www.standardwebhooks.com">Standard Webhooks</a>. Any Standard Webhooks library can verify it:</p>
<pre tabindex="0" role="group" aria-label="Example"><code>webhook-id: msg_...
webhook-timestamp: 1700000000
webhook-signature: v1,...

{"type": "...", "timestamp": "2023-11-14T22:13:20Z", "service": "...", "account": 1, "data": ...}</code></pre>
<ul>
<li>The signature is the HMAC-SHA256 of <code>id.timestamp.body</code>, in base64. The key is the part of the secret after
<code>whsec_</code>, decoded from base64. For {} after a secret is replaced, the field has several signatures, separated by
spaces. Verify the raw bytes of the body.</li>
<li>Respond with a 2xx, by default within {}. A redirect counts as a failure.</li>
<li>A failed delivery is retried, by default for more than a day. <code>Retry-After</code> is honored within limits. A 410, or by
default {} without a success, disables the webhook until its owner enables it again.</li>
<li>A delivery may arrive more than once, with the same <code>webhook-id</code>.</li>
</ul>
)",
              describe_duration(hook_secret_overlap), describe_duration(std::chrono::floor<seconds>(default_attempt_timeout)),
              describe_duration(std::chrono::floor<seconds>(default_disable_after)));
}

TOLLGATE_DECL void page_writer::write_endpoints() {
    html_.add("<h1>Endpoints</h1>\n<p class=\"lead\">All paths are below <code>{}</code>.</p>\n", settings_.base_url);
    begin_table(html_, {"Endpoint", "Description"});
    for (const auto& each : routes_)
        html_.add(R"(<tr><td><a href="#{}"><code>{} {}</code></a></td><td>{}</td></tr>
)",
                  anchor_of(each), http::to_text(each.method), each.path, each.notes.summary);
    end_table(html_);
    for (const auto& each : routes_) write_operation(each);
}

TOLLGATE_DECL void page_writer::write_operation(const route& route) {
    const auto method = http::to_text(route.method);
    html_.add(R"(<section class="operation">
<h2 id="{}"><span class="method {}">{}</span> <code>{}</code></h2>
<p>{}</p>
<dl class="facts"><dt>Requires</dt><dd>)",
              anchor_of(route), lower_case(method), method, route.path, route.notes.summary);
    write_access(route.access);
    html_.add("</dd><dt>Returns</dt><dd>{} {}", http::to_number(route.notes.success_status),
              http::to_reason(route.notes.success_status));
    if (!route.notes.success_field.empty()) html_.add(", with <code>{}</code>", route.notes.success_field);
    html_.add("</dd></dl>\n");
    write_parameters(route);
    write_curl(route);
    write_example(route);
    html_.add("</section>\n");
}

TOLLGATE_DECL void page_writer::write_access(const access_rule& access) {
    switch (access.callers) {
        case access_rule::kind::open: html_.add("nothing"); break;
        case access_rule::kind::any_caller: html_.add("any valid credentials"); break;
        case access_rule::kind::scope: html_.add("<code>{}</code>", access.scope); break;
        case access_rule::kind::service_read: html_.add("<code>{}</code>", "{service}:read"); break;
        case access_rule::kind::service_write: html_.add("<code>{}</code>", "{service}"); break;
    }
}

TOLLGATE_DECL void page_writer::write_parameters(const route& route) {
    write_parameters("Path parameter", route.parameters);
    write_parameters("Query parameter, optional", route.query_parameters);
}

TOLLGATE_DECL void page_writer::write_parameters(std::string_view heading, const std::vector<route::parameter>& parameters) {
    if (parameters.empty()) return;
    begin_table(html_, {heading, "Value"});
    for (const auto& each : parameters) {
        html_.add("<tr><td><code>{}</code></td><td>", each.name);
        switch (each.kind) {
            case route::parameter_kind::service:
                for (const service& known : settings_.services.services())
                    html_.add("<code>{}</code> ", known.name.view());
                break;
            case route::parameter_kind::id: html_.add("the {}'s ID, an integer", each.name); break;
            case route::parameter_kind::integer: {
                html_.add("an integer");
                if (each.minimum != INT64_MIN) html_.add(" from {}", std::to_string(each.minimum));
                if (each.maximum != INT64_MAX) html_.add(" to {}", std::to_string(each.maximum));
                break;
            }
            case route::parameter_kind::text: html_.add("text"); break;
        }
        html_.add("</td></tr>\n");
    }
    end_table(html_);
}

TOLLGATE_DECL void page_writer::write_curl(const route& route) {
    html_.add(R"(<pre tabindex="0" role="group" aria-label="Example"><code>curl)");
    // Show the response field, and start the shell's next prompt on a new line, after an error as well.
    if (!route.notes.success_field.empty()) html_.add(" -i");
    html_.add(R"( -w '\n')");
    if (route.method != http::method::get) html_.add(" -X {}", http::to_text(route.method));
    if (route.access.callers != access_rule::kind::open) html_.add(R"( -u "$TOKEN_USERNAME:$TOKEN_SECRET")");
    html_.add(" {}{}", settings_.base_url, sample_path(route, settings_.services));
    const auto& body = route.notes.request_body;
    if (!body.example.empty())
        html_.add(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{}'", fill_example(body, settings_.services));
    html_.add("</code></pre>\n");
}

TOLLGATE_DECL void page_writer::write_example(const route& route) {
    const route_notes& notes = route.notes;
    if (notes.success_body.example.empty()) return;
    html_.add(R"(<pre class="answer" tabindex="0" role="group" aria-label="Response"><code>)");
    if (!notes.success_field.empty())
        html_.add("HTTP/1.1 {} {}\n{}: ...\n\n", http::to_number(notes.success_status), http::to_reason(notes.success_status),
                  notes.success_field);
    html_.add("{}</code></pre>\n", fill_example(notes.success_body, settings_.services));
}

}  // namespace tollgate::manual

#endif  // TOLLGATE_MANUAL_DETAIL_API_PAGES_IPP
