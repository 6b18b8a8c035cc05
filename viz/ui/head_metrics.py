"""What people read about the metrics of heads: names, units, meanings; and heads ranked by one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from viz.components.head_grid.component import HeadChoice, Ranking, TileMetric
from viz.core.sites import CROSS, DECODER


@dataclass(frozen=True)
class MetricText:
    """Name of a metric, its meaning as the end of a sentence, its unit and decimals."""

    name: str
    meaning: str
    unit: str = ""
    decimals: int = 2


TEXTS: Final[Mapping[str, MetricText]] = {
    "entropy": MetricText(
        "Entropy", "how widely a token spreads its weight: 0 bits on one key, 1 bit as over 2, 3 bits as over 8", "bits"
    ),
    "distance": MetricText("Mean distance", "Σ weight · |key − query|, how many tokens away a head looks", "tokens", 1),
    "previous": MetricText("Previous token", "the weight on the token before, between 0 and 1"),
    "same": MetricText("Same token", "the weight of a token on itself, between 0 and 1"),
    "next": MetricText("Next token", "the weight on the token after, between 0 and 1"),
    "first": MetricText("First token", "the weight on the first key, between 0 and 1"),
    "last": MetricText("Last token", "the weight on the last key, between 0 and 1"),
    "diagonal": MetricText("Diagonal", "the weight on a token itself and its two neighbours, between 0 and 1"),
    "punctuation": MetricText("Punctuation", "the weight on all punctuation together, between 0 and 1"),
}

_THE_DIAGONAL: Final = "the diagonal, which leads from the first pair of tokens straight to the last pair"
#: Where a site gives a metric another meaning: queries and keys of cross-attention are two sentences.
_MEANINGS: Final[Mapping[tuple[str, str], str]] = {
    (CROSS, "distance"): f"Σ weight · |key − diagonal|, how many source tokens a head looks away from {_THE_DIAGONAL}",
    (CROSS, "diagonal"): f"the weight on keys at most one token from {_THE_DIAGONAL}, between 0 and 1",
    (DECODER, "last"): "the weight on the last key, between 0 and 1; only the last token may look there",
}
_NEIGHBOURS: Final = frozenset({"previous", "same", "next"})


def labels() -> dict[str, str]:
    """Metric → its name, and first that there is none."""
    return {"": "None", **{key: text.name for key, text in TEXTS.items()}}


def meaning(key: str, site: str) -> str:
    """What a metric says at a site, as the end of a sentence."""
    return _MEANINGS.get((site, key), TEXTS[key].meaning)


def tile_metric(key: str, site: str, values: Float[np.ndarray, "layer head"]) -> TileMetric | None:
    """A metric as the tiles carry it; None where no head has it."""
    if np.isnan(values).all():
        return None
    text = TEXTS[key]
    note = (
        f"{text.name}: {meaning(key, site)}. Mean over all tokens that could also look elsewhere. "
        f"The longest bar is the highest of all heads, {np.nanmax(values):.{text.decimals}f} {text.unit}".rstrip()
        + "."
    )
    return TileMetric(text.name, values, text.decimals, text.unit, note)


def why_none(key: str, site: str) -> str:
    """Why no head has a metric at a site."""
    name = TEXTS[key].name
    if site == CROSS and key in _NEIGHBOURS:
        return (
            f"“{name}” says nothing here: cross-attention looks from one sentence into another, where no key is "
            "the token before, itself or after. “Diagonal” compares places in the two sentences."
        )
    if site == DECODER and key == "next":
        return f"“{name}” says nothing here: the decoder has not written the next token yet and cannot look at it."
    return f"“{name}” says nothing here: no token of this sentence has the choice to look there or elsewhere."


def ranking(metric: TileMetric, order: str, keep: int) -> Ranking | None:
    """Heads from the highest or the lowest metric on, of equal ones the first by layer; None for layer by layer.

    Heads without a number come last.

    Args:
        metric: what heads are ranked by.
        order: one of `viz.selection.attention.ORDERS`.
        keep: how many are shown; 0 for all.
    """
    if order == "layers":
        return None
    values = metric.values.ravel()
    ranked = np.argsort(-values if order == "highest" else values, kind="stable")
    shown = ranked[: keep or None]
    heads = metric.values.shape[1]
    few = f"the first {len(shown)} of {len(ranked)}" if len(shown) < len(ranked) else f"all {len(ranked)}"
    towards = "highest to the lowest" if order == "highest" else "lowest to the highest"
    return Ranking(
        tuple(HeadChoice(*divmod(int(index), heads)) for index in shown),
        f"Heads from the {towards}, line by line: {few}. L2 H5 is head 5 of layer 2.",
    )
