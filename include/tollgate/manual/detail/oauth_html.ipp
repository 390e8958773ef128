#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_OAUTH_HTML_IPP
#define TOLLGATE_MANUAL_DETAIL_OAUTH_HTML_IPP

#include <tollgate/manual/detail/template.hpp>

// The HTML of the page on OAuth. `page_template` describes the tags; pages.ipp sets their values.
namespace tollgate::inline v0::manual {

/// The page to which every error of the authorization server leads: what an application does from its registration on.
inline constexpr page_template oauth_page = R"html(<h1>OAuth 2.0</h1>
<p class="lead">Applications use the authorization code grant of RFC 6749 to access users' accounts without seeing their
passwords.</p>
<dl class="facts">
<dt>Authorization page</dt><dd><code>{{auth_url}}/en/user/oauth/</code></dd>
<dt>Token endpoint</dt><dd><code>{{auth_url}}/user/oauth_token/</code></dd>
<dt>Revocation</dt><dd><code>{{auth_url}}/user/oauth_revoke/</code></dd>
<dt>Introspection</dt><dd><code>{{auth_url}}/user/oauth_introspect/</code></dd>
<dt>Device authorization</dt><dd><code>{{auth_url}}/user/oauth_device/</code></dd>
<dt>Metadata</dt><dd><a href="{{auth_url}}/.well-known/oauth-authorization-server">RFC 8414</a></dd>
</dl>
<h2 id="register">Register the application</h2>
<p>Go to your account's settings, under <a href="{{auth_url}}/en/user/settings/applications/">Applications</a>. A name and a website are
required; redirect URLs are recommended. You get a client ID and a client secret. The secret is shown once; keep it on a
server, never in a program that you distribute: such a program is a <a href="#public">public client</a>. After you create a new
secret, the old one stays valid until you remove it.</p>
{{#if registers_applications}}
<p>A program may also register itself (RFC 7591): send <code>client_name</code>, <code>redirect_uris</code> and
<code>token_endpoint_auth_method</code> as a JSON object to <code>{{auth_url}}/user/oauth_register/</code>. It must use
<a href="#pkce">PKCE</a>, and its users are asked each time.</p>
{{/if}}
{{#if reads_client_documents}}
<p>Or it needs no registration: its <code>client_id</code> is the https URL of a JSON document with the same members and
<code>client_id</code> (a client ID metadata document). The same rules apply.</p>
{{/if}}
<h2 id="authorization">1. Send the user's browser to the authorization page</h2>
<pre tabindex="0" role="group"
aria-label="Example"><code>{{auth_url}}/en/user/oauth/?client_id=$CLIENT_ID&amp;response_type=code&amp;scope={{balance_scope}}&amp;state=$STATE</code></pre>
<div class="table" tabindex="0" role="region" aria-label="Table: Parameter, Required, Value"><table>
<thead><tr><th scope="col">Parameter</th><th scope="col">Required</th><th scope="col">Value</th></tr></thead>
<tbody>
<tr><td><code>client_id</code></td><td>yes</td><td>The application's client ID</td></tr>
<tr><td><code>response_type</code></td><td>yes</td><td><code>code</code></td></tr>
<tr><td><code>scope</code></td><td>yes</td><td><a href="../scopes/">Scopes</a>, separated by commas or spaces</td></tr>
<tr><td><code>redirect_uri</code></td><td>no</td><td>A registered redirect URL, exactly as registered. Required unless exactly one
is registered. If none is registered, any URL with the website's scheme, host and port</td></tr>
<tr><td><code>state</code></td><td>no</td><td>A random string that you keep with the user's session</td></tr>
<tr><td><code>code_challenge</code></td><td>no</td><td><a href="#pkce">PKCE</a></td></tr>
<tr><td><code>code_challenge_method</code></td><td>no</td><td><code>S256</code>, with a challenge</td></tr>
<tr><td><code>resource</code></td><td>no</td><td>The URL of the API or of a part of it that the tokens are for (RFC 8707);
may be repeated. Other parts refuse these tokens</td></tr>
<tr><td><code>prompt</code></td><td>no</td><td>As in OpenID Connect: <code>login</code>, <code>consent</code> and
<code>select_account</code> ask a user who would not be asked otherwise; <code>none</code> never shows a page</td></tr>
<tr><td><code>login_hint</code></td><td>no</td><td>A username to begin with, if the user has to sign in</td></tr>
</tbody>
</table></div>
<p>For a registered redirect to <code>http://127.0.0.1</code> or <code>http://[::1]</code>, any port is
accepted, so that a program can listen on any free port.</p>
<p>The user signs in, reviews the request, and allows or denies it. A user who has already granted all of these scopes to
the application is not asked again, unless it is a <a href="#public">public client</a>.</p>
{{#each one_page_services}}
<p>For users of {{service}}, <code>{{auth_url}}/en/{{service}}/oauth/</code> takes the same parameters, combines sign-in and consent
on one page, and asks the user each time.</p>
{{/each}}
<h2 id="answer">2. Read the response</h2>
<p>The browser returns to the redirect URL with these query parameters:</p>
<div class="table" tabindex="0" role="region" aria-label="Table: Parameter, Value"><table>
<thead><tr><th scope="col">Parameter</th><th scope="col">Value</th></tr></thead>
<tbody>
<tr><td><code>code</code></td><td>Sent if the user allowed access; valid once, for {{code_lifetime}}</td></tr>
<tr><td><code>error</code>, <code>error_description</code></td><td>Sent instead of a code; see <a
href="#errors">Errors</a></td></tr>
<tr><td><code>state</code></td><td>As you sent it. If it differs from the one that you stored, stop: the response is not for your
request</td></tr>
<tr><td><code>iss</code></td><td><code>{{auth_url}}</code>. Check it if your application uses several servers (RFC 9207)</td></tr>
</tbody>
</table></div>
<p>For an unknown <code>client_id</code> or an unregistered <code>redirect_uri</code>, the user sees an error
page and is not redirected.</p>
<h2 id="exchange">3. Exchange the code</h2>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' {{auth_url}}/user/oauth_token/ \
  -d client_id="$CLIENT_ID" -d client_secret="$CLIENT_SECRET" \
  -d grant_type=authorization_code -d code="$CODE"</code></pre>
<pre class="answer" tabindex="0" role="group"
aria-label="Response"><code>&#123;"access_token": "tga_...", "expires_in": {{access_token_seconds}}, "token_type": "bearer",
 "scope": "{{balance_scope}}", "refresh_token": "tgr_..."&#125;</code></pre>
<p>Send the parameters as a form or as a JSON object, and the client credentials in the same body or with HTTP Basic.
<code>redirect_uri</code> is optional if the application has exactly one registered redirect URL, and required otherwise. If sent,
it must be the URL to which the browser returned.
<code>state</code> is ignored here.</p>
<p>A wrong client secret leaves the code valid. If a code is exchanged twice, the tokens that were issued for it are
revoked.</p>
<p>Use the access token as described in <a href="../authentication/#access-tokens">Authentication</a>.</p>
<h2 id="refresh">4. Get another access token</h2>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' {{auth_url}}/user/oauth_token/ \
  -d client_id="$CLIENT_ID" -d client_secret="$CLIENT_SECRET" \
  -d grant_type=refresh_token -d refresh_token="$REFRESH_TOKEN"</code></pre>
<p>Add <code>scope</code> to get a token with fewer scopes.</p>
{{#if rotates_all_refresh_tokens}}
<p>The response has a new refresh token, which replaces the old one.</p>
{{else}}
<p>The response has no <code>refresh_token</code>: the old one stays valid. Only a <a href="#public">public
client</a> gets a new one, which replaces the old one.</p>
{{/if}}
<p>A refresh token that was replaced returns the same new one for another {{rotation_grace}}, in case a response was lost. If it is
used after that, it may have been stolen, so everything that the user granted to the application is revoked.</p>
<h2 id="lifetimes">Lifetimes</h2>
<div class="table" tabindex="0" role="region" aria-label="Table: Credential, Valid for"><table>
<thead><tr><th scope="col">Credential</th><th scope="col">Valid for</th></tr></thead>
<tbody>
<tr><th scope="row">Code</th><td>{{code_lifetime}}, once</td></tr>
<tr><th scope="row">Access token</th><td>{{access_token_lifetime}}; see <code>expires_in</code></td></tr>
<tr><th scope="row">Refresh token</th><td>{{refresh_token_lifetime}} since its last use, at most {{refresh_token_end}}</td></tr>
</tbody>
</table></div>
<p>All of them become invalid immediately when the user revokes access or the application is deleted.</p>
<h2 id="public">Public clients</h2>
<p>Mobile, desktop, command-line and single-page applications cannot keep a secret. Register them as public clients: they send
their <code>client_id</code> alone, must use <a href="#pkce">PKCE</a>, and must register every redirect URL; schemes such as
<code>com.example.app:/back</code> are allowed. Without a redirect URL, they can only use the device flow below. Users are asked
each time.</p>
<h2 id="devices">Devices</h2>
<p>A device without a browser requests a code (RFC 8628), shows it to its user, and polls the token endpoint:</p>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' {{auth_url}}/user/oauth_device/ -d client_id="$CLIENT_ID" -d scope={{balance_scope}}
curl -w '\n' {{auth_url}}/user/oauth_token/ -d client_id="$CLIENT_ID" -d device_code="$DEVICE_CODE" \
  -d grant_type=urn:ietf:params:oauth:grant-type:device_code</code></pre>
<p>The user types the code at <code>{{auth_url}}/en/user/device/</code>. Codes are valid for {{device_code_lifetime}}. Poll every {{device_poll_interval}}; after
each <code>slow_down</code>, add 5 seconds to the interval.</p>
<h2 id="client-credentials">Access to your own account</h2>
<p>If you allow it on the application's edit page, the application gets tokens for your own accounts with
<code>grant_type=client_credentials</code> and a <code>scope</code>, without a consent page.</p>
<h2 id="introspection">Introspection</h2>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' {{auth_url}}/user/oauth_introspect/ \
  -d client_id="$CLIENT_ID" -d client_secret="$CLIENT_SECRET" -d token="$TOKEN"</code></pre>
<p>Returns what a token of the application grants (RFC 7662), or <code>&#123;"active": false&#125;</code>. The operator's
resource servers may ask about every access token.</p>
<h2 id="pkce">PKCE</h2>
<p>Send the base64url-encoded SHA-256 hash of a random string as <code>code_challenge</code> in the authorization request, and the
string itself as <code>code_verifier</code> in the exchange (RFC 7636). If the request had a challenge, the exchange requires the
verifier; if it had none, the exchange must not have one.</p>
<h2 id="revocation">Revocation</h2>
<pre tabindex="0" role="group" aria-label="Example"><code>curl -w '\n' {{auth_url}}/user/oauth_revoke/ \
  -d client_id="$CLIENT_ID" -d client_secret="$CLIENT_SECRET" -d token="$REFRESH_TOKEN"</code></pre>
<p>Revokes a token of the application (RFC 7009). Revoking a refresh token also revokes the access tokens issued with it.
The response is 200 and <code>&#123;&#125;</code> whether or not the token existed.</p>
<h2 id="errors">Errors</h2>
<p>Errors of the token endpoint have the members of RFC 6749 and those of every <a href="../errors/">Error object</a>:</p>
<pre class="answer" tabindex="0" role="group" aria-label="Response"><code>&#123;"error": "invalid_grant", "error_description": "...",
 "message": "...", "documentation_url": "..."&#125;</code></pre>
<div class="table" tabindex="0" role="region" aria-label="Table: error, Sent as, Meaning"><table>
<thead><tr><th scope="col">error</th><th scope="col">Sent as</th><th scope="col">Meaning</th></tr></thead>
<tbody>
<tr id="error-invalid_request"><td><code>invalid_request</code></td><td>both</td><td>A parameter is missing, repeated or invalid; the description names it.</td></tr>
<tr id="error-invalid_scope"><td><code>invalid_scope</code></td><td>both</td><td>An unknown scope or, on a refresh, a scope that was not granted.</td></tr>
<tr id="error-invalid_target"><td><code>invalid_target</code></td><td>both</td><td>resource is not one of this API, or, at the token endpoint, not one that the authorization request named.</td></tr>
<tr id="error-access_denied"><td><code>access_denied</code></td><td>redirect</td><td>The user denied access.</td></tr>
<tr id="error-login_required"><td><code>login_required</code></td><td>redirect</td><td>With prompt=none: the user is not signed in.</td></tr>
<tr id="error-consent_required"><td><code>consent_required</code></td><td>redirect</td><td>With prompt=none: the user would have to be asked for consent.</td></tr>
<tr id="error-unsupported_response_type"><td><code>unsupported_response_type</code></td><td>redirect</td><td>Only code is supported.</td></tr>
<tr id="error-invalid_client"><td><code>invalid_client</code></td><td>401 or 429</td><td>No application has this client_id and client_secret; 429 after too many attempts.</td></tr>
<tr id="error-invalid_grant"><td><code>invalid_grant</code></td><td>400</td><td>The code or refresh token is unknown, expired, used, revoked or another application&#39;s, or redirect_uri or code_verifier is wrong. Send the user to the authorization page again.</td></tr>
<tr id="error-authorization_pending"><td><code>authorization_pending</code></td><td>400</td><td>The user has not answered yet. Poll again after the interval.</td></tr>
<tr id="error-slow_down"><td><code>slow_down</code></td><td>400</td><td>The device polls too often.</td></tr>
<tr id="error-expired_token"><td><code>expired_token</code></td><td>400</td><td>The device code has expired. Request a new one.</td></tr>
<tr id="error-unauthorized_client"><td><code>unauthorized_client</code></td><td>400</td><td>The application may not use this grant_type.</td></tr>
<tr id="error-unsupported_grant_type"><td><code>unsupported_grant_type</code></td><td>400</td><td>grant_type is not one of those above.</td></tr>
<tr id="error-invalid_redirect_uri"><td><code>invalid_redirect_uri</code></td><td>400</td><td>At the registration endpoint: a redirect URL is missing or not allowed.</td></tr>
<tr id="error-invalid_client_metadata"><td><code>invalid_client_metadata</code></td><td>400</td><td>At the registration endpoint: the description names the member.</td></tr>
<tr id="error-temporarily_unavailable"><td><code>temporarily_unavailable</code></td><td>both, 429 or 503</td><td>Try again later, after Retry-After if it is sent.</td></tr>
<tr id="error-server_error"><td><code>server_error</code></td><td>both, 500</td><td>A server error.</td></tr>
</tbody>
</table></div>
<p>The token endpoint uses status <strong>400</strong> unless the table says otherwise.</p>
<h2 id="limits">Limits</h2>
<p>Code exchanges are not limited. An application that refreshes too often for one user gets a <strong>429</strong> with
<code>Retry-After</code>. Wrong client credentials count against the <a href="../rate-limits/">rate
limit</a> of the client's address. When it is exceeded, wrong credentials get a <strong>429</strong>, and valid ones still
work.</p>
)html";

}  // namespace tollgate::manual

#endif  // TOLLGATE_MANUAL_DETAIL_OAUTH_HTML_IPP
