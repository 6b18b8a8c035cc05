"""The positional encodings: as the model added them, and as its formula gives them with other settings."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models
from viz.pages.masks_positions.positions import data, figures, likeness
from viz.selection import state
from viz.text.messages import _, said
from viz.text.numbers import scientific
from viz.text.sites import file_name
from viz.text.token_text import display_token
from viz.ui import controls, formulas, frame

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from model import Trace
    from model.config import PositionLayout

#: The formula is shown for so many positions at least: waves need room. As many rows as can all have their label.
MIN_POSITIONS: Final = 64
#: How sines and cosines stand in a row, by the model's layout.
ARRANGEMENT: Final[dict["PositionLayout", str]] = {
    "interleaved": said(
        "Even dimensions hold the sine and odd ones the cosine of the same angle. On the left the angle turns fast "
        "from token to token, on the right it hardly moves."
    ),
    "halves": said(
        "The left half holds sines and the right half the cosines of the same angles (the paper has them side by "
        "side). On the left of each half the angle turns fast from token to token, on its right it hardly moves."
    ),
}


@frame.fragment
def show(trace: "Trace") -> None:
    """The matrix, then a position and a dimension of it, a shift, and the likeness of positions."""
    with st.grid(3, min_column_width=210, gap="medium"):
        side = controls.side()
        recorded = trace.positional[side].numpy()
        own = recorded.shape[1]
        d_model, base = controls.width(own), controls.base(data.OWN_BASE)
    tokens = trace.source_tokens if side == "source" else trace.target_tokens
    layout = models.translator(state.current().model).config.position_layout
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
        _("Positional encoding, one row a position, one column a dimension"),
    )
    st.caption(
        _(
            "Each row is added to the embedding of the token at that position. {arrangement} Above the green line "
            "stands this sentence, below it the formula goes on.",
            arrangement=ARRANGEMENT[layout],
        )
    )
    formulas.in_a_row(*_formulas(d_model, base, layout))
    if is_own:
        st.success(
            _(
                "This is what the model added: the {num_tokens} rows of this sentence were recorded as it ran. The "
                "formula with d_model = {own} and base {own_base:,} gives the same numbers; largest difference "
                "{difference}.",
                num_tokens=len(tokens),
                own=own,
                own_base=data.OWN_BASE,
                difference=scientific(deviation),
            ),
            icon=":material/check:",
        )
    _show_curves(shown)
    likeness.show(shown, (trace.embedding[side] + trace.positional[side]).numpy(), recorded, is_own)


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
        st.warning(
            _(
                "**Not what the model added**, but what the formula would give. The model added d_model = {own}, "
                "base {own_base:,}.",
                own=own,
                own_base=data.OWN_BASE,
            ),
            icon=":material/science:",
        )
        st.button(
            _("Back to the model's own"),
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
            st.markdown(_("**Position {position}**, {token}", position=position, token=_token_at(shown, position)))
            _chart(
                figures.position_curve(shown.rows[position], shown.pairs),
                "position-curve",
                _(
                    "Position {position}: a curve of its sines and one of its cosines over the dimensions",
                    position=position,
                ),
            )
            st.caption(
                _("Every position has its own pattern: both curves wave on their left and come to rest further on.")
            )
        with st.container(gap="xsmall"):
            st.markdown(
                _(
                    "**Dimension {dimension}**: one wave is {length} tokens long",
                    dimension=dimension,
                    length=_length(wavelength),
                )
            )
            _chart(
                figures.dimension_curve(where, wave, shown.rows[:, dimension], shown.tokens, wavelength),
                "dimension-curve",
                _(
                    "Dimension {dimension} over the positions, wavelength {length} tokens",
                    dimension=dimension,
                    length=_length(wavelength),
                ),
            )
            st.caption(_wavelength(f"{shown.base:,}^({2 * pair}/{shown.d_model})", wavelength, shown.count))
    st.subheader(_("A shift is a rotation"), anchor=False)
    shift = controls.slider("shift", _("Shift k, in tokens"), 1, MIN_POSITIONS - 1)
    _show_rotation(shown, position, pair, shift, 2 * np.pi * shift / wavelength)


def _wavelength(power: str, length: float, drawn: int) -> str:
    if length < drawn:
        return _(
            "Wavelength 2π · {power} = {length} (§3.5). The band is one wave.", power=power, length=_length(length)
        )
    return _(
        "Wavelength 2π · {power} = {length} (§3.5). That is more than is drawn here.",
        power=power,
        length=_length(length),
    )


def _show_rotation(shown: data.Shown, position: int, pair: int, shift: int, angle: float) -> None:
    """That a shift by k turns a pair of dimensions by an angle which does not depend on the position."""
    turns, residual = data.shift_rotation(shift, shown.count, shown.d_model, shown.base)
    sine_at, cosine_at = (int(dimension) for dimension in shown.pairs[pair])
    encoding = data.encoding(shown.count + shift, shown.d_model, shown.base, shown.layout)
    sine, cosine = encoding[:, sine_at], encoding[:, cosine_at]
    (cos, sin), _rest = turns[pair]
    with st.grid(2, min_column_width=400, gap="medium"):
        _chart(
            figures.shift_on_circle(sine, cosine, position, shift, angle),
            "circle",
            _(
                "Dimensions {sine_at} and {cosine_at} on the unit circle, at {position} and {shifted}",
                sine_at=sine_at,
                cosine_at=cosine_at,
                position=position,
                shifted=position + shift,
            ),
        )
        with st.container():
            st.markdown(
                _(
                    "Dimensions {sine_at} and {cosine_at} at position {position}, turned by kω = {angle:.4g} rad "
                    "({degrees:.4g}°), are those at position {shifted}:",
                    sine_at=sine_at,
                    cosine_at=cosine_at,
                    position=position,
                    angle=angle,
                    degrees=np.degrees(angle),
                    shifted=position + shift,
                )
            )
            st.latex(_equation((sine, cosine), position, shift, (cos, sin)))
            st.markdown(
                _(
                    "The matrix knows k and the dimension, not the position: PE(pos + k) is a linear function of "
                    "PE(pos), so a head can learn to look k tokens back (§3.5)."
                )
            )
            st.markdown(
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
