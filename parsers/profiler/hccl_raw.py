"""Reads hccl_raw_<rank>.csv: communication of a rank by step, of MindSpore 1.x and 2.0 to 2.2 on Ascend.

step_num, communication_cost, wait_cost (ms), link_info and communication_operator_cost (JSON); the last row, step `-`, is the
mean. A link has [ms, KB of 1,000 bytes, KB/s(, ms of waiting)] per transport. KB/s of a step is a SUM of bandwidths and is not
read. Ranks in links are numbers in the stage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from parsers.files import RegularFile
from parsers.json_text import parse_json
from parsers.profiler.communication_json import Band, CommunicationTimes, Links, LinkTraffic, Operations, is_p2p, step_number
from parsers.profiler.json_entries import number
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.tables import NONE

LONGEST = 256 << 20
"""Maximum bytes of a file."""
_CELL = re.compile(r'"([^"]*(?:""[^"]*)*)"|([^,"\r\n]*)')
_NAMES = ("step_num", "communication_cost", "wait_cost", "link_info", "communication_operator_cost")
_KB_IN_MB = 1e-3


def read(path: str, complaints: Complaints) -> tuple[Operations, Links]:
    """Return operations and links of one rank; the mean over steps only as links, class mean."""
    operations, links = Operations(complaints), Links(complaints)
    for line, cells in _rows(path, complaints):
        step, mean = step_number(cells[0]), cells[0] == "-"
        where = f"Line {line}"
        _links(links, (NONE if mean else step, "", "mean" if mean else "total"), _object(cells[3], where, complaints))
        for name, entry in _object(cells[4], where, complaints).items() if not mean else ():
            if not (isinstance(entry, list) and len(entry) >= 4 and isinstance(entry[3], dict)):
                complaints.add(f"{where}, {name[:60]}: expected step, communication, waiting and links; it was skipped.")
                continue
            transit, wait = number(entry[1]), number(entry[2])
            section = "p2p" if is_p2p(name) else "collective"
            times = CommunicationTimes(elapse=transit + wait, transit=transit, wait=wait, idle=0.0)
            operations.add((step, "", name, section), times, _sent(entry[3]))
            _links(links, (step, name, "single"), entry[3])
    return operations.finish(), links.finish()


def _rows(path: str, complaints: Complaints) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each line. The cells with JSON may be longer than the csv module takes."""
    try:
        with RegularFile(path) as file:
            if file.size > LONGEST:
                complaints.add(f"Expected at most {LONGEST >> 20} MB, found {file.size >> 20:,} MB; nothing is taken from it.")
                return
            text = file.read(0, file.size).decode("utf-8-sig", "replace")
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return
    report_read(len(text))
    if not text:
        complaints.add("The file is empty.", "empty_file")
        return
    at, line, header = 0, 0, True
    while at < len(text):
        cells, end = _cells(text, at)
        line += 1
        if header and tuple(cells) != _NAMES:
            found = ", ".join(cells)[:200]
            complaints.add(f"Line 1: expected {', '.join(_NAMES)}, found {found}; nothing is taken from the file.")
            return
        if not header and len(cells) == len(_NAMES):
            yield line, cells
        elif not header and any(cells):
            complaints.add(f"Line {line}: expected {len(_NAMES)} cells, found {len(cells)}; it was skipped.")
        at, header = end, False
    if line < 2:
        complaints.add("Line 1: expected rows below the names of columns, found none.")


def _cells(text: str, at: int) -> tuple[list[str], int]:
    """Return the cells of the line that begins here, and where the next one begins."""
    cells: list[str] = []
    while True:
        match = _CELL.match(text, at)
        if match is None:  # an unclosed quote
            end = text.find("\n", at)
            return cells, len(text) if end < 0 else end + 1
        cells.append(match[1].replace('""', '"') if match[1] is not None else match[2].strip())
        at = match.end()
        if at < len(text) and text[at] == ",":
            at += 1
            continue
        end = text.find("\n", at)
        return cells, len(text) if end < 0 else end + 1


def _object(text: str, where: str, complaints: Complaints) -> dict[str, Any]:
    try:
        found = parse_json(text) if text else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        complaints.add(f"{where}: expected JSON with links or operations, found {text[:40]!r}; it was skipped.")
        return {}
    return found


def _bands(transports: Any) -> Iterator[tuple[str, float, float]]:
    """Yield transport, MB and ms of a link."""
    for transport, numbers in transports.items() if isinstance(transports, dict) else ():
        if isinstance(numbers, list) and len(numbers) >= 2:
            yield transport, number(numbers[1]) * _KB_IN_MB, number(numbers[0])


def _links(found: Links, key: tuple[int, str, str], links: dict[str, Any]) -> None:
    step, name, kind = key
    section = "p2p" if is_p2p(name) else "collective" if name else ""
    by_transport: dict[str, dict[str, LinkTraffic]] = {}
    for link, transports in links.items():
        for transport, size, time in _bands(transports):
            by_transport.setdefault(transport, {})[link] = LinkTraffic(transport, size, time)
    for told in by_transport.values():
        found.extend((step, "", name, section, kind), told, local=True)


def _sent(links: dict[str, Any]) -> dict[str, Band]:
    """Return what went over each transport, not counting what stayed in a rank."""
    found: dict[str, Band] = {}
    for link, transports in links.items():
        source, _, target = link.partition("-")
        for transport, size, time in _bands(transports) if source != target else ():
            band = found.setdefault(transport, Band(0.0, 0.0))
            band.size, band.time = band.size + size, band.time + time
    return found
