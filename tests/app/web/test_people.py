"""Servers for several people: who may change something, and whose name is believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app import create_app
from app.routes.all_routes import POST
from app.store.runs.notes_format import decode
from app.store.store import Store
from app.web.people import READING_POSTS, People, networks
from layouts.shell.run_list import SentNotebook, listing
from parsers.recording import EventWriter

PROXY, OTHER = "10.1.2.3", "10.9.9.9"
USER = "X-Forwarded-User"
TEAM = People(header=USER, proxies=networks(["10.1.2.0/24"]), editors=frozenset({"Ann", "张伟"}))


class Served:
    """An application over one run, which anybody may ask from any address."""

    def __init__(self, tmp_path: Path, people: People) -> None:
        (tmp_path / "runs" / "a").mkdir(parents=True)
        (tmp_path / "notes").mkdir()
        with EventWriter(str(tmp_path / "runs" / "a" / "events.out.tfevents.1700000000.here"), "tensorboard") as writer:
            writer.add(1, {"loss": 0.5})
        self.store = Store([tmp_path / "runs"], notes_directory=str(tmp_path / "notes"), visitor=people).start()
        assert self.store.follower.wait(30)
        self.server = create_app(self.store, people=people, allowed_hosts=("*",)).server

    def ask(self, path: str, data: Any = None, address: str = PROXY, name: str = "") -> Any:
        who = sent_by(address, name)
        client = self.server.test_client()
        return client.get(path, **who) if data is None else client.post(path, json=data, **who)

    def remark(self, text: str, name: str = "", address: str = PROXY) -> Any:
        """Change the remark, knowing the one before."""
        before = self.notebook(name)
        was = before["notes"].get("a", before["empty"])["version"]
        return self.ask("/api/note", {"run": "a", "remark": text, "was": was}, address, name)

    def notebook(self, name: str) -> SentNotebook:
        """What the pages of a visitor get."""
        with self.server.test_request_context("/", **sent_by(PROXY, name)):
            found = listing(self.store)["notebook"]
        assert found is not None
        return found


def sent_by(address: str, name: str) -> dict[str, Any]:
    headers = {USER: name.encode().decode("latin-1")} if name else {}
    return {"headers": headers, "environ_base": {"REMOTE_ADDR": address}}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[[People], Served]]:
    made: list[Served] = []

    def serve(people: People) -> Served:
        made.append(Served(tmp_path, people))
        return made[-1]

    yield serve
    for one in made:
        one.store.stop()


def test_every_route_by_post_either_reads_or_is_refused(served: Callable[[People], Served], tmp_path: Path) -> None:
    team = served(People(read_only=True))
    rules = [rule for rule in team.server.url_map.iter_rules() if "POST" in rule.methods]
    posted = {rule.rule.rpartition("/")[2] for rule in rules if "any(" not in rule.rule}
    changing = {rule.rpartition("/")[2] for rules in POST.values() for rule in rules}
    assert posted <= {*READING_POSTS}, "a new route by POST: does it change something?"
    assert {*READING_POSTS} == {"_dash-update-component", "view-file", "scalars-points"}, "these change nothing"
    for name in changing - set(READING_POSTS):
        answer = team.ask(f"/api/{name}", {})
        assert answer.status_code == 403, name
        assert "change nothing" in answer.text
    assert team.ask("/_dash-update-component", {}).status_code != 403
    for name in set(READING_POSTS) & changing:
        assert team.ask(f"/api/{name}", {}).status_code != 403, name
    assert not (tmp_path / "notes" / "notes.jsonl").exists()


def test_who_may_only_read_is_told_so(served: Callable[[People], Served]) -> None:
    team = served(TEAM)
    assert [team.notebook(name)["readOnly"] for name in ("Ann", "张伟", "Bob", "")] == [False, False, True, True]
    assert team.notebook("Ann")["kept"]
    assert not team.notebook("Bob")["kept"]


def test_editors_sign_what_they_write(served: Callable[[People], Served]) -> None:
    team = served(TEAM)
    written = team.remark("best so far", "张伟")
    assert (written.status_code, written.get_json()["now"]["by"]) == (200, "张伟")
    assert team.ask("/api/note", {"run": "a", "add": ["paper"]}, name="Ann").get_json()["now"]["by"] == "张伟"
    assert team.ask("/api/view", {"save": "Losses", "place": "scalars?run=a"}, name="Ann").status_code == 200
    board = team.ask("/api/board", {"create": "Daily"}, name="Ann").get_json()["now"]
    changed = team.ask("/api/board", {"board": board["key"], "name": "Weekly"}, name="张伟")
    assert changed.get_json()["now"]["by"] == "张伟"
    assert team.remark("mine", "Bob").status_code == 403
    seen = team.notebook("Bob")
    assert (seen["notes"]["a"]["remark"], seen["notes"]["a"]["by"]) == ("best so far", "张伟")
    assert [(one["name"], one["by"]) for one in seen["views"]] == [("Losses", "Ann")]
    assert [(one["name"], one["by"]) for one in seen["boards"]] == [("Weekly", "张伟")]


def test_authors_survive_on_disk_and_only_they_need_the_new_version(served: Callable[[People], Served], tmp_path: Path) -> None:
    team = served(TEAM)
    file = tmp_path / "notes" / "notes.jsonl"
    team.ask("/api/note", {"run": "a", "add": ["paper"]}, name="Ann")
    assert json.loads(file.read_bytes().splitlines()[0][9:])["version"] == 1
    team.remark("best", "Ann")
    assert json.loads(file.read_bytes().splitlines()[0][9:])["version"] == 6
    content, whole = decode(file.read_bytes())
    assert whole
    assert [one.note.by for one in content.notes.values()] == ["Ann"]
    team.remark("", "Ann")
    assert [one.note.by for one in decode(file.read_bytes())[0].notes.values()] == [""], "no remark has no author"


def test_a_name_is_believed_from_the_proxy_only(served: Callable[[People], Served]) -> None:
    team = served(TEAM)
    for path in ("/", "/api/runs.json", "/health"):
        forged = team.ask(path, address=OTHER, name="Ann")
        assert forged.status_code == 403, path
        assert USER in forged.text
    assert team.ask("/", address=OTHER).status_code == 200
    assert team.remark("x", address=OTHER).status_code == 403
    assert team.remark("x", "Ann", "::ffff:10.1.2.9").get_json()["now"]["by"] == "Ann"


@pytest.mark.parametrize("name", ["", "   ", "ann", "Ann, Bob", "Ann\u202e", "A" * 5000, "Ann<b>"])
def test_only_the_exact_name_of_an_editor_counts(served: Callable[[People], Served], name: str) -> None:
    team = served(TEAM)
    assert team.remark("x", name).status_code == 403


def test_long_names_and_those_with_unseen_characters_are_kept_short_and_plain(served: Callable[[People], Served]) -> None:
    team = served(People(header=USER, proxies=networks(["10.1.2.3"])))
    assert team.remark("x", "A\u202e" + "b" * 200).get_json()["now"]["by"] == "A\ufffd" + "b" * 78


@pytest.mark.parametrize(
    "wrong", [{"header": USER}, {"editors": frozenset({"Ann"})}, {"editors": frozenset({"Ann"}), "proxies": networks(["::1"])}]
)
def test_people_that_nobody_could_know_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        People(**wrong)


def test_a_proxy_that_announces_another_path_is_told_what_to_change(make_app: Any) -> None:
    people = People(proxies=networks([PROXY]))
    client = make_app(people=people, public_prefix="/team/").server.test_client()

    def answer(prefix: str, address: str = PROXY) -> Any:
        return client.get("/", headers={"X-Forwarded-Prefix": prefix}, environ_base={"REMOTE_ADDR": address})

    assert [answer(prefix).status_code for prefix in ("/team", "/team/", "team")] == [200] * 3
    assert answer("/other").status_code == 500
    assert "--public-prefix /other" in answer("/other").text
    assert answer("/other", OTHER).status_code == 200, "from elsewhere it says nothing"


def test_pages_without_styles_say_why(make_app: Any) -> None:
    client = make_app(public_prefix="/team/").server.test_client()
    assert "--public-prefix" in client.get("/").text
    assert "/team/" in client.get("/").text.partition("ms-unstyled")[2][:200]
