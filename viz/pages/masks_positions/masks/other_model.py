"""The masks of a model that is not a translator of ours, as it used them."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import long_texts, models
from viz.pages.masks_positions.masks import data
from viz.pages.masks_positions.masks.figures import COLOURS, STATES, mask_heatmap, reasons
from viz.selection import state
from viz.text import sites
from viz.text.html import swatches
from viz.text.messages import _, plural
from viz.text.sites import file_name
from viz.ui import frame
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace

#: Larger masks are told in words: nobody can read so many cells.
MAX_TOKENS: Final = 256


@frame.fragment
def show(trace: "Trace") -> None:
    """Each attention's masks: which layers use them, what they forbid, and the picture."""
    if max(max(map(len, trace.axis_tokens(site))) for site in trace.sites) <= MAX_TOKENS:
        st.html(swatches(tuple(zip(COLOURS, STATES, strict=True))))
    for site in trace.sites:
        st.markdown(f"**{sites.label(site)}**")
        _site(trace, site)
    st.caption(
        _(
            "Rows are queries, columns are keys. A text on its own needs no padding, so what is masked is masked "
            "because of where keys stand: a decoder must not see what comes later, and a window keeps a row from "
            "looking far."
        )
    )
    frame.lacking(models.abilities(state.current().model), "batch masks")


def _site(trace: "Trace", site: str) -> None:
    queries, keys = trace.axis_tokens(site)
    if long_texts.is_long(trace, site) or max(len(queries), len(keys)) > MAX_TOKENS:
        layers = len(trace.inputs[site])
        st.caption(
            _(
                "{num_queries:,} × {num_keys:,} tokens are too many for cells that can be read (at most "
                "{max_tokens}); the rule, in the first of {layers} layers: {rule}.",
                num_queries=len(queries),
                num_keys=len(keys),
                max_tokens=MAX_TOKENS,
                layers=layers,
                rule=data.rule_of(trace, site, 0),
            )
        )
        return
    with st.grid(2, min_column_width=330, gap="medium"):
        for mask in data.masks_in_use(trace, site):
            with st.container(gap="xsmall"):
                st.caption(
                    plain(
                        _(
                            "{layers}: a row may see {rule}.",
                            layers=_layers(mask.layers, len(trace.inputs[site])),
                            rule=mask.rule,
                        )
                    )
                )
                name = f"{site}-{mask.layers[0]}"
                frame.chart(
                    mask_heatmap(reasons(mask.by_position, mask.by_padding), queries, keys),
                    f"mask-{name}",
                    file_name("mask", name),
                    _("Mask of {site}: a row may see {rule}", site=sites.label(site).lower(), rule=mask.rule),
                )


def _layers(layers: tuple[int, ...], count: int) -> str:
    if len(layers) == count:
        return _("All layers") if count > 1 else _("The only layer")
    numbers = ", ".join(str(layer + 1) for layer in layers)
    return plural("Layer {numbers}", "Layers {numbers}", len(layers), numbers=numbers)
