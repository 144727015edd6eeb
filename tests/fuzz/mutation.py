"""Mutates files: any bytes, and formats by their structure, with lengths and checksums made right again.

A mutation is a pure function of its input and a random generator, so a case can be made again from its seed. Seven of ten cases
of a format with structure are mutated by it (`FORMS`), the others as plain bytes, and some as both.
"""

from __future__ import annotations

from random import Random

from tests.fuzz.mutated_containers import compressed, database, notes, npy, png, snapshot
from tests.fuzz.mutated_requests import request
from tests.fuzz.mutated_schemas import logged, schema
from tests.fuzz.mutated_texts import MOST, Corpus, Mutation, plain, table, text
from tests.fuzz.mutated_trees import message, records, tree

FORMS: dict[str, Mutation] = {
    "plain": plain, "text": text, "table": table, "tree": tree, "records": records, "message": message, "png": png, "npy": npy,
    "snapshot": snapshot, "notes": notes, "database": database, "request": request,
    "schema": schema, "logged": logged, "compressed": compressed,
}  # fmt: skip
"""Name of a form -> the mutation that knows its structure."""


def mutate(form: str, data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Return a mutated copy of data, of at most MOST bytes; form is a key of FORMS, corpus other files of the same target."""
    by_form = FORMS[form]
    found = data
    if by_form is not plain and random.random() < 0.7:
        found = by_form(found, corpus, random)
    if found is data or random.random() < 0.15:
        found = plain(found, corpus, random)
    return found[:MOST]
