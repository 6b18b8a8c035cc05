"""How a model that adds no sinusoids knows where a token stands."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models
from viz.pages.masks_positions.positions import data
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData, matrix_picture
from viz.selection import state
from viz.text import sites
from viz.text.messages import _, said, shown
from viz.text.sites import file_name
from viz.ui import frame

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.positions.schemes import PositionScheme

_SCHEMES: Final = {
    "sinusoidal": said("A fixed table of sines and cosines: the row of its place is added to each token's embedding."),
    "learned": said("A table that was learned: the row of its place is added to each token's embedding."),
    "rotary": said(
        "Rotary positions (Su et al. 2021): nothing is added. Query and key are turned, pair of dimensions by pair, by "
        "an angle that grows with their place; a dot product then knows how far the two are apart."
    ),
    "ALiBi": said(
        "ALiBi (Press et al. 2022): nothing is added to a token. Each head lowers the score of a key the farther it "
        "is away, each by a slope of its own."
    ),
    "relative bias": said(
        "A relative bias (Raffel et al. 2020): nothing is added to a token. Each head adds a learned number to a score "
        "that depends on how far the key lies from the query."
    ),
    "none": said("This model has no positions of its own."),
}
#: What stands before it; of a model that has no scheme there is no name either.
_HEADINGS: Final = {
    "sinusoidal": said("Sinusoidal positions."),
    "learned": said("Learned positions."),
    "rotary": said("Rotary positions."),
    "ALiBi": said("ALiBi positions."),
    "relative bias": said("Relative bias positions."),
    "none": said("No positional encodings."),
}
_HOW_TO_READ: Final = {
    "table": said(
        "A row is a place, a column one of its dimensions; warm above zero, cold below. Places next to one another "
        "look alike where the model learned that they are near."
    ),
    "angles": said(
        "A row is a place, a column a pair of dimensions: the cosine of the angle by which that pair is turned there. "
        "On the left pairs turn fast from token to token, on the right they hardly move."
    ),
    "bias": said(
        "A row is a head, a column a distance: how far the key lies after the query (+) or before it (−). Warm is "
        "added to the score, cold is taken away."
    ),
}
_NUMBERS: Final = {"table": said("value"), "angles": said("cosine"), "bias": said("bias")}
_TITLES: Final = {
    "table": said("Positions: value"),
    "angles": said("Positions: cosine"),
    "bias": said("Positions: bias"),
}


@frame.fragment
def show(trace: "Trace") -> None:
    """The scheme by its name, and its numbers as a picture."""
    abilities = models.abilities(state.current().model)
    scheme = abilities.positions
    words = abilities.lacks.get("positional encodings", _SCHEMES[scheme]) if scheme == "none" else _SCHEMES[scheme]
    st.markdown(f"**{_(_HEADINGS[scheme])}** {shown(words)}")
    schemes = data.position_schemes(trace, models.reader(state.current().model))
    for scheme_of_site in schemes:
        if scheme_of_site.site:
            st.markdown(f"**{sites.label(scheme_of_site.site)}**")
        _draw(scheme_of_site, trace)
        st.caption(_(_HOW_TO_READ[scheme_of_site.what]))
    if not schemes and scheme != "none":
        frame.note(_("This model does not give the numbers, so there is no picture of them."))


def _draw(scheme: "PositionScheme", trace: "Trace") -> None:
    values = scheme.values.numpy()
    rows, columns = values.shape
    if scheme.what == "bias":
        row_tokens = [f"H{row + 1}" for row in range(rows)]
        column_tokens = [f"{scheme.first + column:+d}" for column in range(columns)]
        bound = float(np.abs(values).max(initial=0.0)) or 1.0
    else:
        tokens = trace.source_tokens or trace.target_tokens
        is_text = trace.picture is None
        row_tokens = [f"{row}·{tokens[row]}" if is_text and row < len(tokens) else str(row) for row in range(rows)]
        column_tokens = [str(column) for column in range(columns)]
        bound = 1.0 if scheme.what == "angles" else float(np.quantile(np.abs(values), 0.99)) or 1.0
    matrix_picture(
        MatrixData(
            values=np.clip(values, -bound, bound),
            row_tokens=row_tokens,
            column_tokens=column_tokens,
            scale=ColourScale.signed(_(_NUMBERS[scheme.what]), bound),
            title=_(_TITLES[scheme.what]),
            label=_(_HOW_TO_READ[scheme.what]),
            note=_("the strongest hundredth is cut to the ends of the colours") if scheme.what == "table" else "",
            file_name=file_name("positions", scheme.what, scheme.site),
        ),
        Kept(),
        on_keep=lambda kept: None,
        key=f"positions-{scheme.what}-{scheme.site}",
    )
