"""All parts of a score: heads and others one by one, and what a part at the query has to do with one at the keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.attention import data
from viz.pages.attention.why.names import in_its_stack
from viz.selection import state
from viz.text import html
from viz.text.messages import _, plural, said, shown
from viz.text.written import signed
from viz.ui import frame

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.score import Step

#: So many parts of a side, and pairs of parts, are listed; the others are one sum.
PARTS: Final = 10
_SHARE: Final = html.Column(said("Share"), is_number=True)


def show(trace: "Trace", asked: data.Asked) -> None:
    """The largest parts of either side and pairs of them, each table with the sum of what it leaves out."""
    reader = models.text_reader(state.current().model)
    with frame.loading(_("Splitting the score …")):
        reason, pairs = data.reason(reader, trace, asked), data.pairs(reader, trace, asked)
    largest = [((in_its_stack(query), in_its_stack(key)), share) for query, key, share in pairs.largest(PARTS)]
    total, count = float(pairs.shares.sum()), pairs.shares.numel()
    frame.caption(
        "Each table lists the largest shares and the sum of the others. The value of a pair is the product of a "
        "part at the query and a part at the keys."
    )
    with st.grid(3, min_column_width=280, gap="medium"):
        _side(said("Part of the query"), reason.query)
        _side(said("Part of the keys"), reason.keys)
        _table((said("At the query"), said("At the keys")), largest, total, count)
    if data.is_cancelling(pairs.cancelling):
        frame.caption(
            "Pairs of parts partly cancel: their absolute values add up to {factor:.1f} times the score. So no pair "
            "can be called a fraction of the score; this page begins with sub-layers and words instead.",
            factor=pairs.cancelling,
        )


def _side(title: str, step: "Step") -> None:
    shares = step.single_parts()
    largest = sorted(shares.items(), key=lambda item: -abs(item[1]))[:PARTS]
    _table((title,), [((in_its_stack(part),), share) for part, share in largest], step.total, len(shares))


def _table(titles: Sequence[str], largest: Sequence[tuple[tuple[str, ...], float]], total: float, count: int) -> None:
    rows = [(*names, signed(share)) for names, share in largest]
    if rest := count - len(largest):
        name = plural("the other {count:,}", "the other {count:,}", rest)
        rows.append((name, *[""] * (len(titles) - 1), signed(total - sum(share for _names, share in largest))))
    columns = [*map(html.Column, titles), _SHARE]
    st.html(html.table(columns, rows, label=" × ".join(map(shown, titles))))
