"""How far trained heads are saturated, with the scaling by 1/√d_k and without it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.scoring.saturation import Rows, measure_rows
from model.nn.attention import AttentionInputs, ScoresAndWeights
from model.trace.trace import Trace

#: Of a longer text, so many rows at most are measured, evenly spaced.
MOST_ROWS: Final = 64


@dataclass(frozen=True, eq=False)
class HeadSaturation:
    """The heads of a layer with one scale: the median of each head's rows that had a choice.

    Attributes:
        medians: of each head.
        evenness: entropy as a share of the largest that the row could have, 1 where all keys are alike.
    """

    medians: Rows
    evenness: Float[Tensor, "head"]


def with_scale(inputs: AttentionInputs, name: str) -> AttentionInputs:
    """The same queries and keys, scored by the plain ("dot") or by the scaled dot product ("scaled")."""
    return replace(inputs, scale=inputs.query.size(-1) ** -0.5 if name == "scaled" else 1.0)


@torch.inference_mode()
def head_saturation(trace: Trace, site: str, layer: int) -> Mapping[str, HeadSaturation]:
    """ "dot" and "scaled" → how saturated the heads of a layer are; a TraceError where queries are not known.

    Rows that may look at one key only are left out: their softmax has no gradient whatever the scale.
    """
    inputs = trace.attention(site, layer)
    rows = _with_choice(inputs).tolist()
    return {name: _of_layer(with_scale(inputs, name).scores_and_weights(rows=rows)) for name in ("dot", "scaled")}


def _of_layer(derived: ScoresAndWeights) -> HeadSaturation:
    rows = measure_rows(derived)
    most = derived.scores.isfinite().sum(-1).double().log2()
    medians = Rows(*(value.median(-1).values for value in (rows.spread, rows.entropy, rows.gradient)))
    return HeadSaturation(medians, (rows.entropy / most).median(-1).values)


def _with_choice(inputs: AttentionInputs) -> Int[Tensor, "row"]:
    rows = (inputs.mask.rows()[0].sum(-1) > 1).nonzero()[:, 0]
    # A text of one token has no row with a choice; what it has is measured.
    rows = rows if len(rows) else torch.arange(inputs.query.size(1))
    return rows[torch.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).round().long()]
