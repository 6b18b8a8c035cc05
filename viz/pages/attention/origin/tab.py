"""Where the weights of one row come from: seven pictures over the same keys, two switches, and the proof."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import streamlit as st

from viz.access import attention, long_texts, models, traces
from viz.pages.attention.origin.story import Origin, story, strongest
from viz.pictures.component import Component
from viz.pictures.payload import CHOSEN, FLAT, hear
from viz.selection import state
from viz.text.messages import _, said
from viz.text.numbers import decimal, scientific
from viz.text.sites import DECODER, file_name, head_name
from viz.theme import DIVERGING_INKS, HEAD_COLOURS, SEQUENTIAL_INKS, Inks
from viz.ui import controls, finding, frame, token_labels

if TYPE_CHECKING:
    from model import Trace


_DIVIDED: Final = said(
    "if the components are independent with mean 0 and variance 1 (footnote 4): a standard deviation of "
    "$\\sqrt{{{d_k}}}$ = {root:.2f}, and a softmax so sharp that almost no gradient is left. Measured over {pairs:,} "
    "pairs of this sentence, the standard deviation of this head's scores is **{before:.2f}** before and "
    "**{after:.2f}** after dividing."
)
_NOT_DIVIDED: Final = said(
    "if the components are independent with mean 0 and variance 1 (footnote 4): a standard deviation of "
    "$\\sqrt{{{d_k}}}$ = {root:.2f}, and a softmax so sharp that almost no gradient is left. Measured over {pairs:,} "
    "pairs of this sentence, the standard deviation of this head's scores is **{before:.2f}**; this model does not "
    "divide."
)
_COMPONENT: Final = Component("pages/attention/origin/origin_story.js", "pages/attention/origin/origin_story.css")


@dataclass(frozen=True, eq=False, slots=True)
class OriginPicture:
    """The story, its colours, the key that is followed, and the name of the files it is saved in."""

    story: Annotated[Mapping[str, object], FLAT]
    followed: Annotated[int, CHOSEN]
    name: Annotated[str, CHOSEN]
    signed: Inks = DIVERGING_INKS
    sequential: Inks = SEQUENTIAL_INKS
    real_colour: str = HEAD_COLOURS[0]
    other_colour: str = HEAD_COLOURS[1]


@frame.fragment
def show(trace: "Trace") -> None:
    """One row of one head, from q and k to its part of the output."""
    abilities = models.abilities(state.current().model)
    instead = _("The grid, the heatmap, the lines and bertviz show its weights.")
    if frame.lacking(abilities, "scores", instead) or frame.lacking(abilities, "norms", instead):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site_list(trace.sites)
        layer = controls.layer(trace.layers_of(site))
        head = controls.head(trace.heads_of(site))
        default_row, default_key = finding.default_cell(trace, site)
        is_undivided = not state.current().attention.scaled and trace.attention(site, layer).scale != 1
        shows_change = is_undivided and state.current().common.token is None and not long_texts.is_long(trace, site)
        if shows_change:
            default_row, default_key = attention.row_that_scaling_changes(trace, site, layer, head), None
        row = controls.token("token", _("Query"), token_labels.row_labels(trace, site), default=default_row)
        real = attention.derived_row(trace, site, layer, head, row, scaled=True, masked=True)
        keys = trace.axis_tokens(site)[1]
        default = strongest(real) if default_key is None else default_key
        key = controls.token("key_token", _("Key"), token_labels.numbered(keys), default=default)
        cuts_off = not bool(real.allowed.all())
        divides = real.scale != 1
        scaled, masked = _switches(divides=divides, cuts_off=cuts_off)
    other = None
    if not (scaled and masked):
        other = attention.derived_row(trace, site, layer, head, row, scaled=scaled, masked=masked)
    if shows_change:
        st.caption(_("Of all rows of this head, this one changes most without the division."))
    reader = models.reader(state.current().model)
    origin = Origin(
        row_name=trace.row_names(site)[row],
        key_tokens=keys,
        real=real,
        other=other,
        followed=key,
        site=site,
        head=head,
        added=attention.added_to_scores(trace, site, layer, head, row, key),
        score=trace.attention(site, layer).score.name,
        has_projection=abilities.has("output projection"),
        parts=attention.head_parts(trace, reader, site, layer, row),
        other_part=None if other is None else attention.head_part(other, reader, site, layer, head),
    )
    name = file_name("origin", head_name(site, layer, head), f"row{row}", sentence=trace.text)
    origin_story(origin, on_follow=lambda key: state.change(key_token=key), key="origin", name=name)
    st.caption(_how_to_read(site, cuts_off=cuts_off))
    frame.lacking(abilities, "output projection", _("The last step is the context again."))
    _badge(trace, site, layer)
    _alternative(trace, site, layer, head)


def _switches(*, divides: bool, cuts_off: bool) -> tuple[bool, bool]:
    """Whether to scale and whether to mask, one above the other, where the model divides and where a key is masked."""
    with st.container(width="content", gap=None):
        return _switch("scaled", _("Divide by √dₖ"), offered=divides), _switch("masked", _("Mask"), offered=cuts_off)


def _switch(field: str, label: str, *, offered: bool) -> bool:
    return not offered or st.toggle(label, key=state.bind(field), on_change=state.take, args=(field,))


def _how_to_read(site: str, *, cuts_off: bool) -> str:
    if cuts_off:
        return _(
            "From the second step on every column is a key: point at one to follow it, click it for its dot product."
        )
    if site == DECODER:
        return _(
            "From the second step on every column is a key: point at one to follow it, click it for its dot product. "
            "The mask hides nothing here: it is the last row."
        )
    return _(
        "From the second step on every column is a key: point at one to follow it, click it for its dot product. The "
        "mask hides nothing here: a single text has no padding."
    )


def _badge(trace: "Trace", site: str, layer: int) -> None:
    if not trace.knows_outputs(site):
        st.caption(
            _(
                "For texts of more than {most:,} characters the model's own head outputs are not kept for comparison "
                "with weights · values: they would take as much memory as the queries.",
                most=traces.LONGEST_PROVED,
            )
        )
        return
    check = attention.output_check(trace, site, layer)
    difference = scientific(check.deviation)
    explained = _(
        "For all heads of this layer, whose outputs reach {largest}. Rounding explains differences up to {tolerance}.",
        largest=decimal(check.largest),
        tolerance=scientific(check.tolerance),
    )
    if check.deviation <= check.tolerance:
        proof = _(
            "weights · values = the model's own head output: largest difference {difference}", difference=difference
        )
        st.badge(proof, icon=":material/check:", color="green", help=explained)
    else:
        proof = _(
            "weights · values ≠ the model's own head output: largest difference {difference}", difference=difference
        )
        st.badge(proof, icon=":material/warning:", color="red", help=explained)


def _alternative(trace: "Trace", site: str, layer: int, head: int) -> None:
    spread = attention.dot_product_spread(trace, site, layer, head)
    inputs = trace.attention(site, layer)
    d_k = inputs.query.shape[-1]
    st.subheader(_("Why dot products, and why divide"), anchor=False)
    with st.grid(2, min_column_width=330, gap="medium"):
        with st.container():
            st.markdown(_("**The alternative: additive attention** (Bahdanau et al. 2015)"))
            st.latex(r"\mathrm{score}(q, k) = v^\top \tanh(W_1 q + W_2 k)")
            st.markdown(
                _(
                    "A small network with its own weights scores each pair. The paper (§3.2.1) finds both similar in "
                    "theoretical complexity, but dot products much faster and more memory-efficient: all of them are "
                    "one matrix product. For small $d_k$ both perform equally well; for large $d_k$ unscaled dot "
                    "products are worse."
                )
            )
        with st.container():
            st.markdown(_("**The reason to divide: large sums**"))
            st.latex(r"\mathrm{Var}(q \cdot k) = \textstyle\sum_{i=1}^{d_k} \mathrm{Var}(q_i k_i) = d_k")
            measured = _NOT_DIVIDED if inputs.scale == 1 else _DIVIDED
            numbers = {"d_k": d_k, "root": d_k**0.5, "pairs": spread.pairs, "before": spread.before}
            st.markdown(_(measured, **numbers, after=spread.after))


def origin_story(origin: Origin, *, on_follow: Callable[[int], object], key: str, name: str = "origin") -> None:
    """Show the story, saved in files called `name`; `on_follow` is called with the key that a person clicks."""
    told = story(origin)
    picture = OriginPicture(told, told.pop("followed"), name)
    _COMPONENT.show(picture, key=key, follow=hear(on_follow, int, key=range(len(origin.key_tokens))))
