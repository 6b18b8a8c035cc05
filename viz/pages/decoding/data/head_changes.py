"""Which head looks elsewhere most, of two translations of one sentence."""

from typing import TYPE_CHECKING, Final

import numpy as np

from viz.access import long_texts
from viz.pages.decoding.figures import common_difference
from viz.pictures.figures.comparison import align
from viz.server.caches import cached

if TYPE_CHECKING:
    from model import Trace

MAX_KEPT: Final = 128


@cached(max_entries=MAX_KEPT)
def most_changed_head(first: "Trace", second: "Trace") -> tuple[str, int, int] | None:
    """Attention, layer and head whose weights differ most between tokens that both have; None if no head's do.

    Of a long text nothing is computed.
    """
    most, found = 0.0, None
    for site in first.sites:
        if any(long_texts.is_long(trace, site) for trace in (first, second)):
            return None
        axes = zip(first.axis_tokens(site), second.axis_tokens(site), strict=True)
        rows, columns = (align(*tokens) for tokens in axes)
        for layer in range(first.layers_of(site)):
            pairs = zip(*(trace.weights(site, layer).numpy() for trace in (first, second)), strict=True)
            for head, (ours, theirs) in enumerate(pairs):
                change = float(np.abs(common_difference(ours, theirs, rows, columns)).max(initial=0))
                if change > most:
                    most, found = change, (site, layer, head)
    return found
