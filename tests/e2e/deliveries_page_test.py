#!/usr/bin/env python3
"""contract.md, items 40 to 44, on the pages: the outcome of each delivery, sending one again, and enabling a disabled
webhook."""

import json
import time
import urllib.parse

from harness import DEADLINE_SECONDS, Case, Server, main
from receiver import Receiver
from visitor import signed_in

WEBHOOKS = "/en/user/settings/webhooks/"
HOSTILE = b"<script>alert(1)</script>\x1b[31m\xff"


class Responder:
    """Handles the requests of a receiver: responds with `status` and `body`, which tests change."""

    def __init__(self):
        self.status, self.body = 200, b"ok"

    def __call__(self, request, connection):
        connection.sendall(b"HTTP/1.1 %d Status\r\nContent-Length: %d\r\n\r\n%s" % (self.status, len(self.body), self.body))


class Deliveries(Case):
    def setUp(self):
        self.responder = Responder()
        self.receiver = self.enterContext(Receiver(self.responder))
        # The only retry is an hour away: tests start earlier attempts themselves.
        self.server = self.enterContext(Server("--demo", "--allow-private-targets", "--webhook-retry", "1h"))
        self.visitor = signed_in(self.server)
        page = self.visitor.get(WEBHOOKS + f"?account=sitesmaker/{self.server.demo['sitesmaker_account']}")
        created = self.visitor.submit(page.form_with("target_url"), {
            "event": "site.created",
            "target_url": self.receiver.url("/in?a=b&c")})
        self.assertEqual(200, created.status, created)

    def deliveries_url(self):
        """The URL of the hook's deliveries, from the list of webhooks."""
        page = self.visitor.get(WEBHOOKS)
        link, = [each for each in page.all("a") if each.text.startswith("Deliveries")]
        return urllib.parse.urljoin(page.url, link.get("href"))

    def wait_for(self, text):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            page = self.visitor.get(self.deliveries_url())
            seen = page.text.replace("All Delivered Failed Pending Held", "")  # the filter
            if text in seen or time.monotonic() > deadline:
                self.assertIn(text, seen)
                return page
            time.sleep(0.05)

    def test_a_failed_delivery_is_viewed_and_sent_again(self):
        self.assertIn("No deliveries yet", self.visitor.get(self.deliveries_url()).text)
        self.responder.status, self.responder.body = 500, HOSTILE
        self.server.emit()
        # A page reads the webhook, its deliveries and their attempts in separate queries.
        self.wait_for("HTTP status 500")
        page = self.wait_for("Failing")
        self.assertIn("<script>alert(1)</script>\\x1b[31m", page.text)
        self.assertNotIn("<script", page.body)
        self.assertNotIn("\x1b", page.body)
        self.assertRegex(page.text, r"\d ms")
        self.assertEqual(404, status_for_another_user(self, page.url))

        self.responder.status, self.responder.body = 204, b""
        sent = self.visitor.submit(page.form_with("delivery", action="send_again"), {})
        self.assertIn("queued again", sent.text)
        self.wait_for("HTTP status 204")
        result = self.wait_for("Active")
        self.assertIn("Delivered", result.text)
        self.assertIn("HTTP status 500", result.text, "the history stays")
        link, = [each for each in result.all("a") if each.text.startswith("Attempts")]
        url = urllib.parse.urljoin(result.url, link.get("href"))
        alone = self.visitor.get(url)
        for text in ("HTTP status 204", "HTTP status 500", "<script>alert(1)</script>\\x1b[31m", "Delivered"):
            self.assertIn(text, alone.text)
        self.assertEqual(404, signed_in(self.server, "other-user", "a password").get(url).status)
        first, second = self.receiver.wait(2)
        self.assertEqual(first.id, second.id, "a delivery sent again is the same one")
        self.assertIn(first.id, result.text)

    def test_a_webhook_disabled_by_410_sends_nothing_until_it_is_enabled(self):
        self.responder.status = 410
        self.server.emit()
        page = self.wait_for("Disabled")
        self.assertIn("the URL responded with status 410", page.text)
        self.assertFalse([each for each in page.forms if each.named("delivery")], "no delivery can be sent while the webhook is disabled")
        self.assertEqual(0, self.server.emit())
        self.assertIn("Enable webhook", self.visitor.get(WEBHOOKS).text)

        self.responder.status = 200
        enabled = self.visitor.submit(page.form_with("hook", action="enable"), {})
        self.assertIn("The webhook was enabled.", enabled.text)
        self.assertIn("Active", enabled.text)
        self.assertEqual(1, self.server.emit())
        self.wait_for("Delivered")
        self.assertEqual(2, len(self.receiver.requests))

    def test_an_outdated_page_explains_why_nothing_is_sent(self):
        self.server.emit()
        page = self.wait_for("Delivered")
        self.responder.status = 410
        self.server.emit()
        self.wait_for("Disabled")
        refused = self.visitor.submit(page.form_with("delivery", action="send_again"), {})
        self.assertEqual(409, refused.status)
        self.assertIn("Enable the webhook first", refused.text)
        self.assertTrue(refused.title.startswith("Error: "), refused.title)

    def test_a_test_event_shows_request_and_response(self):
        page = self.visitor.get(self.deliveries_url())
        sent = self.visitor.submit(page.form_with("hook", action="test"), {})
        self.assertIn("was queued", sent.text)
        page = self.wait_for("HTTP status 200")
        arrived, = self.receiver.wait(1)
        self.assertEqual("ping", json.loads(arrived.body)["type"])
        self.assertIn("POST /in?a=b&c HTTP/1.1", page.text)
        for text in (arrived.id, "webhook-signature: v1,", '"type":"ping"'):
            self.assertIn(text, page.text.replace('": ', '":'))

    def test_an_edited_webhook_sends_to_the_new_url(self):
        with Receiver(Responder()) as other:
            page = self.visitor.get(WEBHOOKS)
            link, = [each for each in page.all("a") if each.text.startswith("Edit")]
            page = self.visitor.get(urllib.parse.urljoin(page.url, link.get("href")))
            form = page.form_with("target_url", action="edit")
            self.assertEqual(422, self.visitor.submit(form, {"target_url": "nowhere"}).status)
            result = self.visitor.submit(form, {"target_url": other.url("/new"), "event": "site.deleted"})
            self.assertIn("The changes were saved.", result.text)
            self.assertEqual(0, self.server.emit())
            self.assertEqual(1, self.server.emit(event="site.deleted"))
            arrived, = other.wait(1)
            self.assertEqual("site.deleted", json.loads(arrived.body)["type"])
            self.assertEqual([], self.receiver.requests)

    def test_failed_deliveries_are_listed_and_sent_again(self):
        self.responder.status = 500
        for _ in range(3):
            self.server.emit()
        self.wait_for("HTTP status 500")
        self.receiver.wait(3)
        # A response is stored a moment after it arrives.
        self.eventually(lambda: self.visitor.get(self.deliveries_url() + "&state=pending").body.count('"state care">Pending') == 3)
        self.assertIn("There are no deliveries with this result.", self.visitor.get(self.deliveries_url() + "&state=failed").text)
        page = self.visitor.get(self.deliveries_url())
        self.assertRegex(page.text, "Pending .*Next attempt: ")
        result = self.visitor.submit(page.form_with("since", action="resend_failed"), {"since": "day"})
        self.assertIn("No failed deliveries are left from that time.", result.text)


def status_for_another_user(case, url):
    """The status of the response to another user, who is signed in."""
    case.server.add_user("other-user")
    return signed_in(case.server, "other-user", "a password").get(url).status


if __name__ == "__main__":
    main()
