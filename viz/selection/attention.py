"""What is chosen on the attention page."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from viz.selection.fields import Param, ResetBy

AttentionTab = Literal["All heads", "QK and OV", "bertviz"]
Metric = Literal[
    "", "entropy", "distance", "previous", "same", "next", "first", "last", "diagonal", "punctuation", "kept"
]  # fmt: skip
Order = Literal["layers", "highest", "lowest"]
DrawnAs = Literal["Heatmap", "Lines"]
BertvizView = Literal["Head view", "Model view"]

#: The metric that is the weight between two words, or in the kept cell.
KEPT: Final[Metric] = "kept"
ALL_HEADS: Final[AttentionTab] = "All heads"
METRICS: Final[tuple[Metric, ...]] = get_args(Metric)
ORDERS: Final[tuple[Order, ...]] = get_args(Order)
DRAWN_AS: Final[tuple[DrawnAs, ...]] = get_args(DrawnAs)
BERTVIZ_VIEWS: Final[tuple[BertvizView, ...]] = get_args(BertvizView)


@dataclass(frozen=True, slots=True)
class AttentionChoices:
    """What is chosen on the attention page."""

    attention_tab: Annotated[AttentionTab, Param("view")] = ALL_HEADS  #: the open tab
    metric: Annotated[Metric, Param("figure")] = ""  #: the number that the tile of each head carries; "" for none
    order: Order = "layers"  #: how tiles are sorted: layer by layer, or by the metric
    max_heads: Annotated[int, Param("keep")] = 0  #: how many heads stay, the first in that order; 0 for all
    drawn_as: Annotated[DrawnAs, Param("drawn")] = "Heatmap"  #: how the open head is drawn
    threshold: int = 0  #: lines of fewer percent are left out
    #: the first query of a long text that is drawn as lines; None leaves that to the page.
    window_start: Annotated[int | None, Param("window"), ResetBy("text", "site", "checkpoint", "chat")] = None
    #: scaled, masked: whether scores are divided by √d_k and masked, where a weight is computed step by step.
    scaled: bool = True
    masked: bool = True
    distance: int = 1  #: how many tokens before its query each key stands, where QK of rotary positions is shown
    bertviz_view: Annotated[BertvizView, Param("bertviz")] = "Head view"  #: which of bertviz's views
    #: from_words, to_words: the words whose heads are looked for, those that look and those looked at, as
    #: `viz.access.word_links` counts them; none leave that to the cell that is kept.
    from_words: Annotated[tuple[int, ...], Param("from"), ResetBy("text", "picture_digest", "checkpoint", "chat")] = ()
    to_words: Annotated[tuple[int, ...], Param("to"), ResetBy("text", "picture_digest", "checkpoint", "chat")] = ()
    #: whether the atlas led to the sentence, so that a link leads back.
    from_atlas: Annotated[bool, ResetBy("text", "checkpoint", "chat")] = False
