"""Write the Python that gives the numbers of a view: at most eight lines, which run alone with the installed package.

Each page says in its `VIEWS` what its tabs show. Texts, names and numbers come into a line by `line` alone, as
Python writes them, so nothing that a person or a file says is code.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viz.access import models, traces
from viz.access.given_files import FILES, Given
from viz.selection import catalogue, state
from viz.selection.choices import ModelChoice
from viz.server import limits

if TYPE_CHECKING:
    from model import Trace

MOST_LINES: Final = 8
#: The lines; or why there are none, as a sentence; "" where the view itself says it.
Snippet = tuple[str, ...] | str
#: The open tab → what gives its snippet, or why none has one.
Views = Mapping[str, Callable[..., Snippet] | str]
#: Module of `headlight.model` → the names that are taken from it.
Imports = Mapping[str, str]


@cache
def version() -> str:
    """The version of this program: of the installed package, else of the clone."""
    try:
        return metadata.version("headlight")
    except metadata.PackageNotFoundError:
        settings = (catalogue.OWN_ROOT.parent / "pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(settings)["project"]["version"])


def line(template: str, *values: object) -> str:
    """A line with a value, as Python writes it, in place of each {}."""
    return template.format(*map(repr, values))


def alone(imports: Imports, *lines: str, package: str = "headlight") -> Snippet:
    """Lines that open no model; the package itself is imported where they use it, with what else is named."""
    used = (f"import {package}",) if any("headlight." in each for each in lines) else ()
    names = (f"from headlight.model.{module} import {names}" for module, names in imports.items())
    return (f"# headlight=={version()}", *used, *names, *lines)


def of_model(imports: Imports, *lines: str, package: str = "headlight") -> Snippet:
    """Lines about `reader`, the chosen model."""
    return alone(imports, f"reader = {opened(state.current().model)}", *lines, package=package)


def open_head(trace: "Trace") -> tuple[str, int, int]:
    """Site, layer and head that are chosen, as far as the model has them."""
    common = state.current().for_model(trace.shapes).common
    return common.site, common.layer, common.head


def of_text(trace: "Trace", imports: Imports, *lines: str) -> Snippet:
    """Lines about `trace`, what the chosen model did with what it read; `reader` is the model."""
    if (kind := FILES.get(trace.source.kind)) is not None:
        chosen = Given.read(state.current().model.given_file)
        is_example = not chosen.digest or chosen.digest in kind.examples
        more, traced = kind.of_example if is_example else kind.of_file
        if chosen.hidden:
            more = {module: f"PartlyHidden, {names}" for module, names in more.items()}
        example, (before, part) = chosen.digest or next(iter(kind.examples)), chosen.call
        return of_model({**imports, **more}, traced.format(before=before, part=part, example=example), *lines)
    return of_reader(imports, line("trace = reader.trace({})", trace.text), *lines)


def of_written(trace: "Trace", imports: Imports, *lines: str) -> Snippet:
    """The same about what a model wrote, or was made to write."""
    if trace.key == traces.written(models.writer(state.current().model), trace.text).key and trace.source_tokens:
        return of_text(trace, imports, *lines)
    traced, edits = line("trace = reader.trace_tokens({}, {}", trace.text, [step.token_id for step in trace.steps]), ""
    if trace.edits:
        imports = {**imports, "nn.edits": ", ".join(sorted({type(edit).__name__ for edit in trace.edits}))}
        edits = line(", edits={}", list(trace.edits))
    return of_reader(imports, f"{traced}{edits})", *lines)


def of_reader(imports: Imports, *lines: str) -> Snippet:
    """Lines about `reader`, the chosen model as it reads a person's text: as a chat, or with a second text, where that
    is chosen.
    """
    model = state.current().model
    if model.second_text.strip() and models.kind(model) == "encoder":
        how = line(f"as_pair({opened(model).replace('{', '{{').replace('}', '}}')}, {{}})", model.second_text)
    elif models.reads_chat(model):
        how = f"as_chat({opened(model)})"
    else:
        return of_model(imports, *lines)
    return alone(imports, f"reader = headlight.model.opening.{how}", *lines, package="headlight.model.opening")


def opened(choice: ModelChoice) -> str:
    """The call that opens a model, in the languages that are chosen."""
    device = "" if choice.device == "auto" else line(", device={}", choice.device)
    known = models.offered(choice)
    named = {"reads": choice.reads if known.reads else "", "writes": choice.writes if known.writes else ""}
    spoken = ", ".join(f"{name}={code!r}" for name, code in named.items() if code)
    return line("headlight.open({}", source(choice)) + f"{device}){f'.speaking({spoken})' if spoken else ''}"


def source(choice: ModelChoice) -> str:
    """What opens a model: its name where it comes with Headlight, else its folder."""
    return place(models.folder(choice), models.name_of(choice))


def place(path: Path, name: str) -> str:
    """Where a folder or a file is: below the checkpoints that come with Headlight, else on disk.

    A shared server tells nobody its folders: there it is the name.
    """
    if path.is_relative_to(catalogue.OWN_ROOT):
        return path.relative_to(catalogue.OWN_ROOT).as_posix()
    return str(path) if limits.rules().names_folders else name


def folder(choice: ModelChoice) -> str:
    """The expression for the folder of a model; an absolute one stays what it is behind the /."""
    return line("headlight.CHECKPOINTS / {}", source(choice))
