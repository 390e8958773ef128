"""Clients of every kind that record what was acknowledged to them while nodes are killed."""

import collections
import json
import random
import subprocess
import threading
import time

from harness import run_command

PATIENCE_SECONDS = 30  # of a client who asks again: a node that comes back, and a machine that is busy


class Client:
    """A client that keeps its connection, and opens a new one when it breaks."""

    def __init__(self, entry):
        self.entry = entry
        self.connection = None

    def ask(self, method, path, fields=(), body=None):
        """The response; None if none arrived, so that it is unknown whether the request was executed."""
        try:
            if self.connection is None:
                self.connection = self.entry.connect()
            answer = self.connection.ask(method, path, fields, body)
        except OSError:
            answer = None
        if answer is None or (answer.get("Connection") or "").lower() == "close":
            self.close()
        return answer

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Storm:
    """`entry`: what clients connect to. `seen` counts responses by kind of client and status; `faults` are violations."""

    def __init__(self, entry):
        self.entry = entry
        self.over = threading.Event()
        self.threads = []
        self.lock = threading.Lock()
        self.seen = collections.Counter()
        self.faults = []

    def begin(self, clients):
        self.threads = [threading.Thread(target=self._run, args=(each,), daemon=True) for each in clients]
        for each in self.threads:
            each.start()

    def end(self):
        self.over.set()
        for each in self.threads:
            each.join(2 * PATIENCE_SECONDS)
            if each.is_alive():
                self.faults.append("a client waits without end")

    def _run(self, client):
        try:
            client.begin(self)
            while not self.over.is_set():
                client.step(self)
        except Exception as why:  # nobody joins it with open eyes
            self.faults.append(f"{client}: {why!r}")
        finally:
            client.end()

    def count(self, kind, answer):
        with self.lock:
            self.seen[kind, answer.status if answer else "no answer"] += 1

    def summary(self):
        kinds = collections.defaultdict(dict)
        for (kind, status), times in sorted(self.seen.items(), key=str):
            kinds[kind][status] = times
        return "; ".join(f"{kind}: " + ", ".join(f"{times}x {status}" for status, times in told.items())
                         for kind, told in kinds.items())


class Caller:
    """What clients of the API have in common."""

    def begin(self, storm):
        self.client = Client(storm.entry)

    def end(self):
        self.client.close()


class Reader(Caller):
    """Reads, and repeats failed requests, since reading changes nothing."""

    def __init__(self, token, paths):
        self.fields = {"Authorization": token}
        self.paths = paths
        self.turn = 0

    def step(self, storm):
        path = self.paths[self.turn % len(self.paths)]
        self.turn += 1
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.client.ask("GET", path, self.fields)
            storm.count("read", answer)
            if answer is not None and answer.status == 200:
                return
            if answer is not None and answer.status not in (502, 503, 504):
                storm.faults.append(f"{path} answered {answer}")
                return
            if time.monotonic() > deadline:
                storm.faults.append(f"{path} is not answered: {answer}")
                return
            time.sleep(0.05)


class Hooker(Caller):
    """Creates webhooks and deletes them. Acknowledged changes must be found at the end."""

    KEPT = 10  # of 20 that an account may have for an event

    def __init__(self, token, account):
        self.fields = {"Authorization": token}
        self.account = account
        self.made = 0
        self.here = {}  # id -> URL, as acknowledged
        self.gone = set()  # ids, as acknowledged
        self.unknown = set()  # ids that were deleted, or not

    def list(self, client):
        answer = client.ask("GET", f"/v1/sitesmaker/{self.account}/hooks", self.fields)
        return {each["id"]: each["url"] for each in answer.json()} if answer and answer.status == 200 else None

    def step(self, storm):
        self.made += 1
        url = f"https://hooks.example.com/{self.account}/{self.made}"
        answer = self.client.ask("POST", f"/v1/sitesmaker/{self.account}/hooks", self.fields,
                                 {"event": "site.deleted", "target_url": url})
        storm.count("hook made", answer)
        if answer is not None and answer.status == 201:
            self.here[answer.json()["id"]] = url
        elif answer is not None and answer.status == 422:  # those of which nobody knew whether they were made
            for left in set(self.list(self.client) or ()) - set(self.here) - self.unknown:
                self.client.ask("DELETE", f"/v1/sitesmaker/hooks/{left}", self.fields)
            for left in list(self.unknown):
                self.client.ask("DELETE", f"/v1/sitesmaker/hooks/{left}", self.fields)
        elif answer is not None and answer.status not in (502, 503, 504):
            storm.faults.append(f"a hook was answered with {answer}")
        else:
            time.sleep(0.05)
        if len(self.here) > self.KEPT:
            oldest = next(iter(self.here))
            del self.here[oldest]
            answer = self.client.ask("DELETE", f"/v1/sitesmaker/hooks/{oldest}", self.fields)
            storm.count("hook deleted", answer)
            if answer is not None and answer.status == 204:
                self.gone.add(oldest)
            elif answer is None or answer.status in (502, 503, 504):
                self.unknown.add(oldest)
            else:
                storm.faults.append(f"the deletion of a hook was answered with {answer}")

    def verify(self, client):
        there = self.list(client)
        if there is None:
            return [f"the hooks of account {self.account} are not listed"]
        lost = [each for each, url in self.here.items() if there.get(each) != url]
        back = [each for each in self.gone if each in there]
        return [f"hooks were lost: {lost}"] * bool(lost) + [f"deleted hooks are there: {back}"] * bool(back)


class Refresher(Caller):
    """Refreshes access tokens. Each one that it received must work."""

    def __init__(self, application, refresh_token):
        self.body = json.dumps({"grant_type": "refresh_token", "refresh_token": refresh_token,
                                "client_id": application.id, "client_secret": application.secret}).encode()
        self.given = []

    def step(self, storm):
        answer = self.client.ask("POST", "/user/oauth_token/", {"Content-Type": "application/json"}, self.body)
        storm.count("token", answer)
        if answer is not None and answer.status == 200:
            self.given.append(answer.json()["access_token"])
        elif answer is not None and answer.status not in (502, 503, 504):
            storm.faults.append(f"a refresh was answered with {answer}")
        time.sleep(0.05)

    def verify(self, client):
        kept = self.given[-500:]  # of the thousand of one user and application the oldest go, unheard-of ones count
        dead = [each for each in kept
                if client.ask("GET", "/v1/user/balance", {"Authorization": f"Bearer {each}"}).status != 200]
        return [f"{len(dead)} of {len(kept)} tokens do not work"] * bool(dead)


class Reporter:
    """Reports events with the command. Acknowledged events must arrive."""

    def __init__(self, number, flags, account):
        self.number = number
        self.flags = flags
        self.account = account
        self.turn = 0
        self.kept = []

    def begin(self, storm):
        pass

    def end(self):
        pass

    def step(self, storm):
        self.turn += 1
        name = f"{self.number}.{self.turn}"
        try:
            done = run_command("event", "emit", *self.flags, "--service", "sitesmaker", "--account", self.account,
                               "--event", "site.published", "--data", json.dumps({"name": name}))
        except subprocess.TimeoutExpired:
            storm.faults.append(f"event {name} is not taken")
            return
        with storm.lock:
            storm.seen["event", "kept" if done.returncode == 0 else "refused"] += 1
        if done.returncode == 0:
            self.kept.append(name)
        time.sleep(0.02)


class Arrivals:
    """What a receiver's `play` sees: which event arrived at which hook, with which webhook-id, and how many at once."""

    def __init__(self):
        self.lock = threading.Lock()
        self.under_way = collections.Counter()
        self.ids = collections.defaultdict(collections.Counter)  # (event, path) -> webhook-id -> times
        self.overlaps = []

    def play(self, request, to):
        with self.lock:
            self.under_way[request.id] += 1
            if self.under_way[request.id] > 1:
                self.overlaps.append(request.id)
        time.sleep(0.1 * random.random())  # so that many are under way when a node dies
        name = json.loads(request.body)["data"]["name"]
        path = request.line.split()[1]
        with self.lock:
            self.ids[name, path][request.id] += 1
            self.under_way[request.id] -= 1
        to.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    def missing(self, names, paths):
        with self.lock:
            return [(name, path) for name in names for path in paths if (name, path) not in self.ids]

    def faults(self):
        with self.lock:
            several = [key for key, ids in self.ids.items() if len(ids) > 1]
            belong = collections.Counter(each for ids in self.ids.values() for each in ids)
            shared = [each for each, times in belong.items() if times > 1]
            return [f"{len(found)} {what}: {found[:3]}" for what, found in (
                ("webhook-ids came twice at the same time", self.overlaps),
                ("deliveries came under several webhook-ids", several),
                ("webhook-ids belong to several deliveries", shared)) if found]

    def summary(self):
        with self.lock:
            times = [count for ids in self.ids.values() for count in ids.values()]
            return f"{len(times)} deliveries, {sum(times) - len(times)} of them again"
