"""The limits that SECURITY.md states are those of the program: whoever changes one changes the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.live import receiving, server, sessions
from app.store.runs import matching, notes, pattern_process
from app.web import connections, crowds, downloads, security
from parsers import ages, json_text
from parsers.debugger import messages
from parsers.dumps import npy, torch_files
from parsers.lineage import configs
from parsers.lineage.values import DEEPEST
from parsers.payloads import images, pictures
from parsers.profiler import database_logs, database_process, database_processes, json_entries
from parsers.profiler.trace import bytes as trace_bytes
from parsers.profiler.trace import events
from parsers.tables import rows
from parsers.tuning import config
from parsers.weights import model, torch_archives

ROOT = Path(__file__).resolve().parents[1]
SECTION = re.compile(r"^## Limits\n(.*?)^## ", re.MULTILINE | re.DOTALL)


def size(count: int) -> str:
    """A number of bytes in the largest unit that divides it."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count % (1 << power) == 0:
            return f"{count >> power:,} {unit}"
    return f"{count:,} B"


(larger,) = set(security.LARGER_REQUESTS.values())
LIMITS = {
    "body of a request": f"{size(security.LARGEST_REQUEST)}; {size(larger)} on {len(security.LARGER_REQUESTS)} routes; "
    f"less than {size(connections.LARGEST_BODY)} whatever application is served",
    "what is read and thrown away after a refusal": f"{size(connections.IGNORED_BYTES)}, {connections.IGNORED_SECONDS} s",
    "connections at once": f"{connections.CONNECTIONS:,}; {connections.CONNECTIONS_OF_ONE:,} of one address",
    "time until a request has arrived whole": f"{connections.REQUEST_SECONDS} s",
    "time in which a client takes "
    f"{size(connections.LEAST_PROGRESS)} of a response": f"{connections.READ_SECONDS} s; "
    f"{crowds.PATIENCE:g} s where there are too many connections",
    "time of a connection without a request": f"{connections.IDLE_SECONDS} s",
    "streamed downloads at once": f"{downloads.MOST}, of {connections.THREADS} threads",
    "wrong tokens of an address without waiting": f"{security.Attempts.FREE}; then 1 s, doubled each time up to "
    f"{security.Attempts.LONGEST} s",
    "length of a token": f"at least {security.SHORTEST_TOKEN} characters",
    "trainings connected to the port of live training": f"{sessions.MOST_OPEN}; "
    f"{sessions.MOST_KNOWN} are known with those past",
    "calls of one connection to it": f"{server.CALLS_AT_ONCE} at once, {server.CALLS_PER_SECOND:,} a second",
    "calls without a session that wait for a message": f"{server.MOST_STRANGERS}",
    "time until the next message of a stream": f"{server.IDLE:g} s",
    "message, tensor, all graphs of a training": f"{size(messages.LARGEST_MESSAGE)}, {size(messages.LARGEST_TENSOR)}, "
    f"{size(receiving.LARGEST_GRAPHS)} with {receiving.MOST_NODES:,} nodes",
    "a database and its log that are copied": size(database_logs.MOST_COPIED),
    "time of a query of a database": f"{database_processes.SHORTEST_S:g} s and 1 s per "
    f"{size(database_processes.BYTES_PER_SECOND)}, up to {database_processes.LONGEST_S:g} s; "
    f"{database_processes.QUIET_S:g} s without a sign of life",
    "memory of the process that reads databases": size(database_process.MEMORY),
    "directory of an archive": f"{size(model.LONGEST_DIRECTORY)}; {size(torch_files._LONGEST)} of one tensor",
    "description of a checkpoint of torch": f"{size(torch_archives.LONGEST_PICKLE)}, {torch_archives.MOST_OPCODES:,} opcodes, "
    f"{torch_archives.MOST_CONTAINERS:,} lists and dicts; of tuples, calls and remembered values as many, or one per "
    f"{torch_archives.FEWEST_BYTES} bytes",
    "header of an npy file": f"{size(npy._LONGEST_HEADER)}, {npy._MOST_DIMENSIONS} dimensions",
    "line of a table": f"{size(rows.LONGEST_LINE)}; {rows.MOST_TAGS:,} names in a file",
    "JSON that is read whole": f"{json_text.MOST_CONTAINERS:,} arrays and objects, or one per {json_text.FEWEST_BYTES} bytes",
    "JSON that is read by lines or entries": f"{json_text.MOST_CONTAINERS:,} arrays and objects and "
    f"{json_text.MOST_VALUES:,} values of one; {size(json_entries.LONGEST_ENTRY)} of an entry of communication",
    "event of a trace": size(events.LONGEST_EVENT),
    "what a trace gives by gzip": f"the larger of {size(trace_bytes.FREE_BYTES)} and {trace_bytes.MOST_TIMES} times its size",
    "picture": f"{images.MOST_PIXELS:,} pixels; {pictures.MOST_PIXELS:,} of one beside explanations, "
    f"and {pictures.MOST_SCANS} scans of a JPEG",
    "configuration in YAML": f"{size(configs.LIMIT)}, {configs.MOST_NODES:,} values, {DEEPEST} levels",
    "file of remarks": size(notes.LARGEST),
    "regular expression of a visitor": f"{matching.LONGEST:,} characters, {size(pattern_process.MEMORY)} of memory",
    "how far a file may be dated in the future to count as new": f"{ages.AHEAD_SECONDS:,.0f} s",
}


def stated() -> dict[str, str]:
    """What SECURITY.md says of each limit."""
    section = SECTION.search((ROOT / "SECURITY.md").read_text("utf-8"))
    assert section is not None
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section[1].splitlines() if line.startswith("| ")]
    return {what: most for what, most in rows if what != "what"}


@pytest.mark.parametrize("what", LIMITS)
def test_a_limit_is_the_stated_one(what: str) -> None:
    assert stated().get(what) == LIMITS[what]


def test_no_other_limit_is_stated() -> None:
    assert list(stated()) == list(LIMITS)
    assert config.MOST_VALUES == configs.MOST_NODES, "searches and settings beside runs are configurations alike"
