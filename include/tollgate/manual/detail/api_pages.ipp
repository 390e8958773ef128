#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/manual/detail/api_pages.hpp>
#include <tollgate/manual/detail/writer.hpp>

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
<body> <a class="skip" href="#content">Skip to the content</a>
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
    html_.add("</ul></nav>\n<main id=\"content\">\n");
}

TOLLGATE_DECL void page_writer::end_page() {
    html_.add(R"(</main>
</div>
<footer><p>Made from the API's own settings and routes.</p></footer>
</body>
</html>
)");
}

TOLLGATE_DECL void page_writer::write_overview() {
    html_.add(R"(<h1>Account API</h1>
<p class="lead">An HTTP API in JSON that gives programs access to the accounts that people have at several products.
Each product is called a service.</p>
<dl class="facts">
<dt>Address</dt><dd><code>{}</code></dd>
<dt>Services</dt><dd>)",
              settings_.base_url);
    for (const service& each : settings_.services.services()) html_.add("<code>{}</code> ", each.name.view());
    html_.add(R"(</dd>
<dt>Without credentials</dt><dd>{}, for a client's address</dd>
<dt>With credentials</dt><dd>{}, for a user</dd>
)",
              describe(settings_.anonymous_quota), describe(settings_.user_quota));
    const auto is_description = [](const route& each) { return each.path == "/openapi.json"; };
    if (find_route(is_description) != nullptr)
        html_.add(R"(<dt>For machines</dt><dd><a href="{}/openapi.json">OpenAPI 3.1</a></dd>
)",
                  settings_.base_url);
    html_.add("</dl>\n");

    const auto is_plain = [&](const route& each, access_rule::kind who) {
        return each.access.who == who && each.method == http::method::get && each.parameters.empty() &&
               !is_description(each);
    };
    if (const auto* open = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::open); })) {
        html_.add("<h2>A first request</h2>\n<p>This one needs no credentials:</p>\n");
        write_curl(*open);
        write_example(open->notes.success_body);
    }
    if (const auto* own = find_route([&](const auto& each) { return is_plain(each, access_rule::kind::scope); })) {
        html_.add(R"(<p>This one needs a <a href="{}/authentication/">personal API token</a>:</p>
)",
                  root_);
        write_curl(*own);
        write_example(own->notes.success_body);
    }

    html_.add("<h2>Read on</h2>\n<ul class=\"cards\">\n");
    for (const auto& each : page_entries)
        if (!each.slug.empty() && has(each))
            html_.add(R"(<li><a href="{}/{}/"><strong>{}</strong><span>{}</span></a></li>
)",
                      root_, each.slug, each.title, each.summary);
    html_.add("</ul>\n");
}

TOLLGATE_DECL void page_writer::write_requests() {
    html_.add(R"(<h1>Requests</h1>
<p class="lead">JSON both ways, over HTTP/1.1.</p>
<h2 id="address">Address</h2>
<p>Every path begins with <code>{}</code>. Its last part is the version, which grows only by additions: ignore members
that you do not know.</p>
<p>Paths are exact. A slash at the end, an empty segment or a percent-encoded character make another path, and that is
a <strong>404</strong>.</p>
<h2 id="user-agent">User-Agent</h2>
<p>Every request carries a <code>User-Agent</code> field that names the program, best with a way to reach whoever runs
it. Without one, or with an empty one, the answer is <strong>403</strong>.</p>
<pre tabindex="0"><code>User-Agent: inventory-sync/2.1 (ops@example.com)</code></pre>
)",
              settings_.base_url);
    html_.add(R"(<h2 id="bodies">Bodies</h2>
<p>What is no part of the path goes into the query of a GET request, and into the body of any other: one JSON object,
with <code>Content-Type: application/json</code>.</p>
<ul>
<li>Another media type is a <strong>415</strong>. A body over the server's bound, usually {} KiB, is a
<strong>413</strong>.</li>
<li>What is no JSON object in UTF-8 is a <strong>400</strong>. So are a member that comes twice, bytes behind the
object, and nesting deeper than {}.</li>
<li>A member that is missing, null, of another type or of a value that will not do is a <strong>422</strong>; its
message names the member. Members that the API does not know are ignored.</li>
</ul>
)",
              limits::body_bytes_default / 1024, limits::json_depth_max);
    html_.add("<h2 id=\"formats\">Formats</h2>\n");
    begin_table(html_, {"What", "How"});
    html_.add(R"(<tr><th scope="row">Moments</th><td>ISO 8601 in UTC, to the second:
<code>2026-11-21T09:30:00Z</code></td></tr>
<tr><th scope="row">Money</th><td>A JSON number with exactly the digits that are meant. Read it as a decimal: a binary
float rounds it.</td></tr>
<tr><th scope="row">Currencies</th><td>Three letters of ISO 4217</td></tr>
<tr><th scope="row">Ids</th><td>Integers from 1 to 9223372036854775807</td></tr>
<tr><th scope="row">Lists</th><td>Whole, as a bare array; <code>[]</code> when there is nothing</td></tr>
)");
    end_table(html_);
    html_.add(R"(<h2 id="methods">Methods</h2>
<p>HEAD gets what GET gets, without the body. OPTIONS gets 204 and an <code>Allow</code> field. A known path with any
other method is a <strong>405</strong>, with the same field.</p>
)");
}

TOLLGATE_DECL void page_writer::write_authentication() {
    html_.add(R"(<h1>Authentication</h1>
<p class="lead">A request says who is calling in one <code>Authorization</code> field.</p>
)");
    begin_table(html_, {"Credentials", "Reach", "Sent as"});
    html_.add(R"(<tr><th scope="row">Personal API token</th><td>Its owner's accounts</td><td>HTTP Basic: the token
username, and the token secret as the password</td></tr>
<tr><th scope="row">OAuth access token</th><td>The accounts of the user who let the application in</td>
<td><code>Authorization: Bearer</code> and the token</td></tr>
)");
    end_table(html_);
    html_.add(R"(<p>Without credentials, open paths still answer, within a <a href="{}/rate-limits/">lower
limit</a>.</p>
)",
              root_);

    const auto* own = find_route([](const route& each) {
        return each.access.who != access_rule::kind::open && each.method == http::method::get &&
               each.parameters.empty();
    });
    const auto address = settings_.base_url + (own == nullptr ? std::string{} : std::string{own->path});
    html_.add(R"(<h2 id="personal-tokens">Personal API tokens</h2>
<p>A token has a username and a secret. The secret is shown once, when the token is made. It works like a password:
keep it out of source code and logs.</p>
<pre tabindex="0"><code>curl -u "$TOKEN_USERNAME:$TOKEN_SECRET" {}</code></pre>
<h2 id="access-tokens">OAuth access tokens</h2>
<p>An access token works until its <code>expires_in</code> seconds are over, or until the user takes it back.</p>
<pre tabindex="0"><code>curl -H "Authorization: Bearer $ACCESS_TOKEN" {}</code></pre>
)",
              address, address);
    if (oauth_)
        html_.add(R"(<p>How an application gets one: <a href="{}/oauth/">OAuth</a>.</p>
)",
                  root_);
    html_.add(R"(<h2 id="refusals">When nobody is let in</h2>
<p>Missing credentials where some are needed, and bad ones on any path, are a <strong>401</strong>. Its
<code>WWW-Authenticate</code> fields name the schemes; <code>error="invalid_token"</code> says that credentials were
sent, and are unknown, revoked or expired.</p>
<ul>
<li>The scheme is read in any case, the credentials exactly.</li>
<li>A personal token as Bearer, or an access token as Basic, lets nobody in.</li>
<li>Two <code>Authorization</code> fields are a <strong>400</strong>. Credentials in the address are ignored.</li>
</ul>
)");
}

TOLLGATE_DECL void page_writer::write_oauth() {
    if (oauth_) write_oauth_page(html_, settings_, *oauth_);
}

TOLLGATE_DECL void page_writer::write_scopes() {
    html_.add(R"(<h1>Scopes</h1>
<p class="lead">Scopes say what a token may do, whichever kind of token it is.</p>
)");
    begin_table(html_, {"Scope", "Grants"});
    const auto write_row = [this](std::string_view scope, const std::string& grants) {
        html_.add("<tr><td><code>{}</code></td><td>{}</td></tr>\n", scope, grants);
    };
    write_row(balance_scope, "Reading the user's balance");
    for (const service& each : settings_.services.services()) {
        const std::string name{each.name.view()};
        write_row(each.read_scope, "Reading the user's " + name + " accounts");
        write_row(each.write_scope, "Reading and changing the user's " + name + " accounts");
    }
    end_table(html_);
    html_.add(R"(<p>A service's scope covers its read scope. No scope covers anything of another service, and
<code>{}</code> is covered by itself alone.</p>
<h2 id="needed">What needs which</h2>
)",
              balance_scope);
    begin_table(html_, {"Endpoint", "Needs"});
    for (const auto& each : routes_) {
        html_.add("<tr><td><code>{} {}</code></td><td>", http::to_text(each.method), each.path);
        write_access(each.access);
        html_.add("</td></tr>\n");
    }
    end_table(html_);
    html_.add(R"(<h2 id="refusals">When scopes do not reach</h2>
<p>The answer is a <strong>403</strong>; its <code>WWW-Authenticate</code> field names what is missing:
<code>error="insufficient_scope", scope="..."</code>. A 403 without that field is about the
<a href="{}/requests/#user-agent">User-Agent</a>.</p>
)",
              root_);
}

TOLLGATE_DECL void page_writer::write_rate_limits() {
    html_.add(R"(<h1>Rate limits</h1>
<p class="lead">Every answer tells how much is left. A program that reads it never has to guess.</p>
)");
    begin_table(html_, {"Requests", "Limit", "Counted for"});
    html_.add(R"(<tr><th scope="row">With credentials</th><td>{}</td><td>The user, whichever of their tokens is
used</td></tr>
<tr><th scope="row">Without, or with bad ones</th><td>{}</td><td>The client's address; an IPv6 address by its
/64</td></tr>
)",
              describe(settings_.user_quota), describe(settings_.anonymous_quota));
    end_table(html_);
    html_.add(R"(<p>The operator can give a user a higher limit; it counts at once.</p>
<h2 id="windows">Windows</h2>
<p>A window begins with the first request that is counted, and ends after its length: then the whole limit is there
again. A request that is refused for the limit is not counted. Every other one is, also when it is refused for
something else.</p>
<h2 id="fields">Fields</h2>
)");
    begin_table(html_, {"Field", "Meaning"});
    html_.add(R"(<tr><td><code>X-RateLimit-Limit</code></td><td>Requests permitted in the window</td></tr>
<tr><td><code>X-RateLimit-Remaining</code></td><td>Requests left in it</td></tr>
<tr><td><code>X-RateLimit-Reset</code></td><td>When it ends; sent exactly when none is left, so with the last answer,
too</td></tr>
<tr><td><code>Retry-After</code></td><td>Seconds to wait, with a 429</td></tr>
)");
    end_table(html_);
    html_.add(R"(<h2 id="exceeded">When none is left</h2>
<pre tabindex="0"><code>HTTP/1.1 429 Too Many Requests
X-RateLimit-Limit: {}
X-RateLimit-Remaining: 0
X-RateLimit-Reset: 2026-11-21T10:00:00Z
Retry-After: 1740</code></pre>
<p>Wait until then. Asking sooner gets the same answer.</p>
)",
              settings_.anonymous_quota.requests);
}

TOLLGATE_DECL void page_writer::write_errors() {
    html_.add(R"(<h1>Errors</h1>
<p class="lead">Every answer of 400 and above carries one object.</p>
<pre tabindex="0"><code>&#123;
  "message": "Not Found",
  "documentation_url": "{}/docs/errors/"
&#125;</code></pre>
<p>The message is for people, and may be worded better tomorrow; let programs go by the status. The address leads to
the page that explains the matter.</p>
<h2 id="statuses">Statuses</h2>
)",
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
        {http::status::internal_server_error, "A mistake on our side. Whether it had an effect is not certain."},
        {http::status::service_unavailable, "Overloaded, or a part is down; try again after Retry-After."},
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
<p class="lead">A webhook ties one event of an account to an address of yours.</p>
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
        write_example(each.notes.success_body);
    }

    html_.add(R"(<h2 id="secret">The secret</h2>
<p>The answer that creates a webhook carries its signing secret in <code>X-Hook-Secret</code>. No other answer does:
keep it.</p>
<h2 id="rules">Rules</h2>
<ul>
<li>An account has at most {} webhooks for one event. The same event and address may be used twice.</li>
<li>The address is an absolute http or https URL of at most {} bytes, without user name, password and fragment.</li>
<li>An address inside a private network is refused, however it is spelled, unless the operator allows it.</li>
<li>It is listed byte for byte as it was given.</li>
<li><code>source</code> is <code>api</code> for a webhook made through the API, and <code>manual</code> for one made by
hand.</li>
</ul>
)",
              settings_.hooks_per_event_max, limits::target_url_bytes_max);
    html_.add(R"(<h2 id="deliveries">What arrives</h2>
<p>A POST with a JSON body, signed as <a href="https://www.standardwebhooks.com">Standard Webhooks</a> says, so that any
of its libraries can verify it:</p>
<pre><code>webhook-id: msg_...
webhook-timestamp: 1700000000
webhook-signature: v1,...

{"type": "...", "timestamp": "2023-11-14T22:13:20Z", "service": "...", "account": 1, "data": ...}</code></pre>
<ul>
<li>The signature is the HMAC-SHA256 of <code>id.timestamp.body</code>, in base64. Its key is what stands in base64 behind
<code>whsec_</code> in the secret. For 24 hours after a secret was replaced there are two signatures, with a space between.
Verify the bytes of the body as they came.</li>
<li>Answer with a 2xx within 15 seconds. A redirect is a failure.</li>
<li>After a failure there are further attempts, for more than a day. <code>Retry-After</code> is heeded within bounds; 410
ends the webhook, and so do 120 hours without a success: its owner can enable it again.</li>
<li>A delivery may come more than once, with the same <code>webhook-id</code>.</li>
</ul>
)");
}

TOLLGATE_DECL void page_writer::write_endpoints() {
    html_.add("<h1>Endpoints</h1>\n<p class=\"lead\">All paths are below <code>{}</code>.</p>\n", settings_.base_url);
    begin_table(html_, {"Endpoint", "What it does"});
    for (const auto& each : routes_)
        html_.add(R"(<tr><td><a href="#{}"><code>{} {}</code></a></td><td>{}</td></tr>
)",
                  anchor_of(each), http::to_text(each.method), each.path, each.notes.summary);
    end_table(html_);
    for (const auto& each : routes_) write_operation(each);
}

TOLLGATE_DECL void page_writer::write_operation(const route& of) {
    const auto method = http::to_text(of.method);
    html_.add(R"(<section class="operation">
<h2 id="{}"><span class="method {}">{}</span> <code>{}</code></h2>
<p>{}</p>
<dl class="facts"><dt>Needs</dt><dd>)",
              anchor_of(of), lower_case(method), method, of.path, of.notes.summary);
    write_access(of.access);
    html_.add("</dd><dt>Answers</dt><dd>{} {}", of.notes.success_status,
              http::to_reason(static_cast<http::status>(of.notes.success_status)));
    if (!of.notes.success_field.empty()) html_.add(", with <code>{}</code>", of.notes.success_field);
    html_.add("</dd></dl>\n");
    write_parameters(of);
    write_curl(of);
    write_example(of.notes.success_body);
    html_.add("</section>\n");
}

TOLLGATE_DECL void page_writer::write_access(const access_rule& access) {
    switch (access.who) {
        case access_rule::kind::open: html_.add("nothing"); break;
        case access_rule::kind::any_caller: html_.add("any valid credentials"); break;
        case access_rule::kind::scope: html_.add("<code>{}</code>", access.scope); break;
        case access_rule::kind::service_read: html_.add("<code>{}</code>", "{service}:read"); break;
        case access_rule::kind::service_write: html_.add("<code>{}</code>", "{service}"); break;
    }
}

TOLLGATE_DECL void page_writer::write_parameters(const route& of) {
    if (of.parameters.empty()) return;
    begin_table(html_, {"In the path", "Value"});
    for (const auto& each : of.parameters) {
        html_.add("<tr><td><code>{}</code></td><td>", each.name);
        switch (each.kind) {
            case route::parameter_kind::service:
                for (const service& known : settings_.services.services())
                    html_.add("<code>{}</code> ", known.name.view());
                break;
            case route::parameter_kind::id: html_.add("the {}'s id, an integer", each.name); break;
            case route::parameter_kind::text: html_.add("text"); break;
        }
        html_.add("</td></tr>\n");
    }
    end_table(html_);
}

TOLLGATE_DECL void page_writer::write_curl(const route& of) {
    html_.add(R"(<pre tabindex="0"><code>curl)");
    if (of.method != http::method::get) html_.add(" -X {}", http::to_text(of.method));
    if (of.access.who != access_rule::kind::open) html_.add(R"( -u "$TOKEN_USERNAME:$TOKEN_SECRET")");
    html_.add(" {}{}", settings_.base_url, sample_path(of, settings_.services));
    const auto& body = of.notes.request_body;
    if (!body.example.empty())
        html_.add(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{}'", fill_example(body, settings_.services));
    html_.add("</code></pre>\n");
}

TOLLGATE_DECL void page_writer::write_example(const json_shape& shape) {
    if (shape.example.empty()) return;
    html_.add(R"(<pre class="answer" tabindex="0"><code>{}</code></pre>
)",
              fill_example(shape, settings_.services));
}

}  // namespace tollgate::manual
