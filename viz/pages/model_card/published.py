"""Results that others published, for orientation beside a checkpoint's own."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """One English-to-German BLEU score: of what, trained on what, on which test set and by which BLEU."""

    system: str
    trained_on: str
    test_set: str
    bleu: float
    kind: str


PUBLISHED: Final = (
    PublishedResult(
        "Transformer-Tiny (LividWo/Revisit-MMT)",
        "Multi30k alone (29,000 captions)",
        "Multi30k test2016",
        41.02,
        "tokenised",
    ),
    PublishedResult("base (Vaswani et al. 2017)", "4.5 million pairs", "newstest2014", 27.3, "tokenised"),
    PublishedResult("big (Vaswani et al. 2017)", "4.5 million pairs", "newstest2014", 28.4, "tokenised"),
    PublishedResult("JoeyNMT, 60 million parameters", "–", "newstest2014", 24.4, "sacreBLEU"),
)
