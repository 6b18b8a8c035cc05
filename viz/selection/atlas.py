"""What is chosen on the atlas page."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from viz.selection.fields import Param, Proposed, SessionOnly

AtlasTab = Literal["Maps", "Map of heads", "Table"]
Corpus = Literal["own", "file"]
CorpusMetric = Literal[
    "entropy", "distance", "confidence", "previous", "same", "next", "first", "last", "diagonal", "punctuation",
    "induction", "antecedent", "aer_word_in", "aer_word_out", "prefix_matching", "duplicate", "repeat_previous",
    "copying",
]  # fmt: skip
ReadOff = Literal["weights", "norms"]

CORPUS_METRICS: Final[tuple[CorpusMetric, ...]] = get_args(CorpusMetric)
READ_OFF: Final[tuple[ReadOff, ...]] = get_args(ReadOff)


@dataclass(frozen=True, slots=True)
class AtlasChoices:
    """What is chosen on the atlas page."""

    atlas_tab: Annotated[AtlasTab, Param("atlas")] = "Maps"  #: the open tab
    corpus: Corpus = "own"  #: what was read: our own sentences, or a file
    #: the number of a head over the whole corpus that is looked at.
    corpus_metric: Annotated[CorpusMetric, Param("corpus_figure"), Proposed("metric_chosen")] = "confidence"
    metric_chosen: Annotated[bool, SessionOnly()] = False  #: whether a person chose that; else the page proposes it
    read_off: ReadOff = "weights"  #: what it is computed from
