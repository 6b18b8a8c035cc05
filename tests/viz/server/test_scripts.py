"""Modules are joined in the order of their imports and served under a name of their content."""

import base64
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.scripts.node import NODE
from viz.server import scripts
from viz.server.scripts import BundleError
from viz.text import messages

VIZ = Path(scripts.__file__).parents[1]
ENTRIES = [path for path in sorted(VIZ.rglob("*.js")) if "export default" in path.read_text(encoding="utf-8")]


def written(folder: Path, **modules: str) -> Path:
    """A folder of modules by their names; the entry is `main.js`."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / "main.js"


def refused(entry: Path) -> str:
    with pytest.raises(BundleError) as error:
        scripts.bundle(entry)
    return str(error.value)


def run(text: str) -> str:
    """What a module prints."""
    command = [NODE, "--input-type=module", "--eval", text]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def test_what_a_module_imports_comes_before_it_and_once(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        main='import { left } from "./left.js";\nimport {\n  right,\n} from "./right.js";\n'
        "console.log(left() + right);\n",
        left='import { base } from "./base.js";\nexport function left() {\n  return base;\n}\n',
        right='import { base } from "./base.js";\nexport const right = base * 10;\n',
        base="export const base = 4;\n",
    )
    text = scripts.bundle(entry)
    assert [text.index(part) for part in ("const base", "function left", "const right", "console")] == sorted(
        text.index(part) for part in ("const base", "function left", "const right", "console")
    )
    assert text.count("const base") == 1
    assert "import" not in text
    assert "export" not in text
    assert run(text) == "44\n"


def test_a_module_may_be_imported_for_what_it_does(tmp_path: Path) -> None:
    entry = written(tmp_path, main='import "./first.js";\nconsole.log("second");\n', first='console.log("first");\n')
    assert run(scripts.bundle(entry)) == "first\nsecond\n"


def test_what_nothing_uses_stays_behind_unless_it_does_something(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        main='import { used } from "./a.js";\nexport function own() {}\nconsole.log(used());\nused.unused = own;\n',
        a="const BASE = [3];\nconst SPARE = 4;\nexport const used = () => Math.max(...BASE);\n"
        'export function unused() {\n  return SPARE;\n}\nclass Unused {}\nconsole.log("seen");\n',
    )
    text = scripts.bundle(entry)
    assert run(text) == "seen\n3\n"
    assert re.findall(r"(?:const|class|function) (\w+)", text) == ["BASE", "used", "own"]


def test_comments_types_and_indentation_stay_behind_and_nothing_else(tmp_path: Path) -> None:
    text = """// @ts-check
/** Two lines
 * of words. */
function f() {
  /** @type {string} */
  const a = /** @type {any} */ ("//");
  return a; // why
}
"""
    entry = written(tmp_path, main=text)
    assert scripts.bundle(entry) == 'function f() {\nconst a = ("//");\nreturn a; // why\n}'


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ({"main": 'import { a } from "./gone.js";\n'}, r"gone\.js does not exist, which .*main\.js imports"),
        (
            {"main": 'import { a } from "./b.js";\n', "b": "const a = 1;\n"},
            r"main\.js imports `a`, which .*b\.js does not export",
        ),
        (
            {"main": 'import "./a.js";\nimport "./b.js";\n', "a": "const boxes = 1;\n", "b": "function boxes() {}\n"},
            r"b\.js and .*a\.js both declare `boxes`",
        ),
        (
            {"main": 'import "./a.js";\n', "a": 'import "./b.js";\n', "b": 'import "./a.js";\n'},
            r"circle: a\.js → b\.js → a\.js",
        ),
        ({"main": 'import { a as b } from "./a.js";\n', "a": "export const a = 1;\n"}, r"a as b \} from .* renames"),
        ({"main": 'import { a } from "a";\n'}, r"form `import \{ a \} from \"a\";"),
        ({"main": 'export { a } from "./a.js";\n', "a": "export const a = 1;\n"}, r"form `export \{ a \}"),
        ({"main": 'import "./a.js";\n', "a": "export default 1;\n"}, r"a\.js: only the entry module may"),
    ],
    ids=lambda value: None if isinstance(value, dict) else re.sub(r"\W+", " ", value),
)
def test_what_cannot_be_joined_is_named(tmp_path: Path, modules: dict[str, str], said: str) -> None:
    assert re.search(said, refused(written(tmp_path, **modules)))


def test_a_classic_script_keeps_its_names_to_itself(tmp_path: Path) -> None:
    entry = written(tmp_path, main='import { a } from "./a.js";\nconsole.log(a);\n', a="export const a = 1;\n")
    assert run(f"{scripts.classic_script(entry)}\nconsole.log(typeof a)") == "1\nundefined\n"
    # Style sheets come behind those that they import.
    (tmp_path / "base.css").write_text("/* ground */\n.a { color: red; }\n", encoding="utf-8")
    (tmp_path / "main.css").write_text('@import "./base.css";\n\n.b {\n  color: blue;\n}\n', encoding="utf-8")
    assert scripts.styles(tmp_path / "main.css") == ".a { color: red; }\n.b {\ncolor: blue;\n}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: path.name)
def test_every_component_is_one_module_that_parses_and_travels_packed(entry: Path) -> None:
    text = f"{scripts.bundle(entry)}\n//# sourceURL=headlight/{entry.name}"
    subprocess.run([NODE, "--check", "--input-type=module", "-"], input=text, check=True, encoding="utf-8")
    packed = scripts.bundled(entry)
    # What unpacks it is 700 characters.
    assert len(packed) < 700 + 0.55 * len(text)
    (code,) = re.findall(r'atob\("([^"]+)"\)', packed)
    assert zlib.decompress(base64.b64decode(code)).decode() == text


ENTRY = "pictures/tiles/tile_keeper.js"


@pytest.fixture
def own() -> Iterator[Any]:
    """The module as a process has it that serves nothing yet."""
    spec = spec_from_file_location("own_scripts", scripts.__file__)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    sys.modules[spec.name] = made  # its dataclasses look there
    spec.loader.exec_module(made)
    yield made
    del sys.modules[spec.name]


@pytest.fixture
def client(own: Any) -> Iterator[TestClient]:
    with TestClient(Starlette(routes=own.routes())) as client:
        yield client


def address_in(script: str) -> str:
    named = re.search(r'new URL\("([^"]+)", location\.origin\)', script)
    assert named is not None
    return named[1]


def test_without_a_server_a_script_travels_whole(own: Any) -> None:
    assert own.script(ENTRY) == scripts.bundled(ENTRY)


def test_a_served_script_is_the_bundle_and_may_be_kept_for_ever(client: TestClient, own: Any) -> None:
    address = address_in(own.script(ENTRY))
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer.text == scripts.bundle(ENTRY)
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert int(answer.headers["content-length"]) == len(zlib.compress(answer.text.encode(), 9))
    # The same script has the same address, and another one another.
    first, again = (address_in(own.script(ENTRY)) for _ in range(2))
    assert first == again
    assert first != address_in(own.script("pictures/head_grid/head_grid.js"))


@pytest.mark.parametrize("name", ["tile_keeper.js", "..%2f..%2fapp.py", "tile_keeper-0000000000000000.js"])
def test_any_other_name_is_refused(client: TestClient, name: str) -> None:
    assert client.get(f"/headlight-scripts/{name}").status_code == 404


def test_a_script_is_sent_all_its_texts_in_a_language_those_with_a_number_in_each_form() -> None:
    for entry, kind in (("pictures/head_grid/head_grid.js", str), ("pictures/words/word_picker.js", tuple)):
        texts = set(scripts.texts_in(scripts.bundle(entry).encode()))
        assert kind in map(type, texts)
        with messages.speaking("zh"):
            sent = json.loads(scripts.language_of(entry))
            assert sent["code"] == "zh"
            for text in texts:
                said = sent["texts"].pop(text if isinstance(text, str) else text[0])
                assert said == (messages.template(text) if isinstance(text, str) else messages.plural_forms(*text))
        assert not sent["texts"]
        assert scripts.language_of(entry) == ""


def test_below_a_base_path_the_address_begins_with_it(own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.get_option", {"server.baseUrlPath": "/here/"}.get)
    route = own.routes()[0]
    assert address_in(own.script(ENTRY)).startswith("/here/headlight-scripts/")
    assert route.path == "/here/headlight-scripts/{name}"
