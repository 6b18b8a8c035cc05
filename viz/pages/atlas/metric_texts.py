"""Say what the metrics of heads over a corpus mean, and why a site has none of one."""

from collections.abc import Mapping
from typing import Final

from viz.core.sites import CROSS, DECODER
from viz.selection.atlas import CORPUS_METRICS
from viz.ui import head_metrics
from viz.ui.head_metrics import MetricText

_CONFIDENCE: Final = MetricText(
    "Confidence", "the largest weight of a token on any other than </s>, between 0 and 1: a sure head has a high one"
)
_INDUCTION: Final = MetricText(
    "Induction", "where a token was written before, the weight on what followed it then, between 0 and 1"
)
_ANTECEDENT: Final = MetricText(
    "Follows antecedents",
    "the share of our pronoun sentences in which the pronoun's row gives the right noun more weight than the wrong "
    "one; guessing gives 0.5",
)
_ERROR: Final = "0 where every link that people made is found and no other, 1 where none is; here less is better"
_RANDOM: Final = "on 25 random tokens read four times over"

TEXTS: Final[Mapping[str, MetricText]] = {
    **{key: head_metrics.TEXTS[key] for key in CORPUS_METRICS if key in head_metrics.TEXTS},
    "confidence": _CONFIDENCE,
    "induction": _INDUCTION,
    "antecedent": _ANTECEDENT,
    "aer_word_in": MetricText("Alignment error, word in", f"asked when a German word is read: {_ERROR}"),
    "aer_word_out": MetricText("Alignment error, word out", f"asked when a German word is written: {_ERROR}"),
    "prefix_matching": MetricText(
        "Prefix matching",
        f"{_RANDOM}, the weight of a token on what followed the same token the times before, between 0 and 1: that is "
        "what an induction head looks at",
    ),
    "duplicate": MetricText(
        "Duplicate token", f"{_RANDOM}, the weight of a token on the same token before, between 0 and 1"
    ),
    "repeat_previous": MetricText(
        "Previous, random tokens", f"{_RANDOM}, the weight on the token before, between 0 and 1"
    ),
    "copying": MetricText(
        "Copying",
        "the share of the vocabulary that what a head writes for a token ranks below this token: 1 where it always "
        "speaks for the token that it looks at, 0.5 by chance, 0 where it speaks against it",
    ),
}
#: Metrics that are measured on random tokens, of decoders alone.
ON_RANDOM_TOKENS: Final = frozenset({"prefix_matching", "duplicate", "repeat_previous", "copying"})
#: Metrics of which little is better.
ERRORS: Final = frozenset({"aer_word_in", "aer_word_out"})
READ_OFF_LABELS: Final = {"weights": "Weights", "norms": "Norms"}
PREFIXES: Final = {"weights": "", "norms": "norm_"}
"""What a metric is read off → how its name begins in an atlas."""


def meaning(key: str, site: str, read_off: str) -> str:
    """What a metric says at a site, as a sentence."""
    said = head_metrics.meaning(key, site) if key in head_metrics.TEXTS else TEXTS[key].meaning
    if read_off == "norms":
        said = said.replace("the largest weight", "the largest share").replace("the weight", "the share of norms")
        said = said.replace("its weight", "the norms of what it gives").replace("Σ weight", "Σ share of norms")
    return f"{TEXTS[key].name}: {said}."


def why_none(key: str, site: str) -> str:
    """Why no head has a metric at a site."""
    if key in ERRORS:
        if site != CROSS:
            return "Alignment error rates are of cross-attention: only there a German word looks at English ones."
        return "No links made by hand have been read. Load a file with them under “Corpus”."
    if key == "antecedent":
        if site == DECODER:
            return "The decoder's self-attention never sees the nouns of the sentence, so it cannot follow one of them."
        return "Following antecedents is measured of weights, and of translators from English into German."
    if key in ON_RANDOM_TOKENS:
        return "Random tokens that come again are read by models that are a decoder alone, and as weights."
    if key == "induction" and site != DECODER:
        return "Induction is measured in the decoder's self-attention, which sees only what was written before."
    return head_metrics.why_none(key, site) if key in head_metrics.TEXTS else f"“{TEXTS[key].name}” says nothing here."
