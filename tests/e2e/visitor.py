"""A simple browser for tests of pages: forms, links and cookies, over harness.Server.

A test names the fields that a user fills in. Hidden fields are sent as they are.
"""

import html.parser
import urllib.parse


class Element:
    def __init__(self, name, attributes):
        self.name = name
        self.attributes = dict(attributes)
        self.text = ""

    def get(self, name, default=None):
        return self.attributes.get(name, default)


class Form(Element):
    def __init__(self, attributes):
        super().__init__("form", attributes)
        self.fields = []  # Elements: input, button, select, textarea, option
        self.url = None  # absolute

    @property
    def method(self):
        return (self.get("method") or "get").upper()

    def named(self, name):
        return [each for each in self.fields if each.get("name") == name]

    def value(self, name):
        return self.named(name)[0].get("value")

    def pairs(self, button=None):
        """What a browser sends for an unchanged form, as (name, value)."""
        sent = []
        for field in self.fields:
            name, kind = field.get("name"), (field.get("type") or "text").lower()
            if name is None or "disabled" in field.attributes:
                continue
            if field.name == "button" or kind in ("submit", "image"):
                if button is not None and (name, field.get("value")) == button:
                    sent.append((name, field.get("value") or ""))
            elif field.name == "option":
                if "selected" in field.attributes or field.first:
                    sent = [pair for pair in sent if pair[0] != name] + [(name, field.get("value", field.text.strip()))]
            elif kind in ("checkbox", "radio"):
                if "checked" in field.attributes:
                    sent.append((name, field.get("value", "on")))
            elif field.name == "textarea":
                sent.append((name, field.text))
            else:
                sent.append((name, field.get("value") or ""))
        return sent


class _Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.forms, self.elements, self.title, self.text = [], [], "", ""
        self._form = self._select = None
        self._open = []

    def handle_starttag(self, tag, attributes):
        element = Form(attributes) if tag == "form" else Element(tag, attributes)
        self.elements.append(element)
        if tag == "form":
            self._form = element
            self.forms.append(element)
        elif tag == "select":
            self._select = element
            self._select.first = True
        elif self._form is not None and tag in ("input", "button", "textarea"):
            self._form.fields.append(element)
        elif self._form is not None and tag == "option" and self._select is not None:
            element.attributes["name"] = self._select.get("name")
            element.first, self._select.first = self._select.first, False
            self._form.fields.append(element)
        if tag not in ("input", "meta", "link", "br", "img", "hr"):
            self._open.append(element)

    def handle_endtag(self, tag):
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = None
        while self._open and self._open.pop().name != tag:
            pass

    def handle_data(self, data):
        for element in self._open:
            element.text += data
        self.text += data
        if self._open and self._open[-1].name == "title":
            self.title += data


class Page:
    """One response and its contents."""

    def __init__(self, url, response):
        self.url = url
        self.response = response
        self.status = response.status
        self.location = response.get("Location")
        self.body = response.body.decode("utf-8")
        reader = _Reader()
        if (response.get("Content-Type") or "").startswith("text/html"):
            reader.feed(self.body)
            reader.close()
        self.forms, self.elements, self.title = reader.forms, reader.elements, " ".join(reader.title.split())
        self.text = " ".join(reader.text.split())
        for form in self.forms:
            form.url = urllib.parse.urljoin(url, form.get("action") or url)

    def all(self, name, **attributes):
        return [each for each in self.elements
                if each.name == name and all(each.get(key) == value for key, value in attributes.items())]

    def form_with(self, *names, **values):
        """The form that has fields with all these names and values."""
        for form in self.forms:
            if all(form.named(name) for name in names) and \
                    all(any(each.get("value") == value for each in form.named(name)) for name, value in values.items()):
                return form
        raise AssertionError(f"no form with {names} {values} on {self.url}: {self.body}")

    def readonly_values(self):
        """The values that the page shows for copying."""
        return [each.text for each in self.elements if each.name == "textarea" and "readonly" in each.attributes]

    def __repr__(self):
        return f"<{self.status} {self.url} {self.response.fields} {self.body}>"


class Visitor:
    """One browser with its cookies. URLs may be paths. `follow`: whether to follow redirects within the site."""

    def __init__(self, server, **fields):
        self.server = server
        self.fields = fields  # sent with each request, such as a User-Agent
        self.cookies = {}
        self.site = server.ready["auth"]

    def request(self, method, url, body=None, fields=()):
        absolute = urllib.parse.urljoin(self.site + "/", url)
        parts = urllib.parse.urlsplit(absolute)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        sent = {"Host": parts.netloc, "User-Agent": "visitor", **self.fields}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        sent.update(dict(fields))
        response = self.server.request(method, path, sent, body)
        for line in response.all("Set-Cookie"):
            pair, *attributes = line.split("; ")
            name, _, value = pair.partition("=")
            if "Max-Age=0" in attributes:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return Page(absolute, response)

    def get(self, url, follow=True):
        page = self.request("GET", url)
        return self.follow(page) if follow else page

    def post(self, url, pairs, follow=True, fields=()):
        """Sends a form as a browser does, with Origin and Sec-Fetch-Site."""
        body = urllib.parse.urlencode(pairs).encode()
        origin_fields = {"Origin": self.site, "Sec-Fetch-Site": "same-origin", **dict(fields)}
        page = self.request("POST", url, body, origin_fields)
        return self.follow(page) if follow else page

    def submit(self, form, values=None, button=None, follow=True, fields=()):
        """Submits a form. `values`: the input of the user; a list ticks boxes. `button`: (name, value) of the pressed button."""
        values = dict(values or {})
        pairs = []
        for name, value in form.pairs(button):
            if name not in values:
                pairs.append((name, value))
        for name, value in values.items():
            assert form.named(name), f"no field {name} in {form.url}"
            pairs += [(name, each) for each in (value if isinstance(value, (list, tuple)) else [value])]
        return self.post(form.url, pairs, follow, fields)

    def follow(self, page):
        """Follows redirects within the site; others are returned."""
        for _ in range(10):
            if page.status != 303:
                return page
            target = urllib.parse.urljoin(page.url, page.location)
            if not target.startswith(self.site + "/"):
                return page
            page = self.request("GET", target)
        raise AssertionError(f"too many redirects at {page.url}")

    def sign_in(self, login, password, follow=True):
        page = self.get("/en/user/sign_in/")
        return self.submit(page.form_with("login", "password"), {"login": login, "password": password}, follow=follow)


def signed_in(server, login=None, password=None, **fields):
    """A visitor who is signed in, by default as the demo user."""
    visitor = Visitor(server, **fields)
    page = visitor.sign_in(login or server.demo["login"], password or server.demo["password"])
    assert page.status == 200 and visitor.cookies, page
    return visitor


def query_of(url):
    """The parameters of a URL, each of which occurs once."""
    pairs = urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, keep_blank_values=True, strict_parsing=True)
    assert len(pairs) == len({name for name, _ in pairs}), url
    return dict(pairs)
