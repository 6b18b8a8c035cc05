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
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import numpy as np
from jaxtyping import Float
from markupsafe import Markup

from model.file_writing import make_folder, write_text
from model.interruption import no_progress
from viz.access import attention, models
from viz.access.findings import Finding
from viz.gallery import PARTS, PROGRAM, TYPEFACES, docs, drawings, typefaces
from viz.gallery.contents import Exhibit, Section
from viz.pages.attention.opened_head.captions import HOW_TO_READ
from viz.pages.learn.story import bar
from viz.pages.learn.transformer import walk_file
from viz.pages.learn.transformer.walk_payload import MOST, WalkState
from viz.pictures.offline import Drawing, draw_parts, text_page
from viz.pictures.payload import fingerprint
from viz.selection.choices import ModelChoice
from viz.text import messages, written
from viz.text.messages import _, speaking
from viz.text.templates import filled
from viz.text.written import decimal
from viz.ui import finding, token_labels

if TYPE_CHECKING:
    from model import Trace

#: What a page draws at once, and what is drawn when a person opens it.
Group = Literal["picture", "walk"]
#: Every file begins with it.
LEAVE: Final = "globalThis.headlightGallery ??= { own: {}, shared: {}, scripts: {} };\nheadlightGallery."
_BYTES: Final = {"uint8": 1, "uint16": 2, "int16": 2, "float32": 4}
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
_MARK: Final = Markup((_FOLDER.parent / "mark.svg").read_text(encoding="utf-8"))
#: Of queries, keys, values and weights of a walk: they are known to a two-thousandth.
WALK_BITS: Final = 10
#: A card has a line for each weight from this part of the largest on, in a picture of this width and height.
_LEAST, _WIDE, _HIGH = 0.08, 240, 64
#: Characters of a text on a card.
_LONGEST: Final = 120
_HEAD: Final = re.compile(r"\b(L\d+) (H\d+)\b")
START: Final = "index"

_Made = TypeVar("_Made")


def write(
    folder: Path, exhibits: Sequence[Exhibit], *, has_story: bool, progress: Callable[[int], object] = no_progress
) -> int:
    """Write the site; return how many pages it has. Raises a DataError if a file cannot be written.

    `has_story`: whether the first two exhibits are the sentence of the story and its twin, with which it then begins.
    `progress` is told of each exhibit.
    """
    for part in PARTS:
        make_folder(folder / part, folder)
    write_text(folder / TYPEFACES, typefaces.style_sheet(), folder)
    write_text(folder / "scripts" / "draw.js", f"{draw_parts()}{_DRAW}drawGallery(draw);\n", folder)
    _Site(folder, tuple(exhibits), has_story).write(progress)
    return len(messages.languages()) * (1 + len(exhibits)) + docs.write(folder)


@dataclass(frozen=True, slots=True)
class _Site:
    """What is written; arguments as of `write`."""

    folder: Path
    exhibits: tuple[Exhibit, ...]
    has_story: bool
    written: set[str] = field(default_factory=set)

    def write(self, progress: Callable[[int], object]) -> None:
        runs = [exhibit.run for exhibit in self.exhibits[: 2 if self.has_story else 1]]
        drawn = _in_languages(lambda: [drawings.words_as_lines(*run) for run in runs if run is not None])
        for code, files in self._write_pictures(START, "picture", drawn).items():
            with speaking(code):
                self._write_start(files)
        for number, exhibit in enumerate(self.exhibits):
            sections = _in_languages(lambda exhibit=exhibit: list(exhibit.sections()))  # type: ignore[misc]
            pictures = {code: [section.drawing for section in of] for code, of in sections.items()}
            files_of = self._write_pictures(self._name(number), "picture", pictures)
            walks, lacks = self._write_walks(number)
            for code, files in files_of.items():
                with speaking(code):
                    self._write_exhibit(number, sections[code], files, walks.get(code, ()), lacks)
            progress(1)

    def _name(self, number: int) -> str:
        """Of an exhibit's files."""
        return written.file_name(f"{number + 1:02}", sentence=self.exhibits[number].text).removeprefix("headlight-")

    def _write_start(self, files: Sequence[str]) -> None:
        figures = [
            (number, exhibit.text, _with_bold(bar.sentence(number + 1) if self.has_story else finding.sentence(found)))
            for number, exhibit in enumerate(self.exhibits[: 2 if self.has_story else 1])
            if (found := exhibit.found) is not None
        ]
        groups = [
            (group, [self._card(number) for number in numbers])
            for group, numbers in groupby(range(len(self.exhibits)), lambda number: self.exhibits[number].group)
        ]
        self._write_page(START, "start", "Headlight", files, figures=figures, groups=groups, program=PROGRAM)

    def _card(self, number: int) -> dict[str, str]:
        """What a card of the start page says, by the names in its template."""
        exhibit = self.exhibits[number]
        # What is to be seen of several is said once.
        is_said = number > 0 and exhibit.note == self.exhibits[number - 1].note
        return {
            "address": _address(self._name(number)),
            "thumbnail": _thumbnail(exhibit.weights),
            "label": exhibit.label,
            "text": _short(exhibit.text),
            "written": _short(exhibit.written),
            "note": "" if is_said else _(exhibit.note),
        }

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

    def _write_exhibit(
        self, number: int, sections: Sequence[Section], files: Sequence[str], walk: Sequence[str], lacks: str
    ) -> None:
        exhibit = self.exhibits[number]
        ways = ((number - 1, "←", _("Previous")), (number + 1, "→", _("Next")))
        self._write_page(
            self._name(number),
            "exhibit",
            _("Headlight: {text}", text=_short(exhibit.text)),
            files,
            around=[
                (sign, name, _address(self._name(other)))
                for other, sign, name in ways
                if other in range(len(self.exhibits))
            ],
            group=exhibit.group,
            label=exhibit.label,
            text=exhibit.text,
            note=_(exhibit.note),
            sections=sections,
            how_to_read=list(HOW_TO_READ.values()) if exhibit.trace else [],
            walk=walk,
            megabytes=decimal(sum((self.folder / file).stat().st_size for file in walk) / 1e6, 1),
            lacks=lacks,
        )

    def _write_page(self, name: str, template: str, title: str, files: Sequence[str], **values: object) -> None:
        """A page from its template, with the way to others, and its pictures in files of their own."""
        languages = [
            (messages.tag(code), own, _address(name, code))
            for code, own in messages.languages().items()
            if code != messages.language()
        ]
        known = {"home": _address(START), "mark": _MARK, "around": (), "languages": languages}
        # The name of a head stays in one line.
        body = _HEAD.sub("\\1\N{NO-BREAK SPACE}\\2", filled(f"gallery/{template}.html", **(known | values)))
        page = text_page(title, body, _STYLE, files=[*files, "scripts/draw.js"], sheets=[TYPEFACES])
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


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _with_bold(text: str) -> Markup:
    """A sentence as HTML, with the parts between ** bold."""
    parts = enumerate(text.split("**"))
    return Markup().join(Markup("<b>{}</b>").format(part) if at % 2 else part for at, part in parts)


def _thumbnail(weights: Float[np.ndarray, "query key"]) -> Markup:
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
    picture = f'<svg viewBox="0 0 {_WIDE} {_HIGH}" aria-hidden="true">{lines}{dots}</svg>'
    return Markup(picture)


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
