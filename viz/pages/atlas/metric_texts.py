"""Name what is looked at in an atlas, say what its metrics mean, and why a site has none of one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.pages.atlas.data import shape_of
from viz.pictures.payload import LOCAL, Text
from viz.selection import state
from viz.selection.choices import CORPUS_METRICS
from viz.text.messages import _, said, shown
from viz.text.written import CROSS, DECODER, SITES
from viz.ui import controls, head_metrics
from viz.ui.head_metrics import MetricText

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas

_CONFIDENCE: Final = MetricText(
    said("Confidence"),
    said("the largest weight of a token on any key other than </s>, between 0 and 1: high for a confident head"),
)
_INDUCTION: Final = MetricText(
    said("Induction"),
    said("for a token that occurred earlier, the weight on the token after its earlier occurrence, between 0 and 1"),
)
_ANTECEDENT: Final = MetricText(
    said("Follows antecedents"),
    said(
        "the share of our pronoun sentences in which the pronoun's row gives more weight to the right noun than to "
        "the wrong one; guessing gives 0.5"
    ),
)
_WORD_IN: Final = MetricText(
    said("Alignment error (token read)"),
    said(
        "computed in the row that reads a German word, not in the row named after it, which writes it: 0 if exactly "
        "the manual links are found, 1 if none is found; lower is better"
    ),
)
_WORD_OUT: Final = MetricText(
    said("Alignment error (token predicted)"),
    said(
        "computed in the row that writes a German word: 0 if exactly the manual links are found, 1 if none is "
        "found; lower is better"
    ),
)
_PREFIX_MATCHING: Final = MetricText(
    said("Prefix matching"),
    said(
        "on 25 random tokens repeated four times, the weight of a token on what followed the same token earlier, "
        "between 0 and 1: an induction head attends to it"
    ),
)
_DUPLICATE: Final = MetricText(
    said("Duplicate token"),
    said(
        "on 25 random tokens repeated four times, the weight of a token on its own earlier occurrences, between 0 and 1"
    ),
)
_REPEAT_PREVIOUS: Final = MetricText(
    said("Previous, random tokens"),
    said("on 25 random tokens repeated four times, the weight on the previous token, between 0 and 1"),
)
_COPYING: Final = MetricText(
    said("Copying"),
    said(
        "the share of the vocabulary that ranks below a token in what the head writes when it attends to that token: "
        "1 if it always promotes the token, 0.5 by chance, 0 if it always suppresses it"
    ),
)
TEXTS: Final[Mapping[str, MetricText]] = {
    **{key: head_metrics.TEXTS[key] for key in CORPUS_METRICS if key in head_metrics.TEXTS},
    "confidence": _CONFIDENCE,
    "induction": _INDUCTION,
    "antecedent": _ANTECEDENT,
    "aer_word_in": _WORD_IN,
    "aer_word_out": _WORD_OUT,
    "prefix_matching": _PREFIX_MATCHING,
    "duplicate": _DUPLICATE,
    "repeat_previous": _REPEAT_PREVIOUS,
    "copying": _COPYING,
}
#: What the metrics mean that are read off the weights and off the norms, where it is norms.
_OF_NORMS: Final[Mapping[str, str]] = {
    "entropy": said(
        "how widely the norms of the keys' contributions are spread for a token: 0 bits for one key, 1 bit for two "
        "equal keys, 3 bits for eight"
    ),
    "distance": said("Σ share of norms · |key − query|, how many tokens away a head attends on average"),
    "confidence": said(
        "the largest share of a token on any key other than </s>, between 0 and 1: high for a confident head"
    ),
    "previous": said("the share of norms on the previous token, between 0 and 1"),
    "same": said("the share of norms of a token on itself, between 0 and 1"),
    "next": said("the share of norms on the next token, between 0 and 1"),
    "first": said("the share of norms on the first key, between 0 and 1"),
    "last": said("the share of norms on the last key, between 0 and 1"),
    "diagonal": said("the share of norms on a token itself and its two neighbours, between 0 and 1"),
    "punctuation": said("the share of norms on all punctuation marks together, between 0 and 1"),
    "induction": said(
        "for a token that occurred earlier, the share of norms on the token after its earlier occurrence, between 0 "
        "and 1"
    ),
}
#: Where a site gives a metric another meaning, as in `head_metrics`.
_OF_NORMS_AT: Final[Mapping[tuple[str, str], str]] = {
    (CROSS, "distance"): said(
        "Σ share of norms · |key − diagonal|, the mean distance in source tokens between the attended key and the "
        "diagonal, the straight line from the first pair of tokens to the last, where a row counts by the token that "
        "it reads"
    ),
    (CROSS, "diagonal"): said(
        "the share of norms on keys at most one token from the diagonal, the straight line from the first pair of "
        "tokens to the last, where a row counts by the token that it reads, between 0 and 1"
    ),
    (DECODER, "distance"): said(
        "Σ share of norms · |key − query|, how many tokens before the one that its row reads a head attends on average"
    ),
    (DECODER, "previous"): said("the share of norms on the token before the one that a row reads, between 0 and 1"),
    (DECODER, "same"): said("the share of norms on the token that a row reads, between 0 and 1"),
    (DECODER, "diagonal"): said(
        "the share of norms on the token that a row reads and the one before it, between 0 and 1"
    ),
    (DECODER, "last"): said(
        "the share of norms on the last key, between 0 and 1; only the last token may attend to it"
    ),
}
#: Metrics that are measured on random tokens, of decoders alone.
ON_RANDOM_TOKENS: Final = frozenset({"prefix_matching", "duplicate", "repeat_previous", "copying"})
#: Metrics of which little is better.
ERRORS: Final = frozenset({"aer_word_in", "aer_word_out"})
#: The number that chance gives.
CHANCE: Final = {"antecedent": 0.5}
READ_OFF_LABELS: Final = {"weights": said("Weights"), "norms": said("Vector norms")}
PREFIXES: Final = {"weights": "", "norms": "norm_"}
"""What a metric is read off → how its name begins in an atlas."""


def read_off(atlas: "Atlas") -> str:
    """What metrics are computed from: weights, or the norms that a person chose, if the atlas has them."""
    return state.current().atlas.read_off if _has_norms(atlas) else "weights"


def read_off_control(atlas: "Atlas") -> None:
    """The choice between weights and norms, for an atlas that has both."""
    if _has_norms(atlas):
        help_text = _("Weights, or the norms of the vectors that a head adds for each token (Kobayashi et al. 2020).")
        controls.segmented("read_off", _("Computed from"), READ_OFF_LABELS, help_text=help_text)


def _has_norms(atlas: "Atlas") -> bool:
    return any(name.startswith(PREFIXES["norms"]) for name in atlas.metrics)


def meaning(key: str, site: str, read_off: str) -> str:
    """What a metric says at a site, as a sentence."""
    says = head_metrics.meaning(key, site) if key in head_metrics.TEXTS else TEXTS[key].meaning
    if read_off == "norms":
        says = _OF_NORMS_AT.get((site, key), _OF_NORMS.get(key, says))
    return _("{name}: {meaning}.", name=TEXTS[key].name, meaning=says)


def why_none(key: str, site: str) -> str:
    """Why no head has a metric at a site."""
    if key in ERRORS:
        if site != CROSS:
            return _(
                "Alignment error rates are defined for cross-attention only, where a German token attends to English "
                "ones."
            )
        return _("No manual word alignments have been loaded. Load a file of them under “Corpus”.")
    if key == "antecedent":
        if site == DECODER:
            return _(
                "The decoder's self-attention never sees the nouns of the source sentence, so it cannot follow one "
                "of them."
            )
        return _(
            "“Follows antecedents” is measured only on weights, and only for translators from English into German."
        )
    if key in ON_RANDOM_TOKENS:
        return _("Repeated random tokens need a decoder-only model, and only weights are measured.")
    if key == "induction" and site != DECODER:
        return _("Induction is measured in the decoder's self-attention, which sees only earlier tokens.")
    if key in head_metrics.TEXTS:
        return shown(head_metrics.why_none(key, site))
    return _("“{name}” is undefined here.", name=TEXTS[key].name)


@dataclass(frozen=True, eq=False)
class HeadMap:
    """One metric of all heads."""

    key: str  #: by which it is chosen
    #: name, unit: as people read them.
    name: Text
    unit: Text
    values: Annotated[Float[np.ndarray, "layer head"], LOCAL]  #: none below 0; NaN where a head has none
    decimals: Annotated[int, LOCAL]  #: how many are shown
    #: the number that chance gives, of a metric that has one: colours begin there.
    centre: Annotated[float | None, LOCAL] = None

    def derived(self) -> dict[str, object]:
        """The numbers as texts, and as positions on the colour scale, layer by layer; the ends of the scale."""
        low, high = self.ends
        values = [None if np.isnan(value) else float(value) for value in self.values.flat]
        return {
            "texts": ["–" if value is None else f"{value:.{self.decimals}f}" for value in values],
            "shades": [None if value is None else round((value - low) / max(high - low, 1e-9), 3) for value in values],
            "low": f"{low:.{self.decimals}f}" if low else "0",
            "high": f"{high:.{self.decimals}f}",
            "is_centred": self.centre is not None,
        }

    @property
    def ends(self) -> tuple[float, float]:
        """Of the colour scale: from 0 to the highest number; around a centre, as far below it as above."""
        known = self.values[~np.isnan(self.values)]
        if self.centre is None:
            return 0.0, float(known.max(initial=0.0))
        bound = float(np.abs(known - self.centre).max(initial=0.0))
        return self.centre - bound, self.centre + bound


@dataclass(frozen=True, eq=False)
class View:
    """One metric of every head of a site."""

    #: site, index: which attention, and its index in the tables of an atlas.
    site: str
    index: int
    shape: tuple[int, int]  #: its layers, and the most heads that one has
    key: str  #: the metric, of `viz.selection.choices.CORPUS_METRICS`
    read_off: str  #: "weights" or "norms"
    maps: tuple[HeadMap, ...]  #: all metrics that heads of this site have; the one in question may not be among them

    @property
    def name(self) -> str:
        """The metric as an atlas names it."""
        return PREFIXES[self.read_off] + self.key

    @property
    def map(self) -> HeadMap:
        """The metric in question. Raises a DataError if no head has it: no token could look at another."""
        for head_map in self.maps:
            if head_map.key == self.key:
                return head_map
        raise DataError("These sentences are too short for any metric of heads. Load a file with longer ones.")

    @property
    def values(self) -> Float[np.ndarray, "layer head"]:
        """Its numbers."""
        return self.map.values

    def best(self, count: int) -> list[tuple[int, int]]:
        """The heads with the best numbers, layer and head: the highest, or of an error the lowest."""
        order = np.argsort(self.values if self.key in ERRORS else -self.values, axis=None, kind="stable")
        heads = self.values.shape[1]
        ranked = [divmod(int(index), heads) for index in order]
        return [at for at in ranked if not np.isnan(self.values[at])][:count]

    def shown(self, value: float) -> str:
        """A number of it, with its unit."""
        return f"{value:.{self.map.decimals}f} {shown(self.map.unit)}".rstrip()


def view_of(atlas: "Atlas", site: str, key: str, read_off: str) -> View:
    """A metric of a site."""
    return View(site, SITES.index(site), shape_of(atlas, site), key, read_off, maps_of(atlas, site, read_off))


def maps_of(atlas: "Atlas", site: str, read_off: str) -> tuple[HeadMap, ...]:
    """All metrics that heads of a site have, in the order in which they are listed."""
    layers, heads = shape_of(atlas, site)
    maps = []
    for key in CORPUS_METRICS:
        values = atlas.metrics.get(PREFIXES[read_off] + key)
        if values is None:
            continue
        of_site = values[SITES.index(site), :layers, :heads]
        if not np.isnan(of_site).all():
            text = TEXTS[key]
            centre = CHANCE.get(key)
            maps.append(HeadMap(key, text.name, text.unit, of_site, text.decimals, centre))
    return tuple(maps)
