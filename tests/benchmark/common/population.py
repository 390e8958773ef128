"""Many users with a token each, for requests that hit no cache."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import pathlib
import random
import sqlite3
import zlib

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
REQUESTS_PER_DAY = 1_000_000_000  # more than a benchmark sends
SCOPES = "user:balance"
NOW = 1_750_000_000_000


def _base62(number: int, digits: int) -> str:
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, 62)
        text = DIGITS[digit] + text
    return text


def _secret(prefix: str, generator: random.Random) -> str:
    """A secret in the format of the library's `make_secret`."""
    digits = _base62(generator.getrandbits(256), 43)
    return f"{prefix}_{digits}{_base62(zlib.crc32(('_' + digits).encode()), 6)}"


class Population:
    """User N, from 1 on, has the token on line N of both files: `authorizations` for the load, `digests` for a node."""

    def __init__(self, folder: pathlib.Path, count: int):
        self.count = count
        self.authorizations = folder / "authorizations"
        self.digests = folder / "digests"
        generator = random.Random(1)
        with open(self.authorizations, "w") as authorizations, open(self.digests, "w") as digests:
            for _ in range(count):
                username = "tgu_" + _base62(generator.getrandbits(128), 22)
                secret = _secret("tgp", generator)
                authorizations.write("Basic " + base64.b64encode(f"{username}:{secret}".encode()).decode() + "\n")
                digests.write(f"{username} {hashlib.sha256(secret.encode()).hexdigest()}\n")

    def _tokens(self):
        with open(self.digests) as lines:
            for number, line in enumerate(lines, 1):
                yield number, *line.split()

    def fill_postgres(self, database) -> None:
        users = "".join(f"{number}\tuser{number}\tnone\tEUR\t1234.56\t{REQUESTS_PER_DAY}\n"
                        for number in range(1, self.count + 1))
        tokens = "".join(f"{number}\t{username}\t\\\\x{digest}\tfigures\t{SCOPES}\t{NOW}\t32503680000000\n"
                         for number, username, digest in self._tokens())
        database.query(
            "TRUNCATE directory_users, tollgate_personal_tokens CASCADE;\n"
            "COPY directory_users (id, login, password_hash, currency, balance, requests_per_day) FROM STDIN;\n"
            f"{users}\\.\n"
            "COPY tollgate_personal_tokens (user_id, username, secret_digest, description, scopes, created_at, "
            f"last_used_at) FROM STDIN;\n{tokens}\\.\nVACUUM ANALYZE;\n")

    def fill_sqlite(self, file: pathlib.Path) -> None:
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            database.execute("DELETE FROM tollgate_personal_tokens")
            database.execute("DELETE FROM directory_users")
            database.executemany("INSERT INTO directory_users (id, login, password_hash, currency, balance, requests_per_day) "
                                 "VALUES (?, ?, 'none', 'EUR', '1234.56', ?)",
                                 ((number, f"user{number}", REQUESTS_PER_DAY) for number in range(1, self.count + 1)))
            database.executemany("INSERT INTO tollgate_personal_tokens (user_id, username, secret_digest, description, scopes, "
                                 "created_at, last_used_at) VALUES (?, ?, ?, 'figures', ?, ?, 32503680000000)",
                                 ((number, username, bytes.fromhex(digest), SCOPES, NOW)
                                  for number, username, digest in self._tokens()))
