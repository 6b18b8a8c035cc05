"""The documents as pages of the site: Markdown of the repository, and tables made from docstrings and the glossary.

English alone. No HTML of a document reaches a page, no script runs there, and a link leads to another page or is text.
"""

import ast
import inspect
import re
from collections.abc import Callable, Container, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from model.file_writing import make_folder, write_bytes, write_text
from viz.gallery import TYPEFACES
from viz.pictures.offline import text_page
from viz.text import glossary, messages
from viz.text.templates import filled

_ROOT: Final = Path(__file__).parents[2]
#: Of a clone, and of the package.
_FOLDERS: Final = (_ROOT / ".github" / "docs", _ROOT / "docs")
#: Documents in their order; those that are made are named below.
_WRITTEN: Final = ("tour", "models", "commands", "json", "class", "gallery", "architectures")
START: Final = "index"
_STYLE: Final = Path(__file__).with_name("docs.css").read_text(encoding="utf-8")
#: What pages call a number → the function that computes it, whose docstring says how; with its module where two share
#: the name.
NUMBERS: Final = {
    "Weight of a key": "attention_weights",
    "Entropy of a row": "entropy_bits",
    "Value-weighted norm": "value_weighted_norms",
    "Rollout": "attention_rollouts",
    "What a head adds": "derived_row.head_parts",
    "Spread of q · k": "dot_product_spread",
    "Metric of a head": "head_metrics",
    "Weight after an earlier copy (induction)": "after_earlier_copy",
    "Jobs of a head": "jobs_of_heads",
    "Alignment error rate": "count_links",
    "Diagonal baseline": "diagonal_links",
    "Link of a pronoun": "pronoun_link",
    "Scores of heads on a coreference set": "measure_coreference",
    "Share of the residual stream": "share_of_sum",
    "What follows a change of a head": "moved_by",
    "Layer norm": "layer_norm",
    "Effect of a head": "measure_effects",
    "Patching": "patch_heads",
    "Path patching": "patch_paths",
    "Gradient × input": "gradient_times_input",
    "Integrated gradients": "integrated_gradients",
    "ALTI": "alti",
    "Value zeroing": "value_zeroing",
    "Cost of a step": "step_cost",
    "BLEU and chrF": "evaluate",
}
#: What the API page lists of a package, in its order.
API: Final = {
    "model": (
        "open_reader", "Translator", "Reader", "Trace", "AttentionInputs", "attention_weights", "save_trace",
        "load_trace", "SwitchOff", "PointAt", "MakeUniform", "Sampling", "BeamTree", "DecodingStep", "Candidate",
    ),
    "viz.notebook": ("heads", "lines", "film", "why", "save", "Picture"),
}  # fmt: skip


def write(site: Path) -> int:
    """Write the documents into the folder `docs` of a site; return how many pages there are."""
    folder = next(folder for folder in _FOLDERS if (folder / "tour.md").is_file())
    texts = {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in _WRITTEN}
    texts |= {"numbers": _numbers(), "api": _api(), "glossary": _glossary()}
    titles = {name: _title(text) for name, text in texts.items()}
    with messages.speaking(messages.ENGLISH):
        texts[START] = "\n".join(["# Documents", "", *(f"- [{title}]({name}.md)" for name, title in titles.items())])
        make_folder(site / "docs" / "notebooks", site)
        for name, text in texts.items():
            body = filled("gallery/document.html", titles=titles, body=Markup(rendered(text, texts)))
            page = text_page(f"Headlight: {_title(text)}", body, _STYLE, sheets=[f"../{TYPEFACES}"])
            write_text(site / "docs" / f"{name}.html", page, site)
    for notebook in (folder / "notebooks").glob("*.ipynb"):
        write_bytes(site / "docs" / "notebooks" / notebook.name, notebook.read_bytes(), site)
    return len(texts)


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ").replace("`", "")


def rendered(text: str, pages: Container[str]) -> str:
    """Markdown as HTML, its own HTML as text; links to other documents lead to their pages."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            token.attrSet("id", re.sub(r"[^\w\- ]", "", following.content.lower()).replace(" ", "-"))
        if token.children is not None:
            token.children = list(_with_pages(token.children, pages))
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def _with_pages(tokens: Sequence[Token], pages: Container[str]) -> Iterator[Token]:
    """The tokens of a paragraph; a link to a file that the site does not have becomes plain text."""
    is_dropped = False
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrGet("href") or "")
            name, _dot, rest = address.partition(".md")
            is_page = name in pages and (not rest or rest.startswith("#"))
            if is_page:
                token.attrSet("href", f"{name}.html{rest}")
            is_dropped = not (is_page or address.startswith(("#", "notebooks/")))
        if not (is_dropped and token.type in ("link_open", "link_close")):
            yield token


def _numbers() -> str:
    """How each number is computed, as Markdown: the first line of what computes it."""
    known = dict(_functions())
    rows = [f"| {name} | {_cell(known[function][1])} | `{known[function][0]}` |" for name, function in NUMBERS.items()]
    lead = (
        "Each number of a page comes from one function, whose docstring has the formula and its source in full. "
        "§ are sections of *Attention Is All You Need*."
    )
    head = ("# How each number is computed", "", lead, "", "| number | how | function |", "|---|---|---|")
    return "\n".join((*head, *rows))


def _functions() -> Iterator[tuple[str, tuple[str, str]]]:
    """Each function of the model, alone and with its module → its path, and the first line of its docstring."""
    root = Path(str(import_module(_package("model")).__file__)).parent
    for file in sorted(root.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                module = ".".join(file.relative_to(root.parent).with_suffix("").parts)
                told = f"{module}.{node.name}", (ast.get_docstring(node) or "").partition("\n")[0]
                yield from ((name, told) for name in (node.name, f"{file.stem}.{node.name}"))


def _glossary() -> str:
    """The terms that the app explains, as Markdown."""
    terms = (f"- **{term.names[0]}**: {term.text}" for term in glossary.terms(messages.ENGLISH))
    return "\n".join(["# Glossary", "", *terms])


def _api() -> str:
    """What the package offers, as Markdown made from docstrings."""
    parts = [
        "# Python API",
        "Layers and heads count from 0, weights are `[head, query, key]` in float32, a mask is True where attention is "
        "allowed. Installed, all names but those of the notebook are those of `headlight`, and `open_reader` is "
        "`headlight.open`, which also finds the checkpoints that ship by their names.",
    ]
    for package, names in API.items():
        parts.append(f"## {package}")
        for name in names:
            parts += _described(name, getattr(import_module(_package(package)), name))
    return "\n\n".join(parts)


def _described(name: str, item: Any) -> Iterator[str]:
    """A class with its public methods, or a function: how it is called, and its docstring."""
    yield f"### {name}"
    yield f"```python\n{_signature(name, item)}\n```"
    yield f"```text\n{inspect.getdoc(item)}\n```"
    if inspect.isclass(item):
        methods = [
            f"- `{_called(method, value)}` – {_first_line(value)}"
            for method, value in vars(item).items()
            if not method.startswith("_") and (inspect.isroutine(value) or isinstance(value, property))
        ]
        yield "\n".join(methods)


def _called(name: str, value: Any) -> str:
    return name if isinstance(value, property) else f"{name}()"


def _signature(name: str, item: Callable[..., Any]) -> str:
    """A line that calls it, with the parameters' names and defaults."""
    try:
        parameters = inspect.signature(item).parameters.values()
    except ValueError:
        return name
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in parameters if each.name != "self"]
    return f"{name}{inspect.Signature(plain)}"


def _first_line(item: Any) -> str:
    target = item.__func__ if isinstance(item, classmethod | staticmethod) else item
    return (inspect.getdoc(target) or "").partition("\n")[0]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


def _package(name: str) -> str:
    """The package as it is called here: in a clone `model`, installed `headlight.model`."""
    return f"{__name__.removesuffix('viz.gallery.docs')}{name}"
