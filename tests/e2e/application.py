"""An OAuth application that uses only Python's standard library, for tests of OAuth."""

import base64
import hashlib
import json
import secrets
import urllib.parse

from harness import basic
from visitor import query_of

AUTHORIZE = "/en/user/oauth/"
ITEMPLATFORM_AUTHORIZE = "/en/itemplatform/oauth/"
TOKEN = "/user/oauth_token/"
REVOKE = "/user/oauth_revoke/"
REDIRECT_URL = "https://app.example/back"
LOOPBACK = "http://127.0.0.1:49152/back"


def encode_form(pairs):
    """A form's body; `pairs` is a dict or a list of pairs."""
    return urllib.parse.urlencode(pairs).encode()


class Application:
    def __init__(self, server, owner, name="Acme", redirect_url=REDIRECT_URL):
        self.server = server
        flags = ["--redirect-url", redirect_url] if redirect_url else []
        created = server.run("app", "register", "--user", owner, "--name", name, "--website", "https://app.example", *flags)
        self.id, self.secret, self.name = created["client_id"], created["client_secret"], name

    def authorization_url(self, scope="user:balance", path=AUTHORIZE, **more):
        """The URL to which the application sends the browser. None omits a parameter."""
        parameters = {"client_id": self.id, "response_type": "code", "scope": scope, **more}
        return path + "?" + urllib.parse.urlencode({name: value for name, value in parameters.items() if value is not None})

    def consent_page(self, visitor, scope="user:balance", **more):
        """The page at the authorization URL."""
        return visitor.get(self.authorization_url(scope, **more))

    def decide(self, visitor, decision="allow", scope="user:balance", values=None, **more):
        """Presses a button of the consent page, and returns the URL of the redirect."""
        page = self.consent_page(visitor, scope, **more)
        form = page.form_with("decision")
        return visitor.submit(form, values, button=("decision", decision), follow=False).location

    def code(self, visitor, scope="user:balance", **more):
        """A code. Gives consent if the consent page is shown."""
        page = self.consent_page(visitor, scope, **more)
        if page.status == 200:
            page = visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False)
        return query_of(page.location)["code"]

    def post(self, path, sent, with_basic=False, fields=(), as_json=False, secret=None):
        fields = {"Content-Type": "application/json" if as_json else "application/x-www-form-urlencoded", **dict(fields)}
        if with_basic:
            fields["Authorization"] = basic(self.id, secret or self.secret)
        else:
            own = {"client_id": self.id, "client_secret": secret or self.secret}
            sent = {**own, **sent} if isinstance(sent, dict) else [*own.items(), *sent]
        body = json.dumps(sent).encode() if as_json else encode_form(sent)
        return self.server.request("POST", path, fields, body)

    def exchange(self, code, **more):
        options = {name: more.pop(name) for name in ("with_basic", "fields", "as_json", "secret") if name in more}
        return self.post(TOKEN, {"grant_type": "authorization_code", "code": code, **more}, **options)

    def refresh(self, token, **more):
        options = {name: more.pop(name) for name in ("with_basic", "fields", "as_json", "secret") if name in more}
        return self.post(TOKEN, {"grant_type": "refresh_token", "refresh_token": token, **more}, **options)

    def tokens(self, visitor, scope="user:balance", **more):
        """The token response, as an object."""
        response = self.exchange(self.code(visitor, scope, **more))
        assert response.status == 200, response
        return response.json()


class PublicClient(Application):
    """An application without a secret."""

    def __init__(self, server, owner, redirect_url="http://127.0.0.1/back"):
        flags = ["--redirect-url", redirect_url] if redirect_url else []
        created = server.run("app", "register", "--user", owner, "--name", "Pocket", "--website", "https://app.example",
                             "--public", *flags)
        assert list(created) == ["client_id"], created
        self.server, self.id, self.name = server, created["client_id"], "Pocket"
        self.verifier = secrets.token_urlsafe(32)
        digest = hashlib.sha256(self.verifier.encode()).digest()
        self.pkce = {"code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
                     "code_challenge_method": "S256"}

    def post(self, path, sent):
        return self.server.request("POST", path, {"Content-Type": "application/x-www-form-urlencoded"},
                                   encode_form({"client_id": self.id, **sent}))

    def tokens(self, visitor, scope="user:balance"):
        code = self.code(visitor, scope, redirect_uri=LOOPBACK, **self.pkce)
        return self.exchange(code, redirect_uri=LOOPBACK, code_verifier=self.verifier).json()


def call(server, access_token, path="/v1/user/balance"):
    return server.request("GET", path, token=f"Bearer {access_token}")
