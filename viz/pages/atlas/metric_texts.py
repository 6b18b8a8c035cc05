"""Say what the metrics of heads over a corpus mean, and why a site has none of one."""

from collections.abc import Mapping
from typing import Final

from viz.selection.atlas import CORPUS_METRICS
from viz.text.messages import _, said, shown
from viz.text.sites import CROSS, DECODER
from viz.ui import head_metrics
from viz.ui.head_metrics import MetricText

_CONFIDENCE: Final = MetricText(
    said("Confidence"),
    said("the largest weight of a token on any other than </s>, between 0 and 1: a sure head has a high one"),
)
_INDUCTION: Final = MetricText(
    said("Induction"),
    said("where a token was written before, the weight on what followed it then, between 0 and 1"),
)
_ANTECEDENT: Final = MetricText(
    said("Follows antecedents"),
    said(
        "the share of our pronoun sentences in which the pronoun's row gives the right noun more weight than the wrong "
        "one; guessing gives 0.5"
    ),
)
_WORD_IN: Final = MetricText(
    said("Alignment error, word in"),
    said(
        "asked when a German word is read: 0 where every link that people made is found and no other, 1 where none is; "
        "here less is better"
    ),
)
_WORD_OUT: Final = MetricText(
    said("Alignment error, word out"),
    said(
        "asked when a German word is written: 0 where every link that people made is found and no other, 1 where none "
        "is; here less is better"
    ),
)
_PREFIX_MATCHING: Final = MetricText(
    said("Prefix matching"),
    said(
        "on 25 random tokens read four times over, the weight of a token on what followed the same token the times "
        "before, between 0 and 1: that is what an induction head looks at"
    ),
)
_DUPLICATE: Final = MetricText(
    said("Duplicate token"),
    said("on 25 random tokens read four times over, the weight of a token on the same token before, between 0 and 1"),
)
_REPEAT_PREVIOUS: Final = MetricText(
    said("Previous, random tokens"),
    said("on 25 random tokens read four times over, the weight on the token before, between 0 and 1"),
)
_COPYING: Final = MetricText(
    said("Copying"),
    said(
        "the share of the vocabulary that what a head writes for a token ranks below this token: 1 where it always "
        "speaks for the token that it looks at, 0.5 by chance, 0 where it speaks against it"
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
        "how widely a token spreads the norms of what it gives: 0 bits on one key, 1 bit as over 2, 3 bits as over 8"
    ),
    "distance": said("Σ share of norms · |key − query|, how many tokens away a head looks"),
    "confidence": said(
        "the largest share of a token on any other than </s>, between 0 and 1: a sure head has a high one"
    ),
    "previous": said("the share of norms on the token before, between 0 and 1"),
    "same": said("the share of norms of a token on itself, between 0 and 1"),
    "next": said("the share of norms on the token after, between 0 and 1"),
    "first": said("the share of norms on the first key, between 0 and 1"),
    "last": said("the share of norms on the last key, between 0 and 1"),
    "diagonal": said("the share of norms on a token itself and its two neighbours, between 0 and 1"),
    "punctuation": said("the share of norms on all punctuation together, between 0 and 1"),
    "induction": said("where a token was written before, the share of norms on what followed it then, between 0 and 1"),
}
#: Where a site gives a metric another meaning, as in `head_metrics`.
_OF_NORMS_AT: Final[Mapping[tuple[str, str], str]] = {
    (CROSS, "distance"): said(
        "Σ share of norms · |key − diagonal|, how many source tokens a head looks away from the diagonal, which leads "
        "from the first pair of tokens straight to the last pair"
    ),
    (CROSS, "diagonal"): said(
        "the share of norms on keys at most one token from the diagonal, which leads from the first pair of tokens "
        "straight to the last pair, between 0 and 1"
    ),
    (DECODER, "last"): said("the share of norms on the last key, between 0 and 1; only the last token may look there"),
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
            return _("Alignment error rates are of cross-attention: only there a German word looks at English ones.")
        return _("No links made by hand have been read. Load a file with them under “Corpus”.")
    if key == "antecedent":
        if site == DECODER:
            return _(
                "The decoder's self-attention never sees the nouns of the sentence, so it cannot follow one of them."
            )
        return _("Following antecedents is measured of weights, and of translators from English into German.")
    if key in ON_RANDOM_TOKENS:
        return _("Random tokens that come again are read by models that are a decoder alone, and as weights.")
    if key == "induction" and site != DECODER:
        return _("Induction is measured in the decoder's self-attention, which sees only what was written before.")
    if key in head_metrics.TEXTS:
        return shown(head_metrics.why_none(key, site))
    return _("“{name}” says nothing here.", name=TEXTS[key].name)
