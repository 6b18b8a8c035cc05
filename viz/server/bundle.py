"""Join a component's ES modules into the one script that Streamlit takes, and its style sheets into one.

From an entry module the bundler follows `import { a, b } from "./x.js";` and `import "./x.js";`, dependencies first,
each module once, all in one scope. What it cannot do faithfully it refuses with a `BundleError`: a missing file, a name
that is not exported, a circle, two modules that declare the same name, and every other form of import and export but
the entry's `export default`. Imports and declarations begin their lines, and no string spans lines, as the formatter
and the linter see to. What an imported module declares and nothing uses stays behind.
"""

import base64
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

#: Entries and styles are named by their paths in `viz`.
_FOLDER: Final = Path(__file__).parents[1]

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
def script(entry: str | Path) -> str:
    """The script for `st.components.v2.component(js=…)` of an entry module, whose default export is the component.

    For where no server of ours serves it (`viz.server.scripts`): Streamlit sends it with every message to the
    component, so it travels compressed, in a third of its length.
    """
    text = f"{bundle(entry)}\n//# sourceURL=headlight/{Path(entry).name}"
    return _UNPACKER.strip() % base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def classic_script(entry: str | Path) -> str:
    """The text for a `<script>` element of an entry module that exports nothing; its names stay its own."""
    return f"(() => {{\n{bundle(entry)}\n}})();"


def styles(entry: str | Path) -> str:
    """The text of a style sheet and of those that it imports, these before it, without comments and indentation."""
    modules: dict[Path, _Module] = {}
    _collect((_FOLDER / entry).resolve(), (), modules)
    return "\n".join(_squeezed(module.text) for module in modules.values())


def bundle(entry: str | Path) -> str:
    """The text of one module in which everything is that `entry` imports, without comments and indentation."""
    path = (_FOLDER / entry).resolve()
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
