"""Join a component's ES modules into one script, serve it as a file, and find what it says in a page run's language.

From an entry module the bundler follows `import { a, b } from "./x.js";` and `import "./x.js";`, dependencies first,
each module once, all in one scope. What it cannot do faithfully it refuses with a `BundleError`: a missing file, a name
that is not exported, a circle, two modules that declare the same name, and every other form of import and export but
the entry's `export default`. Imports and declarations begin their lines, and no string spans lines, as the formatter
and the linter see to. What an imported module declares and nothing uses stays behind.

A file is named by its content, so it never changes, and a browser fetches it once. Where no server of ours runs
(`routes` was not called: in tests of one component, in a notebook), scripts travel with the messages instead. Texts are
found in the bundled script itself, so each component is sent its own texts and nothing else; in English, nothing.
"""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from viz.text import messages

#: Entries and styles are named by their paths in `viz`.
_VIZ: Final = Path(__file__).parents[1]

#: Comments that have lines of their own, JSDoc wherever it stands, and what lies between the ends of two lines.
_COMMENT: Final = re.compile(r"^\s*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/)\s*$|/\*\*(?:(?!\*/).)*\*/ ?", re.MULTILINE)
_BETWEEN_LINES: Final = re.compile(r"\s*\n\s*")

#: In a script, or, with @, in a style sheet.
_IMPORT: Final = re.compile(r'^@?import (?:\{([^{}]*)\} from )?"(\.{1,2}/[^"]+)";$', re.MULTILINE)
_DECLARED: Final = re.compile(
    r"^(export )?(?:async )?(?:function\*? |class |(?:const|let|var) )([\w$]+|\[[^=]*\]|\{[^=]*\})", re.MULTILINE
)
_DEFAULT: Final = re.compile(r"^export default ", re.MULTILINE)
_ANY_FORM: Final = re.compile(r"^(?:(?:import|export)\b.*|.*\bimport\(.*)", re.MULTILINE)
_NAME: Final = re.compile(r"[\w$]+")
#: What may be the name of a declaration: not a property, which stands after a single dot.
_MENTIONED: Final = re.compile(r"(?<![\w$])(?<!(?<!\.)\.)[\w$]+")

#: Where a declaration or statement of a module begins: all others are indented, or close what was begun.
_TOP_LEVEL: Final = re.compile(r"^(?=[^\s)\]}])", re.MULTILINE)

#: Unpacks a script; its component is this module's.
_UNPACKER: Final = """
const bytes = Uint8Array.from(atob("%s"), (byte) => byte.charCodeAt(0));
const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const script = await new Response(unpacked, { headers: { "content-type": "text/javascript" } }).blob();
export default (await import(URL.createObjectURL(script))).default;
"""


class BundleError(Exception):
    """Modules that cannot be joined into one script: the message names the file and what is wrong in it."""


@dataclass(frozen=True)
class _Module:
    path: Path
    text: str
    imports: tuple[tuple[Path, tuple[str, ...]], ...]
    declared: frozenset[str]
    exported: frozenset[str]
    has_default: bool


@cache
def bundled(entry: str | Path) -> str:
    """The script for `st.components.v2.component(js=…)` of an entry module, whose default export is the component.

    For where no server of ours serves it (`viz.server.scripts`): Streamlit sends it with every message to the
    component, so it travels compressed, in a third of its length.
    """
    text = f"{bundle(entry)}\n//# sourceURL=headlight/{Path(entry).name}"
    return _UNPACKER.strip() % base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def classic_script(entry: str | Path) -> str:
    """The text for a `<script>` element of an entry module that exports nothing; its names stay its own."""
    return f"(() => {{\n{bundle(entry)}\n}})();"


@cache
def styles(entry: str | Path) -> str:
    """The text of a style sheet and of those that it imports, these before it, without comments and indentation."""
    modules: dict[Path, _Module] = {}
    _collect((_VIZ / entry).resolve(), (), modules)
    return "\n".join(_squeezed(module.text) for module in modules.values())


def bundle(entry: str | Path) -> str:
    """The text of one module in which everything is that `entry` imports, without comments and indentation."""
    path = (_VIZ / entry).resolve()
    modules: dict[Path, _Module] = {}
    _collect(path, (), modules)
    owners: dict[str, Path] = {}
    for module in modules.values():
        if module.has_default and module.path != path:
            raise BundleError(f"{module.path}: only the entry module may have a default export.")
        for name in sorted(module.declared):
            if name in owners:
                raise BundleError(f"{module.path} and {owners[name]} both declare `{name}`: rename one of them.")
            owners[name] = module.path
    return _squeezed("".join(_used(list(modules.values()))))


def _used(modules: Sequence[_Module]) -> list[str]:
    """Declarations and statements in their order: all of the entry, the last module, and of the others what is used."""
    parts = [
        (module, part)
        for module in modules
        for part in _TOP_LEVEL.split(_DECLARED.sub(_without_export, f"{module.text}\n"))
    ]
    declarations = [_DECLARED.match(part) for _, part in parts]
    names = [set(_NAME.findall(match[2])) if match else set() for match in declarations]
    # A statement, which declares no name, is used for what it does.
    kept = {i for i, (module, _) in enumerate(parts) if module is modules[-1] or not names[i]}
    waiting = list(kept)
    while waiting:
        words = _MENTIONED.findall(parts[waiting.pop()][1])
        mentioned = {i for i, declared in enumerate(names) if not declared.isdisjoint(words)} - kept
        kept |= mentioned
        waiting += mentioned
    return [parts[i][1] for i in sorted(kept)]


def _collect(path: Path, importers: tuple[Path, ...], modules: dict[Path, _Module]) -> None:
    """Put a module into `modules` behind those that it imports."""
    if path in importers:
        circle = " → ".join(member.name for member in (*importers[importers.index(path) :], path))
        raise BundleError(f"{path}: modules import each other in a circle: {circle}.")
    if path in modules:
        return
    if not path.is_file():
        by = f", which {importers[-1]} imports" if importers else ""
        raise BundleError(f"{path} does not exist{by}.")
    module = _read(path)
    for imported, names in module.imports:
        _collect(imported, (*importers, path), modules)
        for name in names:
            if name not in modules[imported].exported:
                raise BundleError(f"{path} imports `{name}`, which {imported} does not export.")
    modules[path] = module


@cache
def _read(path: Path) -> _Module:
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    imports = []
    for match in _IMPORT.finditer(text):
        names = tuple(filter(None, (name.strip() for name in (match[1] or "").split(","))))
        if not all(map(_NAME.fullmatch, names)):
            raise BundleError(f"{path}: `{' '.join(match[0].split())}` renames what it imports: use one name for it.")
        imports.append(((path.parent / match[2]).resolve(), names))
    text = _IMPORT.sub("", text)
    declared: list[str] = []
    exported: list[str] = []
    for match in _DECLARED.finditer(text):
        names = tuple(_NAME.findall(match[2]))
        declared += names
        exported += names if match[1] else ()
    unknown = _ANY_FORM.search(_DEFAULT.sub("", _DECLARED.sub(_without_export, text)))
    if unknown:
        raise BundleError(f"{path}: the bundler does not know the form `{unknown[0].strip()}`.")
    has_default = bool(_DEFAULT.search(text))
    return _Module(path, text, tuple(imports), frozenset(declared), frozenset(exported), has_default)


def _without_export(match: re.Match[str]) -> str:
    return match[0].removeprefix("export ")


def _squeezed(text: str) -> str:
    return _BETWEEN_LINES.sub("\n", _COMMENT.sub("", text)).strip()


_FOLDER: Final = "/headlight-scripts"
_HEADERS: Final = {
    "Content-Encoding": "deflate",
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}
#: Name → content, compressed.
_FILES: Final[dict[str, bytes]] = {}
#: What a component's message carries instead: Streamlit imports it as a module without an address, so that only a
#: whole address leads from it to another.
_IMPORTER: Final = """const file = await import(new URL(%s, location.origin).href);
export default file.default;
"""

_is_served = False


def routes() -> list[Route]:
    """The route that serves scripts; components declared from now on are served by it."""
    global _is_served
    _is_served = True
    return [Route(f"{_base()}{_FOLDER}/{{name}}", _serve)]


def script(entry: str) -> str:
    """The script for `st.components.v2.component(js=…)` of an entry module, whose default export is the component."""
    if not _is_served:
        return bundled(entry)
    return _IMPORTER % json.dumps(address(entry))


@cache
def address(entry: str) -> str:
    """The path at which the server of ours answers with the script of an entry module."""
    text = bundle(entry).encode("utf-8")
    name = f"{PurePosixPath(entry).stem}-{hashlib.sha256(text).hexdigest()[:16]}.js"
    _FILES[name] = zlib.compress(text, 9)
    return f"{_base()}{_FOLDER}/{name}"


def _base() -> str:
    """The base path of the server's addresses."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


async def _serve(request: Request) -> Response:
    content = _FILES.get(request.path_params["name"])
    if content is None:
        return Response("There is no such script; load the page anew.", status_code=404)
    return Response(content, media_type="text/javascript", headers=_HEADERS)


#: The functions of `messages.js` whose first argument is a text; `plural` has two.
_FUNCTIONS: Final[Mapping[str, None]] = {"_": None, "said": None, "plural": None}


def texts_in(script: bytes) -> Iterator[str | tuple[str, str]]:
    """The texts of a script; a text with a number is a pair, for 1 and for other numbers."""
    from babel.messages.extract import extract_javascript

    for _line, function, found, _comments in extract_javascript(BytesIO(script), _FUNCTIONS, (), {}):
        one, many = (*found, None)[:2] if isinstance(found, list | tuple) else (found, None)
        if one and many and function == "plural":
            yield one, many
        elif one and function != "plural":
            yield one


def language_of(entry: str) -> str:
    """JSON for `speak` of `messages.js`: the language and the texts of the script of an entry module; "" in English."""
    code = messages.language()
    return "" if code == messages.ENGLISH else _table(entry, code)


@cache
def _table(entry: str, code: str) -> str:
    found: dict[str, str | dict[str, str]] = {}
    with messages.speaking(code):
        for text in texts_in(bundle(entry).encode()):
            if isinstance(text, tuple):
                found[text[0]] = messages.plural_forms(*text)
            else:
                found[text] = messages.template(text)
    return json.dumps({"code": messages.tag(code), "texts": found}, ensure_ascii=False, separators=(",", ":"))
