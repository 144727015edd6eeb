"""README, manual and the other documents: links, completeness, and examples that work."""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.commands.settings import SETTINGS
from app.routes.all_routes import GET, POST
from layouts import PAGES
from layouts.kit.i18n import CATALOGUE
from parsers.export import FORMATS
from parsers.export.directory import KINDS as EXPORTED
from parsers.model import KINDS, Reader
from parsers.profiler.frame_parts import FrameReader
from parsers.profiler.registry import FRAME_READERS, display_name
from parsers.recording import ExplanationWriter
from parsers.registry import READERS
from tests.contract.samples import PROFILE_SAMPLES, SAMPLES
from tests.parsers.profiler.written import FILES
from tests.recorded import RECORDED
from tests.writers.dumps import Injection, write_dump

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "app" / "demo" / "runs"
MANUAL = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *MANUAL]
METADATA = [ROOT / name for name in ("pyproject.toml", "Makefile", ".editorconfig", ".pre-commit-config.yaml")]
PICTURES = sorted((ROOT / "docs" / "pictures").iterdir())
DRAWN = ("soak.svg",)
"""Pictures of measurements: `make soak` draws this one."""
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(path: Path) -> str:
    """The document without its blocks of code."""
    return FENCE.sub("", text_of(path))


def examples(language: str, *paths: Path) -> list[str]:
    return [code for path in paths for name, code in FENCE.findall(text_of(path)) if name == language]


def anchors(path: Path) -> set[str]:
    """The anchors that forges make of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", prose_of(path), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()) for heading in headings)
    return {re.sub(r"\s", "-", heading.strip()) for heading in plain}


# Links and pictures --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(prose_of(document)):
        place, _, anchor = target.partition("#")
        path = (document.parent / place).resolve() if place else document
        assert path.is_relative_to(ROOT), target
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), target


@pytest.mark.parametrize("document", [*DOCUMENTS, *METADATA], ids=lambda path: path.name)
def test_no_address_of_a_host_or_a_machine(document: Path) -> None:
    text = text_of(document)
    for scheme, place in re.findall(r"(\w+)://([^\s/'\"`)?]*)", text):
        example = scheme in ("s3", "ssh") and place in ("bucket", "host", "cluster")
        assert example or place.partition(":")[0] == "127.0.0.1", place
    for path in (str(ROOT.parent) + "/", str(Path.home()) + "/"):
        assert path not in text


def test_every_picture_is_used_and_taken() -> None:
    targets = {Path(target).name for path in DOCUMENTS for target in LINK.findall(prose_of(path))}
    script = text_of(ROOT / "docs" / "take_screenshots.py")
    assert {path.name for path in PICTURES} == {name for name in targets if name.endswith((".png", ".svg"))}
    taken = set(re.findall(r'\("([\w-]+)", f?"[^"]*", "(?:light|dark)"', script))
    assert {path.stem for path in PICTURES if path.name not in DRAWN} == taken


def test_the_manual_lists_all_of_its_files() -> None:
    docs = ROOT / "docs"
    indexes = (docs / "README.md", docs / "performance.md")
    listed = {(docs / target.partition("#")[0]).resolve() for index in indexes for target in LINK.findall(text_of(index))}
    assert set(MANUAL) - {docs / "README.md"} <= listed


def found(dotted: str) -> bool:
    """Whether a module, or a name in one, is there."""
    with contextlib.suppress(ImportError):
        return bool(importlib.import_module(dotted))
    module, _, name = dotted.rpartition(".")
    return bool(module) and hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("document", [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_modules_and_paths_that_are_named_exist(document: Path) -> None:
    named = re.findall(r"`([^`\s]+)`", prose_of(document))
    modules = [name for name in named if re.fullmatch(r"(app|layouts|parsers)(\.(?!py$)[a-zA-Z_]+)+", name)]
    paths = [name for name in named if re.match(r"(app|assets|benchmarks|docs|examples|layouts|parsers|tests)/", name)]
    assert modules
    assert paths
    assert [name for name in modules if not found(name)] == []
    assert [name for name in paths if not re.search(r"[<*]|curves_csv|cache_hits", name) and not (ROOT / name).exists()] == []


FILE = re.compile(r"(?<![\w/.<>{}*:~-])(?:app|assets|base|kit|layouts|pages|parsers|shell|tests)/[\w/]+\.(?:py|js|css)\b")


def test_files_that_comments_name_exist() -> None:
    """A path in a comment or docstring is that of a file, from the root or from assets/."""
    sources = [
        path for folder in ("app", "assets", "layouts", "parsers") for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".js", ".ts", ".css"} and "vendor" not in path.parts and "demo" not in path.parts
    ]  # fmt: skip
    lines = {f"{path.relative_to(ROOT)}: {name}": name for path in sources for name in FILE.findall(text_of(path))}
    assert len(lines) > 100
    assert [line for line, name in lines.items() if not (ROOT / name).exists() and not (ROOT / "assets" / name).exists()] == []


# Completeness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_documented(page: Any) -> None:
    title = CATALOGUE[page.title][0]
    manual = "\n".join(text_of(path) for path in MANUAL)
    head = rf"^## {re.escape(title)}\n\n`/{page.path}` — \*[^\n]+\?\*\n\n"
    chapter = re.search(rf"{head}(.+?)(?=^## |\Z)", manual, re.MULTILINE | re.DOTALL)
    assert chapter, f"docs: wanted a chapter '## {title}' that begins with `/{page.path}` and the question it answers"
    assert f"pictures/{page.name}.png)" in chapter[1]
    assert title.lower() in text_of(ROOT / "README.md").lower()
    assert CATALOGUE[page.title][1] in text_of(ROOT / "README.zh.md")


def test_renamed_pages_are_in_the_changelog() -> None:
    changelog = text_of(ROOT / "CHANGELOG.md")
    renamed = [(old, page.name) for page in PAGES for old in page.formerly]
    assert renamed
    assert [names for names in renamed if "| `/{}` | `/{}` |".format(*names) not in changelog] == []


def entry_point() -> Any:
    place = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["scripts"]["mindscope"]
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def help_of(*command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit):
        entry_point()([*command, "--help"])
    return printed.getvalue()


def commands() -> list[str]:
    return re.findall(r"^    ([\w-]+)(?=\s)", help_of(), re.MULTILINE)


def options(command: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", help_of(command))) - {"--help"}


def test_every_command_and_option_is_documented() -> None:
    manual = text_of(ROOT / "docs" / "commands.md") + text_of(ROOT / "docs" / "settings.md")
    assert {"start", "list", "export"} <= set(commands())
    for command in commands():
        assert re.search(rf"^## (\w+ and )?{command}\b", manual, re.MULTILINE), command
        for option in options(command):
            assert re.search(rf"`{option}[` ]", manual), f"{command} {option}"


def test_extras_are_documented_and_installed_one_way() -> None:
    manual = ROOT / "docs" / "commands.md"
    named = set(re.findall(r"^\| `mindscope\[(\w+)\]` \|", text_of(manual), re.MULTILINE))
    assert named == set(tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["optional-dependencies"])
    for document in DOCUMENTS:
        for target in re.findall(r"pip install '?([\w.]*)\[(?!binary)", text_of(document)):
            assert target == "." or document == manual, f"{document.name}: expected '.[EXTRA]', found {target}"


def test_every_test_that_the_security_policy_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", text_of(ROOT / "SECURITY.md")))
    defined = {name for path in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)\(", text_of(path))}
    assert len(named) > 25
    assert named <= defined


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_documented_with_its_default(setting: Any) -> None:
    name = setting.variable if setting.secret else setting.option
    row = re.search(rf"^\| `{re.escape(name)}[ `].*$", text_of(ROOT / "docs" / "settings.md"), re.MULTILINE)
    assert row, f"docs/settings.md: wanted a row for {name}"
    default = ", ".join(setting.default) if setting.repeatable else setting.default
    shown = {True: "on", False: "off", None: "on unless", "": ""}.get(default, str(default))
    assert shown in row[0].split("|")[2]


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ("damage.md", KINDS), ("commands.md", (*EXPORTED, *FORMATS)),
    ],
)  # fmt: skip
def test_every_name_is_documented(document: str, names: tuple[str, ...]) -> None:
    text = text_of(ROOT / "docs" / document)
    assert [name for name in names if f"`{name}`" not in text] == []


def documented_files() -> set[str]:
    """Patterns of file names that docs/files.md says are read: "flops_*", "trace_view.json"."""
    read = text_of(ROOT / "docs" / "files.md").partition("\n## What is read\n")[2]
    assert read
    found = {re.sub(r"<\w+>", "*", name.rpartition("/")[2]) for name in re.findall(r"`([^`\s]*\w\w[^`\s]*)`", read)}
    return {name for name in found if name not in ("*", "*.csv", "*.json", "*.txt")}  # these would be any table


NAMED_FREELY = ("events", "graph")
"""Readers of files that are known by a part or the ending of any name."""


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_files_of_every_reader_are_documented(reader: Reader) -> None:
    names = {path.name for path in SAMPLES[reader.name]}
    unknown = sorted(name for name in names if not any(fnmatchcase(name, pattern) for pattern in documented_files()))
    assert unknown == [] or (reader.name in NAMED_FREELY and len(unknown) < len(names)), f"docs/files.md: wanted {unknown[0]}"


@pytest.mark.parametrize("reader", FRAME_READERS, ids=lambda reader: f"{reader.schema.name}-{reader.file.name}")
def test_every_frame_of_profiles_and_its_files_are_documented(reader: FrameReader) -> None:
    assert f"`{reader.schema.name}`" in text_of(ROOT / "docs" / "notebook.md"), f"docs/notebook.md: wanted {reader.schema.name}"
    documented = {pattern for pattern in documented_files() if not pattern.startswith("*.")}
    for kind in (reader.file, *reader.also_reads):
        stem, dot, ending = display_name(kind.name).replace("*", "0").partition(".")
        names = [path.name for path in PROFILE_SAMPLES.get(kind.name, ())]
        names += filter(kind.pattern.fullmatch, (f"{stem}{dot}{ending}", f"{stem}_0{dot}{ending}"))
        wanted = f"docs/files.md: wanted {display_name(kind.name)}"
        assert any(fnmatchcase(name, form) for name in names for one in documented for form in (one, f"{one}.*")), wanted


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    made = create_app(DEMO)
    assert made.source.wait(30)
    return made.server.test_client()


def test_every_route_is_documented(client: FlaskClient) -> None:
    text = text_of(ROOT / "docs" / "exports.md")
    every = [rule.rule for rule in client.application.url_map.iter_rules()]
    rules = [rule for rule in every if re.match(r"/(api/|health)", rule) and "<" not in rule]
    rules += [f"/api{rule}" for table in (GET, POST) for some in table.values() for rule in some]
    assert len(rules) > 20
    assert [rule for rule in rules if f"`{rule}`" not in text] == []


# Examples ------------------------------------------------------------------------------------------------------------


def shell_lines() -> Iterator[list[str]]:
    for line in itertools.chain.from_iterable(code.splitlines() for code in examples("sh", *DOCUMENTS)):
        yield shlex.split(line, comments=True)


def test_commands_in_examples_exist() -> None:
    seen = 0
    for words in shell_lines():
        if words[:1] == ["mindscope"]:
            named = len(words) > 1 and not words[1].startswith("-") and not set(words[1]) & set("/.")  # no path to open
            command = words[1] if named else "start"
            assert command in commands()
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options(command), words
            seen += 1
        elif words[:1] == ["make"]:
            assert re.search(rf"^{words[1]}:", text_of(ROOT / "Makefile"), re.MULTILINE), words
            seen += 1
    assert seen > 10


def test_urls_in_examples_answer(client: FlaskClient) -> None:
    urls = [word for words in shell_lines() if words[:1] == ["curl"] for word in words if "://" in word]
    assert urls
    for url in urls:
        answer = client.get(url.partition("127.0.0.1:8080")[2], headers={"Host": "127.0.0.1"})
        assert answer.status_code == 200, (url, answer.text)


def test_links_to_pages_in_the_manual_exist() -> None:
    paths = {page.path for page in PAGES}
    links = [link for path in MANUAL for link in re.findall(r"`/(\w+)\?[^`]*`", text_of(path)) if link != "api"]
    assert len(links) > 5
    assert set(links) <= paths


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that examples name."""
    shutil.copytree(RECORDED / "lenet_adam_lr0.01_b64", tmp_path / "output" / "summary" / "run1")
    shutil.copytree(ROOT / "tests" / "data" / "mindspore_profiler" / "2.10_minddata" / "profiler",
                    tmp_path / "output" / "profiled" / "profiler")  # fmt: skip
    for name in ("memory_record.csv", "operator_memory.csv", "npu_module_mem.csv"):
        (tmp_path / "output" / "profiled" / "profiler" / name).write_text(FILES[name], encoding="utf-8")
    write_dump(tmp_path / "output" / "dump", iterations=4, injection=Injection(3, 5, "nan"))
    with ExplanationWriter(str(tmp_path / "output" / "explain"), labels=["cat", "dog"], explainers=["GradCAM"]) as writer:
        writer.sample(0, np.zeros((4, 4)), truth=[0], probabilities={0: 0.75, 1: 0.25})
        writer.heat_map(0, "GradCAM", 0, np.eye(4))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("document", ["README.md", "README.zh.md", "docs/notebook.md", "docs/embedding.md"])
def test_python_examples_run(document: str, output: Path) -> None:
    namespace: dict[str, Any] = {}
    for code in examples("python", ROOT / document):
        if "import show" not in code:  # needs IPython
            exec(compile(code, document, "exec"), namespace)
