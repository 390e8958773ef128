#!/usr/bin/env python3
"""contract.md, items 40 to 44, as the owner of a webhook sees them: what became of each delivery, sending one again, and
enabling what was disabled."""

import time
import urllib.parse

from harness import DEADLINE_SECONDS, Case, Server, main, run_command
from receiver import Receiver
from visitor import signed_in

WEBHOOKS = "/en/user/settings/webhooks/"
HOSTILE = b"<script>alert(1)</script>\x1b[31m\xff"


class Answers:
    """A receiver that answers with what it is told to, and 200 otherwise."""

    def __init__(self):
        self.status, self.body = 200, b"ok"

    def __call__(self, request, to):
        to.sendall(b"HTTP/1.1 %d Status\r\nContent-Length: %d\r\n\r\n%s" % (self.status, len(self.body), self.body))


class Deliveries(Case):
    def setUp(self):
        self.answers = Answers()
        self.receiver = self.enterContext(Receiver(self.answers))
        # One retry, and nobody waits for it: what is sent before is sent by hand.
        self.server = self.enterContext(Server("--demo", "--allow-private-targets", "--webhook-retry", "1h"))
        self.visitor = signed_in(self.server)
        page = self.visitor.get(WEBHOOKS)
        made = self.visitor.submit(page.form_with("target_url"), {
            "account": f"sitesmaker/{self.server.demo['sitesmaker_account']}", "event": "site.published",
            "target_url": self.receiver.url("/in?a=b&c")})
        self.assertEqual(200, made.status, made)

    def enterContext(self, context):  # unittest has it from Python 3.11 on
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def emit(self, event="site.published"):
        done = run_command("event", "emit", "--service", "sitesmaker", "--account",
                           self.server.demo["sitesmaker_account"], "--event", event, "--data", "{}",
                           *self.server.store_flags)
        self.assertEqual(0, done.returncode, done)
        return done.stdout

    def place(self):
        """Where the list leads for the hook's deliveries."""
        page = self.visitor.get(WEBHOOKS)
        link, = [each for each in page.all("a") if each.text.startswith("Deliveries")]
        return urllib.parse.urljoin(page.url, link.get("href"))

    def wait_for(self, text):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            page = self.visitor.get(self.place())
            if text in page.text or time.monotonic() > deadline:
                self.assertIn(text, page.text)
                return page
            time.sleep(0.05)

    def test_a_failed_delivery_is_looked_at_and_sent_again(self):
        self.assertIn("No deliveries yet", self.visitor.get(self.place()).text)
        self.answers.status, self.answers.body = 500, HOSTILE
        self.emit()
        page = self.wait_for("HTTP status 500")
        self.assertIn("Failing", page.text)
        self.assertIn("<script>alert(1)</script>\\x1b[31m", page.text)
        self.assertNotIn("<script", page.body)
        self.assertNotIn("\x1b", page.body)
        self.assertRegex(page.text, r"\d ms")
        self.assertEqual(404, signed_out_status(self, page.url))

        self.answers.status, self.answers.body = 204, b""
        sent = self.visitor.submit(page.form_with("delivery", action="send_again"), {})
        self.assertIn("queued again", sent.text)
        done = self.wait_for("HTTP status 204")
        self.assertIn("Delivered", done.text)
        self.assertIn("Active", done.text)
        self.assertIn("HTTP status 500", done.text, "the history stays")
        first, second = self.receiver.wait(2)
        self.assertEqual(first.id, second.id, "a delivery sent again is the same one")
        self.assertIn(first.id, done.text)

    def test_a_receiver_that_is_gone_is_left_alone_until_it_is_enabled_again(self):
        self.answers.status = 410
        self.emit()
        page = self.wait_for("Disabled")
        self.assertIn("the URL responded with status 410", page.text)
        self.assertFalse([each for each in page.forms if each.named("delivery")], "nothing to send while it is disabled")
        self.assertIn('"deliveries": 0', self.emit())
        self.assertIn("Enable webhook", self.visitor.get(WEBHOOKS).text)

        self.answers.status = 200
        enabled = self.visitor.submit(page.form_with("hook", action="enable"), {})
        self.assertIn("The webhook was enabled.", enabled.text)
        self.assertIn("Active", enabled.text)
        self.assertIn('"deliveries": 1', self.emit())
        self.wait_for("Delivered")
        self.assertEqual(2, len(self.receiver.seen))

    def test_a_page_that_is_out_of_date_is_told_why_nothing_was_sent(self):
        self.emit()
        page = self.wait_for("Delivered")
        self.answers.status = 410
        self.emit()
        self.wait_for("Disabled")
        refused = self.visitor.submit(page.form_with("delivery", action="send_again"), {})
        self.assertEqual(409, refused.status)
        self.assertIn("Enable it first", refused.text)
        self.assertTrue(refused.title.startswith("Error: "), refused.title)


def signed_out_status(case, url):
    """What somebody else gets who is signed in."""
    case.server.add_user("somebody-else")
    return signed_in(case.server, "somebody-else", "a password").get(url).status


if __name__ == "__main__":
    main()
