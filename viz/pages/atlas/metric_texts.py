"""What people read about the metrics of heads over a corpus: names, meanings, formulas, sources. Fixed text.

Knows nothing of how the metrics are computed (`model.analysis.metrics.head_metrics`,
`model.analysis.metrics.alignment`).
"""

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
_ERROR: Final = "0 where every link that people made is found and no other, 1 where none is; here less is better"

TEXTS: Final[Mapping[str, MetricText]] = {
    **{key: head_metrics.TEXTS[key] for key in CORPUS_METRICS if key in head_metrics.TEXTS},
    "confidence": _CONFIDENCE,
    "induction": _INDUCTION,
    "aer_word_in": MetricText("Alignment error, word in", f"asked when a German word is read: {_ERROR}"),
    "aer_word_out": MetricText("Alignment error, word out", f"asked when a German word is written: {_ERROR}"),
}
#: Figures of which little is better.
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
    if key == "induction" and site != DECODER:
        return "Induction is measured in the decoder's self-attention, which sees only what was written before."
    return head_metrics.why_none(key, site) if key in head_metrics.TEXTS else f"“{TEXTS[key].name}” says nothing here."


#: What is computed, as TeX, with what is to be known of it, and who proposed it.
FORMULAS: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "Mean over a corpus",
        r"\bar f = \frac{1}{|R|} \sum_{i \in R} f(\alpha_i)",
        "R holds the rows i of all sentences that say something: those with more than one key to look at. So a long "
        "sentence counts for more than a short one.",
    ),
    (
        "Entropy, mean distance",
        r"H_i = -\sum_j \alpha_{ij} \log_2 \alpha_{ij}, \qquad D_i = \sum_j \alpha_{ij}\,|j - d_i|",
        "In bits, and in tokens; dᵢ = i in self-attention, else the place on the diagonal. Vig & Belinkov 2019, "
        "*Analyzing the Structure of Attention in a Transformer Language Model*; Clark et al. 2019, *What Does BERT "
        "Look At?*",
    ),
    (
        "Confidence",
        r"C_i = \max_{j \neq \texttt{</s>}} \alpha_{ij}",
        "Voita et al. 2019, *Analyzing Multi-Head Self-Attention*, §4: a head with a high mean is sure of one token.",
    ),
    (
        "Previous, same, next, first, last, diagonal, punctuation",
        r"S_i = \sum_{j \in T_i} \alpha_{ij}",
        "Tᵢ holds the keys in question: i − 1, i, i + 1, the first, the last, those at most one from the diagonal, or "
        "all punctuation. Clark et al. 2019, §3; Kovaleva et al. 2019, *Revealing the Dark Secrets of BERT*.",
    ),
    (
        "Induction",
        r"S_i = \sum_{j < i,\ t_{j-1} = t_i} \alpha_{ij}",
        "Decoder self-attention only. Olsson et al. 2022, *In-context Learning and Induction Heads*.",
    ),
    (
        "By norms",
        r"\alpha_{ij} \;\to\; \frac{\lVert \alpha_{ij}\,(x_j W_V + b_V)\,W_O \rVert}"
        r"{\sum_{j'} \lVert \alpha_{ij'}\,(x_{j'} W_V + b_V)\,W_O \rVert}",
        "A large weight on a short vector moves little. Kobayashi et al. 2020, *Attention is Not Only a Weight*.",
    ),
    (
        "Alignment error rate",
        r"\mathrm{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}",
        "A: each German word linked to the English one that the head looks at most, when the word is written (word "
        "out, as in Garg et al. 2019, *Jointly Learning to Align and Translate*) or read (word in, Chen et al. 2020, "
        "*Accurate Word Alignment Induction*). S, P: sure and possible links made by people (Och & Ney 2003); here "
        "P = S.",
    ),
    (
        "Map of heads",
        r"\mathrm{JS}(\alpha_i, \beta_i) = H\!\left(\tfrac{\alpha_i + \beta_i}{2}\right) - \tfrac{H(\alpha_i) + "
        r"H(\beta_i)}{2}, \qquad d(\alpha, \beta) = \sqrt{\overline{\mathrm{JS}}}",
        "Mean over all rows, in bits: 0 for heads that look alike, 1 for heads that never look at the same token. The "
        "root is a distance (Endres & Schindelin 2003); the plane that keeps distances best is found by classical "
        "scaling (Torgerson 1952). Clark et al. 2019, §6, cluster heads so.",
    ),
    (
        "What a figure does not say",
        r"\Delta = \mathcal{L}(\text{without the head}) - \mathcal{L}",
        "Where a head looks is not yet what it is worth. That is measured by switching it off: Michel et al. 2019, "
        "*Are Sixteen Heads Really Better than One?*; Voita et al. 2019.",
    ),
)
