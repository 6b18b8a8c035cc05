"""Results that others published, each with its source, for orientation beside a checkpoint's own."""

from dataclasses import dataclass
from typing import Final

from viz.text.messages import said


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """One English-to-German BLEU score: of what, trained on what, on which test set, by which BLEU and said where."""

    system: str
    trained_on: str
    test_set: str
    bleu: float
    kind: str
    source: str


_TOKENISED, _MILLIONS = said("tokenised"), said("4.5 million pairs")
_TABLE_2: Final = said("the paper, Table 2")

PUBLISHED: Final = (
    PublishedResult(
        "Transformer-Tiny (Wu et al. 2021)",
        said("Multi30k alone (29,000 captions)"),
        "Multi30k test2016",
        41.02,
        _TOKENISED,
        "github.com/LividWo/Revisit-MMT, README-baseline.md",
    ),
    PublishedResult(said("base (Vaswani et al. 2017)"), _MILLIONS, "newstest2014", 27.3, _TOKENISED, _TABLE_2),
    PublishedResult(said("big (Vaswani et al. 2017)"), _MILLIONS, "newstest2014", 28.4, _TOKENISED, _TABLE_2),
    PublishedResult(
        said("JoeyNMT, 60.5 million parameters"),
        "WMT14",
        "newstest2014",
        24.38,
        "sacreBLEU",
        "github.com/joeynmt/joeynmt, docs/source/benchmarks.rst",
    ),
)
