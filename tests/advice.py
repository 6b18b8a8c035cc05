"""Collect what messages, pages and READMEs advise a person to run: commands, and lines of Python.

In the source these are string constants that are no docstrings; in a README, blocks of code and spans between
backticks. A hole of an f-string or of a message is "{…}" here, as it stands in the source.
"""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tests.paths import ROOT

#: What people who only use Headlight read; CONTRIBUTING and the benchmarks are for those who change it.
READMES: Final = (
    ROOT / "README.md",
    *sorted((ROOT / ".github" / "docs").glob("*.md")),
    ROOT / ".github" / "SHARED-SERVER.md",
    *sorted(path for folder in ("model", "viz", "checkpoints") for path in (ROOT / folder).rglob("README.md")),
)
#: Options by which a command of `python -m model` does the same in a second.
_SHAPE: Final = "--vocab-size 370 --d-model 16 --steps 2 --save-every 1 --device cpu"
SHORTER: Final = {
    "train": f"{_SHAPE} --dev-limit 1",
    "ablations": "--limit 1 --device cpu",
    "atlas": "--limit 1",
    "claims": "--size 64 --width 16",
    "copying": "--sentences 2",
    "pronouns": "--pairs 1",
    "reasons": "--limit 1",
}
_COMMAND: Final = re.compile(r"(?:python3? -m [\w.]+|pip install|torchrun|cp -\w+|[.\w/]*streamlit run)(?: .+)?")
_CALL: Final = re.compile(r"[\w.]+\(.*\)(?:\.\w+\(.*\))*")
_OPTION: Final = re.compile(r"--[a-z][\w-]*")
_SPAN: Final = re.compile(r"`([^`]+)`")
#: A command or a call of the libraries that stands anywhere.
_BARE: Final = re.compile(r"python3? -m [\w.]+ \S|pip install|torchrun|_pretrained\(|merge_and_unload")
_MAY_ADVISE: Final = re.compile(rf"`[^`\n]*(?:[(]|--|cp -|streamlit run)|{_BARE.pattern}")


def in_source() -> dict[str, str]:
    """Each piece of advice in a message or on a page → the place where it stands first."""
    return {advice: place for place, text in reversed(_constants()) for advice in _advice_in(text)}


def outside_backticks() -> list[str]:
    """Constants in which a command stands, but neither between backticks nor alone: no test would find it."""
    texts = ((place, _SPAN.sub("", text)) for place, text in _constants() if not _COMMAND.fullmatch(text))
    return [f"{place}: {text}" for place, text in texts if _BARE.search(text)]


def in_readmes(paths: Iterable[Path] = READMES) -> dict[str, str]:
    """Each command of a README → its place. A line that ends with a backslash goes on; comments are no part of it."""
    found: dict[str, str] = {}
    for path in paths:
        text, place = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            lines = re.sub(r"\\\n\s*", "", block).splitlines()
            found |= {_without_comment(line): place for line in lines}
        spans = _SPAN.findall(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
        found |= {span: place for span in spans if _COMMAND.fullmatch(span) or _BARE.search(span)}
    return found


def shortened(name: str, options: Sequence[str]) -> list[str]:
    """The options of a command of `python -m model`, and those by which it takes a second."""
    if "--help" in options:
        return [*options]
    layers = ["--num-layers", "1", "--d-ff", "16"] if name == "train" and "gru" not in options else []
    return [*options, *shlex.split(SHORTER.get(name, "")), *layers]


def _advice_in(text: str) -> list[str]:
    if _COMMAND.fullmatch(text) and text != "python -m model":
        return [_without_comment(text)]
    spans = [span for span in _SPAN.findall(text) if not span.startswith("${")]
    return [span for span in spans if any(kind.fullmatch(span) for kind in (_COMMAND, _CALL, _OPTION))]


def _without_comment(line: str) -> str:
    return re.sub(r"\s+# .*", "", line)


@cache
def _constants() -> list[tuple[str, str]]:
    paths = [*sorted((ROOT / "model").rglob("*.py")), *sorted((ROOT / "viz").rglob("*.py")), ROOT / "app.py"]
    sources = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}
    return [
        (f"{path}:{line}", text)
        for path, source in sources.items()
        if _MAY_ADVISE.search(source)
        for line, text in _texts(ast.parse(source))
        if _MAY_ADVISE.search(text)
    ]


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings that are more than a docstring, each whole: an f-string with its holes, and its parts not again."""
    # A docstring, of a module, class or function or after a constant, is a statement of its own.
    nodes = list(ast.walk(tree))
    passed = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values}
            yield node.lineno, "".join(map(_part, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _part(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"  # type: ignore[attr-defined]
