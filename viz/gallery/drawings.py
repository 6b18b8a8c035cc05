"""What is drawn of a trace without a server: its words, every head with the open one, lines, the film."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.access import attention, blocks, models, texts
from viz.access.attention import MatrixView
from viz.access.findings import Finding
from viz.pages.attention.opened_head import captions, lines_component
from viz.pages.attention.opened_head.captions import Headline
from viz.pages.attention.opened_head.lines_component import LinesData, LinesView
from viz.pages.attention.opened_head.panel import PANELS
from viz.pages.decoding.film import component as film_player
from viz.pages.decoding.film.component import PlayerData, PlayerState
from viz.pictures import payload
from viz.pictures.component import begun
from viz.pictures.focus import FocusAxis, FocusHead, Side, any_head, head
from viz.pictures.matrix_picture.component import Kept
from viz.pictures.offline import Drawing, Part, all_heads, kept_tiles
from viz.pictures.payload import fingerprint
from viz.selection.choices import Common, ModelChoice
from viz.text import written
from viz.text.messages import _
from viz.theme import HEAD_COLOURS
from viz.ui import finding, words
from viz.ui.words import Chosen, WordHeads, WordLine, Words

if TYPE_CHECKING:
    from model import Trace

#: Of a smaller attention every head can be opened: bytes of all exact weights.
MOST_BYTES: Final = 1_000_000
_WORDS: Final = MatrixView("weights", whole_words=True, sinks=False)


def words_of(trace: "Trace", choice: ModelChoice, found: Finding) -> Drawing:
    """What was read and written, as words that can be pointed at, with those of what was found chosen; below them the
    sentence of what is pointed at.
    """
    line = Words(_word_lines(trace, choice), _found_words(trace, found), is_proposed=True)
    headline = Headline(found.site, finding.in_parts(found), found.is_guess)
    parts = [
        Part(
            words.COMPONENT,
            payload.pack(line),
            style=" .words { font-size: clamp(1.1rem, 3vw, 1.35rem); max-height: none; }",
        ),
        Part(captions.COMPONENT, payload.pack(headline), style=" .headline { margin-top: 8px; }"),
    ]
    return Drawing(parts, 1, trace.text)


def _word_lines(trace: "Trace", choice: ModelChoice) -> list[WordLine]:
    known, languages = texts.words(trace), models.languages(choice)
    sides: Mapping[Side, tuple[str, slice]] = {
        "source": (languages[0], slice(known.num_source)),
        "target": (languages[1], slice(known.num_source, None)),
    }
    return [
        WordLine(language.upper(), language, labels, (0,) * len(labels), FocusAxis(side, groups=known.groups[part]))
        for side, (language, part) in sides.items()
        if (labels := known.labels[part])
    ]


def _found_words(trace: "Trace", found: Finding) -> Chosen:
    """The words that the finding links; none where it links none."""
    if found.link is None:
        return words.NOTHING
    pair = texts.words_of_cell(trace, found.site, found.link.row, found.link.key)
    looking, looked_at = ((word,) if word is not None else () for word in pair)
    return (looking, looked_at) if looking else words.NOTHING


def source_of(trace: "Trace", choice: ModelChoice, found: Finding) -> Drawing | None:
    """The head that is most worth seeing over what was read, as over the time of a sound; None of a text."""
    if found.site != written.CROSS:
        return None
    opened = Common(site=written.CROSS, layer=found.layer, head=found.head)
    queries, _ = attention.shown_axes(trace, found.site, MatrixView.of(opened))
    row = None if found.cell is None else queries.index_of(found.cell.row)
    drawn = [panel.part(trace, models.reader(choice), opened, row) for panel in PANELS]
    parts = [part for part in drawn if part is not None]
    return Drawing(parts, 1, trace.text) if parts else None


def heads_of(trace: "Trace", site: str, opened: tuple[int, int], query: int | None = None) -> Drawing:
    """Every head as a tile; the open one (layer, head) as a heatmap, and as lines, with those of a query kept."""
    try:
        weights = blocks.weights_of(trace, site)
    except ValueError as error:
        raise DataError(
            "The layers of an attention of this model have different numbers of heads. The gallery cannot show "
            "such a model."
        ) from error
    rows, keys, axes = blocks.sides_of(trace, site)
    only_opened = weights.nbytes > MOST_BYTES
    title, kept, focus = written.label(site), Kept(row=query), any_head(site, axes)
    grid = all_heads(weights, rows, keys, title, opened, only_opened=only_opened, focus=focus, kept=kept)
    layers = [lines_data(weights[layer], rows, keys, layer, title, focus) for layer in range(len(weights))]
    choices = [] if only_opened else list(np.ndindex(weights.shape[:2]))
    first, *others = (
        begun(layers[layer], LinesView((chosen,), query if not number else None), number + 1)
        for number, (layer, chosen) in enumerate((opened, *choices))
    )
    lines = Part(lines_component.COMPONENT, first, tuple(others))
    return replace(grid, parts=[*grid.parts, lines])


def words_as_lines(trace: "Trace", choice: ModelChoice, found: Finding) -> Drawing:
    """The words, and the head that is most worth seeing as lines between them, from the word that it was found for;
    without tools. Of what is no text as `source_of`.
    """
    if (over_source := source_of(trace, choice, found)) is not None:
        return over_source
    layer = attention.opened_layer(trace, models.reader(choice), found.site, found.layer, _WORDS)
    # The start page has two sentences, which are pointed at apart.
    queries, keys = (attention.alone(axis, trace) for axis in attention.focus_axes(trace, found.site))
    data = lines_data(
        layer.values[[found.head]],
        layer.queries.labels,
        layer.keys.labels,
        found.layer,
        written.label(found.site),
        head("", found.site, (queries, keys), layer.queries.groups, layer.keys.groups),
    )
    row = None if found.link is None else layer.queries.index_of(found.link.row)
    # In the colour that the head has among those of its layer.
    colour = HEAD_COLOURS[found.head % len(HEAD_COLOURS)]
    data = replace(data, head_names=(written.head_label(found.layer, found.head),), colours=(colour,))
    drawn = drawn_lines(data, LinesView((0,), row), trace.text, style=" .bar { display: none; }")
    # These words are tinted by this head alone, so it is the only one that is kept, under a name of its own.
    weights = trace.weights(found.site, found.layer, [found.head]).numpy()[np.newaxis]
    names, focus = (trace.row_names(found.site), trace.axis_names(found.site)[1]), any_head("", (queries, keys))
    heads = WordHeads(f"start-{fingerprint(trace.text, weights)}", "")
    lines = [replace(line, axis=attention.alone(line.axis, trace)) for line in _word_lines(trace, choice)]
    line = Words(lines, _found_words(trace, found), heads=heads, is_proposed=True)
    sentence = Part(words.COMPONENT, payload.pack(line), style=" .word-picker { margin-bottom: 14px; }")
    return replace(drawn, parts=[kept_tiles(weights, *names, heads.address, focus), sentence, *drawn.parts])


def lines_data(
    weights: Float[np.ndarray, "head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    layer: int,
    title: str,
    focus: FocusHead | None,
) -> LinesData:
    """The heads of a layer as lines; `focus` as of `all_heads`."""
    return LinesData(
        values=weights,
        top=1.0,
        query_tokens=queries,
        key_tokens=keys,
        head_names=tuple(written.head_label(layer, head) for head in range(len(weights))),
        number=_("weight"),
        title=title,
        file_name="lines",
        focus=focus,
    )


def drawn_lines(data: LinesData, view: LinesView, alt: str, style: str = "") -> Drawing:
    """Lines alone."""
    return Drawing([Part(lines_component.COMPONENT, begun(data, view), style=style)], len(data.values), alt)


def step_of(trace: "Trace", found: Finding) -> PlayerState:
    """The step that writes the word of what was found, with its head; else the one that the model was least sure of."""
    step = -1
    if found.link is not None and found.link.step is not None:
        step = found.link.step
    elif found.cell is not None:
        step = found.cell.row - trace.rows_before
    if step not in range(len(trace.steps)):
        step = max(range(len(trace.steps)), key=lambda at: trace.steps[at].entropy)
    site = written.CROSS if written.CROSS in trace.sites else written.DECODER
    return PlayerState(step, found.layer, found.head) if found.site == site else PlayerState(step)


def film_of(data: PlayerData, text: str, state: PlayerState = PlayerState(0)) -> Drawing:  # noqa: B008 - it never changes
    """What was written, step by step, of a text; first what is shown of `state`."""
    packed = begun(data, state, name="film", note="", head_names=((), ()))
    # Nothing is written instead here: that takes the page.
    style = " .draw, .hint { display: none; } .bar-button { pointer-events: none; }"
    alt = _("Film of {count} steps: {text}", count=len(data.steps), text=text)
    return Drawing([Part(film_player.COMPONENT, packed, style=style)], data.heads, alt)
