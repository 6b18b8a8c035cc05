"""How a model knows positions: the sinusoids that it added, its formula with other settings, or another scheme."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.access.mechanisms import position_schemes, positions_drawn
from viz.pages.learn.explore import position_figures as figures
from viz.pages.learn.explore.data import positions as data
from viz.selection import state
from viz.selection.selection import FIELDS
from viz.text.messages import _, said
from viz.text.written import display_token, file_name, scientific
from viz.ui import controls, formulas, frame, mechanisms, terms
from viz.ui.snippets import Snippet, line, of_text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from model import Trace
    from model.nn.layers import PositionLayout
    from model.parts.weights import Stack

#: The formula is shown for so many positions at least: waves need room. As many rows as can all have their label.
MIN_POSITIONS: Final = 64
#: The stack that reads a side.
_STACKS: Final[dict[str, "Stack"]] = {"source": "encoder", "target": "decoder"}
#: How sines and cosines stand in a row, by the model's layout.
ARRANGEMENT: Final[dict["PositionLayout", str]] = {
    "interleaved": said(
        "Even dimensions contain the sine and odd ones the cosine of the same angle. On the left the angle grows "
        "fast from token to token; on the right it hardly changes."
    ),
    "halves": said(
        "The left half contains sines and the right half the cosines of the same angles (the paper interleaves "
        "them). On the left of each half the angle grows fast from token to token; on its right it hardly "
        "changes."
    ),
}


def show(trace: "Trace") -> None:
    """The paper's sinusoids with all that the formula can be asked, where the model adds these; any other scheme."""
    layout = data.layout_of(models.reader(state.current().model), trace)
    if layout is None:
        mechanisms.positions(trace)
    else:
        _sinusoids(trace, layout)


def python(trace: "Trace") -> Snippet:
    """The encodings by the formula, of which the first rows are what the model added; or another scheme."""
    reader = models.reader(state.current().model)
    if (layout := data.layout_of(reader, trace)) is None:
        drawn = positions_drawn(trace)
        schemes = line("schemes = position_schemes(reader, trace, {})", drawn)
        found = position_schemes(trace, reader)
        return of_text(trace, {"analysis.positions": "position_schemes"}, schemes) if found else ""
    choices = state.current().learn
    stack = _STACKS[choices.side]
    added = line("added = reader.parts.beginning(trace, {}).positional  # [position, d_model]", stack)
    own = data.beginning(reader, trace, stack).positional
    shape = max(MIN_POSITIONS, len(own)), choices.width or own.shape[1]
    formula = line("formula = sinusoidal_encoding({}, {}, base={}, layout={})", *shape, float(choices.base), layout)
    return of_text(trace, {"nn.layers": "sinusoidal_encoding"}, added, formula)


@frame.fragment
def _sinusoids(trace: "Trace", layout: "PositionLayout") -> None:
    """The matrix, then a position and a dimension of it, a shift, and the likeness of positions."""
    with st.grid(3, min_column_width=210, gap="medium"):
        side = controls.side()
        embedding, positional = data.beginning(models.reader(state.current().model), trace, _STACKS[side])
        recorded = positional.numpy()
        own = recorded.shape[1]
        d_model, base = controls.width(own), controls.base(data.OWN_BASE)
    tokens = trace.source_tokens if side == "source" else trace.target_tokens
    rows = data.encoding(max(MIN_POSITIONS, len(tokens)), d_model, base, layout)
    is_own = (d_model, base) == (own, data.OWN_BASE)
    if is_own:
        deviation = float(np.abs(rows[: len(tokens)] - recorded).max())
        rows[: len(tokens)] = recorded
    if not is_own:
        _say_it_is_another(own)
    shown = data.Shown(d_model, base, layout, tokens, rows)
    _chart(
        figures.encoding_heatmap(rows, tokens),
        "encoding",
        _("Positional encoding, one row per position, one column per dimension"),
    )
    frame.caption(
        "Each row is added to the embedding of the token at that position. {arrangement} Above the green line is "
        "this sentence; below it the formula continues.",
        arrangement=ARRANGEMENT[layout],
    )
    formulas.in_a_row(*_formulas(d_model, base, layout))
    if is_own:
        message = (
            "This is what the model added: the {num_tokens} rows of this sentence were recorded as it ran. The formula "
            "with d_model = {own} and base {own_base:,} gives the same numbers; largest difference {difference}."
        )
        st.success(
            _(message, num_tokens=len(tokens), own=own, own_base=data.OWN_BASE, difference=scientific(deviation)),
            icon=":material/check:",
        )
    _show_curves(shown)
    label = _("How similar are two positions? Their dot product by distance, without and with the embeddings")
    sums = (embedding + positional).numpy()
    frame.unfolding(label, "positions-likeness", _show_likeness, shown, sums, recorded, is_own)


def _chart(figure: "Figure", key: str, alt: str) -> None:
    frame.chart(figure, key, file_name(f"positions {key}"), alt)


def _formulas(d_model: int, base: int, layout: "PositionLayout") -> tuple[str, str]:
    """Sine and cosine in TeX (§3.5), with these settings and in the dimensions where the model has each."""
    angle = rf"\frac{{pos}}{{{base:,}^{{2i/{d_model}}}}}".replace(",", "{,}")
    sine, cosine = ("2i", "2i+1") if layout == "interleaved" else ("i", f"i+{d_model // 2}")
    return rf"PE_{{pos,\,{sine}}} = \sin {angle}", rf"PE_{{pos,\,{cosine}}} = \cos {angle}"


def _say_it_is_another(own: int) -> None:
    """That this is not the model's encoding, and the way back to it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        message = (
            "**These are not the encodings that the model added**, but the result of the formula for these settings. "
            "The model's own encodings have d_model = {own} and base {own_base:,}."
        )
        st.warning(_(message, own=own, own_base=data.OWN_BASE), icon=":material/science:")
        st.button(
            _("Back to the model's own settings"),
            key="own",
            icon=":material/undo:",
            on_click=state.change,
            kwargs={"width": 0, "base": data.OWN_BASE},
        )


@frame.fragment
def _show_curves(shown: data.Shown) -> None:
    """A row and a column of the matrix, and what a shift does to a pair of columns."""
    st.subheader(_("One position, one dimension"), anchor=False)
    with st.grid(2, min_column_width=210, gap="medium"):
        position = controls.slider("position", _("Position"), 0, shown.count - 1)
        dimension = controls.slider("dimension", _("Dimension"), 0, shown.d_model - 1)
    where, wave, wavelength = data.wave(dimension, shown.count, shown.d_model, shown.base, shown.layout)
    pair = int(np.nonzero(shown.pairs == dimension)[0][0])
    with st.grid(2, min_column_width=400, gap="medium"):
        with st.container(gap="xsmall"):
            terms.markdown(_("**Position {position}**, {token}", position=position, token=_token_at(shown, position)))
            message = "Position {position}: its sines and its cosines over the dimensions, as two curves"
            _chart(
                figures.position_curve(shown.rows[position], shown.pairs),
                "position-curve",
                _(message, position=position),
            )
            frame.caption(
                "Every position has its own pattern: both curves oscillate on the left and flatten towards the right."
            )
        with st.container(gap="xsmall"):
            message = "**Dimension {dimension}**: a wavelength of {length} tokens"
            terms.markdown(_(message, dimension=dimension, length=_length(wavelength)))
            message = "Dimension {dimension} over the positions, wavelength {length} tokens"
            _chart(
                figures.dimension_curve(where, wave, shown.rows[:, dimension], shown.tokens, wavelength),
                "dimension-curve",
                _(message, dimension=dimension, length=_length(wavelength)),
            )
            terms.caption(_wavelength(f"{shown.base:,}^({2 * pair}/{shown.d_model})", wavelength, shown.count))
    # A link that names another shift opens on what it does.
    st.session_state.setdefault("positions-rotation", state.current().learn.shift != FIELDS["shift"].default)
    label = _("A shift is a rotation: what turns one position into the one k tokens later, in numbers")
    frame.unfolding(label, "positions-rotation", _show_rotation, shown, position, pair, wavelength)


def _wavelength(power: str, length: float, drawn: int) -> str:
    if length < drawn:
        message = "Wavelength 2π · {power} = {length} (§3.5). The band is one period."
        return _(message, power=power, length=_length(length))
    message = "Wavelength 2π · {power} = {length} (§3.5), longer than the range shown here."
    return _(message, power=power, length=_length(length))


def _show_rotation(shown: data.Shown, position: int, pair: int, wavelength: float) -> None:
    """That a shift by k turns a pair of dimensions by an angle which does not depend on the position."""
    shift = controls.slider("shift", _("Shift k, in tokens"), 1, MIN_POSITIONS - 1)
    angle = 2 * np.pi * shift / wavelength
    turns, residual = data.shift_rotation(shift, shown.count, shown.d_model, shown.base)
    sine_at, cosine_at = (int(dimension) for dimension in shown.pairs[pair])
    encoding = data.encoding(shown.count + shift, shown.d_model, shown.base, shown.layout)
    sine, cosine = encoding[:, sine_at], encoding[:, cosine_at]
    (cos, sin), _rest = turns[pair]
    with st.grid(2, min_column_width=400, gap="medium"):
        message = "Dimensions {sine_at} and {cosine_at} on the unit circle, at positions {position} and {shifted}"
        _chart(
            figures.shift_on_circle(sine, cosine, position, shift, angle),
            "circle",
            _(message, sine_at=sine_at, cosine_at=cosine_at, position=position, shifted=position + shift),
        )
        with st.container():
            terms.markdown(
                _(
                    "Dimensions {sine_at} and {cosine_at} at position {position}, rotated by kω = {angle:.4g} rad "
                    "({degrees:.4g}°), equal those at position {shifted}:",
                    sine_at=sine_at,
                    cosine_at=cosine_at,
                    position=position,
                    angle=angle,
                    degrees=np.degrees(angle),
                    shifted=position + shift,
                )
            )
            st.latex(_equation((sine, cosine), position, shift, (cos, sin)))
            terms.markdown(
                _(
                    "The matrix depends on k and the dimension, not on the position: PE(pos + k) is a linear "
                    "function of PE(pos), so a head can learn to attend k tokens back (§3.5)."
                )
            )
            terms.markdown(
                _(
                    "Over all {count} positions and {pairs} pairs, max |Rₖ PE(pos) − PE(pos + k)| is "
                    "**{float64}** in float64 and **{float32}** in the model's float32.",
                    count=shown.count,
                    pairs=shown.d_model // 2,
                    float64=scientific(residual.float64),
                    float32=scientific(residual.float32),
                )
            )


def _equation(pair: tuple[np.ndarray, np.ndarray], position: int, shift: int, turn: tuple[float, float]) -> str:
    (sine, cosine), (cos, sin) = pair, turn
    before, after = (
        rf"\begin{{pmatrix}} {sine[at]:.4f} \\ {cosine[at]:.4f} \end{{pmatrix}}" for at in (position, position + shift)
    )
    matrix = rf"\begin{{pmatrix}} {cos:.4f} & {sin:.4f} \\ {-sin:.4f} & {cos:.4f} \end{{pmatrix}}"
    return rf"{after} = \underbrace{{{matrix}}}_{{R_k}} {before}"


def _token_at(shown: data.Shown, position: int) -> str:
    if position >= len(shown.tokens):
        return _("beyond this sentence")
    return controls.plain(display_token(shown.tokens[position]))


def _length(tokens: float) -> str:
    return f"{tokens:,.2f}" if tokens < 100 else f"{tokens:,.0f}"


def _show_likeness(
    shown: data.Shown,
    sums: Float[np.ndarray, "position d_model"],
    recorded: Float[np.ndarray, "position d_model"],
    is_own: bool,
) -> None:
    """Dot products of positions over their distance, and of what the model reads: embedding + position."""
    length = len(shown.tokens)
    positions = data.likeness(shown.rows[:length], shown.rows[:length])
    content = data.likeness(sums, recorded)
    with st.grid(2, min_column_width=400, gap="medium"):
        with st.container(gap="xsmall"):
            st.markdown(_("**Positions only**"))
            curve = data.products_at_distances(shown.count, shown.d_model, shown.base)
            _chart(
                figures.likeness_over_distance(curve, positions, shown.tokens, shows_means=False),
                "likeness-positions",
                _("Dot product of two positional encodings by their distance: all pairs are on one curve"),
            )
            frame.caption(
                "PE(p) · PE(p + k) depends only on k: every pair of this sentence is on the curve, at any "
                "position. Close positions are similar, distant ones less so."
            )
        with st.container(gap="xsmall"):
            terms.markdown(_("**Embedding + position**, which the first layer reads"))
            own_curve = data.products_at_distances(max(length, 2), sums.shape[1], data.OWN_BASE)
            _chart(
                figures.likeness_over_distance(own_curve, content, shown.tokens, shows_means=True),
                "likeness-sums",
                _("Dot product of embedding plus position for all pairs of tokens, by their distance"),
            )
            explained = _explained(content.explained)
            if not is_own:
                explained = _("{explained} This picture always shows the model's own encodings.", explained=explained)
            terms.caption(explained)


def _explained(share: float | None) -> str:
    if share is None:
        return _(
            "The curve is the same; deviations come from the words. There are too few pairs to say how much position "
            "explains."
        )
    return _(
        "The curve is the same; deviations come from the words. In this sentence position explains **{share:.0%}** "
        "of the variance between pairs (R²).",
        share=share,
    )
