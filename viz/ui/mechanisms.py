"""How the chosen model masks and how it knows positions, as pictures: of any model, by one trace of it."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import attention, mechanisms, models
from viz.pictures.figures.masks import COLOURS, STATES, mask_heatmap, reasons
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData, matrix_picture
from viz.selection import state
from viz.text import written
from viz.text.html import swatches
from viz.text.messages import _, plural, said, shown
from viz.text.written import file_name, with_minus
from viz.ui import frame, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.positions import PositionScheme

_SCHEMES: Final = {
    "sinusoidal": said("A fixed table of sines and cosines: its row for a position is added to the vector there."),
    "learned": said("A learned table: its row for a position is added to the vector there."),
    "rotary": said(
        "Nothing is added to a token (Su et al. 2021). Each pair of dimensions of query and key is rotated by an angle "
        "that grows with the position, so that a dot product depends on the distance between the two."
    ),
    "ALiBi": said(
        "Nothing is added to a token (Press et al. 2022). Each head lowers the score of a key in proportion to its "
        "distance, with a slope for each head."
    ),
    "relative bias": said(
        "Nothing is added to a token (Raffel et al. 2020). Each head adds to each score a learned number that depends "
        "on the distance between key and query."
    ),
    "none": said("This model has no positional encodings."),
    "unknown": said("It is unknown how this model encodes positions."),
}
#: What stands before it; of a model that has no scheme there is no name either.
_HEADINGS: Final = {
    "sinusoidal": said("Sinusoidal positions."),
    "learned": said("Learned positions."),
    "rotary": said("Rotary position embeddings."),
    "ALiBi": said("ALiBi positions."),
    "relative bias": said("Relative position biases."),
    "none": said("No positional encodings."),
    "unknown": said("Positions: unknown."),
}
_HOW_TO_READ: Final = {
    "table": said(
        "Each row is a position, each column a dimension; warm above zero, cold below. Neighbouring positions look "
        "similar if the model learned that they are close."
    ),
    "angles": said(
        "Each row is a position, each column a pair of dimensions: the cosine of the angle by which that pair is "
        "rotated there. On the left the angle grows fast from token to token; on the right it hardly changes."
    ),
    "bias": said(
        "Each row is a head, each column a distance of the key after the query (+) or before it (−). Warm numbers are "
        "added to the score, cold ones are subtracted."
    ),
}
_NUMBERS: Final = {"table": said("value"), "angles": said("cosine"), "bias": said("bias")}
_TITLES: Final = {
    "table": said("Positions: value"),
    "angles": said("Positions: cosine"),
    "bias": said("Positions: bias"),
}
#: Larger masks are told in words: nobody can read so many cells.
MAX_TOKENS: Final = 256


def masks(trace: "Trace") -> None:
    """Each attention's masks: which layers use them, what they forbid, and the picture."""
    if max(max(map(len, trace.axis_tokens(site))) for site in trace.sites) <= MAX_TOKENS:
        legend()
    # An encoder–decoder's three are in one row where there is room.
    with st.grid(3, min_column_width=290, gap="small"):
        for site in trace.sites:
            _site(trace, site)
    frame.caption(
        "Rows are queries, columns are keys. A single input needs no padding, so keys are masked only because of "
        "their positions: a decoder must not see what comes later, and a window hides distant keys from a row."
    )


def _site(trace: "Trace", site: str) -> None:
    queries, keys = trace.row_names(site), trace.axis_tokens(site)[1]
    count = len(trace.inputs[site])
    if attention.is_long(trace, site) or max(len(queries), len(keys)) > MAX_TOKENS:
        with st.container(gap="xsmall"):
            st.markdown(f"**{written.label(site)}**")
            frame.caption(
                "{num_queries:,} × {num_keys:,} tokens are too many for legible cells (at most {max_tokens}); the "
                "rule, in the first of {layers} layers: {rule}.",
                num_queries=len(queries),
                num_keys=len(keys),
                max_tokens=MAX_TOKENS,
                layers=count,
                rule=mechanisms.rule_of(trace.inputs[site][0].mask),
            )
        return
    for mask in mechanisms.masks_in_use(trace, site):
        with st.container(gap="xsmall"):
            st.markdown(f"**{written.label(site)}**")
            message = "{layers}: a query may see {rule}."
            terms.caption(plain(_(message, layers=layers_in_words(mask.layers, count), rule=mask.rule)))
            codes, name = reasons(mask.by_position, mask.by_padding), f"{site}-{mask.layers[0]}"
            frame.chart(
                mask_heatmap(codes, queries, keys, rows_write=trace.rows_write(site)),
                f"mask-{name}",
                file_name("mask", name),
                _("Mask of {site}: a query may see {rule}", site=written.label(site).lower(), rule=mask.rule),
            )


def layers_in_words(layers: tuple[int, ...], count: int) -> str:
    """Which of so many layers these are, counted from 1."""
    if len(layers) == count:
        return _("All layers") if count > 1 else _("The only layer")
    numbers = ", ".join(str(layer + 1) for layer in layers)
    return plural("Layer {numbers}", "Layers {numbers}", len(layers), numbers=numbers)


def legend() -> None:
    """What the colours of a mask mean."""
    st.html(swatches(tuple(zip(COLOURS, STATES, strict=True))))


def positions(trace: "Trace") -> None:
    """The scheme by its name, and its numbers as a picture."""
    abilities = models.abilities(state.current().model)
    scheme = abilities.positions
    words = abilities.lacks.get("positional encodings", _SCHEMES[scheme]) if scheme == "none" else _SCHEMES[scheme]
    own = abilities.target_positions
    of_encoder = "" if own is None else _("Encoder")
    st.markdown(f"{of_encoder} **{_(_HEADINGS[scheme])}** {shown(words)}".lstrip())
    schemes = mechanisms.position_schemes(trace, models.reader(state.current().model))
    for scheme_of_site in schemes:
        if scheme_of_site.site:
            st.markdown(f"**{written.label(scheme_of_site.site)}**")
        _draw_scheme(scheme_of_site, trace)
        frame.caption(_HOW_TO_READ[scheme_of_site.what])
    if not schemes and scheme not in ("none", "unknown"):
        frame.note("This model does not expose these numbers, so there is no picture of them.")
    if own is not None:
        st.markdown(f"{_('Decoder')} **{_(_HEADINGS[own])}** {shown(_SCHEMES[own])}")


def _draw_scheme(scheme: "PositionScheme", trace: "Trace") -> None:
    values = scheme.values.numpy()
    rows, columns = values.shape
    if scheme.what == "bias":
        row_tokens = [f"H{row + 1}" for row in range(rows)]
        column_tokens = [with_minus(f"{scheme.first + column:+d}") for column in range(columns)]
        bound = float(np.abs(values).max(initial=0.0)) or 1.0
    else:
        tokens = trace.source_tokens or trace.target_tokens
        has_words = trace.source.has_words
        row_tokens = [f"{row}·{tokens[row]}" if has_words and row < len(tokens) else str(row) for row in range(rows)]
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
            note=_("the largest 1% is clipped to the ends of the colour scale") if scheme.what == "table" else "",
            file_name=file_name("positions", scheme.what, scheme.site),
        ),
        Kept(),
        on_keep=lambda kept: None,
        key=f"positions-{scheme.what}-{scheme.site}",
    )
