"""The whole walk of a short sentence as one HTML file, which opens without Headlight and without any network.

The picture is drawn by the same scripts. What Python tells of a place when a person goes there, the file holds for all
places: sentences, queries, keys, values and weights as float32, from which `kept_walk.js` multiplies out a row, and the
other vectors, which are drawn as strips, in 7 bits. In a site of many such walks, those of a sentence in several
languages share all but their words, those of a model the matrices that a head's output goes through.
"""

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st
from jaxtyping import Float, UInt8
from numpy.typing import NDArray

from viz.access import attention
from viz.pages.learn.transformer import data, layer_story
from viz.pages.learn.transformer.head_story import MAX_COLUMNS, summary, words
from viz.pages.learn.transformer.walk_payload import COMPONENT, Told, WalkPicture, WalkState, lacks_scores, origin_of
from viz.pictures import payload
from viz.pictures.offline import Drawing, Part, text_page
from viz.text import messages
from viz.text.messages import _, said, shown
from viz.text.templates import filled
from viz.text.written import file_name
from viz.ui.downloads import show_offer

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.nn.attention import AttentionInputs

#: Tokens a side: a key of a row needs a column.
MOST_TOKENS: Final = MAX_COLUMNS
#: Codes of a strip: its largest number is ± this; and of an output matrix.
_CODES, _FINE_CODES = 63, 127
#: Bits of a float32 after the first.
FULL_BITS: Final = 23
#: What stands for the first number of a sentence, for the second, …
_FIRST_MARK, _MARKS = 0xE000, re.compile("[\ue000-\ue0ff]")
_MOST_NUMBERS: Final = 256
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_STYLE: Final = ".note { font-size: 0.9rem; opacity: 0.8; max-width: 90ch; }"


@dataclass(frozen=True, eq=False, slots=True)
class Numbers:
    """What a file holds besides words; arrays are compressed."""

    #: the vectors of all paths that are not in `exact`, then what each head adds where `projections` are left out, as
    #: signed bytes.
    strips: UInt8[np.ndarray, "byte"]
    #: site by site, layer by layer, queries [head, query, d_k], keys and values [kv_head, key, d], as the four bytes of
    #: each float32, first bytes first.
    exact: UInt8[np.ndarray, "byte"]
    #: rows of W_O [site: layer, head, d_v, d_model], as signed bytes; empty where left out.
    projections: UInt8[np.ndarray, "byte"]


def offer(trace: "Trace", reader: "Reader", place: WalkState) -> None:
    """The button of the file; in its place, why there is none."""
    st.markdown(_("**The whole walk as a page**"))
    if reason := why_not(trace, reader):
        st.caption(shown(reason))
        return
    name = file_name("transformer", sentence=trace.text)
    inside = _("all five zoom levels, for every token, layer and head: one file that opens anywhere, offline")
    make = partial(page, trace, reader, place, name)
    show_offer(_("HTML page"), inside, make, f"{name}.html")


def why_not(trace: "Trace", reader: "Reader") -> str:
    """Why there is no such file of a trace, as a sentence; "" where there is one."""
    if reason := (data.why_not(reader) or lacks_scores(reader)):
        return reason
    if max(len(trace.source_tokens), len(trace.target_tokens)) > MOST_TOKENS:
        return said(
            "A file of all zoom levels has the vectors of every token in every head, so it is available up to {count} "
            "tokens per side; for a longer text, save each zoom level as a picture.",
            count=MOST_TOKENS,
        )
    if any(each.edits for each in _layers(trace)):
        return said("A run with a changed head cannot be saved as a page.")
    if not all(map(_is_plain, _layers(trace))):
        return said("The page needs scores that are only dot products, as in the paper.")
    return ""


def projections_are_smaller(traces: Sequence["Trace"]) -> bool:
    """Whether a model's output matrices take fewer bytes than what its heads add in these runs of it."""
    rows = sum(len(trace.row_names(site)) for trace in traces for site in trace.sites)
    (first, *_others) = traces
    return rows > sum(first.attention(site, 0).value.size(2) for site in first.sites)


def page(trace: "Trace", reader: "Reader", place: WalkState, name: str) -> bytes:
    """The file; it opens where the person is.

    Args:
        trace, reader: of a text for which `why_not` has no reason.
        place: where they are.
        name: of pictures that are saved from it.
    """
    (drawing,) = drawings(trace, reader, place, name, [messages.language()])
    texts = [text for text in (trace.text, trace.translation) if text]
    body = filled("pages/learn/transformer/saved.html", texts=texts)
    return text_page(drawing.alt, body, _STYLE, [drawing]).encode("utf-8")


def drawings(
    trace: "Trace",
    reader: "Reader",
    place: WalkState,
    name: str,
    languages: Iterable[str],
    *,
    bits: int = FULL_BITS,
    projects: bool = False,
) -> list[Drawing]:
    """The whole walk in each language; of their payloads, all arrays but the last are the same.

    Args:
        trace, reader, place, name: as of `page`.
        languages: their codes.
        bits: of queries, keys, values and weights, so many are kept after the first.
        projects: whether output matrices are kept, which many walks can share, in place of what each head adds.
    """
    codes, place = list(languages), replace(place, edit="")
    stories = []
    for code in codes:
        with messages.speaking(code):
            story, numbers = _story(trace, reader, place, bits, projects)
        stories.append(story)
    shared, tables = parted(stories)
    arrays = (_json(shared), numbers.strips, numbers.exact, numbers.projections)
    found = []
    for code, table in zip(codes, tables, strict=True):
        with messages.speaking(code):
            title = _("The Transformer: {text}", text=trace.text[:80])
            packed = _packed(trace, reader, place, bits, (*arrays, _json(table)), name)
            found.append(Drawing([Part(COMPONENT, packed)], 1, title))
    return found


def _packed(
    trace: "Trace",
    reader: "Reader",
    place: WalkState,
    bits: int,
    arrays: Sequence[UInt8[np.ndarray, "byte"]],
    name: str,
) -> bytes:
    picture = WalkPicture.of(trace, reader, place)
    numbers = np.frombuffer(zlib.decompress(picture.numbers.tobytes()), "<f4")
    picture = replace(picture, numbers=_deflated(_cut(numbers, bits).view(np.uint8)))
    # What is said of this place too is found among what is said of all.
    left = {"canEdit": False, "canForce": False, "at": {}, "path": None, "row": None}
    told = Told.of(trace, reader, place).packed() | left
    command = {"number": 1, **payload.encoded(place)}
    return payload.pack(picture, *arrays, **told, name=name, digest=payload.digest(picture), command=command)


def _cut(numbers: Float[np.ndarray, "number"], bits: int) -> Float[np.ndarray, "number"]:
    """Numbers rounded to so many bits after their first."""
    dropped = FULL_BITS - bits
    codes = numbers.astype("<f4").view("<u4")
    return (codes + (1 << dropped >> 1) >> dropped << dropped).astype("<u4").view("<f4")


def parted(stories: Sequence[Any]) -> tuple[Any, list[list[str]]]:
    """What the same story in several languages shares, and of each language its words.

    Each text of the shared story is the place of its words and the numbers in them, separated by spaces; in the words
    private characters stand for the numbers, `\ue000` for the first.

    Args:
        stories: data as JSON holds them, which differ in their texts alone; one at least.
    """
    places: dict[tuple[str, ...], int] = {}

    def share(same: Sequence[Any]) -> Any:
        first, *_others = same
        if isinstance(first, str):
            numbers = [] if any(map(_MARKS.search, same)) else _NUMBER.findall(first)[:_MOST_NUMBERS]
            words = tuple(_without(numbers, text) for text in same)
            return " ".join([str(places.setdefault(words, len(places))), *numbers])
        if isinstance(first, Mapping):
            return {key: share([each[key] for each in same]) for key in first}
        return [share(each) for each in zip(*same, strict=True)] if isinstance(first, list | tuple) else first

    shared = share(stories)
    return shared, [list(words) for words in zip(*places, strict=True)]


def _without(numbers: Sequence[str], text: str) -> str:
    """A text with marks in place of numbers, each once."""
    left = dict(enumerate(numbers))

    def mark(found: re.Match[str]) -> str:
        at = next((at for at, number in left.items() if number == found[0]), None)
        if at is None:
            return found[0]
        del left[at]
        return chr(_FIRST_MARK + at)

    return _NUMBER.sub(mark, text)


def _layers(trace: "Trace") -> Iterator["AttentionInputs"]:
    for site in trace.sites:
        for layer in range(trace.layers_of(site)):
            yield trace.attention(site, layer)


def _is_plain(inputs: "AttentionInputs") -> bool:
    """Whether scores are q · k times a scale, and weights their softmax where the mask allows."""
    is_bare = inputs.bias is None and inputs.softcap is None and inputs.sinks is None
    return is_bare and inputs.score.name == "dot"


def _story(
    trace: "Trace", reader: "Reader", place: WalkState, bits: int, projects: bool
) -> tuple[dict[str, object], Numbers]:
    """What is said of all places, and the numbers."""
    strips = _Strips(trace)
    paths = {stack: [_path(trace, reader, stack, at, strips) for at in range(len(tokens))] for stack, tokens in (
        ("encoder", trace.source_tokens), ("decoder", trace.target_tokens)) if tokens}  # fmt: skip
    parts = None if projects else strips
    rows = {site: list(_rows(trace, reader, replace(place, site=site), parts)) for site in trace.sites}  # type: ignore[arg-type]
    arrays = [array.float().numpy().ravel() for each in _layers(trace) for array in (each.query, each.key, each.value)]
    exact = _cut(np.concatenate(arrays), bits).view(np.uint8).reshape(-1, 4).T
    of_sites, projections = {}, [np.zeros(0, np.int8)]
    for site in trace.sites:
        of_sites[site] = _shapes(trace, site)
        for layer, shapes in enumerate(of_sites[site] if projects else ()):
            heads = reader.output_projection(site, layer).numpy()
            shapes["projection"] = [*heads.shape]
            shapes["bounds"] = [_extent(head)["bound"] for head in heads]
            projections += [_codes(head.ravel(), _FINE_CODES) for head in heads]
    story = {"sites": of_sites, "paths": paths, "rows": rows}
    packed = (np.concatenate([np.zeros(0, np.int8), *each]).view(np.uint8) for each in (strips.codes, projections))
    strips_, projected = map(_deflated, packed)
    return story, Numbers(strips_, _deflated(exact), projected)


class _Strips:
    """Vectors that become strips, but for those that `exact` holds.

    Attributes:
        codes: of each strip.
    """

    def __init__(self, trace: "Trace") -> None:
        self.codes: list[NDArray[np.int8]] = []
        self._known = {
            _bytes(array[:, token]): [site, layer, name, token]
            for site in trace.sites
            for layer in range(trace.layers_of(site))
            for name in ("query", "key", "value")
            for array in [getattr(trace.attention(site, layer), name).float().numpy()]
            for token in range(array.shape[1])
        }

    def add(self, vector: NDArray[Any] | None) -> dict[str, object]:
        """Keep a vector; where the browser finds it if that is elsewhere."""
        if vector is None:
            return {}
        if (known := self._known.get(_bytes(vector))) is not None:
            return {"of": known}
        self.codes.append(_codes(vector, _CODES))
        return {}


def _bytes(vector: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(vector, "<f4").tobytes()


def _json(value: object) -> UInt8[np.ndarray, "byte"]:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    return np.frombuffer(zlib.compress(text, 9), np.uint8)


def _deflated(plain: UInt8[np.ndarray, "..."]) -> UInt8[np.ndarray, "byte"]:
    return np.frombuffer(payload.deflate(np.ascontiguousarray(plain)), np.uint8)


def _shapes(trace: "Trace", site: str) -> list[dict[str, object]]:
    """Of each layer the shapes of its arrays, and what its scores are multiplied by."""
    found = []
    for inputs in (trace.attention(site, layer) for layer in range(trace.layers_of(site))):
        shapes = {"query": [*inputs.query.shape], "key": [*inputs.key.shape], "value": [*inputs.value.shape]}
        found.append({**shapes, "scale": inputs.scale})
    return found


def _path(trace: "Trace", reader: "Reader", stack: Any, position: int, strips: _Strips) -> dict[str, object]:
    """The path of a token with all its stages, whose vectors join the strips."""
    path = data.token_path(trace, reader, stack, position)
    names = layer_story.stage_names(path)
    stages = [layer_story.rows(path, stage) for stage in range(len(names))]
    return {
        "stages": names,
        "parts": [payload.encoded(part) for part in layer_story.parts(path)],
        "rows": [[payload.encoded(row) | strips.add(row.values) for row in rows] for rows in stages],
    }


def _rows(
    trace: "Trace", reader: "Reader", place: WalkState, strips: _Strips | None
) -> Iterator[list[dict[str, object]]]:
    """Layer by layer, what each row says, and of each head its summary; what the head adds joins strips."""
    layers, heads = trace.shapes[place.site]
    for layer in range(layers):
        of_layer = []
        for row in range(len(trace.row_names(place.site))):
            first = origin_of(trace, reader, replace(place, layer=layer, head=0, row=row, key=0))
            derived = partial(attention.derived_row, trace, place.site, layer, row=row, scaled=True, masked=True)
            of_heads = [summary(replace(first, head=head, real=derived(head))) for head in range(heads)]
            ahead = {"ahead": [not allowed for allowed in first.real.allowed.tolist()]}
            each: list[dict[str, object]] = [{"summary": text} for text in of_heads]
            if strips is not None:
                each = [head | _extent(part) | strips.add(part) for head, part in zip(each, first.parts, strict=True)]
            of_layer.append(words(first) | ahead | {"heads": each})
        yield of_layer


def _extent(vector: NDArray[Any]) -> dict[str, object]:
    return {"count": len(vector), "bound": float(f"{np.abs(vector).max(initial=0.0):.6g}")}


def _codes(vector: NDArray[Any], most: int) -> NDArray[np.int8]:
    bound = np.abs(vector).max(initial=0.0) or 1.0
    codes: NDArray[np.int8] = np.rint(vector / bound * most).astype(np.int8)
    return codes
