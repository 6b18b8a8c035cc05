"""Match the tokens of two sequences, and draw how attention to them differs.

Tokens correspond where equal ones come in equal order, nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz.pictures.figures.axes import token_labels
from viz.pictures.figures.matrix import matrix, signed_scale
from viz.text.messages import _

#: Differences smaller than this everywhere are drawn as the small differences they are.
DIFFERENCE_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class Alignment:
    """Positions that hold the same token in both sequences, in reading order, and what is left over on each side."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


def align(first: Sequence[str], second: Sequence[str]) -> Alignment:
    """Match equal tokens by difflib's longest common blocks. A token that differs is in no pair."""
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    pairs = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
    in_first, in_second = {a for a, _ in pairs}, {b for _, b in pairs}
    return Alignment(
        first=tuple(a for a, _ in pairs),
        second=tuple(b for _, b in pairs),
        only_first=tuple(i for i in range(len(first)) if i not in in_first),
        only_second=tuple(i for i in range(len(second)) if i not in in_second),
    )


def row_difference(
    first: Float[np.ndarray, "head key_1"], second: Float[np.ndarray, "head key_2"], alignment: Alignment
) -> Float[np.ndarray, "head pair"]:
    """Second minus first, for the keys that both sentences have."""
    difference: np.ndarray = second[:, list(alignment.second)] - first[:, list(alignment.first)]
    return difference


def difference_heatmap(
    difference: Float[np.ndarray, "head pair"],
    tokens: Sequence[str],
    names: Sequence[str],
    *,
    bound: float = DIFFERENCE_FLOOR,
) -> go.Figure:
    """Per head and shared token: warm where the second sentence gives it more weight, cold where the first does.

    The colours reach at least to ± `bound`.
    """
    return matrix(
        difference,
        difference,
        names,
        token_labels(tokens),
        scale=signed_scale(_("second − first"), difference, floor=bound),
        hover=_(
            "<b>{head}</b>, key <b>{key}</b><br>second − first {difference}",
            head="%{y}",
            key="%{x}",
            difference="%{customdata:+.4f}",
        ),
    )
