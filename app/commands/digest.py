"""The command `digest`: what runs show, in sentences or as JSON; with --follow also what arises."""

from __future__ import annotations

import argparse
import math
import re
import signal
import sys
import threading
import time
from typing import Any

import msgspec

from app.commands.following import FollowedRuns
from app.commands.hooks import Hook, arguments_of
from app.commands.run_paths import opened, sources_at
from app.commands.settings import SettingError
from app.commands.terminal import printable
from layouts.kit.i18n import LANGUAGES
from layouts.runs.digest import digest_texts
from parsers.analysis.runs.run_digest import RunDigest, run_digest

VERSION = 1
"""Version of the JSON; it changes if a key does."""


def digest(options: argparse.Namespace) -> int:
    """Print the digest of runs; with --follow also new facts, until it is interrupted."""
    if options.lang not in LANGUAGES:
        raise SettingError(f"--lang: expected {' or '.join(LANGUAGES)}, found {options.lang!r}")
    try:
        wanted = re.compile(options.tags)
    except re.error as error:
        raise SettingError(f"--tags: expected a regular expression, found {options.tags!r}: {error}") from None
    language = LANGUAGES.index(options.lang)
    if options.follow:
        return _follow(options, wanted, language)
    if options.exec is not None:
        raise SettingError("--exec: expected only with --follow")
    found = [(name, run_digest(opened(source), options.tags)) for name, source in sources_at(options.runs, "RUN")]
    if options.json:
        document = {"version": VERSION, "runs": [digest_json(name, one, language) for name, one in found]}
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document)) + b"\n")
        return 0
    for name, one in found:
        print_digest(name, one, language)
    return 0


def digest_json(name: str, digest: RunDigest, language: int) -> dict[str, Any]:
    """Return a run with facts and sentences, and its ranks."""
    return {
        "run": name, "text": [one[language] for one in digest_texts(digest)],
        "facts": digest.as_json()["facts"], "ranks": [digest_json(one.run, one, language) for one in digest.ranks],
    }  # fmt: skip


def print_digest(name: str, digest: RunDigest, language: int) -> None:
    """Print a run as its name and a line for each sentence."""
    print(printable(name))
    for one in digest_texts(digest):
        print(printable(f"  {one[language]}"))
    for rank in digest.ranks:
        print_digest(f"{name}/{rank.run.rpartition('/')[2]}", rank, language)


def _follow(options: argparse.Namespace, wanted: re.Pattern[str], language: int) -> int:
    every, patience = _seconds("--every", options.every, 0.05), _seconds("--no-step", options.no_step, 0.05)
    hook = Hook(arguments_of(options.exec)) if options.exec is not None else None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        follower = FollowedRuns(options.runs, wanted, patience)
        _print_begin(follower, options, language)
        while True:
            begun = time.process_time()
            for name, news in follower.look(time.monotonic()):
                _tell(name, news, language, hook, as_json=options.json)
            # A look at long runs may take as long as the pause; what watches must not take the machine from what trains.
            time.sleep(max(every, 10.0 * (time.process_time() - begun)))
    finally:
        if hook is not None:
            hook.close()


def _print_begin(follower: FollowedRuns, options: argparse.Namespace, language: int) -> None:
    for name, one in follower.begin(time.monotonic()):
        if options.json:
            _print_json({"version": VERSION, **digest_json(name, one, language)})
        else:
            print_digest(name, one, language)
    sys.stdout.flush()


def _tell(name: str, news: Any, language: int, hook: Hook | None, *, as_json: bool) -> None:
    texts = [one[language] for one in news.texts]
    told = {"version": VERSION, "run": name, "time": time.time(), "text": texts, "facts": news.as_json()}
    if as_json:
        _print_json(told)
    else:
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        for text in texts:
            print(printable(f"{now} {name}: {text}"), flush=True)
    if hook is not None:
        hook.start(msgspec.json.encode(told) + b"\n")


def _print_json(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def _seconds(option: str, text: str, least: float) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not least <= found < math.inf:
        raise SettingError(f"{option}: expected a number of seconds from {least:g}, found {text!r}")
    return found
