#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_API_HTML_IPP
#define TOLLGATE_MANUAL_DETAIL_API_HTML_IPP

#include <tollgate/manual/detail/template.hpp>

// The HTML of the documentation, except the page on OAuth. `page_template` describes the tags; pages.ipp sets their values.
namespace tollgate::inline v0::manual {

/// What all pages have in common.
inline constexpr page_template layout = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{title}} - Account API</title>
<link rel="stylesheet" href="{{root}}/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><div><a class="name" href="{{root}}/">Account API</a> <span class="address">{{base_url}}</span></div></header>
<div class="columns">
<nav aria-label="Documentation"><ul>
{{#each pages}}
<li><a href="{{root}}/{{path}}"{{#if is_current}} aria-current="page"{{/if}}>{{title}}</a></li>
{{/each}}
{{#if has_oauth}}
<li><a href="{{auth_url}}/user/">Your account</a></li>
{{/if}}
</ul></nav>
<main id="content">
{{>content}}
</main>
</div>
<footer><p>Generated from the API's settings and routes.</p></footer>
</body>
</html>
)html";

inline constexpr page_template error_page = R"html(<h1>{{title}}</h1><p class="lead">{{explanation}}</p>)html";

/// A request to a route, and the response.
inline constexpr page_template route_example =
    R"html(<pre tabindex="0" role="group" aria-label="Example"><code>curl{{#if success_field}} -i{{/if}} -w '\n')html"
    R"html({{#if changing_method}} -X {{changing_method}}{{/if}})html"
    R"html({{#if needs_credentials}} -u "$TOKEN_USERNAME:$TOKEN_SECRET"{{/if}} {{base_url}}{{sample_path}})html"
    R"html({{#if request_example}} \
  -H "Content-Type: application/json" \
  -d '{{request_example}}'{{/if}}</code></pre>
{{#if success_example}}
<pre class="answer" tabindex="0" role="group" aria-label="Response"><code>{{#if success_field}}HTTP/1.1 {{status}} {{reason}}
{{success_field}}: ...

{{/if}}{{success_example}}</code></pre>
{{/if}}
)html";

/// What a route requires.
inline constexpr page_template route_access = R"html({{#if scope}}<code>{{scope}}</code>{{else}}{{callers}}{{/if}})html";

/// The value of a path or query parameter.
inline constexpr page_template parameter_value =
    R"html({{#if is_service}}{{#each services}}<code>{{service}}</code> {{/each}}{{/if}}{{#if is_id}}the {{name}}'s ID, an integer{{/if}})html"
    R"html({{#if is_integer}}an integer{{#if minimum}} from {{minimum}}{{/if}}{{#if maximum}} to {{maximum}}{{/if}}{{/if}})html"
    R"html({{#if is_text}}text{{/if}})html";

inline constexpr page_template overview_page = R"html(<h1>Account API</h1>
<p class="lead">A JSON API over HTTP that gives programs access to users' accounts at several services.</p>
<dl class="facts">
<dt>Base URL</dt><dd><code>{{base_url}}</code></dd>
<dt>Services</dt><dd>{{#each services}}<code>{{service}}</code> {{/each}}</dd>
<dt>Without credentials</dt><dd>{{anonymous_quota}} per client address</dd>
<dt>With credentials</dt><dd>{{user_quota}} per user</dd>
{{#if has_openapi}}
<dt>Description</dt><dd><a href="{{base_url}}/openapi.json">OpenAPI 3.1</a></dd>
{{/if}}
</dl>
{{#each first_open_route}}
<h2>A first request</h2>
<p>This request needs no credentials:</p>
{{>route_example}}
{{/each}}
{{#each first_scope_route}}
<p>This request needs a <a href="{{root}}/authentication/">personal API token</a>:</p>
{{>route_example}}
{{/each}}
<h2>More</h2>
<ul class="cards">
{{#each pages}}
{{#if path}}
<li><a href="{{root}}/{{path}}"><strong>{{title}}</strong><span>{{summary}}</span></a></li>
{{/if}}
{{/each}}
</ul>
)html";

inline constexpr page_template requests_page = R"html(<h1>Requests</h1>
<p class="lead">Requests and responses are JSON over HTTP/1.1.</p>
<h2 id="address">Base URL</h2>
<p>All URLs begin with <code>{{base_url}}</code>. The last part is the version. New members may be added to a version at any time:
ignore members that you do not know.</p>
<p>Paths must match exactly. A trailing slash, an empty segment or a percent-encoded character results in a
<strong>404</strong>.</p>
<h2 id="user-agent">User-Agent</h2>
<p>Every request must have a <code>User-Agent</code> field that names your program; please include contact
information. A request without a User-Agent, or with an empty one, gets a <strong>403</strong>.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>User-Agent: inventory-sync/2.1 (ops@example.com)</code></pre>
<h2 id="bodies">Bodies</h2>
<p>GET requests take parameters in the query. POST, PUT and PATCH requests take one JSON object as the body, with
<code>Content-Type: application/json</code>.</p>
<ul>
<li>Any other media type and any <code>Content-Encoding</code> get a <strong>415</strong>. A body larger than the server's limit,
usually {{body_kibibytes}} KiB, gets a <strong>413</strong>.</li>
<li>A body that is not a JSON object in UTF-8 gets a <strong>400</strong>. So do duplicate members, bytes after the
object, and nesting deeper than {{json_depth_max}}.</li>
<li>A missing or invalid member gets a <strong>422</strong>; the message names the member. Unknown members are
ignored.</li>
</ul>
<h2 id="formats">Formats</h2>
<div class="table" tabindex="0" role="region" aria-label="Table: Value, Format"><table>
<thead><tr><th scope="col">Value</th><th scope="col">Format</th></tr></thead>
<tbody>
<tr><th scope="row">Times</th><td>ISO 8601 in UTC, to the second:
<code>2026-11-21T09:30:00Z</code></td></tr>
<tr><th scope="row">Money</th><td>A JSON number with exact digits. Parse it as a decimal: a binary float would round
it.</td></tr>
<tr><th scope="row">Currencies</th><td>ISO 4217 codes</td></tr>
<tr><th scope="row">IDs</th><td>Integers from 1 to <code>9223372036854775807</code></td></tr>
<tr><th scope="row">Lists</th><td>A complete array, which may be empty</td></tr>
</tbody>
</table></div>
<h2 id="methods">Methods</h2>
<p>HEAD works wherever GET does. OPTIONS returns 204 with an <code>Allow</code> field. Any other method that a path does
not support gets a <strong>405</strong>, also with <code>Allow</code>; a method that does not exist gets a <strong>501</strong>.</p>
)html";

inline constexpr page_template authentication_page = R"html(<h1>Authentication</h1>
<p class="lead">Send credentials in one <code>Authorization</code> field.</p>
<div class="table" tabindex="0" role="region" aria-label="Table: Credentials, Access to, Sent as"><table>
<thead><tr><th scope="col">Credentials</th><th scope="col">Access to</th><th scope="col">Sent as</th></tr></thead>
<tbody>
<tr><th scope="row">Personal API token</th><td>Its owner's accounts</td><td>HTTP Basic: the token
username, and the token secret as the password</td></tr>
{{#if has_oauth}}
<tr><th scope="row">OAuth access token</th><td>The accounts of the user who authorized the application</td>
<td><code>Authorization: Bearer</code> and the token</td></tr>
{{/if}}
</tbody>
</table></div>
<p>Public endpoints work without credentials, within a <a href="{{root}}/rate-limits/">lower
limit</a>.</p>
<h2 id="personal-tokens">Personal API tokens</h2>
{{#if has_oauth}}
<p>Create one in your account's settings, under <a href="{{auth_url}}/en/user/settings/tokens/">Tokens</a>, with
the <a href="{{root}}/scopes/">scopes</a> that it needs.</p>
{{else}}
<p>The operator of this API issues them.</p>
{{/if}}
<p>A token has a username and a secret. The secret is shown once, when the token is created. Treat it like a
password: keep it out of source code and logs.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' -u "$TOKEN_USERNAME:$TOKEN_SECRET" {{first_own_url}}</code></pre>
{{#if has_oauth}}
<h2 id="access-tokens">OAuth access tokens</h2>
<p>An access token is valid for <code>expires_in</code> seconds, or until the user revokes access.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' -H "Authorization: Bearer $ACCESS_TOKEN" {{first_own_url}}</code></pre>
<p><a href="{{root}}/oauth/">OAuth</a> describes how to get one.</p>
{{/if}}
<h2 id="refusals">Failed authentication</h2>
<p>A request gets a <strong>401</strong> if it lacks required credentials, or if its credentials are invalid, even if
the endpoint requires none. The <code>WWW-Authenticate</code> fields name the schemes;
<code>error="invalid_token"</code> means that the credentials are unknown, revoked or expired.</p>
<ul>
<li>The scheme is not case-sensitive; the credentials are.</li>
<li>A personal token works with Basic only.</li>
<li>Two <code>Authorization</code> fields get a <strong>400</strong>. Credentials in the URL are ignored.</li>
</ul>
)html";

inline constexpr page_template scopes_page = R"html(<h1>Scopes</h1>
<p class="lead">Scopes limit what a token can do.</p>
<div class="table" tabindex="0" role="region" aria-label="Table: Scope, Grants"><table>
<thead><tr><th scope="col">Scope</th><th scope="col">Grants</th></tr></thead>
<tbody>
<tr><td><code>{{balance_scope}}</code></td><td>Reading the user&#39;s balance</td></tr>
{{#each services}}
<tr><td><code>{{read_scope}}</code></td><td>Reading the user&#39;s {{service}} accounts, and managing their webhooks</td></tr>
<tr><td><code>{{write_scope}}</code></td><td>Reading and changing the user&#39;s {{service}} accounts</td></tr>
{{#each own_scopes}}
<tr><td><code>{{scope}}</code></td><td>{{text}}</td></tr>
{{/each}}
{{/each}}
</tbody>
</table></div>
<p>A service's scope includes the other scopes of the service. No scope gives access to another service, and no other
scope includes <code>{{balance_scope}}</code>.</p>
<h2 id="needed">Required scopes</h2>
<div class="table" tabindex="0" role="region" aria-label="Table: Endpoint, Requires"><table>
<thead><tr><th scope="col">Endpoint</th><th scope="col">Requires</th></tr></thead>
<tbody>
{{#each routes}}
<tr><td><code>{{method}} {{path}}</code></td><td>{{>route_access}}</td></tr>
{{/each}}
</tbody>
</table></div>
<h2 id="refusals">Missing scopes</h2>
<p>The response is a <strong>403</strong>; its <code>WWW-Authenticate</code> field names the missing scope:
<code>error="insufficient_scope", scope="..."</code>. A 403 without that field is about the
<a href="{{root}}/requests/#user-agent">User-Agent</a>.</p>
)html";

inline constexpr page_template rate_limits_page = R"html(<h1>Rate limits</h1>
<p class="lead">Every response says how many requests are left.</p>
<div class="table" tabindex="0" role="region" aria-label="Table: Requests, Limit, Counted for"><table>
<thead><tr><th scope="col">Requests</th><th scope="col">Limit</th><th scope="col">Counted for</th></tr></thead>
<tbody>
<tr><th scope="row">With credentials</th><td>{{user_quota}}</td><td>The user, across all tokens</td></tr>
<tr><th scope="row">With no or invalid credentials</th><td>{{anonymous_quota}}</td><td>The client's address; for IPv6, its /64
network</td></tr>
</tbody>
</table></div>
<p>The operator can set a different limit for a user; the change takes effect immediately.</p>
<h2 id="windows">Windows</h2>
<p>A window begins with the first request. When it ends, the full limit is available again. Requests that exceed the
limit are not counted. All others are, including those that fail for another reason. Exceptions: CORS preflight requests, and
requests that are refused as invalid HTTP (malformed, headers too large, 417, 421).</p>
<h2 id="fields">Fields</h2>
<div class="table" tabindex="0" role="region" aria-label="Table: Field, Meaning"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Meaning</th></tr></thead>
<tbody>
<tr><td><code>X-RateLimit-Limit</code></td><td>Requests permitted in the window</td></tr>
<tr><td><code>X-RateLimit-Remaining</code></td><td>Requests left in it</td></tr>
<tr><td><code>X-RateLimit-Reset</code></td><td>When the window ends; sent only when no requests are left</td></tr>
<tr><td><code>Retry-After</code></td><td>Seconds to wait, with a 429</td></tr>
</tbody>
</table></div>
<h2 id="exceeded">Exceeded limits</h2>
<pre tabindex="0" role="group" aria-label="Example"><code>HTTP/1.1 429 Too Many Requests
X-RateLimit-Limit: {{anonymous_requests}}
X-RateLimit-Remaining: 0
X-RateLimit-Reset: 2026-11-21T10:00:00Z
Retry-After: 1740</code></pre>
<p>Wait until the window ends before you send another request.</p>
)html";

inline constexpr page_template errors_page = R"html(<h1>Errors</h1>
<p class="lead">Every response with a status of 400 or above has a JSON body.</p>
<pre tabindex="0" role="group" aria-label="Example"><code>&#123;
  "message": "Not Found",
  "documentation_url": "{{errors_url}}"
&#125;</code></pre>
<p>The message is for developers and may change; programs should use the status. The URL links to the page that explains the
error.</p>
<h2 id="statuses">Statuses</h2>
<div class="table" tabindex="0" role="region" aria-label="Table: Status, Meaning"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead>
<tbody>
<tr id="status-400"><th scope="row">400 Bad Request</th><td>Malformed HTTP or JSON, or two Authorization fields. Fix the request before you send it again.</td></tr>
<tr id="status-401"><th scope="row">401 Unauthorized</th><td>Credentials are missing or invalid.</td></tr>
<tr id="status-403"><th scope="row">403 Forbidden</th><td>The User-Agent is missing, or the token lacks a scope; see WWW-Authenticate.</td></tr>
<tr id="status-404"><th scope="row">404 Not Found</th><td>The resource does not exist, or belongs to another user.</td></tr>
<tr id="status-405"><th scope="row">405 Method Not Allowed</th><td>The path does not support this method; see Allow.</td></tr>
<tr id="status-408"><th scope="row">408 Request Timeout</th><td>The request did not arrive in time.</td></tr>
<tr id="status-413"><th scope="row">413 Content Too Large</th><td>The body is too large.</td></tr>
<tr id="status-414"><th scope="row">414 URI Too Long</th><td>The URL is too long.</td></tr>
<tr id="status-415"><th scope="row">415 Unsupported Media Type</th><td>The body is not application/json, or has a Content-Encoding.</td></tr>
<tr id="status-417"><th scope="row">417 Expectation Failed</th><td>The Expect field asks for something other than 100-continue.</td></tr>
<tr id="status-421"><th scope="row">421 Misdirected Request</th><td>The Host field names another server.</td></tr>
<tr id="status-422"><th scope="row">422 Unprocessable Content</th><td>A member of the body is missing or invalid; the message names it.</td></tr>
<tr id="status-429"><th scope="row">429 Too Many Requests</th><td>The rate limit is exceeded; wait for the number of seconds in Retry-After.</td></tr>
<tr id="status-431"><th scope="row">431 Request Header Fields Too Large</th><td>There are too many header fields, or they are too long.</td></tr>
<tr id="status-500"><th scope="row">500 Internal Server Error</th><td>A server error. The request may or may not have taken effect.</td></tr>
<tr id="status-501"><th scope="row">501 Not Implemented</th><td>The request method is unknown.</td></tr>
<tr id="status-503"><th scope="row">503 Service Unavailable</th><td>Temporarily overloaded or unavailable; try again after the time in Retry-After.</td></tr>
</tbody>
</table></div>
)html";

inline constexpr page_template webhooks_page = R"html(<h1>Webhooks</h1>
<p class="lead">A webhook sends one type of an account's events to your URL.</p>
<h2 id="events">Events</h2>
<div class="table" tabindex="0" role="region" aria-label="Table: Service, Events"><table>
<thead><tr><th scope="col">Service</th><th scope="col">Events</th></tr></thead>
<tbody>
{{#each services}}
<tr><th scope="row">{{service}}</th><td>{{#each events}}<code>{{event}}</code> {{/each}}</td></tr>
{{/each}}
</tbody>
</table></div>
<h2 id="requests">Requests</h2>
{{#each hook_routes}}
<p>{{summary}}</p>
{{>route_example}}
{{/each}}
<h2 id="secret">The secret</h2>
<p>The response that creates a webhook contains the signing secret in <code>X-Hook-Secret</code>. Store it: it is not shown
again.</p>
<h2 id="rules">Rules</h2>
<ul>
<li>An account has at most {{hooks_per_event_max}} webhooks for one event. Several webhooks may use the same event and URL.</li>
<li>The URL is an absolute http or https URL of at most {{target_url_bytes_max}} bytes, without a username, password or fragment.</li>
<li>Addresses in private networks are refused, unless the operator allows them.</li>
<li>The URL is listed exactly as it was sent.</li>
<li><code>source</code> is <code>api</code> for a webhook created through the API, and <code>manual</code> for one created
on the settings page.</li>
</ul>
<h2 id="deliveries">Deliveries</h2>
<p>Each delivery is a POST with a JSON body, signed as specified by
<a href="https://www.standardwebhooks.com">Standard Webhooks</a>. Any Standard Webhooks library can verify it:</p>
<pre tabindex="0" role="group" aria-label="Example"><code>webhook-id: msg_...
webhook-timestamp: 1700000000
webhook-signature: v1,...

{"type": "...", "timestamp": "2023-11-14T22:13:20Z", "service": "...", "account": 1, "data": ...}</code></pre>
<ul>
<li>The signature is the HMAC-SHA256 of <code>id.timestamp.body</code>, in base64. The key is the part of the secret after
<code>whsec_</code>, decoded from base64. For {{secret_overlap}} after a secret is replaced, the field has several signatures, separated by
spaces. Verify the raw bytes of the body.</li>
<li>Respond with a 2xx, by default within {{attempt_timeout}}. A redirect counts as a failure.</li>
<li>A failed delivery is retried, by default for more than a day. <code>Retry-After</code> is honored within limits. A 410, or by
default {{disabled_after}} without a success, disables the webhook until its owner enables it again.</li>
<li>A delivery may arrive more than once, with the same <code>webhook-id</code>.</li>
</ul>
)html";

inline constexpr page_template endpoints_page = R"html(<h1>Endpoints</h1>
<p class="lead">All paths are below <code>{{base_url}}</code>.</p>
<div class="table" tabindex="0" role="region" aria-label="Table: Endpoint, Description"><table>
<thead><tr><th scope="col">Endpoint</th><th scope="col">Description</th></tr></thead>
<tbody>
{{#each routes}}
<tr><td><a href="#{{anchor}}"><code>{{method}} {{path}}</code></a></td><td>{{summary}}</td></tr>
{{/each}}
</tbody>
</table></div>
{{#each routes}}
<section class="operation">
<h2 id="{{anchor}}"><span class="method {{method_class}}">{{method}}</span> <code>{{path}}</code></h2>
<p>{{summary}}</p>
<dl class="facts"><dt>Requires</dt><dd>{{>route_access}}</dd><dt>Returns</dt><dd>{{status}} {{reason}}{{#if success_field}}, with <code>{{success_field}}</code>{{/if}}</dd></dl>
{{#if path_parameters}}
<div class="table" tabindex="0" role="region" aria-label="Table: Path parameter, Value"><table>
<thead><tr><th scope="col">Path parameter</th><th scope="col">Value</th></tr></thead>
<tbody>
{{#each path_parameters}}
<tr><td><code>{{name}}</code></td><td>{{>parameter_value}}</td></tr>
{{/each}}
</tbody>
</table></div>
{{/if}}
{{#if query_parameters}}
<div class="table" tabindex="0" role="region" aria-label="Table: Query parameter, optional, Value"><table>
<thead><tr><th scope="col">Query parameter, optional</th><th scope="col">Value</th></tr></thead>
<tbody>
{{#each query_parameters}}
<tr><td><code>{{name}}</code></td><td>{{>parameter_value}}</td></tr>
{{/each}}
</tbody>
</table></div>
{{/if}}
{{>route_example}}
</section>
{{/each}}
)html";

}  // namespace tollgate::manual

#endif  // TOLLGATE_MANUAL_DETAIL_API_HTML_IPP
