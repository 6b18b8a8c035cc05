"""Results that others published, for orientation beside a checkpoint's own."""

from dataclasses import dataclass
from typing import Final

from viz.core.messages import said


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """One English-to-German BLEU score: of what, trained on what, on which test set and by which BLEU."""

    system: str
    trained_on: str
    test_set: str
    bleu: float
    kind: str


_TOKENISED, _MILLIONS = said("tokenised"), said("4.5 million pairs")

PUBLISHED: Final = (
    PublishedResult(
        "Transformer-Tiny (LividWo/Revisit-MMT)",
        said("Multi30k alone (29,000 captions)"),
        "Multi30k test2016",
        41.02,
        _TOKENISED,
    ),
    PublishedResult(
        said("base (Vaswani et al. 2017)"), said("4.5 million pairs"), "newstest2014", 27.3, said("tokenised")
    ),
    PublishedResult(
        said("big (Vaswani et al. 2017)"), said("4.5 million pairs"), "newstest2014", 28.4, said("tokenised")
    ),
    PublishedResult(said("JoeyNMT, 60 million parameters"), "–", "newstest2014", 24.4, "sacreBLEU"),
)
