"""The whole walk of a short sentence as one HTML file, which opens without Headlight and without any network.

The picture is drawn by the same scripts. What Python tells of a place when a person goes there, the file holds for all
places: sentences as JSON, queries, keys, values and weights as float32, from which `kept_walk.js` multiplies out a row,
and the vectors that are drawn as strips in 7 bits.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st
from jaxtyping import UInt8
from numpy.typing import NDArray

from viz.access import attention
from viz.pages.learn.transformer import data, layer_story
from viz.pages.learn.transformer.head_story import MAX_COLUMNS, summary, words
from viz.pages.learn.transformer.walk_payload import COMPONENT, Told, WalkPicture, WalkState, lacks_scores, origin_of
from viz.pictures import payload
from viz.pictures.offline import Drawing, Part, text_page
from viz.text.html import literal
from viz.text.messages import _, said, shown
from viz.text.sites import file_name
from viz.ui.downloads import show_offer

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.nn.attention import AttentionInputs

#: Tokens a side: a key of a row needs a column.
MOST_TOKENS: Final = MAX_COLUMNS
#: Codes of a strip: its largest number is ± this.
_CODES: Final = 63
#: Bytes of the scripts, and of a number: a float32, and a code of a strip, as base64 of what remains when compressed.
_REST, _EXACT, _CODE = 300_000, 4.9, 1.1
_STYLE: Final = ".note { font-size: 0.9rem; opacity: 0.8; max-width: 90ch; }"


@dataclass(frozen=True, eq=False, slots=True)
class _Kept:
    """What the file holds besides the picture; arrays are compressed.

    Attributes:
        story: JSON: `sites` with the shapes of their arrays, `paths` by stack and token, `rows` by site, layer and row.
        strips: the vectors of all paths, then what each head adds, as signed bytes, in the order of `story`.
        exact: site by site, layer by layer, queries [head, query, d_k], keys and values [kv_head, key, d], as the four
            bytes of each float32, first bytes first.
    """

    story: UInt8[np.ndarray, "byte"]
    strips: UInt8[np.ndarray, "byte"]
    exact: UInt8[np.ndarray, "byte"]


def offer(trace: "Trace", reader: "Reader", place: WalkState) -> None:
    """The button of the file; in its place, why there is none."""
    st.markdown(_("**The whole walk as a page**"))
    if reason := why_not(trace, reader):
        st.caption(shown(reason))
        return
    name = file_name("transformer", sentence=trace.text)
    inside = _("all five depths, for every token, layer and head: one file that opens anywhere, offline")
    make = partial(page, trace, reader, place, name)
    show_offer(_("HTML page"), inside, make, f"{name}.html", page_bytes(trace))


def why_not(trace: "Trace", reader: "Reader") -> str:
    """Why there is no such file of a trace, as a sentence; "" where there is one."""
    if reason := (data.why_not(reader) or lacks_scores(reader)):
        return reason
    if max(len(trace.source_tokens), len(trace.target_tokens)) > MOST_TOKENS:
        return said("The file of a whole walk is made of texts of at most {count} tokens a side.", count=MOST_TOKENS)
    if not all(map(_is_plain, _layers(trace))):
        return said("The file of a whole walk needs scores that are dot products and nothing else, as in the paper.")
    return ""


def page_bytes(trace: "Trace") -> int:
    """About how large the file is."""
    exact = sum(each.query.numel() + each.key.numel() + each.value.numel() for each in _layers(trace))
    heads = sum(each.num_heads * each.query.size(1) for each in _layers(trace))
    width = next(iter(_layers(trace))).query.size(2) * next(iter(_layers(trace))).num_heads
    return _REST + round(_EXACT * exact + _CODE * 2.3 * heads * width)


def page(trace: "Trace", reader: "Reader", place: WalkState, name: str) -> bytes:
    """The file; it opens where the person is.

    Args:
        trace, reader: of a text for which `why_not` has no reason.
        place: where they are.
        name: of pictures that are saved from it.
    """
    place = replace(place, edit="")
    picture = WalkPicture.of(trace, reader, place)
    told = Told.of(trace, reader, place).packed() | {"canEdit": False}
    command = {"number": 1, **payload.encoded(place)}
    kept = _kept(trace, reader, place)
    packed = payload.pack(
        picture, kept.story, kept.strips, kept.exact, **told, name=name, digest=payload.digest(picture), command=command
    )
    title = _("The Transformer: {text}", text=trace.text[:80])
    note = _(
        "Queries, keys, values and weights are kept as float32: what is computed from them is exact. Vectors drawn as "
        "strips are kept in 7 bits, so their components are given with ≈. What needs the model again, as switching a "
        "head off does, is left out."
    )
    texts = "".join(f'<p dir="auto">{literal(text)}</p>' for text in (trace.text, trace.translation) if text)
    body = (
        f'<h1>{escape(_("The Transformer"))}</h1>{texts}<p class="note">{escape(note)}</p><main id="picture-0"></main>'
    )
    drawing = Drawing([Part(COMPONENT, packed)], 1, title)
    return text_page(title, body, _STYLE, [drawing]).encode("utf-8")


def _layers(trace: "Trace") -> Iterator["AttentionInputs"]:
    for site in trace.sites:
        for layer in range(trace.layers_of(site)):
            yield trace.attention(site, layer)


def _is_plain(inputs: "AttentionInputs") -> bool:
    """Whether scores are q · k times a scale, and weights their softmax where the mask allows."""
    is_bare = inputs.bias is None and inputs.softcap is None and inputs.sinks is None
    return is_bare and inputs.score.name == "dot" and not inputs.edits


def _kept(trace: "Trace", reader: "Reader", place: WalkState) -> _Kept:
    strips: list[NDArray[Any]] = []
    paths = {stack: [_path(trace, reader, stack, at, strips) for at in range(len(tokens))] for stack, tokens in (
        ("encoder", trace.source_tokens), ("decoder", trace.target_tokens)) if tokens}  # fmt: skip
    rows = {site: list(_rows(trace, reader, replace(place, site=site), strips)) for site in trace.sites}  # type: ignore[arg-type]
    arrays = [array.float().numpy().ravel() for each in _layers(trace) for array in (each.query, each.key, each.value)]
    exact = np.concatenate(arrays).astype("<f4").view(np.uint8).reshape(-1, 4).T
    story = {"sites": {site: _shapes(trace, site) for site in trace.sites}, "paths": paths, "rows": rows}
    text = json.dumps(story, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    return _Kept(*map(_deflated, (np.frombuffer(text, np.uint8), np.concatenate(strips).view(np.uint8), exact)))


def _deflated(plain: UInt8[np.ndarray, "..."]) -> UInt8[np.ndarray, "byte"]:
    return np.frombuffer(payload.deflate(np.ascontiguousarray(plain)), np.uint8)


def _shapes(trace: "Trace", site: str) -> list[dict[str, object]]:
    """Of each layer the shapes of its arrays, and what its scores are multiplied by."""
    found = []
    for inputs in (trace.attention(site, layer) for layer in range(trace.layers_of(site))):
        shapes = {"query": [*inputs.query.shape], "key": [*inputs.key.shape], "value": [*inputs.value.shape]}
        found.append({**shapes, "scale": inputs.scale})
    return found


def _path(trace: "Trace", reader: "Reader", stack: Any, position: int, strips: list[NDArray[Any]]) -> dict[str, object]:
    """The path of a token with all its stages, whose vectors join the strips."""
    path = data.token_path(trace, reader, stack, position)
    names = layer_story.stage_names(path)
    stages = [layer_story.rows(path, stage) for stage in range(len(names))]
    strips += [_codes(row.values) for rows in stages for row in rows if row.values is not None]
    return {
        "stages": names,
        "parts": [payload.encoded(part) for part in layer_story.parts(path)],
        "rows": [[payload.encoded(row) for row in rows] for rows in stages],
    }


def _rows(
    trace: "Trace", reader: "Reader", place: WalkState, strips: list[NDArray[Any]]
) -> Iterator[list[dict[str, object]]]:
    """Layer by layer, what each row says, and of each head its summary; what the head adds joins the strips."""
    layers, heads = trace.shapes[place.site]
    for layer in range(layers):
        of_layer = []
        for row in range(len(trace.row_names(place.site))):
            first = origin_of(trace, reader, replace(place, layer=layer, head=0, row=row, key=0))
            derived = partial(attention.derived_row, trace, place.site, layer, row=row, scaled=True, masked=True)
            of_heads = [summary(replace(first, head=head, real=derived(head))) for head in range(heads)]
            strips += map(_codes, first.parts)
            ahead = {"ahead": [not allowed for allowed in first.real.allowed.tolist()]}
            each = [_extent(part) | {"summary": text} for part, text in zip(first.parts, of_heads, strict=True)]
            of_layer.append(words(first) | ahead | {"heads": each})
        yield of_layer


def _extent(vector: NDArray[Any]) -> dict[str, object]:
    return {"count": len(vector), "bound": float(f"{np.abs(vector).max(initial=0.0):.6g}")}


def _codes(vector: NDArray[Any]) -> NDArray[np.int8]:
    bound = np.abs(vector).max(initial=0.0) or 1.0
    codes: NDArray[np.int8] = np.rint(vector / bound * _CODES).astype(np.int8)
    return codes
