"""Write exhibits as a site: pages that share their scripts, in every language, with addresses relative to each other.

From a disk a browser imports no module and fetches no file. So what a page draws, scripts and packed data, comes as
scripts that leave it in one object of the page; the last one draws it.
"""

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Final

import numpy as np
from jaxtyping import Float

from model.file_writing import make_folder, write_text
from viz.gallery import PROGRAM, drawings
from viz.gallery.contents import Exhibit
from viz.pages.attention.opened_head.captions import HOW_TO_READ
from viz.pages.learn.story import bar
from viz.pictures.offline import Drawing, draw_parts, script_json, text_page
from viz.text import messages, sites
from viz.text.html import literal
from viz.text.messages import _, shown, speaking
from viz.ui import finding

_FOLDER: Final = Path(__file__).parent
_STYLE: Final = (_FOLDER / "gallery.css").read_text(encoding="utf-8")
_DRAW: Final = (_FOLDER / "draw_gallery.js").read_text(encoding="utf-8")
_MARK: Final = (_FOLDER.parent / "mark.svg").read_text(encoding="utf-8")
_LEAVE: Final = "globalThis.headlightGallery ??= { pictures: [], scripts: {} };\nheadlightGallery."
#: A card has a line for each weight from this part of the largest on, in a picture of this width and height.
_LEAST, _WIDE, _HIGH = 0.08, 240, 64
#: Characters of a text on a card.
_LONGEST: Final = 120
START: Final = "index"


def write(folder: Path, exhibits: Sequence[Exhibit], *, has_story: bool) -> int:
    """Write the site; return how many pages it has.

    Args:
        folder: into which it goes; files of the same name are written over.
        exhibits: one at least.
        has_story: whether the first two are the sentence of the story and its twin, with which the site then begins.

    Raises:
        DataError: a file cannot be written.
    """
    for part in ("scripts", "data"):
        make_folder(folder / part)
    write_text(folder / "scripts" / "draw.js", f"{draw_parts()}{_DRAW}drawGallery(draw);\n")
    for code in messages.languages():
        with speaking(code):
            _Site(folder, tuple(exhibits), has_story).write()
    return len(messages.languages()) * (1 + len(exhibits))


@dataclass(frozen=True, slots=True)
class _Site:
    """The pages in the language of this code; arguments as of `write`."""

    folder: Path
    exhibits: tuple[Exhibit, ...]
    has_story: bool
    scripts: set[str] = field(default_factory=set)

    def write(self) -> None:
        self._write_start()
        for number, exhibit in enumerate(self.exhibits):
            self._write_exhibit(number, exhibit)

    def _name(self, number: int) -> str:
        """Of an exhibit's files."""
        return sites.file_name(f"{number + 1:02}", sentence=self.exhibits[number].text).removeprefix("headlight-")

    def _write_start(self) -> None:
        pictures: list[Drawing] = []
        figures = ""
        for number, exhibit in enumerate(self.exhibits[: 2 if self.has_story else 1]):
            if exhibit.trace is None or exhibit.choice is None or exhibit.found is None:
                continue
            told = bar.sentence(number + 1) if self.has_story else finding.sentence(exhibit.found)
            figures += (
                f'<figure><h2 dir="auto">{literal(exhibit.text)}</h2><div id="picture-{len(pictures)}"></div>'
                f"<figcaption>{_with_bold(told)}</figcaption></figure>"
            )
            pictures.append(drawings.words_as_lines(exhibit.trace, exhibit.choice, exhibit.found))
        cards = "".join(
            f'<h2>{literal(shown(group))}</h2><ul class="cards">{"".join(map(self._card, numbers))}</ul>'
            for group, numbers in groupby(range(len(self.exhibits)), lambda number: self.exhibits[number].group)
        )
        lead = _(
            "Headlight shows what every attention head of a Transformer does while it reads a text and while it "
            "writes. Here are finished traces: point at words, open heads, step through translations."
        )
        body = (
            f'<h1>{literal(_("See what every attention head does"))}</h1><p class="lead">{literal(lead)}</p>'
            f'<div class="hero">{figures}</div>{cards}<footer><p>{literal(_("Your own sentences and models:"))}</p>'
            f'<pre>{PROGRAM} --out site --text "…" --model path/to/a/model</pre></footer>'
        )
        self._write_page(START, "Headlight", f'<main class="start">{body}</main>', pictures)

    def _card(self, number: int) -> str:
        exhibit = self.exhibits[number]
        written = f'<p dir="auto">→ {literal(_short(exhibit.written))}</p>' if exhibit.written else ""
        # What is to be seen of several is said once.
        note = "" if number and exhibit.note == self.exhibits[number - 1].note else _(exhibit.note)
        return (
            f'<li><a href="{_address(self._name(number))}">{_thumbnail(exhibit.weights)}'
            f'<p class="label">{literal(exhibit.label)}</p><h3 dir="auto">{literal(_short(exhibit.text))}</h3>{written}'
            f'<p class="note">{literal(note)}</p></a></li>'
        )

    def _write_exhibit(self, number: int, exhibit: Exhibit) -> None:
        sections = list(exhibit.sections())
        links = "".join(
            f'<a href="#part-{at}">{literal(heading)}</a>' for at, (heading, _drawing) in enumerate(sections) if heading
        )
        first, *others = (
            (f'<h2 id="part-{at}">{literal(heading)}</h2>' if heading else "")
            + f'<div class="parts-{len(drawing.parts)}" id="picture-{at}"></div>'
            for at, (heading, drawing) in enumerate(sections)
        )
        how = "".join(f"<p>{literal(_(text))}</p>" for text in HOW_TO_READ.values()) if exhibit.trace else ""
        label = f"{shown(exhibit.group)} · {exhibit.label}"
        body = (
            f'<p class="label">{literal(label)}</p><h1 dir="auto">{literal(exhibit.text)}</h1>{first}'
            f'<p class="note">{literal(_(exhibit.note))}</p><nav>{links}</nav>{"".join(others)}<footer>{how}</footer>'
        )
        ways = ((number - 1, "←", _("Previous")), (number + 1, "→", _("Next")))
        around = "".join(
            f'<a href="{_address(self._name(other))}" aria-label="{literal(name)}">{sign}</a>'
            for other, sign, name in ways
            if other in range(len(self.exhibits))
        )
        title = _("Headlight: {text}", text=_short(exhibit.text))
        self._write_page(
            self._name(number), title, f'<main class="exhibit">{body}</main>', [of for _heading, of in sections], around
        )

    def _write_page(self, name: str, title: str, body: str, pictures: Sequence[Drawing], around: str = "") -> None:
        """A page with the way to others, and its pictures in a file of their own."""
        languages = "".join(
            f'<a lang="{messages.tag(code)}" href="{_address(name, code)}">{literal(own)}</a>'
            for code, own in messages.languages().items()
            if code != messages.language()
        )
        head = f'<header><a class="home" href="{_address(START)}">{_MARK} Headlight</a>{around}{languages}</header>'
        told = _("This page draws its pictures with JavaScript: allow it to see them.")
        head += f"<noscript><p>{literal(told)}</p></noscript>"
        data = f"data/{_address(name).removesuffix('.html')}.js"
        write_text(self.folder / data, f"{_LEAVE}pictures.push(...{script_json(list(map(_packed, pictures)))});\n")
        files = dict.fromkeys(self._script(*script) for drawing in pictures for script in drawing.scripts().items())
        page = text_page(title, head + body, _STYLE, files=[*files, data, "scripts/draw.js"])
        write_text(self.folder / _address(name), page)

    def _script(self, path: str, text: str) -> str:
        """The address of the file that leaves a component's script."""
        address = f"scripts/{PurePosixPath(path).stem}.js"
        if address not in self.scripts:
            self.scripts.add(address)
            write_text(self.folder / address, f"{_LEAVE}scripts[{json.dumps(path)}] = {json.dumps(text)};\n")
        return address


def _address(name: str, code: str = "") -> str:
    """Of a page, in a language or that of this code."""
    code = code or messages.language()
    return f"{name}.html" if code == messages.ENGLISH else f"{name}.{code}.html"


def _packed(drawing: Drawing) -> dict[str, object]:
    """A picture as `draw_gallery.js` reads it."""
    parts = [json.dumps(drawing.plan()).encode(), *drawing.payloads()]
    packed = base64.b64encode(zlib.compress(b"".join(parts), 9)).decode("ascii")
    return {"sizes": list(map(len, parts)), "data": packed}


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
