"""What people read about the metrics of heads: names, units, meanings; and heads ranked by one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from viz.pictures.head_grid.component import HeadChoice, Ranking, TileMetric
from viz.text.messages import _, said, shown
from viz.text.written import CROSS, DECODER


@dataclass(frozen=True)
class MetricText:
    """Name of a metric, its meaning as the end of a sentence, its unit and decimals."""

    name: str
    meaning: str
    unit: str = ""
    decimals: int = 2


TEXTS: Final[Mapping[str, MetricText]] = {
    "entropy": MetricText(
        said("Entropy"),
        said("how widely a token spreads its weight: 0 bits for one key, 1 bit for two equal keys, 3 bits for eight"),
        said("bits"),
    ),
    "distance": MetricText(
        said("Mean distance"),
        said("Σ weight · |key − query|, how many tokens away a head attends on average"),
        said("tokens"),
        1,
    ),
    "previous": MetricText(said("Previous token"), said("the weight on the previous token, between 0 and 1")),
    "same": MetricText(said("Same token"), said("the weight of a token on itself, between 0 and 1")),
    "next": MetricText(said("Next token"), said("the weight on the next token, between 0 and 1")),
    "first": MetricText(said("First token"), said("the weight on the first key, between 0 and 1")),
    "last": MetricText(said("Last token"), said("the weight on the last key, between 0 and 1")),
    "diagonal": MetricText(
        said("Diagonal"), said("the weight on a token itself and its two neighbours, between 0 and 1")
    ),
    "punctuation": MetricText(
        said("Punctuation"), said("the weight on all punctuation marks together, between 0 and 1")
    ),
}

#: Where a site gives a metric another meaning: queries and keys of cross-attention are two sentences.
_MEANINGS: Final[Mapping[tuple[str, str], str]] = {
    (CROSS, "distance"): said(
        "Σ weight · |key − diagonal|, the mean distance in source tokens between the attended key and the diagonal, "
        "the straight line from the first pair of tokens to the last"
    ),
    (CROSS, "diagonal"): said(
        "the weight on keys at most one token from the diagonal, the straight line from the first pair of tokens to "
        "the last, between 0 and 1"
    ),
    (DECODER, "last"): said("the weight on the last key, between 0 and 1; only the last token may attend to it"),
}
_NEIGHBOURS: Final = frozenset({"previous", "same", "next"})


def labels() -> dict[str, str]:
    """Metric → its name, and first that there is none."""
    return {"": said("None"), **{key: text.name for key, text in TEXTS.items()}}


def meaning(key: str, site: str) -> str:
    """What a metric says at a site, as the end of a sentence."""
    return _MEANINGS.get((site, key), TEXTS[key].meaning)


def tile_metric(key: str, site: str, values: Float[np.ndarray, "layer head"]) -> TileMetric | None:
    """A metric as the tiles carry it; None where no head has it."""
    if np.isnan(values).all():
        return None
    text = TEXTS[key]
    note = _(
        "{name}: {meaning}. Mean over all tokens with several visible keys. The longest bar is the highest of all "
        "heads, {highest}.",
        name=text.name,
        meaning=meaning(key, site),
        highest=f"{np.nanmax(values):.{text.decimals}f} {shown(text.unit)}".rstrip(),
    )
    return TileMetric(shown(text.name), values, text.decimals, shown(text.unit), note)


def why_none(key: str, site: str) -> str:
    """Why no head has a metric at a site."""
    name = TEXTS[key].name
    if site == CROSS and key in _NEIGHBOURS:
        return _(
            "“{name}” is undefined here: cross-attention leads from one sentence to another, where no key is the "
            "previous token, the token itself or the next. “Diagonal” compares positions in the two sentences.",
            name=name,
        )
    if site == DECODER and key == "next":
        message = "“{name}” is undefined here: the decoder has not written the next token yet and cannot attend to it."
        return _(message, name=name)
    message = "“{name}” is undefined here: no token of this sentence has several visible keys of which this is one."
    return _(message, name=name)


def ranking(metric: TileMetric, order: str, keep: int) -> Ranking | None:
    """The heads by an order of `ORDERS`, equal ones by layer, NaN last; None for layer by layer.

    `keep` is how many are shown, 0 for all.
    """
    if order == "layers":
        return None
    values = metric.values.ravel()
    ranked = np.argsort(-values if order == "highest" else values, kind="stable")
    kept = ranked[: keep or None]
    heads = metric.values.shape[1]
    return Ranking(
        tuple(HeadChoice(*divmod(int(index), heads)) for index in kept), _order_note(order, len(kept), len(ranked))
    )


def _order_note(order: str, kept: int, count: int) -> str:
    """In which order so many of all heads stand, as a sentence."""
    few = _("the first {kept} of {count}", kept=kept, count=count) if kept < count else _("all {count}", count=count)
    if order == "highest":
        return _("Heads from the highest to the lowest, row by row: {few}. L2 H5 is head 5 of layer 2.", few=few)
    return _("Heads from the lowest to the highest, row by row: {few}. L2 H5 is head 5 of layer 2.", few=few)
