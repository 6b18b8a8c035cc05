"""Write exhibits as a site: pages that share their scripts, in every language, with addresses relative to each other.

From a disk a browser imports no module and fetches no file. So what a page draws, scripts and packed data, comes as
scripts that leave it in one object of the page; the last one draws it. The walk of a trace comes
when a person opens it.

A payload is cut into pieces, its header and its arrays. Each goes into one of three files: that of a language, that of
the page in all languages, or that of all walks of a model. A file holds its pieces one after another, each behind its
length, compressed and in base 85, which takes a sixteenth less than base 64. `draw_gallery.js` puts them together.
"""

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import numpy as np
from jaxtyping import Float

from model.file_writing import make_folder, write_text
from viz.access import attention, models
from viz.access.findings import Finding
from viz.gallery import PARTS, PROGRAM, docs, drawings
from viz.gallery.contents import Exhibit, Section
from viz.pages.attention.opened_head.captions import HOW_TO_READ
from viz.pages.learn.story import bar
from viz.pages.learn.transformer import walk_file
from viz.pages.learn.transformer.walk_payload import MOST, WalkState
from viz.pictures.offline import Drawing, draw_parts, text_page
from viz.pictures.payload import fingerprint
from viz.selection.choices import ModelChoice
from viz.text import messages, written
from viz.text.html import literal
from viz.text.messages import _, shown, speaking
from viz.text.written import decimal
from viz.ui import finding, token_labels

if TYPE_CHECKING:
    from model import Trace

#: What a page draws at once, and what is drawn when a person opens it.
Group = Literal["picture", "walk"]
#: Every file begins with it.
LEAVE: Final = "globalThis.headlightGallery ??= { own: {}, shared: {}, scripts: {} };\nheadlightGallery."
_BYTES: Final = {"uint8": 1, "uint16": 2, "float32": 4}
#: Bytes that nothing has when it is compressed.
_NOTHING: Final = 8
#: Files by their places in what a script knows of a payload: "0121" is one of four pieces.
_OWN, _SHARED, _OF_MODEL = "012"


@dataclass(slots=True)
class _Pieces:
    """The pieces in one file."""

    joined: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> None:
        self.joined += struct.pack("<I", len(piece)) + piece

    def text(self) -> str:
        return json.dumps(base64.b85encode(zlib.compress(self.joined, 9)).decode("ascii"))


def data_files(page: str, group: Group, drawn: Mapping[str, Sequence[Drawing]]) -> tuple[dict[str, str], list[str]]:
    """Of each file, by its name without the ending, the text; and the names of those that every language needs.

    The file of a language is called like the page and the group, then its code. Pictures of languages (`drawn`) differ
    in what they say; a walk's last array but one is that of the model.
    """
    told = {code: _payloads(code, drawings) for code, drawings in drawn.items()}
    own = {code: _Pieces() for code in drawn}
    shared, of_model, plan = _Pieces(), _Pieces(), list[list[str]]()
    for picture in zip(*told.values(), strict=True):
        plan.append([])
        for payload in zip(*picture, strict=True):
            places = ""
            for at, piece in enumerate(zip(*payload, strict=True)):
                is_same = len(set(piece)) == 1
                is_of_model = group == "walk" and at == len(payload[0]) - 2 and len(piece[0]) > _NOTHING
                places += _OF_MODEL if is_of_model else _SHARED if is_same else _OWN
                if is_same:
                    (of_model if is_of_model else shared).add(piece[0])
                else:
                    for pieces, each in zip(own.values(), piece, strict=True):
                        pieces.add(each)
            plan[-1].append(places)
    model = f"model-{fingerprint(of_model.text())}"
    name = f"{page}-{group}"
    commons = {name: shared} | ({model: of_model} if of_model.joined else {})
    files = {each: f"{LEAVE}shared[{json.dumps(each)}] = {pieces.text()};\n" for each, pieces in commons.items()}
    for code, pieces in own.items():
        known = json.dumps({"plan": plan, "shared": list(commons)}, separators=(",", ":"))
        files[f"{name}.{code}"] = f"{LEAVE}own.{group} = {{ ...{known}, data: {pieces.text()} }};\n"
    return files, list(commons)


def _payloads(code: str, drawings: Sequence[Drawing]) -> list[list[list[bytes]]]:
    """Of each picture in a language the pieces of its plan, and of each payload."""
    with speaking(code):
        return [
            [[json.dumps(drawing.plan()).encode()], *(list(_pieces(payload)) for payload in drawing.payloads())]
            for drawing in drawings
        ]


def _pieces(payload: bytes) -> Iterator[bytes]:
    """The header with its length, then the arrays."""
    (length,) = struct.unpack_from("<I", payload)
    end = 4 + length
    yield payload[:end]
    for kind, count in json.loads(payload[4:end])["arrays"]:
        start, end = end, end + count * _BYTES[kind]
        yield payload[start:end]


_FOLDER: Final = Path(__file__).parent
_STYLE: Final = (_FOLDER / "gallery.css").read_text(encoding="utf-8")
_DRAW: Final = (_FOLDER / "draw_gallery.js").read_text(encoding="utf-8")
_MARK: Final = (_FOLDER.parent / "mark.svg").read_text(encoding="utf-8")
#: Of queries, keys, values and weights of a walk: they are known to a two-thousandth.
WALK_BITS: Final = 10
#: A card has a line for each weight from this part of the largest on, in a picture of this width and height.
_LEAST, _WIDE, _HIGH = 0.08, 240, 64
#: Characters of a text on a card.
_LONGEST: Final = 120
START: Final = "index"

_Made = TypeVar("_Made")


def write(folder: Path, exhibits: Sequence[Exhibit], *, has_story: bool) -> int:
    """Write the site; return how many pages it has. Raises a DataError if a file cannot be written.

    `has_story`: whether the first two exhibits are the sentence of the story and its twin, with which it then begins.
    """
    for part in PARTS:
        make_folder(folder / part, folder)
    write_text(folder / "scripts" / "draw.js", f"{draw_parts()}{_DRAW}drawGallery(draw);\n", folder)
    _Site(folder, tuple(exhibits), has_story).write()
    return len(messages.languages()) * (1 + len(exhibits)) + docs.write(folder)


@dataclass(frozen=True, slots=True)
class _Site:
    """What is written; arguments as of `write`."""

    folder: Path
    exhibits: tuple[Exhibit, ...]
    has_story: bool
    written: set[str] = field(default_factory=set)

    def write(self) -> None:
        runs = [exhibit.run for exhibit in self.exhibits[: 2 if self.has_story else 1]]
        drawn = _in_languages(lambda: [drawings.words_as_lines(*run) for run in runs if run is not None])
        for code, files in self._write_pictures(START, "picture", drawn).items():
            with speaking(code):
                self._write_start(files)
        for number, exhibit in enumerate(self.exhibits):
            sections = _in_languages(lambda exhibit=exhibit: list(exhibit.sections()))  # type: ignore[misc]
            pictures = {code: [drawing for _heading, drawing in of] for code, of in sections.items()}
            files_of = self._write_pictures(self._name(number), "picture", pictures)
            walks, lacks = self._write_walks(number)
            for code, files in files_of.items():
                with speaking(code):
                    walk = _walk(self.folder, walks.get(code, ()), lacks)
                    self._write_exhibit(number, sections[code], files, walk)

    def _name(self, number: int) -> str:
        """Of an exhibit's files."""
        return written.file_name(f"{number + 1:02}", sentence=self.exhibits[number].text).removeprefix("headlight-")

    def _write_start(self, files: Sequence[str]) -> None:
        figures = ""
        for number, exhibit in enumerate(self.exhibits[: 2 if self.has_story else 1]):
            if exhibit.run is None:
                continue
            told = bar.sentence(number + 1) if self.has_story else finding.sentence(exhibit.run[2])
            figures += (
                f'<figure><h2 dir="auto">{literal(exhibit.text)}</h2><div id="picture-{number}"></div>'
                f"<figcaption>{_with_bold(told)}</figcaption></figure>"
            )
        cards = "".join(
            f'<h2>{literal(shown(group))}</h2><ul class="cards">{"".join(map(self._card, numbers))}</ul>'
            for group, numbers in groupby(range(len(self.exhibits)), lambda number: self.exhibits[number].group)
        )
        lead = _(
            "Headlight shows what every attention head of a Transformer does while it reads a text and while it "
            "writes. Here are finished traces: point at words, open heads, step through translations."
        )
        documents = _("Documents: the tour, commands, how each number is computed, the Python API, the glossary")
        body = (
            f'<h1>{literal(_("See what every attention head does"))}</h1><p class="lead">{literal(lead)}</p>'
            f'<div class="hero">{figures}</div>{cards}<footer><p>{literal(_("Your own sentences and models:"))}</p>'
            f'<pre>{PROGRAM} --out site --text "…" --model path/to/a/model</pre>'
            f'<p><a href="docs/index.html">{literal(documents)}</a></p></footer>'
        )
        self._write_page(START, "Headlight", f'<main class="start">{body}</main>', files)

    def _card(self, number: int) -> str:
        exhibit = self.exhibits[number]
        output = f'<p dir="auto">→ {literal(_short(exhibit.written))}</p>' if exhibit.written else ""
        # What is to be seen of several is said once.
        note = "" if number and exhibit.note == self.exhibits[number - 1].note else _(exhibit.note)
        return (
            f'<li><a href="{_address(self._name(number))}">{_thumbnail(exhibit.weights)}'
            f'<p class="label">{literal(exhibit.label)}</p><h3 dir="auto">{literal(_short(exhibit.text))}</h3>{output}'
            f'<p class="note">{literal(note)}</p></a></li>'
        )

    def _write_walks(self, number: int) -> tuple[dict[str, list[str]], str]:
        """The files of an exhibit's walk in each language; without, why there is none, "" of a training."""
        run = self.exhibits[number].run
        if run is None:
            return {}, ""
        trace, choice, found = run
        if reason := walk_file.why_not(trace, models.reader(choice)):
            return {}, reason
        alike = [each.run[0] for each in self.exhibits if each.run is not None and each.run[1] == choice]
        projects, codes = walk_file.projections_are_smaller(alike), list(messages.languages())
        walks = walks_of(trace, choice, found, codes, projects=projects)
        drawn = {code: [walk] for code, walk in zip(codes, walks, strict=True)}
        return self._write_pictures(self._name(number), "walk", drawn), ""

    def _write_exhibit(self, number: int, sections: Sequence[Section], files: Sequence[str], walk: str) -> None:
        exhibit = self.exhibits[number]
        parts = {str(at): heading for at, (heading, _drawing) in enumerate(sections) if heading}
        parts |= {"walk": _("The Transformer as one picture")} if walk else {}
        links = "".join(f'<a href="#part-{at}">{literal(heading)}</a>' for at, heading in parts.items())
        first, *others = (
            (f'<h2 id="part-{at}">{literal(heading)}</h2>' if heading else "")
            + f'<div class="parts-{len(drawing.parts)}" id="picture-{at}"></div>'
            for at, (heading, drawing) in enumerate(sections)
        )
        how = "".join(f"<p>{literal(_(text))}</p>" for text in HOW_TO_READ.values()) if exhibit.trace else ""
        label = f"{shown(exhibit.group)} · {exhibit.label}"
        body = (
            f'<p class="label">{literal(label)}</p><h1 dir="auto">{literal(exhibit.text)}</h1>{first}'
            f'<p class="note">{literal(_(exhibit.note))}</p><nav>{links}</nav>{"".join(others)}{walk}'
            f"<footer>{how}</footer>"
        )
        ways = ((number - 1, "←", _("Previous")), (number + 1, "→", _("Next")))
        around = "".join(
            f'<a href="{_address(self._name(other))}" aria-label="{literal(name)}">{sign}</a>'
            for other, sign, name in ways
            if other in range(len(self.exhibits))
        )
        title = _("Headlight: {text}", text=_short(exhibit.text))
        self._write_page(self._name(number), title, f'<main class="exhibit">{body}</main>', files, around)

    def _write_page(self, name: str, title: str, body: str, files: Sequence[str], around: str = "") -> None:
        """A page with the way to others, and its pictures in files of their own."""
        languages = "".join(
            f'<a lang="{messages.tag(code)}" href="{_address(name, code)}">{literal(own)}</a>'
            for code, own in messages.languages().items()
            if code != messages.language()
        )
        head = f'<header><a class="home" href="{_address(START)}">{_MARK} Headlight</a>{around}{languages}</header>'
        told = _("This page draws its pictures with JavaScript: allow it to see them.")
        head += f"<noscript><p>{literal(told)}</p></noscript>"
        missing = _("Pictures are missing here: a data file could not be loaded. Reload the page to try again.")
        head += f'<p id="not-loaded" role="alert" hidden>{literal(missing)}</p>'
        page = text_page(title, head + body, _STYLE, files=[*files, "scripts/draw.js"])
        write_text(self.folder / _address(name), page, self.folder)

    def _write_pictures(self, page: str, group: Group, drawn: Mapping[str, Sequence[Drawing]]) -> dict[str, list[str]]:
        """Write pictures of a page; the files that each language needs. Arguments as of `data_files`."""
        files, commons = data_files(page, group, drawn)
        for name, text in files.items():
            self._write(f"data/{name}.js", text)
        alike = next(iter(drawn.values()))
        scripts = dict.fromkeys(self._script(*script) for each in alike for script in each.scripts().items())
        return {
            code: [*scripts, *(f"data/{name}.js" for name in (*commons, f"{page}-{group}.{code}"))] for code in drawn
        }

    def _write(self, address: str, text: str) -> None:
        """Write a file that several pages share once."""
        if address not in self.written:
            self.written.add(address)
            write_text(self.folder / address, text, self.folder)

    def _script(self, path: str, text: str) -> str:
        """The address of the file that leaves a component's script."""
        address = f"scripts/{PurePosixPath(path).stem}.js"
        self._write(address, f"{LEAVE}scripts[{json.dumps(path)}] = {json.dumps(text)};\n")
        return address


def _address(name: str, code: str = "") -> str:
    """Of a page, in a language or that of this code."""
    code = code or messages.language()
    return f"{name}.html" if code == messages.ENGLISH else f"{name}.{code}.html"


def _in_languages(make: Callable[[], _Made]) -> dict[str, _Made]:
    """The same in each language."""
    made = {}
    for code in messages.languages():
        with speaking(code):
            made[code] = make()
    return made


def _walk(folder: Path, files: Sequence[str], lacks: str) -> str:
    """The walk, closed, or why there is none; "" of a training."""
    heading = f'<h2 id="part-walk">{literal(_("The Transformer as one picture"))}</h2>'
    if lacks:
        return f'{heading}<p class="note">{literal(shown(lacks))}</p>'
    if not files:
        return ""
    size = sum((folder / file).stat().st_size for file in files) / 1e6
    told = _("Zoom from the model to one product of two numbers ({size} MB)", size=decimal(size, 1))
    note = _(
        "Queries, keys, values and weights are known here to a two-thousandth of each; vectors drawn as strips, with "
        "≈, to a 63rd of their largest component. Switching a head off needs the model."
    )
    return (
        f'{heading}<details data-scripts="{literal(" ".join(files))}"><summary>{literal(told)}</summary>'
        f'<div id="walk-0"></div><p class="note">{literal(note)}</p></details>'
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _with_bold(text: str) -> str:
    """A sentence as HTML, with the parts between ** bold."""
    return "".join(f"<b>{literal(part)}</b>" if at % 2 else literal(part) for at, part in enumerate(text.split("**")))


def _thumbnail(weights: Float[np.ndarray, "query key"]) -> str:
    """A head as lines from its queries below to its keys above."""
    shares = weights / max(float(weights.max()), 1e-9)
    below, above = (np.linspace(6, _WIDE - 6, 2 * count + 1)[1::2] for count in weights.shape)
    lines = "".join(
        f'<path d="M{below[query]:.0f} {_HIGH - 5}L{above[key]:.0f} 5" opacity="{shares[query, key]:.2f}"/>'
        for query, key in np.argwhere(shares >= _LEAST)
    )
    dots = "".join(
        f'<circle cx="{x:.0f}" cy="{y}" r="2"/>' for side, y in ((above, 5), (below, _HIGH - 5)) for x in side
    )
    return f'<svg viewBox="0 0 {_WIDE} {_HIGH}" aria-hidden="true">{lines}{dots}</svg>'


def walks_of(
    trace: "Trace", choice: ModelChoice, found: Finding, languages: Iterable[str], *, projects: bool
) -> list[Drawing]:
    """The whole walk in each language, from what was found; `projects` as of `walk_file.drawings`."""
    site, link, reader = found.site, found.link, models.reader(choice)
    row = token_labels.default_row(trace, site, models.languages(choice)) if link is None else link.row
    key = int(trace.weights(site, found.layer, [found.head], [row]).argmax()) if link is None else link.key
    of_row = attention.derived_row(trace, site, found.layer, found.head, row, scaled=True, masked=True)
    place = WalkState(
        step=MOST - 1,
        depth="model",
        end="",
        site=site,  # type: ignore[arg-type]  # one of the trace's
        layer=found.layer,
        head=found.head,
        row=row,
        key=key,
        dimension=int(of_row.products[key].abs().argmax()),
        stop=0,
        lines="strongest",
        edit="",
    )
    name = written.file_name("transformer", sentence=trace.text)
    return walk_file.drawings(trace, reader, place, name, languages, bits=WALK_BITS, projects=projects)
