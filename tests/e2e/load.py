"""Clients of several kinds for tests that kill nodes. They record which requests were acknowledged."""

import collections
import json
import random
import subprocess
import threading
import time

from harness import run_command

RETRY_SECONDS = 30  # for so long a client repeats a request: a node restarts, and the machine may be busy


class Client:
    """A client that keeps its connection, and opens a new one after an error."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.connection = None

    def request(self, method, path, fields=(), body=None):
        """The response; None if none arrived. It is then unknown whether the request was executed."""
        try:
            if self.connection is None:
                self.connection = self.endpoint.connect()
            response = self.connection.request(method, path, fields, body)
        except OSError:
            response = None
        if response is None or (response.get("Connection") or "").lower() == "close":
            self.close()
        return response

    def read(self, path, fields, on_response=lambda response: None):
        """The response to GET, which is repeated while nodes restart. `on_response` sees every response."""
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            response = self.request("GET", path, fields)
            on_response(response)
            if response is not None and response.status not in (502, 503, 504) or time.monotonic() > deadline:
                return response
            time.sleep(0.05)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Load:
    """`entry`: what clients connect to. `seen` counts responses by kind of client and status; `faults` are violations."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.stopping = threading.Event()
        self.threads = []
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.violations = []

    def start(self, clients):
        self.threads = [threading.Thread(target=self._run, args=(each,), daemon=True) for each in clients]
        for each in self.threads:
            each.start()

    def stop(self):
        self.stopping.set()
        for each in self.threads:
            each.join(2 * RETRY_SECONDS)
            if each.is_alive():
                self.violations.append("a client does not stop")

    def _run(self, client):
        try:
            client.start(self)
            while not self.stopping.is_set():
                client.step(self)
        except Exception as error:  # join() does not report it
            self.violations.append(f"{client}: {error!r}")
        finally:
            client.stop()

    def count(self, kind, response):
        with self.lock:
            self.counts[kind, response.status if response else "no response"] += 1

    def summary(self):
        kinds = collections.defaultdict(dict)
        for (kind, status), times in sorted(self.counts.items(), key=str):
            kinds[kind][status] = times
        return "; ".join(f"{kind}: " + ", ".join(f"{times}x {status}" for status, times in counts.items())
                         for kind, counts in kinds.items())


class ApiClient:
    """The base of clients that send requests to the API."""

    def start(self, load):
        self.client = Client(load.endpoint)

    def stop(self):
        self.client.close()


class Reader(ApiClient):
    """Reads. Every request succeeds in the end."""

    def __init__(self, token, paths):
        self.fields = {"Authorization": token}
        self.paths = paths
        self.steps = 0

    def step(self, load):
        path = self.paths[self.steps % len(self.paths)]
        self.steps += 1
        response = self.client.read(path, self.fields, lambda each: load.count("read", each))
        if response is None or response.status != 200:
            load.violations.append(f"{path}: {response}")


class HookWriter(ApiClient):
    """Creates webhooks and deletes them. Acknowledged changes must be found at the end."""

    HOOKS_MAX = 10  # of 20 that an account may have for an event

    def __init__(self, token, account):
        self.fields = {"Authorization": token}
        self.account = account
        self.created = 0
        self.hooks = {}  # id -> URL, as acknowledged
        self.deleted = set()  # ids, as acknowledged
        self.unknown = set()  # ids of hooks whose deletion got no response

    def list(self, client):
        response = client.read(f"/v1/sitesmaker/{self.account}/hooks", self.fields)
        return {each["id"]: each["url"] for each in response.json()} if response and response.status == 200 else None

    def step(self, load):
        self.created += 1
        url = f"https://hooks.example.com/{self.account}/{self.created}"
        response = self.client.request("POST", f"/v1/sitesmaker/{self.account}/hooks", self.fields,
                                       {"event": "site.deleted", "target_url": url})
        load.count("hook created", response)
        if response is not None and response.status == 201:
            self.hooks[response.json()["id"]] = url
        elif response is not None and response.status == 422:  # too many: delete those that were created or kept without a response
            for hook in set(self.list(self.client) or ()) - set(self.hooks) - self.unknown:
                self.client.request("DELETE", f"/v1/sitesmaker/hooks/{hook}", self.fields)
            for hook in list(self.unknown):
                self.client.request("DELETE", f"/v1/sitesmaker/hooks/{hook}", self.fields)
        elif response is not None and response.status not in (502, 503, 504):
            load.violations.append(f"creating a hook: {response}")
        else:
            time.sleep(0.05)
        if len(self.hooks) > self.HOOKS_MAX:
            oldest = next(iter(self.hooks))
            del self.hooks[oldest]
            response = self.client.request("DELETE", f"/v1/sitesmaker/hooks/{oldest}", self.fields)
            load.count("hook deleted", response)
            if response is not None and response.status == 204:
                self.deleted.add(oldest)
            elif response is None or response.status in (502, 503, 504):
                self.unknown.add(oldest)
            else:
                load.violations.append(f"deleting a hook: {response}")

    def verify(self, client):
        listed = self.list(client)
        if listed is None:
            return [f"the hooks of account {self.account} are not listed"]
        lost = [each for each, url in self.hooks.items() if listed.get(each) != url]
        undeleted = [each for each in self.deleted if each in listed]
        return [f"hooks were lost: {lost}"] * bool(lost) + [f"deleted hooks are listed: {undeleted}"] * bool(undeleted)


class Refresher(ApiClient):
    """Refreshes access tokens. Each one that it received must work."""

    def __init__(self, application, refresh_token):
        self.body = json.dumps({"grant_type": "refresh_token", "refresh_token": refresh_token,
                                "client_id": application.id, "client_secret": application.secret}).encode()
        self.received = []

    def step(self, load):
        response = self.client.request("POST", "/user/oauth_token/", {"Content-Type": "application/json"}, self.body)
        load.count("token", response)
        if response is not None and response.status == 200:
            self.received.append(response.json()["access_token"])
        elif response is not None and response.status not in (502, 503, 504):
            load.violations.append(f"refreshing a token: {response}")
        time.sleep(0.05)

    def verify(self, client):
        # The server keeps the latest thousand of a user and application, including those whose responses were lost.
        tokens = self.received[-500:]
        responses = [client.read("/v1/user/balance", {"Authorization": f"Bearer {each}"}) for each in tokens]
        refused = [each for each in responses if each is None or each.status != 200]
        return [f"{len(refused)} of {len(tokens)} tokens do not work"] * bool(refused)


class Reporter:
    """Reports events with the command. Acknowledged events must arrive."""

    def __init__(self, number, flags, account):
        self.number = number
        self.flags = flags
        self.account = account
        self.steps = 0
        self.acknowledged = []

    def start(self, load):
        pass

    def stop(self):
        pass

    def step(self, load):
        self.steps += 1
        name = f"{self.number}.{self.steps}"
        try:
            result = run_command("event", "emit", *self.flags, "--service", "sitesmaker", "--account", self.account,
                                 "--event", "site.published", "--data", json.dumps({"name": name}))
        except subprocess.TimeoutExpired:
            load.violations.append(f"event {name}: timeout")
            return
        with load.lock:
            load.counts["event", "acknowledged" if result.returncode == 0 else "refused"] += 1
        if result.returncode == 0:
            self.acknowledged.append(name)
        time.sleep(0.02)


class ReceivedEvents:
    """Handles the requests of a receiver. Records which events arrived at which hooks, with which webhook-ids, and overlaps."""

    def __init__(self):
        self.lock = threading.Lock()
        self.in_progress = collections.Counter()
        self.ids = collections.defaultdict(collections.Counter)  # (event, path) -> webhook-id -> times
        self.overlaps = []

    def handle(self, request, connection):
        with self.lock:
            self.in_progress[request.id] += 1
            if self.in_progress[request.id] > 1:
                self.overlaps.append(request.id)
        time.sleep(0.1 * random.random())  # so that many are in progress when a node is killed
        name = json.loads(request.body)["data"]["name"]
        path = request.line.split()[1]
        with self.lock:
            self.ids[name, path][request.id] += 1
            self.in_progress[request.id] -= 1
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    def missing(self, names, paths):
        with self.lock:
            return [(name, path) for name in names for path in paths if (name, path) not in self.ids]

    def violations(self):
        with self.lock:
            repeated = [key for key, ids in self.ids.items() if len(ids) > 1]
            deliveries = collections.Counter(each for ids in self.ids.values() for each in ids)
            shared = [each for each, times in deliveries.items() if times > 1]
            return [f"{len(found)} {what}: {found[:3]}" for what, found in (
                ("webhook-ids arrived twice at the same time", self.overlaps),
                ("deliveries arrived with several webhook-ids", repeated),
                ("webhook-ids belong to several deliveries", shared)) if found]

    def summary(self):
        with self.lock:
            times = [count for ids in self.ids.values() for count in ids.values()]
            return f"{len(times)} deliveries, {sum(times) - len(times)} repeated"
